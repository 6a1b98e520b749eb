"""The motion of a report for its page: poses at even times, and a series of each pair."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gjk3d.clash.motion.record import Course
from gjk3d.clash.motion.track import Track
from gjk3d.typing import Array
from gjk3d.webpage import to_base64
from gjk3d.wording import told

if TYPE_CHECKING:
    from gjk3d.clash.report import Report

_LEAST, _MOST = 241, 2001  #: poses of a body
_IN_ALL = 60_000  #: poses of all bodies together
_TURN = np.radians(2.0)  #: the most between two of them, where there is room for as many


def played(report: Report, center: Array, size: float, numbers: Mapping[str, int]) -> dict[str, Any]:
    """Return what the page plays: a point p is at ``(p - center) / size`` there, parts are known by their numbers."""
    motion = report.motion
    assert motion is not None
    ways: dict[int, tuple[Track, list[int]]] = {}
    for name, track in motion.tracks.items():
        if name in numbers:  # a file may name others
            ways.setdefault(id(track), (track, []))[1].append(numbers[name])
    turns = [float(np.linalg.norm(track.rows[:, 15:18], axis=1).sum()) for track, _ in ways.values()]
    most = max(2, min(_MOST, _IN_ALL // max(1, len(ways))))
    frames = int(np.clip(np.ceil(max(turns, default=0.0) / _TURN) + 1, min(_LEAST, most), most))
    times = np.linspace(motion.begin, motion.end, frames).tolist()
    bodies = []
    for track, parts in ways.values():
        poses = np.stack([track.pose(time) for time in times])[:, :3]
        poses[:, :, 3] = (poses[:, :, :3] @ center + poses[:, :, 3] - center) / size
        bodies.append({"parts": parts, "poses": to_base64(poses, "<f4")})
    return {
        "begin": motion.begin,
        "end": motion.end,
        "unit": motion.unit,
        "frames": frames,
        "bodies": bodies,
        "courses": [_course(pair, report.unit) for pair in motion.pairs],
    }


def _course(pair: Course, unit: str | None) -> dict[str, Any]:
    """Return the series of a pair where it is known; a curve on a screen needs no more than six digits."""
    words = "they clash" if pair.intervals else f"the least is {told(*pair.least, 5, unit)}"
    series = [[float(f"{x:.6g}") for x in row] for row in pair.series if np.isfinite(row).all()]
    return {"intervals": pair.intervals, "series": series, "told": words}
