"""What a moving body sweeps: the union of what its parts do, and what it holds where it starts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gjk3d.bodies.base import Body
from gjk3d.bodies.compound import Compound
from gjk3d.errors import UnboundedShapeError
from gjk3d.poses import composed, matrices, pose_rows
from gjk3d.shapes.base import Shape
from gjk3d.typing import Array


def swept(body: Body, sweep: Callable[[Shape], Shape], start: Array | None) -> Compound:
    """Return the union of the sweeps of all parts; ``start`` is the pose that the way begins at.

    A place that a closed surface holds at some time was passed by the surface, or has been inside from the start.
    """
    parts = body._as_parts()
    if parts.endless:
        raise UnboundedShapeError(
            "Swept: shape is a HeightField, which goes down without end; give it a bottom, or take "
            "gjk3d.Mesh(*field.surface())"
        )
    at = matrices(parts.rows(np.arange(parts.count)))
    made: list[tuple[Any, Any]] = [(sweep(parts.shape(k).placed(pose)), None) for k, pose in enumerate(at)]
    first = pose_rows(start)[0][0]
    solids = [(mesh, matrices(composed(first, row[None]))[0]) for mesh, row in parts.solids]
    return Compound([*solids, *made])
