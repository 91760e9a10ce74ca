"""The command line: real files in, the library's own results out."""

from __future__ import annotations

import gzip
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from multifacet import compare_labelings, find_views, reduce_table
from multifacet.cli import main
from multifacet.datasets import load_penguins, make_gaussian_views
from multifacet.files import read_file, write_table
from multifacet.results.views import Views

X, LABELINGS = make_gaussian_views(80, [2, 2], rotate=False, random_state=0)
NAMES = ["long", "wide", "high", "deep"]
IDS = [f"r{i:03}" for i in range(80)]
KIND = np.array(["a", "b"])[LABELINGS[:, 0]]
#: A closed form: what is tested here is the way there and back.
FAST = ("--views", "1", "--clusters", "2", "--method", "linear")
SCRIPT = Path(sys.executable).with_name("multifacet")
COMMAND = [str(SCRIPT)] if SCRIPT.exists() else [sys.executable, "-m", "multifacet"]
FILES = {
    "report.html", "labels.csv", "references.csv", "loadings.csv", "views.json", "views.npz",
    "run.json",
}  # fmt: skip


def columns():
    return {"id": IDS, "kind": KIND} | dict(zip(NAMES, X.T, strict=True))


def call(*words):
    """Call the command in this process; the result has exit_code, stdout and stderr."""
    return CliRunner().invoke(main, [str(word) for word in words])


def run(*words, **options):
    """Call the real command."""
    line = [*COMMAND, *map(str, words)]
    return subprocess.run(line, capture_output=True, timeout=120, **options)


@pytest.fixture(scope="module")
def expected():
    options = {"n_views": 1, "n_clusters": 2, "method": "linear"}
    return find_views(columns(), given="kind", identifier="id", **options)


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write_table("table.csv", columns())


def text(separator=",", decimal="."):
    rows = [["id", "kind", *NAMES]]
    rows += [
        [i, k, *(repr(float(v)).replace(".", decimal) for v in row)]
        for i, k, row in zip(IDS, KIND, X, strict=True)
    ]
    return "\n".join(separator.join(row) for row in rows) + "\n"


def write(path, kind):
    if kind == "gz":
        path.write_bytes(gzip.compress(text().encode()))
    elif kind == "semicolon":
        path.write_bytes(b"\xef\xbb\xbf" + text(";", ",").encode())
    elif kind == "tab":
        path.write_text(text("\t"))
    elif kind == "npz":
        np.savez(path, X=X, kind=KIND, id=np.array(IDS))
    elif kind == "h5ad":
        anndata = pytest.importorskip("anndata")
        import pandas as pd

        obs = pd.DataFrame({"kind": KIND}, index=IDS)
        anndata.AnnData(X, obs=obs, var=pd.DataFrame(index=NAMES)).write_h5ad(path)
    else:
        pytest.importorskip("pyarrow")
        write_table(path, columns())


def test_the_best_candidate_has_labels_that_say_it_is_not_believed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    noise = np.random.default_rng(5).normal(size=(60, 3))
    table = {"id": IDS[:60]} | dict(zip(NAMES, noise.T, strict=False))
    write_table("noise.csv", table)
    assert "No view beyond chance" in call("find", "noise.csv", "--clusters", "2").output
    labels = read_file("noise-views/labels.csv").columns
    assert list(labels) == ["id", "best candidate (not believed)"]
    rejected = Views.load("noise-views/views.npz").rejected
    np.testing.assert_array_equal(labels["best candidate (not believed)"], rejected.labels)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("t.csv.gz", "gz"),
        ("t.csv", "semicolon"),
        ("t.tsv", "tab"),
        ("t.parquet", "parquet"),
        ("t.feather", "arrow"),
        ("t.npz", "npz"),
        ("t.h5ad", "h5ad"),
    ],
)
def test_every_format_gives_the_result_of_the_library(tmp_path, expected, name, kind):
    write(tmp_path / name, kind)
    done = run("find", name, "--given", "kind", *FAST, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "t-views"
    assert {path.name for path in folder.iterdir()} == FILES
    labels = read_file(folder / "labels.csv").columns
    name_of_rows, given, view = labels
    assert given == "kind"
    assert view == "view 1"
    assert list(labels[name_of_rows]) == IDS
    np.testing.assert_array_equal(labels[view], expected[0].labels)
    np.testing.assert_array_equal(labels[given], KIND)


def test_standard_input_and_a_bare_array(tmp_path, expected):
    done = run("find", "-", "--given", "kind", *FAST, cwd=tmp_path, input=text().encode())
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "stdin-views" / "report.html").exists()
    np.save(tmp_path / "bare.npy", X)
    done = run("find", "bare.npy", *FAST, "--json", cwd=tmp_path)
    same = find_views(X, n_views=1, n_clusters=2, method="linear")
    assert json.loads(done.stdout)["views"][0]["sizes"] == same.table()[0]["sizes"]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """The directory of one call, and what it printed."""
    folder = tmp_path_factory.mktemp("found")
    write_table(folder / "table.csv", columns() | {"same": np.ones(80), "sex": list("mf") * 40})
    out = folder / "out"
    result = call("find", folder / "table.csv", "--given", "kind", "-o", out, *FAST)
    assert result.exit_code == 0, result.stderr
    return out, result


