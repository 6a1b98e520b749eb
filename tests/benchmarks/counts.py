"""The numbers of support points and steps of a query, which explain its time.

The timed kernels count only their steps. So a few rows of a scene are computed again by the same functions run as
Python, in which calls are counted. Their results have the same bits, so they take the steps of the compiled kernels.
"""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from strategies import build

from gjk3d._kernels.decorators import MODE
from gjk3d.convex.batch import NO_CACHE
from gjk3d.narrow import cores, solve
from gjk3d.narrow.cores import cores_at
from gjk3d.narrow.workspace import FIRST_POINTS, workspace_of
from gjk3d.poses import pose_rows
from gjk3d.shapes.layout import Core

from .accuracy import poses_of
from .scenes import Scene

COUNTED = 16  #: rows of a scene, of which half overlap
_MODES = {"distance": solve.UNSIGNED, "depth": solve.SIGNED}


class Counts(NamedTuple):
    """Means over queries."""

    supports: float  #: of both shapes together
    gjk: float  #: steps
    epa: float

    def __str__(self) -> str:
        return f"{self.supports:.1f} / {self.gjk:.1f} / {self.epa:.1f}"


def counts(scene: Scene, question: str, tol: float = 0.0) -> Counts | None:
    """Count the work of a cold query; return None if kernels cannot run as Python or the setting is a path."""
    if MODE not in ("object", "python") or scene.setting == "path":
        return None
    total = np.zeros(3)

    def counted(function: Any, column: int, amount: Any) -> Any:
        def run(*arguments: Any) -> Any:
            result = function(*arguments)
            total[column] += amount(result)
            return result

        return run

    with (
        patch.object(cores, "support", counted(cores.support, 0, lambda result: 1.0)),
        patch.object(solve, "gjk", counted(solve.gjk, 1, lambda solution: solution.steps)),
        patch.object(solve, "epa", counted(solve.epa, 2, lambda depth: depth.steps)),
    ):
        for k in range(COUNTED):
            _run_query(scene, k, question, tol)
    return Counts(*(total / COUNTED).tolist())


def _run_query(scene: Scene, k: int, question: str, tol: float) -> None:
    """Run a query with the kernels as Python."""
    packed = [build(scene.specs[i])._packed for i in scene.pair(k)]
    rows = [pose_rows(pose)[0][0] for pose in poses_of(scene, k)]
    placed = cores_at(Core(*packed[0]), rows[0], Core(*packed[1]), rows[1])
    workspace = workspace_of(FIRST_POINTS)
    if question == "boolean":
        solve.quick_collide(placed, 0.0, workspace.simplex, NO_CACHE, 0)
        return
    out, flags = np.empty((1, solve.FLOATS)), np.empty((1, solve.INTS), dtype=np.int64)
    solve.solve(placed, _MODES[question], inf, tol, workspace, NO_CACHE, out, flags, 0)
