"""A mesh cut into convex parts by coacd, and how far these are from it."""

from __future__ import annotations

from hashlib import sha256
from threading import Lock
from typing import Any

import numpy as np

from gjk3d.errors import ShapeError
from gjk3d.meshes.mesh import Mesh
from gjk3d.meshes.surfaces import from_points, holds
from gjk3d.shapes.base import Array, number
from gjk3d.shapes.convex_hull import ConvexHull
from gjk3d.solids.base import Bools
from gjk3d.solids.compound import Compound

_FINEST, _COARSEST = 0.01, 1.0  #: what coacd takes
_SAMPLES = 20_000  #: points on each surface, beside its vertices
_KEPT = 64  #: decompositions that are kept
_kept: dict[tuple[bytes, float], Compound] = {}
_lock = Lock()


def decompose(mesh: Mesh, threshold: float = 0.05) -> Compound:
    """Answer `Mesh.decompose`."""
    limit = number(threshold, "decompose: threshold")
    if not _FINEST <= limit <= _COARSEST:
        raise ShapeError(
            f"decompose: threshold is {limit:g}, expected {_FINEST} (fine, slow) to {_COARSEST:g} (coarse)"
        )
    digest = sha256(mesh.vertices.tobytes())
    digest.update(mesh.faces.tobytes())
    key = digest.digest(), limit
    with _lock:
        if key in _kept:
            return _kept[key]
    hulls = [ConvexHull(points) for points in _cut(mesh, limit)]
    made = Compound([(hull, None) for hull in hulls])._measured(geometry_error(mesh, hulls))
    with _lock:
        while len(_kept) >= _KEPT:
            del _kept[next(iter(_kept))]
        _kept[key] = made
    return made


def _cut(mesh: Mesh, threshold: float) -> list[Array]:
    """Return the vertices of convex parts."""
    try:
        import coacd
    except ImportError:
        raise ImportError(
            "decompose needs coacd, which is not installed: pip install 'gjk3d[mesh]', or pip install coacd"
        ) from None
    coacd.set_log_level("error")
    closed = coacd.Mesh(mesh.vertices.copy(), mesh.skin.faces.astype(np.int32))
    parts: Any = coacd.run_coacd(closed, threshold=threshold)
    found = [np.asarray(vertices, dtype=np.float64) for vertices, _ in parts if len(vertices)]
    if not found:
        raise ShapeError(f"decompose: coacd found no part in {mesh!r}: is it flat? mesh.hull() is its convex hull")
    return found


def geometry_error(mesh: Mesh, hulls: list[ConvexHull]) -> float:
    """Return how far hulls stick out of a mesh or fall short of it, at vertices and samples of both surfaces."""
    surfaces = [hull.surface() for hull in hulls]
    shift = np.cumsum([0, *(len(s.vertices) for s in surfaces)])
    skin = Mesh(
        np.concatenate([s.vertices for s in surfaces]),
        np.concatenate([s.faces + k for s, k in zip(surfaces, shift, strict=False)]),
    )
    out = _drawn(skin)
    out = out[~_within(hulls, out, -1e-9) & ~holds(mesh, out)]  # the rest is inside, not on the surface of the union
    own = _drawn(mesh)
    own = own[~_within(hulls, own, 0.0)]
    far = [from_points(to, points)[0].max() for to, points in ((mesh, out), (skin, own)) if len(points)]
    return float(max(far, default=0.0))


def _drawn(mesh: Mesh) -> Array:
    """Return the vertices of a surface, and points spread over it."""
    corners = mesh.vertices[mesh.faces]
    u, v = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    area = np.linalg.norm(np.cross(u, v), axis=1)
    used = mesh.vertices[np.unique(mesh.faces)]
    if not area.sum() > 0.0:
        return used
    rng = np.random.default_rng(0)
    k = rng.choice(len(area), _SAMPLES, p=area / area.sum())
    s, t = rng.uniform(size=(2, _SAMPLES, 1))
    s, t = np.where(s + t > 1.0, 1.0 - s, s), np.where(s + t > 1.0, 1.0 - t, t)
    points: Array = np.concatenate([used, corners[k, 0] + s * u[k] + t * v[k], corners.mean(axis=1)])
    return points


def _within(hulls: list[ConvexHull], points: Array, margin: float) -> Bools:
    """Tell which points lie in any hull, or deeper in it than a margin below 0, in units of its size."""
    found: Bools = np.zeros(len(points), dtype=bool)
    for hull in hulls:
        surface = hull.surface()
        v = surface.vertices[surface.faces]
        n = np.cross(v[:, 1] - v[:, 0], v[:, 2] - v[:, 0])
        length = np.linalg.norm(n, axis=1)
        seen = length > 1e-14 * length.max(initial=0.0)
        if not seen.any():
            continue
        n = n[seen] / length[seen, None]
        low, high = surface.vertices.min(axis=0), surface.vertices.max(axis=0)
        close = np.flatnonzero(~found & ((points >= low) & (points <= high)).all(axis=1))
        height = points[close] @ n.T - np.einsum("ij,ij->i", n, v[seen, 0])
        found[close] = height.max(axis=1) <= margin * float(np.linalg.norm(high - low))
    return found
