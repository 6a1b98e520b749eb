"""Pictures of findings as PNG, for the topics of a BCF file."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from typing import TYPE_CHECKING

from gjk3d.errors import Gjk3dError
from gjk3d.viz.image_files import shot
from gjk3d.viz.picture import new_plotter, plot
from gjk3d.viz.rendering import check_rendering

if TYPE_CHECKING:
    from gjk3d.clash.detection.clashes import Clash
    from gjk3d.clash.report import Report

_SIZE = (800, 600)


def snapshots(report: Report, most: int = 100) -> Callable[[Clash], bytes | None]:
    """Return what draws the findings of a report, the worst ones; see `gjk3d.clash.formats.to_bcf`.

    The worst so many open findings get a picture, the others none, and no finding of a report without its assembly.
    `RenderingUnavailableError` says that none can be drawn here.

    Examples
    --------
    >>> import gjk3d as gk
    >>> from gjk3d.cli.snapshots import snapshots
    >>> cube = gk.Box((1, 1, 1)).surface()
    >>> parts = gk.clash.Assembly.of({"a": gk.Mesh(*cube[:2]), "b": gk.Mesh(cube.vertices + 0.75, cube.faces)}, "mm")
    >>> report = gk.clash.check(parts)
    >>> snapshots(report)(report.clashes[0])[1:4]
    b'PNG'
    """
    worst = [clash.id for clash in report.clashes if clash.is_open and clash.point is not None][:most]
    drawn = frozenset(worst if report.assembly is not None else ())
    if drawn:
        check_rendering()

    def draw(clash: Clash) -> bytes | None:
        if clash.id not in drawn:
            return None
        plotter, made = new_plotter(off_screen=True, size=_SIZE), io.BytesIO()
        with contextlib.suppress(Gjk3dError):  # a file without this picture is better than none
            image = shot(plot(report, plotter, clash=clash.id))
            image.quantize(128).save(made, "PNG", optimize=True)  # a third of the bytes, and as clear
        plotter.close()
        return made.getvalue() or None

    return draw
