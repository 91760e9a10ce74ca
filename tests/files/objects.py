"""A stand-in for an object store: as much of the protocol of S3 as reading takes."""

from __future__ import annotations

import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
WHEN = "2026-01-01T00:00:00.000Z"
IN_HEADERS = "Thu, 01 Jan 2026 00:00:00 GMT"


class ObjectStore:
    """Buckets of objects, and which of them were asked for."""

    def __init__(self):
        self.objects: dict[str, bytes] = {}
        self.read: list[tuple[str, int]] = []

    def listed(self, bucket, prefix, delimiter):
        """Return the objects below a prefix, and the folders in which further ones are."""
        keys = [name.removeprefix(f"{bucket}/") for name in self.objects if f"{bucket}/" in name]
        files, folders = [], set()
        for key in sorted(key for key in keys if key.startswith(prefix)):
            rest = key.removeprefix(prefix)
            if delimiter and delimiter in rest:
                folders.add(prefix + rest.split(delimiter)[0] + delimiter)
            else:
                files.append(key)
        return files, sorted(folders)


def _handler(store):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self):
            self._object(body=False)

        def do_GET(self):
            address = urlsplit(self.path)
            asked = {name: values[0] for name, values in parse_qs(address.query).items()}
            if "list-type" in asked or "prefix" in asked:
                self._list(unquote(address.path).strip("/"), asked)
            else:
                self._object(body=True)

        def _object(self, *, body):
            name = unquote(urlsplit(self.path).path).strip("/")
            if "/" not in name:  # a bucket
                known = any(one.startswith(f"{name}/") for one in store.objects)
                return self._answer(200 if known else 404, b"")
            if name not in store.objects:
                return self._answer(404, b"")
            content, total = store.objects[name], len(store.objects[name])
            span = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("range", ""))
            headers = {"ETag": '"0"', "Last-Modified": IN_HEADERS, "Accept-Ranges": "bytes"}
            if span:
                first, last = int(span[1]), int(span[2] or total - 1)
                content = content[first : last + 1]
                headers["Content-Range"] = f"bytes {first}-{first + len(content) - 1}/{total}"
            if body:
                store.read.append((name, len(content)))
            return self._answer(206 if span else 200, content, headers, body=body)

        def _list(self, bucket, asked):
            prefix = asked.get("prefix", "")
            files, folders = store.listed(bucket, prefix, asked.get("delimiter", ""))
            told = "".join(
                f"<Contents><Key>{escape(key)}</Key><LastModified>{WHEN}</LastModified>"
                f"<ETag>0</ETag><Size>{len(store.objects[f'{bucket}/{key}'])}</Size>"
                "<StorageClass>STANDARD</StorageClass></Contents>"
                for key in files
            ) + "".join(
                f"<CommonPrefixes><Prefix>{escape(one)}</Prefix></CommonPrefixes>"
                for one in folders
            )
            text = (
                f'<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="{NAMESPACE}">'
                f"<Name>{bucket}</Name><Prefix>{escape(prefix)}</Prefix><MaxKeys>1000</MaxKeys>"
                f"<KeyCount>{len(files) + len(folders)}</KeyCount>"
                f"<IsTruncated>false</IsTruncated>{told}</ListBucketResult>"
            )
            self._answer(200, text.encode(), {"Content-Type": "application/xml"})

        def _answer(self, code, content, headers=None, *, body=True):
            self.send_response(code)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if body:
                self.wfile.write(content)

        def log_message(self, *words):
            pass

    return Handler


@contextmanager
def object_store():
    """Run a store in a thread; yield it and its address."""
    store = ObjectStore()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(store))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield store, f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
