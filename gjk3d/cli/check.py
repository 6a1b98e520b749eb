"""``gjk3d check A B``, which computes the distance of two models or the depth of their overlap."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from gjk3d.cli import ExitCode
from gjk3d.cli.arguments import (
    Model,
    PoseText,
    UsageError,
    check_output,
    convexity_facts,
    in_one_unit,
    model_notes,
    read_models,
    read_pose,
    size_notes,
    split_name,
)
from gjk3d.cli.terminal import note, print_labelled, print_line, safe, write_json
from gjk3d.units import reading
from gjk3d.wording import certified, format_bounds, format_depth, format_vector, with_unit

if TYPE_CHECKING:
    from gjk3d.results import Distance

SCHEMA_VERSION = 1
IMAGES = (".png", ".jpg", ".jpeg")
PAGES = (".html", ".htm")
_WHAT = {True: "convex hulls", False: "triangles"}  #: the compared geometry, with and without --hulls


def check(
    a: str,
    b: str,
    /,
    *,
    pose_a: PoseText = None,
    pose_b: PoseText = None,
    hulls: Annotated[bool, Parameter(name=["--hulls", "--hull"], negative=())] = False,
    tol: Annotated[float | None, Parameter(name=["--tol", "--tolerance"])] = None,
    depth: Literal["auto", "epa", "facets"] | None = None,
    unit: str | None = None,
    json: Annotated[bool, Parameter(negative=())] = False,
    image: Annotated[Path | None, Parameter(name=["--image", "--picture"])] = None,
    html: Path | None = None,
) -> int:
    """Compute whether two models touch, how far apart they are or how deep they overlap, and where.

    The triangles of the models are compared. A closed model is solid, and an open model is a surface. The exit code is
    0 for models that are apart, and 1 for models that touch or overlap.

    Parameters
    ----------
    a
        A model file, or FILE#PART for one part of an assembly.
    b
        The other model. Parts of one file are in the frame of the file.
    pose_a
        The pose of A: "x y z", or "x y z rx ry rz" with a rotation vector in radians (or "0 0 0 0 0 90deg"), or the 12
        or 16 numbers of a 4x4 matrix by rows, or a .json, .txt or .npy file with such numbers. Lengths are in the unit
        of the model.
    pose_b
        The pose of B in the same form.
    hulls
        Compare the convex hulls instead. If the hulls are apart, the models are apart. If the hulls overlap, the models
        may still be apart.
    tol
        The relative width of the bounds at which the iteration on hulls stops. The default is the width that rounding
        allows.
    depth
        The algorithm for the depth of overlapping hulls. "facets" tries all facets, which is exact, and slow for large
        hulls.
    unit
        The unit of files that state no unit, such as STL: mm, cm, m, in. If both files state a unit, this unit replaces
        both. Models in different units are converted to one unit.
    json
        Print a JSON document.
    image
        Draw the result to a .png or .jpg file. This needs OpenGL, but no display.
    html
        Write a page with the result in 3D for any browser. It works offline and needs no OpenGL.
    """
    names = [split_name(a), split_name(b)]
    inputs = tuple(path for path, _ in names)
    check_output(image, "--image", IMAGES, inputs)
    check_output(html, "--html", PAGES, inputs)
    if tol is not None and not 0.0 <= tol < float("inf"):
        raise UsageError(f"--tol {tol:g}: expected a finite number that is 0 or more")
    for option, value in (("--tol", tol), ("--depth", depth)):
        if value is not None and not hulls:
            raise UsageError(f"{option} {value} applies to hulls, but triangles are compared. Add --hulls.")
    poses = read_pose(pose_a, "--pose-a"), read_pose(pose_b, "--pose-b")
    import gjk3d as gk

    unit_is_given = unit is not None
    models, unit, notes = in_one_unit(read_models(names), unit)
    notes += [
        *size_notes([model.mesh for model in models], unit, unit_is_given),
        *dict.fromkeys(line for model in models for line in model_notes(model, hulls)),
    ]
    for text in notes:
        note(text)
    result = _compared(models, poses, hulls, tol, depth or "auto")
    are_apart = result.lower > 0.0
    if json:
        files = [str(path) for path in (html, image) if path is not None]
        write_json({**_document(models, poses, unit, notes, hulls, result), "files": files})
    else:
        _print(models, unit, hulls, result)
    names_shown = safe(models[0].name), safe(models[1].name)
    if html is not None:
        from gjk3d.viz.page import write_html

        surfaces = (models[0].mesh, models[1].mesh) if hulls else None
        page_notes = (f"{_WHAT[hulls].capitalize()} of the models are compared.", *map(safe, notes))
        write_html(html, result, names=names_shown, notes=page_notes, unit=unit, surfaces=surfaces)
        note(html, "wrote")
    if image is not None:
        title = f"A  {names_shown[0]}     B  {names_shown[1]}{f'     in {safe(unit)}' if unit else ''}"
        gk.viz.show(result, path=image, title=title)
        note(image, "wrote")
    return ExitCode(not are_apart)


def _compared(models: list[Model], poses: Any, hulls: bool, tol: float | None, depth: Any) -> Distance:
    import gjk3d as gk

    if hulls:
        first, second = (model.mesh.hull() for model in models)
        return gk.signed_distance(first, second, *poses, tol=tol, depth=depth)
    for model in models:
        model.mesh._hush()  # a note replaces the warning of an open mesh
    return gk.signed_distance(models[0].mesh, models[1].mesh, *poses)


def _document(
    models: list[Model], poses: Any, unit: str | None, notes: list[str], hulls: bool, result: Distance
) -> dict[str, Any]:
    from gjk3d.clash.detection.assembly import sha256
    from gjk3d.clash.report import versions

    inputs = [
        {
            "path": str(model.path),
            "part": model.part,
            "sha256": sha256(model.path),
            "unit": model.mesh.unit,
            "triangles": len(model.mesh.faces),
            "hull_vertices": len(model.mesh.hull().points),
            "pose": None if pose is None else pose.tolist(),
            **convexity_facts(model.mesh),
        }
        for model, pose in zip(models, poses, strict=True)
    ]
    return {
        "schema_version": SCHEMA_VERSION,
        "command": "check",
        "compares": _WHAT[hulls],
        "unit": unit,
        "inputs": {"a": inputs[0], "b": inputs[1]},
        "result": result.to_dict(),
        "notes": notes,
        "versions": versions(),
    }


def _print(models: list[Model], stated_unit: str | None, hulls: bool, result: Distance) -> None:
    from gjk3d.query.wording import verdict

    size = max(float((high - low).max()) for low, high in (model.mesh.bounds for model in models))
    unit, factor = reading(safe(stated_unit) if stated_unit else None, size)
    lower, upper = factor * result.lower, factor * result.upper
    error = factor * max(model.mesh.rounding for model in models)
    status = result.status.name
    what, _, measure = verdict(result, unit, factor, error).partition(" ")
    measure = {"TOUCHING": "up to rounding", "UNDECIDED": "within --tol"}.get(status, measure)
    style = {"SEPARATED": "bold green", "BEYOND": "bold green", "OVERLAPPING": "bold red"}.get(status, "bold yellow")

    def place(values: Any) -> str:
        return with_unit(format_vector(factor * value for value in values), unit)

    if status == "OVERLAPPING":
        name, words = "depth", format_depth(lower, upper, unit=unit, error=error)
        move = ("separation", f"move B by {place(result.separation_vector)}, so that they just touch")
        if not result.tight:
            move = ("separation", f"move B by {place(-result.lower * result.normal)} (a shorter move may suffice)")
    else:
        name, words = "distance", format_bounds(lower, upper, unit=unit, error=error)
        move = ("to touch", f"move B by {place(-result.distance * result.normal)}")
    least, most = certified(lower, upper)
    rows = [
        ("A", f"{safe(models[0].name)}, {_size(models[0], hulls)}"),
        ("B", f"{safe(models[1].name)}, {_size(models[1], hulls)}"),
        ("compared", f"{_WHAT[hulls]}{'' if unit else ', unitless'}"),
        (name, words),
        ("proven", with_unit(f"{least} ≤ signed distance ≤ {most}", unit)),
        *([] if result.tight else [("", "the bounds are wider than usual")]),
        ("point on A", place(result.point_a)),
        ("point on B", place(result.point_b)),
        ("normal", f"{format_vector(result.normal)} from A to B"),
        *([] if status in ("TOUCHING", "BEYOND", "UNDECIDED") else [move]),
    ]
    print_line((what.strip(":").upper(), style), f" {measure}")
    print_labelled(rows)


def _size(model: Model, hulls: bool) -> str:
    if hulls:
        return f"{len(model.mesh.hull().points)} hull vertices"
    mesh = model.mesh
    kind = "a surface" if not mesh.is_solid else "solid with open surfaces" if mesh._mended.loose else "solid"
    return f"{len(mesh.faces)} triangles, {kind}"
