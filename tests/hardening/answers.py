"""Digests of the results of every query on a large, seeded set: ``python -m tests.hardening.answers``.

Use it for a change that must not alter results: ``--save FILE`` before, ``--against FILE`` after each step. Results
of convex pairs, robots, mesh against mesh and clash must keep every bit, so their digests are compared. Results of
other bodies must keep their booleans, and their intervals must overlap the old ones. Changed rows are listed. A number
without bounds counts as an interval of a few rounding errors.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import sys
import time
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

import laws
import numpy as np
import trimesh
from numpy.typing import NDArray
from strategies import PAIRS, SHAPES, build, is_polytope, random_spec

import gjk3d as gk

Array = NDArray[np.float64]
NamedResults = Iterator[tuple[str, Any]]  #: name of the query, and its result
CLOSE = 1e-9  #: relative width of numbers that have no bounds
DATA = Path(__file__).parents[2] / "data"
ANSWERS = (
    "distance", "normal", "point_a", "point_b", "lower", "upper", "status", "tight", "iterations", "points_a",
    "points_b", "gaps", "count", "time", "free_until", "hit", "kind", "a", "b", "unique", "center", "radius", "low",
    "high", "pose", "extents",
)  # fmt: skip


def digest(value: Any, into: Any) -> None:
    """Add all bits of a result to a hash: arrays and numbers as they are, objects by their public fields."""
    if isinstance(value, (bool, int, float, np.generic, np.ndarray)):
        array = np.asarray(value)
        into.update(f"{array.dtype.kind}{array.shape}".encode() + np.ascontiguousarray(array).tobytes())
    elif value is None or isinstance(value, (str, Enum)):
        into.update(repr(value).encode())
    elif isinstance(value, dict):
        for key in sorted(value):
            into.update(str(key).encode())
            digest(value[key], into)
    elif isinstance(value, (list, tuple)):
        into.update(f"{len(value)}".encode())
        for item in value:
            digest(item, into)
    elif dataclasses.is_dataclass(value):
        digest({field.name: getattr(value, field.name) for field in dataclasses.fields(value)}, into)
    else:
        fields = {name: getattr(value, name) for name in ANSWERS if hasattr(value, name)}
        assert fields, f"no fields of {value!r} are known"
        digest(fields, into)


def poses(rng: np.random.Generator, count: int, reach: float) -> Array:
    """Return random poses."""
    result = np.tile(np.eye(4), (count, 1, 1))
    result[:, :3, :3] = laws.naive.random_rotations(rng, count)
    result[:, :3, 3] = rng.uniform(-reach, reach, (count, 3))
    return result


# results that must keep every bit -----------------------------------------------------------------------------------


def convex(rng: np.random.Generator) -> NamedResults:
    """Yield every query of each pair of kinds of convex shape."""
    for name_a, name_b in PAIRS:
        a, b = random_spec(rng, name_a), random_spec(rng, name_b)
        pair = laws.Pair.random(rng, a, b, 40)
        arguments = pair.shape_a, pair.shape_b, pair.poses_a, pair.poses_b
        of = f"{name_a}, {name_b}"
        for margin in (0.0, 0.1, -0.05):
            yield f"collide {of}", gk.collide(*arguments, margin=margin)
        yield f"distance {of}", gk.distance(*arguments)
        yield f"distance within {of}", gk.distance(*arguments, max_distance=0.2)
        signed = gk.signed_distance(*arguments)
        yield f"signed {of}", signed
        yield f"signed loose {of}", gk.signed_distance(*arguments, tol=1e-3)
        yield f"signed epa {of}", gk.signed_distance(*arguments, depth="epa")
        yield f"contact {of}", gk.contact(*arguments)
        yield f"gradient {of}", gk.gradient(signed)
        if is_polytope(a) and is_polytope(b) and "inflated" not in (a[0], b[0]):
            yield f"facets {of}", gk.signed_distance(*arguments, depth="facets")
        motion = gk.Motion(pair.poses_a[:4], rng.normal(size=(4, 3)), rng.normal(size=(4, 3)))
        yield f"impact {of}", gk.time_of_impact(*arguments[:2], motion, pair.poses_b[:4])
        yield f"cast {of}", gk.shapecast(*arguments[:2], rng.normal(size=3), pair.poses_a[0], pair.poses_b[0])


def alone(rng: np.random.Generator) -> NamedResults:
    """Yield queries of each convex shape: rays, volumes, supports."""
    for name in SHAPES:
        shape = build(random_spec(rng, name))
        where = poses(rng, 5, 1.0)
        yield f"ray {name}", gk.raycast(shape, rng.normal(size=(64, 3)) * 2, rng.normal(size=(64, 3)), where[0])
        yield f"support {name}", shape.support(laws.DIRECTIONS)
        yield f"contains {name}", shape.contains(rng.normal(size=(32, 3)) * 0.5)
        yield f"volume {name}", shape.volume
        yield (
            f"aabb {name}",
            np.asarray(gk.aabb(shape, where).bounds if hasattr(gk.aabb(shape, where), "bounds") else 0),
        )


def together(rng: np.random.Generator) -> NamedResults:
    """Yield queries of many shapes: Pairs with workers, a Pair with its memory (booleans), a Scene."""
    shapes = [build(random_spec(rng, name)) for name in SHAPES]
    where = poses(rng, len(shapes), 2.0)
    every = [(i, j) for i in range(len(shapes)) for j in range(i)]
    pairs = gk.Pairs(shapes)
    for workers in (1, 2):
        yield "pairs collide", pairs.collide(every, where, workers=workers)
        yield "pairs signed", pairs.signed_distance(every, where, workers=workers)
        yield "pairs distance", pairs.distance(every, where, workers=workers)
    pair = gk.Pair(shapes[5], shapes[10])
    yield "warm pair", [bool(pair.collide(None, at)) for at in poses(rng, 200, 1.5)]
    scene = gk.Scene()
    for k in range(200):
        scene.add(f"{k:03}", shapes[k % len(shapes)], poses(rng, 1, 4.0)[0])
    yield "scene collisions", scene.collisions()
    yield "scene clearance", scene.clearance().distance
    yield "scene closest", [(a, b, row) for a, b, row in scene.closest(within=0.3)]
    yield "scene contacts", [(a, b, row) for a, b, row in scene.contacts()]
    yield "scene one", [scene.collisions("003"), scene.collides("017"), scene.collisions(gk.Sphere(1.0))]


def _meshes() -> dict[str, gk.Mesh]:
    made = {
        "torus": trimesh.creation.torus(1.0, 0.3, major_sections=16, minor_sections=8),
        "ball": trimesh.creation.icosphere(subdivisions=2),
        "tube": trimesh.creation.annulus(0.5, 0.8, 1.0),
        "box": trimesh.creation.box((1, 1.5, 0.7)),
    }
    meshes = {name: gk.Mesh(mesh.vertices, mesh.faces) for name, mesh in made.items()}
    meshes["open"] = gk.Mesh(made["torus"].vertices, made["torus"].faces[:200])
    return meshes


def mesh_against_mesh(rng: np.random.Generator) -> NamedResults:
    """Yield queries of closed and open meshes against meshes."""
    meshes = _meshes()
    for name_a, a in meshes.items():
        for name_b, b in meshes.items():
            where = poses(rng, 12, 1.5)
            of = f"{name_a}, {name_b}"
            yield f"collide {of}", [bool(gk.collide(a, b, None, at)) for at in where]
            yield f"near {of}", [bool(gk.collide(a, b, None, at, margin=0.2)) for at in where]
            yield f"distance {of}", [gk.distance(a, b, None, at) for at in where]
            yield f"signed {of}", [gk.signed_distance(a, b, None, at) for at in where[:4]]
            yield f"faces {of}", gk.meeting_faces(a, b, None, where[0])
    ray = meshes["torus"], rng.normal(size=(200, 3)) * 2, rng.normal(size=(200, 3))
    yield "rays", gk.raycast(*ray)
    yield "inside", meshes["torus"].contains(rng.uniform(-1.5, 1.5, (500, 3)))


def robots(rng: np.random.Generator) -> NamedResults:
    """Yield queries of the arm of data/ in its cell."""
    arm = gk.robot.Robot.from_urdf(DATA / "arm" / "arm.urdf", srdf=DATA / "arm" / "arm.srdf")
    low, high = np.maximum(arm.lower, -3.0), np.minimum(arm.upper, 3.0)
    q = rng.uniform(low, high, (300, arm.dof))
    around = {
        "wall": (gk.Box((0.1, 2, 2)), poses(rng, 1, 0.5)[0]),
        "floor": (gk.Halfspace((0, 0, 1), -0.2), None),
        "ball": (gk.Sphere(0.2), poses(rng, 1, 0.7)[0]),
    }
    yield "poses", arm.link_poses(q[:20])
    for checker in (gk.robot.Checker(arm), gk.robot.Checker(arm, around)):
        yield "free", checker.free(q)
        yield "free workers", checker.free(q, workers=2)
        yield "clearance", checker.clearance(q)
        yield "gradient", checker.gradient(q[:20])
        yield "contacts", [len(checker.contacts(row)) for row in q[:20]]
        yield "sampled", checker.motion_free(q[:30], q[30:60])
        yield "certified", checker.motion_free(q[:10], q[10:20], certify=True)


def clash(rng: np.random.Generator) -> NamedResults:
    """Yield every clash of the gearbox of data/."""
    assembly = gk.clash.Assembly.load(DATA / "gearbox.glb")
    for workers in (1, 2):
        report = gk.clash.check(assembly, clearance=0.5e-3, workers=workers)
        for row in report.clashes:
            yield f"{row.kind} {row.a} {row.b}", (row.kind, row.a, row.b, row.distance, row.point_a, row.point_b)


# results that must keep their booleans, and whose intervals must overlap the old ones --------------------------------


class Intervals(NamedTuple):
    """Results that may change within their bounds."""

    rows: Array  #: (n, 3): a boolean or a count, a lower bound, an upper bound


def intervals(rows: list[tuple[float, float, float]]) -> Intervals:
    """Return rows as intervals."""
    return Intervals(np.array(rows, dtype=float).reshape(-1, 3))


def nearly(known: Any, values: Any) -> list[tuple[float, float, float]]:
    """Return rows for numbers without bounds, as narrow intervals."""
    values = np.asarray(values, dtype=float).ravel()
    width = CLOSE * (1.0 + np.abs(values))
    return [(float(known), float(low), float(high)) for low, high in zip(values - width, values + width, strict=True)]


def _bodies(rng: np.random.Generator) -> dict[str, Any]:
    meshes = _meshes()
    heights = np.round(rng.random((9, 7)), 3)
    return {
        "torus": meshes["torus"],
        "open": meshes["open"],
        "compound": gk.Compound([(gk.Box((1, 0.2, 0.2)), None), (gk.Sphere(0.4), poses(rng, 1, 0.6)[0])]),
        "voxels": gk.VoxelGrid(rng.random((6, 5, 4)) < 0.3, 0.3, (-0.9, -0.7, -0.6)),
        "cloud": gk.PointCloud(rng.normal(size=(200, 3)) * 0.7, 0.05),
        "ground": gk.HeightField(heights, 0.3, (-1.2, -0.9)),
    }


def _pairs_with_bodies(rng: np.random.Generator) -> Iterator[tuple[str, Any, Any, Array]]:
    """Yield each pair of a body and a shape or body, except two meshes, with six poses."""
    solids = _bodies(rng)
    names = ("sphere", "box", "capsule", "cylinder", "cone", "ellipsoid", "hull", "rounded box", "sum")
    others = {name: build(random_spec(rng, name)) for name in names} | {"halfspace": gk.Halfspace((0, 0.6, 0.8), 0.1)}
    for name_a, a in solids.items():
        for name_b, b in (others | solids).items():
            if not (isinstance(a, gk.Mesh) and isinstance(b, gk.Mesh)):
                yield f"{name_a}, {name_b}", a, b, poses(rng, 6, 1.5)


def bodies(rng: np.random.Generator) -> NamedResults:
    """Yield booleans and distances of pairs with bodies, except mesh against mesh."""
    for of, a, b, where in _pairs_with_bodies(rng):
        rows = []
        for at in where:
            try:
                distance, signed = gk.distance(a, b, None, at), gk.signed_distance(a, b, None, at)
            except gk.errors.UnsupportedPair:
                continue
            hit = gk.collide(a, b, None, at)
            rows += [(hit, distance.lower, distance.upper), (hit, signed.lower, signed.upper)]
        yield of, intervals(rows)


def contacts_of_bodies(rng: np.random.Generator) -> NamedResults:
    """Yield contacts, penetrations, gradients and impacts of bodies, and rays at them."""
    for of, a, b, where in _pairs_with_bodies(rng):
        for kind, query in (("contact", _contact), ("penetration", _penetration), ("gradient", _gradient)):
            rows = []
            for at in where[:3]:
                try:
                    rows += query(a, b, at)
                except gk.errors.UnsupportedPair:
                    rows += nearly(False, -1.0)
            yield f"{kind} {of}", intervals(rows)
        try:
            impact = gk.shapecast(a, b, rng.normal(size=3), None, where[0])
            yield f"impact {of}", intervals([(impact.status.value, *impact.time)])
        except gk.errors.UnsupportedPair:
            yield f"impact {of}", "unsupported"
    for name, body in _bodies(rng).items():
        hit = gk.raycast(body, rng.normal(size=(200, 3)) * 2, rng.normal(size=(200, 3)))
        yield (
            f"rays {name}",
            intervals([row for h, t in zip(hit.hit, hit.distance, strict=True) for row in nearly(h, t if h else -1.0)]),
        )


def _contact(a: Any, b: Any, at: Array) -> list[tuple[float, float, float]]:
    result = gk.contact(a, b, None, at, within=0.1)
    return nearly(result.count > 0, np.sort(result.gaps)[:1] if result.count else -1.0)


def _penetration(a: Any, b: Any, at: Array) -> list[tuple[float, float, float]]:
    result = gk.penetration(a, b, None, at)
    return [(result.upper > 0.0, result.lower, result.upper)]


def _gradient(a: Any, b: Any, at: Array) -> list[tuple[float, float, float]]:
    distance = gk.distance(a, b, None, at)
    result = gk.gradient(distance)
    return nearly(result.unique, result.b if result.unique else np.zeros(6))


def with_bodies(rng: np.random.Generator) -> NamedResults:
    """Yield queries of a scene and of a robot's cell with a mesh and a cloud."""
    solids = _bodies(rng)
    scene = gk.Scene()
    for k in range(60):
        shape = (gk.Sphere(0.3), gk.Box((0.5, 0.4, 0.3)), *solids.values())[k % 8]
        scene.add(f"{k:02}", shape, poses(rng, 1, 4.0)[0])
    yield "scene collisions", scene.collisions()
    yield "scene one", [scene.collisions("03"), scene.collides("17"), scene.collisions(gk.Sphere(1.0))]
    yield "scene contacts", [(a, b) for a, b, _ in scene.contacts()]
    near = scene.closest(within=0.3)
    yield "scene closest", intervals([(True, row.lower, row.upper) for _, _, row in near])
    arm = gk.robot.Robot.from_urdf(DATA / "arm" / "arm.urdf", srdf=DATA / "arm" / "arm.srdf")
    q = rng.uniform(np.maximum(arm.lower, -3.0), np.minimum(arm.upper, 3.0), (200, arm.dof))
    small = {
        "torus": gk.Mesh(0.3 * solids["torus"].vertices, solids["torus"].faces),
        "cloud": gk.PointCloud(0.3 * solids["cloud"].points, 0.02),
    }
    for name, body in small.items():
        checker = gk.robot.Checker(arm, {name: (body, poses(rng, 1, 0.5)[0])})
        free = checker.free(q)
        yield f"free {name}", free
        yield f"collisions {name}", [len(checker.collisions(row)) for row in q[:20]]
        yield f"sampled {name}", checker.motion_free(q[:30], q[30:60]).free
        yield f"certified {name}", checker.motion_free(q[:10], q[10:20], certify=True).free
        least = zip(free[:50], checker.clearance(q[:50]).distance, strict=True)
        yield f"clearance {name}", intervals([row for each in least for row in nearly(*each)])


