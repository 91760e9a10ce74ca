"""Who may talk to the server: checks before every answer, and headers on it."""

from __future__ import annotations

import ipaddress
import secrets
import socket
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Only scripts of this server run, none that stand in a page. 'unsafe-eval' lets Plotly's WebGL put
#: functions together (without it, it says that there is no WebGL), and it styles its own elements.
POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "x-frame-options": "DENY",
}
#: What a body may weigh, except that of an upload, which is measured as it comes in.
MAX_BODY, UPLOADS = 2**20, "/api/uploads"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
COOKIE = "multifacet-token"


class Guard:
    """Lets through what comes from a page of this server, or from a program on this machine.

    Parameters
    ----------
    app : ASGI application
        What answers.
    host : str
        Address that the server listens on.
    token : str or None
        Secret that requests have to bring, as a bearer or in the cookie that the page gets from
        the address with ``?token=``. None on the loopback address only.
    """

    def __init__(self, app: ASGIApp, *, host: str, token: str | None) -> None:
        self.app, self.host, self.token = app, host, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse to."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if scope["path"].startswith("/api/"):
                    headers["cache-control"] = "no-store"
            await send(message)

        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        if refusal is None:
            await self.app(scope, receive, send_with_headers)
        else:
            await refusal(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope, headers: Headers) -> JSONResponse | RedirectResponse | None:
        if not self._host_is_ours(headers.get("host", "")):
            return _refused(421, "this server does not answer to that host name")
        origin = headers.get("origin")
        own = f"{scope.get('scheme', 'http')}://{headers.get('host', '')}"
        if origin is not None and origin != own:
            return _refused(403, "requests from other sites are not answered")
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return _refused(403, "requests from other sites are not answered")
        if self.token is None or self._brings_token(headers):
            return self._too_large(scope["path"], headers)
        asked = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
        if scope["path"] == "/" and _equal(asked, self.token):
            answer = RedirectResponse("/", status_code=303)
            answer.set_cookie(COOKIE, self.token, httponly=True, samesite="strict")
            return answer
        return _refused(401, "a token is needed: use the address that the command has printed")

    def _too_large(self, path: str, headers: Headers) -> JSONResponse | None:
        # Without a length a body could grow without end.
        length = headers.get("content-length", "0")
        fits = length.isdigit() and int(length) <= MAX_BODY and "transfer-encoding" not in headers
        return None if fits or path == UPLOADS else _refused(413, "the request is too large")

    def _host_is_ours(self, header: str) -> bool:
        """Tell our names from those that a foreign site has pointed at this machine."""
        try:
            name = urlsplit(f"//{header}").hostname or ""
        except ValueError:
            return False
        if self.token is None:
            return name in LOOPBACK
        if name in (self.host, *LOOPBACK, socket.gethostname().lower()):
            return True
        try:  # a site cannot point a bare address anywhere else
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True

    def _brings_token(self, headers: Headers) -> bool:
        assert self.token is not None
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and _equal(bearer, self.token):
            return True
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return False
        return found is not None and _equal(found.value, self.token)


def _equal(a: str, b: str) -> bool:
    return secrets.compare_digest(a.encode(), b.encode())


def _refused(code: int, words: str) -> JSONResponse:
    return JSONResponse({"detail": words}, status_code=code)
