"""``python -m tests.benchmarks.bodies``: meshes, ground, voxels and clouds with convex shapes, compared with peers.

The table has the CPU time of a query from Python, the median over interleaved rounds. coal and python-fcl have prepared
models, transforms, requests and results. gjk3d takes 4x4 matrices: one per call, 64, or all 512. The convex shapes are
near the surface, so that about half of them collide. The table also has the differences from gjk3d's results: the
share of booleans, and the largest difference of distances, in units of the body.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import coal
import fcl
import numpy as np
import trimesh
from scipy.spatial.transform import Rotation

import gjk3d as gk

from .beyond import medians, sphere_points
from .meshes import coal_lists, in_coal, in_fcl
from .table_file import table_parser, write_table

COUNT = 512  #: poses of a repetition
FEW = 64  #: poses of a short stack, in which the overhead of a call weighs more
STACKS = ("short stacks", "stack")


class Host(NamedTuple):
    """A non-convex body, its models in coal and python-fcl where they exist, and points and normals of its surface."""

    name: str
    ours: Any
    in_coal: Any
    in_fcl: Any
    points: np.ndarray
    normals: np.ndarray


class Guest(NamedTuple):
    """A convex shape, its models in the peers, and its approximate reach."""

    name: str
    ours: gk.Shape
    in_coal: Any
    in_fcl: Any
    reach: float


def bumpy(count: int) -> trimesh.Trimesh:
    """Return a closed ball with dents, of about this many triangles."""
    rings = max(int((count / 4) ** 0.5), 4)
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 2 * rings, False), np.linspace(0, np.pi, rings + 1)[1:-1])
    way = np.stack([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)], axis=-1).reshape(-1, 3)
    r = 1.0 + 0.15 * np.sin(7 * u.ravel()) * np.sin(5 * v.ravel())
    points = np.concatenate([r[:, None] * way, [(0, 0, 1), (0, 0, -1)]])
    wide, top = 2 * rings, len(points) - 2
    ring, k = np.meshgrid(np.arange(rings - 2), np.arange(wide), indexing="ij")
    a, b = ring * wide + k, ring * wide + (k + 1) % wide
    sides = np.concatenate([np.stack([a, a + wide, b], -1), np.stack([b, a + wide, b + wide], -1)]).reshape(-1, 3)
    k = np.arange(wide)
    last = (rings - 2) * wide
    caps = [
        np.stack([k, (k + 1) % wide, 0 * k + top], -1),
        np.stack([last + (k + 1) % wide, last + k, 0 * k + top + 1], -1),
    ]
    return trimesh.Trimesh(points, np.concatenate([sides, *caps]), process=False)


def of_mesh(name: str, mesh: trimesh.Trimesh) -> Host:
    """Return the models of a mesh."""
    points, faces = trimesh.sample.sample_surface(mesh, COUNT, seed=1)
    ours = gk.Mesh(mesh.vertices, mesh.faces)
    return Host(name, ours, in_coal(coal_lists(mesh)), in_fcl(mesh), points, mesh.face_normals[faces])


def ground() -> Host:
    """Return a height field of 200 x 200. Coal's has its origin in the middle and its rows along y."""
    rng = np.random.default_rng(2)
    nx = 200
    x = np.linspace(-1, 1, nx)
    heights = 0.2 * np.sin(5 * x)[:, None] * np.cos(4 * x)[None] + 0.01 * rng.random((nx, nx))
    pitch = 2.0 / (nx - 1)
    ours = gk.HeightField(heights, pitch, (-1.0, -1.0))
    peer = coal.HeightFieldOBBRSS(2.0, 2.0, np.asfortranarray(heights.T[::-1]), float(heights.min() - 2.0))
    cells = rng.integers(20, nx - 20, (COUNT, 2))
    points = np.column_stack([x[cells[:, 0]], x[cells[:, 1]], heights[cells[:, 0], cells[:, 1]]])
    return Host("height field of 200 x 200", ours, peer, None, points, np.tile((0.0, 0.0, 1.0), (COUNT, 1)))


def octree(points: np.ndarray, pitch: float) -> Any:
    """Return coal's octree of cubes at the points, or None if coal is built without octrees."""
    return coal.makeOctree(np.ascontiguousarray(points), pitch) if coal.WITH_OCTOMAP else None


