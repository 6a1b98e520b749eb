"""The space that a robot occupies: the points outside it at one configuration, and the swept volumes of a motion.

The self-filter of a depth sensor removes all points except those that are outside the robot and its attached objects.

The swept volume of a link is covered by convex pieces, one for each short interval of time. During an interval a body
stays in the hull of its two end poses, grown by the deviation of its points from straight lines. For an interval of
length h the deviation is at most K h^2 / 8, with a bound K of the acceleration of its points as in `motion_cover`, or
V h / 2 with a bound V of their speed. So the cover is proven.

The excess of a piece is the greatest distance of its points from the swept volume. It is bounded as follows. A point
of the hull is s A x + (1 - s) B y, where A and B are the end poses and x and y are points of the convex body. At the
time that divides the interval in the same ratio, the point s x + (1 - s) y of the body is at most
K h^2 / 8 + w h rho / 2 away from this point of the hull. Here w is a bound of the angular velocity, and rho is the
radius of the body.
"""

from __future__ import annotations

from collections.abc import Collection
from math import ceil, cos, inf, pi, sqrt
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

import gjk3d.query.distance as two_shapes
from gjk3d._kernels.decorators import entry, inlined, kernel, plain
from gjk3d.bodies.compound import Compound
from gjk3d.bodies.mesh import Mesh
from gjk3d.convex.batch import in_chunks
from gjk3d.convex.checks import is_finite
from gjk3d.errors import RobotError
from gjk3d.narrow.cores import cores_at
from gjk3d.narrow.solve import quick_collide, settle
from gjk3d.narrow.workspace import Solver
from gjk3d.poses import translations
from gjk3d.results import compared
from gjk3d.robot.bodies import end_of, names_in, outline
from gjk3d.robot.cell import Cell
from gjk3d.robot.cell_kernels import Frames, Layout, Task, core_of, place
from gjk3d.robot.kinematics import FIXED, FLOATING, link_poses
from gjk3d.robot.motion_bounds import curve_speeds, slot_reaches
from gjk3d.robot.trajectories import Parts, points_on
from gjk3d.shapes.base import Polytope, Shape
from gjk3d.shapes.composed import Rounded
from gjk3d.shapes.curved import Capsule, Cylinder, Sphere
from gjk3d.shapes.layout import Core
from gjk3d.shapes.polytopes import ConvexHull, Point
from gjk3d.typing import Array, Array1, Array2, Bools, Ints, Ints2
from gjk3d.wording import above, count, expected_names

# --- points outside --------------------------------------------------------------------------------------------------


#: verdicts: a point is outside a slot, inside it, or inside its outline, where the shape of the slot must be tested
OUT, IN, UNDECIDED = range(3)


@inlined
def _near_axis(frames: Frames, f: Array, o: int, k: int, p: tuple[float, float, float], within: float) -> bool:
    """Return whether the point p may be closer than ``within`` to the bounding capsule of shape k of the robot.

    The two ends and the radius of the capsule begin at f[o].
    """
    a, b = end_of(frames.rows, k, f, o), end_of(frames.rows, k, f, o + 3)
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    x, y, z = p[0] - a[0], p[1] - a[1], p[2] - a[2]
    uu = ux * ux + uy * uy + uz * uz
    t = min(max((x * ux + y * uy + z * uz) / uu, 0.0), 1.0) if uu > 0.0 else 0.0
    x, y, z = x - t * ux, y - t * uy, z - t * uz
    far = sqrt(x * x + y * y + z * z)
    size = abs(p[0]) + abs(p[1]) + abs(p[2]) + abs(a[0]) + abs(a[1]) + abs(a[2])
    # ``size`` is at least ``far`` up to rounding, so 1e-12 * size covers the rounding. 1e-9 * far is only a reserve.
    return bool(far - 1e-9 * (far + f[o + 6] + abs(within)) - 1e-12 * size <= f[o + 6] + within)


