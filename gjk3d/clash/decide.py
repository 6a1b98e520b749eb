"""What one pair of parts is whose hulls are close."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gjk3d.clash import solids
from gjk3d.clash.report import Vector
from gjk3d.clash.sameness import convex_defect, deep_inside, same
from gjk3d.meshes import Mesh
from gjk3d.results import Distance

Array = NDArray[np.float64]


class Verdict(NamedTuple):
    """What a pair is; the fields are those of `gjk3d.clash.Clash`."""

    kind: str
    distance: float | None = None
    depth: float | None = None
    mtv: Vector | None = None
    normal: Vector | None = None
    point_a: Vector | None = None
    point_b: Vector | None = None
    point: Vector | None = None
    overlap_volume: float | None = None
    overlap_box: tuple[Vector, Vector] | None = None
    shape_a: str = "triangles"
    shape_b: str = "triangles"
    method: str = "triangles"
    distance_kind: str = "exact"
    error_bound: float | None = None
    convex_gap: float | None = None
    note: str = ""


class Decider:
    """Decides pairs; what it learns of a part is kept for the next pair of it.

    Parameters
    ----------
    clearance, tolerance : float
        As in `gjk3d.clash.check`.
    """

    def __init__(self, clearance: float, tolerance: float) -> None:
        self.clearance = clearance
        self.tolerance = tolerance
        self._solids: dict[int, Any] = {}
        self._defects: dict[int, float] = {}

    def solid(self, mesh: Mesh) -> Any:
        """Return manifold3d's solid of a mesh, or None."""
        if id(mesh) not in self._solids:
            self._solids[id(mesh)] = solids.solid(mesh)
        return self._solids[id(mesh)]

    def defect(self, mesh: Mesh) -> float:
        """Return how much a mesh lacks of its hull; see `convex_defect`."""
        if id(mesh) not in self._defects:
            self._defects[id(mesh)] = convex_defect(mesh)
        return self._defects[id(mesh)]

    def decide(self, a: Mesh, b: Mesh, hulls: Distance) -> Verdict | None:
        """Return what the pair is, None where it is free."""
        twins = same(a, b, self.tolerance)
        defect = self.defect(a) + self.defect(b)
        if defect <= 0.1 * self.tolerance:
            found = self._convex(a, b, hulls, defect)
        else:
            found = self._any(a, b, hulls)
        if found is None or not twins:
            return found
        return found._replace(kind="duplicate", note=_join("the same part twice at one place", found.note))

    def _kind(self, distance: float) -> str | None:
        if distance < -self.tolerance:
            return "hard"
        if distance <= self.tolerance:
            return "touch"
        return "clearance" if distance < self.clearance else None

    def _convex(self, a: Mesh, b: Mesh, hulls: Distance, defect: float) -> Verdict | None:
        kind = self._kind(float(hulls.distance))
        if kind is None:
            return None
        method = "epa" if float(hulls.distance) < 0.0 else "gjk"
        found = _of_hulls(kind, hulls)._replace(
            method=method, distance_kind="exact", error_bound=float(hulls.upper - hulls.lower) + defect, convex_gap=0.0
        )
        if kind == "hard":
            for inner, outer, text in ((a, b, "a lies inside b"), (b, a, "b lies inside a")):
                if deep_inside(inner, outer, self.tolerance):
                    found = found._replace(kind="contained", note=text)
            found = self._with_volume(found, self._overlap(a, b))
        return found

    def _any(self, a: Mesh, b: Mesh, hulls: Distance) -> Verdict | None:
        """Decide by volumes what the hulls leave open."""
        both = self._overlap(a, b)
        hull = float(hulls.distance)
        if both is None:
            kind = self._kind(hull)
            note = "one part is not closed" if solids.available() else 'decided by hulls: pip install "gjk3d[mesh]"'
            return None if kind is None else _of_hulls(kind, hulls)._replace(note=note)
        if both.volume > 0.0 and thickness(both) > self.tolerance:
            found = _of_hulls("hard", hulls)._replace(method="boolean", distance_kind="bound")
            for inner, outer, text in ((a, b, "a lies inside b"), (b, a, "b lies inside a")):
                reach = 2.0 * self.tolerance
                if solids.gap_inside(self.solid(inner), self.solid(outer), reach) > self.tolerance:
                    found = found._replace(kind="contained", note=text)
            return self._with_volume(found, both)
        reach = max(self.clearance, self.tolerance)
        gap = float(self.solid(a).min_gap(self.solid(b), 2.0 * reach))
        kind = self._kind(gap)
        if kind is None:
            return None
        found = _of_hulls(kind, hulls)
        return found._replace(distance=gap, depth=0.0, mtv=None, method="boolean", distance_kind="exact")

    def _overlap(self, a: Mesh, b: Mesh) -> solids.Overlap | None:
        first, second = self.solid(a), self.solid(b)
        return None if first is None or second is None else solids.overlap(first, second)

    def _with_volume(self, found: Verdict, both: solids.Overlap | None) -> Verdict:
        if both is None or not both.volume > 0.0:
            return found
        low, high = both.box
        return found._replace(
            overlap_volume=both.volume,
            overlap_box=(vector(low), vector(high)),
            point=vector(both.vertices.mean(axis=0)),
        )


def _of_hulls(kind: str, hulls: Distance) -> Verdict:
    """Return the verdict that the hulls alone give."""
    distance = float(hulls.distance)
    depth = max(0.0, -distance)
    normal = np.asarray(hulls.normal)
    first, second = np.asarray(hulls.point_a), np.asarray(hulls.point_b)
    return Verdict(
        kind,
        distance,
        depth,
        vector(depth * normal) if depth > 0.0 else None,
        vector(normal),
        vector(first),
        vector(second),
        vector(0.5 * (first + second)),
        shape_a="hull",
        shape_b="hull",
        method="epa" if depth > 0.0 else "gjk",
        distance_kind="approximate",
    )


def thickness(both: solids.Overlap) -> float:
    """Return the mean thickness of what is shared, by its volume and its surface; 0 where there is none."""
    corners = both.vertices[both.faces]
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = float(0.5 * np.linalg.norm(cross, axis=1).sum())
    return 2.0 * abs(both.volume) / area if area > 0.0 else 0.0


def vector(values: Any) -> Vector:
    """Return three plain floats; a negative zero becomes 0."""
    x, y, z = (float(value) + 0.0 for value in values)
    return x, y, z


def _join(first: str, second: str) -> str:
    return f"{first}; {second}" if second else first