def voxels(count: int) -> Host:
    """Return a grid in which a tenth of the cubes are occupied."""
    rng, pitch = np.random.default_rng(3), 2.0 / count
    solid = rng.random((count, count, count)) < 0.1
    middles = (np.argwhere(solid) + 0.5) * pitch - 1.0
    some = middles[rng.integers(0, len(middles), COUNT)]
    return Host(
        f"voxels, {count}^3", gk.VoxelGrid(solid, pitch, (-1.0, -1.0, -1.0)), octree(middles, pitch), None, some,
        sphere_points(rng, COUNT),
    )  # fmt: skip


def cloud(count: int) -> Host:
    """Return points on a ball with dents, which are cubes in coal."""
    points = bumpy(2 * count).vertices
    rng = np.random.default_rng(4)
    pitch = 2.0 / count**0.5
    normals = sphere_points(rng, COUNT)
    some = points[rng.integers(0, len(points), COUNT)]
    return Host(
        f"cloud of {len(points)} points", gk.PointCloud(points, pitch / 2), octree(points, pitch), None, some, normals
    )


def guests(size: float) -> list[Guest]:
    """Return convex shapes of about this size."""
    points = size * sphere_points(np.random.default_rng(5), 32)
    hull = gk.ConvexHull(points)
    many = coal.StdVec_Vec3s()
    many.extend(list(np.asarray(hull.vertices)))
    of_coal = coal.Convex.convexHull(many, False, "Qt")
    sides, wide, round_ = (1.4 * size, size, size), 0.6 * size, (0.4 * size, 1.2 * size)
    return [
        Guest("box", gk.Box(sides), coal.Box(*sides), fcl.Box(*sides), wide),
        Guest("sphere", gk.Sphere(wide), coal.Sphere(wide), fcl.Sphere(wide), wide),
        Guest("cylinder", gk.Cylinder(*round_), coal.Cylinder(*round_), fcl.Cylinder(*round_), wide),
        Guest("hull of 32", hull, of_coal, None, 0.9 * size),
    ]


def poses_about(host: Host, guest: Guest) -> np.ndarray:
    """Return poses outside of the surface, about half of which collide."""
    rng = np.random.default_rng(6)
    poses = np.tile(np.eye(4), (COUNT, 1, 1))
    poses[:, :3, :3] = Rotation.random(COUNT, random_state=7).as_matrix()
    poses[:, :3, 3] = host.points + host.normals * rng.uniform(0.4, 1.8, (COUNT, 1)) * guest.reach
    return poses


def coal_loops(a: Any, b: Any, poses: np.ndarray) -> dict[str, Callable[[], list[Any]]]:
    """Return coal's loops over the poses by query."""
    still = coal.Transform3s()
    transforms = [coal.Transform3s(p[:3, :3].copy(), p[:3, 3].copy()) for p in poses]
    few, far, collisions, distances = (
        coal.CollisionRequest(),
        coal.DistanceRequest(),
        coal.CollisionResult(),
        coal.DistanceResult(),
    )
    few.enable_contact = False

    def collide(transform: Any) -> bool:
        collisions.clear()
        return bool(coal.collide(a, still, b, transform, few, collisions))

    def distance(transform: Any) -> float:
        distances.clear()
        return float(coal.distance(a, still, b, transform, far, distances))

    return {
        "boolean": lambda: [collide(transform) for transform in transforms],
        "distance": lambda: [distance(transform) for transform in transforms],
    }


def fcl_loops(a: Any, b: Any, poses: np.ndarray) -> dict[str, Callable[[], list[Any]]]:
    """Return python-fcl's loops over the poses by query."""
    still = fcl.CollisionObject(a, fcl.Transform())
    objects = [fcl.CollisionObject(b, fcl.Transform(p[:3, :3], p[:3, 3])) for p in poses]

    def collide(moving: Any) -> bool:
        return bool(fcl.collide(still, moving, fcl.CollisionRequest(), fcl.CollisionResult()) > 0)

    def distance(moving: Any) -> float:
        return float(fcl.distance(still, moving, fcl.DistanceRequest(), fcl.DistanceResult()))

    return {
        "boolean": lambda: [collide(moving) for moving in objects],
        "distance": lambda: [distance(moving) for moving in objects],
    }