@kernel
def _of_slot(
    layout: Layout, frames: Frames, k: int, exact: bool, points: Array, dot: Core, row: Array, margin: float,
    solver: Solver, answer: Ints,
) -> None:  # fmt: skip
    """Write `IN` to ``answer`` for each point within ``margin`` of slot k, which is one of the shapes of the robot.

    If not ``exact``, the kernel knows only the outline of the slot, a convex shape that contains the slot. Then
    `UNDECIDED` is written for each point that may be within ``margin``. Points that are already `IN` are skipped.
    ``dot`` is the packed shape of a single point, and ``row`` is scratch memory for the pose of this point.
    """
    f, o, balls = layout.floats, layout.starts[k, 2], frames.balls
    cx, cy, cz, core = balls[k, 0], balls[k, 1], balls[k, 2], core_of(layout, k)
    reach = (balls[k, 3] + max(margin, 0.0)) * (1.0 + 1e-9) + 1e-9 * (abs(cx) + abs(cy) + abs(cz))
    # the cheapest test is first: the ball, then the capsule, then GJK with a single point
    for i in range(points.shape[0]):
        x, y, z = points[i, 0] - cx, points[i, 1] - cy, points[i, 2] - cz
        if x * x + y * y + z * z > reach * reach or answer[i] == IN:
            continue
        p = (points[i, 0], points[i, 1], points[i, 2])
        if not _near_axis(frames, f, o, k, p, margin):
            continue
        if not exact:
            answer[i] = UNDECIDED
            continue
        row[9], row[10], row[11] = p
        c = cores_at(core, frames.rows[k], dot, row)
        verdict = quick_collide(c, margin, solver.workspace.simplex, solver.one[:0], plain(0))
        if verdict == 2:
            verdict = settle(c, margin, solver)
        if verdict != 0:
            answer[i] = IN


@entry
def points_of_robot(
    task: Task, q: Array2, slots: Ints2, points: Array2, dot: Core, row: Array1, margin: float, start: int, stop: int,
    answer: Ints2,
) -> None:  # fmt: skip
    """Write `OUT`, `IN` or `UNDECIDED` to ``answer[k, i]`` for point i at configuration k, ``start`` to ``stop`` - 1.

    A slot is a shape that is fixed to a link. `IN` means within ``margin`` of at least one slot. A row of ``slots``
    (n, 2) contains the number of a slot, and 1 if the kernel knows its exact shape, or 0 if the kernel only knows a
    convex outline around the shape. ``dot`` and ``row`` are passed to `_of_slot`.
    """
    chain, layout, frames, solver = task.chain, task.layout, task.frames, task.solver
    frames.stamp[:] = -1
    for k in range(start, stop):
        link_poses(chain, q[k], frames.matrix, frames.links)
        answer[k, :] = OUT
        for n in range(slots.shape[0]):
            place(layout, frames, slots[n, 0], k)
            _of_slot(layout, frames, slots[n, 0], slots[n, 1] != 0, points, dot, row, margin, solver, answer[k])


_DOT = Core(*Point()._packed)
_CHUNK = 16  #: configurations per call of the kernel


def outside(cell: Cell, rows: Array, points: Array, margin: float, workers: int) -> Bools:
    """Return whether each of n points is outside the robot at each of k configurations ``rows`` (k, dof), as (k, n)."""
    # Exact slots come first: a point in an exact slot needs no test by the slower functions for other slots.
    ordered = cell.robot_slots[np.argsort(~cell.exact[cell.robot_slots], kind="stable")]
    slots = np.column_stack([ordered, cell.exact[ordered]]).astype(np.int64)
    verdicts = np.empty((len(rows), len(points)), dtype=np.int64)
    places = points if points.flags.writeable else points.copy()

    def run(start: int, stop: int) -> None:
        row = translations(np.zeros((1, 3)))[0]
        points_of_robot(cell.task(), rows, slots, places, _DOT, row, margin, start, stop, verdicts)

    in_chunks(len(rows), workers, run, _CHUNK)
    for k in np.flatnonzero((verdicts == UNDECIDED).any(axis=1)).tolist():
        links = cell.robot.link_poses(rows[k : k + 1])
        for slot in ordered[~cell.exact[ordered]].tolist():
            at = np.flatnonzero(verdicts[k] == UNDECIDED)
            if len(at):
                where = np.tile(np.eye(4), (len(at), 1, 1))
                where[:, :3, 3] = points[at]
                pose = cell.placed(links, slot)[0]
                inside = two_shapes.collide(cell.shapes[slot], Point(), pose, where, margin=margin)
                verdicts[k, at[np.asarray(inside)]] = IN
    answer: Bools = verdicts != IN
    return answer


# --- swept volumes ---------------------------------------------------------------------------------------------------


_SIDES = 32  #: sides of the prism around a cylinder
_MOST_PIECES = 100_000  #: greatest number of pieces of all links together


@compared()
class SweptPiece(NamedTuple):
    """A convex shape that covers a link during an interval of time: an item of `SweptVolume.pieces`.

    Attributes
    ----------
    link : str
        Name of the link or attached object.
    shape : Shape
        The convex shape in world coordinates.
    begin, end : float
        First and last time of the interval, in the unit of the trajectory.

    Examples
    --------
    >>> import gjk3d as gk
    >>> checker = gk.robot.Checker(gk.robot.Robot.example())
    >>> path = gk.robot.Trajectory([[0.0, 0.0], [0.5, 0.0]], times=[0.0, 1.0])
    >>> piece = checker.swept(path).pieces[0]
    >>> piece.link, piece.begin, piece.end
    ('post', 0.0, 1.0)
    """

    link: str
    shape: Shape
    begin: float
    end: float


