"""From where a finding is looked at."""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gjk3d.clash.assembly import Assembly
from gjk3d.clash.report import Clash, Report, Vector

_Y_UP = (".glb", ".gltf")
_HEIGHT = 0.45  #: of the camera above the horizon, as a slope
_ROOM = 1.3  #: times the sphere that must be seen


class Camera(NamedTuple):
    """Where a camera is, where it looks, and what is up in its picture; the last two are unit vectors, orthogonal."""

    eye: Vector
    direction: Vector
    up: Vector


def upward(report: Report | Assembly) -> Vector:
    """Return which way is up: y in glTF, as its standard says, else z."""
    suffixes = {Path(item.path).suffix.lower() for item in report.inputs}
    return (0.0, 1.0, 0.0) if suffixes and suffixes <= set(_Y_UP) else (0.0, 0.0, 1.0)


def looking_at(clash: Clash, report: Report, field_of_view: float) -> Camera | None:
    """Return a camera from which the place of a finding is seen, across its normal; None where it has no place.

    Parameters
    ----------
    clash : Clash
        What is looked at.
    report : Report
        Where it is from: its parts say how large the picture must be.
    field_of_view : float
        Whole angle, in degrees.
    """
    boxes = {part.name: part.bounds for part in report.parts if part.bounds is not None}
    sizes = [_half(boxes[name]) for name in (clash.a, clash.b) if name in boxes]
    if clash.point is None or not all(map(math.isfinite, clash.point)):
        return None
    size = min(sizes, default=1.0)  # the smaller part
    if clash.overlap_box is not None:  # what both share, with something of the part round it
        size = min(size, max(0.3 * size, 4.0 * _half(clash.overlap_box)))
    up = np.array(upward(report))
    normal = np.zeros(3) if clash.normal is None else np.array(clash.normal)
    back = min(_ways(up), key=lambda way: round(abs(float(way @ normal)), 9))
    far = _ROOM * (size or 1.0) / math.sin(math.radians(0.5 * field_of_view))
    right = np.cross(up, back)
    upright = np.cross(back, right / np.linalg.norm(right))
    return Camera(_tuple(np.array(clash.point) + far * back), _tuple(-back), _tuple(upright))


def _ways(up: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Return directions from which to look: round the axis that is up, from a little above."""
    east = np.array([1.0, 0.0, 0.0])
    north = np.cross(up, east)
    ways = []
    for k in range(8):
        angle = math.radians(45.0 * k - 60.0)
        way = math.cos(angle) * east + math.sin(angle) * north + _HEIGHT * up
        ways.append(way / np.linalg.norm(way))
    return ways


def _half(box: tuple[Vector, Vector]) -> float:
    return 0.5 * math.dist(*box)


def _tuple(values: NDArray[np.float64]) -> Vector:
    x, y, z = (float(value) + 0.0 for value in values)
    return x, y, z
