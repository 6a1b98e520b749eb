"""The order of a disassembly by translations, and the parts that block each other.

The height of a point is its coordinate along the direction. Part B blocks part A along a direction if a line along this
direction meets both parts, and the highest point of B on the line is above the lowest point of A. The height of a
triangle is a linear function, so a test of convex polygons decides each pair of triangles. The test covers the whole
path.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from gjk3d.bodies.solids import available
from gjk3d.clash.detection.assembly import Assembly, check_assembly
from gjk3d.clash.detection.findings import Rule, matcher, read_rules
from gjk3d.clash.detection.parts import SPACINGS, AssemblyPart
from gjk3d.clash.documents import Vector
from gjk3d.errors import ParseError, ShapeError
from gjk3d.typing import Array, Ints
from gjk3d.wording import expected_names

_AXES = ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))
_TOLERANCE = 1e-6  #: the default tolerance relative to the size of the assembly


@dataclass(frozen=True, slots=True)
class Removal:
    """One step of a disassembly: parts that are removed together along a direction.

    Attributes
    ----------
    parts : tuple of str
        The names of the parts. Several parts block each other and are removed as one.
    direction : (3,) float
        The direction of the translation, a unit vector.

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
    """The order of a disassembly. The reversed order assembles the parts.

    Attributes
    ----------
    directions : tuple of (3,) float
        The directions that were tried, as unit vectors.
    steps : tuple of Removal
        The steps in their order. A group that was removed as one is disassembled by later steps. The last part of each
        group is not moved.
    locked : tuple of tuple of str
        Sets of parts that block each other along all directions. No part or group can be removed from such a set.
    unchecked : tuple of str
        Parts that could not be loaded. They block no other part.
    blockers : dict of str to tuple of tuple of str
        For the name of each part, a tuple for each direction. It has the names of the parts that block the part along
        this direction in the whole assembly.

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
        """Return the directions along which no part of the whole assembly blocks a part.

        Parameters
        ----------
        part : str
            The name of the part.

        Raises
        ------
        ParseError
            If no part has this name.
        """
        return tuple(
            direction for direction, who in zip(self.directions, self._blockers_of(part), strict=True) if not who
        )

    def always(self, part: str) -> tuple[str, ...]:
        """Return the parts that block ``part`` along every direction. They must be removed before ``part`` or with it.

        Parameters
        ----------
        part : str
            The name of the part.

        Raises
        ------
        ParseError
            If no part has this name.
        """
        blocking = self._blockers_of(part)
        return tuple(name for name in blocking[0] if all(name in who for who in blocking[1:])) if blocking else ()

    def _blockers_of(self, part: str) -> tuple[tuple[str, ...], ...]:
        if part not in self.blockers:
            raise ParseError(f"{part!r} is not a part of the order, {expected_names(part, self.blockers)}")
        return self.blockers[part]

    def to_dict(self) -> dict[str, Any]:
        """Return the order as JSON data."""
        return {
            "directions": [list(direction) for direction in self.directions],
            "steps": [{"parts": list(step.parts), "direction": list(step.direction)} for step in self.steps],
            "locked": [list(group) for group in self.locked],
            "unchecked": list(self.unchecked),
            "blockers": {name: [list(who) for who in blocking] for name, blocking in self.blockers.items()},
        }


def order(
    assembly: Assembly,
    directions: Any = None,
    *,
    tolerance: float | None = None,
    ignore: str | os.PathLike[str] | Iterable[Rule] | None = None,
) -> Order:
    """Return the order of a disassembly, and the parts that block each other.

    A part can be removed along a direction if no part blocks its translation to a pose beyond all parts. The outlines
    of all triangles decide this for the whole path. No samples are taken. Smaller parts are removed first, and the
    largest part is not moved. If no single part can be removed, the smallest group is removed that can move as one. If
    no group can be removed, the remaining parts are locked.

    Parameters
    ----------
    assembly : Assembly
        The parts.
    directions : (k, 3) float, optional
        The directions to try, of any length. The default is both directions of each axis.
    tolerance : float, optional
        A part does not block if it overlaps the path by no more than this length. Examples are faces that slide on
        each other, and the facets of curved parts that were meshed separately. The default is a millionth of the size
        of the assembly, and at least 8 times the spacing of the numbers in the files.
    ignore : path or sequence of Rule, optional
        Pairs of parts that never block each other, for example threads that are drawn overlapping. Only rules that
        apply to the kind "hard" are used. See `gjk3d.clash.read_rules`.

    Returns
    -------
    Order

    Raises
    ------
    ShapeError
        If a direction is zero, the tolerance is not a length, or manifold3d is missing.
    ParseError, FileError
        If the rules cannot be read.

    Notes
    -----
    Parts are translated and never rotated, so a screw can leave its thread only if a rule ignores this pair. The next
    step never needs a search, because a part that is free remains free when others are removed. A group that can be
    removed along a direction is a strongly connected component of the graph of blocking parts [1]_.

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
    units = _unit(_AXES if directions is None else directions)
    if not available():
        raise ShapeError('order: manifold3d, which unites outlines, is missing. Run pip install "gjk3d[clash]".')
    parts = [part for part in assembly.parts if part.shape is not None]
    boxes = np.array([part.bounds for part in parts]).reshape(-1, 2, 3)
    size = float(np.linalg.norm(boxes[:, 1].max(axis=0) - boxes[:, 0].min(axis=0))) if parts else 0.0
    if tolerance is None:
        tolerance = max([_TOLERANCE * size, *(SPACINGS * part.spacing for part in parts)])
    elif not 0.0 <= tolerance < float("inf"):
        raise ShapeError(f"order: tolerance is {tolerance!r}, expected a finite length of 0 or more")
    graph = _blockers(parts, units, tolerance, read_rules(ignore))
    steps, locked = _taken_apart(graph, np.linalg.norm(boxes[:, 1] - boxes[:, 0], axis=1))
    names = [part.name for part in parts]
    vectors = tuple((float(x) + 0.0, float(y) + 0.0, float(z) + 0.0) for x, y, z in units)
    return Order(
        vectors,
        tuple(Removal(tuple(names[i] for i in group), vectors[k]) for group, k in steps),
        tuple(tuple(names[i] for i in group) for group in locked),
        tuple(part.name for part in assembly.parts if part.shape is None),
        {
            name: tuple(tuple(names[j] for j in sorted(blocking[i])) for blocking in graph)
            for i, name in enumerate(names)
        },
    )


