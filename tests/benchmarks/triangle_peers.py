"""The peers of the benchmarks `rays` and `points`, with one thread each, and the meshes.

A library that is not installed is skipped. All but libigl compute in float32.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

import gjk3d as gk

Call = Callable[[], Any]


def use_one_core() -> None:
    """Restrict this process to one core, since some libraries use all cores."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def bumpy_torus(count: int) -> gk.Mesh:
    """Return a closed, non-convex mesh of about this many triangles, which float32 represents exactly."""
    across = max(6, round((count / 5) ** 0.5))
    around = max(6, round(count / 2 / across))
    i, j = np.meshgrid(np.arange(around), np.arange(across), indexing="ij")
    a, b = 2 * np.pi * i / around, 2 * np.pi * j / across
    r = 0.35 + 0.06 * (np.sin(9 * a) * np.cos(5 * b) + 0.2 * np.random.default_rng(0).uniform(-1, 1, a.shape) / across)
    points = np.stack([(1 + r * np.cos(b)) * np.cos(a), (1 + r * np.cos(b)) * np.sin(a), r * np.sin(b)], -1)
    corner = [(i + s) % around * across + (j + t) % across for s, t in ((0, 0), (1, 0), (1, 1), (0, 1))]
    faces = np.concatenate([np.stack([corner[k] for k in ks], -1).reshape(-1, 3) for ks in ((0, 1, 2), (0, 2, 3))])
    return gk.Mesh(points.reshape(-1, 3).astype(np.float32).astype(float), faces)


def embree_rays(mesh: gk.Mesh, origins: np.ndarray, directions: np.ndarray) -> Call:
    """Return a call of Embree that computes the distances of all rays."""
    from embreex.mesh_construction import TriangleMesh
    from embreex.rtcore_scene import EmbreeScene

    scene = EmbreeScene()
    TriangleMesh(scene, mesh.vertices.astype(np.float32), mesh.faces.astype(np.int32))
    rays = origins.astype(np.float32), directions.astype(np.float32)

    def call() -> np.ndarray:
        hits = scene.run(*rays, output=1)
        return np.where(hits["geomID"] >= 0, hits["tfar"], np.inf)

    return call


def _open3d(mesh: gk.Mesh) -> tuple[Any, Any]:
    import open3d

    scene = open3d.t.geometry.RaycastingScene(nthreads=1)
    scene.add_triangles(mesh.vertices.astype(np.float32), mesh.faces.astype(np.uint32))
    return open3d.core.Tensor, scene


def open3d_rays(mesh: gk.Mesh, origins: np.ndarray, directions: np.ndarray) -> Call:
    """Return a call of Open3D that computes the distances of all rays."""
    tensor, scene = _open3d(mesh)
    rays = tensor(np.column_stack([origins, directions]).astype(np.float32))
    return lambda: scene.cast_rays(rays, nthreads=1)["t_hit"].numpy()


def open3d_points(mesh: gk.Mesh, points: np.ndarray) -> Call:
    """Return a call of Open3D that computes signed distances."""
    tensor, scene = _open3d(mesh)
    batch = tensor(points.astype(np.float32))
    return lambda: scene.compute_signed_distance(batch, nthreads=1).numpy()


def open3d_inside(mesh: gk.Mesh, points: np.ndarray) -> Call:
    """Return a call of Open3D that computes whether points are inside."""
    tensor, scene = _open3d(mesh)
    batch = tensor(points.astype(np.float32))
    return lambda: scene.compute_occupancy(batch, nthreads=1).numpy() > 0.5


def warp_points(mesh: gk.Mesh, points: np.ndarray) -> Call:
    """Return a call of warp that computes signed distances by the nearest normal, its fastest method."""
    import warp as wp

    from . import warp_kernels

    wp.config.quiet = True
    wp.init()
    vertices, faces = mesh.vertices.astype(np.float32), mesh.faces.astype(np.int32).ravel()
    tree = wp.Mesh(wp.array(vertices, dtype=wp.vec3, device="cpu"), wp.array(faces, dtype=int, device="cpu"))
    batch = wp.array(points.astype(np.float32), dtype=wp.vec3, device="cpu")
    distances = wp.empty(len(points), dtype=float, device="cpu")

    def call() -> np.ndarray:
        wp.launch(warp_kernels.signed, dim=len(points), inputs=[tree.id, batch, distances], device="cpu")
        return distances.numpy()

    return call


def igl_points(mesh: gk.Mesh, points: np.ndarray) -> Call:
    """Return a call of libigl that computes signed distances in float64."""
    import igl

    kind = igl.SignedDistanceType.SIGNED_DISTANCE_TYPE_PSEUDONORMAL
    return lambda: igl.signed_distance(points, np.array(mesh.vertices), np.array(mesh.faces), kind)[0]


def meshlib_points(mesh: gk.Mesh, points: np.ndarray) -> Call:
    """Return a call of MeshLib that computes signed distances."""
    from meshlib import mrmeshnumpy, mrmeshpy

    model = mrmeshnumpy.meshFromFacesVerts(mesh.faces.astype(np.int32), mesh.vertices)
    few = [mrmeshpy.Vector3f(*row) for row in points.tolist()]
    options = mrmeshpy.SignedDistanceToMeshOptions()
    options.signMode = mrmeshpy.SignDetectionMode.ProjectionNormal
    return lambda: np.array([mrmeshpy.findSignedDistance(p, model).dist for p in few])


def installed(makers: dict[str, Callable[..., Call]], *arguments: Any) -> dict[str, Call]:
    """Return the calls of the installed libraries."""
    calls = {}
    for name, make in makers.items():
        try:
            calls[name] = make(*arguments)
        except ImportError:
            continue
    return calls
