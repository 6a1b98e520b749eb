"""``gjk3d info FILE``, which lists the parts of a model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from gjk3d.cli.arguments import convexity_facts, size_notes
from gjk3d.cli.terminal import Table, note, print_line, print_table, safe, write_json
from gjk3d.units import reading
from gjk3d.wording import count, number

if TYPE_CHECKING:
    from gjk3d.bodies.mesh import Mesh

SCHEMA_VERSION = 1
_DIGITS = 5  #: the number of digits of lengths and volumes; the float32 numbers of a file have 7


def info(
    file: Path,
    /,
    *,
    unit: str | None = None,
    check: Annotated[bool, Parameter(negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> None:
    """List the parts of a model file, with their unit and size, and whether each part is closed and convex.

    Parameters
    ----------
    file
        A model file: STL, OBJ, PLY, OFF, GLB, VTP, VTK, and with the extra gjk3d[io] 3MF, STEP, 3DXML and XAML.
    unit
        The unit of the numbers in the file: mm, cm, m, in. It replaces a unit that the file states.
    check
        Count the pairs of intersecting faces of each part.
    json
        Print a JSON document.
    """
    import gjk3d as gk
    from gjk3d.clash.detection.assembly import sha256
    from gjk3d.clash.report import versions
    from gjk3d.units import check_unit

    check_unit(unit)
    mesh = gk.load(file, unit=unit)
    parts = [(part.name, part.mesh) for part in mesh.parts] or [(mesh.name or file.stem, mesh)]
    rows = [_facts(name, part, check) for name, part in parts]
    notes = size_notes([part for _, part in parts], mesh.unit, unit is not None)
    for text in notes:
        note(text)
    document = {
        "schema_version": SCHEMA_VERSION,
        "command": "info",
        "path": str(file),
        "sha256": sha256(file),
        "unit": mesh.unit,
        "bounds": mesh.bounds.tolist(),
        "parts": rows,
        "notes": notes,
        "versions": versions(),
    }
    if json:
        write_json(document)
    else:
        _print(document)


def _facts(name: str, mesh: Mesh, check: bool) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "name": name,
        "triangles": len(mesh.faces),
        "vertices": len(mesh.vertices),
        "bounds": mesh.bounds.tolist(),
        "extents": (mesh.bounds[1] - mesh.bounds[0]).tolist(),
        # an open surface encloses no volume
        "volume": mesh.volume if mesh.is_watertight else None,
        "hull_volume": float(mesh.hull().volume),
        "hull_vertices": len(mesh.hull().points),
        **convexity_facts(mesh),
        "repairs": list(mesh.repairs),
    }
    if check:
        pairs = mesh.self_intersections()
        facts |= {"self_intersections": len(pairs), "first_intersection": pairs[0].tolist() if len(pairs) else None}
    return facts


def _short(value: float) -> str:
    """Return a number as text with five significant digits, without an exponent if it is large."""
    return number(float(number(value, _DIGITS)), 15)


def _print(document: dict[str, Any]) -> None:
    size = max(high - low for low, high in zip(*document["bounds"], strict=True))
    unit, factor = reading(safe(document["unit"]) if document["unit"] else None, size)
    length, cubed = (f" {unit}", f" {unit}³") if unit else ("", "")
    print_line(f"{safe(document['path'])}: {count(len(document['parts']), 'part')}{'' if unit else ', unitless'}")
    extents_title, volume_title = f"extents{length}", f"volume{cubed}"
    ratio_title = "hull / volume"
    table = Table(
        ["part", "triangles", extents_title, volume_title, "closed", "convex", ratio_title],
        right=("triangles", volume_title, ratio_title),
        names=("part",),
        spare=(ratio_title, volume_title, "triangles"),
    )
    for row in document["parts"]:
        ratio = row["hull_volume_ratio"]
        cells = (
            safe(row["name"]),
            str(row["triangles"]),
            " x ".join(_short(factor * extent) for extent in row["extents"]),
            "-" if row["volume"] is None else _short(factor**3 * row["volume"]),
            "yes" if row["watertight"] else f"no, {row['open_edges']} open edges",
            {True: "yes", False: "no", None: "flat" if row["watertight"] else "unknown"}[row["convex"]],
            "-" if ratio is None else number(ratio, 4),
        )
        table.add(*cells)
    print_table(table)
    for row in document["parts"]:
        for repair in row["repairs"]:
            print_line(f"{safe(row['name'])}: {repair}")
    for row in document["parts"]:
        if row.get("self_intersections"):
            i, j = row["first_intersection"]
            pairs = count(row["self_intersections"], "pair")
            print_line(
                f"{safe(row['name'])}: {pairs} of faces intersect, the first are faces {i} and {j}, counted from 0"
            )
    if document["parts"] and document["parts"][0].get("self_intersections") is not None:
        total = sum(row["self_intersections"] > 0 for row in document["parts"])
        print_line(f"{total} of {count(len(document['parts']), 'part')} with faces that intersect each other")
