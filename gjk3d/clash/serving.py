"""Serves the page of a report to this machine alone, and keeps what is decided there in its file."""

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

from gjk3d.clash.decisions.triage import MAX_BYTES, Triage, parse_triage, read_triage
from gjk3d.errors import Gjk3dError, ParseError

HOST = "127.0.0.1"
_SECONDS = 30.0  #: of a connection
_JSON, _HTML, _TEXT = "application/json", "text/html; charset=utf-8", "text/plain; charset=utf-8"
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",  # the address has the token in it
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Refused(Exception):
    """A request is not answered."""

    def __init__(self, code: int, why: str) -> None:
        super().__init__(why)
        self.code = code


class Server(ThreadingHTTPServer):
    """Answers three requests: for the page, for what is decided, and to take up what was decided.

    Who asks must have the token, ask by the name of this machine's own address, and come from no other page: so neither
    another user, nor a page of the web in the same browser, nor one whose name was turned to 127.0.0.1, gets in.

    Parameters
    ----------
    make_page : callable
        Takes the token, and returns the page, HTML as bytes.
    file : path
        Where what is decided is kept; it need not be there.
    port : int, optional
        A free one by default.

    Examples
    --------
    >>> import gjk3d as gk, pathlib
    >>> with gk.clash.serving.Server(lambda token: b"", pathlib.Path("week.triage.json")) as server:
    ...     server.url.startswith("http://127.0.0.1:")
    True
    """

    daemon_threads = True
    request_queue_size = 128  # with 5, the default, connections that come at once wait for seconds, or are lost

    def __init__(self, make_page: Callable[[str], bytes], file: Path, port: int = 0) -> None:
        super().__init__((HOST, port), _Handler)
        self.token = secrets.token_urlsafe(24)
        self.page = make_page(self.token)
        self.file = file
        self._lock = Lock()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that went away; of all else as usual."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    @property
    def url(self) -> str:
        """Where the page is, with the token."""
        return f"http://{HOST}:{self.server_port}/?token={self.token}"

    def current(self) -> Triage:
        """Return what is decided so far."""
        return read_triage(self.file) if self.file.exists() else Triage()

    def take(self, sent: Triage) -> Triage:
        """Merge what was decided into the file, and return all of it."""
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
        """Begin a connection, which ends after the timeout whatever it sends until then.

        The timeout of the socket begins anew with each byte.
        """
        super().setup()
        self._end = Timer(self.timeout, self._disconnect)
        self._end.daemon = True
        self._end.start()

    def finish(self) -> None:
        """End a connection."""
        self._end.cancel()
        super().finish()

    def _disconnect(self) -> None:
        with contextlib.suppress(OSError):  # it has ended
            self.connection.shutdown(socket.SHUT_RDWR)

    def do_GET(self) -> None:
        """Answer with the page, or with what is decided."""
        self._answer(self._got)

    def do_POST(self) -> None:
        """Take up what was decided."""
        self._answer(self._posted)

    def _got(self, path: str, token: str) -> tuple[str, bytes]:
        if path == "/":
            self._check_token(token)
            return _HTML, self.server.page
        if path == "/triage":
            self._check_token(self.headers.get("X-Gjk3d-Token", ""))
            return _JSON, _json(self.server.current())
        raise Refused(404, "there is no such page")

    def _posted(self, path: str, token: str) -> tuple[str, bytes]:
        if path != "/triage":
            raise Refused(404, "there is no such page")
        # a form of another page can send neither this header nor this type without being asked for leave first
        self._check_token(self.headers.get("X-Gjk3d-Token", ""))
        if self.headers.get_content_type() != _JSON:
            raise Refused(415, f"expected {_JSON}")
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            raise Refused(411, "how long is it?")
        if len(length) > 12 or int(length) > MAX_BYTES:
            raise Refused(413, f"more than {MAX_BYTES / 1e6:g} MB")
        text = self.rfile.read(int(length))
        if len(text) < int(length):
            raise Refused(400, "it ends too early")
        return _JSON, _json(self.server.take(parse_triage(text, "what was sent")))

    def _check_token(self, token: str) -> None:
        if not hmac.compare_digest(token.encode("utf-8", "replace"), self.server.token.encode()):
            raise Refused(403, "the token is not that of this run: use the address that gjk3d serve printed")

    def _check_source(self) -> None:
        names = {f"{name}:{self.server.server_port}" for name in (HOST, "localhost")}
        if self.headers.get_all("Host") is None or not set(self.headers.get_all("Host", [])) <= names:
            raise Refused(403, "asked by another name than that of this machine")
        origins = set(self.headers.get_all("Origin", []))
        if not origins <= {f"http://{name}" for name in names}:
            raise Refused(403, "asked by another page")
        if self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            raise Refused(403, "asked by another page")

    def _answer(self, respond: Callable[[str, str], tuple[str, bytes]]) -> None:
        try:
            self._check_source()
            parts = urlsplit(self.path)
            if parts.scheme or parts.netloc:
                raise Refused(400, "this is no proxy")
            code, (kind, body) = 200, respond(parts.path, parse_qs(parts.query).get("token", [""])[0])
        except Refused as refused:
            code, kind, body = refused.code, _TEXT, str(refused).encode()
        except ParseError as error:
            code, kind, body = 400, _TEXT, str(error).encode("utf-8", "replace")
        except (Gjk3dError, OSError, ValueError) as error:
            code, kind, body = 500, _TEXT, f"{type(error).__name__}: {error}".encode("utf-8", "replace")
        self.close_connection = True  # what was not read of a request is no next one
        self.send_response(code)
        for name, value in {**_HEADERS, "Content-Type": kind, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the log would have the token in it."""


def _json(triage: Triage) -> bytes:
    return json.dumps(triage.to_dict(), allow_nan=False).encode()
