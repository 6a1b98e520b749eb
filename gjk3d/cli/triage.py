"""``gjk3d triage`` and ``gjk3d serve``: decide about the findings of a report, in a terminal or in a browser."""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from gjk3d.cli.arguments import UsageError, check_output
from gjk3d.cli.terminal import note, print_line
from gjk3d.errors import Gjk3dError
from gjk3d.wording import count

if TYPE_CHECKING:
    from gjk3d.clash.detection.clashes import Clash
    from gjk3d.clash.report import Report


_BCF = (".bcf", ".bcfzip")


def triage(
    report: Path,
    /,
    *files: Path,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    bcf: Path | None = None,
    section: Annotated[bool, Parameter(negative=())] = False,
    pictures: int = 20,
) -> int:
    """Merge what several people decided about the findings of a report, by finding and time.

    Parameters
    ----------
    report
        As gjk3d clash -f json wrote it.
    files
        What was decided: .triage.json files that pages saved, and .bcf files that others worked on.
    output
        Where to write all of it; by default the report's name with .triage.json at its end, which is read too if it is
        there.
    bcf
        Write the findings, with all that was decided, as BCF 2.1.
    section
        The views of the findings there have a section plane, which cuts away what is in front of a finding.
    pictures
        So many of the worst open findings get a picture there, about half a second each.
    """
    from gjk3d.clash.decisions.triage import read_triage
    from gjk3d.clash.formats import read_bcf

    check_output(output, "--output", (), (report,))
    check_output(bcf, "--bcf", _BCF, (report, *files))
    target = output or sidecar(report)
    checked = read_whole(report) if bcf is not None else _read(report)
    merged = read_triage(target if target.exists() else None)
    for file in files:
        if file.suffix.lower() not in _BCF:
            merged = merged.merged(read_triage(file))
            continue
        checked.triage = merged
        read = read_bcf(file, checked)
        merged = merged.merged(read.triage)
        for text in read.notes:
            note(text)
    merged.write(target)
    note(target, "wrote")
    states = Counter(issue.state.value for issue in merged.issues.values() if issue.state is not None)
    comments = sum(len(issue.comments) for issue in merged.issues.values())
    print_line(", ".join([*(f"{many} {state}" for state, many in sorted(states.items())), count(comments, "comment")]))
    if bcf is not None:
        checked.triage = merged
        _write_bcf(checked, bcf, pictures, section)
        note(bcf, "wrote")
    return 0


def _write_bcf(report: Report, path: Path, most: int, section: bool) -> None:
    """Write the findings as BCF, with pictures where some can be drawn."""
    from gjk3d.clash.formats import to_bcf
    from gjk3d.errors import RenderingUnavailableError

    try:
        pictures = snapshots(report, most)
    except (RenderingUnavailableError, ImportError) as error:
        note(f"{path} has no pictures: {error}")
        pictures = None
    to_bcf(report, path, snapshot=pictures, section=section)


def _read(path: Path) -> Report:
    from gjk3d.clash.report.baseline import read_baseline

    report = read_baseline(path)
    assert report is not None
    return report


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
    checked = read_whole(report)
    checked.triage = read_triage(file) if file.exists() else None

    def make_page(token: str) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            return write_page(checked, Path(folder) / "page.html", token=token).read_bytes()

    try:
        server = Server(make_page, file, port)
    except OSError as error:
        raise UsageError(f"--port {port}: {error.strerror or error}: leave it out for a free one") from None
    with server:
        print_line(server.url)
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
    unchanged = [
        file is not None and item.sha256 is not None and sha256(file) == item.sha256
        for file, item in zip(files, report.inputs, strict=True)
    ]
    if not files or not all(unchanged):
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


_SIZE = (800, 600)


def snapshots(report: Report, most: int = 100) -> Callable[[Clash], bytes | None]:
    """Return a function that draws the worst findings of a report; see `gjk3d.clash.formats.to_bcf`.

    The ``most`` worst open findings get a picture. A report without its assembly gets no pictures.

    Examples
    --------
    >>> import gjk3d as gk
    >>> from gjk3d.cli.triage import snapshots
    >>> cube = gk.Box((1, 1, 1)).surface()
    >>> parts = gk.clash.Assembly.of({"a": gk.Mesh(*cube[:2]), "b": gk.Mesh(cube.vertices + 0.75, cube.faces)}, "mm")
    >>> report = gk.clash.check(parts)
    >>> snapshots(report)(report.clashes[0])[1:4]
    b'PNG'
    """
    from gjk3d.viz.image_files import check_rendering, shot
    from gjk3d.viz.picture import new_plotter, plot

    worst = [clash.id for clash in report.clashes if clash.is_open and clash.point is not None][:most]
    drawn = frozenset(worst if report.assembly is not None else ())
    if drawn:
        check_rendering()

    def draw(clash: Clash) -> bytes | None:
        if clash.id not in drawn:
            return None
        plotter, png = new_plotter(off_screen=True, size=_SIZE), io.BytesIO()
        with contextlib.suppress(Gjk3dError):  # a file without this picture is better than none
            image = shot(plot(report, plotter, clash=clash.id))
            image.quantize(128).save(png, "PNG", optimize=True)  # a third of the bytes, and as clear
        plotter.close()
        return png.getvalue() or None

    return draw
