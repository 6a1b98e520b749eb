"""The server responds only to its own page on this machine."""

import contextlib
import http.client
import json
import socket
import threading
import time

import pytest
from browser import Browser, program
from reports import three_cubes

from gjk3d.clash import Triage, read_triage, serving
from gjk3d.clash.page import write_page
from gjk3d.clash.serving import Server
from gjk3d.clash.triage import MAX_BYTES


@pytest.fixture
def served(tmp_path):
    page = lambda token: write_page(three_cubes(), tmp_path / "page.html", token=token).read_bytes()  # noqa: E731
    with Server(page, tmp_path / "week.triage.json") as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def request(server, method="GET", path="/triage", body=None, host=None, token=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    if method == "POST":
        headers = {"Content-Type": "application/json", **headers}
    headers = {"Host": host or f"127.0.0.1:{server.server_port}", "X-Gjk3d-Token": token or server.token, **headers}
    try:
        connection.putrequest(method, path, skip_host=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        if body is not None and "Content-Length" not in headers:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def text(triage):
    return json.dumps(triage.to_dict()).encode()


ONE, TWO = three_cubes().clashes
OURS = Triage().marked(ONE, state="active", by="ann", at="2026-05-04T08:00:00.000Z")
THEIRS = (
    Triage().commented(ONE, "why?", by="bob", at="2026-05-04T09:00:00.000Z").marked(TWO, state="approved", by="bob")
)


def test_decisions_are_merged_into_the_file(served):
    assert request(served) == (200, json.dumps(Triage().to_dict()))
    assert request(served, "POST", body=text(OURS))[0] == 200
    status, answer = request(served, "POST", body=text(THEIRS), Origin=f"http://localhost:{served.server_port}")
    assert status == 200
    assert json.loads(answer) == OURS.merged(THEIRS).to_dict()
    assert read_triage(served.file) == OURS.merged(THEIRS)
    # changes that another program writes to the file in the meantime are kept
    external = Triage().marked(TWO, assignee="cy", by="cy")
    served.current().merged(external).write(served.file)
    request(served, "POST", body=text(OURS))
    assert read_triage(served.file).issues[TWO.id].assignee.value == "cy"


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example", "0.0.0.0", "[::1]"]
)
def test_other_hosts_are_rejected(served, host):
    port = served.server_port
    for name in (host, f"{host}:{port}") if ":" not in host and host != "127.0.0.1" else (host,):
        assert request(served, host=name)[0] == 403
        assert request(served, "POST", body=text(OURS), host=name)[0] == 403
        assert request(served, path=f"/?token={served.token}", host=name)[0] == 403
    assert not served.file.exists()


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1", "file://", ""]
)
def test_other_origins_are_rejected(served, origin):
    assert request(served, "POST", body=text(OURS), Origin=origin)[0] == 403
    assert request(served, path=f"/?token={served.token}", Origin=origin)[0] == 403
    assert request(served, Sec_Fetch_Site="cross-site")[0] == 403
    assert not served.file.exists()


@pytest.mark.parametrize("token", ["wrong", "\u00e9", "x" * 10_000])
def test_wrong_tokens_are_rejected(served, token):
    token = token.encode().decode("latin-1")
    assert request(served, token=token)[0] == 403
    assert request(served, "POST", body=text(OURS), token=token)[0] == 403
    for path in ("/", "/?token=", "/?token=wrong", f"/?token={served.token}x", f"/?token={served.token[:-1]}"):
        assert request(served, path=path)[0] == 403
    # the token in the address opens only the page, because a form of another page cannot send the header
    assert request(served, path=f"/triage?token={served.token}", token="wrong")[0] == 403
    assert not served.file.exists()


@pytest.mark.parametrize(
    "path",
    ["/..", "/../../etc/passwd", "/%2e%2e/etc/passwd", "//etc/passwd", "/triage/../x", "/triage/", "/week.triage.json",
     "triage", "/./triage", "/%74riage", "\\triage", "/triage%00", "http://evil.example/triage", "*", "/TRIAGE"],
)  # fmt: skip
def test_unexpected_paths_are_rejected(served, path):
    for method, body in (("GET", None), ("POST", text(OURS))):
        status, reply = request(served, method, path, body)
        assert status in (400, 404), reply
        assert "root:" not in reply
    assert not served.file.exists()


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{", {}, 400),
        (b"[]", {}, 400),
        (text(OURS).replace(b"active", b"broken"), {}, 400),
        (text(OURS), {"Content_Type": "text/plain"}, 415),
        (text(OURS), {"Content_Length": "-1"}, 411),
        (text(OURS), {"Content_Length": "\u00b2"}, 411),
        (b"", {"Content_Length": str(MAX_BYTES + 1)}, 413),
        (b"", {"Content_Length": "9" * 5000}, 413),
    ],
)
def test_invalid_decisions_are_rejected(served, body, headers, status):
    assert request(served, "POST", body=body, **headers)[0] == status
    assert not served.file.exists()