def _unit(directions: Any) -> Array:
    rows = np.array(directions, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1:] != (3,) or not len(rows) or not np.isfinite(rows).all():
        raise ShapeError(f"order: directions is {directions!r:.80}, expected rows of three finite numbers")
    lengths = np.linalg.norm(rows, axis=1)
    if not (lengths > 0.0).all():
        raise ShapeError(f"order: directions[{int(np.argmin(lengths))}] is zero, expected a vector of positive length")
    unit: Array = rows / lengths[:, None]
    return unit


#: For each direction and each part, the parts that block it.
_Graph = list[list[set[int]]]


def _blockers(parts: Sequence[AssemblyPart], directions: Array, tolerance: float, rules: Sequence[Rule]) -> _Graph:
    tests = [(matcher(rule.a), matcher(rule.b)) for rule in rules if not rule.kinds or "hard" in rule.kinds]

    def excused(i: int, j: int) -> bool:
        a, b = parts[i].name, parts[j].name
        return any((first(a) and second(b)) or (first(b) and second(a)) for first, second in tests)

    meshes = [mesh for part in parts if (mesh := part.mesh) is not None]
    graph: _Graph = []
    for k, direction in enumerate(directions):
        opposite = next((n for n in range(k) if np.array_equal(directions[n], -direction)), None)
        if opposite is not None:  # A blocks B along a direction if B blocks A along the opposite one
            graph.append([{j for j, who in enumerate(graph[opposite]) if i in who} for i in range(len(parts))])
            continue
        frame = frame_of(direction)
        views = [project(mesh.vertices, mesh.faces, frame) for mesh in meshes]
        graph.append([{j for j in _near(views, i, tolerance) if not excused(i, j)
                       and blocked(views[i], views[j], tolerance)} for i in range(len(parts))])  # fmt: skip
    return graph