def library_loops(host: Host, guest: Guest, poses: np.ndarray) -> dict[str, dict[str, Callable[[], Any]]]:
    """Return the loops of each library by query."""
    a, b, single_poses, parts = host.ours, guest.ours, list(poses), poses.reshape(-1, FEW, 4, 4)
    loops: dict[str, dict[str, Callable[[], Any]]] = {
        "gjk3d": {
            "boolean": lambda: [gk.collide(a, b, None, p) for p in single_poses],
            "distance": lambda: [gk.distance(a, b, None, p).distance for p in single_poses],
        },
        "short stacks": {
            "boolean": lambda: np.concatenate([gk.collide(a, b, None, few) for few in parts]),
            "distance": lambda: np.concatenate([gk.distance(a, b, None, few).distance for few in parts]),
        },
        "stack": {
            "boolean": lambda: gk.collide(a, b, None, poses),
            "distance": lambda: gk.distance(a, b, None, poses).distance,
        },
    }
    if host.in_coal is not None:
        loops["coal"] = coal_loops(host.in_coal, guest.in_coal, poses)
        if isinstance(host.in_coal, coal.HeightFieldOBBRSS):
            del loops["coal"]["distance"]  # coal has no distance of height fields
    if host.in_fcl is not None and guest.in_fcl is not None:
        loops["python-fcl"] = fcl_loops(host.in_fcl, guest.in_fcl, poses)
    return loops


def difference(question: str, ours: np.ndarray, theirs: np.ndarray) -> float:
    """Return the share of different booleans, or the largest difference of distances of separated pairs."""
    if question == "boolean":
        return float((ours != theirs).mean())
    return float(np.abs(ours - np.maximum(theirs, 0.0))[ours > 0].max(initial=0.0))


def rows(host: Host, size: float, rounds: int) -> Iterator[str]:
    """Yield the table rows of a body."""
    for guest in guests(size):
        poses = poses_about(host, guest)
        who = library_loops(host, guest, poses)
        for question in ("boolean", "distance"):
            runs = {name: loops[question] for name, loops in who.items() if question in loops}
            answers = {name: np.array(run(), dtype=float) for name, run in runs.items()}
            assert all((answers["gjk3d"] == answers[stack]).all() for stack in STACKS)
            spent = medians([(name, COUNT, run) for name, run in runs.items()], rounds)
            peers = [name for name in spent if name != "gjk3d" and name not in STACKS]
            off = [f"{difference(question, answers['gjk3d'], answers[name]):.1g}" for name in peers]
            ratio = min((spent[name] for name in peers), default=0.0) / spent["gjk3d"]
            best = f"{ratio:.{2 if ratio < 99.5 else 3}g}x" if peers else ""
            times = ("gjk3d", *STACKS, "coal", "python-fcl")
            cells = [f"{spent[name]:.1f}" if name in spent else "" for name in times]
            gains = ", ".join(f"{spent['gjk3d'] / spent[stack]:.2g}x" for stack in STACKS)
            cells += [best, gains, ", ".join(off)]
            yield f"| {host.name}, {guest.name} | {question} | {' | '.join(cells)} |"


def hosts(largest: int) -> Iterator[Callable[[], Host]]:
    """Yield functions that build the bodies up to a size."""
    yield lambda: of_mesh("torus of 256", trimesh.creation.torus(1.0, 0.3, major_sections=16, minor_sections=8))
    for count in (10**3, 10**4, 10**5, 10**6):
        if count <= largest:
            yield lambda count=count: of_mesh(f"mesh of {count}", bumpy(count))  # type: ignore[misc]
    yield ground
    yield lambda: voxels(24)
    for count in (10**3, 10**4, 10**5, 10**6):
        if count <= largest:
            yield lambda count=count: cloud(count)  # type: ignore[misc]


def main(given: list[str] | None = None) -> int:
    """Write the Markdown table."""
    parser = table_parser("tests.benchmarks.bodies", __doc__, 7)
    parser.add_argument("--largest", type=int, default=10**5, help="triangles and points, up to a million")
    parser.add_argument("--size", type=float, default=0.3, help="of the convex shapes; the bodies are about 2")
    arguments = parser.parse_args(given)
    lines = [
        "# Bodies against convex shapes",
        "",
        "Written by `python -m tests.benchmarks.bodies --out FILE`: us of CPU time a query.",
        "",
        f"| body, shape | query | one per call | in stacks of {FEW} | of {COUNT} | coal | python-fcl"
        " | faster than the faster peer | stacks faster | peers differ by |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for make in hosts(arguments.largest):
        for line in rows(make(), arguments.size, arguments.rounds):
            print(line, file=sys.stderr, flush=True)
            lines.append(line)
    write_table(lines, arguments.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
