"""``gjk3d triage`` and ``gjk3d serve``, which merge or edit the decisions about the findings of a report."""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from gjk3d.cli.arguments import UsageError, check_output, kinds_of
from gjk3d.cli.terminal import note, print_line
from gjk3d.errors import Gjk3dError
from gjk3d.wording import count

if TYPE_CHECKING:
    from gjk3d.clash.detection.clashes import Clash
    from gjk3d.clash.report import Report
    from gjk3d.clash.triage import View


_BCF = (".bcf", ".bcfzip")


def triage(
    report: Path,
    /,
    *files: Path,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    bcf: Path | None = None,
    section: Annotated[bool, Parameter(name=["--section", "--section-plane"], negative=())] = False,
    bcf_kinds: str | None = None,
    up: Literal["x", "y", "z"] | None = None,
    pictures: int = 20,
) -> None:
    """Merge the decisions of several people about the findings of a report.

    The latest state and the latest assignee of a finding are used. All comments and views are kept.

    Parameters
    ----------
    report
        The report of gjk3d clash -f json.
    files
        The files with the decisions: .triage.json files of pages, and .bcf files of other programs.
    output
        The file to write. The default is the name of the report with the ending .triage.json. If the file exists, its
        decisions are merged with the others.
    bcf
        Write the findings with all decisions to a BCF 2.1 file.
    section
        Add a section plane to the views of --bcf, which removes the geometry in front of a finding.
    bcf_kinds
        The kinds of findings in --bcf, for example hard,contained. By default all kinds but touch.
    up
        The axis that points up in the pictures of --bcf. The default is y for GLB, and z for all other formats.
    pictures
        The number of open findings with a picture in --bcf, the worst first. A picture takes up to a second.
    """
    from gjk3d.clash.formats import read_bcf
    from gjk3d.clash.report.baseline import read_report
    from gjk3d.clash.triage import read_triage

    check_output(output, "--output", (), (report,))
    check_output(bcf, "--bcf", _BCF, (report, *files))
    kinds = kinds_of(bcf_kinds, "--bcf-kinds")
    target = output or sidecar(report)
    checked = read_whole(report) if bcf is not None else read_report(report)
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
    comments = sum(bool(comment.text) for issue in merged.issues.values() for comment in issue.comments)
    summary = [*(f"{many} {state}" for state, many in sorted(states.items())), count(comments, "comment")]
    print_line(", ".join(summary) if merged.issues else "no decisions")
    if bcf is not None:
        checked.triage = merged
        _write_bcf(checked, bcf, pictures, section, kinds, up or "")
        note(bcf, "wrote")


def _write_bcf(report: Report, path: Path, most: int, section: bool, kinds: tuple[str, ...], up: str) -> None:
    from gjk3d.clash.formats import to_bcf
    from gjk3d.errors import RenderingUnavailableError

    try:
        pictures = snapshots(report, most, kinds, up)
        if (many := min(most, sum(row.is_open and row.kind in kinds for row in report.clashes))) and report.assembly:
            note(f"drawing {count(many, 'picture')} for {path}, up to a second each. --pictures sets their number.")
    except (RenderingUnavailableError, ImportError) as error:
        note(f"{path} has no pictures: {error}")
        pictures = None
    to_bcf(report, path, snapshot=pictures, view_snapshot=pictures, section=section, kinds=kinds, up=up)


def serve(
    report: Path,
    /,
    *,
    triage: Path | None = None,
    port: int = 0,
    up: Literal["x", "y", "z"] | None = None,
    open: Annotated[bool, Parameter(negative=())] = False,
) -> None:
    """Show a clash report in a browser and save its decisions, until Ctrl-C.

    The command prints the address of the page. Only browsers on this machine (127.0.0.1) can open the page, and only
    with the token in the address. Each state, assignee and comment is saved at once. Several open pages share their
    decisions.

    Parameters
    ----------
    report
        The report of gjk3d clash -f json. The page shows the models in 3D if their files are unchanged.
    triage
        The file that stores the decisions. The default is the name of the report with the ending .triage.json.
    port
        The port. The default is any free port.
    up
        The axis that points up in the picture. The default is y for GLB, and z for all other formats.
    open
        Open the address in the browser of this machine.
    """
    from gjk3d.clash.page import write_page
    from gjk3d.clash.serving import Server
    from gjk3d.clash.triage import read_triage

    if not 0 <= port < 65536:
        raise UsageError(f"--port {port}: expected 1 to 65535, or 0 for a free port")
    file = triage or sidecar(report)
    check_output(file, "--triage", (), (report,))
    checked = read_whole(report)
    checked.triage = read_triage(file) if file.exists() else None

    def make_page(token: str) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            return write_page(checked, Path(folder) / "page.html", token=token, up=up or "").read_bytes()

    try:
        server = Server(make_page, file, port)
    except OSError as error:
        raise UsageError(f"--port {port}: {error.strerror or error}. Leave it out for a free port.") from None
    with server:
        print_line(server.url)
        note(f"decisions are saved in {file} (stop with Ctrl-C)")
        if open:
            import webbrowser

            webbrowser.open(server.url)
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()


