"""In a fresh environment the core works, and every extra adds its feature.

Without an extra, a sentence says which one to install.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
from pathlib import Path
from urllib.request import urlopen

import pytest

from .fresh import Fresh, MissingError

ROOT = Path(__file__).resolve().parents[2]
#: What each extra is for. A feature works, or ends in an error that names the extra.
FEATURES = {
    "pandas": "from multifacet.datasets import load_penguins; load_penguins(as_frame=True)",
    "plot": "views[0].plot()",
    "app": "command('explore', 'missing.csv', '--no-browser')",
    "dask": "KDAC(2, n_components=1, init='spectral', engine='dask').fit(X)",
    "arrow": "from multifacet.files import write_table; write_table('t.parquet', {'a': [1, 2]})",
    "anndata": "command('find', 'broken.h5ad')",
}
#: What dask and anndata require brings along what other extras are for.
ALONG = {"dask": {"pandas", "arrow"}, "anndata": {"pandas"}}
PROBE = """
import json, pathlib, sys
from click.testing import CliRunner
from multifacet import KDAC, find_views
from multifacet.cli import main
from multifacet.datasets import make_gaussian_views

def command(*words):
    told = CliRunner().invoke(main, words).output
    if "multifacet[" in told:
        raise ImportError(told)
    # Far enough: the file is looked at.
    assert "no file 'missing.csv'" in told or "'broken.h5ad' is broken" in told, told

pathlib.Path("broken.h5ad").write_bytes(b"text")
X, _ = make_gaussian_views(40, [2, 2], rotate=False, random_state=0)
views = find_views(X, n_views=1, n_clusters=2, method="linear")
answers = {}
for name, code in json.loads(sys.argv[1]).items():
    try:
        exec(code)
        answers[name] = None
    except ImportError as error:
        answers[name] = str(error)
print(json.dumps(answers))
"""


@pytest.fixture(scope="module")
def make(wheel, tmp_path_factory):
    def make_it(*extras):
        try:
            return Fresh(tmp_path_factory.mktemp("fresh"), wheel, extras)
        except MissingError as missing:
            pytest.skip(f"{missing} here")

    return make_it


def told(done):
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


def test_the_core_does_what_the_readme_says(make, tmp_path):
    fresh = make()
    ten_lines = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]
    shown = told(fresh.run("python", "-W", "error::RuntimeWarning", "-c", ten_lines, cwd=tmp_path))
    assert "1 view of 333 rows, given sex" in shown
    assert 0.9 < float(shown.split()[-1]) <= 1
    assert (tmp_path / "penguins.html").stat().st_size > 10_000
    assert "report: penguins-views" in told(fresh.run("multifacet", "demo", cwd=tmp_path))
    copy = "from multifacet.datasets import load_penguins as p; from multifacet.files import \\\n"
    copy += "write_table; write_table('birds.csv', p(as_dict=True))"
    told(fresh.run("python", "-c", copy, cwd=tmp_path))
    find = ("find", "birds.csv", "--given", "species", "--exclude", "sex", "--views", "1")
    found = told(fresh.run("multifacet", *find, "--method", "linear", cwd=tmp_path))
    assert "333 rows, given species" in found
    told(fresh.run("multifacet", "report", "birds-views", "-o", "answer.md", cwd=tmp_path))
    assert (tmp_path / "answer.md").read_text().startswith("# ")
    versions = json.loads(told(fresh.run("multifacet", "info", "--json", cwd=tmp_path)))["versions"]
    assert versions["pandas"] is versions["matplotlib"] is versions["dask"] is None


@pytest.mark.parametrize("extra", [None, *FEATURES, "all"])
def test_an_extra_adds_its_feature(make, extra, tmp_path):
    fresh = make(extra) if extra else make()
    probed = fresh.run("python", "-c", PROBE, json.dumps(FEATURES), cwd=tmp_path)
    answers = json.loads(told(probed).splitlines()[-1])
    present = set(FEATURES) if extra == "all" else {extra, *ALONG.get(extra, ())} - {None}
    assert {name for name, answer in answers.items() if answer is None} == present
    for name in set(FEATURES) - present:
        assert re.search(rf"pip install ['\"]multifacet\[{name}\]", answers[name]), answers[name]


def test_the_workbench_is_served_from_the_wheel(make, tmp_path):
    command = make("app").bin / "multifacet"
    words = [command, "explore", "--no-browser", "--port", "0"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(words, cwd=tmp_path, text=True, **pipes) as server:
        try:
            address = server.stdout.readline().split()[-1]
            with urlopen(address) as page:
                assert b"<title>" in page.read()
        finally:
            server.send_signal(signal.SIGTERM)
