"""The table of handlers for collision and distance queries, by the kinds of the two shapes.

A new kind needs a line in `Kind`, a line in `kind_of`, and its lines in the table. `raycast` has its own choice.
Queries for convex shapes only, such as `overlap`, reject bodies by `gjk3d.convex.checks.check_convex`.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import cache
from math import inf
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from gjk3d.convex import solve
from gjk3d.convex.checks import no_shape
from gjk3d.convex.solve import Handlers, is_mapped
from gjk3d.errors import UnsupportedPair
from gjk3d.shapes.base import Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.units import rescaling

if TYPE_CHECKING:
    from gjk3d.bodies.base import Body

Collider: TypeAlias = "Shape | Body"  #: every type that queries accept


class Kind(Enum):
    """The kinds of shapes that differ in their handlers."""

    CORE = "a convex shape whose support mapping is ours"
    MAPPED = "a convex shape with a support mapping of the user"
    HALFSPACE = "a half-space, or a plane"
    BODY = "many convex parts: triangles, shapes at poses, cubes, balls, columns"


def kind_of(x: Any) -> Kind | None:
    """Return the kind of a shape, None for anything that is not a shape or a body."""
    if isinstance(x, Shape):
        return Kind.HALFSPACE if isinstance(x, Halfspace) else Kind.MAPPED if is_mapped(x) else Kind.CORE
    from gjk3d.bodies.base import Body  # loaded only if x is not a convex shape

    return Kind.BODY if isinstance(x, Body) else None


def is_collider(x: Any) -> TypeGuard[Collider]:
    """Tell whether queries accept x: a convex shape, a mesh, a compound and the like."""
    return kind_of(x) is not None


@cache  # bodies are loaded for the first pair with a body
def _parts() -> Handlers:
    from gjk3d.bodies import distance, impact

    return Handlers(distance.solve, distance.collide, distance.prepare, impact.fill)


@cache
def _beside_plane() -> Handlers:
    from gjk3d.bodies import planes

    return Handlers(planes.solve, planes.collide)


#: the handlers of two kinds, in either order; two half-spaces have none
PAIRS: dict[tuple[Kind, Kind], Callable[[], Handlers]] = {
    (Kind.CORE, Kind.CORE): lambda: solve.CORES,
    (Kind.CORE, Kind.MAPPED): lambda: solve.MAPPED,
    (Kind.CORE, Kind.HALFSPACE): lambda: solve.PLANE,
    (Kind.MAPPED, Kind.MAPPED): lambda: solve.MAPPED,
    (Kind.MAPPED, Kind.HALFSPACE): lambda: solve.MAPPED,
    (Kind.BODY, Kind.CORE): _parts,
    (Kind.BODY, Kind.MAPPED): _parts,
    (Kind.BODY, Kind.HALFSPACE): _beside_plane,
    (Kind.BODY, Kind.BODY): _parts,
}


def handlers_of(a: Any, b: Any) -> Handlers:
    """Return the handlers of two shapes.

    Raises
    ------
    UnsupportedPair
        If one of the arguments is not a shape or a body, or the pair is not supported.
    """
    kind_a, kind_b = kind_of(a), kind_of(b)
    if kind_a is None or kind_b is None:
        raise no_shape(*(("a", a) if kind_a is None else ("b", b)))
    handlers = PAIRS.get((kind_a, kind_b)) or PAIRS.get((kind_b, kind_a))
    if handlers is None:
        raise UnsupportedPair(
            f"{type(a).__name__} against {type(b).__name__}: two half-spaces, or planes, overlap without end; "
            "use a large Box for one of them"
        )
    if kind_a is kind_b is Kind.BODY:
        check_units(a, b)
    check_ends(a, b)
    return handlers()


def check_units(a: Body, b: Body) -> None:
    """Raise if two meshes have different units."""
    unit_a, unit_b = getattr(a, "unit", None), getattr(b, "unit", None)
    if unit_a and unit_b and (cure := rescaling(unit_a, unit_b)):
        raise UnsupportedPair(f"a is in {unit_a} and b in {unit_b}. Bring a to the unit of b: {cure}")


def check_ends(a: Collider, b: Collider) -> None:
    """Raise for a height field without a bottom against another one, a half-space or a plane."""
    endless = [getattr(x, "bottom", 0.0) == -inf for x in (a, b)]
    if all(endless):
        raise UnsupportedPair(
            "two HeightFields: both go down without end; give one of them a bottom, HeightField(..., bottom=z), or make"
            " it a gjk3d.Mesh"
        )
    if any(endless) and (isinstance(a, Halfspace) or isinstance(b, Halfspace)):
        raise UnsupportedPair(
            f"{type(a).__name__} against {type(b).__name__}: neither has an end; use a large gjk3d.Box in place of the "
            "half-space or plane, or give the ground a bottom, HeightField(..., bottom=z)"
        )
