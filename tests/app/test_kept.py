"""What the workbench writes as code and what it takes up again: neither does more than it says."""

from __future__ import annotations

import ast
import gzip
import io
import json
import random
import stat
import tokenize
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("fastapi", reason="the extra app is not installed")
pytest.importorskip("plotly", reason="the extra app is not installed")

from multifacet.app import schemas, steps
from multifacet.app.exploration import Exploration
from multifacet.app.limits import Limits
from multifacet.app.repeat import script
from multifacet.files import FileData, write_table

from .served import QUICK, running, searched, small_table, uploaded

STATE = "exploration.json"
#: A column name that once ran a command in the generated code.
ATTACK = "A" * 86 + "\\'" + ',__import__("os").system("id>pwned"),#'


@pytest.mark.parametrize(
    ("checked", "held"),
    [
        (schemas.Setup, steps.RolesDict),
        (schemas.Options, steps.OptionsDict),
        (schemas.Groups, steps.GroupsDict),
        (schemas.KeptSetup, steps.SetupDict),
        (schemas.KeptOptions, steps.OptionsDict),
        (schemas.KeptFind, steps.FindDict),
        (schemas.KeptVerdict, steps.VerdictDict),
        (schemas.KeptRename, steps.RenameDict),
        (schemas.KeptMerge, steps.MergeDict),
        (schemas.KeptState, steps.StateDict),
        *((one, steps.VerdictDict) for one in (schemas.Accept, schemas.Reject, schemas.Restore)),
        (schemas.Rename, steps.RenameDict),
        (schemas.Merge, steps.MergeDict),
    ],
)
def test_what_is_checked_is_what_is_held(checked, held):
    assert set(checked.model_fields) == set(held.__annotations__)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("outside") / "explorations"
    with running(folder, Limits(unpacked=15_000_000)) as both:
        yield both


@pytest.fixture(scope="module")
def client(served):
    return served[1]


# Generated code


def find_step(view, names, **changes):
    step = {
        "do": "find", "view": view, "name": f"view {view[1:]}", "dropped": [],
        "options": QUICK | {"novelty_weight": 2.5, "random_state": 7},
        "standardize": False, "missing": "drop",
        "features": names[:-1], "given": names[-1:], "identifier": None,
        "known": [], "merged": {}, "follows": 0, "passed": 0, "among": None,
    }  # fmt: skip
    return step | changes


def written(folder, names, file_name="table.csv", view_name="view 1", index=None):
    """Return the script of two searches in a table whose columns have these names."""
    columns = {name: np.arange(3.0) for name in names}
    state = {
        "name": file_name, "file": file_name, "counter": 2, "setup": None,
        "steps": [
            find_step("v1", names, name=view_name),
            {"do": "merge", "view": "v1", "groups": [0, 2]},
            find_step("v2", names, known=["v1"], merged={"v1": []}),
        ],
    }  # fmt: skip
    return script(Exploration(folder, state, FileData(columns, index=index, name=file_name)))


def check_code(code, names):
    """Check that code does what it is meant to do, and nothing else, with the very names."""
    tree = ast.parse(code)
    allowed = ast.Assign | ast.Import | ast.ImportFrom
    assert isinstance(tree.body[0], ast.Expr)
    assert all(isinstance(one, allowed) for one in tree.body[1:])
    imported = {a.name for one in ast.walk(tree) if isinstance(one, ast.Import) for a in one.names}
    sources = {one.module for one in ast.walk(tree) if isinstance(one, ast.ImportFrom)}
    assert imported <= {"numpy"}
    assert sources <= {"multifacet", "multifacet.files"}
    calls = {ast.unparse(one.func) for one in ast.walk(tree) if isinstance(one, ast.Call)}
    numeric = {"np.where", "np.isin", "np.unique", "np.full"}
    assert calls <= {"read_file", "dict", "find_views"} | numeric
    comments = [
        token.string
        for token in tokenize.generate_tokens(io.StringIO(code).readline)
        if token.type == tokenize.COMMENT
    ]
    lists = [
        ast.literal_eval(one.value)
        for one in tree.body
        if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "features"
    ]
    assert len(comments) == len(lists)
    assert all(found == find_step("v1", names)["features"] for found in lists)
    return tree