def test_the_files_of_find(found, expected):
    out, result = found
    assert str(expected) in result.stdout
    assert f"report: {out / 'report.html'}" in result.stdout
    loadings = read_file(out / "loadings.csv").columns
    assert list(loadings) == ["view", "component", "feature", "loading", "weight"]
    np.testing.assert_allclose(loadings["loading"], expected[0].explanation.loadings.ravel())
    assert list(loadings["feature"][:4]) == NAMES
    saved = Views.load(out / "views.npz")
    np.testing.assert_array_equal(saved.labelings, expected.labelings)
    document = json.loads((out / "views.json").read_text())
    assert document == json.loads(json.dumps(saved.to_dict()))
    assert "view 1" in (out / "report.html").read_text()


def test_what_was_used_and_left_out_is_said(found):
    notes = found[1].stderr
    assert "'same'" in notes
    assert "constant" in notes
    assert "rows are named by column 'id'" in notes
    assert "'sex' looks like labels, to be compared with what is found" in notes
    assert "4 features used: 'long', 'wide', 'high', 'deep'" in notes
    assert "every feature has standard deviation 1, since units may differ" in notes
    assert json.loads((found[0] / "run.json").read_text())["notes"] == [
        line.removeprefix("note: ") for line in notes.splitlines()
    ]


def test_a_run_can_be_repeated_exactly(found, tmp_path):
    out, _ = found
    kept = json.loads((out / "run.json").read_text())
    assert kept["command"].endswith("--given kind --views 1 --clusters 2 --method linear")
    assert kept["seed"] == 0
    assert set(kept["timings"]) == {"read", "find"}
    result = call("find", "--from", out / "run.json", "-o", tmp_path / "again")
    assert result.exit_code == 0, result.stderr
    for name in ("labels.csv", "loadings.csv", "views.json"):
        assert (tmp_path / "again" / name).read_bytes() == (out / name).read_bytes()
    again = json.loads((tmp_path / "again" / "run.json").read_text())
    assert again["options"] == kept["options"]
    assert again["command"] == kept["command"]


def test_a_repetition_needs_the_same_input(table):
    assert call("find", table, "--given", "kind", *FAST).exit_code == 0
    table.write_text(table.read_text().replace("r001", "R001"))
    result = call("find", "--from", "table-views/run.json", "-o", "again")
    assert result.exit_code == 2
    assert "'table.csv' has changed since the run that --from repeats" in result.stderr
    assert not Path("again").exists()


def test_options_come_from_a_file_and_the_command_line_wins(table):
    Path("options.toml").write_text(
        'data = "table.csv"\ngiven = "kind"\nviews = 1\nclusters = [3]\nmethod = "linear"\n'
        "standardize = false\n"
    )
    result = call("find", "--config", "options.toml", "--clusters", "2", "--json")
    assert result.exit_code == 0, result.stderr
    printed = json.loads(result.stdout)
    assert printed["views"][0]["clusters"] == 2
    assert printed["output"] == "table-views"
    options = json.loads(Path("table-views/run.json").read_text())["options"]
    assert (options["given"], options["standardize"]) == (["kind"], False)


