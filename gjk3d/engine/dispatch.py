"""The table of all queries: the handler of each query for each pair of kinds of shapes.

`TABLE` has a row for each query and a column for each pair of kinds. A cell is a function that imports the handler, so
that the code of bodies is imported by the first query on a body. A text in a cell is the message of `UnsupportedPair`.
None means that the file of the query solves the pair itself, by compiled functions for convex shapes.

This file does not contain the queries. A new query is a file in `gjk3d/query`, which checks the arguments and calls
`find`, and a row in `TABLE`. A new kind of shape needs a class, a bit in a group of `gjk3d.shapes.base.Kind`, and cells
for the queries that treat the kind differently from the rest of its group.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from gjk3d import bodies
from gjk3d.convex import solve
from gjk3d.convex.batch import mirror
from gjk3d.convex.checks import no_shape
from gjk3d.convex.solve import Handlers
from gjk3d.errors import UnsupportedPair
from gjk3d.shapes.base import Kind, Shape
from gjk3d.units import rescaling
from gjk3d.wording import kind_of as name_of

if TYPE_CHECKING:
    from gjk3d.bodies.base import Body

Collider: TypeAlias = "Shape | Body"  #: every type that queries accept


def kind_of(x: Any) -> int:
    """Return the kind of a shape or body, a bit of `gjk3d.shapes.base.Kind`, or 0 for other objects."""
    kind = getattr(x, "_kind", 0)
    return kind if type(kind) is int and type(x) is not type else 0


def is_collider(x: Any) -> TypeGuard[Collider]:
    """Return whether queries accept x: whether it is a convex shape or a body such as a mesh."""
    return kind_of(x) != 0


# --- modules that are loaded by the first query that needs them -------------------------------------------------------


def _convex_contacts() -> Any:
    from gjk3d.convex import contacts

    return contacts


def _penetration() -> Any:
    from gjk3d.bodies.depth import penetration

    return penetration


# --- the table --------------------------------------------------------------------------------------------------------

MESH, BOUNDED, PLANES, SHAPES, BODIES = Kind.MESH, Kind.BOUNDED, Kind.PLANES, Kind.SHAPES, Kind.BODIES
SOLIDS, ANY = BOUNDED | BODIES, SHAPES | BODIES
BOX, MAKE_MESH = "Use a large gjk3d.Box", "Use gjk3d.Mesh(*body.surface()) for another body"
BOTTOM = "give the height field a bottom, HeightField(..., bottom=z)"
#: pairs that no query supports
UNBOUNDED = (
    (PLANES, PLANES, "{a} against {b}: half-spaces and planes are unbounded. Use a large Box for one of them"),
    (
        Kind.ENDLESS,
        Kind.ENDLESS,
        "{a} against {b}: two HeightFields without a bottom are both unbounded. Use a gjk3d.Mesh for one of them, or "
        f"{BOTTOM}",
    ),
    (Kind.ENDLESS, PLANES, f"{{a}} against {{b}}: both are unbounded. {BOX} instead of {{plane}}, or {BOTTOM}"),
)


def _row(*cells: tuple[Any, ...]) -> dict[tuple[int, int], tuple[Any, bool]]:
    """Return a row of `TABLE`: for each pair of kinds the cell, and whether A and B are swapped for the handler.

    An argument contains two groups of kinds, in any order, and their cell. A fourth item True means that the handler
    expects the first group as A. Later arguments replace the cells of earlier ones.
    """
    row: dict[tuple[int, int], tuple[Any, bool]] = {}
    for first, second, cell, *ordered in (*cells, *UNBOUNDED):
        for a, b in product(*([1 << k for k in range(16) if group >> k & 1] for group in (first, second))):
            row[b, a] = cell, bool(ordered)
            row[a, b] = cell, False
    return row


TABLE = {
    "solve": _row(
        (BOUNDED, BOUNDED, lambda: solve.CORES.solve),
        (BOUNDED, PLANES, lambda: solve.PLANE.solve),
        (Kind.MAPPED, SHAPES, lambda: solve.MAPPED.solve),
        (BODIES, SOLIDS, lambda: bodies.distance.solve),
        (BODIES, PLANES, lambda: bodies.planes.solve, True),
    ),
    "collide": _row(
        (BOUNDED, BOUNDED, lambda: solve.CORES.collide),
        (BOUNDED, PLANES, lambda: solve.PLANE.collide),
        (Kind.MAPPED, SHAPES, lambda: solve.MAPPED.collide),
        (BODIES, SOLIDS, lambda: bodies.distance.collide),
        (BODIES, PLANES, lambda: bodies.planes.collide, True),
    ),
    "prepare": _row((ANY, SHAPES, None), (BODIES, SOLIDS, lambda: bodies.distance.prepare)),
    "prepare_contact": _row((ANY, SHAPES, None), (BODIES, SOLIDS, lambda: bodies.contact.ContactPair)),
    "contact": _row((SHAPES, SHAPES, None), (BODIES, ANY, lambda: bodies.contact.contact_points)),
    "impact": _row(
        (BOUNDED, BOUNDED, lambda: _convex_contacts().impacts),
        (PLANES, BOUNDED, lambda: _convex_contacts().impacts, True),
        (BODIES, SOLIDS, lambda: bodies.impact.impacts),
        (BODIES, PLANES, lambda: bodies.planes.impacts, True),
    ),
    "faces": _row(
        (ANY, ANY, "{a} against {b}: one must be a mesh, the other a mesh or a bounded convex shape. " + MAKE_MESH),
        (MESH, MESH | BOUNDED, lambda: bodies.distance.pair_of),
    ),
    "curve": _row(
        (ANY, ANY, "{a} against {b}: intersection_curve needs two meshes. " + MAKE_MESH),
        (MESH, MESH, lambda: bodies.distance.pair_of),
    ),
    "axis": _row(
        (BOUNDED, BOUNDED, None),
        (BODIES, SOLIDS, lambda: bodies.planes.sharp_hulls),
        (ANY, PLANES, "separating_axis needs two polytopes, not {plane}, whose normal is the axis. Use its normal"),
    ),
    "overlap": _row(
        (ANY, ANY, f"{{a}} against {{b}}: overlap needs convex polytopes or meshes. {MAKE_MESH}, or a large gjk3d.Box"),
        (BOUNDED, BOUNDED, None),
        (MESH, MESH | BOUNDED, lambda: bodies.solids.overlap_of_meshes),
    ),
    "verify": _row(
        (SHAPES, SHAPES, None),
        (BODIES, SOLIDS, lambda: bodies.rational.judge_pair),
        (BODIES, PLANES, lambda: bodies.rational.judge_on_plane),
    ),
}
#: queries on one shape: a cell for each group of kinds; the first group that contains the kind is used
SINGLE: dict[str, dict[int, Any]] = {
    "raycast": {
        SHAPES: None,
        MESH: lambda: bodies.raycast.cast_on_mesh,
        Kind.GROUND: lambda: bodies.raycast.cast_on_ground,
        Kind.ENDLESS: lambda: bodies.raycast.cast_on_endless,
        BODIES: lambda: bodies.raycast.cast_on_parts,
    },
    "rays at triangles": {MESH: lambda: bodies.raycast, SHAPES | BODIES: None},
    "points": {
        MESH: lambda: bodies.mesh_points.distances_from_mesh,
        Kind.CLOUD: lambda: bodies.mesh_points.distances_from_cloud,
        SHAPES | BODIES: None,
    },
    "hull": {SHAPES: None, BODIES: lambda: bodies.planes.shape_round},
    "sweep": {SHAPES: None, BODIES: lambda: bodies.compound.swept},
    "surfaces": {
        MESH: lambda: _penetration().of_mesh,
        Kind.COMPOUND: lambda: _penetration().of_compound,
        Kind.VOXELS: lambda: _penetration().of_voxels,
        Kind.GROUND: lambda: _penetration().of_ground,
        BOUNDED: lambda: _penetration().of_shape,
        PLANES: f"penetration needs closed surfaces, but {{a}} is unbounded. {BOX}, or signed_distance for the depth",
        BODIES: "penetration needs closed surfaces, not {a}. Use signed_distance for the depth, or pass a closed "
        "gjk3d.Mesh, or a height field with a bottom",
    },
}


@cache
def _handler(query: str, kind_a: int, kind_b: int) -> Any:
    """Return the handler of a query for A and B in the caller's order.

    The result is an error message if the query does not support the pair, and None if the file of the query solves it.
    """
    cell, is_swapped = TABLE[query][kind_a, kind_b]
    handler = cell() if callable(cell) else cell
    if not is_swapped:
        return handler

    def swapped(a: Any, b: Any, rows: Any, *arguments: Any) -> Any:
        answer = handler(b, a, rows.swapped(), *arguments)
        if query == "solve":
            mirror(arguments[1], True)
        return answer

    return swapped


def find(query: str, a: Any, b: Any) -> Any:
    """Return the handler of a query on a and b, or None if the file of the query solves the pair.

    Raises
    ------
    UnsupportedPair
        If one of the arguments is not a shape or a body, or the query does not support the pair.
    """
    kind_a, kind_b = kind_of(a), kind_of(b)
    if kind_a == 0 or kind_b == 0:
        raise no_shape("b", b) if kind_a else no_shape("a", a)
    handler = _handler(query, kind_a, kind_b)
    if type(handler) is str:
        names = name_of(a), name_of(b)
        raise UnsupportedPair(handler.format(a=names[0], b=names[1], plane=names[bool(kind_b & PLANES)]))
    if kind_a & BODIES and kind_b & BODIES:
        unit_a, unit_b = getattr(a, "unit", None), getattr(b, "unit", None)
        if unit_a and unit_b and (cure := rescaling(unit_a, unit_b)):
            raise UnsupportedPair(f"a is in {unit_a} and b is in {unit_b}. Convert a to the unit of b: {cure}")
    return handler


@cache
def _single_handler(query: str, kind: int) -> Any:
    cell = next(cell for group, cell in SINGLE[query].items() if group & kind)
    return cell() if callable(cell) else cell


def find_single(query: str, x: Any, name: str = "shape") -> Any:
    """Return the handler of a query on a single shape x, or None if the file of the query solves it.

    ``name`` is the name of x in errors. Raises as `find` does.
    """
    kind = kind_of(x)
    if kind == 0:
        raise no_shape(name, x)
    handler = _single_handler(query, kind)
    if type(handler) is str:
        raise UnsupportedPair(handler.format(a=name_of(x)))
    return handler


def handlers_of(a: Any, b: Any) -> Handlers:
    """Return the handlers of distances and collisions of a and b, or raise as `find` does."""
    return Handlers(find("solve", a, b), find("collide", a, b))
