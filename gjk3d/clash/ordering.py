"""In what order an assembly comes apart, by straight moves: who is in whose way, and what blocks itself."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gjk3d.bodies.pieces import available
from gjk3d.clash.assembly import Assembly, check_assembly
from gjk3d.clash.blocking import Seen, blocked, frame_of, seen
from gjk3d.clash.finding import Vector
from gjk3d.clash.nearness import SPACINGS
from gjk3d.clash.parts import AssemblyPart
from gjk3d.clash.rules import Rule, matcher, read_rules
from gjk3d.errors import ParseError, ShapeError
from gjk3d.typing import Array, Ints

_AXES = ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))
_TOLERANCE = 1e-6  #: of the size of the whole, by default


@dataclass(frozen=True, slots=True)
class Removal:
    """One step of taking apart: these parts leave together, straight along a direction.

    Attributes
    ----------
    parts : tuple of str
        One part, or several that hold each other and come out as one.
    direction : (3,) float
        Unit vector.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.clash.Removal(("pin",), (1.0, 0.0, 0.0)).parts
    ('pin',)
    """

    parts: tuple[str, ...]
    direction: Vector


@dataclass(frozen=True)
class Order:
    """How an assembly comes apart; it is put together in the opposite order.

    Attributes
    ----------
    directions : tuple of (3,) float
        The unit vectors that were tried.
    steps : tuple of Removal
        One after the other. A group that left as one is taken apart later; the last part of each stays where it is.
    locked : tuple of tuple of str
        Sets of which neither a part nor a group comes out along any of the directions.
    unchecked : tuple of str
        Parts that could not be loaded, and are in nobody's way here.
    blockers : dict of str to tuple of tuple of str
        By part: who is in its way along each of the directions, in the whole assembly.

    Examples
    --------
    >>> import gjk3d as gk
    >>> cube = gk.Box((1, 1, 1)).surface()
    >>> parts = {name: gk.Mesh(cube.vertices + (0, 0, k), cube.faces) for k, name in enumerate(("low", "mid", "top"))}
    >>> order = gk.clash.order(gk.clash.Assembly.of(parts), [(0, 0, 1), (0, 0, -1)])
    >>> order.free("mid"), order.free("top")
    ((), ((0.0, 0.0, 1.0),))
    >>> order.always("mid"), [step.parts for step in order.steps]
    ((), [('low',), ('mid',)])
    >>> order.to_dict()["steps"][0]
    {'parts': ['low'], 'direction': [0.0, 0.0, -1.0]}
    """

    directions: tuple[Vector, ...]
    steps: tuple[Removal, ...]
    locked: tuple[tuple[str, ...], ...] = ()
    unchecked: tuple[str, ...] = ()
    blockers: dict[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict, repr=False)

    def free(self, part: str) -> tuple[Vector, ...]:
        """Return the directions along which a part leaves the whole assembly with nothing in its way.

        Parameters
        ----------
        part : str
            Its name.

        Raises
        ------
        ParseError
            There is no part of that name.
        """
        return tuple(way for way, who in zip(self.directions, self._ways(part), strict=True) if not who)

    def always(self, part: str) -> tuple[str, ...]:
        """Return who is in the way of a part along every direction: these leave before it, or with it.

        Parameters
        ----------
        part : str
            Its name.

        Raises
        ------
        ParseError
            There is no part of that name.
        """
        ways = self._ways(part)
        return tuple(name for name in ways[0] if all(name in who for who in ways[1:])) if ways else ()

    def _ways(self, part: str) -> tuple[tuple[str, ...], ...]:
        if part not in self.blockers:
            names = [*self.blockers]
            near = difflib.get_close_matches(str(part), names, n=3)
            hint = f": did you mean {' or '.join(map(repr, near))}?" if near else "."
            shown = ", ".join(map(repr, names[:12])) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
            raise ParseError(f"the order has no part {part!r}{hint} There are {shown}")
        return self.blockers[part]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON has it."""
        return {
            "directions": [list(way) for way in self.directions],
            "steps": [{"parts": list(step.parts), "direction": list(step.direction)} for step in self.steps],
            "locked": [list(group) for group in self.locked],
            "unchecked": list(self.unchecked),
            "blockers": {name: [list(who) for who in ways] for name, ways in self.blockers.items()},
        }


