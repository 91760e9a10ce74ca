"""What the workbench must survive: foreign sites, broken files, and requests of any kind."""

from __future__ import annotations

import csv
import gzip
import io
import json
import socket
import tempfile
import zipfile
from pathlib import Path

import httpx
import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the extra app is not installed")
pytest.importorskip("plotly", reason="the extra app is not installed")

from multifacet.app import routes, tables

from .workbench import running, searched, small_table, uploaded

TOKEN = "a-secret-of-the-test"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with running(tmp_path_factory.mktemp("explorations")) as both:
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
    static = Path(routes.STATIC)
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
def test_broken_files_end_in_a_sentence(served, client, name, monkeypatch):
    monkeypatch.setattr(tables, "MAX_UNPACKED", 10_000_000)
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


def test_a_body_that_is_too_large_is_not_read(client, monkeypatch):
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
    monkeypatch.setattr(routes, "MAX_UPLOAD", 1000)
    endless = (b"1,2\n" * 100 for _ in range(100))
    answer = client.post("/api/uploads", params={"name": "endless.csv"}, content=endless)
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
