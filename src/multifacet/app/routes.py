"""The addresses of the workbench: its page, and the HTTP API behind it."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, cast
from urllib.parse import quote

import numpy as np
from anyio import to_thread
from fastapi import FastAPI, Query, Request
from fastapi.responses import FileResponse, Response, StreamingResponse
from fastapi.staticfiles import StaticFiles
from starlette.background import BackgroundTask

from .. import __version__
from . import comparison, display, repeat
from .answering import NO_SUCH, WRONG, Answer, add_errors, receive, stream
from .answers import StateAnswer
from .exploration import Exploration, Origin
from .guard import Guard
from .large import write_all_labels
from .schemas import Begin, Search, Setup, Step
from .steps import ActionDict, OptionsDict, RolesDict
from .workbench import EXAMPLES, Workbench

STATIC = Path(str(files(__package__).joinpath("static")))
#: Rows of one page of the table, and of a selection that is shown.
MAX_PAGE = 500
#: Requests that are worked on at the same time; others wait their turn.
MAX_THREADS = 4
BYTES = {
    "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    "required": True,
}


def make_app(bench: Workbench, *, host: str = "127.0.0.1", token: str | None = None) -> FastAPI:
    """Return the application.

    Parameters
    ----------
    bench : Workbench
        What it shows.
    host : str
        Address that the server listens on.
    token : str, optional
        Secret that every request has to bring.
    """
    app = FastAPI(
        title="multifacet workbench",
        version=__version__,
        description="Find groupings of a table that are good and different from what is known.",
        openapi_url="/api/openapi.json",
        docs_url=None,  # these pages would load scripts from elsewhere
        redoc_url=None,
        default_response_class=Answer,
        responses=WRONG,
        lifespan=_few_threads,
    )
    _add_page(app)
    _add_beginnings(app, bench)
    _add_explorations(app, bench)
    _add_rows(app, bench)
    _add_searches(app, bench)
    _add_views(app, bench)
    _add_comparisons(app, bench)
    _add_steps(app, bench)
    _add_files(app, bench)
    add_errors(app)
    app.add_middleware(Guard, host=host, token=token)
    return app


@asynccontextmanager
async def _few_threads(app: FastAPI) -> AsyncIterator[None]:
    """Answer a few requests at a time: all at once, each would wait for the slowest."""
    to_thread.current_default_thread_limiter().total_tokens = MAX_THREADS
    yield


def _add_page(app: FastAPI) -> None:
    # The full script: smaller ones silently draw SVG in place of WebGL.
    script = Path(str(files("plotly").joinpath("package_data", "plotly.min.js")))
    style = Path(str(files("multifacet.report").joinpath("page.css")))

    @app.get("/", include_in_schema=False)
    def page() -> FileResponse:
        return FileResponse(STATIC / "index.html")

    @app.get("/plotly.min.js", include_in_schema=False)
    def plotly_script() -> FileResponse:
        return FileResponse(script, headers={"cache-control": "max-age=86400"})

    @app.get("/page.css", include_in_schema=False)
    def report_style() -> FileResponse:
        return FileResponse(style)

    app.mount("/static", StaticFiles(directory=STATIC))


def _add_beginnings(app: FastAPI, bench: Workbench) -> None:
    @app.get("/api/status")
    def status() -> Any:
        """Return the version, the examples, the explorations and the limits."""
        return {
            "version": __version__,
            "examples": [{"name": name, "words": words} for name, words in EXAMPLES.items()],
            "explorations": bench.listed(),
            "max_upload": bench.limits.upload,
        }

    @app.post("/api/explorations", status_code=201, responses=NO_SUCH)
    def begin(body: Begin) -> Any:
        """Begin with a built-in example."""
        return Answer(_state(bench, bench.example(body.example)), status_code=201)

    @app.post(
        "/api/uploads",
        status_code=201,
        openapi_extra={"requestBody": BYTES},
    )
    async def upload(
        request: Request, name: Annotated[str, Query(min_length=1, max_length=300)]
    ) -> Any:
        """Begin with a table, or take up an exploration file: the bytes are the body."""
        path = bench.upload_path(name)
        try:
            await receive(request, path, bench.limits.upload)
            exploration = await asyncio.to_thread(bench.begin, path)
        finally:
            path.unlink(missing_ok=True)
            path.parent.rmdir()
        return Answer(await asyncio.to_thread(_state, bench, exploration), status_code=201)


def _add_explorations(app: FastAPI, bench: Workbench) -> None:
    @app.get("/api/explorations/{exploration_id}", responses=NO_SUCH)
    def state(exploration_id: str) -> Any:
        """Return what was done so far: setup, views, searches, steps."""
        return Answer(_state(bench, bench.get(exploration_id)))

    @app.delete("/api/explorations/{exploration_id}", responses=NO_SUCH)
    def remove(exploration_id: str) -> Any:
        """Delete an exploration for good."""
        bench.remove(exploration_id)
        return {"removed": exploration_id}

    @app.get("/api/explorations/{exploration_id}/preview", responses=NO_SUCH)
    def preview(exploration_id: str) -> Any:
        """Return the columns of the table, and its first rows."""
        return Answer(display.preview(bench.get(exploration_id)))

    @app.put("/api/explorations/{exploration_id}/setup", responses=NO_SUCH)
    def configure(exploration_id: str, body: Setup) -> Any:
        """Say what the columns are for."""
        exploration = bench.get(exploration_id)
        exploration.configure(cast(RolesDict, body.model_dump()))
        return Answer(_state(bench, exploration))


def _add_rows(app: FastAPI, bench: Workbench) -> None:
    @app.get("/api/explorations/{exploration_id}/rows", responses=NO_SUCH)
    def rows(
        exploration_id: str,
        start: Annotated[int, Query(ge=0, le=2**53)] = 0,
        count: Annotated[int, Query(ge=0, le=MAX_PAGE)] = 50,
    ) -> Any:
        """Return a page of the table, with the groups of the rows."""
        exploration = bench.get(exploration_id)
        last = min(start + count, exploration.n_rows)
        return Answer(display.rows_page(exploration, np.arange(min(start, last), last)))

    @app.post("/api/explorations/{exploration_id}/rows", responses=NO_SUCH)
    def chosen_rows(exploration_id: str, body: list[int]) -> Any:
        """Return certain rows of the table, at most 500."""
        exploration = bench.get(exploration_id)
        wanted = [row for row in body[:MAX_PAGE] if 0 <= row < exploration.n_rows]
        return Answer(display.rows_page(exploration, np.array(wanted, dtype=int)))


def _add_searches(app: FastAPI, bench: Workbench) -> None:
    @app.post("/api/explorations/{exploration_id}/jobs", status_code=201, responses=NO_SUCH)
    def search(exploration_id: str, body: Search) -> Any:
        """Start a search for views beside everything that is known."""
        options = body.model_dump()
        count = options.pop("n_views")
        hints = {name: options.pop(name) for name in ("features", "rows", "together")}
        exploration = bench.get(exploration_id)
        job = bench.search(exploration, cast(OptionsDict, options), count, **hints)
        return Answer(job.to_dict(), status_code=201)

    @app.get("/api/explorations/{exploration_id}/jobs/{job_id}", responses=NO_SUCH)
    def job(exploration_id: str, job_id: str) -> Any:
        """Return the state of a search."""
        return Answer(bench.job(exploration_id, job_id).to_dict())

    @app.delete("/api/explorations/{exploration_id}/jobs/{job_id}", responses=NO_SUCH)
    def cancel(exploration_id: str, job_id: str) -> Any:
        """End a search at once."""
        found = bench.job(exploration_id, job_id)
        bench.jobs.cancel(found)
        return Answer(found.to_dict())

    @app.get(
        "/api/explorations/{exploration_id}/jobs/{job_id}/events",
        responses={**NO_SUCH, 200: {"content": {"text/event-stream": {}}}},
        response_class=Response,
    )
    async def events(
        exploration_id: str, job_id: str, after: Annotated[int, Query(ge=0)] = 0
    ) -> Any:
        """Return what a search tells, as server-sent events, until it is over."""
        found = bench.job(exploration_id, job_id)
        return StreamingResponse(stream(found, after), media_type="text/event-stream")


def _add_views(app: FastAPI, bench: Workbench) -> None:
    @app.get("/api/explorations/{exploration_id}/views/{view_id}", responses=NO_SUCH)
    def view(exploration_id: str, view_id: str) -> Any:
        """Return everything about a view, with the points to draw."""
        exploration = bench.get(exploration_id)
        return _remembered(
            exploration, f"view {view_id}", lambda: display.detail(exploration, view_id)
        )

    @app.get("/api/explorations/{exploration_id}/views/{view_id}/column", responses=NO_SUCH)
    def column(exploration_id: str, view_id: str, name: str) -> Any:
        """Return a column of the table at the points of a view, to colour them by."""
        return Answer(display.column(bench.get(exploration_id), view_id, name))

    @app.get("/api/explorations/{exploration_id}/views/{view_id}/images", responses=NO_SUCH)
    def images(
        exploration_id: str,
        view_id: str,
        height: Annotated[int, Query(ge=1, le=10_000)],
        width: Annotated[int, Query(ge=1, le=10_000)],
    ) -> Any:
        """Return mean images of the groups, or the groups as an image."""
        return Answer(display.images(bench.get(exploration_id), view_id, height, width))


def _add_comparisons(app: FastAPI, bench: Workbench) -> None:
    @app.get("/api/explorations/{exploration_id}/agreement", responses=NO_SUCH)
    def agreement(exploration_id: str) -> Any:
        """Return how far all labelings agree; null if there are fewer than two."""
        exploration = bench.get(exploration_id)
        return _remembered(exploration, "agreement", lambda: display.agreement(exploration))

    @app.get("/api/explorations/{exploration_id}/runs", responses=NO_SUCH)
    def runs(exploration_id: str) -> Any:
        """Return the views of all explorations of the same table, its own first."""
        return Answer([comparison.runs(one) for one in bench.of_same_table(exploration_id)])

    @app.get("/api/explorations/{exploration_id}/views/{view_id}/compare", responses=NO_SUCH)
    def compare(
        exploration_id: str, view_id: str, other_id: str, other_exploration: str | None = None
    ) -> Any:
        """Compare the run that found a view with that of another one, perhaps elsewhere."""
        one = bench.get(exploration_id)
        other = one if other_exploration is None else bench.get(other_exploration)
        return Answer(comparison.compare(one, view_id, other, other_id))


def _add_steps(app: FastAPI, bench: Workbench) -> None:
    @app.post("/api/explorations/{exploration_id}/steps", responses=NO_SUCH)
    def step(exploration_id: str, body: Step) -> Any:
        """Accept, reject, restore, rename or merge."""
        exploration = bench.get(exploration_id)
        exploration.do(cast(ActionDict, body.model_dump()))
        return Answer(_state(bench, exploration))

    @app.delete("/api/explorations/{exploration_id}/steps/last", responses=NO_SUCH)
    def undo(exploration_id: str) -> Any:
        """Take back the last step."""
        exploration = bench.get(exploration_id)
        finds = bool(exploration.steps) and exploration.steps[-1]["do"] == "find"
        if finds and any(job.active for job in bench.jobs_of(exploration_id)):
            raise ValueError("a search that may build on this view is running: cancel it first")
        exploration.undo()
        return Answer(_state(bench, exploration))


def _add_files(app: FastAPI, bench: Workbench) -> None:
    @app.get("/api/explorations/{exploration_id}/code", responses=NO_SUCH)
    def code(exploration_id: str) -> Any:
        """Return how to do it again: Python code, and commands."""
        exploration = bench.get(exploration_id)
        return {"python": repeat.script(exploration), "shell": repeat.command_lines(exploration)}

    @app.get("/api/explorations/{exploration_id}/files/{kind}", responses=NO_SUCH)
    def file(exploration_id: str, kind: str) -> Response:
        """Return a file: labels.csv, labels.parquet, report.html, exploration.zip or repeat.zip.

        Of a table of which a sample is shown, also all-labels.zip, with the labels of all rows.
        """
        exploration = bench.get(exploration_id)
        stem = exploration.file.name.split(".")[0] or "table"
        if kind in ("labels.csv", "labels.parquet"):
            suffix = kind.partition(".")[2]
            media = "text/csv" if suffix == "csv" else "application/octet-stream"
            return _download(repeat.labels_file(exploration, suffix), f"{stem}-{kind}", media)
        if kind == "report.html":
            # As a download, the report stays under its own strict policy.
            return _download(repeat.report(exploration).encode(), f"{stem}-{kind}", "text/html")
        if kind == "exploration.zip":
            return _download(bench.pack(exploration), f"{stem}-{kind}", "application/zip")
        if kind == "repeat.zip":
            return _download(repeat.repeat_files(exploration), f"{stem}-{kind}", "application/zip")
        if kind == "all-labels.zip" and exploration.origin is not None:
            return _all_labels(bench, exploration, exploration.origin, f"{stem}-{kind}")
        raise LookupError(f"there is no file {kind!r}")


def _all_labels(
    bench: Workbench, exploration: Exploration, origin: Origin, name: str
) -> FileResponse:
    """Answer with what may be large from a file, which is removed when it was sent."""
    path = bench.upload_path("all-labels.zip")
    try:
        write_all_labels(exploration, origin, path)
    except BaseException:
        shutil.rmtree(path.parent)
        raise
    gone = BackgroundTask(shutil.rmtree, path.parent)
    return FileResponse(path, media_type="application/zip", filename=name, background=gone)


def _download(content: bytes, name: str, media: str) -> Response:
    where = f"attachment; filename*=UTF-8''{quote(name)}"
    return Response(content, media_type=media, headers={"content-disposition": where})


def _remembered(exploration: Exploration, name: str, make: Callable[[], Any]) -> Response:
    """Answer with what takes long to put together, once for as long as it stays true."""
    body = exploration.remembered(name, lambda: bytes(Answer(make()).body))
    return Response(body, media_type="application/json")


def _state(bench: Workbench, exploration: Exploration) -> StateAnswer:
    jobs = [job.to_dict() for job in bench.jobs_of(exploration.id)]
    return display.describe(exploration, jobs)
