"""Where rays meet the triangles of a mesh first, found through its tree."""

from __future__ import annotations

from math import sqrt

import numpy as np

from gjk3d._kernels.decorators import kernel
from gjk3d._kernels.first_call import first_call
from gjk3d.bodies.bvh import tree_of
from gjk3d.bodies.mesh import Mesh
from gjk3d.bodies.surfaces import holds
from gjk3d.bodies.traversal import STACK
from gjk3d.bodies.triangles import Triangle, nearest_on, read
from gjk3d.geometry.vec3 import Vec3, cross, dot, sub
from gjk3d.narrow.ray import HIT, INSIDE, MISS
from gjk3d.poses import ROUNDING
from gjk3d.typing import Array, Ints

_NEVER = 1e308


@kernel
def _entry(p: Vec3, d: Vec3, boxes: Array, i: int, noise: float) -> float:
    """Return how far along a ray a box begins, very far where the ray misses it."""
    x, y, z = p[0] - boxes[i, 0], p[1] - boxes[i, 1], p[2] - boxes[i, 2]
    near, far = 0.0, _NEVER
    for k in range(3):
        a, b, c = boxes[i, 6 + 3 * k], boxes[i, 7 + 3 * k], boxes[i, 8 + 3 * k]
        o, s = a * x + b * y + c * z, a * d[0] + b * d[1] + c * d[2]
        half = boxes[i, 3 + k] + noise
        if abs(s) < 1e-12:
            # as far as this ray may come it strays by less than a part of how far the middle is
            if abs(o) > half + 1e-11 * (abs(x) + abs(y) + abs(z)):
                return _NEVER
        else:
            t0, t1 = (-half - o) / s, (half - o) / s
            near, far = max(near, min(t0, t1)), min(far, max(t0, t1))
    return near if near <= far * (1.0 + 1e-12) + noise else _NEVER


@kernel
def _edge_on(p: Vec3, d: Vec3, t: Triangle, noise: float) -> float:
    """Return where a ray in the plane of a triangle meets it."""
    away, _ = nearest_on(p, t)
    if away <= noise * noise:
        return 0.0
    best = _NEVER
    for k in range(3):
        a, b = sub(t[k], p), sub(t[(k + 1) % 3], p)
        e = sub(b, a)
        along, step = dot(a, d), dot(e, d)
        across = (a[0] - along * d[0], a[1] - along * d[1], a[2] - along * d[2])
        turned = (e[0] - step * d[0], e[1] - step * d[1], e[2] - step * d[2])
        long = dot(turned, turned)
        at = 1.0 if step < 0.0 else 0.0  # along the ray: its nearer end
        if long > noise * noise:
            at = min(max(-dot(across, turned) / long, 0.0), 1.0)
        off = (across[0] + at * turned[0], across[1] + at * turned[1], across[2] + at * turned[2])
        ahead = along + at * step
        if dot(off, off) <= noise * noise and 0.0 <= ahead < best:
            best = ahead
    return best


@kernel
def _onto(p: Vec3, d: Vec3, t: Triangle, noise: float) -> float:
    """Return how far along a ray it meets a triangle, its rim as wide as rounding; very far where it does not."""
    a, b, c = sub(t[0], p), sub(t[1], p), sub(t[2], p)
    # each is twice the area across the ray of what lies between it and an edge: off by less than noise times its edges
    u, v, w = dot(d, cross(b, c)), dot(d, cross(c, a)), dot(d, cross(a, b))
    long = noise * (sqrt(dot(a, a)) + sqrt(dot(b, b)) + sqrt(dot(c, c)))
    if min(u, v, w) < -long and max(u, v, w) > long:
        return _NEVER
    total = u + v + w
    if abs(total) <= 4.0 * long:
        return _edge_on(p, d, t, noise)
    ahead = (u * dot(a, d) + v * dot(b, d) + w * dot(c, d)) / total
    # no farther than its corners, where they are all seen under a small angle
    ahead = min(max(ahead, min(dot(a, d), dot(b, d), dot(c, d))), max(dot(a, d), dot(b, d), dot(c, d)))
    return max(ahead, 0.0) if ahead >= -noise else _NEVER


