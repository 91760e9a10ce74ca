"""What the workbench writes as code and what it takes up again: neither does more than it says."""

from __future__ import annotations

import ast
import io
import json
import tokenize
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("fastapi", reason="the extra app is not installed")
pytest.importorskip("plotly", reason="the extra app is not installed")

from multifacet.app.exploration import Exploration
from multifacet.app.repeat import script
from multifacet.files import FileData, write_table

from .workbench import QUICK, running, searched, small_table, uploaded

STATE = "exploration.json"
#: A column name that once ran a command in the generated code.
ATTACK = "A" * 86 + "\\'" + ',__import__("os").system("id>pwned"),#'


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with running(tmp_path_factory.mktemp("outside") / "explorations") as both:
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
        "known": [], "merged": {},
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
    assert sources <= {"multifacet", "multifacet.files", "multifacet.frames"}
    calls = {ast.unparse(one.func) for one in ast.walk(tree) if isinstance(one, ast.Call)}
    numeric = {"np.where", "np.isin", "np.unique", "np.full"}
    assert calls <= {"read_file", "dict", "find_views", "prepare"} | numeric
    comments = [
        token.string
        for token in tokenize.generate_tokens(io.StringIO(code).readline)
        if token.type == tokenize.COMMENT
    ]
    lists = [
        ast.literal_eval(one.value)
        for one in tree.body
        if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "names"
    ]
    assert len(comments) == len(lists)
    assert all(found == names for found in lists)
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
