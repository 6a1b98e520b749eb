"""``gjk3d view FILE...``, which shows models and assemblies, and ``gjk3d explain``, which shows GJK and EPA."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from gjk3d.cli import ExitCode
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
from gjk3d.wording import expected_names

if TYPE_CHECKING:
    from gjk3d.shapes.base import Shape


_FORMS = (".png", ".jpg", ".jpeg", ".html", ".htm")


def view(
    *inputs: Path,
    save: Annotated[Path | None, Parameter(name=["--save", "--output", "-o"])] = None,
    hull: Annotated[bool, Parameter(name=["--hull", "--hulls"], negative=())] = False,
    bodies: Annotated[bool, Parameter(negative=())] = False,
    level: int | None = None,
    opacity: float = 1.0,
    unit: str | None = None,
) -> None:
    """Show models and assemblies in a window. Without a display, or with --save, write a file.

    Parameters
    ----------
    inputs
        Model files, an assembly (GLB, 3MF, STEP), or a folder. All parts are in one picture, each in its own colour.
    save
        Write a picture (.png, .jpg), or a page for any browser (.html). The page works offline and needs no OpenGL.
    hull
        Draw the convex hull of each part as a transparent surface.
    bodies
        Use a colour for each connected body.
    level
        Draw the boxes at this level of the bounding volume hierarchy of each part. Level 0 is one box,
        and each level has up to twice the boxes of the level before it.
    opacity
        The opacity of the parts, from 0 to 1.
    unit
        The unit of files that state no unit, such as STL: mm, cm, m, in. If every file states a unit, this unit
        replaces it. GLB is always in m.
    """
    if not inputs:
        raise UsageError("no input is given. Name a model, an assembly, several files or a folder.")
    check_output(save, "--save", _FORMS, inputs)
    if level is not None and level < 0:
        raise UsageError(f"--level {level}: expected 0 or more")
    if not 0.0 < opacity <= 1.0:
        raise UsageError(f"--opacity {opacity:g}: expected a number above 0 and at most 1")
    from gjk3d import viz
    from gjk3d.clash import Assembly

    assembly = Assembly.load(inputs, unit=unit)
    for text in assembly.notes:
        note(text)
    for part in assembly.parts:
        if part.reason:
            note(f"{safe(part.name)}: {safe(part.reason)}", "not shown")
    if all(part.shape is None for part in assembly.parts):
        raise UsageError(
            f"no part of {', '.join(map(str, inputs))} could be read, and the notes above give the reasons. Name "
            "other files."
        )
    title = ", ".join(safe(path.name) for path in inputs[:3]) + (", ..." if len(inputs) > 3 else "")
    shown = viz.show(assembly, path=save, title=title, opacity=opacity, hull=hull, bodies=bodies, level=level)
    if save is not None:
        note(shown, "wrote")


#: The class of each shape, and the number and the names of its arguments.
_SPECS = {
    "point": ("Point", 3, "x,y,z"),
    "sphere": ("Sphere", 1, "radius"),
    "box": ("Box", 3, "x,y,z"),
    "capsule": ("Capsule", 2, "radius,height"),
    "cylinder": ("Cylinder", 2, "radius,height"),
    "cone": ("Cone", 2, "radius,height"),
    "ellipsoid": ("Ellipsoid", 3, "x,y,z"),
}
_TOPICS = ("gjk", "sat", "bounds")  #: the lessons of `gjk3d.viz.lesson`


def explain(
    a: str | None = None,
    b: str | None = None,
    /,
    *,
    pose_a: PoseText = None,
    pose_b: PoseText = None,
    html: Path | None = None,
    gif: Annotated[Path | None, Parameter(name=["--gif", "--animation"])] = None,
    png: Annotated[Path | None, Parameter(name=["--png", "--picture"])] = None,
    view: PoseText = None,
    unit: str | None = None,
) -> int:
    """Explain the steps of GJK and EPA for two models or shapes. Without shapes, open a lesson.

    The command prints a line for each step. A model file is replaced by its convex hull. The exit code is 0 for
    shapes that are apart, and 1 for shapes that touch or overlap.

    "gjk3d explain" opens the lesson on GJK and EPA, "gjk3d explain sat" opens the lesson on separating axes, and "gjk3d
    explain bounds" opens the lesson on bounding volumes. A lesson is a page that works offline, and it opens in the
    browser. With --html the page is only written.

    Parameters
    ----------
    a
        A model file, FILE#PART for one part of an assembly, or a shape: box:2,1,1 sphere:0.5 capsule:0.3,1
        cylinder:1,2 cone:1,2 ellipsoid:1,2,3 point:0,0,0. The numbers are the arguments of the shapes of gjk3d. Without
        B, this is the name of a lesson: gjk, sat or bounds.
    b
        The other model or shape.
    pose_a
        The pose of A: "x y z", or "x y z rx ry rz" with a rotation vector in radians (or "0 0 0 0 0 90deg"), or the 12
        or 16 numbers of a 4x4 matrix by rows, or a .json, .txt or .npy file with such numbers.
    pose_b
        The pose of B in the same form.
    html
        Write a page with two 3D views and a slider for the steps. It works offline and needs no OpenGL.
    gif
        Write an animation to a .gif or .webp file. This needs OpenGL, but no display.
    png
        Write the pictures of all steps below each other to a .png or .jpg file.
    view
        The direction towards the viewer, "x y z".
    unit
        The unit of lengths: mm, cm, m, in. It applies to files that state no unit, such as STL, and to shapes. If every
        file states a unit, this unit replaces it. Models in different units are converted to one unit.
    """
    if b is None and (a is None or a in _TOPICS):
        return _lesson(a or _TOPICS[0], html)
    if a is None or b is None:
        raise UsageError(f"expected two models or shapes, got only {a!r}. The lessons are {', '.join(_TOPICS)}.")
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
    return ExitCode(not result.lower > 0.0)


def _lesson(topic: str, html: Path | None) -> int:
    """Write the page of a lesson, and open it in the browser unless ``html`` names its file."""
    import webbrowser

    from gjk3d import viz
    from gjk3d.viz.image_files import free_name

    check_output(html, "--html", (".html", ".htm"), ())
    path = viz.lesson(free_name(".html") if html is None else html, topic)
    note(path, "wrote")
    if html is None:
        webbrowser.open(path.resolve().as_uri())
    return ExitCode.OK


def _shape(text: str) -> Any:
    match = re.fullmatch(r"([a-z]+):([^/\\]*)", text)
    if match is None or os.path.exists(text):
        return None
    if match[1] not in _SPECS:
        raise UsageError(f"{text!r}: {match[1]!r} is not a shape, {expected_names(match[1], sorted(_SPECS))}")
    name, count, form = _SPECS[match[1]]
    try:
        numbers = [float(word) for word in match[2].split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != count:
        raise UsageError(f"{text!r}: expected {match[1]}:{form}, {count} number{'s' if count > 1 else ''}")
    import gjk3d as gk

    return getattr(gk, name)(numbers if count == 3 else numbers[0], *(numbers[1:] if count == 2 else ()))