def _near(views: Sequence[Projection], i: int, tolerance: float) -> list[int]:
    boxes = np.array([view.box for view in views])
    over = (boxes[:, 0, :2] < boxes[i, 1, :2]) & (boxes[i, 0, :2] < boxes[:, 1, :2])
    near = over.all(axis=1) & (boxes[:, 1, 2] > boxes[i, 0, 2] + tolerance)
    near[i] = False
    return [int(j) for j in np.flatnonzero(near)]


def _taken_apart(graph: _Graph, sizes: Array) -> tuple[list[tuple[list[int], int]], list[list[int]]]:
    """Return the steps of the disassembly, and the locked sets of parts.

    A step has the removed parts, and the index of the direction in which they are removed.
    """
    steps: list[tuple[list[int], int]] = []
    locked: list[list[int]] = []
    todo = [set(range(len(sizes)))]
    while todo:
        group = todo.pop(0)
        while len(group) > 1:
            step = _single(graph, group, sizes) or _group(graph, group, sizes)
            if step is None:
                locked.append(sorted(group))
                break
            steps.append(step)
            group -= set(step[0])
            if len(step[0]) > 1:
                todo.append(set(step[0]))
    return steps, locked


def _single(graph: _Graph, group: set[int], sizes: Array) -> tuple[list[int], int] | None:
    """Return the smallest part of a group that can be removed alone, or None.

    The result is a list with the part, and the index of a direction along which no part of the group blocks it. The
    largest part of the group is never removed.
    """
    for i in sorted(group, key=lambda i: (sizes[i], i))[:-1]:
        for k, blocking in enumerate(graph):
            if not blocking[i] & group:
                return [i], k
    return None