def order(
    assembly: Assembly,
    directions: Any = None,
    *,
    tolerance: float | None = None,
    ignore: str | os.PathLike[str] | Iterable[Rule] | None = None,
) -> Order:
    """Tell in what order an assembly comes apart, and who is in whose way.

    A part comes out along a direction if no other stands in its way, from where it is to beyond all of them. That is
    decided for the whole way at once from the outlines of all triangles, not by samples. Smaller parts go first,
    and the largest stays. Where no part comes out alone, the smallest group does that leaves as one; what is left then
    blocks itself.

    Parameters
    ----------
    assembly : Assembly
        The parts.
    directions : (k, 3) float, optional
        What to try, of any length; by default both ways along each axis.
    tolerance : float, optional
        What overlaps the way by no more than this is no obstacle: faces that slide on each other, and the facets of
        curved parts that were meshed apart. By default a millionth of the size of the whole, and no less than 8
        spacings of the numbers in the files.
    ignore : path or sequence of Rule, optional
        Pairs that are in nobody's way, such as threads that are drawn through; rules of other kinds than "hard" do not
        count here. See `gjk3d.clash.read_rules`.

    Returns
    -------
    Order

    Raises
    ------
    ShapeError
        A direction is none, the tolerance is no length, or manifold3d is missing.
    ParseError, FileError
        The rules are none.

    Notes
    -----
    Parts move straight and do not turn, so a screw comes out of its thread only by a rule. The steps need no look
    ahead: what is free stays free when others leave. A group that leaves along a direction is a strongly connected
    component of who blocks whom there [1]_.

    References
    ----------
    .. [1] R. H. Wilson, J.-C. Latombe: Geometric reasoning about mechanical assembly. Artificial Intelligence 71, 1994.

    Examples
    --------
    >>> import gjk3d as gk
    >>> box, lid = gk.Box((4, 4, 2)).surface(), gk.Box((4, 4, 0.2)).surface()
    >>> parts = {"box": gk.Mesh(*box[:2]), "lid": gk.Mesh(lid.vertices + (0, 0, 1.1), lid.faces)}
    >>> order = gk.clash.order(gk.clash.Assembly.of(parts, "mm"))
    >>> order.steps[0].parts, order.blockers["lid"][5]
    (('lid',), ('box',))
    """
    check_assembly(assembly, "order")
    ways = _unit(_AXES if directions is None else directions)
    if not available():
        raise ShapeError('order: outlines are joined by manifold3d: pip install "gjk3d[clash]"')
    parts = [part for part in assembly.parts if part.shape is not None]
    boxes = np.array([part.bounds for part in parts]).reshape(-1, 2, 3)
    size = float(np.linalg.norm(boxes[:, 1].max(axis=0) - boxes[:, 0].min(axis=0))) if parts else 0.0
    if tolerance is None:
        tolerance = max([_TOLERANCE * size, *(SPACINGS * part.spacing for part in parts)])
    elif not 0.0 <= tolerance < float("inf"):
        raise ShapeError(f"order: tolerance is {tolerance!r}, expected a length of 0 or more")
    graph = _blockers(parts, ways, tolerance, read_rules(ignore))
    steps, locked = _taken_apart(graph, np.linalg.norm(boxes[:, 1] - boxes[:, 0], axis=1))
    names = [part.name for part in parts]
    told = tuple((float(x) + 0.0, float(y) + 0.0, float(z) + 0.0) for x, y, z in ways)
    return Order(
        told,
        tuple(Removal(tuple(names[i] for i in group), told[k]) for group, k in steps),
        tuple(tuple(names[i] for i in group) for group in locked),
        tuple(part.name for part in assembly.parts if part.shape is None),
        {name: tuple(tuple(names[j] for j in sorted(way[i])) for way in graph) for i, name in enumerate(names)},
    )


