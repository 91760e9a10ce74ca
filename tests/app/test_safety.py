"""What the workbench must survive: foreign sites, broken files, and requests of any kind."""

from __future__ import annotations

import csv
import gzip
import io
import json
import logging
import socket
import tempfile
import time
import zipfile

import httpx
import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the extra app is not installed")
pytest.importorskip("plotly", reason="the extra app is not installed")

from click.testing import CliRunner

from multifacet.app.limits import Limits
from multifacet.app.routes import STATIC
from multifacet.cli import main
from multifacet.files import read_file, write_table

from .served import running, searched, small_table, uploaded

TOKEN = "a-secret-of-the-test"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    limits = Limits(unpacked=10_000_000)
    with running(tmp_path_factory.mktemp("explorations"), limits) as both:
        yield both


@pytest.fixture(scope="module")
def client(served):
    return served[1]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A client of a server that listens elsewhere, so that it needs a token."""
    with running(tmp_path_factory.mktemp("guarded"), host="0.0.0.0", token=TOKEN) as both:
        yield both[1]


# Foreign sites


@pytest.mark.parametrize("path", ["/", "/api/status", "/static/main.js", "/plotly.min.js"])
def test_other_host_names_are_not_answered(client, path):
    for host in ("evil.example", "evil.example:8642", "127.0.0.1.evil.example", ""):
        assert client.get(path, headers={"host": host}).status_code == 421
    assert client.get(path, headers={"host": "localhost:1"}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_other_sites_are_not_answered(client, headers):
    body = {"example": "penguins"}
    assert client.post("/api/explorations", json=body, headers=headers).status_code == 403
    assert client.get("/api/status", headers=headers).status_code == 403


def test_the_page_itself_is_answered(client):
    own = str(client.base_url).rstrip("/")
    headers = {"origin": own, "sec-fetch-site": "same-origin"}
    assert client.get("/api/status", headers=headers).status_code == 200
    assert "access-control-allow-origin" not in client.get("/api/status", headers=headers).headers


def test_elsewhere_a_token_is_needed(guarded):
    for path in ("/", "/api/status", "/static/main.js", "/?token=wrong"):
        assert guarded.get(path).status_code == 401
    for value in ("", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"bearer {TOKEN}x"):
        answer = guarded.get("/api/status", headers={"authorization": value})
        assert answer.status_code == 401
    bearer = {"authorization": f"Bearer {TOKEN}"}
    assert guarded.get("/api/status", headers=bearer).status_code == 200
    assert guarded.get("/api/status", headers=bearer | {"host": "evil.example"}).status_code == 421
    assert guarded.get("/api/status", headers=bearer | {"host": "192.168.7.7:8"}).status_code == 200
    foreign = bearer | {"origin": "http://evil.example"}
    assert guarded.get("/api/status", headers=foreign).status_code == 403


def test_the_printed_address_gives_the_page_a_cookie(guarded):
    with httpx.Client(base_url=guarded.base_url) as page:
        answer = page.get(f"/?token={TOKEN}")
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        cookie = answer.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert page.get("/").status_code == 200
        assert page.get("/api/status").status_code == 200


def test_every_answer_has_a_policy(client):
    for path in ("/", "/api/status", "/api/nothing", "/static/main.js", "/static/nothing.js"):
        headers = client.get(path).headers
        policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
        assert policy["default-src"] == "'none'"
        assert "unsafe-inline" not in policy["script-src"]
        assert policy["connect-src"] == "'self'"
        assert headers["x-content-type-options"] == "nosniff"
    assert client.get("/api/status").headers["cache-control"] == "no-store"


def test_the_page_holds_no_script_and_no_foreign_address():
    static = STATIC
    page = (static / "index.html").read_text()
    assert "<script>" not in page
    assert " on" not in page.replace(" on ", "").split("<body>")[1]
    for path in static.iterdir():
        text = path.read_text().replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in text, path.name
        assert "https://" not in text, path.name
        assert "innerHTML" not in text, path.name
    scripts = [path.read_text() for path in static.glob("*.js")]
    assert sum(text.count("\n") for text in scripts) <= 2000


@pytest.mark.parametrize("name", ["..", "%2e%2e", "..%2f..%2fetc", "a/b", "A", "x" * 99])
def test_no_path_leads_elsewhere(client, name):
    assert client.get(f"/api/explorations/{name}").status_code in (404, 405)
    assert client.get(f"/static/{name}").status_code in (200, 404, 405)
    answer = client.get("/static/../routes.py")
    assert answer.status_code == 404


def test_the_name_of_an_upload_is_no_path(served, client, tmp_path):
    path = small_table(tmp_path)
    name = "../../../../tmp/evil.csv"
    answer = client.post("/api/uploads", params={"name": name}, content=path.read_bytes())
    assert answer.status_code == 201
    folder = served[0].folder / answer.json()["id"]
    assert folder.is_dir()
    assert all(file.parent == folder for file in folder.rglob("*"))


# Broken files


def packed(content):
    return gzip.compress(content)


def npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def archive(**files):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as target:
        for name, text in files.items():
            target.writestr(name, text)
    return content.getvalue()


def exploration(**changes):
    state = {"format": 1, "name": "t", "file": "t.csv", "steps": [], "counter": 0, "setup": None}
    return json.dumps(state | changes)


STATE = "exploration.json"
TABLE = "a,b\n1,2\n2,1\n3,3\n"
#: The header of an array with a bracket that nobody closes.
HALF_A_HEADER = b"\x93NUMPY\x01\x00\x76\x00" + b"{'descr': ('<f8', 'shape': 3".ljust(117) + b"\n"
BROKEN = {
    "empty.csv": (b"", "is empty"),
    "empty.csv.gz": (packed(b""), "is empty"),
    "blank.csv": (b"\n\n\n", ""),
    "binary.csv": (bytes(range(256)) * 40, ""),
    "header.csv": (b"a,b,c\n", "no rows"),
    "one.csv": (b"a,b\n1,2\n", "single row"),
    "ragged.csv": (b"a,b\n1,2\n1,2,3,4\n1\n", ""),
    "twice.csv": (b"a,a\n1,2\n2,1\n", "several columns named 'a'"),
    "wide.csv": (
        ",".join(f"c{i}" for i in range(100_000)).encode() + (b"\n" + b"1," * 99_999 + b"1") * 3,
        "at most 5,000",
    ),
    "bomb.csv.gz": (packed(b"1,2\n" * 4_000_000), "unpacks to more than"),
    "bomb.npz": (archive(**{"a.npy": b"\0" * 20_000_000}), "unpacks to more than"),
    "cut.csv.gz": (packed(TABLE.encode() * 99)[:40], "packed by gzip, but broken"),
    "no.csv.gz": (TABLE.encode(), "not packed by gzip"),
    "objects.npy": (b"\x93NUMPY\x01\x00" + b"\x76\x00" + b"x" * 200, "is broken"),
    "header.npz": (archive(**{"a.npy": HALF_A_HEADER}), "is broken"),
    "pickle.npz": (npz(a=np.array([{}, []], dtype=object)), "could run code"),
    "cube.npy": (io.BytesIO(), ""),
    "broken.parquet": (b"PAR1" + b"\0" * 50, "broken"),
    "broken.h5ad": (b"\x89HDF\r\n\x1a\n" + b"\0" * 50, "broken"),
    "sheet.xlsx": (archive(**{"xl/a.xml": "<a/>"}), "save it as CSV"),
    "notes.docx": (b"words", "unknown suffix"),
    "old.zip": (archive(**{STATE: exploration(format=99), "t.csv": TABLE}), "format 99"),
    "strange.zip": (archive(**{STATE: "[1, 2", "t.csv": TABLE}), "no exploration"),
    "slip.zip": (archive(**{STATE: exploration(file="../t.csv"), "t.csv": TABLE}), "elsewhere"),
    "climb.zip": (archive(**{STATE: exploration(), "../t.csv": TABLE}), "strange path"),
    "lost.zip": (
        archive(**{STATE: exploration(steps=[{"do": "accept", "view": "v1"}]), "t.csv": TABLE}),
        "not found before",
    ),
}


def cube():
    file = io.BytesIO()
    np.save(file, np.zeros((3, 3, 3)))
    return file.getvalue()


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_end_in_a_sentence(served, client, name):
    content, words = BROKEN[name]
    content = cube() if name == "cube.npy" else content
    before = sorted(served[0].folder.glob("*"))
    answer = client.post("/api/uploads", params={"name": name}, content=content)
    assert answer.status_code in (400, 413), answer.text
    told = answer.json()["detail"]
    assert words in told
    assert name in told or name.endswith(".zip")
    assert "Traceback" not in told
    assert sorted(served[0].folder.glob("*")) == before


def odd_table(path):
    """Write columns whose names no command line spells, and whole numbers of 64 bits."""
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 2, 40)
    numbers = (np.uint64(2**63) + np.arange(40, dtype=np.uint64) * np.uint64(5)).tolist()
    names = ("", "a\nb", " c ", "-o", 'd","e')
    features = {name: rng.normal(size=40) + 6 * groups for name in names}
    return write_table(path, {"id": numbers, **features})


@pytest.mark.parametrize("name", ["-o.csv", "--help.parquet", "-"])
def test_names_that_look_like_options_are_taken_and_repeated(client, tmp_path, monkeypatch, name):
    written = odd_table(tmp_path / "t.parquet") if "parquet" in name else small_table(tmp_path)
    path = written.rename(tmp_path / name)
    address = uploaded(client, path)
    searched(client, address)
    for kind in ("labels.csv", "labels.parquet", "report.html", "exploration.zip", "repeat.zip"):
        answer = client.get(f"{address}/files/{kind}")
        assert answer.status_code == 200, (kind, answer.text)
    zipfile.ZipFile(io.BytesIO(answer.content)).extractall(tmp_path / "again")
    monkeypatch.chdir(tmp_path / "again")
    ran = CliRunner().invoke(main, ["find", "--from", "search-1.json", "-o", "out"])
    assert ran.exit_code == 0, ran.output
    labels = read_file(tmp_path / "again" / "out" / "labels.csv").columns["view 1"]
    rows = client.get(f"{address}/rows?count=500").json()
    assert labels.tolist() == [cells[-1] for cells in rows["cells"]]


def test_whole_numbers_of_64_bits_are_kept(client, tmp_path):
    path = odd_table(tmp_path / "large.parquet")
    address = uploaded(client, path)
    content = client.get(f"{address}/files/labels.parquet").raise_for_status().content
    (tmp_path / "labels.parquet").write_bytes(content)
    numbers = read_file(tmp_path / "labels.parquet").columns["id"].to_pylist()
    assert numbers == read_file(path).columns["id"].to_pylist()
    assert min(numbers) == 2**63


def test_long_names_fit_the_disk(client):
    answer = client.post("/api/uploads", params={"name": "🐧" * 150 + ".csv"}, content=TABLE)
    assert answer.status_code == 201
    assert answer.json()["name"].endswith("🐧.csv")


def damaged(content, count, rng):
    """Yield content that is cut, or in which bytes are others."""
    for i in range(count):
        wrong = bytearray(content)
        place = int(rng.integers(0, len(wrong) - 60))
        if i % 3 == 0:
            del wrong[place:]
        else:
            wrong[place : place + 30 * (i % 3)] = rng.bytes(30 * (i % 3))
        yield bytes(wrong)


@pytest.fixture(scope="module")
def packed_exploration(client, tmp_path_factory):
    """The files of an exploration in which a view was found."""
    address = uploaded(client, small_table(tmp_path_factory.mktemp("packed")))
    searched(client, address)
    content = client.get(f"{address}/files/exploration.zip").raise_for_status().content
    with zipfile.ZipFile(io.BytesIO(content)) as whole:
        return content, {name: whole.read(name) for name in whole.namelist()}


@pytest.mark.parametrize("part", ["archive", "view", "table"])
def test_damaged_archives_end_in_a_sentence(served, client, packed_exploration, part):
    whole, parts = packed_exploration
    rng = np.random.default_rng(0)
    before = sorted(served[0].folder.glob("*"))
    name, content = "x.zip", whole
    if part == "view":
        content = parts["v1.npz"]
    elif part == "table":
        name, content = "x.npz", npz(a=rng.normal(size=(30, 4)))
    for wrong in damaged(content, 40, rng):
        sent = archive(**(parts | {"v1.npz": wrong})) if part == "view" else wrong
        answer = client.post("/api/uploads", params={"name": name}, content=sent)
        assert answer.status_code == 400, answer.text
        assert isinstance(answer.json()["detail"], str)
    assert sorted(served[0].folder.glob("*")) == before


@pytest.mark.parametrize("missing", ["small.csv", "v1.npz", "exploration.json"])
def test_files_that_are_gone_are_named(tmp_path, packed_exploration, missing):
    sent = {"params": {"name": "small.zip"}, "content": packed_exploration[0]}
    parts = ("", "/rows", "/runs", "/views/v1", "/files/exploration.zip", "/files/repeat.zip")

    def refusals():
        answers = [client.get(f"/api/explorations/{name}{part}") for part in parts]
        assert {answer.status_code for answer in answers} <= {200, 400, 404}
        return [one.json()["detail"] for one in answers if one.status_code != 200]

    with running(tmp_path) as (_, client):
        name = client.post("/api/uploads", **sent).raise_for_status().json()["id"]
        (tmp_path / name / missing).unlink()
        told = refusals()
        if missing != "exploration.json":  # that one is written again
            assert told
            assert all(missing in words for words in told)
        (tmp_path / name / missing).unlink(missing_ok=True)
    with running(tmp_path) as (_, client):
        told = refusals()
        assert told
        assert all(missing in words or name in words for words in told)


def test_only_a_disk_that_cannot_be_written_is_one(tmp_path):
    (tmp_path / "file").write_text("where a folder should be")
    with running(tmp_path / "file" / "kept") as (_, client):
        answer = client.post("/api/uploads", params={"name": "a.csv"}, content=TABLE)
        assert answer.status_code == 507
        assert answer.json()["detail"].startswith("the disk cannot be written: ")
        answer = client.post("/api/uploads", params={"name": "a.csv"}, content="")
        assert answer.status_code == 400


def test_a_client_that_goes_away_leaves_no_trace(served, client, caplog):
    log = logging.getLogger("uvicorn.error")
    log.addHandler(caplog.handler)
    host, port = client.base_url.host, client.base_url.port
    head = f"POST /api/uploads?name=a.csv HTTP/1.1\r\nHost: {host}:{port}\r\n"
    before = sorted(served[0].folder.glob("*"))
    for length, start in (
        ("Content-Length: 9999", "a,b\n1,2\n"),
        ("Transfer-Encoding: chunked", "8\r\na,b\n1,2\n\r\n"),
    ):
        with socket.create_connection((host, port)) as connection:
            connection.sendall(f"{head}{length}\r\n\r\n{start}".encode())
            time.sleep(0.2)
    time.sleep(0.3)
    log.removeHandler(caplog.handler)
    assert client.get("/api/status").status_code == 200
    assert sorted(served[0].folder.glob("*")) == before
    assert caplog.records == []


def test_strange_but_valid_tables_are_shown_as_they_are(client):
    names = ['<img src=x onerror="alert(1)">', '"quoted, name"', "=1+1", "naïve 名前", "a\tb"]
    values = ["=cmd|' /C calc'!A0", "<script>alert(1)</script>", "@SUM(1)"]
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([*names, "x", "y"])
    for i in range(30):
        writer.writerow([*[values[(i + j) % 3] for j in range(5)], i * 0.5, (i * 7) % 11])
    answer = client.post("/api/uploads", params={"name": "odd.csv"}, content=text.getvalue())
    assert answer.status_code == 201
    address = f"/api/explorations/{answer.json()['id']}"
    preview = client.get(f"{address}/preview").json()
    assert [column["name"] for column in preview["columns"]] == [*names, "x", "y"]
    assert preview["rows"][0][:3] == values
    searched(client, address)
    assert client.get(f"{address}/files/labels.csv").text.startswith('"<img src=x')
    assert client.get(f"{address}/views/v1").headers["content-type"] == "application/json"
    compile(client.get(f"{address}/code").json()["python"], "repeat.py", "exec")


def test_a_body_that_is_too_large_is_not_read(client, tmp_path):
    host, port = client.base_url.host, client.base_url.port
    lines = [
        "POST /api/uploads?name=large.csv HTTP/1.1",
        f"Host: {host}:{port}",
        f"Content-Length: {200 * 2**20}",
    ]
    with socket.create_connection((host, port)) as connection:
        connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        answer = connection.recv(65536).decode()
    assert answer.startswith("HTTP/1.1 413")
    endless = (b"1,2\n" * 100 for _ in range(100))
    with running(tmp_path, Limits(upload=1000)) as (_, narrow):
        answer = narrow.post("/api/uploads", params={"name": "endless.csv"}, content=endless)
    assert answer.status_code == 413
    assert "multifacet explore FILE" in answer.json()["detail"]
    answer = client.post("/api/explorations", content=b"[" * 2**21)
    assert answer.status_code == 413


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"example": NaN}',
        b"[" * 5000,
        b'{"example": "\\ud800"}',
        b"\xff",
    ],
)
def test_bodies_that_are_no_request(client, body):
    answer = client.post(
        "/api/explorations", content=body, headers={"content-type": "application/json"}
    )
    assert answer.status_code in (400, 404, 422)
    assert isinstance(answer.json()["detail"], str)


def test_numbers_that_json_does_not_know_are_neither_taken_nor_given(client, tmp_path):
    path = tmp_path / "inf.csv"
    rows = [f"{i},{(i * 7) % 5},{'inf' if i == 3 else i}" for i in range(20)]
    path.write_text("a,b,c\n" + "\n".join(rows))
    address = uploaded(client, path)

    def strict(text):
        raise AssertionError(text)

    for part in ("", "/preview", "/rows"):
        json.loads(client.get(address + part).text, parse_constant=strict)
    for value in (b"NaN", b"Infinity", b"1e999"):
        answer = client.post(
            f"{address}/jobs",
            content=b'{"novelty_weight": ' + value + b"}",
            headers={"content-type": "application/json"},
        )
        assert answer.status_code == 422


def test_no_temporary_file_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with running(tmp_path / "kept") as (_, client):
        uploaded(client, small_table(tmp_path))
        client.post("/api/uploads", params={"name": "b.csv"}, content=b"")
        assert not list(tmp_path.glob("multifacet-*/*"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["small.csv"]


# Any request


def test_no_request_is_a_fault_of_the_server(served, tmp_path):
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import strategies as st

    bench, client = served
    address = uploaded(client, small_table(tmp_path), given=["known"])
    searched(client, address)
    name = address.rsplit("/", 1)[1]
    schema = schemathesis.openapi.from_url(f"{client.base_url}/api/openapi.json")
    few = settings(
        max_examples=10,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    codes = set()

    def ask(case, real):
        if real and "exploration_id" in case.path_parameters and case.method != "DELETE":
            case.path_parameters["exploration_id"] = name
            if "view_id" in case.path_parameters:
                case.path_parameters["view_id"] = "v1"
        answer = case.call()
        assert answer.status_code < 500, answer.text
        codes.add(answer.status_code)

    for found in schema.get_all_operations():
        operation = found.ok()
        if operation.path.endswith("/events"):
            continue  # they last as long as their search
        modes = [schemathesis.GenerationMode.POSITIVE]
        if operation.body:
            modes.append(schemathesis.GenerationMode.NEGATIVE)
        for mode in modes:
            cases = operation.as_strategy(generation_mode=mode)
            few(given(case=cases, real=st.booleans())(ask))()
        for job in bench.jobs_of(name):
            bench.jobs.cancel(job)
    assert {200, 201, 400, 404, 422} <= codes