def _group(graph: _Graph, group: set[int], sizes: Array) -> tuple[list[int], int] | None:
    """Return the smallest subset of a group that can move, and the index of the direction, or None.

    No other part of the group blocks the subset along this direction. Subsets without the largest part of the group
    are preferred.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    members = sorted(group)
    place = {i: n for n, i in enumerate(members)}
    largest = max(members, key=lambda i: (sizes[i], i))
    candidates = []
    for k, blocking in enumerate(graph):
        pairs: Ints = np.array([(place[i], place[j]) for i in members for j in blocking[i] & group]).reshape(-1, 2)
        shape = len(members), len(members)
        links = csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=shape)
        _, of = connected_components(links, connection="strong")
        blocked_sets = {int(of[i]) for i, j in pairs if of[i] != of[j]}  # sets that other sets block
        for which in sorted(set(of.tolist()) - blocked_sets):
            parts = [i for i in members if of[place[i]] == which]
            if len(parts) < len(members):
                candidates.append((largest in parts, len(parts), float(sizes[parts].sum()), parts, k))
    return min(candidates)[3:] if candidates else None


_FIRST, _LOT = 200, 20_000  #: the number of pairs of triangles in the first batch, and in the largest batch
_ROWS = 4_000_000  #: the largest number of pairs of boxes that are compared at once
_LEAST = 1e-9  #: the smallest tolerance relative to the size of the assembly, far above rounding errors
_FINE = 1e-3  #: the largest rounding error of polygons relative to the tolerance
_PAIRS = np.array(list(combinations(range(7), 2)))


class Projection(NamedTuple):
    """The triangles of a part in the frame of a direction.

    ``across`` (n, 3, 2) are the corners in the plane across the direction, and ``along`` (n, 3) are their heights along
    the direction. ``low`` and ``high`` (n, 3) bound the triangles, and ``box`` (2, 3) bounds the part.
    """

    across: Array
    along: Array
    low: Array
    high: Array
    box: Array


def frame_of(direction: Array) -> Array:
    """Return three orthogonal unit vectors as rows, (3, 3). The last row is the direction."""
    unit = direction / np.linalg.norm(direction)
    first = np.eye(3)[int(np.argmin(np.abs(unit)))]
    first = first - (first @ unit) * unit
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(unit, first), unit])


def project(vertices: Array, faces: Ints, frame: Array) -> Projection:
    """Return the projection of a part along the last row of a frame, without triangles parallel to this direction."""
    points = vertices @ frame.T
    corners = points[faces]
    edge_1, edge_2 = corners[:, 1, :2] - corners[:, 0, :2], corners[:, 2, :2] - corners[:, 0, :2]
    twice = edge_1[:, 0] * edge_2[:, 1] - edge_1[:, 1] * edge_2[:, 0]
    longest = np.maximum((edge_1 * edge_1).sum(axis=1), (edge_2 * edge_2).sum(axis=1))
    is_wide = np.abs(twice) > 1e-14 * longest
    corners = corners[is_wide]
    turned = twice[is_wide] < 0.0
    corners[turned] = corners[turned][:, ::-1]
    box = np.stack([points.min(axis=0), points.max(axis=0)])
    return Projection(corners[:, :, :2], corners[:, :, 2], corners.min(axis=1), corners.max(axis=1), box)


def blocked(a: Projection, b: Projection, tolerance: float) -> bool:
    """Return whether b blocks a in a region that is wider than the tolerance.

    The narrow regions of single pairs of triangles are united before their width is measured.
    """
    size = float(np.abs(np.concatenate([a.box, b.box])).max())
    tolerance = max(tolerance, _LEAST * size)
    a, b = _common(a, b, tolerance), _common(b, a, tolerance)
    narrow: list[Array] = []
    for i, j in _lots(a, b, tolerance):
        origin = a.across[i, :1]
        corners = a.across[i] - origin, b.across[j] - origin
        lines = _lines(*corners, a.along[i], b.along[j], tolerance)
        reaches = [np.einsum("mki,mli->mkl", lines[0], each).max(axis=2) - lines[1] for each in corners]
        far = np.concatenate([reaches[0][:, 3:], reaches[1][:, :3], reaches[1][:, 6:]], axis=1)
        # triangle b may block triangle a if no edge separates them, and b is above a at a corner of each triangle
        some = np.logical_and.reduce(far > _FINE * tolerance, axis=1)
        lines, origin = (lines[0][some], lines[1][some]), origin[some]
        if _polygons(lines, 0.5 * tolerance, tolerance)[1].any():
            return True
        points, inside = _polygons(lines, 0.0, tolerance)
        some = inside.sum(axis=1) > 2
        narrow += [
            corners_of[is_corner]
            for corners_of, is_corner in zip(points[some] + origin[some], inside[some], strict=True)
        ]
    return bool(narrow) and _wide(narrow, tolerance)


def _lots(a: Projection, b: Projection, tolerance: float) -> Iterator[tuple[Ints, Ints]]:
    """Yield batches of pairs (i, j) of triangles whose boxes overlap across the direction, with b above a."""
    lot = _FIRST  # the first batch is small because few pairs often decide
    for start in range(0, len(a.across), rows := max(1, _ROWS // max(1, len(b.across)))):
        part = slice(start, start + rows)
        near = a.low[part, None, 2] + tolerance < b.high[None, :, 2]
        for k in range(2):
            near &= a.low[part, None, k] < b.high[None, :, k]
            near &= b.low[None, :, k] < a.high[part, None, k]
        first, second = np.nonzero(near)
        begin = 0
        while begin < len(first):
            yield start + first[begin : begin + lot], second[begin : begin + lot]
            begin, lot = begin + lot, min(_LOT, 4 * lot)


def _common(a: Projection, b: Projection, tolerance: float) -> Projection:
    """Return projection a without the triangles whose outlines are outside of the box of projection b."""
    is_beside = (a.high[:, :2] < b.box[0, :2] + _FINE * tolerance) | (a.low[:, :2] > b.box[1, :2] - _FINE * tolerance)
    overlapping = ~is_beside.any(axis=1)
    return Projection(a.across[overlapping], a.along[overlapping], a.low[overlapping], a.high[overlapping], a.box)


def _heights(corners: Array, heights: Array) -> tuple[Array, Array]:
    """Return the slopes (m, 2) of the planes of triangles, and the heights of these planes at the origin (m,)."""
    edge_1, edge_2 = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    rise_1, rise_2 = heights[:, 1] - heights[:, 0], heights[:, 2] - heights[:, 0]
    twice = edge_1[:, 0] * edge_2[:, 1] - edge_1[:, 1] * edge_2[:, 0]
    slopes = np.stack(
        [rise_1 * edge_2[:, 1] - rise_2 * edge_1[:, 1], rise_2 * edge_1[:, 0] - rise_1 * edge_2[:, 0]], axis=1
    )
    slopes /= twice[:, None]
    return slopes, heights[:, 0] - (slopes * corners[:, 0]).sum(axis=1)


def _lines(a: Array, b: Array, up_a: Array, up_b: Array, tolerance: float) -> tuple[Array, Array]:
    """Return unit normals (m, 7, 2) and offsets (m, 7) of the lines that bound the region in which b is above a.

    Three lines are edges of triangle a, and three are edges of triangle b. On the inner side of the last line, the
    plane of b is above the plane of a by more than ``tolerance``. A point p is on the inner side of a line if
    normal . p >= offset. ``a`` and ``b`` are the corners (m, 3, 2), and ``up_a`` and ``up_b`` their heights (m, 3).
    """
    corners = np.concatenate([a, b], axis=1)
    edges = np.concatenate([np.roll(a, -1, axis=1), np.roll(b, -1, axis=1)], axis=1) - corners
    normals = np.empty((len(a), 7, 2))
    normals[:, :6, 0], normals[:, :6, 1] = -edges[:, :, 1], edges[:, :, 0]
    normals[:, :6] /= np.maximum(np.linalg.norm(edges, axis=2), 1e-300)[:, :, None]
    offsets = np.empty((len(a), 7))
    offsets[:, :6] = (normals[:, :6] * corners).sum(axis=2)
    slope_a, at_a = _heights(a, up_a)
    slope_b, at_b = _heights(b, up_b)
    slope, ahead = slope_b - slope_a, at_b - at_a - tolerance
    steep = np.linalg.norm(slope, axis=1)
    flat = steep < 1e-12
    normals[:, 6] = np.where(flat[:, None], 0.0, slope / np.where(flat, 1.0, steep)[:, None])
    offsets[:, 6] = np.where(flat, np.where(ahead > 0.0, -np.inf, np.inf), -ahead / np.where(flat, 1.0, steep))
    return normals, offsets


def _polygons(lines: tuple[Array, Array], margin: float, tolerance: float) -> tuple[Array, Array]:
    """Return the intersections of each two of 7 lines, (m, 21, 2), and a mask of them, (m, 21).

    The mask is True for an intersection on the inner side of all lines. The first 6 lines, which are edges of the
    triangles, are moved inward by the margin.
    """
    normals, offsets = lines[0], lines[1] + margin * (np.arange(7) < 6)
    normal_1, normal_2 = normals[:, _PAIRS[:, 0]], normals[:, _PAIRS[:, 1]]
    p, q = offsets[:, _PAIRS[:, 0]], offsets[:, _PAIRS[:, 1]]
    cross = normal_1[:, :, 0] * normal_2[:, :, 1] - normal_1[:, :, 1] * normal_2[:, :, 0]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        points = np.stack(
            [p * normal_2[:, :, 1] - q * normal_1[:, :, 1], q * normal_1[:, :, 0] - p * normal_2[:, :, 0]], axis=2
        )
        points /= np.where(np.abs(cross) > 1e-12, cross, np.nan)[:, :, None]
        reach = np.einsum("mki,mli->mkl", points, normals) - offsets[:, None]
        inside = (reach >= -_FINE * tolerance).all(axis=2) & np.isfinite(points).all(axis=2)
    return points, inside


def _wide(polygons: list[Array], tolerance: float) -> bool:
    import manifold3d

    outlines = []
    for corners in polygons:
        away = corners - corners.mean(axis=0)
        outlines.append(corners[np.argsort(np.arctan2(away[:, 1], away[:, 0]))] / tolerance)
    join: Any = manifold3d.JoinType.Miter
    union = manifold3d.CrossSection(outlines, manifold3d.FillRule.NonZero)
    # the outward offset closes cracks between neighbours
    return not union.offset(0.01, join).offset(-0.51, join).is_empty()