@kernel
def first_triangles(
    starts: Array, ways: Array, far: float, noises: Array, boxes: Array, links: Ints, corners: Array, stack: Ints,
    keys: Array, distances: Array, which: Ints,
) -> None:  # fmt: skip
    """Write of each ray how far it comes to the first triangle, and its place in the tree; -1 where it meets none."""
    for k in range(starts.shape[0]):
        p, d = (starts[k, 0], starts[k, 1], starts[k, 2]), (ways[k, 0], ways[k, 1], ways[k, 2])
        noise = noises[k]
        best, hit = min(far, 0.1 * _NEVER), -1
        stack[0, 0], keys[0] = 0, _entry(p, d, boxes, 0, noise)
        top = 1
        while top > 0:
            top -= 1
            if keys[top] > best + noise:
                continue
            i = stack[top, 0]
            if links[i, 0] < 0:
                for t in range(links[i, 1], links[i, 1] + links[i, 2]):
                    ahead = _onto(p, d, read(corners, t), noise)
                    if ahead < best or (ahead == best and hit < 0):
                        best, hit = ahead, t
                continue
            d0, d1 = _entry(p, d, boxes, links[i, 0], noise), _entry(p, d, boxes, links[i, 0] + 1, noise)
            first = 1 if d0 <= d1 else 0  # the nearer is looked at first
            stack[top, 0], keys[top] = links[i, 0] + first, d1 if first == 1 else d0
            stack[top + 1, 0], keys[top + 1] = links[i, 0] + 1 - first, d0 if first == 1 else d1
            top += 2
        distances[k], which[k] = best, hit


def cast_mesh(mesh: Mesh, poses: Array, starts: Array, units: Array, most: float, out: Array, codes: Ints) -> None:
    """Write what rays in world axes meet of a mesh: distances, normals against the ray, and HIT, MISS or INSIDE."""
    count = len(out)
    turns = np.broadcast_to(poses[:, :9].reshape(-1, 3, 3), (count, 3, 3))
    back = turns.transpose(0, 2, 1)
    own = np.ascontiguousarray((back @ np.broadcast_to(starts - poses[:, 9:12], (count, 3))[..., None])[..., 0])
    ways = np.ascontiguousarray((back @ np.broadcast_to(units, (count, 3))[..., None])[..., 0])
    tree = tree_of(mesh)
    noises = ROUNDING * (tree.reach + np.abs(own).max(axis=1, initial=0.0))
    distances, which = np.empty(count), np.empty(count, dtype=np.int64)
    stack, keys = np.empty((STACK, 2), dtype=np.int64), np.empty(STACK)
    with first_call("raycast of a mesh"):
        first_triangles(own, ways, most, noises, *tree.arrays, stack, keys, distances, which)
    low, high = mesh.bounds
    within = np.flatnonzero(((own >= low) & (own <= high)).all(axis=1)) if mesh.is_solid else np.zeros(0, int)
    inside = (which >= 0) & (distances <= 2.0 * noises)
    inside[within[holds(mesh, np.ascontiguousarray(own[within]))]] = True
    v = tree.corners[np.maximum(which, 0)].reshape(-1, 3, 3)
    normals = np.cross(v[:, 1] - v[:, 0], v[:, 2] - v[:, 0])
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = np.divide(normals, length, out=-ways, where=length > 0.0)
    normals[np.einsum("ij,ij->i", normals, ways) > 0.0] *= -1.0
    out[:, 0] = np.where(inside, 0.0, np.where(which >= 0, distances, np.inf))
    out[:, 1:] = np.where(inside[:, None], -units, (turns @ normals[..., None])[..., 0]) + 0.0
    codes[:] = np.where(inside, INSIDE, np.where(which >= 0, HIT, MISS))
