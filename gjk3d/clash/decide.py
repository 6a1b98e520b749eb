"""What one pair of parts is whose hulls are close."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gjk3d.bodies.bvh import from_points
from gjk3d.bodies.depth import deepest_inside, depth
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.mesh_pair import MeshPair
from gjk3d.bodies.raycast import holds
from gjk3d.clash import contacts as solids
from gjk3d.clash.contacts import HERE, crossing, shared_depth, touching
from gjk3d.clash.report import Vector
from gjk3d.results import Distance
from gjk3d.typing import Array


def _planes(mesh: Mesh) -> tuple[Array, Array]:
    """Return outward normals and offsets of the faces that have an area."""
    corners = mesh.vertices[mesh.skin.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    if mesh.volume < 0.0:
        normals = -normals
    length = np.linalg.norm(normals, axis=1)
    # a sliver's normal is rounding: its corners are those of its neighbours
    size = float(np.ptp(mesh.bounds, axis=0).max())
    good = length > 1e-12 * size * size
    normals = normals[good] / length[good, None]
    return normals, np.einsum("ij,ij->i", normals, corners[good, 0])


def deep_inside(inner: Mesh, outer: Mesh, margin: float) -> bool:
    """Tell whether one convex solid lies in another and stays a margin away from its faces."""
    normals, offsets = _planes(outer)
    return bool(((inner.hull().points @ normals.T).max(axis=0) < offsets - margin).all())


def same(a: Mesh, b: Mesh, tolerance: float) -> bool:
    """Tell whether two parts are the same body at one place: every vertex has its twin, and their areas are equal."""
    if float(np.abs(a.bounds - b.bounds).max()) > tolerance:
        return False
    from scipy.spatial import cKDTree

    here, there = a.vertices[np.unique(a.faces)], b.vertices[np.unique(b.faces)]
    for points, others in ((here, there), (there, here)):
        gap, _ = cKDTree(others).query(points, distance_upper_bound=2.0 * tolerance + 1e-300)
        if not (gap <= tolerance).all():
            return False
    return abs(_area(a) - _area(b)) <= 1e-3 * _area(a)


def same_surface(a: Mesh, b: Mesh, tolerance: float) -> bool:
    """Tell whether every vertex of each of two closed parts lies on the surface of the other."""
    if not (a.is_watertight and b.is_watertight) or float(np.abs(a.bounds - b.bounds).max()) > tolerance:
        return False
    return all(bool((from_points(other, mesh._used)[0] <= tolerance).all()) for mesh, other in ((a, b), (b, a)))


def all_shared(a: Mesh, b: Mesh, volume: float | None, tolerance: float) -> bool:
    """Tell whether the volume that two parts share is all of each, but for a skin as thin as the tolerance."""
    return volume is not None and all(abs(abs(x.volume) - volume) <= tolerance * _area(x) for x in (a, b))


def _area(mesh: Mesh) -> float:
    corners = mesh.vertices[mesh.faces]
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return float(0.5 * np.linalg.norm(cross, axis=1).sum())


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
    penetration: float | None = None
    note: str = ""


def unchecked(reason: str) -> Verdict:
    """Return what is said of what could not be decided: no method did."""
    return Verdict("unchecked", method="", distance_kind="approximate", note=reason)


class Decider:
    """Decides a pair by its limits.

    Parameters
    ----------
    clearance, tolerance : float
        As in `gjk3d.clash.check`.
    known : dict
        What is learnt of a part and kept for its next pair.
    """

    def __init__(self, clearance: float, tolerance: float, known: dict[int, Any]) -> None:
        self.clearance = clearance
        self.tolerance = tolerance
        self._solids = known

    def solid(self, mesh: Mesh) -> Any:
        """Return manifold3d's solid of a mesh, or None."""
        if id(mesh) not in self._solids:
            self._solids[id(mesh)] = solids.solid(mesh)
        return self._solids[id(mesh)]

    def decide(self, a: Mesh, b: Mesh, hulls: Distance) -> Verdict | None:
        """Return what the pair is, None where it is free."""
        twins = same(a, b, self.tolerance)
        slack = a._convex_slack + b._convex_slack
        convex = slack <= 0.1 * self.tolerance
        if convex:
            found = self._convex(a, b, hulls, slack)
        else:
            found = self._any(a, b, hulls)
        if found is None:
            return None
        if found.kind in ("hard", "contained") and (a.is_watertight or b.is_watertight):
            found = found._replace(penetration=deepest_inside(MeshPair.of(a, b, HERE)))
        if not twins:
            one = found.kind == "hard" and same_surface(a, b, self.tolerance)
            # convex solids on whose surfaces the vertices of the other lie are one; others may have their own dents
            if one and (convex or all_shared(a, b, found.overlap_volume, self.tolerance)):
                return found._replace(kind="duplicate", note=_join("the same solid, in other triangles", found.note))
            return found
        return found._replace(
            kind="duplicate", method="equal", note=_join("the same part twice at one place", found.note)
        )

    def _kind(self, distance: float) -> str | None:
        if distance < -self.tolerance:
            return "hard"
        if distance <= self.tolerance:
            return "touch"
        return "clearance" if distance < self.clearance else None

    def _convex(self, a: Mesh, b: Mesh, hulls: Distance, slack: float) -> Verdict | None:
        kind = self._kind(float(hulls.distance))
        if kind is None:
            return None
        method = "epa" if float(hulls.distance) < 0.0 else "gjk"
        found = _of_hulls(kind, hulls)._replace(
            method=method, distance_kind="exact", error_bound=float(hulls.upper - hulls.lower) + slack, convex_gap=0.0
        )
        if kind == "hard":
            for inner, outer, text in ((a, b, "a lies inside b"), (b, a, "b lies inside a")):
                if deep_inside(inner, outer, self.tolerance):
                    found = found._replace(kind="contained", note=text)
            found = self._with_volume(found, self._overlap(a, b))
        return found

    def _any(self, a: Mesh, b: Mesh, hulls: Distance) -> Verdict | None:
        """Decide by triangles what the hulls leave open."""
        pair = MeshPair.of(a, b, HERE)
        if pair.surfaces_meet():
            return self._meeting(a, b)
        held = pair.held()
        if held is not None:
            return self._inside(a, b, held.by)
        gap = pair.gap(max(self.clearance, self.tolerance))
        if gap is None:
            return None
        point_a, point_b = gap.row[6:9], gap.row[9:12]
        way = point_b - point_a
        distance = float(np.linalg.norm(way))
        kind = self._kind(distance)
        if kind is None:
            return None
        return Verdict(
            kind,
            distance,
            0.0,
            normal=vector(way / distance) if distance > 0.0 else None,
            point_a=vector(point_a),
            point_b=vector(point_b),
            point=vector(0.5 * (point_a + point_b)),
            error_bound=gap.upper - gap.lower,
            convex_gap=max(0.0, distance - float(hulls.distance)),
            note=_hollow(a, b),
        )

    def _meeting(self, a: Mesh, b: Mesh) -> Verdict:
        """Decide a pair whose surfaces meet, by how deep they overlap."""
        both = self._overlap(a, b)
        least, place = shared_depth(a, b, both)
        if both is None and max(least, crossing(a, b)) > self.tolerance >= least:
            point, normal = touching(a, b)
            note = _join("the surfaces cross; how deep cannot be told", _hollow(a, b))
            return Verdict(
                "hard", normal=_or_none(normal), point=_or_none(point), distance_kind="approximate", note=note
            )
        if least > self.tolerance:
            found = self._overlapping("hard", a, b, least, place)
            return self._with_volume(found._replace(method="triangles" if both is None else "boolean"), both)
        point, normal = touching(a, b)
        where = _or_none(point)
        return Verdict(
            "touch",
            -least + 0.0,
            least,
            normal=_or_none(normal),
            point_a=where if least == 0.0 else None,
            point_b=where if least == 0.0 else None,
            point=where,
            method="triangles" if both is None else "boolean",
            distance_kind="exact" if both is not None and least == 0.0 else "approximate",
            error_bound=self.tolerance,
            note=_hollow(a, b),
        )

    def _inside(self, a: Mesh, b: Mesh, holder: int) -> Verdict:
        """Decide a pair whose surfaces are apart, a body of one lying in the other."""
        outer, inner, text = (a, b, "b lies inside a") if holder == 1 else (b, a, "a lies inside b")
        wholly = bool(holds(outer, inner._body_points).all())
        found = self._overlapping("contained" if wholly else "hard", a, b, 0.0, None)
        note = text if wholly else text.replace("lies", "has a body that lies")
        return self._with_volume(found._replace(method="inside", note=_join(note, found.note)), self._overlap(a, b))

    def _overlapping(self, kind: str, a: Mesh, b: Mesh, least: float, place: Array | None) -> Verdict:
        """Enclose the depth by the routine of `gjk3d.signed_distance`, and from below by what both share, if known.

        So the bound from above, which is `Clash.depth`, is the same; that from below may be better here, since the
        shared solid has points deeper in both than the vertices that are looked at there. Both hold.
        """
        deep = depth(MeshPair.of(a, b, HERE))
        least = max(least, deep.least)
        place = deep.place if place is None else place
        half = 0.5 * deep.most * deep.normal
        exact = deep.most - least <= 1e-3 * self.tolerance
        return Verdict(
            kind,
            -deep.most,
            deep.most,
            vector(deep.most * deep.normal),
            vector(deep.normal),
            vector(place + half),
            vector(place - half),
            vector(place),
            distance_kind="exact" if exact else "bound",
            error_bound=max(0.0, deep.most - least),
        )

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


def _hollow(a: Mesh, b: Mesh) -> str:
    """Say what cannot be known of parts that are not closed."""
    opened = [name for name, mesh in (("a", a), ("b", b)) if not mesh.is_watertight]
    if not opened:
        return ""
    return f"{' and '.join(opened)} {'is' if len(opened) == 1 else 'are'} not closed: what lies inside is not seen"


def _or_none(values: Array | None) -> Vector | None:
    return None if values is None else vector(values)


def vector(values: Any) -> Vector:
    """Return three plain floats; a negative zero becomes 0."""
    x, y, z = (float(value) + 0.0 for value in values)
    return x, y, z


def _join(first: str, second: str) -> str:
    return f"{first}; {second}" if second else first
