"""The pictures that ``gjk3d robot`` draws beside its answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gjk3d.cli.terminal import note

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gjk3d.cli.robot_work import Rows, Work


class Pictures:
    """Draws what was asked for, and nothing where nothing was."""

    def __init__(self, work: Work, picture: Path | None, animation: Path | None, quiet: bool) -> None:
        self.work, self.picture, self.animation, self.quiet = work, picture, animation, quiet

    def of_rows(self, rows: Rows) -> None:
        """Draw the first configuration that collides, else the one that comes closest."""
        if self.picture is None or not rows.rows:
            return
        row = next((row for row in rows.rows if not row.free), None)
        if row is None:
            near = [row.nearest for row in rows.rows if row.nearest is not None] or self.work.nearest(
                _stack([row.q for row in rows.rows])
            )
            row = rows.rows[min(range(len(near)), key=lambda k: near[k].distance)]
        self._draw(row.q, f"{self.work.robot.name}, row {row.number}")

    def of_robot(self) -> None:
        """Draw the robot where all joints are 0."""
        if self.picture is not None:
            self._draw(self.work.robot.configurations([0.0] * self.work.robot.dof)[0][0], self.work.robot.name)

    def of_path(self, points: NDArray[np.float64], certify: bool, resolution: float) -> None:
        """Draw a path with ghosts, and as an animation."""
        if self.picture is None and self.animation is None:
            return
        from gjk3d.viz import motion, show
        from gjk3d.viz.motions import travel

        checker = self.work.pictured()
        if self.picture is not None:
            show(travel(checker, points, certify=certify, resolution=resolution), path=self.picture)
            self._wrote(self.picture)
        if self.animation is not None:
            motion(checker, points, self.animation, certify=certify, resolution=resolution)
            self._wrote(self.animation)

    def _draw(self, q: NDArray[np.float64], title: str) -> None:
        from gjk3d.viz import show

        show(self.work.pictured(), q=q, path=self.picture, names=title)
        self._wrote(self.picture)

    def _wrote(self, target: Path | None) -> None:
        if not self.quiet:
            note(target, "wrote")


def _stack(rows: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    import numpy as np

    return np.array(rows)
