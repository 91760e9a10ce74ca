"""Damaged results and archives: each is read all the same, or refused in one sentence."""

from __future__ import annotations

import copy
import io
import json
import random

import numpy as np
import pytest
from click.testing import CliRunner

from multifacet import find_views
from multifacet.cli import main
from multifacet.datasets import make_gaussian_views
from multifacet.files import check_shape, read_file, read_json, write_table

#: Damaged copies of each file.
COPIES = 40
#: What takes the place of a value.
VALUES = [None, True, -1, 0, 10**9, 2**70, 1.5, 1e308, float("nan"), "", "text", [], {}, [[]], [{}]]
RESULTS = ("views.json", "rejected.json", "reduction.json", "comparison.json", "views.npz")


def call(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """One result of every kind, by the name of its file."""
    folder = tmp_path_factory.mktemp("results")
    X, labelings = make_gaussian_views(40, [2, 2], rotate=False, random_state=0)
    columns = {"kind": np.array(["a", "b"])[labelings[:, 0]], "site": list("xyzxy") * 8}
    write_table(folder / "t.csv", columns | dict(zip("pqrs", X.T, strict=True)))
    fast = ("--clusters", 2, "--method", "linear", "--given", "kind")
    calls = {
        "views": ("find", *fast, "--views", 1, "--features", "p,q,r,s,site"),
        "rejected": ("find", *fast, "--features", "site,p"),
        "reduction": ("reduce", "--target", "kind", "-q", 1),
        "comparison": ("compare", "--labels", "kind,site"),
    }
    found = {}
    for name, (command, *options) in calls.items():
        done = call(command, folder / "t.csv", *options, "-o", folder / name)
        assert done.exit_code == 0, done.stderr
        kind = "views" if name == "rejected" else name
        found[f"{name}.json"] = (folder / name / f"{kind}.json").read_bytes()
    found["views.npz"] = (folder / "views" / "views.npz").read_bytes()
    found["run.json"] = (folder / "views" / "run.json").read_bytes()
    return found


def damaged_bytes(content, chance):
    """Cut content off, or change some of its bytes."""
    if chance.random() < 0.4:
        return content[: chance.randrange(len(content))]
    changed = bytearray(content)
    for _ in range(chance.choice([1, 3, 20])):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def places(value):
    """Yield the containers in a value and the keys of what they hold; the first few of a list."""
    for key in value if isinstance(value, dict) else range(min(len(value), 3)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from places(value[key])


def damaged_value(document, chance):
    """Replace, remove or repeat one value."""
    document = copy.deepcopy(document)
    where, key = chance.choice(list(places(document)))
    way = chance.random()
    if way < 0.6:
        where[key] = chance.choice(VALUES)
    elif way < 0.8:
        del where[key]
    elif isinstance(where, list):
        where.append(where[key])
    else:
        where[key] = [where[key]]
    return json.dumps(document).encode()


def damaged_archive(content, chance):
    """Change one array of an archive."""
    arrays = dict(np.load(io.BytesIO(content)))
    name = chance.choice(["meta"] * len(arrays) + list(arrays))
    array, way = arrays[name], chance.randrange(5)
    if name == "meta":
        text = damaged_value(json.loads(bytes(array)), chance)
        arrays[name] = np.frombuffer(text, dtype=np.uint8)
    elif way == 0:
        del arrays[name]
    else:
        shorter = np.atleast_1d(array)[:-1]
        others = [shorter, np.array(3.0), np.full(array.shape, np.nan), array.astype(str)]
        arrays[name] = others[way - 1]
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def damaged_copies(name, content):
    chance = random.Random(name)
    for i in range(COPIES):
        if i % 4 == 0:
            yield damaged_bytes(content, chance)
        elif name.endswith(".npz"):
            yield damaged_archive(content, chance)
        else:
            yield damaged_value(json.loads(content), chance)


def judge(done):
    """Check that a call ended well, or with one sentence."""
    assert done.exit_code in (0, 2), (done.exit_code, done.stderr, done.exception)
    if done.exit_code == 2:
        [sentence] = done.stderr.splitlines()
        assert sentence.startswith("Error: ")
        assert "fault of multifacet" not in sentence
    return done.exit_code


def refusal(function, *arguments, **options):
    """Return the sentence in which a call is refused; any other error is raised."""
    try:
        function(*arguments, **options)
    except ValueError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", [*RESULTS, "run.json"])
def test_damaged_results(results, tmp_path, name):
    path = tmp_path / name
    result = path
    if name == "run.json":  # beside a sound result
        result = tmp_path / "views.json"
        result.write_bytes(results["views.json"])
    codes = []
    for i, content in enumerate(damaged_copies(name, results[name])):
        path.write_bytes(content)
        out = tmp_path / f"report{('.html', '.md', '.json')[i % 3]}"
        codes.append(judge(call("report", result, "-o", out, "--force")))
    assert 2 in codes
    path.write_bytes(results[name])
    assert judge(call("report", result, "-o", tmp_path / "r.html")) == 0


def test_damaged_archives_of_arrays(tmp_path):
    file = io.BytesIO()
    np.savez_compressed(file, X=np.random.default_rng(0).normal(size=(20, 3)), y=list("ab") * 10)
    chance = random.Random(0)
    for _ in range(COPIES):
        (tmp_path / "t.npz").write_bytes(damaged_bytes(file.getvalue(), chance))
        assert "\n" not in refusal(read_file, tmp_path / "t.npz")


def test_damaged_searches_are_not_continued(tmp_path):
    X, _ = make_gaussian_views(40, [2, 2], rotate=False, random_state=0)
    path = tmp_path / "search.npz"
    options = {"n_views": 1, "n_clusters": 2, "method": "linear", "checkpoint": path}
    find_views(X, **options)
    content = path.read_bytes()
    for damaged in damaged_copies(path.name, content):
        path.write_bytes(damaged)
        said = refusal(find_views, X, **options)
        assert not said or "search.npz" in said


@pytest.mark.parametrize(
    ("value", "shape", "message"),
    [
        ({"a": 1}, {"a": str}, "a is 1"),
        ({"a": True}, {"a": (float, None)}, "a is True"),
        ({"a": [{"b": []}]}, {"a": [{"b": {...: int}}]}, r"a\[0\]\.b is \[\]"),
        ({"a": {"x": 1, "y": "z"}}, {"a": {...: int}}, "a.y is 'z'"),
        ({"a": {}}, {"a": {"b": ...}}, "a has no b"),
        ({"a": {"b": 1}}, {"a": ({"b": str}, None)}, "a.b is 1"),
        ({"a": {"b": 1}}, {"a": ({"b": str}, [int], None)}, "a is {'b': 1}"),
        ([], {"a?": int}, r"it is \[\]"),
        ({"a": "x" * 99}, {"a?": int}, r"a is 'x+\.\.\.$"),
    ],
)
def test_what_does_not_fit_is_named(value, shape, message):
    with pytest.raises(ValueError, match=message):
        check_shape(value, shape)


@pytest.mark.parametrize("text", ["[" * 10**5, "NaN", "-Infinity", "1e999", "9" * 30, "{", b"\xff"])
def test_what_is_no_strict_json_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        read_json(text)
    assert read_json('{"a": [1, 2.5, -9223372036854775808]}') == {"a": [1, 2.5, -(2**63)]}