def sidecar(report: Path) -> Path:
    """Return the default path of the decisions about a report."""
    return report.with_name(f"{report.stem}.triage.json")


def read_whole(path: Path) -> Report:
    """Return the report in a JSON file, with the triangles of its models if their files are unchanged."""
    from gjk3d.clash.detection.assembly import Assembly, sha256
    from gjk3d.clash.report.baseline import read_report

    report = read_report(path)
    if report.motion is not None and not report.motion.tracks:
        note("the report of an earlier gjk3d lacks the motion of its parts. Make the report again to play the motion.")
    files = [
        next((p for p in (Path(item.path), path.parent / item.path) if p.is_file()), None) for item in report.inputs
    ]
    unchanged = [
        file is not None and item.sha256 is not None and sha256(file) == item.sha256
        for file, item in zip(files, report.inputs, strict=True)
    ]
    if not files or not all(unchanged):
        note("the models are missing or changed since the report, so parts are shown as boxes")
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
        part
        for part in assembly.parts
        if part.mesh is None or tuple(map(tuple, part.mesh.bounds.tolist())) == boxes.get(part.name)
    )
    return replace(report, assembly=replace(assembly, parts=parts))


_SIZE = (800, 600)  #: the width and height of a picture in pixels


def snapshots(
    report: Report, most: int = 100, kinds: Collection[str] = (), up: str = ""
) -> Callable[..., bytes | None]:
    """Return a function that draws findings of a report, for `gjk3d.clash.formats.to_bcf`.

    The arguments of the function are a finding, and optionally a saved view of the finding. The function returns the
    bytes of a PNG file, or None without a picture. The ``most`` worst open findings of ``kinds`` have a picture. If
    ``kinds`` is empty, it means all kinds but touch. A report without its assembly has no pictures.
    """
    import numpy as np
    from PIL import Image

    from gjk3d.clash.detection.clashes import COUNTED
    from gjk3d.clash.formats.bcf import FIELD_OF_VIEW, looking_at
    from gjk3d.units import conversion
    from gjk3d.viz.colors import COLORS, GREY, INK, NORMAL, SEPARATION
    from gjk3d.viz.drawing import COMMON, Camera
    from gjk3d.viz.image_files import check_rendering, palette, shot
    from gjk3d.viz.kinds import drawing_of
    from gjk3d.viz.paint import cut, paint
    from gjk3d.viz.picture import new_plotter

    opened = (clash for clash in report.clashes if clash.is_open and clash.kind in (kinds or COUNTED) and clash.point)
    worst = [clash.id for clash in opened][:most]
    drawn = frozenset(worst if report.assembly is not None else ())
    if drawn:
        check_rendering()

    def camera_of(clash: Clash, view: View | None) -> Camera | None:  # the camera of the viewpoint in the BCF file
        if view is not None:
            eye, target, upright = (np.array(values) for values in (view.eye, view.target, view.up))
            return Camera(scale(view) * target, scale(view) * eye, upright, FIELD_OF_VIEW)
        seen = looking_at(clash, report, FIELD_OF_VIEW, up)
        if seen is None:
            return None
        eye, _, upright = map(np.array, seen)
        return Camera(np.array(clash.point), eye, upright, FIELD_OF_VIEW)

    def scale(view: View) -> float:
        return (conversion(view.unit, report.unit) if view.unit and report.unit else None) or 1.0

    def draw(clash: Clash, view: View | None = None) -> bytes | None:
        if clash.id not in drawn:
            return None
        plotter, png = new_plotter(off_screen=True, size=_SIZE), io.BytesIO()
        with contextlib.suppress(Gjk3dError):  # the BCF file is also useful without this picture
            drawing = drawing_of(report, clash=clash.id, up=up)
            drawing.camera = camera_of(clash, view)
            paint(drawing, plotter)
            if view is not None:
                cut(plotter, [(scale(view) * np.array(point), np.array(normal)) for point, normal in view.planes])
            image = shot(plotter)
            # 128 colours reduce the size of the file to a third, and the colours of the legend are exact
            colors = palette([image], (*COLORS, COMMON, GREY, INK, NORMAL, SEPARATION, "#ffffff"), 128)
            image.quantize(palette=colors, dither=Image.Dither.NONE).save(png, "PNG", optimize=True)
        plotter.close()
        return png.getvalue() or None

    return draw
