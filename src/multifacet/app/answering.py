"""How the workbench reads bodies and answers: within limits, strict JSON, errors in a sentence."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.requests import ClientDisconnect

from .disk import UnwritableError, reading_words, writing
from .jobs import Job
from .words import SETTINGS, for_the_page

#: Seconds between looks for new messages, and between signs of life.
TICK, ALIVE = 0.1, 10.0
NO_SUCH: dict[int | str, dict[str, Any]] = {
    404: {"description": "There is no such exploration, view or job."}
}
WRONG: dict[int | str, dict[str, Any]] = {
    400: {"description": "The request cannot be carried out; the answer says why."},
    413: {"description": "The request is too large."},
    422: {"description": "The request is not as described here; the answer says where."},
}


class Answer(JSONResponse):
    """Strict JSON: numbers that are not finite are a fault, not a word of our own."""

    def render(self, content: Any) -> bytes:
        """Return the bytes of an answer."""
        return json.dumps(
            content, ensure_ascii=False, allow_nan=False, separators=(",", ":")
        ).encode()


async def receive(request: Request, path: Path, most: int) -> None:
    """Write the body to a file; refuse what is too large as soon as that shows."""
    words = (
        f"the file is larger than {most // 2**20} MB: start the workbench with its path, "
        "`multifacet explore FILE`"
    )
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > most:
        raise HTTPException(413, words)
    size = 0
    with writing(), path.open("wb") as target:
        async for block in request.stream():
            size += len(block)
            if size > most:
                raise HTTPException(413, words)
            target.write(block)


async def stream(job: Job, after: int) -> AsyncIterator[str]:
    """Yield what a job tells from a message on, as server-sent events, until it is over."""
    quiet = 0.0
    while True:
        active = job.active  # asked first, so that the last messages are not missed
        news = [(number, one) for number, one in job.messages if number > after]
        for number, message in news:
            after = number
            text = json.dumps(message, allow_nan=False)
            yield f"id: {number}\nevent: {message['kind']}\ndata: {text}\n\n"
        if not active:
            return
        quiet = 0.0 if news else quiet + TICK
        if quiet >= ALIVE:
            quiet = 0.0
            yield ": alive\n\n"
        await asyncio.sleep(TICK)


def _field(place: tuple[Any, ...]) -> str:
    """Return what the page calls a part of a request, or where it is."""
    known = [SETTINGS[one] for one in place if one in SETTINGS]
    return f"“{known[0]}”" if known else ".".join(map(str, place))


def add_errors(app: FastAPI) -> None:
    """Have errors answered in a sentence."""

    def sentence(code: int, error: Exception) -> JSONResponse:
        return Answer({"detail": for_the_page(error)}, status_code=code)

    @app.exception_handler(LookupError)
    async def absent(request: Request, error: LookupError) -> JSONResponse:
        return sentence(404, error)

    @app.exception_handler(ValueError)
    async def wrong(request: Request, error: ValueError) -> JSONResponse:
        return sentence(400, error)

    @app.exception_handler(ImportError)
    async def uninstalled(request: Request, error: ImportError) -> JSONResponse:
        return sentence(400, error)

    @app.exception_handler(MemoryError)
    async def too_large(request: Request, error: MemoryError) -> JSONResponse:
        return sentence(413, MemoryError("there is not enough memory for this"))

    @app.exception_handler(UnwritableError)
    async def unwritable(request: Request, error: UnwritableError) -> JSONResponse:
        return sentence(507, error)

    @app.exception_handler(OSError)
    async def disk(request: Request, error: OSError) -> JSONResponse:
        code = 404 if isinstance(error, FileNotFoundError) else 400
        return sentence(code, ValueError(reading_words(error)))

    @app.exception_handler(ClientDisconnect)
    async def gone(request: Request, error: ClientDisconnect) -> Response:
        return Response(status_code=499)  # nobody is there to read it

    @app.exception_handler(RequestValidationError)
    async def unreadable(request: Request, error: RequestValidationError) -> JSONResponse:
        # What was sent is not sent back: it may hold anything.
        found = {_field(one["loc"]): one["msg"] for one in reversed(error.errors()[:5])}
        said = [f"{name}: {words}" for name, words in reversed(found.items())]
        return Answer({"detail": "; ".join(said)}, status_code=422)