hostile = st.one_of(
    st.text(st.characters(), max_size=120),
    st.lists(
        st.sampled_from(["'", '"', "\\", "\n", "\r", "\x0c", "\u2028", ",", "#", '"""', "A" * 90]),
        max_size=12,
    ).map("".join),
)


@settings(
    max_examples=500,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(names=st.lists(hostile, min_size=2, max_size=5, unique=True), other=hostile)
def test_names_stay_names_in_generated_code(tmp_path, names, other):
    code = written(tmp_path, names, file_name=other, view_name=other, index=np.arange(3))
    tree = check_code(code, names)
    assert ast.get_docstring(tree, clean=False) == f"Repeat the exploration of {other}."
    literals = [one.value for one in ast.walk(tree) if isinstance(one, ast.Constant)]
    assert {*names, 2.5, 7} <= {*literals}
    code.encode("utf-8")  # it can be written, whatever the names


@pytest.mark.parametrize(
    "names",
    [
        [f"{part} {size} (cm), as measured" for part in ("sepal", "petal") for size in "lwh"],
        [f"column {i}" for i in range(2000)],
        ["a", ATTACK, "b", "c"],
    ],
    ids=["ordinary", "many", "attack"],
)
def test_tables_as_people_have_them_become_code(tmp_path, names):
    check_code(written(tmp_path, names), names)


def test_the_script_of_a_hostile_table_runs_and_only_searches(client, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    names = [ATTACK, "x\nimport os; os.system('id>pwned')  #", "", 'b"""', " padded "]
    columns = {name: rng.normal(size=40) + 4 * (rng.random(40) < 0.5) for name in names}
    columns[names[-1]] = ["u", "v"] * 20
    path = write_table(tmp_path / "-o.arrow", columns)
    address = uploaded(client, path, features=names[:4], given=names[4:])
    searched(client, address)
    place = tmp_path / "again"
    content = client.get(f"{address}/files/repeat.zip").raise_for_status().content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(place)
    before = sorted(place.iterdir())
    monkeypatch.chdir(place)
    found: dict = {}
    exec((place / "repeat.py").read_text(), found)
    assert sorted(place.iterdir()) == before
    labels = client.get(f"{address}/views/v1").json()["points"]["labels"]
    assert found["labels_1"].tolist() == labels
    run = json.loads((place / "search-1.json").read_text())["options"]
    assert (run["data"], run["features"], run["given"]) == ("./-o.arrow", names[:4], names[4:])


# Names


@pytest.mark.parametrize("bad", ["\n", "\r", "\x00", "\x1b[2J", "\x7f", "\x9b", "\u2028"])
@pytest.mark.parametrize("group", [None, 0])
def test_names_with_control_characters_are_refused(client, kept, bad, group):
    name = f"x{bad}import os; os.system('id')  #"
    body = {"do": "rename", "view": "v1", "group": group, "name": name}
    answer = client.post(f"{kept['address']}/steps", json=body)
    assert answer.status_code == 400
    assert "control characters" in answer.json()["detail"]


# Explorations that come from elsewhere


@pytest.fixture(scope="module")
def kept(served, tmp_path_factory):
    """An exploration with steps of every kind, and all of its files."""
    bench, client = served
    address = uploaded(client, small_table(tmp_path_factory.mktemp("t"), n=40), given=["known"])
    searched(client, address, n_clusters=3)
    for body in (
        {"do": "rename", "group": 1, "name": "one"},
        {"do": "merge", "groups": [0, 2]},
        {"do": "accept"},
        {"do": "rename", "name": "first"},
    ):
        client.post(f"{address}/steps", json={"view": "v1"} | body).raise_for_status()
    searched(client, address)
    for body in ({"do": "rename", "group": 0, "name": "zero"}, {"do": "reject"}, {"do": "restore"}):
        client.post(f"{address}/steps", json={"view": "v2"} | body).raise_for_status()
    packed = client.get(f"{address}/files/exploration.zip").raise_for_status().content
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    # Outside the directory of explorations lie a view and a table that nobody may have.
    (bench.folder.parent / "secret.npz").write_bytes(files["v1.npz"])
    (bench.folder.parent / "secret.csv").write_bytes(files["small.csv"])
    return {"address": address, "packed": packed, "files": files}


def packed(files, **modes):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as target:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = modes.get(name.partition(".")[0], 0) << 16
            target.writestr(entry, data)
    return content.getvalue()


def sent(client, content, name="kept.zip"):
    return client.post("/api/uploads", params={"name": name}, content=content)


def changed(kept, path, value):
    """Return the archive with one value of exploration.json in the place of another."""
    state = json.loads(kept["files"][STATE])
    *way, last = path
    where = state
    for key in way:
        where = where[key]
    if value is KeyError:
        del where[last]
    else:
        where[last] = value
    return packed(kept["files"] | {STATE: json.dumps(state)})


CODE = "x\nimport os; os.system('id')  #"
FIND, GROUP, MERGE, SECOND = 0, 1, 2, 5
DAMAGED = {
    "name": (["steps", FIND, "name"], CODE),
    "group name": (["steps", GROUP, "name"], CODE),
    "option key": (["steps", FIND, "options", "n_jobs=__import__('os').system('id'), x"], 1),
    "option": (["steps", FIND, "options", "n_clusters"], 10**9),
    "option as text": (["steps", FIND, "options", "n_refits"], "3"),
    "groups as text": (["steps", MERGE, "groups"], "__import__('os')"),
    "groups out of range": (["steps", MERGE, "groups"], [0, 3]),
    "all groups": (["steps", MERGE, "groups"], [0, 1, 2]),
    "group out of range": (["steps", GROUP, "group"], 3),
    "view elsewhere": (["steps", FIND, "view"], "../secret"),
    "view unknown": (["steps", MERGE, "view"], "v7"),
    "view twice": (["steps", SECOND, "view"], "v1"),
    "view later": (["steps", FIND, "known"], ["v2"]),
    "merged of no known": (["steps", SECOND, "merged"], {"v2": []}),
    "merged out of range": (["steps", SECOND, "merged", "v1"], [[0, 5]]),
    "feature unknown": (["steps", FIND, "features"], ["x0", "x9"]),
    "given unknown": (["setup", "given"], ["secret"]),
    "two roles": (["setup", "identifier"], "known"),
    "dropped out of range": (["steps", FIND, "dropped"], [40]),
    "dropped rows that are there": (["steps", FIND, "dropped"], [3]),
    "unknown step": (["steps", MERGE, "do"], "explode"),
    "unknown key": (["steps", MERGE, "code"], "1"),
    "missing key": (["steps", FIND, "merged"], KeyError),
    "counter": (["counter"], -1),
    "file elsewhere": (["file"], "../../secret.csv"),
    "file of code": (["name"], CODE),
    "file lost": (["file"], "other.csv"),
    "format": (["format"], "1"),
}


@pytest.mark.parametrize("what", DAMAGED)
def test_what_no_exploration_says_is_refused(served, client, kept, what):
    before = sorted(served[0].folder.iterdir())
    answer = sent(client, changed(kept, *DAMAGED[what]))
    assert answer.status_code == 400, answer.text
    assert "no exploration that can be opened" in answer.json()["detail"]
    assert sorted(served[0].folder.iterdir()) == before


def test_a_damaged_directory_is_a_sentence(tmp_path, kept):
    folder = tmp_path / "own-1"
    folder.mkdir()
    for name, content in kept["files"].items():
        (folder / name).write_bytes(content)
    assert list(Exploration.open(folder).facets()) == ["v1", "v2"]
    (folder / "v2.npz").write_bytes(kept["files"]["v2.npz"][:2000])
    with pytest.raises(ValueError, match=r"'own-1' is no exploration .*'v2\.npz' is damaged"):
        Exploration.open(folder)
    (folder / STATE).write_text("[" * 100_000)
    with pytest.raises(ValueError, match=r"'own-1' is no exploration .*json is damaged"):
        Exploration.open(folder)


def test_archives_hold_plain_files_once(client, kept):
    link = packed(kept["files"] | {"small.csv": "../../secret.csv"}, small=stat.S_IFLNK | 0o777)
    twice = io.BytesIO(kept["packed"])
    with zipfile.ZipFile(twice, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr(STATE, kept["files"][STATE])
    other_case = packed(kept["files"] | {"V1.npz": b""})
    upwards = packed(kept["files"] | {"..": b""})
    for content in (link, twice.getvalue(), other_case, upwards):
        answer = sent(client, content)
        assert answer.status_code == 400
        assert "strange path" in answer.json()["detail"]


HOSTILE = [
    *(None, True, -1, 0, 1, 3, 10**30, 1.5, 1e308, "", "auto", "v1", "v2", "v9", "known", "x0"),
    *(
        "../secret",
        "../../secret.csv",
        "/etc/passwd",
        "v1/../../../secret",
        CODE,
        "\ud800",
        "x" * 500,
    ),
    *([], [0, 1], [[0, 1]], ["v1"], {}, {"v1": [[0, 1]]}, {"do": "accept", "view": "v1"}),
]


def places(value, way=()):
    """Return the way to every value in a document."""
    yield way
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, one in pairs:
        if isinstance(one, dict | list):
            yield from places(one, (*way, key))
        else:
            yield (*way, key)


def mutated(document, rng):
    """Return a document with a value or two replaced, left out, doubled, added or exchanged."""
    document = json.loads(json.dumps(document))
    for _ in range(rng.choice([1, 1, 2])):
        *way, last = rng.choice([one for one in places(document) if one])
        where = document
        for key in way:
            where = where[key]
        kind = rng.randrange(5)
        if kind == 0:
            del where[last]
        elif kind == 1 and isinstance(where, list):
            where.insert(rng.randrange(len(where) + 1), where[last])
        elif kind == 2 and isinstance(where, dict):
            where[str(rng.choice(HOSTILE))] = rng.choice(HOSTILE)
        elif kind == 3 and isinstance(where, list):
            rng.shuffle(where)
        else:
            where[last] = rng.choice(HOSTILE)
    return document


def mutated_view(content, rng):
    """Return the file of a view with other words, or with an array of another kind."""
    with np.load(io.BytesIO(content)) as file:
        arrays = dict(file)
    if rng.random() < 0.7:
        meta = mutated(json.loads(bytes(arrays["meta"])), rng)
        arrays["meta"] = np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)
    else:
        name = rng.choice([one for one in arrays if one != "meta"])
        array = arrays[name]
        arrays[name] = rng.choice(
            [
                array[1:],
                array[None],
                array.astype(str),
                array[:0],
                np.zeros_like(array),
                array[::-1],
            ]
        )
    target = io.BytesIO()
    np.savez(target, **arrays)
    return target.getvalue()


def mutated_archive(kept, rng):
    files, kind = dict(kept["files"]), rng.random()
    if kind < 0.6:
        files[STATE] = json.dumps(mutated(json.loads(files[STATE]), rng)).encode()
    elif kind < 0.8:
        name = rng.choice(["v1.npz", "v2.npz"])
        files[name] = mutated_view(files[name], rng)
    else:
        name = rng.choice([*files])
        content = bytearray(files[name])
        for _ in range(3):
            content[rng.randrange(len(content))] = rng.randrange(256)
        files[name] = bytes(content[: rng.choice([None, None, len(content) // 2])])
    whole = bytearray(packed(files))
    if kind > 0.95:
        whole[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
    return bytes(whole)


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_mutated_explorations_are_refused_or_work(served, client, kept, seed):
    bench, rng = served[0], random.Random(seed)
    outside = contents(bench.folder.parent)
    taken = 0
    for i in range(250):
        answer = sent(client, mutated_archive(kept, rng))
        assert answer.status_code in (201, 400), (i, answer.text)
        if answer.status_code == 400:
            assert isinstance(answer.json()["detail"], str)
            continue
        taken += 1
        address = f"/api/explorations/{answer.json()['id']}"
        files = [f"files/{name}" for name in ("labels.csv", "report.html", "repeat.zip")]
        views = [f"views/{view['id']}" for view in answer.json()["views"]]
        for part in ("code", *files, *views):
            told = client.get(f"{address}/{part}")
            assert told.status_code < 500, (i, part, told.text)
            if part == "code":
                ast.parse(told.json()["python"])
        client.delete(address).raise_for_status()
    assert contents(bench.folder.parent) == outside
    assert 25 < taken < 225


# Files that are larger than they look


def bombs(folder):
    """Return small files that hold 20 MB and more, by name."""
    pa = pytest.importorskip("pyarrow")
    parquet, feather = (
        pytest.importorskip("pyarrow.parquet"),
        pytest.importorskip("pyarrow.feather"),
    )
    zeros, name = np.zeros(2_600_000), str(folder / "bomb")
    found = {}

    def take(kind):
        with open(name, "rb") as file:
            found[f"bomb.{kind}"] = file.read()

    np.savez_compressed(f"{name}.npz", a=zeros)
    found["bomb.npz"] = (folder / "bomb.npz").read_bytes()
    found["bomb.npz.gz"] = gzip.compress(found["bomb.npz"])
    np.savez(f"{name}.npz", a=np.empty(10**9, dtype="V0"))
    found["claims.npz"] = (folder / "bomb.npz").read_bytes()
    texts = pa.table({"text": pa.array(["x" * 100_000] * 500), "x": pa.array(range(500))})
    parquet.write_table(texts, name, compression="zstd")
    take("parquet")
    parquet.write_table(pa.table({"lists": [["x" * 100_000]] * 500}), name, compression="zstd")
    take("pq")
    feather.write_feather(pa.table({"x": zeros}), name, compression="zstd")
    take("feather")
    with pa.ipc.new_stream(
        name, texts.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")
    ) as target:
        target.write_table(texts)
    take("arrow")
    h5py = pytest.importorskip("h5py")
    with h5py.File(name, "w") as file:
        file.create_dataset("X", data=zeros.reshape(-1, 10), compression="gzip")
    take("h5ad")
    return found


def test_the_limit_holds_for_all_that_is_unpacked(client, kept, tmp_path, monkeypatch):
    state = {"format": 1, "counter": 0, "setup": None, "steps": []}
    gz = gzip.compress(b"a,b\n" + b"1,2\n" * 5_000_000)
    found = bombs(tmp_path) | {"bomb.csv.gz": gz}
    found["nested.zip"] = packed(
        {STATE: json.dumps(state | {"name": "t", "file": "t.csv.gz"}), "t.csv.gz": gz}
    )
    found["view.zip"] = packed(kept["files"] | {"v2.npz": found["bomb.npz"]})
    several = {f"v{i}.npz": small_bomb() for i in range(3, 7)}
    found["several.zip"] = packed(kept["files"] | several)
    for name, content in found.items():
        assert len(content) < 600_000, name
        answer = sent(client, content, name)
        assert answer.status_code == 400, name
        assert "unpacks to more than" in answer.json()["detail"], (name, answer.json())
    assert sent(client, kept["packed"]).status_code == 201


def small_bomb():
    content = io.BytesIO()
    np.savez_compressed(content, a=np.zeros(500_000))
    return content.getvalue()


def test_annotated_data_that_lie_elsewhere_are_not_read(client, tmp_path):
    h5py = pytest.importorskip("h5py")
    secret = tmp_path / "secret.bin"
    secret.write_bytes(np.arange(40.0).tobytes())
    with h5py.File(tmp_path / "raw.h5ad", "w") as file:
        file.create_dataset("X", (20, 2), "f8", external=[(str(secret), 0, 320)])
    with h5py.File(tmp_path / "link.h5ad", "w") as file:
        file["X"] = h5py.ExternalLink(str(tmp_path / "raw.h5ad"), "X")
    for name in ("raw.h5ad", "link.h5ad"):
        answer = sent(client, (tmp_path / name).read_bytes(), name)
        assert (answer.status_code, "by a link" in answer.json()["detail"]) == (400, True)


# Tables that stay


def test_an_open_table_survives_others(tmp_path):
    path = small_table(tmp_path)
    with running(tmp_path / "kept") as (_, client):
        addresses = [uploaded(client, path, given=["known"]) for _ in range(9)]
        for address in addresses:
            state = client.get(address).raise_for_status().json()
            assert state["setup"]["given"] == ["known"]
    assert not (tmp_path / "kept").exists()


def test_columns_that_hold_no_values_are_left_out_of_labels(client, tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rng = np.random.default_rng(0)
    table = pa.table(
        {
            "a": rng.normal(size=40),
            "b": rng.normal(size=40) + np.repeat([0, 9], 20),
            "tags": [["x", "y"]] * 40,
            "raw": [b"\x00\xff"] * 40,
        }
    )
    parquet.write_table(table, tmp_path / "lists.parquet")
    address = uploaded(client, tmp_path / "lists.parquet")
    searched(client, address)
    (note,) = client.get(address).json()["setup"]["notes"]
    assert "'tags', 'raw'" in note
    text = client.get(f"{address}/files/labels.csv").raise_for_status().text
    assert text.splitlines()[0] == "a,b,view 1"
    found = client.get(f"{address}/files/labels.parquet").raise_for_status().content
    assert parquet.read_table(io.BytesIO(found)).column_names == ["a", "b", "view 1"]