def test_other_methods_and_interfaces_are_rejected(served):
    for method in ("PUT", "DELETE", "OPTIONS", "HEAD", "TRACE"):
        assert request(served, method)[0] == 501
    assert served.socket.getsockname()[0] == "127.0.0.1"
    with socket.create_connection(("127.0.0.1", served.server_port), timeout=10) as line:
        line.sendall(b"\x00\xff\r\n\r\n")
        assert line.recv(100)[:1] in (b"", b"<", b"H")  # the standard library rejects it, and the server continues
    assert request(served)[0] == 200


def test_concurrent_posts_lose_nothing(served):
    copies = [Triage().commented(ONE, f"{k}", by="ann") for k in range(16)]
    threads = [threading.Thread(target=request, args=(served, "POST", "/triage", text(copy))) for copy in copies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(int(item.text) for item in read_triage(served.file).issues[ONE.id].comments) == list(range(16))


def send_slowly(line, data):
    line.sendall(data)
    for _ in range(100):
        time.sleep(0.05)
        line.sendall(b"x")


@pytest.mark.parametrize(
    "begin", [b"GET /", b"POST /triage HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nX-Gjk3d-Token: TOKEN\r\nX: "]
)
def test_slow_client_is_disconnected(served, monkeypatch, begin):
    monkeypatch.setattr(serving._Handler, "timeout", 0.3)
    before = threading.active_count()
    begin = begin.replace(b"PORT", b"%d" % served.server_port).replace(b"TOKEN", served.token.encode())
    address = "127.0.0.1", served.server_port
    with socket.create_connection(address, timeout=10) as line, pytest.raises(ConnectionError):
        send_slowly(line, begin)
    deadline = time.monotonic() + 5.0
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() <= before
    assert request(served)[0] == 200


def test_simultaneous_connections_are_queued(tmp_path):
    """The server does not accept yet, so every connection waits in its queue."""
    with Server(lambda token: b"", tmp_path / "a.triage.json") as server, contextlib.ExitStack() as stack:
        address = ("127.0.0.1", server.server_port)
        waiting = [stack.enter_context(socket.create_connection(address, timeout=5.0)) for _ in range(32)]
        assert all(connection.getpeername() == address for connection in waiting)


@pytest.mark.full
@pytest.mark.skipif(program() is None, reason="chromium is not on PATH: apt-get install chromium")
def test_page_saves_decisions_and_shows_those_of_others(served, tmp_path):
    THEIRS.write(served.file)
    browser = visit(served, tmp_path / "profile")
    try:
        browser.wait("document.querySelector('#row-0').innerText.includes('1') && clashTriage.file().includes('why?')")
        browser.click("#row-0")
        browser.click("[data-state=reviewed]")
        browser.wait(
            "document.querySelector('#save').textContent === 'saved' && !document.querySelector('#save.pending')"
        )
        assert read_triage(served.file).issues[ONE.id].state.value == "reviewed"
        assert [item.text for item in read_triage(served.file).issues[ONE.id].comments] == ["why?"]
        assert browser.complaints == []
        # only this server received requests
        assert all(url.startswith((f"http://127.0.0.1:{served.server_port}/", "blob:")) for url in browser.requests)
    finally:
        browser.close()


def visit(server, profile):
    browser = Browser(profile, options=("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",))
    browser._ask("Page.navigate", url=server.url)
    browser.wait("document.readyState === 'complete' && document.documentElement.dataset.state")
    browser.settle()
    return browser


@pytest.mark.full
@pytest.mark.skipif(program() is None, reason="chromium is not on PATH: apt-get install chromium")
def test_two_pages_share_decisions_and_keep_drafts(served, tmp_path):
    ann, bob = visit(served, tmp_path / "ann"), visit(served, tmp_path / "bob")
    try:
        for page in (ann, bob):
            page.click("#row-0")
        bob.evaluate("document.querySelector('#comment').focus()")
        bob.type("it is pressed in, so")
        ann.click("[data-state=reviewed]")
        bob.wait("document.querySelector('#row-0').innerText.includes('reviewed')")
        assert bob.evaluate("document.querySelector('[data-state=reviewed]').getAttribute('aria-pressed')") == "true"
        assert bob.evaluate("document.querySelector('#comment').value") == "it is pressed in, so"
        assert bob.evaluate("document.activeElement.id") == "comment"
        bob.evaluate("document.querySelector('#triage .small').click()")
        ann.wait("document.querySelector('#row-0').innerText.includes('reviewed · 1')")
        assert ann.evaluate("document.querySelector('.said bdi').textContent") == "it is pressed in, so"
        assert ann.complaints == bob.complaints == []
    finally:
        ann.close()
        bob.close()


def test_lost_client_prints_no_error(served, capfd):
    for _ in range(3):
        with socket.create_connection(("127.0.0.1", served.server_port)) as client:
            head = f"GET /?token={served.token} HTTP/1.1\r\nHost: 127.0.0.1:{served.server_port}\r\n\r\n"
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")  # close with a reset
            client.sendall(head.encode())
    assert request(served)[0] == 200
    assert capfd.readouterr().err == ""