@compared()
class SweptVolume(NamedTuple):
    """Result of `Checker.swept`: convex pieces that contain the swept volumes of links and attached objects.

    Attributes
    ----------
    pieces : tuple of SweptPiece
        The pieces, sorted by link and then by time. Together they are proven to contain the swept volumes.
    excess : float
        Proven upper bound of the distance of a point in the pieces from the swept volumes, in the robot's unit.
        Non-convex meshes and clouds are replaced by their hulls, and the bound includes the excess of these hulls.

    Examples
    --------
    A second robot can be checked against these volumes, one obstacle for each link.

    >>> import gjk3d as gk
    >>> checker = gk.robot.Checker(gk.robot.Robot.example())
    >>> path = gk.robot.Trajectory([[0.0, 0.0], [1.5, 0.0]], times=[0.0, 3.0])
    >>> swept = checker.swept(path, excess=0.02)
    >>> swept
    <SweptVolume of 3 links: 40 pieces, excess ≤ 0.0168>
    >>> zones = swept.compounds()
    >>> sorted(zones), swept.boxes()["hand"].round(2).tolist()
    (['beam', 'hand', 'post'], [[0.02, -0.05, -0.05], [1.5, 1.5, 0.05]])
    >>> later = swept.during(2.0, 3.0)
    >>> len(later.pieces) < len(swept.pieces), swept.mesh().faces.shape[1]
    (True, 3)
    """

    pieces: tuple[SweptPiece, ...]
    excess: float

    def during(self, begin: float, end: float) -> SweptVolume:
        """Return the swept volumes with only the pieces whose intervals of time intersect the given interval.

        Parameters
        ----------
        begin, end : float
            Times of the trajectory.

        Raises
        ------
        RobotError
            A time is not a number.
        """
        for time in (begin, end):
            if isinstance(time, bool) or not isinstance(time, Real) or time != time:
                raise RobotError(f"during: {time!r:.80} is not a time, expected a number")
        return self._replace(pieces=tuple(p for p in self.pieces if p.end >= begin and p.begin <= end))

    def compounds(self) -> dict[str, Compound]:
        """Return the swept volume of each link as a compound in the world, by the name of the link or object."""
        names = dict.fromkeys(piece.link for piece in self.pieces)
        return {name: Compound([(p.shape, None) for p in self.pieces if p.link == name]) for name in names}

    def boxes(self) -> dict[str, Array]:
        """Return the axis-aligned box of the swept volume of each link, as the least and the greatest corner (2, 3)."""
        boxes: dict[str, Array] = {}
        for piece in self.pieces:
            box = piece.shape.bounds
            old = boxes.get(piece.link, box)
            boxes[piece.link] = np.array([np.minimum(old[0], box[0]), np.maximum(old[1], box[1])])
        return boxes

    def mesh(self, resolution: int = 16) -> Mesh:
        """Return the overlapping surfaces of all pieces as one mesh, for pictures.

        Parameters
        ----------
        resolution : int
            Resolution of curved surfaces, as in `Shape.surface`.
        """
        vertices, faces, count = [], [], 0
        for piece in self.pieces:
            surface = piece.shape.surface(resolution)
            vertices.append(surface.vertices)
            faces.append(surface.faces + count)
            count += len(surface.vertices)
        return Mesh(np.concatenate(vertices), np.concatenate(faces))

    def __repr__(self) -> str:
        links = count(len({piece.link for piece in self.pieces}), "link")
        return f"<SweptVolume of {links}: {count(len(self.pieces), 'piece')}, excess ≤ {above(self.excess, 3)}>"


class _Holder(NamedTuple):
    """A convex shape around a body, in the frame of the body: the hull of points, grown by a radius."""

    points: Array  #: (n, 3)
    radius: float
    more: float  #: greatest distance of a point of the convex shape from the body


class _Speeds(NamedTuple):
    """Upper bounds of the speeds of a body on each curve of a trajectory, (curves,) each."""

    speed: Array  #: speed of any point of the body
    bend: Array  #: acceleration of any point of the body
    turn: Array  #: angular speed of the body