@pytest.fixture
def ratings(tmp_path, monkeypatch):
    """A table whose columns share a range."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    stars = 1 + rng.integers(0, 5, (80, 1)) // 4 * 2 + rng.integers(0, 3, (80, 20))
    return write_table("ratings.csv", {f"item {j}": column for j, column in enumerate(stars.T)})


def scale_of(folder):
    """Return what was asked about the scale of features, and what was done."""
    run = json.loads((Path(folder) / "run.json").read_text())
    encoding = Views.load(Path(folder) / "views.npz").encoding
    return run["options"]["standardize"], encoding.scaling, len(set(encoding.scale.round(9))) == 1


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], ("auto", "range", True)),
        (["--standardize"], (True, "told", False)),
        (["--no-standardize"], (False, "told", True)),
    ],
)
def test_scale_is_decided_said_and_repeated(ratings, words, expected):
    result = call("find", ratings, *FAST, *words, "-o", "out")
    assert result.exit_code == 0, result.stderr
    said = "as pixels and ratings do. If their units differ, use --standardize"
    assert (said in result.stderr) == (not words)
    assert scale_of("out") == expected
    run = json.loads(Path("out/run.json").read_text())
    assert ("standardize" in run["command"]) == bool(words)
    again = call("find", "--from", "out/run.json", "-o", "again")
    assert again.exit_code == 0, again.stderr
    assert scale_of("again") == expected


def test_scale_is_said_of_reductions(ratings, table):
    for data, said in ((ratings, "fill one range, as pixels"), (table, "standard deviation 1")):
        result = call("reduce", data, "--dimensions", "1", "--clusters", "2", "--bandwidth", "1")
        assert result.exit_code == 0, result.stderr
        assert said in result.stderr


def test_the_command_line_wins_over_a_switch_in_a_file(ratings):
    for value, words, expected in (
        ('"auto"', [], "auto"),
        ("true", [], True),
        ("true", ["--no-standardize"], False),
        ('"auto"', ["--standardize"], True),
    ):
        Path("o.toml").write_text(f"standardize = {value}\n")
        result = call("find", ratings, *FAST, "--config", "o.toml", *words, "-o", "out", "--force")
        assert result.exit_code == 0, result.stderr
        assert scale_of("out")[0] == expected


def test_a_file_of_options_has_sections_for_commands(table):
    Path("options.toml").write_text(
        'data = "table.csv"\nseed = 3\n[find]\ngiven = "kind"\nviews = 1\nclusters = [2]\n'
        'method = "linear"\n[reduce]\ntarget = "kind"\ndimensions = 1\n'
    )
    for command, folder in (("find", "table-views"), ("reduce", "table-reduction")):
        done = call(command, "--config", "options.toml")
        assert done.exit_code == 0, done.stderr
        options = json.loads(Path(folder, "run.json").read_text())["options"]
        assert options["seed"] == 3
        assert ("target" in options) == (command == "reduce")
    assert options["dimensions"] == 1


def test_a_target_that_may_name_the_rows_is_told(table):
    write_table("numbered.csv", columns() | {"id": range(100, 180)})
    done = call("reduce", "numbered.csv", "--target", "id", "--exclude", "kind", "-q", 1)
    assert done.exit_code == 0, done.stderr
    assert (
        "note: --target 'id' looks as if it names the rows: if it does, the result" in done.stderr
    )


def test_known_labels_come_from_another_file_by_identifier(table, expected):
    order = np.random.default_rng(0).permutation(80)
    other = {"id": [*np.array(IDS)[order], "r999"], "kind": [*KIND[order], "a"]}
    write_table("known.csv", other)
    write_table("plain.csv", {name: c for name, c in columns().items() if name != "kind"})
    result = call("find", "plain.csv", "--existing", "known.csv:kind", *FAST)
    assert result.exit_code == 0, result.stderr
    assert "known.csv has 1 more rows than DATA" in result.stderr
    labels = read_file("plain-views/labels.csv").columns
    np.testing.assert_array_equal(labels["kind"], KIND)
    np.testing.assert_array_equal(labels["view 1"], expected[0].labels)
    kept = json.loads(Path("plain-views/run.json").read_text())
    assert kept["existing"][0]["name"] == "known.csv"
    assert call("find", "--from", "plain-views/run.json", "-o", "again").exit_code == 0


@pytest.mark.parametrize("identifier", ["id", "row"])
def test_a_second_search_avoids_the_first(table, identifier):
    if identifier == "row":  # a table whose rows have no names
        write_table(table, dict(zip(NAMES, X.T, strict=True)))
    assert call("find", table, *FAST).exit_code == 0
    words = ("find", table, "--existing", "table-views/labels.csv:view 1", "-o", "second", *FAST)
    assert call(*words).exit_code == 0
    labels = read_file("second/labels.csv").columns
    assert list(labels) == [identifier, "view 1", "view 2"]
    result = call("compare", "second/labels.csv", "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["pairs"][0]["nmi"] < 0.2


#: Names that tell a terminal to clear, colour, ring, part lines and write backwards; and what else
#: rich would take for its own.
ORDERS = ["clear\x1b[2J", "\x9b31mred", "bell\a\nError: forged", "\u202eback", "[red]x :bird:"]


def odd_names():
    """Return the columns with orders in names and cells."""
    values = np.where(KIND == "a", "\x1b]0;title\a", "[bold]b")
    return {ORDERS[4]: IDS, ORDERS[3]: values} | dict(zip(ORDERS, X.T, strict=False)) | {
        ORDERS[4]: IDS, ORDERS[3]: values, "other\x1b": LABELINGS[:, 1],
    }  # fmt: skip


def lines_without_orders(done):
    """Return what was said, after looking for characters that a terminal obeys."""
    said = done.stdout + done.stderr
    assert not re.findall("(?!\n)[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", said)
    assert not [line for line in said.splitlines() if line.startswith("Error: forged")]
    return said


def test_names_give_no_orders_to_the_terminal(table):
    write_table("odd.csv", odd_names())
    words = ("find", "odd.csv", "--given", ORDERS[3], "--id", ORDERS[4], *FAST)
    done = call(*words)
    assert done.exit_code == 0, done.stderr
    said = lines_without_orders(done)
    assert "given \\u202eback" in said
    assert any(name in said for name in ("clear\\x1b[2J", "\\x9b31mred", "bell\\x07\\nError: f"))
    assert len(done.stdout.splitlines()) == 5  # with what is said of the column other
    printed = json.loads(lines_without_orders(call(*words, "--force", "--json", "--quiet")))
    assert set(printed["views"][0]["features"]) <= set(ORDERS)
    assert list(read_file("odd-views/labels.csv").columns)[:2] == [ORDERS[4], ORDERS[3]]
    done = call("reduce", "odd.csv", "--target", ORDERS[3], "-q", 1)
    assert "depends most on \\u202eback" in lines_without_orders(done)
    assert "note: rows are named by column '[red]x :bird:'" in done.stderr
    done = call("compare", "odd.csv", "--labels", f"{ORDERS[3]},other\x1b")
    assert "\\u202eback and other\\x1b: " in lines_without_orders(done)


@pytest.mark.parametrize(
    "words",
    [
        ["find", "odd.csv", "--given", "k\x1b[31m\nError: forged", *FAST],
        ["find", "odd.csv", "--\x1b[31m\nError: forged"],
        ["find", "odd.csv", "--method", "\x1b[31m\nError: forged"],
        ["find", "odd.csv", "more", "\x1b[31m\nError: forged"],
        ["\x1b[31m\nError: forged"],
        ["--\x1b[31m\nError: forged", "find"],
        ["report", "\x1b[31m\nError: forged"],
        ["find", "odd.csv", "--given", "same", *FAST],
    ],
)
def test_errors_give_no_orders_to_the_terminal(table, words):
    write_table("odd.csv", odd_names() | {"same": ["\x1b[31m\nError: forged"] * 80})
    done = call(*words)
    assert done.exit_code == 2
    assert "\\x1b" in lines_without_orders(done)


def test_what_looks_like_a_formula_comes_back(table):
    """Written so that no spreadsheet runs it, and found again by its name and by its row."""
    ids = [f"=HYPERLINK({name})" if i % 2 else f"-{name}" for i, name in enumerate(IDS)]
    given = np.where(KIND == "a", "+", "@SUM(1)")
    write_table("t.parquet", columns() | {"id": ids, "kind": given, "=long": X[:, 0]})
    assert call("find", "t.parquet", "--given", "kind", "--id", "id", *FAST).exit_code == 0
    rows = Path("t-views/labels.csv").read_text().splitlines()
    assert {row[0] for row in rows[1:]} == {"'"}
    assert {row.split(",")[1] for row in rows[1:]} == {"+", "'@SUM(1)"}
    assert "'=long" in Path("t-views/loadings.csv").read_text()
    words = ("--existing", "t-views/labels.csv:view 1", "--existing", "t-views/labels.csv:kind")
    done = call("find", "t.parquet", "--id", "id", *words, "-o", "second", *FAST)
    assert done.exit_code == 0, done.stderr
    labels = read_file("second/labels.csv").columns
    assert labels["id"].tolist() == ids
    assert given.tolist() in [column.tolist() for column in labels.values()]


def test_names_with_commas_and_repeated_options(table):
    write_table("odd.csv", columns() | {"kind, again": KIND})
    words = ("find", "odd.csv", "--given", "kind", "--given", '"kind, again"', *FAST)
    assert call(*words).exit_code == 0
    kept = json.loads(Path("odd-views/run.json").read_text())
    assert kept["options"]["given"] == ["kind", "kind, again"]
    assert call("find", "--from", "odd-views/run.json", "--force").exit_code == 0


def test_reduce_gives_the_result_of_the_library(table):
    result = call("reduce", table, "--target", "kind", "-q", 2)
    assert result.exit_code == 0, result.stderr
    expected = reduce_table(columns(), target="kind", identifier="id", n_components=2)
    projected = read_file("table-reduction/projection.csv").columns
    assert list(projected) == ["id", "kind", "dimension 1", "dimension 2"]
    np.testing.assert_allclose(projected["dimension 2"], expected.projection[:, 1])
    loadings = read_file("table-reduction/loadings.csv").columns
    np.testing.assert_allclose(loadings["loading"], expected.components.ravel())
    document = json.loads(Path("table-reduction/reduction.json").read_text())
    assert document["sentence"] == expected.sentence
    assert expected.sentence in result.stdout
    assert "kind" in Path("table-reduction/report.html").read_text()


def test_reduce_by_clusters_alone(table):
    result = call("reduce", table, "--exclude", "kind", "--clusters", 2, "-q", 1, "--json")
    assert result.exit_code == 0, result.stderr
    projected = read_file("table-reduction/projection.csv").columns
    assert list(projected) == ["id", "dimension 1", "cluster"]
    assert "2 groups" in json.loads(result.stdout)["sentence"]


def test_rows_that_are_left_out_are_told(table):
    masses = [None if i % 4 == 0 else v for i, v in enumerate(X[:, 0])]
    write_table("gaps.csv", columns() | {"long": masses})
    done = call("find", "gaps.csv", "--given", "kind", "--missing", "drop", *FAST)
    assert done.exit_code == 0, done.stderr
    said = "left out 20 of 80 rows with missing values"
    assert f"note: {said}" in done.stderr
    record = json.loads(Path("gaps-views/run.json").read_text(encoding="utf-8"))
    assert said in record["notes"]
    assert said in Path("gaps-views/report.html").read_text(encoding="utf-8")
    kinds = [None if i % 10 == 0 else v for i, v in enumerate(KIND)]
    write_table("gaps.csv", columns() | {"long": masses, "kind": kinds})
    words = ("--given", "kind", "--missing", "impute", *FAST, "--force")
    done = call("find", "gaps.csv", *words)
    assert "note: left out 8 of 80 rows without a label" in done.stderr
    assert len(read_file("gaps-views/labels.csv").columns["id"]) == 72


def test_row_numbers_of_pandas_give_way_to_the_identifier(table):
    lines = Path(table).read_text().splitlines()
    numbered = ["," + lines[0], *(f"{i},{line}" for i, line in enumerate(lines[1:]))]
    Path("numbered.csv").write_text("\n".join(numbered))
    done = call("find", "numbered.csv", "--given", "kind", *FAST)
    assert "note: rows are named by column 'id'" in done.stderr
    assert "note: left out 'row': different in every row" in done.stderr
    assert next(iter(read_file("numbered-views/labels.csv").columns)) == "id"


def test_known_labels_in_the_order_of_the_rows(table):
    write_table("bare.csv", dict(zip(NAMES, X.T, strict=True)))
    write_table("known.csv", {"kind": KIND})
    done = call("find", "bare.csv", "--existing", "known.csv:kind", *FAST)
    assert done.exit_code == 0, done.stderr
    assert "no column of DATA names its rows, so those of known.csv are taken in" in done.stderr
    assert read_file("bare-views/labels.csv").columns["kind"].tolist() == KIND.tolist()
    write_table("short.csv", {"kind": KIND[1:]})
    done = call("find", "bare.csv", "--existing", "short.csv:kind", *FAST, "--force")
    assert "'short.csv' has 79 rows, DATA has 80" in done.stderr


def test_measurements_are_no_labelings(table):
    write_table("both.csv", columns() | {"other": LABELINGS[:, 1]})
    done = call("compare", "both.csv")
    assert done.exit_code == 0, done.stderr
    assert "note: left out 'long': different in every row" in done.stderr
    assert "kind and other" in done.stdout
    write_table("one.csv", columns() | {"long": X[:, 0].round(1)})
    said = call("compare", "one.csv").stderr
    assert "left out 'long': measurements" in said
    assert "Error: DATA has no 2 columns that look like labelings: name them with --labels" in said


def test_files_of_options_may_say_where_and_how(table):
    Path("o.toml").write_text(
        'data = "table.csv"\noutput = "there"\njson = true\nquiet = true\nviews = 1\nclusters = 2\n'
        'method = "linear"\ngiven = ["kind"]\n'
    )
    done = call("find", "--config", "o.toml")
    assert done.exit_code == 0, done.stderr
    assert not done.stderr
    [view] = json.loads(done.stdout)["views"]
    assert set(view["features"]) <= set(NAMES)
    assert view["nmi_with_known"] == view["novelty"]
    assert "separat" in view["verdict"]
    Path("elsewhere").mkdir()
    os.chdir("elsewhere")  # the fixture goes back
    again = call("find", "--from", "../there/run.json", "-o", "here")
    assert again.exit_code == 0, again.stderr
    assert Path("here/labels.csv").read_bytes() == Path("../there/labels.csv").read_bytes()


def test_no_column_of_a_result_replaces_another(table):
    write_table("again.csv", columns() | {"dimension 1": X[:, 0]})
    words = ("reduce", "again.csv", "--target", "dimension 1", "--exclude", "kind", "-q", 1)
    assert call(*words).exit_code == 0
    projected = read_file("again-reduction/projection.csv").columns
    assert list(projected) == ["id", "dimension 1", "new dimension 1"]
    np.testing.assert_allclose(projected["dimension 1"], X[:, 0])


def test_compare_gives_the_result_of_the_library(tmp_path):
    species, sex = load_penguins()[1].T
    table = {"species": species, "sex": sex}
    write_table(tmp_path / "birds.csv", table)
    words = ("compare", tmp_path / "birds.csv", "--labels", "species,sex", "-o", tmp_path / "o")
    result = call(*words)
    assert result.exit_code == 0, result.stderr
    expected = compare_labelings(table)
    assert str(expected) in result.stdout
    assert json.loads((tmp_path / "o" / "comparison.json").read_text()) == expected.to_dict()


@pytest.mark.parametrize("suffix", [".html", ".md", ".json"])
def test_reports_can_be_written_again(found, tmp_path, suffix):
    out, _ = found
    for source in (out, out / "views.npz", out / "views.json"):
        target = tmp_path / f"{source.name}{suffix}"
        result = call("report", source, "-o", target)
        assert result.exit_code == 0, result.stderr
        assert "--given kind" in target.read_text().replace("&#x27;", "'")
    refused = call("report", out)
    assert refused.exit_code == 2
    assert "report.html' exists: replace it with --force" in refused.stderr


def test_results_are_replaced_only_if_asked_and_nothing_else_is(table):
    words = ("find", table, "--given", "kind", *FAST)
    assert call(*words).exit_code == 0
    Path("table-views/mine.txt").write_text("mine")
    before = Path("table-views/run.json").read_bytes()
    assert call(*words, "--clusters", 3).exit_code == 2
    assert Path("table-views/run.json").read_bytes() == before
    assert call(*words, "--clusters", 3, "--force").exit_code == 0
    assert Path("table-views/run.json").read_bytes() != before
    assert Path("table-views/mine.txt").read_text() == "mine"


def test_info_tells_what_columns_are_for(table):
    write_table("more.csv", columns() | {"sex": ["f", "m"] * 40, "same": [1] * 80})
    done = call("info", "more.csv", "--given", "kind")
    assert done.exit_code == 0, done.stderr
    roles = find_views(read_file("more.csv").columns, given="kind", dry_run=True)
    assert done.stdout.startswith(f"{roles}\n'sex' looks like labels")
    assert [line.split()[:2] for line in done.stdout.splitlines()[1:4]] == [
        ["row", "name"],
        ["given", "kind"],
        ["feature", "long"],
    ]
    told = json.loads(call("info", "more.csv", "--categories", "use", "--json").stdout)
    uses = {one["name"]: one["use"] for one in told["columns"]}
    assert uses["kind"] == uses["sex"] == "feature"
    assert (uses["same"], uses["id"]) == ("left out", "row name")
    assert not list(Path().glob("more-*"))


def test_info_tells_versions_and_memory():
    result = call("info", "--rows", 20_000, "--columns", 50, "--json")
    found = json.loads(result.stdout)
    assert found["versions"]["numpy"] == np.__version__
    assert found["auto"]["engine"] == "lowrank"
    assert found["auto"]["data_bytes"] == 8 * 20_000 * 50
    text = call("info", "--rows", 10**8).stdout
    assert "For 100,000,000 rows and 10 features" in text
    assert "solution       on 20,000 rows first" in text
    text = call("info", "--rows", 10**4, "--columns", 2 * 10**6).stdout
    assert "but the low-rank engine needs about" in text


def test_help_and_version_are_quick():
    code = (
        "import sys\nfrom multifacet.cli import main\n"
        "main({words}, prog_name='multifacet', standalone_mode=False)\n"
        "heavy = {{'numpy', 'scipy', 'sklearn', 'pandas', 'rich'}} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    for words in (["--help"], ["--version"], ["find", "--help"]):
        done = subprocess.run(
            [sys.executable, "-c", code.format(words=words)], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert "multifacet" in done.stdout


def test_a_search_imports_no_frames_and_no_figures(tmp_path):
    X, given = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    X[:, 0] += 9 * (np.arange(40) < 20)
    write_table(tmp_path / "table.csv", {"a": X[:, 0], "b": X[:, 1], "known": given})
    words = ["find", str(tmp_path / "table.csv"), "--given", "known", "--views", "1"]
    words += ["--refits", "0", "-o", str(tmp_path / "out")]
    code = (
        "import sys\nfrom multifacet.cli import main\n"
        f"main({words}, prog_name='multifacet', standalone_mode=False)\n"
        "heavy = {'pandas', 'pyarrow', 'matplotlib', 'plotly', 'dask'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "import pandas\n"
        "from multifacet import find_views\n"
        "frame = pandas.DataFrame({'a': [1.0, 2, 9, 10] * 5, 'b': range(20)})\n"
        "assert isinstance(find_views(frame, n_views=1, n_refits=0).to_frame(), pandas.DataFrame)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "note: 2 features used" in done.stderr


def test_the_options_in_the_guide_exist():
    guide = Path(__file__).resolve().parents[2] / "docs" / "command-line.md"
    named = set(re.findall(r"--[a-z][a-z-]*", guide.read_text(encoding="utf-8")))
    params = [param for command in main.commands.values() for param in command.params]
    known = {option for p in params for option in (*p.opts, *p.secondary_opts)}
    assert named - known == {"--help", "--version"}
    assert set(re.findall(r"^\| `(\w+)", guide.read_text(), re.MULTILINE)) == set(main.commands)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell):
    assert "_MULTIFACET_COMPLETE" in call("completion", shell).stdout


def test_completion_completes():
    words = {"_MULTIFACET_COMPLETE": "bash_complete", "COMP_WORDS": "multifacet fi"}
    done = run(env=os.environ | words | {"COMP_CWORD": "1"})
    assert done.stdout.decode().split() == ["plain,find"]


def test_progress_is_shown_to_a_terminal_only(table):
    words = ("find", table, "--given", "kind", "--views", "1", "--clusters", "2")
    words = (*words, "--method", "kdac")  # which climbs an objective at the end
    controller, terminal = pty.openpty()
    line = [*COMMAND, *map(str, words), "--refits", "1"]
    env = os.environ | {"TERM": "xterm", "COLUMNS": "120", "NO_COLOR": "1"}
    with subprocess.Popen(line, env=env, stderr=terminal, stdout=subprocess.PIPE) as process:
        os.close(terminal)
        shown = b""
        with suppress(OSError):  # so Linux says that the other end is closed
            while part := os.read(controller, 65536):
                shown += part
        printed = process.communicate()[0]
    os.close(controller)
    assert process.returncode == 0
    for stage in (b"view 1 of at most 1: searching", b"candidate", b"objective", b"0:00:0"):
        assert stage in shown
    assert not re.search(rb"\x1b\[(\d+;)*(3\d|9[0-7])(;\d+)*m", shown)  # no colour
    assert printed.startswith(b"1 view of 80 rows, given kind\n")
    piped = call(*words, *FAST, "--force")
    assert "searching" not in piped.stderr
    assert "\x1b" not in piped.stderr
    assert "4 features used" in piped.stderr
    assert call(*words, *FAST, "--force", "--quiet").stderr == ""


def test_an_interrupted_search_continues_to_the_same_result(tmp_path):
    write_table(tmp_path / "t.csv", columns())
    words = ["find", "t.csv", "--views", "4", "--clusters", "2", "--refits", "1"]
    words += [
        "--method",
        "kdac",
    ]  # searches anew for each view, so there is time
    line = [*COMMAND, *words]
    out = tmp_path / "t-views"
    with subprocess.Popen(line, cwd=tmp_path, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 100
        while not (out / ".checkpoint.npz").exists() and time.monotonic() < deadline:
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        said = process.communicate()[1].decode()
    assert process.returncode == 1
    assert "interrupted; what was found so far is kept in 't-views', but not yet a result" in said
    assert b"holds an interrupted search, not yet a result" in run("report", out).stderr
    assert "Traceback" not in said
    assert [path.name for path in out.iterdir()] == [".checkpoint.npz"]
    refused = run(*words, cwd=tmp_path)
    assert refused.returncode == 2
    assert b"holds an interrupted search: continue it with --resume" in refused.stderr
    done = run(*words, "--resume", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in out.iterdir()} == FILES
    options = {"n_views": 4, "n_clusters": 2, "n_refits": 1, "method": "kdac"}
    whole = find_views(columns(), identifier="id", **options)
    np.testing.assert_array_equal(Views.load(out / "views.npz").labelings, whole.labelings)
    assert done.stdout.decode().startswith(str(whole))


def test_the_demo_prints_the_main_job(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = call("demo", "--quiet")
    assert result.exit_code == 0, result.stderr
    for words in ("333 penguins", "body_mass_g", "given species"):
        assert words in result.stdout
    [agreement] = re.findall(r"the view and the sex: \w+ related \(NMI (\d\.\d\d)", result.stdout)
    assert round(float(agreement), 1) == 0.6  # as the README says
    assert result.stdout.endswith(f"report: {Path('penguins-views') / 'report.html'}\n")
    assert {path.name for path in Path("penguins-views").iterdir()} == FILES


@pytest.fixture
def embedded(tmp_path):
    """Write embeddings, and beside them what is known of their rows."""
    np.save(tmp_path / "emb.npy", X.astype(np.float32))
    texts = [f"{'loud bells' if c else 'quiet rain'} in the {i}. hour" for i, c in
             enumerate(LABELINGS[:, 1])]  # fmt: skip
    write_table(tmp_path / "rows.csv", {"name": IDS, "kind": KIND, "text": texts})
    return tmp_path


def test_rows_of_embeddings_are_described_by_another_file(embedded, monkeypatch):
    monkeypatch.chdir(embedded)
    said = ["find", "emb.npy", "--rows", "rows.csv", "--given", "kind", *FAST, "-o", "out"]
    ran = CliRunner().invoke(main, said)
    assert ran.exit_code == 0, ran.output
    labels = read_file("out/labels.csv").columns
    assert list(labels) == ["name", "kind", "view 1"]
    assert labels["name"].tolist() == IDS
    views = Views.load("out/views.npz")
    ours = find_views("emb.npy", rows="rows.csv", given="kind", n_views=1, n_clusters=2,
                      method="linear")  # fmt: skip
    assert (views.labelings == ours.labelings).all()
    assert views[0].gallery == ours[0].gallery
    assert ">Rows to look at<" in Path("out/report.html").read_text()
    record = json.loads(Path("out/run.json").read_text())
    assert "--rows rows.csv" in record["command"]
    assert record["existing"][0]["name"] == "rows.csv"
    again = ["find", "emb.npy", "--from", "out/run.json", "-o", "again"]
    assert CliRunner().invoke(main, again).exit_code == 0
    write_table("rows.csv", {"kind": KIND[::-1]})
    ran = CliRunner().invoke(main, [*again, "--force"])
    assert "'rows.csv' has changed since the run" in ran.output


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"kind": ["a", "b"]}, "rows has 2 rows, data has 80"),
        (
            {"other": KIND},
            "--given 'kind' is not a column: the columns are 'other', and 4 features",
        ),
        ({"kind": KIND, "x0": X[:, 0]}, "rows has a column 'x0', as data has"),
    ],
)
def test_rows_that_do_not_fit_are_told(embedded, columns, words):
    write_table(embedded / "wrong.csv", columns)
    files = [str(embedded / "emb.npy"), "--rows", str(embedded / "wrong.csv")]
    ran = CliRunner().invoke(main, ["find", *files, "--given", "kind", "-o", str(embedded / "o")])
    assert ran.exit_code != 0
    assert words in " ".join(ran.output.split())
