"""A local HTTP server for the page of a report. It saves the decisions made on the page in a triage file."""

from __future__ import annotations

import contextlib
import hmac
import json
import secrets
import socket
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Timer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from gjk3d.clash.triage import MAX_BYTES, Triage, parse_triage, read_triage
from gjk3d.errors import Gjk3dError, ParseError

HOST = "127.0.0.1"
_SECONDS = 30.0  #: the longest duration of a connection
_CURE = "Use the address that gjk3d serve printed."
_JSON, _HTML, _TEXT = "application/json", "text/html; charset=utf-8", "text/plain; charset=utf-8"
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",  # the address of the page contains the token
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Refused(Exception):
    """The error of a request that the server refuses. ``code`` is the HTTP status of the response."""

    def __init__(self, code: int, why: str) -> None:
        super().__init__(why)
        self.code = code


class Server(ThreadingHTTPServer):
    """A server with three requests: get the page, get the decisions, and merge new decisions.

    A request must contain the secret token of `url`, name this machine as its host, and not come from another page.
    These rules refuse other users, pages of other sites in the same browser, and sites whose name resolves to 127.0.0.1
    (DNS rebinding).

    Parameters
    ----------
    make_page : callable
        A function of the token that returns the HTML of the page as bytes.
    file : path
        The triage file with the decisions. The first decision creates it.
    port : int, optional
        The port. The default is any free port.

    Examples
    --------
    >>> import gjk3d as gk, pathlib
    >>> with gk.clash.serving.Server(lambda token: b"", pathlib.Path("week.triage.json")) as server:
    ...     server.url.startswith("http://127.0.0.1:")
    True
    """

    daemon_threads = True
    request_queue_size = 128  # with the default of 5, simultaneous connections wait for seconds or are lost

    def __init__(self, make_page: Callable[[str], bytes], file: Path, port: int = 0) -> None:
        super().__init__((HOST, port), _Handler)
        self.token = secrets.token_urlsafe(24)
        self.page = make_page(self.token)
        self.file = file
        self._lock = Lock()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print the error of a request, unless the client closed the connection."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    @property
    def url(self) -> str:
        """The address of the page, with the token."""
        return f"http://{HOST}:{self.server_port}/?token={self.token}"

    def current(self) -> Triage:
        """Return the decisions in the file."""
        return read_triage(self.file) if self.file.exists() else Triage()

    def take(self, sent: Triage) -> Triage:
        """Merge decisions into the file, and return all decisions."""
        with self._lock:
            before = self.current()
            merged = before.merged(sent)
            if merged.to_dict() != before.to_dict():
                merged.write(self.file)
            return merged


class _Handler(BaseHTTPRequestHandler):
    server: Server
    timeout = _SECONDS
    server_version, sys_version = "gjk3d", ""

    def setup(self) -> None:
        # the timeout of the socket restarts with each byte, so a slow client could hold a thread forever
        super().setup()
        self._end = Timer(self.timeout, self._disconnect)
        self._end.daemon = True
        self._end.start()

    def finish(self) -> None:
        self._end.cancel()
        super().finish()

    def _disconnect(self) -> None:
        with contextlib.suppress(OSError):  # the client has closed the connection
            self.connection.shutdown(socket.SHUT_RDWR)

    def do_GET(self) -> None:
        self._answer(self._got)

    def do_POST(self) -> None:
        self._answer(self._posted)

    def _got(self, path: str, token: str) -> tuple[str, bytes]:
        if path == "/":
            self._check_token(token)
            return _HTML, self.server.page
        if path == "/triage":
            self._check_token(self.headers.get("X-Gjk3d-Token", ""))
            return _JSON, _json(self.server.current())
        raise Refused(404, f"the page {path[:60]!r} does not exist. {_CURE}")

    def _posted(self, path: str, token: str) -> tuple[str, bytes]:
        if path != "/triage":
            raise Refused(404, f"the page {path[:60]!r} does not exist. {_CURE}")
        # another site can send this header and this type only after a preflight request, which is refused
        self._check_token(self.headers.get("X-Gjk3d-Token", ""))
        if self.headers.get_content_type() != _JSON:
            raise Refused(415, f"the request has the type {self.headers.get_content_type()[:60]}, expected {_JSON}")
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            raise Refused(411, f"the header Content-Length is {length[:20]!r}, expected a number of bytes")
        if len(length) > 12 or int(length) > MAX_BYTES:
            raise Refused(
                413,
                f"the request has {length[:20]} bytes, expected at most {MAX_BYTES / 1e6:g} MB. Send fewer decisions.",
            )
        text = self.rfile.read(int(length))
        if len(text) < int(length):
            raise Refused(
                400, f"the request has {len(text)} bytes, expected its Content-Length, {length}. Send it again."
            )
        return _JSON, _json(self.server.take(parse_triage(text, "the request")))

    def _check_token(self, token: str) -> None:
        if not hmac.compare_digest(token.encode("utf-8", "replace"), self.server.token.encode()):
            raise Refused(403, f"the token is missing or belongs to another run. {_CURE}")

    def _check_source(self) -> None:
        names = {f"{name}:{self.server.server_port}" for name in (HOST, "localhost")}
        if self.headers.get_all("Host") is None or not set(self.headers.get_all("Host", [])) <= names:
            raise Refused(403, f"the request must name this machine and this port as its host. {_CURE}")
        origins = set(self.headers.get_all("Origin", []))
        is_own = self.headers.get("Sec-Fetch-Site", "none") in ("none", "same-origin")
        if not is_own or not origins <= {f"http://{name}" for name in names}:
            raise Refused(403, f"the request comes from another page. {_CURE}")

    def _answer(self, respond: Callable[[str, str], tuple[str, bytes]]) -> None:
        try:
            self._check_source()
            parts = urlsplit(self.path)
            if parts.scheme or parts.netloc:
                raise Refused(
                    400,
                    f"the request is for {self.path[:60]!r}, but this server is not a proxy. Leave out the host.",
                )
            code, (kind, body) = 200, respond(parts.path, parse_qs(parts.query).get("token", [""])[0])
        except Refused as refused:
            code, kind, body = refused.code, _TEXT, str(refused).encode()
        except ParseError as error:
            code, kind, body = 400, _TEXT, str(error).encode("utf-8", "replace")
        except (Gjk3dError, OSError, ValueError) as error:
            code, kind, body = 500, _TEXT, f"{type(error).__name__}: {error}".encode("utf-8", "replace")
        self.close_connection = True  # the unread rest of a request must not be read as the next request
        self.send_response(code)
        for name, value in {**_HEADERS, "Content-Type": kind, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing, because the log would contain the token."""


def _json(triage: Triage) -> bytes:
    return json.dumps(triage.to_dict(), allow_nan=False).encode()
