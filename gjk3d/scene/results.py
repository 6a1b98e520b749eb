"""Results of scene queries: pairs and ray hits, with names."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, SupportsIndex, TypeVar

from gjk3d.query.contact import Contact
from gjk3d.query.raycast import FIELDS, RayHit
from gjk3d.results import Distance, compared
from gjk3d.shown import shown
from gjk3d.typing import Array, Ints, N
from gjk3d.wording import count

if TYPE_CHECKING:
    from gjk3d.results import Each

Name = str | None
NamePair = tuple[str, Name]
All = TypeVar("All", Distance[Array], Contact[Array])
Row = TypeVar("Row", Distance[float], Contact[float])


def named(slots: Ints, names: tuple[list[str], list[str]]) -> list[NamePair]:
    """Return the names of pairs of slots."""
    mine, theirs = names
    second: list[Name] = [name or None for name in theirs]  # a shape as the target has no name
    return list(
        zip(map(mine.__getitem__, slots[:, 0].tolist()), map(second.__getitem__, slots[:, 1].tolist()), strict=True)
    )


@compared("pairs", "result")
class ScenePairs(Generic[All, Row]):
    """Result of `Scene.closest` and `Scene.contacts`: pairs of names, each with a row of the result.

    Iteration yields ``name_a, name_b, row``, and an index returns one such tuple. The second name is None if the
    target of the query was a shape.

    Attributes
    ----------
    pairs : list of (str, str)
        Names of the two objects of each pair.
    result : Distance or Contact
        The results of all pairs in arrays, in the same order.

    Examples
    --------
    >>> import gjk3d as gk
    >>> scene = gk.Scene()
    >>> scene.add("ball", gk.Sphere(1))
    >>> scene.add("point", gk.Point((0, 0, 3)))
    >>> found = scene.closest()
    >>> found.pairs, found.result.distance.tolist()
    ([('ball', 'point')], [2.0])
    >>> for name_a, name_b, row in scene.contacts(within=5.0):
    ...     print(name_a, name_b, row.gaps.tolist())
    ball point [2.0]
    """

    __slots__ = ("_named", "_names", "_slots", "result")
    _repr_mimebundle_ = shown
    result: All

    def __init__(self, slots: Ints, names: tuple[list[str], list[str]], result: All) -> None:
        self._slots, self.result = slots, result
        self._names = list(names[0]), list(names[1])  # copies, since the scene may change
        self._named: list[NamePair] | None = None

    @property
    def pairs(self) -> list[NamePair]:
        """The names of each pair. The second is None if the target of the query was a shape."""
        if self._named is None:
            self._named = named(self._slots, self._names)
        return self._named

    def __len__(self) -> int:
        return len(self._slots)

    def __getitem__(self, index: int) -> tuple[str, Name, Row]:
        row: Any = self.result[index]  # the two TypeVars are independent
        return (*self.pairs[index], row)

    def __iter__(self) -> Iterator[tuple[str, Name, Row]]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        kind = "Contact" if isinstance(self.result, Contact) else "Distance"
        return f"{kind} of {count(len(self), 'pair')} of objects"


@compared()
class Clearance(NamedTuple):
    """Result of `Scene.clearance`: the least signed distance, and the pair that has it.

    Attributes
    ----------
    distance : float
        The signed distance: negative for an overlap, infinite without any pair.
    pair : (str, str) or None
        Names of the pair. The second is None if the target of the query was a shape.
    result : Distance or None
        Bounds, points and normal of that pair.

    Examples
    --------
    >>> import gjk3d as gk
    >>> scene = gk.Scene()
    >>> scene.add("ball", gk.Sphere(1))
    >>> scene.clearance(gk.Point((0, 0, 3))).distance, scene.clearance().pair
    (2.0, None)
    """

    distance: float = inf
    pair: NamePair | None = None
    result: Distance[float] | None = None

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        return shown(self)


@compared(*FIELDS, "name")
class SceneHit(RayHit[N]):
    """Result of `Scene.raycast`: a `RayHit` with the name of the object.

    Attributes
    ----------
    name : str or None, or list of such
        The first object that a ray hits, or None.

    Examples
    --------
    >>> import gjk3d as gk
    >>> scene = gk.Scene()
    >>> scene.add("ball", gk.Sphere(1))
    >>> scene.raycast((0, 0, 3), [(0, 0, -1), (0, 0, 1)]).name
    ['ball', None]
    """

    if TYPE_CHECKING:
        name: Each[Name, list[Name]] = Each()
    else:  # a slot would not be a descriptor to type checkers
        __slots__ = ("name",)

    def __getitem__(self, index: SupportsIndex) -> SceneHit[float]:
        """Return the hit of one ray of a stack."""
        plain = super().__getitem__(index)
        row: SceneHit[float] = object.__new__(SceneHit)
        for field in FIELDS:
            setattr(row, field, getattr(plain, field))
        row.name = self.name[index]
        return row

    def __repr__(self) -> str:
        text = super().__repr__()
        return text if self.point.ndim == 2 or self.name is None else f"{text} of {self.name!r}"