def swept(cell: Cell, parts: Parts, excess: Any, links: Collection[str] | None) -> SweptVolume:
    """Return the result of `Checker.swept`."""
    if not is_finite(excess) or not excess > 0.0:
        raise RobotError(f"excess is {excess!r}, expected a length above 0")
    names = {cell.owners[cell.owner[slot]] for slot in cell.robot_slots.tolist()}
    wanted = () if links is None else names_in(links, "swept: links")
    for name in wanted:
        if name not in names:
            raise RobotError(
                f"swept: {name!r} is not a link with shapes or an attached object, "
                f"{expected_names(name, sorted(names))}"
            )
    reach, slack = slot_reaches(cell, parts.curves.controls)
    joints = np.zeros((len(parts.curves.controls), 6, len(cell.robot.links)))
    for e in range(len(joints)):
        curve_speeds(cell.robot._chain, parts.curves.controls[e], parts.curves.loose[e], joints[e])
    pieces: list[SweptPiece] = []
    worst = 0.0
    slots = [s for s in cell.robot_slots.tolist() if cell.owners[cell.owner[s]] in (wanted or names)]
    for slot in sorted(slots, key=lambda s: int(cell.owner[s])):
        speeds, wrong = _speeds(cell, joints, reach[slot], int(cell.layout.link[slot]))
        for holder in _holders(cell.shapes[slot]):
            more = _pieces(cell, parts, slot, holder, speeds, slack + wrong, float(excess), pieces)
            worst = max(worst, more)
    return SweptVolume(tuple(pieces), worst)


def _speeds(cell: Cell, joints: Array, reach: Array, link: int) -> tuple[_Speeds, float]:
    """Return bounds of the speeds of a body on each curve of a trajectory, and a bound of the body's position error.

    ``joints`` (curves, 6, links) contains the results of `curve_speeds`. ``reach`` (links,) is the greatest distance of
    the body from the axis of each joint. ``link`` is the link of the body.
    """
    chain, above = cell.robot._chain, []
    k = link
    while k >= 0:
        if chain.kind[k] != FIXED:
            above.append(k)
        k = int(chain.parent[k])
    speed, bend, before = (np.zeros(len(joints)) for _ in range(3))
    wrong = 0.0
    for j in reversed(above):  # outwards from the world, like `motion_bounds.pair_motion` for the second shape
        turn, slide, arm = joints[:, 0, j], joints[:, 1, j], float(reach[j])
        speed += slide + turn * arm
        bend += joints[:, 5, j] + joints[:, 4, j] * arm + 2.0 * slide * (before + turn)
        bend += turn * arm * (turn + 2.0 * before)
        if chain.kind[j] == FLOATING:
            bend[turn + slide > 0.0] = inf
        before += turn
        wrong += float((joints[:, 3, j] + joints[:, 2, j] * arm).max(initial=0.0))
    return _Speeds(speed, bend, before), wrong


def _pieces(
    cell: Cell, parts: Parts, slot: int, holder: _Holder, speeds: _Speeds, wrong: float, excess: float,
    pieces: list[SweptPiece],
) -> float:  # fmt: skip
    """Add the pieces of a body to ``pieces``. Return a bound of the excess of these pieces.

    The excess is the greatest distance of a point in the pieces from the swept volume. ``excess`` is the value that the
    user allows, and ``wrong`` is a bound of the error of poses.
    """
    name, worst = cell.owners[cell.owner[slot]], 0.0
    rho = _reach(holder.points, holder.points.mean(axis=0)) + holder.radius
    if not speeds.speed.any():
        count = [1]
        spans = [(0, len(parts.curves.controls))]  # static: one piece for the whole motion
    else:
        rows = zip(*(column.tolist() for column in speeds), strict=True)
        count = [_count(speed, bend, turn, rho, excess) for speed, bend, turn in rows]
        spans = [(e, e + 1) for e in range(len(count))]
    if len(pieces) + sum(count) > _MOST_PIECES:
        raise RobotError(
            f"swept: the links up to {name!r} need {len(pieces) + sum(count)} pieces, expected at most {_MOST_PIECES} "
            "for all links together. Use a greater excess, or fewer links"
        )
    for (e, last), n in zip(spans, count, strict=True):
        t = np.linspace(0.0, 1.0, n + 1)
        poses = cell.placed(cell.robot.link_poses(points_on(parts.curves.controls[e], t)), slot)
        points = np.einsum("nij,kj->nki", poses[:, :3, :3], holder.points) + poses[:, None, :3, 3]
        stray = _stray(float(speeds.speed[e]), float(speeds.bend[e]), 1.0 / n) if speeds.speed.any() else 0.0
        pad = (stray + wrong) * (1.0 + 1e-9)
        radius = holder.radius + pad
        turned = 0.5 * float(speeds.turn[e]) * rho / n
        worst = max(worst, pad + stray + turned + holder.more)
        ends = parts.times[e] + t * (parts.times[last] - parts.times[e])
        for k in range(n):
            corners = points[k] if not speeds.speed.any() else np.concatenate([points[k], points[k + 1]])
            shape = Rounded(ConvexHull(corners), radius)
            pieces.append(SweptPiece(name, shape, float(ends[k]), float(ends[k + 1])))
    return worst


