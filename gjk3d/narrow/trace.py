"""The reader of the log that kernels write of their steps, one flat array of floats; see `gjk3d.narrow.workspace`."""

from __future__ import annotations

import numpy as np

from gjk3d.narrow.workspace import EPA_START, GJK_END, GJK_STEP
from gjk3d.results import EpaStep, GjkStep, Trace
from gjk3d.typing import Array

#: reason of GJK's stop, by the codes of `gjk3d.narrow.gjk`
ENDINGS = ("converged", "beyond", "near enough", "origin inside", "origin on the simplex", "no progress", "step limit")


def read_log(log: Array) -> Trace:
    """Return the steps in a log."""
    trace = Trace()
    at = 1
    vertices: list[Array] = []
    alive: dict[int, tuple[int, int, int]] = {}
    born = 0

    def read(count: int) -> Array:
        nonlocal at
        at += count
        return log[at - count : at].copy()

    while at < len(log):
        kind = read(1)[0]
        if kind == GJK_STEP:
            direction, a, b = read(3), read(3), read(3)
            bound, lower, upper = read(3)
            count = int(read(1)[0])
            rows = read(40).reshape(4, 10)[:count]
            trace.gjk.append(
                GjkStep(
                    direction,
                    a,
                    b,
                    float(bound),
                    float(lower),
                    float(upper),
                    rows[:, :3],
                    rows[:, 3:6],
                    rows[:, 6:9],
                    rows[:, 9],
                )
            )
        elif kind == GJK_END:
            trace.gjk_end = ENDINGS[int(read(1)[0])]
            count = int(read(1)[0])
            rows = read(40).reshape(4, 10)[:count]
            trace.simplex, trace.simplex_weights = rows[:, :3], rows[:, 9]
            trace.simplex_a, trace.simplex_b = rows[:, 3:6], rows[:, 6:9]
        elif kind == EPA_START:
            vertices = [read(9) for _ in range(4)]
            alive = {f: (int(i), int(j), int(k)) for f, (i, j, k) in enumerate(read(12).reshape(4, 3))}
            born = 4
        else:
            direction, w, a, b = read(3), read(3), read(3), read(3)
            face = int(read(1)[0])
            lower, upper = read(2)
            before = np.array(list(alive.values()), dtype=np.int64)
            closest = np.array(alive[face])
            added = [(int(i), int(j), int(k)) for i, j, k in read(3 * int(read(1)[0])).reshape(-1, 3)]
            removed = [int(x) for x in read(int(read(1)[0]))]
            horizon = np.array([row[:2] for row in added], dtype=np.int64).reshape(-1, 2)
            points = np.array(vertices)
            removed_faces = np.array([alive[f] for f in removed], dtype=np.int64).reshape(-1, 3)
            trace.epa.append(
                EpaStep(
                    vertices=points[:, :3],
                    faces=before,
                    closest=closest,
                    direction=direction,
                    point=w,
                    support_a=a,
                    support_b=b,
                    removed=removed_faces,
                    horizon=horizon,
                    lower=float(lower),
                    upper=float(upper),
                    vertices_a=points[:, 3:6],
                    vertices_b=points[:, 6:9],
                )
            )
            if added:
                for f in removed:
                    del alive[f]
                for k, row in enumerate(added):
                    alive[born + k] = row
                born += len(added)
                vertices.append(np.concatenate([w, a, b]))
    return trace
