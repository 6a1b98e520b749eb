"""``gjk3d view FILE...`` and ``gjk3d explain``: look at models and assemblies, and at the steps of GJK and EPA."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from gjk3d.cli.arguments import (
    PoseText,
    UsageError,
    check_output,
    in_one_unit,
    model_notes,
    read_direction,
    read_models,
    read_pose,
    split_name,
)
from gjk3d.cli.terminal import note, print_line, safe

if TYPE_CHECKING:
    from gjk3d.shapes.base import Shape


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


#: shapes by name: how many numbers each takes, and what they are
_SPECS = {
    "point": ("Point", 3, "x,y,z"),
    "sphere": ("Sphere", 1, "radius"),
    "box": ("Box", 3, "x,y,z"),
    "capsule": ("Capsule", 2, "radius,height"),
    "cylinder": ("Cylinder", 2, "radius,height"),
    "cone": ("Cone", 2, "radius,height"),
    "ellipsoid": ("Ellipsoid", 3, "x,y,z"),
}


def explain(
    a: str,
    b: str,
    /,
    *,
    pose_a: PoseText = None,
    pose_b: PoseText = None,
    html: Path | None = None,
    gif: Path | None = None,
    png: Path | None = None,
    view: PoseText = None,
    unit: str | None = None,
) -> int:
    """Explain how GJK and EPA find the distance of two models or the depth of their overlap, step by step.

    Prints a sentence a step: what was known, what was asked, and why. Of a model file its convex hull is taken. Exits
    with 0 if the two are apart, with 1 if they touch or overlap.

    Parameters
    ----------
    a
        A model file, FILE#PART for one part of an assembly, or a shape: box:2,1,1 sphere:0.5 capsule:0.3,1
        cylinder:1,2 cone:1,2 ellipsoid:1,2,3 point:0,0,0, with the numbers that gjk3d's shapes of these names take.
    b
        The other one.
    pose_a
        Where A is: "x y z", or "x y z rx ry rz" with a rotation vector in radians (or "0 0 0 0 0 90deg"), or the 12 or
        16 numbers of a 4x4 matrix by rows, or a .json, .txt or .npy file of those.
    pose_b
        Where B is, in the same way.
    html
        Write a page whose two views can be turned, with a slider from step to step; opens offline, needs no OpenGL.
    gif
        Write an animation: a .gif or .webp file; needs OpenGL, also on a machine with no display.
    png
        Write a strip of pictures, one step below the other: a .png or .jpg file.
    view
        From where to look, "x y z" towards the viewer.
    unit
        The unit of lengths: mm, cm, m, in. It is that of models whose files state none, such as STL, and of shapes
        written as numbers; where all models state one, it goes before theirs. Two units are brought to one.
    """
    shapes: list[Shape | None] = [_shape(a), _shape(b)]
    texts = [text for text, shape in zip((a, b), shapes, strict=True) if shape is None]
    inputs = [split_name(text) for text in texts]
    paths = tuple(path for path, _ in inputs)
    check_output(html, "--html", (".html", ".htm"), paths)
    check_output(gif, "--gif", (".gif", ".webp"), paths)
    check_output(png, "--png", (".png", ".jpg", ".jpeg"), paths)
    poses = read_pose(pose_a, "--pose-a"), read_pose(pose_b, "--pose-b")
    toward = read_direction(view, "--view")
    import gjk3d as gk

    models, unit, notes = in_one_unit(read_models(inputs), unit)
    for text in [*notes, *dict.fromkeys(line for model in models for line in model_notes(model, hulls=True))]:
        note(text)
    hulls = iter(models)
    pair: list[Any] = []
    names: list[str] = []
    for text, shape in zip((a, b), shapes, strict=True):
        model = next(hulls) if shape is None else None
        pair.append(shape if model is None else model.mesh.hull())
        names.append(text if model is None else safe(model.name))
    first, second = pair
    result = gk.signed_distance(first, second, *poses, trace=True)
    explanation = gk.viz.explain(result, view=toward, unit=unit)
    for line in str(explanation).splitlines():
        print_line(line)
    for path in (html, gif, png):
        if path is not None:
            explanation.save(path, names=(names[0], names[1]))
            note(path, "wrote")
    return 0 if result.lower > 0.0 else 1


def _shape(text: str) -> Any:
    """Return the shape that a word such as ``box:2,1,1`` stands for, None where it names a file."""
    match = re.fullmatch(r"([a-z]+):([^/\\]*)", text)
    if match is None or os.path.exists(text):
        return None
    if match[1] not in _SPECS:
        raise UsageError(f"{text!r}: there is no shape {match[1]!r}; there are {', '.join(sorted(_SPECS))}")
    name, count, form = _SPECS[match[1]]
    try:
        numbers = [float(word) for word in match[2].split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != count:
        raise UsageError(f"{text!r}: expected {match[1]}:{form}, {count} number{'s' if count > 1 else ''}")
    import gjk3d as gk

    return getattr(gk, name)(numbers if count == 3 else numbers[0], *(numbers[1:] if count == 2 else ()))
