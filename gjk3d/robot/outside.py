"""Points that are outside the robot and its attached objects, for the self-filter of a depth sensor."""

from __future__ import annotations

from math import sqrt

import numpy as np

import gjk3d.query.distance as two_shapes
from gjk3d._kernels.decorators import entry, inlined, kernel, plain
from gjk3d.convex.batch import in_chunks
from gjk3d.narrow.cores import cores_at
from gjk3d.narrow.solve import quick_collide, settle
from gjk3d.narrow.workspace import Solver
from gjk3d.poses import translations
from gjk3d.robot.bodies import end_of
from gjk3d.robot.cell import Cell
from gjk3d.robot.cell_kernels import Frames, Layout, Task, core_of, place
from gjk3d.robot.kinematics import link_poses
from gjk3d.shapes.layout import Core
from gjk3d.shapes.polytopes import Point
from gjk3d.typing import Array, Array1, Array2, Bools, Ints, Ints2

#: a point is outside a slot, inside it, or only inside its outline, so that the shape itself decides
OUT, IN, UNDECIDED = range(3)


@inlined
def _near_axis(frames: Frames, f: Array, o: int, k: int, p: tuple[float, float, float], within: float) -> bool:
    """Return whether the point p may be closer than ``within`` to the capsule of slot k, which is packed at f[o]."""
    a, b = end_of(frames.rows, k, f, o), end_of(frames.rows, k, f, o + 3)
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    x, y, z = p[0] - a[0], p[1] - a[1], p[2] - a[2]
    uu = ux * ux + uy * uy + uz * uz
    t = min(max((x * ux + y * uy + z * uz) / uu, 0.0), 1.0) if uu > 0.0 else 0.0
    x, y, z = x - t * ux, y - t * uy, z - t * uz
    far = sqrt(x * x + y * y + z * z)
    size = abs(p[0]) + abs(p[1]) + abs(p[2]) + abs(a[0]) + abs(a[1]) + abs(a[2])
    # size is at least far, up to rounding, so 1e-12 of it covers the rounding. 1e-9 of far is an additional reserve.
    return bool(far - 1e-9 * (far + f[o + 6] + abs(within)) - 1e-12 * size <= f[o + 6] + within)


@kernel
def _of_slot(
    layout: Layout, frames: Frames, k: int, exact: bool, points: Array, dot: Core, row: Array, margin: float,
    solver: Solver, answer: Ints,
) -> None:  # fmt: skip
    """Write `IN` for points within a margin of slot k, and `UNDECIDED` for points that may be.

    Points that are `IN` already are skipped.
    """
    f, o, balls = layout.floats, layout.starts[k, 2], frames.balls
    cx, cy, cz, core = balls[k, 0], balls[k, 1], balls[k, 2], core_of(layout, k)
    reach = (balls[k, 3] + max(margin, 0.0)) * (1.0 + 1e-9) + 1e-9 * (abs(cx) + abs(cy) + abs(cz))
    # the cheapest test first: ball, capsule, then GJK with a single point
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
    """Write `OUT`, `IN` or `UNDECIDED` for each point at configurations ``start`` to ``stop`` - 1.

    `IN` means within a margin of one of the slots.

    A row of ``slots`` (n, 2) is the number of a slot, and 1 if its outline is the shape itself.
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
    """Return the result of `gjk3d.robot.Checker.outside` at configurations (k, dof): (k, n)."""
    # exact slots first, since a point in one of them does not need the exact functions of later outlines
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
