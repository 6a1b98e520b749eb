"""Peak memory of public queries of shapes with 50 000 vertices, including the structures that they cache."""

from __future__ import annotations

import ctypes
import re
import resource
from pathlib import Path

import naive
import numpy as np
import pytest

import gjk3d as gk

COUNT = 50_000
MAX_BYTES = 500e6  #: bytes, in addition to the inputs
NEAR, FAR = naive.pose(translation=(1.2, 0.3, 0.2)), naive.pose(translation=(3.0, 0.3, 0.2))
BOX = gk.Box((1, 1, 1))
SMALL = gk.Mesh(*BOX.surface())
TO_ORIGIN = gk.Motion(FAR, (-3, 0, 0), (0, 0, 1))

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peaks of memory are read as on Linux"),
]


def memory_size(name):
    """Return a memory size of this process in bytes, from ``/proc/self/status``."""
    return 1024 * int(re.search(rf"{name}:\s+(\d+)", Path("/proc/self/status").read_text()).group(1))


def peak_of(query):
    """Return the peak memory of a query in bytes.

    The address space is limited, so that a query that requests gigabytes fails.
    """
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    before, (soft, hard) = memory_size("VmRSS"), resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (memory_size("VmSize") + 4 * 2**30, hard))
    try:
        query()
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    return memory_size("VmHWM") - before


def bumpy_ball(rows=224):
    """Return a closed, non-convex mesh of about 50 000 vertices."""
    t, u = np.linspace(0, np.pi, rows + 1)[1:-1], np.linspace(0, 2 * np.pi, rows, endpoint=False)
    t, u = np.meshgrid(t, u, indexing="ij")
    r = 1 + 0.1 * np.sin(7 * t) * np.sin(5 * u)
    points = np.stack([r * np.sin(t) * np.cos(u), r * np.sin(t) * np.sin(u), r * np.cos(t)], axis=-1).reshape(-1, 3)
    i, j = (x.ravel() for x in np.meshgrid(np.arange(rows - 2), np.arange(rows), indexing="ij"))
    k, last, top = (j + 1) % rows, (rows - 2) * rows, len(points)
    ring, after = np.arange(rows), (np.arange(rows) + 1) % rows
    faces = [np.stack([i * rows + j, (i + 1) * rows + j, (i + 1) * rows + k], 1)]
    faces += [np.stack([i * rows + j, (i + 1) * rows + k, i * rows + k], 1)]
    faces += [
        np.stack([np.full(rows, top), ring, after], 1),
        np.stack([np.full(rows, top + 1), last + after, last + ring], 1),
    ]
    return gk.Mesh(np.vstack([points, [(0, 0, 1), (0, 0, -1)]]), np.vstack(faces))


def ball():
    return naive.unit_vectors(np.random.default_rng(0), COUNT)


def heights():
    x = np.linspace(0, 9, 224)
    return 0.1 * np.sin(x)[:, None] * np.cos(x)


SHAPES = {
    "hull": lambda: gk.ConvexHull(ball()),
    "collinear hull": lambda: gk.ConvexHull(np.outer(np.linspace(0, 1, COUNT), (1, 2, 3))),
    "rounded hull": lambda: gk.ConvexHull(ball()).inflated(0.1),
    "sum with a hull": lambda: gk.MinkowskiSum(gk.ConvexHull(ball()), BOX),
    "mesh": bumpy_ball,
    "open mesh": lambda: gk.Mesh(bumpy_ball().vertices, bumpy_ball().faces[::2]),
    "cloud": lambda: gk.PointCloud(ball(), radius=0.01),
    "height field": lambda: gk.HeightField(heights(), 0.01),
    "height field with a bottom": lambda: gk.HeightField(heights(), 0.01, bottom=-1.0),
    "voxels": lambda: gk.VoxelGrid(np.random.default_rng(0).random((37, 37, 37)) < 0.8, 0.05),
}


