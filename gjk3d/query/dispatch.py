"""Which two kinds are answered how: the one table of it, for pairs and for rays.

A new kind is a line in `Kind`, in `kind_of`, and its lines in the tables.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from gjk3d.convex import solve
from gjk3d.convex.checks import no_shape
from gjk3d.convex.solve import Way, is_mapped
from gjk3d.errors import UnsupportedPair
from gjk3d.shapes.base import Shape
from gjk3d.shapes.halfspace import Halfspace

if TYPE_CHECKING:
    from gjk3d.bodies.mesh import Mesh
    from gjk3d.bodies.unions import Solid

Collider: TypeAlias = "Shape | Mesh | Solid"  #: what can be asked about


class Kind(Enum):
    """What tells how something is answered."""

    CORE = "a convex shape whose support mapping is ours"
    MAPPED = "a convex shape with a support mapping of the user"
    HALFSPACE = "a half-space"
    MESH = "triangles"
    UNION = "many convex parts"


def kind_of(x: Any) -> Kind | None:
    """Return the kind of something, None where there is none."""
    if isinstance(x, Shape):
        return Kind.HALFSPACE if isinstance(x, Halfspace) else Kind.MAPPED if is_mapped(x) else Kind.CORE
    from gjk3d.bodies.mesh import Mesh  # loaded when something is no convex shape
    from gjk3d.bodies.unions import Solid

    return Kind.MESH if isinstance(x, Mesh) else Kind.UNION if isinstance(x, Solid) else None


def is_collider(x: Any) -> TypeGuard[Collider]:
    """Tell whether it can be asked about: a convex shape, a mesh, a compound and the like."""
    return kind_of(x) is not None


@cache
def _cores() -> Way:
    return solve.CORES


@cache
def _mapped() -> Way:
    return solve.MAPPED


@cache
def _plane() -> Way:
    return solve.PLANE


@cache
def _triangles() -> Way:
    from gjk3d.bodies import mesh_queries

    return Way(mesh_queries.solve, mesh_queries.collide, mesh_queries.prepare)


@cache
def _parts() -> Way:
    from gjk3d.bodies import union_queries

    return Way(union_queries.solve, union_queries.collide)


@cache
def _hull_of_mesh() -> Way:
    from gjk3d.bodies import mesh_queries

    return Way(mesh_queries.solve_with_plane, mesh_queries.collide_with_plane)


@cache
def _hull_of_union() -> Way:
    from gjk3d.bodies import union_queries

    return Way(union_queries.solve_with_plane, union_queries.collide_with_plane)


#: how two kinds are answered, in either order; two half-spaces are not
PAIRS: dict[tuple[Kind, Kind], Callable[[], Way]] = {
    (Kind.CORE, Kind.CORE): _cores,
    (Kind.CORE, Kind.MAPPED): _mapped,
    (Kind.CORE, Kind.HALFSPACE): _plane,
    (Kind.MAPPED, Kind.MAPPED): _mapped,
    (Kind.MAPPED, Kind.HALFSPACE): _mapped,
    (Kind.MESH, Kind.CORE): _triangles,
    (Kind.MESH, Kind.MAPPED): _triangles,
    (Kind.MESH, Kind.HALFSPACE): _hull_of_mesh,
    (Kind.MESH, Kind.MESH): _triangles,
    (Kind.UNION, Kind.CORE): _parts,
    (Kind.UNION, Kind.MAPPED): _parts,
    (Kind.UNION, Kind.HALFSPACE): _hull_of_union,
    (Kind.UNION, Kind.MESH): _parts,
    (Kind.UNION, Kind.UNION): _parts,
}


def way_of(a: Any, b: Any) -> Way:
    """Return how two are answered.

    Raises
    ------
    UnsupportedPair
        Where one cannot be asked about, or the two cannot be asked about together.
    """
    first, second = kind_of(a), kind_of(b)
    if first is None or second is None:
        raise no_shape(*(("a", a) if first is None else ("b", b)))
    found = PAIRS.get((first, second)) or PAIRS.get((second, first))
    if found is None:
        raise UnsupportedPair(
            f"{type(a).__name__} against {type(b).__name__}: two half-spaces overlap without end; "
            "use a large Box for one of them"
        )
    if first is second is Kind.MESH:
        check_units(a, b)
    return found()


def check_units(a: Mesh, b: Mesh) -> None:
    """Raise where two meshes say that they are in different units."""
    if a.unit and b.unit and a.unit.rstrip("s") != b.unit.rstrip("s"):
        raise UnsupportedPair(
            f"a is in {a.unit} and b in {b.unit}: bring them to one unit, as with mesh.scaled(0.001, unit='meters')"
        )
