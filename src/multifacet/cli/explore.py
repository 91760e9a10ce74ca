"""``multifacet explore``: the workbench in the browser."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import click

from .command import Command, Refused, say


@click.command(cls=Command)
@click.argument("data", type=click.Path(), required=False)
@click.option(
    "--host",
    metavar="ADDRESS",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on. Any other one needs the token in the printed address.",
)
@click.option("--port", type=click.IntRange(0, 65535), help="Port.  [default: 8642, or a free one]")
@click.option("--no-browser", is_flag=True, help="Do not open the page.")
@click.option(
    "--folder",
    metavar="DIR",
    default="multifacet-explorations",
    show_default=True,
    help="Directory that keeps explorations, to be opened again.",
)
def explore(data: str | None, host: str, port: int | None, no_browser: bool, folder: str) -> None:
    """Explore DATA in the browser: find other groupings, look, steer, keep.

    DATA is a file of any format, or Parquet in many files: a folder, a pattern or an address. Of a
    table that is too large to be held, a sample is shown and searched.

    Everything stays on this machine. The address of the page is printed on standard output; Ctrl-C
    ends the server. Explorations in which something was found are kept.
    """
    from ..files.binary import need

    for package in ("fastapi", "uvicorn", "plotly"):
        need(package, "app", "the workbench")
    from ..app import serve
    from ..files.many import is_several

    if data is not None and not (Path(data).is_file() or is_several(data)):
        raise Refused(f"there is no file {data!r}")
    # Whoever ends it, what is temporary goes with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    serve(
        data,
        folder=folder,
        host=host,
        port=port,
        browser=not no_browser,
        ready=lambda address: say(f"workbench: {address}"),
    )
