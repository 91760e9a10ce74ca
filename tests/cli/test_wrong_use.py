"""Wrong uses of the command: a sentence, exit code 1 or 2, no traceback, nothing half-written."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from multifacet.cli import main
from multifacet.files import write_table

GOOD = {
    "id": [f"r{i}" for i in range(12)],
    "kind": list("ab") * 6,
    "mass": np.linspace(1, 2, 12),
    "size": np.sin(np.arange(12)),
}
FAST = ("--views", "1", "--clusters", "2", "--method", "linear")


def csv(**changes):
    """Return the good table as text, with other columns."""
    columns = GOOD | changes
    rows = zip(*columns.values(), strict=True)
    return "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(csv())
    return tmp_path


def files():
    return {str(p): p.read_bytes() if p.is_file() else None for p in Path().rglob("*")}


def refused(*words, code=2, stdin=None):
    """Call, check that it ended as it should, and return what was said."""
    before = files()
    result = CliRunner().invoke(main, [str(word) for word in words], input=stdin)
    assert result.exit_code == code, (result.exit_code, result.stdout, result.stderr)
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert files() == before
    [sentence] = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    assert result.stderr.endswith(f"{sentence}\n")
    return sentence.removeprefix("Error: ")


def in_file(text, name="bad.csv"):
    Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return name


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "'bad.csv' is empty"),
        ("id,mass\n", "no rows"),
        ("a,b\n1,2\n1,2,3\n", "line 3"),
        ("a,a\n1,2\n3,4\n", "several columns named 'a'"),
        (b"\x00\x01\x02\xff" * 50, "bad.csv"),
        ("größe,b\n1,2\n3,4\n".encode("latin-1"), "--encoding 'cp1252' (Windows"),
        ("a,b\n1,2\n", "'bad.csv' has a single row: at least 2 are needed"),
        ("a,b\nx,y\nz,y\nx,y\n", "no column is left as a feature"),
        (csv(mass=["", *GOOD["mass"][1:]]), "column 'mass' has 1 missing value in row 0"),
        (csv(mass=["inf", *GOOD["mass"][1:]]), "column 'mass' has 1 infinite value in row 0"),
        ("a,b\n1,1\n1,1\n1,1\n", "constant"),
        (csv(kind=["a"] * 12), "given 'kind' has the single value a"),
        (csv(kind=["", *list("ab") * 5, "a"]), "given column 'kind' has 1 missing value"),
        (csv(kind=[""] * 12), "given column 'kind' has no values at all: give another one"),
    ],
)
def test_content_of_the_file(here, content, message):
    given = ("--given", "kind") if "kind" in str(content) else ()
    assert message in refused("find", in_file(content), *given, *FAST)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("bad.csv.gz", b"\x1f\x8bbroken", "bad.csv.gz"),
        ("bad.parquet", b"PAR1broken", "is broken, or is no Parquet file"),
        ("bad.feather", b"ARROW1broken", "is broken, or is no Arrow file"),
        ("bad.npy", b"\x93NUMPYbroken", "is broken, or is no NumPy file"),
        ("bad.npz", b"PK\x03\x04broken", "is broken, or is no NumPy file"),
        ("bad.h5ad", b"\x89HDF\r\n\x1a\nbroken", "is broken, or is no .h5ad file"),
    ],
)
def test_broken_files(here, name, content, message):
    if name.endswith(".h5ad"):
        pytest.importorskip("anndata", reason="the extra anndata is not installed")
    assert message in refused("find", in_file(content, name), *FAST)


def test_arrays_of_the_wrong_kind(here):
    np.save("line.npy", np.arange(5.0))
    assert "shape (5,)" in refused("find", "line.npy", *FAST)
    np.save("objects.npy", np.array([{"a": 1}], dtype=object))
    assert "Python objects" in refused("find", "objects.npy", *FAST)


def test_columns_of_one_name(here):
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa

    columns = [pa.array(GOOD["mass"])] * 2
    parquet.write_table(pa.Table.from_arrays(columns, names=["a", "a"]), "twice.parquet")
    said = refused("find", "twice.parquet", *FAST)
    assert said == "'twice.parquet' has several columns named 'a': rename them"


def test_text_under_another_name(here):
    said = refused("find", in_file(csv(), "t.npy"), *FAST)
    assert said.startswith("'t.npy' is broken, or is no NumPy file of this kind: rename it")
    assert said.endswith("or pass its format, such as --format 'csv' for text")
    pytest.importorskip("uvicorn")
    in_file("import os\nprint(1, 2)\n", "x.py")
    said = refused("explore", "x.py", "--no-browser", "--port", 0)
    assert "'x.py' has the unknown suffix '.py': if it is a table, rename it to end in" in said


def test_places_that_are_no_file(here):
    message = refused("find", "tt.csv", *FAST)
    assert message == "there is no file 'tt.csv': did you mean 't.csv'?"
    Path("folder").mkdir()
    assert "there is no Parquet file in 'folder'" in refused("find", "folder", *FAST)
    assert "'folder' is a directory" in refused("reduce", "folder", "--target", "kind")
    assert "'stdin' is empty" in refused("find", "-", *FAST, stdin="")
    assert "there is no file" in refused("reduce", "gone.csv", "--target", "kind")
    assert "there is no file" in refused("compare", "gone.csv", "--labels", "kind,id")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--given", "kin"], "--given 'kin' is not a column: did you mean 'kind'?"),
        (["--exclude", "masss"], "--exclude 'masss' is not a column: did you mean 'mass'?"),
        (["--features", "weight"], "--features 'weight' is not a column"),
        (["--id", "ids"], "--id 'ids' is not a column: did you mean 'id'?"),
        (["--given", "kind,"], "holds an empty name"),
        (["--given", "id"], "given 'id' has 12 different values for 12 rows"),
        (["--given", "mass"], "given 'mass' holds measurements such as 1"),
        (["--views", "two"], "'two' is neither a whole number nor 'auto'"),
        (["--views", "0"], "--views 0 must be at least 1"),
        (["--clusters", "3,2", "--views", "3"], "--clusters has 2 entries for 3 views"),
        (["--clusters", "13"], "--clusters 13 must be between 1 and 12"),
        (["--clusters", "2.5"], "'2.5' is neither a whole number nor 'auto'"),
        (["--dimensions", "9"], "--dimensions 9 must be between 1 and 2"),
        (["--refits", "-1"], "--refits -1 must be at least 0"),
        (["--novelty-weight", "-1"], "--novelty-weight must be a non-negative number"),
        (["--seed", "x"], "'x' is not a valid integer"),
        (["--method", "kmeans"], "'kmeans' is not one of"),
        (["--missing", "ignore"], "'ignore' is not one of"),
        (["--strategy", "simultaneous"], "refines subspaces of KDAC"),
        (["--separator", "::"], "separator"),
        (["--encoding", "klingon"], "klingon"),
        (["--encoding", "undefined"], "--encoding 'undefined' is not known: use 'utf-8'"),
        (["--encoding", "hex"], "--encoding 'hex' is not known: use 'utf-8'"),
        (["--given", "id,kind,mass,size"], "('id', 'kind', 'mass', 'size' are given)"),
        (["--given", "kind,mass,size"], "'kind', 'mass', 'size' are given; 'id' names the rows"),
        (["--bandwidth", "-1"], "--bandwidth -1.0 has no effect on --method 'linear': leave it"),
        (["--bandwidth", "2"], "--bandwidth 2.0 has no effect on --method 'linear': leave it"),
        (["--method", "embedding", "--dimensions", "1"], "--dimensions 1 has no effect on"),
        (["--method", "isaac", "--novelty-weight", "1"], "--novelty-weight 1.0 has no effect"),
        (["--method", "kdac", "--bandwidth", "-1"], "bandwidth must be a positive number"),
        (["--views", "2", "--clusters", "2,3,4"], "--clusters has 3 entries for 2 views: pass one"),
        (["--clusters", "2,3"], "--clusters has 2 entries for 1 views"),
        (["--view", "1"], "--views"),
        (["--n-views", "1"], "--views"),
        (["--format", "excel"], "'excel' is not one of"),
        (["--format", "parquet"], "is no Parquet file"),
        (["--clusterz", "2"], "--clusters"),
        (["more.csv"], "Got unexpected extra argument (more.csv)"),
        (["--exclude", "mass,size"], "no column is left as a feature"),
        (["--existing", "t.csv"], "is not FILE:COLUMN"),
        (["--existing", "gone.csv:kind"], "there is no file 'gone.csv'"),
        (["--existing", "t.csv:kin"], "--existing 'kin' is not a column"),
    ],
)
def test_options_of_find(here, words, message):
    assert message in refused("find", "t.csv", *FAST, *words)


def test_what_a_class_is_called_in_python_is_nobody_s_business_here(here):
    three = in_file("a,b\n1,2\n2,1\n4,5\n")
    assert refused("find", three, *FAST) == "too few rows (3): at least 5 are needed"
    said = main.commands["reduce"].worded(
        "KDAC did not converge to a stationary point: 20 iterations; the result is usable, see "
        "result_ and certificate_"
    )
    assert said.startswith("the search ended before it came to rest (20 iterations): the result")
    assert "KDAC" not in said


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (
            {"id": ["r0", "r0"], "k": ["a", "b"]},
            "rows of the same id, r0: every row needs a name of its own",
        ),
        (
            {"id": ["r0", "r1"], "k": ["a", "b"]},
            "has no row for 10 of 12 rows of DATA, whose id is r2, r3",
        ),
        ({"x": [1, 1], "k": ["a", "b"]}, "has no column that names its rows, such as 'id'"),
    ],
)
def test_known_labels_that_do_not_match(here, other, message):
    write_table("known.csv", other)
    assert message in refused("find", "t.csv", "--existing", "known.csv:k", *FAST)
    write_table("nameless.csv", {"mass": GOOD["mass"], "size": GOOD["size"]})
    words = ("find", "nameless.csv", "--existing", "known.csv:k", *FAST)
    assert "'known.csv' has 2 rows, DATA has 12" in refused(*words)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--target", "kin"], "--target 'kin' is not a column: did you mean 'kind'?"),
        (["--target", "kind", "--scores", "size"], "target and scores exclude each other"),
        (["--target", "kind", "--clusters", "3"], "--clusters 3 has no effect with a target"),
        (["--target", "kind", "-q", "5"], "-q 5 must be between 1 and 2"),
        (["--scores", "kind", "--clusters", "2"], "y holds text where numbers are needed"),
        (["--target", "id"], "--target 'id' is different in every row, so it names the rows"),
        (["--target", "kind", "--bandwidth", "-1"], "bandwidth must be a positive number"),
        (["--target", "kind", "--sparsity", "few"], "'few' is neither a number nor 'auto'"),
        (["--sparsity", "0.1"], "--sparsity 0.1 needs a target"),
        (["--target", "kind", "--folds", "1"], "--folds 1 must be 0, or 2 and more"),
    ],
)
def test_options_of_reduce(here, words, message):
    assert message in refused("reduce", "t.csv", *words)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--labels", "kind"], "--labels 'kind' names 1 labeling: at least 2 are needed"),
        (["--labels", "kind,mass"], "column 'mass' holds measurements"),
        (["--labels", "kind,id"], "column 'id' has 12 different values"),
        (["--labels", "kind,sex"], "--labels 'sex' is not a column"),
        (["--missing", "impute"], "'impute' is not one of"),
    ],
)
def test_options_of_compare(here, words, message):
    assert message in refused("compare", "t.csv", *words)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("views = = 1", "'o.toml' is not valid TOML"),
        ("clusers = 2", "'o.toml' has the unknown option 'clusers': did you mean 'clusters'?"),
        ("views = 'many'", "'many' is neither a whole number nor 'auto'"),
        ("resume = true", "has the unknown option 'resume'"),
        ("clusters = 2.5", "'2.5' is neither a whole number nor 'auto'"),
        ("given = 3", "--given '3' is not a column"),
        ("seed = 2026-01-31", "'o.toml' has seed = 2026-01-31: it takes text or a number"),
        ("seed = 2.5", "'2.5' is not a valid integer"),
        ("seed = true", "'o.toml' has seed = True: it takes text or a number"),
        ("seed = [1, 2]", "'o.toml' has seed = [1, 2]: it takes text or a number"),
        ("seed = " + "9" * 5000, "'o.toml' is not valid TOML"),
        ("seed = " + "[" * 5000, "'o.toml' is not valid TOML"),
        ("standardize = 3", "'o.toml' has standardize = 3: it takes true, false or 'auto'"),
        ("force = 'auto'", "'o.toml' has force = auto: it takes true or false"),
        ("views = {a = 1}", "has views = {'a': 1}: it takes text or a number"),
        ("given = [['kind']]", "has given = [['kind']]: it takes text or a number, or a list of"),
        ("given = [true]", "has given = [True]: it takes text"),
        ("[find]\nclusers = 2", "'o.toml' has the unknown option 'clusers': did you mean"),
        ("[finde]\nclusters = 2", "'o.toml' has the unknown option 'finde'"),
        ("find = 2", "'o.toml' has the unknown option 'find'"),
        (b"\xff\xfe", "'o.toml' is not text in UTF-8"),
    ],
)
def test_files_of_options(here, text, message):
    in_file(text, "o.toml")
    assert message in refused("find", "t.csv", "--config", "o.toml")


RUN = {
    "task": "find",
    "options": {"data": "t.csv", "views": 1, "method": "linear"},
    "input": {"sha256": "0", "path": "t.csv"},
    "existing": [],
}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(RUN | changes)
        for changes in (
            {"input": "text"},
            {"input": None},
            {"input": []},
            {"input": {}},
            {"input": {"sha256": 3}},
            {"input": {"sha256": "0", "path": 3}, "options": {"data": "gone.csv"}},
            {"existing": None},
            {"existing": {}},
            {"existing": ["x"]},
            {"options": []},
            {"options": None},
            {"options": {}},
            {"options": {"data": ["t.csv"]}},
            {"options": {"data": None}},
            {"options": {"data": 3}},
            {"task": None},
            {"task": ["find"]},
        )
    ]
    + ["[" * 100_000, '{"a":' * 100_000, "[]", "null", '"text"', "9" * 5000, "NaN", "\u0000"],
)
def test_damaged_files_of_runs(here, text):
    in_file(text, "run.json")
    said = refused("find", "--from", "run.json")
    assert said.startswith("'run.json' is not the run.json of a run of multifacet: ")
    assert len(said) < 200


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"views": {"a": 1}}, "'run.json' has views = {'a': 1}: it takes text or a number"),
        ({"seed": [[[1]]]}, "'run.json' has seed = [[[1]]]: it takes text or a number"),
        ({"given": {"a": 1}}, "'run.json' has given = {'a': 1}: it takes text or a number"),
        ({"given": [None]}, "'run.json' has given = [None]: it takes text or a number"),
        ({"standardize": "maybe"}, "'run.json' has standardize = maybe: it takes true, false or"),
        ({"jobs": "many"}, "'many' is not a valid integer"),
        ({"x" * 500: 1}, "'run.json' has the unknown option"),
        ({}, "'t.csv' has changed since the run that --from repeats"),
    ],
)
def test_damaged_options_of_runs(here, options, message):
    in_file(json.dumps(RUN | {"options": RUN["options"] | options}), "run.json")
    assert message in refused("find", "--from", "run.json")


def test_files_of_runs(here):
    assert "there is no file 'o.toml'" in refused("find", "t.csv", "--config", "o.toml")
    assert "there is no file 'run.json'" in refused("find", "--from", "run.json")
    in_file("{}", "run.json")
    assert "is not the run.json of a run" in refused("find", "--from", "run.json")
    in_file("{", "run.json")
    assert "is not the run.json of a run" in refused("find", "--from", "run.json")
    in_file(json.dumps(RUN | {"task": "reduce"}), "run.json")
    message = "'run.json' is of `multifacet reduce`, not of `multifacet find`"
    assert message in refused("find", "--from", "run.json")
    in_file("seed = 1", "o.toml")
    both = ("--config", "o.toml", "--from", "run.json")
    assert "--config and --from exclude each other" in refused("reduce", *both)


def test_places_for_results(here):
    Path("t-views").mkdir()
    in_file("mine", "t-views/labels.csv")
    message = refused("find", "t.csv", *FAST)
    assert message.startswith("'t-views' holds results (labels.csv): replace them with --force")
    in_file("mine", "file")
    assert "'file' is a file" in refused("find", "t.csv", "-o", "file", *FAST)
    below = Path("file") / "below"
    assert "cannot write to" in refused("find", "t.csv", "-o", below, *FAST, code=1)
    assert "Missing argument 'DATA'" in refused("find")


def test_wrong_columns_are_told_before_results_that_exist(here):
    for task in ("find", "reduce", "compare"):
        Path("out").mkdir(exist_ok=True)
        Path("out/report.html").write_text("precious")
        wrong = {"find": "--given", "reduce": "--target", "compare": "--labels"}[task]
        message = refused(task, "t.csv", wrong, "kin", "-o", "out")
        assert f"{wrong} 'kin' is not a column" in message
        right = refused(task, "t.csv", wrong, "kind", "-o", "out")
        assert "'out' holds results (report.html): replace them with --force" in right


def test_results_for_the_report(here):
    assert "there is no file 'gone.json'" in refused("report", "gone.json")
    assert "there is no file 'gone.npz'" in refused("report", "gone.npz")
    Path("empty").mkdir()
    assert "there is no result in 'empty'" in refused("report", "empty")
    assert "'t.csv' is not a result: pass a directory" in refused("report", "t.csv")
    in_file('{"kind": "poem"}', "poem.json")
    assert "'poem.json' is not a result" in refused("report", "poem.json")
    np.savez("other.npz", a=np.arange(3))
    assert "does not hold views" in refused("report", "other.npz")


def test_other_commands():
    assert "Invalid value for '--rows'" in refused("info", "--rows", 1)
    assert "No such command 'finde'" in refused("finde")
    assert "'tcsh' is not one of" in refused("completion", "tcsh")


def test_a_full_disk(here, monkeypatch):
    def full(*args, **kwargs):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(np, "savez_compressed", full)
    assert refused("find", "t.csv", *FAST, "-o", "out", code=1).endswith("the disk is full")
    assert not Path("out").exists()


def test_a_file_that_may_not_grow(here):
    """The system itself refuses to write, in the middle of the report."""

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

    line = [sys.executable, "-m", "multifacet", "find", "t.csv", *FAST, "--given", "kind"]
    before = files()
    done = subprocess.run(line, capture_output=True, text=True, preexec_fn=limit)
    assert done.returncode == 1
    assert "cannot write" in done.stderr
    assert done.stderr.endswith("the same command with --resume continues\n")
    assert "Traceback" not in done.stderr
    assert set(files()) - set(before) == {"t-views", "t-views/.checkpoint.npz"}
    assert CliRunner().invoke(main, [*line[3:], "--resume"]).exit_code == 0


def test_memory_and_faults(here, monkeypatch):
    from multifacet.engines import Exact

    def attach(self, X, *args, **kwargs):
        raise MemoryError("the exact engine needs about 9 MiB")

    monkeypatch.setattr(Exact, "attach", attach)
    words = ("reduce", "t.csv", "--target", "kind")
    assert "the exact engine needs about 9 MiB" in refused(*words, code=1)

    def fail(self, X, *args, **kwargs):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(Exact, "attach", fail)
    assert "unexpected ZeroDivisionError: by zero" in refused(*words, code=1)
    monkeypatch.setenv("MULTIFACET_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        CliRunner().invoke(main, list(words), catch_exceptions=False)


def test_an_interruption_that_saves_nothing(here, monkeypatch):
    import multifacet.tables.find as library

    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(library, "find_views", interrupt)
    assert refused("find", "t.csv", *FAST, code=1) == "interrupted; nothing was saved"
    assert not Path("t-views").exists()


def test_packages_that_are_not_installed(here, monkeypatch):
    pytest.importorskip("pyarrow")
    write_table("t.parquet", GOOD)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    message = refused("find", "t.parquet", *FAST, code=1)
    assert 'pip install "multifacet[arrow]"' in message


def test_another_search_cannot_be_resumed(here):
    from multifacet import find_views

    Path("t-views").mkdir()
    options = {"n_views": 1, "n_clusters": 3, "method": "linear"}
    table = {name: column for name, column in GOOD.items() if name != "kind"}
    find_views(table, identifier="id", checkpoint="t-views/.checkpoint.npz", **options)
    assert "holds an interrupted search" in refused("find", "t.csv", *FAST)
    message = refused("find", "t.csv", *FAST, "--resume")
    assert "was made with --clusters 3: use the same again" in message
