"""Which two kinds of shapes are answered how, when they are asked whether they touch and how far apart they are.

A new kind is a line in `Kind`, in `kind_of`, and its lines in the table. A ray chooses in `raycast`; questions for
convex shapes alone, such as `overlap`, refuse bodies by `gjk3d.convex.checks.check_convex`.
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

Collider: TypeAlias = "Shape | Body"  #: what can be asked about


class Kind(Enum):
    """What tells how something is answered."""

    CORE = "a convex shape whose support mapping is ours"
    MAPPED = "a convex shape with a support mapping of the user"
    HALFSPACE = "a half-space, or a plane"
    BODY = "many convex parts: triangles, shapes at poses, cubes, balls, columns"


def kind_of(x: Any) -> Kind | None:
    """Return the kind of something, None where there is none."""
    if isinstance(x, Shape):
        return Kind.HALFSPACE if isinstance(x, Halfspace) else Kind.MAPPED if is_mapped(x) else Kind.CORE
    from gjk3d.bodies.base import Body  # loaded when something is no convex shape

    return Kind.BODY if isinstance(x, Body) else None


def is_collider(x: Any) -> TypeGuard[Collider]:
    """Tell whether it can be asked about: a convex shape, a mesh, a compound and the like."""
    return kind_of(x) is not None


@cache
def _cores() -> Handlers:
    return solve.CORES


@cache
def _mapped() -> Handlers:
    return solve.MAPPED


@cache
def _plane() -> Handlers:
    return solve.PLANE


@cache
def _parts() -> Handlers:
    from gjk3d.bodies import distance, impact

    return Handlers(distance.solve, distance.collide, distance.prepare, impact.fill)


@cache
def _beside_plane() -> Handlers:
    from gjk3d.bodies import planes

    return Handlers(planes.solve, planes.collide)


#: how two kinds are answered, in either order; two half-spaces are not
PAIRS: dict[tuple[Kind, Kind], Callable[[], Handlers]] = {
    (Kind.CORE, Kind.CORE): _cores,
    (Kind.CORE, Kind.MAPPED): _mapped,
    (Kind.CORE, Kind.HALFSPACE): _plane,
    (Kind.MAPPED, Kind.MAPPED): _mapped,
    (Kind.MAPPED, Kind.HALFSPACE): _mapped,
    (Kind.BODY, Kind.CORE): _parts,
    (Kind.BODY, Kind.MAPPED): _parts,
    (Kind.BODY, Kind.HALFSPACE): _beside_plane,
    (Kind.BODY, Kind.BODY): _parts,
}


def handlers_of(a: Any, b: Any) -> Handlers:
    """Return how two are answered.

    Raises
    ------
    UnsupportedPair
        Where one cannot be asked about, or the two cannot be asked about together.
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
    """Raise where two meshes say that they are in different units."""
    unit_a, unit_b = getattr(a, "unit", None), getattr(b, "unit", None)
    if unit_a and unit_b and (cure := rescaling(unit_a, unit_b)):
        raise UnsupportedPair(f"a is in {unit_a} and b in {unit_b}. Bring a to the unit of b: {cure}")


def check_ends(a: Collider, b: Collider) -> None:
    """Raise where a ground goes down without end, and the other is another or a half-space or plane."""
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