def _unit(directions: Any) -> Array:
    given = np.array(directions, dtype=np.float64)
    if given.ndim != 2 or given.shape[1:] != (3,) or not len(given) or not np.isfinite(given).all():
        raise ShapeError(f"order: directions are of shape {given.shape}, expected rows of three finite numbers")
    lengths = np.linalg.norm(given, axis=1)
    if not (lengths > 0.0).all():
        raise ShapeError(f"order: direction {int(np.argmin(lengths))} is zero, expected a way to go")
    unit: Array = given / lengths[:, None]
    return unit


#: For each direction and each part the parts that are in its way.
_Graph = list[list[set[int]]]


def _blockers(parts: Sequence[AssemblyPart], ways: Array, tolerance: float, rules: Sequence[Rule]) -> _Graph:
    tests = [(matcher(rule.a), matcher(rule.b)) for rule in rules if not rule.kinds or "hard" in rule.kinds]

    def excused(i: int, j: int) -> bool:
        a, b = parts[i].name, parts[j].name
        return any((one(a) and two(b)) or (one(b) and two(a)) for one, two in tests)

    meshes = [mesh for part in parts if (mesh := part.mesh) is not None]
    graph: _Graph = []
    for k, way in enumerate(ways):
        back = next((n for n in range(k) if np.array_equal(ways[n], -way)), None)
        if back is not None:  # who is in whose way is the other way round there
            graph.append([{j for j, who in enumerate(graph[back]) if i in who} for i in range(len(parts))])
            continue
        frame = frame_of(way)
        views = [seen(mesh.vertices, mesh.faces, frame) for mesh in meshes]
        graph.append([{j for j in _near(views, i, tolerance) if not excused(i, j)
                       and blocked(views[i], views[j], tolerance)} for i in range(len(parts))])  # fmt: skip
    return graph


def _near(views: Sequence[Seen], i: int, tolerance: float) -> list[int]:
    """Return the parts whose boxes are in the way of a part's."""
    boxes = np.array([view.box for view in views])
    over = (boxes[:, 0, :2] < boxes[i, 1, :2]) & (boxes[i, 0, :2] < boxes[:, 1, :2])
    near = over.all(axis=1) & (boxes[:, 1, 2] > boxes[i, 0, 2] + tolerance)
    near[i] = False
    return [int(j) for j in np.flatnonzero(near)]


def _taken_apart(graph: _Graph, sizes: Array) -> tuple[list[tuple[list[int], int]], list[list[int]]]:
    """Return who leaves along which direction, one after the other, and what is left locked."""
    steps: list[tuple[list[int], int]] = []
    locked: list[list[int]] = []
    todo = [set(range(len(sizes)))]
    while todo:
        group = todo.pop(0)
        while len(group) > 1:
            found = _alone(graph, group, sizes) or _together(graph, group, sizes)
            if found is None:
                locked.append(sorted(group))
                break
            steps.append(found)
            group -= set(found[0])
            if len(found[0]) > 1:
                todo.append(set(found[0]))
    return steps, locked


def _alone(graph: _Graph, group: set[int], sizes: Array) -> tuple[list[int], int] | None:
    """Return the smallest part that leaves a group, not the largest of it, and along which direction."""
    for i in sorted(group, key=lambda i: (sizes[i], i))[:-1]:
        for k, way in enumerate(graph):
            if not way[i] & group:
                return [i], k
    return None


def _together(graph: _Graph, group: set[int], sizes: Array) -> tuple[list[int], int] | None:
    """Return the smallest set that leaves a group as one, rather without its largest, and along which direction."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    members = sorted(group)
    place = {i: n for n, i in enumerate(members)}
    largest = max(members, key=lambda i: (sizes[i], i))
    found = []
    for k, way in enumerate(graph):
        pairs: Ints = np.array([(place[i], place[j]) for i in members for j in way[i] & group]).reshape(-1, 2)
        shape = len(members), len(members)
        links = csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=shape)
        _, of = connected_components(links, connection="strong")
        held = {int(of[i]) for i, j in pairs if of[i] != of[j]}  # sets that others are in the way of
        for which in sorted(set(of.tolist()) - held):
            parts = [i for i in members if of[place[i]] == which]
            if len(parts) < len(members):
                found.append((largest in parts, len(parts), float(sizes[parts].sum()), parts, k))
    return min(found)[3:] if found else None