def in_scene(shape):
    scene = gk.Scene()
    scene.add("a", shape)
    scene.add("b", BOX, NEAR)
    return [scene.collisions(), scene.contacts(), scene.clearance(), scene.raycast((5, 0, 0), (-1, 0, 0))]


def near_robot(shape):
    checker = gk.robot.Checker(gk.robot.Robot.example())
    checker.add("shape", shape, FAR)
    q = np.zeros(checker.robot.dof)
    checker.motion_free(q, q + 0.3, resolution=0.1)
    return [query(q) for query in (checker.free, checker.clearance, checker.contacts, checker.distances)]


def as_part(shape):
    mesh = shape if isinstance(shape, gk.Mesh) else gk.Mesh(*shape.surface())
    parts = gk.clash.Assembly.of({"a": (mesh, None), "b": (SMALL, NEAR)}, "m")
    return gk.clash.check(parts, clearance=0.1)


EVERY = {
    "collide": lambda x: gk.collide(x, BOX, None, NEAR),
    "distance": lambda x: gk.distance(x, BOX, None, FAR),
    "signed_distance": lambda x: gk.signed_distance(x, BOX, None, np.stack([NEAR, FAR])),
    "contact": lambda x: gk.contact(x, BOX, None, NEAR),
    "raycast": lambda x: gk.raycast(x, np.tile((5.0, 0, 0), (100, 1)), (-1, 0, 0)),
    "time_of_impact": lambda x: gk.time_of_impact(x, BOX, None, TO_ORIGIN),
    "shapecast": lambda x: gk.shapecast(x, BOX, (3, 0, 0), None, FAR),
    "verify": lambda x: gk.verify(gk.signed_distance(x, BOX, None, FAR), x, BOX, None, FAR),
    "pairs": lambda x: gk.Pairs([x, BOX]).signed_distance([(0, 1)], np.stack([np.eye(4), NEAR])),
    "scene": in_scene,
    "robot": near_robot,
}
BOUNDED = {"bounding_sphere": gk.bounding_sphere, "aabb": gk.aabb, "obb": gk.obb}
CLOSED = {
    "penetration": lambda x: gk.penetration(x, BOX, None, NEAR),
    "contains": lambda x: x.contains(ball()[:1000]),
    "volume": lambda x: x.volume,
}
MESHES = {
    "faces": lambda x: [gk.meeting_faces(x, SMALL, None, NEAR), gk.nearest_faces(x, SMALL, None, FAR)],
    "intersection_curve": lambda x: gk.intersection_curve(x, SMALL, None, NEAR),
    "hull": lambda x: x.hull(),
    "clash": as_part,
}
QUERIES = {
    "hull": {
        **EVERY, **BOUNDED, **CLOSED, "clash": as_part,
        "overlap": lambda x: gk.overlap(x, BOX, None, NEAR),
        "separating_axis": lambda x: gk.separating_axis(x, BOX, None, NEAR),
        "gradient": lambda x: gk.gradient(gk.distance(x, BOX, None, FAR), None, FAR),
    },
    "mesh": {**EVERY, **BOUNDED, **CLOSED, **MESHES},
    "open mesh": {**EVERY, **BOUNDED, **MESHES},
    "height field": EVERY,
    # the exact arithmetic of `verify` would take minutes for this shape, but little memory
    "height field with a bottom": {**{name: EVERY[name] for name in EVERY if name != "verify"}, **BOUNDED},
}  # fmt: skip


@pytest.mark.parametrize("kind", SHAPES)
def test_queries_stay_within_500_megabytes(kind):
    shape = SHAPES[kind]()
    queries = QUERIES.get(kind, {**EVERY, **BOUNDED})
    peaks = {name: peak_of(lambda query=query: query(shape)) for name, query in queries.items()}
    assert {name: peak for name, peak in peaks.items() if peak > MAX_BYTES} == {}
