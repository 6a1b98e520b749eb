"""How many support points and steps a query takes: the cause beside the time.

The timed kernels count nothing but their steps. So a few rows of a scene are answered once more by the same functions
run as Python, in which calls are counted; their bits, and so their steps, are those of the compiled ones.
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
    """Means of a query."""

    supports: float  #: of both shapes together
    gjk: float  #: steps
    epa: float

    def __str__(self) -> str:
        return f"{self.supports:.1f} / {self.gjk:.1f} / {self.epa:.1f}"


def counts(scene: Scene, question: str, tol: float = 0.0) -> Counts | None:
    """Count what a cold query does; None where the kernels cannot be run as Python here, or memory is measured."""
    if MODE not in ("object", "python") or scene.setting == "path":
        return None
    total = np.zeros(3)

    def counted(function: Any, column: int, amount: Any) -> Any:
        def run(*arguments: Any) -> Any:
            found = function(*arguments)
            total[column] += amount(found)
            return found

        return run

    with (
        patch.object(cores, "support", counted(cores.support, 0, lambda found: 1.0)),
        patch.object(solve, "gjk", counted(solve.gjk, 1, lambda walk: walk.steps)),
        patch.object(solve, "epa", counted(solve.epa, 2, lambda depth: depth.steps)),
    ):
        for k in range(COUNTED):
            _answer(scene, k, question, tol)
    return Counts(*(total / COUNTED).tolist())


def _answer(scene: Scene, k: int, question: str, tol: float) -> None:
    """Answer one query by the kernels as Python."""
    packed = [build(scene.specs[i])._packed for i in scene.pair(k)]
    rows = [pose_rows(pose)[0][0] for pose in poses_of(scene, k)]
    both = cores_at(Core(*packed[0]), rows[0], Core(*packed[1]), rows[1])
    workspace = workspace_of(FIRST_POINTS)
    if question == "boolean":
        solve.quick_collide(both, 0.0, workspace.simplex, NO_CACHE, 0)
        return
    out, flags = np.empty((1, solve.FLOATS)), np.empty((1, solve.INTS), dtype=np.int64)
    solve.solve(both, _MODES[question], inf, tol, workspace, NO_CACHE, out, flags, 0)
