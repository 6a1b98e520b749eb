"""``gjk3d view FILE...``: look at models and assemblies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from gjk3d.cli.arguments import UsageError, check_output
from gjk3d.cli.terminal import note, safe

_FORMS = (".png", ".jpg", ".jpeg", ".html", ".htm")


def view(
    *inputs: Path,
    save: Annotated[Path | None, Parameter(name=["--save", "-o"])] = None,
    hull: Annotated[bool, Parameter(negative=())] = False,
    bodies: Annotated[bool, Parameter(negative=())] = False,
    level: int | None = None,
    opacity: float = 1.0,
    unit: str | None = None,
) -> int:
    """Look at models and assemblies: in a window, or in a file where there is none or --save says so.

    Parameters
    ----------
    inputs
        Model files, an assembly (GLB, 3MF, STEP), or a folder; together they are one picture, each part in a colour.
    save
        Write a picture (.png, .jpg) or a page that turns in any browser, offline (.html; needs no OpenGL).
    hull
        Draw the convex hull of each part round it, as glass.
    bodies
        A colour for each body: what hangs together.
    level
        Draw the boxes at this level of each part's tree, which searches go down: 0 is one box, 1 two, and so on.
    opacity
        Of the parts, from 0 to 1: less than 1 shows what is inside.
    unit
        The unit of files that state none, such as STL: mm, cm, m, in. Where each states one, as GLB always does (m),
        it goes before that.
    """
    if not inputs:
        raise UsageError("name a model, an assembly, several files or a folder")
    check_output(save, "--save", _FORMS, inputs)
    if level is not None and level < 0:
        raise UsageError(f"--level {level}: expected 0 or more")
    if not 0.0 < opacity <= 1.0:
        raise UsageError(f"--opacity {opacity:g}: expected more than 0, and at most 1")
    from gjk3d import viz
    from gjk3d.clash import Assembly

    assembly = Assembly.load(inputs, unit=unit)
    for text in assembly.notes:
        note(text)
    for part in assembly.parts:
        if part.reason:
            note(f"{safe(part.name)}: {safe(part.reason)}", "not shown")
    if all(part.shape is None for part in assembly.parts):
        raise UsageError(f"nothing to see in {', '.join(map(str, inputs))}: no part could be read")
    title = ", ".join(safe(path.name) for path in inputs[:3]) + (", ..." if len(inputs) > 3 else "")
    shown = viz.show(assembly, path=save, title=title, opacity=opacity, hull=hull, bodies=bodies, level=level)
    if save is not None:
        note(shown, "wrote")
    return 0