SECTIONS: dict[str, Callable[[np.random.Generator], NamedResults]] = {
    "convex": convex,
    "alone": alone,
    "together": together,
    "mesh against mesh": mesh_against_mesh,
    "robots": robots,
    "clash": clash,
    "bodies": bodies,
    "contacts of bodies": contacts_of_bodies,
    "with bodies": with_bodies,
}


def run_sections(seed: int) -> dict[str, Any]:
    """Return the results by query: digests of those that must keep every bit, rows of the others."""
    results: dict[str, Any] = {}
    for name, section in SECTIONS.items():
        start = time.perf_counter()
        total = hashlib.sha256()
        count = 0
        for number, (query, result) in enumerate(section(np.random.default_rng(seed))):
            sha, loose = hashlib.sha256(), isinstance(result, Intervals)
            digest(result.rows if loose else result, sha)
            total.update(sha.digest())
            results[f"{name}/{number}/{query}"] = result.rows if loose else sha.hexdigest()
            count += 1
        spent = time.perf_counter() - start
        print(f"{total.hexdigest()[:16]}  {name}: {count} answers, {spent:.0f} s", flush=True)
    return results


def differences(old: dict[str, Any], new: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return what is wrong, and the rows of bodies that changed within their intervals."""
    wrong = [f"{key}: no longer asked, or newly" for key in sorted(set(old) ^ set(new))]
    changed = []
    for key in sorted(set(old) & set(new)):
        before, after = old[key], new[key]
        if isinstance(after, str):
            if str(before) != after:
                wrong.append(f"{key}: other bits")
            continue
        if before.shape != after.shape or not np.array_equal(before[:, 0], after[:, 0]):
            wrong.append(f"{key}: other booleans")
        elif np.any(before[:, 1] > after[:, 2]) or np.any(after[:, 1] > before[:, 2]):
            wrong.append(f"{key}: an interval misses the old one")
        elif not np.array_equal(before, after):
            changed += [
                f"{key}, row {k}: {before[k]} is now {after[k]}" for k in np.flatnonzero((before != after).any(axis=1))
            ]
    return wrong, changed


def main(given: list[str] | None = None) -> int:
    """Run all queries; return 1 if a result differs from the saved one."""
    parser = argparse.ArgumentParser(prog="python -m tests.hardening.answers", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", type=Path, metavar="FILE", help="keep the answers there (.npz)")
    parser.add_argument("--against", type=Path, metavar="FILE", help="compare with the answers kept there")
    arguments = parser.parse_args(given)
    results = run_sections(arguments.seed)
    if arguments.save:
        np.savez_compressed(arguments.save, **results)
    if not arguments.against:
        return 0
    with np.load(arguments.against) as saved:
        wrong, changed = differences({key: saved[key] for key in saved.files}, results)
    print("\n".join([*wrong, *changed]) or "all as it was")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