def _stray(speed: float, bend: float, h: float) -> float:
    """Return a bound of the distance of a moving point from the straight line between its first and last position.

    ``h`` is the length of the interval. ``speed`` and ``bend`` are bounds of the speed and acceleration of the point.
    """
    return min(0.5 * speed * h, 0.125 * bend * h * h)


def _count(speed: float, bend: float, turn: float, rho: float, excess: float) -> int:
    """Return the number of equal intervals of a curve for which the pieces are close enough to the swept volume.

    A point of a piece may be at most ``excess`` away from the swept volume of a convex shape with the radius ``rho``.
    ``speed``, ``bend`` and ``turn`` are the bounds in `_Speeds` for this curve.
    """
    n = 1
    while 2.0 * _stray(speed, bend, 1.0 / n) + 0.5 * turn * rho / n > 0.99 * excess and n < _MOST_PIECES:
        n = ceil(1.25 * n)
    return n


def _reach(points: Array, center: Array) -> float:
    return float(np.linalg.norm(points - center, axis=1).max(initial=0.0))


def _holders(shape: Any) -> list[_Holder]:
    """Return convex shapes around a body: a shape for each part of a compound, or a single shape for other bodies."""
    if not isinstance(shape, Compound):
        return [_holder(shape)]
    holders = []
    for part, pose in shape.parts:
        holder = _holder(part)
        holders.append(holder._replace(points=holder.points @ pose[:3, :3].T + pose[:3, 3]))
    return holders


def _holder(shape: Any) -> _Holder:
    if isinstance(shape, Rounded):
        core = _holder(shape.core)
        return core._replace(radius=core.radius + shape.radius)
    if isinstance(shape, Sphere):
        return _Holder(np.zeros((1, 3)), shape.radius, 0.0)
    if isinstance(shape, Capsule):
        z = 0.5 * shape.height
        return _Holder(np.array([[0.0, 0.0, -z], [0.0, 0.0, z]]), shape.radius, 0.0)
    if isinstance(shape, Cylinder):
        # A prism around the cylinder, whose sides touch the cylinder
        wide = shape.radius / cos(pi / _SIDES) * (1.0 + 1e-12)
        angle = 2.0 * pi * np.arange(_SIDES) / _SIDES
        ring = np.column_stack([wide * np.cos(angle), wide * np.sin(angle), np.full(_SIDES, 0.5 * shape.height)])
        return _Holder(np.concatenate([ring, ring * (1.0, 1.0, -1.0)]), 0.0, wide - shape.radius)
    if isinstance(shape, Polytope):
        return _Holder(np.asarray(shape.vertices), 0.0, 0.0)
    if isinstance(shape, Shape):
        return _grown(shape)
    hull = _holder(shape.hull())
    if isinstance(shape, Mesh) and shape.is_convex:
        return hull
    # All points belong to the body. A point of their hull is their weighted mean. Its distance from the nearest of the
    # points is at most the radius of a ball around all of them, since the weighted mean of the squared distances is at
    # most the squared radius.
    return hull._replace(more=hull.more + _reach(hull.points, hull.points.mean(axis=0)))


def _grown(shape: Shape) -> _Holder:
    """Return a polytope around a curved shape: points on its surface, scaled until their hull contains the shape."""
    # If a face at the distance d from the middle must move outwards by e, the scale must be at least 1 + e / d.
    hull = ConvexHull(shape.surface(_SIDES).vertices)
    if hull.dimension < 3:  # scaling does not thicken a flat hull, so a box replaces it, with its diagonal as excess
        low, high = outline(shape).shape.bounds
        corners = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
        return _Holder(corners, 0.0, float(np.linalg.norm(high - low)))
    points = hull.vertices
    a, b, c = (points[hull.faces[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    middle = points.mean(axis=0)
    inner = np.einsum("ij,ij->i", normals, a - middle)
    outer = np.einsum("ij,ij->i", normals, shape.support(normals) - middle)
    more = max(0.0, float((outer / inner).max()) - 1.0) + 1e-12
    return _Holder(middle + (1.0 + more) * (points - middle), 0.0, more * _reach(points, middle))
