"""The server of the workbench: where it listens, and how it ends."""

from __future__ import annotations

import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import uvicorn

from ..files import locked
from .guard import LOOPBACK
from .routes import make_app
from .workbench import Workbench

#: Where it listens if nobody says otherwise, or at any free port if that is taken.
HOST, PORT = "127.0.0.1", 8642


def serve(
    data: str | Path | None = None,
    *,
    folder: str | Path = "multifacet-explorations",
    host: str = HOST,
    port: int | None = None,
    browser: bool = True,
    ready: Callable[[str], None] = lambda address: None,
) -> None:
    """Run the workbench until it is interrupted.

    Parameters
    ----------
    data : str or Path, optional
        Table to begin with: a file, or a folder, pattern or address of Parquet files.
    folder : str or Path
        Directory that keeps explorations; no other process may use it meanwhile.
    host : str
        Address to listen on. Anything but the loopback address needs a token, which is made here
        and is part of the address.
    port : int, optional
        Port to listen on; by default 8642, or a free one.
    browser : bool, default=True
        Whether to open the page.
    ready : callable
        Called with the address of the page before requests are answered.
    """
    with (
        locked(folder),
        closing(_listen(host, port)) as listening,
        closing(Workbench(folder)) as bench,
    ):
        token = None if host in LOOPBACK else secrets.token_urlsafe(24)
        place = "" if data is None else f"#{bench.begin_here(data).id}"
        shown = f"[{host}]" if ":" in host else host
        query = "" if token is None else f"?token={token}"
        address = f"http://{shown}:{listening.getsockname()[1]}/{query}{place}"
        ready(address)
        if browser:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        app = make_app(bench, host=host, token=token)
        settings = uvicorn.Config(
            app, log_level="error", server_header=False, timeout_graceful_shutdown=2
        )
        with suppress(KeyboardInterrupt):  # the way to end it
            uvicorn.Server(settings).run(sockets=[listening])


def _listen(host: str, port: int | None) -> socket.socket:
    """Return a socket that listens; at the usual port if it is free and no other was asked for."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for candidate in [PORT, 0] if port is None else [port]:
        try:
            return socket.create_server((host, candidate), family=family)
        except OSError as error:
            if port is not None or candidate == 0:
                where = f"{host} port {candidate}"
                raise OSError(f"cannot listen on {where}: {error.strerror or error}") from error
    raise AssertionError
