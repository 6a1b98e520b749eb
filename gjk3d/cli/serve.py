"""``gjk3d serve REPORT``: the page of a report on this machine, and what is decided there in a file."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from gjk3d.cli.arguments import UsageError, check_output
from gjk3d.cli.terminal import note, say

if TYPE_CHECKING:
    from gjk3d.clash import Report


def serve(
    report: Path,
    /,
    *,
    triage: Path | None = None,
    port: int = 0,
    open: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Look at a clash report in a browser, and keep what is decided there, until Ctrl-C.

    Prints the address of the page. It answers to this machine alone (127.0.0.1), and to who has the token in that
    address. Every state, assignee and comment goes into the file at once; two pages see what the other one decides.

    Parameters
    ----------
    report
        As gjk3d clash -f json wrote it. Where its models are still there and the same, the page has them in 3D.
    triage
        The file that keeps what is decided; by default the report's name with .triage.json at its end.
    port
        A free one by default.
    open
        Open the address in the browser of this machine.
    """
    from gjk3d.clash.decisions.triage import read_triage
    from gjk3d.clash.page import write_page
    from gjk3d.clash.serving import Server

    if not 0 <= port < 65536:
        raise UsageError(f"--port {port}: expected 1 to 65535, or 0 for a free one")
    file = triage or sidecar(report)
    check_output(file, "--triage", (), (report,))
    found = read_whole(report)
    found.triage = read_triage(file) if file.exists() else None

    def make_page(token: str) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            return write_page(found, Path(folder) / "page.html", token=token).read_bytes()

    try:
        server = Server(make_page, file, port)
    except OSError as error:
        raise UsageError(f"--port {port}: {error.strerror or error}: leave it out for a free one") from None
    with server:
        say(server.url)
        note(f"what is decided is kept in {file}; Ctrl-C ends")
        if open:
            import webbrowser

            webbrowser.open(server.url)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return 0
    return 0


def sidecar(report: Path) -> Path:
    """Return what the file of decisions about a report is called by custom."""
    return report.with_name(f"{report.stem}.triage.json")


def read_whole(path: Path) -> Report:
    """Return a report with the triangles of its models, where these are there and the same."""
    from gjk3d.clash.detection.assembly import Assembly, sha256
    from gjk3d.clash.report.baseline import read_baseline
    from gjk3d.errors import Gjk3dError

    report = read_baseline(path)
    assert report is not None
    if report.motion is not None and not report.motion.tracks:
        note("the report, of an earlier gjk3d, does not keep how its parts move: make it anew to play the motion")
    files = [
        next((p for p in (Path(item.path), path.parent / item.path) if p.is_file()), None) for item in report.inputs
    ]
    same = [
        file is not None and item.sha256 is not None and sha256(file) == item.sha256
        for file, item in zip(files, report.inputs, strict=True)
    ]
    if not files or not all(same):
        note("the models are not here, or not those of the report: parts are shown as boxes")
        return report
    try:
        present = [file for file in files if file is not None]
        assembly = Assembly.load(present, unit=report.unit)
        if not {part.name for part in report.parts} <= {part.name for part in assembly.parts}:
            assembly = Assembly.load(present, unit=report.unit, bodies=True)
    except (Gjk3dError, ImportError) as error:
        note(f"the models cannot be read: {error}")
        return report
    boxes = {part.name: part.bounds for part in report.parts}
    parts = tuple(
        part for part in assembly.parts if part.mesh is None or _bounds(part.mesh.bounds) == boxes.get(part.name)
    )
    return replace(report, assembly=replace(assembly, parts=parts))


def _bounds(box: object) -> object:
    low, high = (tuple(corner) for corner in box.tolist())  # type: ignore[attr-defined]
    return low, high
