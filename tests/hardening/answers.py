"""A hash of every query's answers on a large, seeded set: ``python -m tests.hardening.answers``.

For work that must not change answers: ``--save FILE`` before it, ``--against FILE`` after each step. Of convex pairs,
robots, mesh against mesh and clash every bit stays, so a digest tells. Of other bodies booleans stay, and intervals
overlap the old ones: their rows are compared, and those that changed are listed. A number without bounds is an interval
of a few roundings.
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
Asked = Iterator[tuple[str, Any]]  #: what was asked, and the answer
CLOSE = 1e-9  #: relative width of numbers that have no bounds
DATA = Path(__file__).parents[2] / "data"
ANSWERS = (
    "distance", "normal", "point_a", "point_b", "lower", "upper", "status", "tight", "iterations", "points_a",
    "points_b", "gaps", "count", "time", "free_until", "hit", "kind", "a", "b", "unique", "center", "radius", "low",
    "high", "pose", "extents",
)  # fmt: skip


def digest(value: Any, into: Any) -> None:
    """Feed all bits of an answer to a hash: arrays and numbers as they are, objects by their public fields."""
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
        for each in value:
            digest(each, into)
    elif dataclasses.is_dataclass(value):
        digest({field.name: getattr(value, field.name) for field in dataclasses.fields(value)}, into)
    else:
        found = {name: getattr(value, name) for name in ANSWERS if hasattr(value, name)}
        assert found, f"no fields of {value!r} are known"
        digest(found, into)


def poses(rng: np.random.Generator, count: int, reach: float) -> Array:
    """Random poses."""
    found = np.tile(np.eye(4), (count, 1, 1))
    found[:, :3, :3] = laws.naive.random_rotations(rng, count)
    found[:, :3, 3] = rng.uniform(-reach, reach, (count, 3))
    return found


# answers of which every bit stays -----------------------------------------------------------------------------------


def convex(rng: np.random.Generator) -> Asked:
    """Every two kinds of convex shape, and every question about them."""
    for name_a, name_b in PAIRS:
        a, b = random_spec(rng, name_a), random_spec(rng, name_b)
        pair = laws.Pair.random(rng, a, b, 40)
        asked = pair.shape_a, pair.shape_b, pair.poses_a, pair.poses_b
        of = f"{name_a}, {name_b}"
        for margin in (0.0, 0.1, -0.05):
            yield f"collide {of}", gk.collide(*asked, margin=margin)
        yield f"distance {of}", gk.distance(*asked)
        yield f"distance within {of}", gk.distance(*asked, max_distance=0.2)
        signed = gk.signed_distance(*asked)
        yield f"signed {of}", signed
        yield f"signed loose {of}", gk.signed_distance(*asked, tol=1e-3)
        yield f"signed epa {of}", gk.signed_distance(*asked, depth="epa")
        yield f"contact {of}", gk.contact(*asked)
        yield f"gradient {of}", gk.gradient(signed)
        if is_polytope(a) and is_polytope(b) and "inflated" not in (a[0], b[0]):
            yield f"facets {of}", gk.signed_distance(*asked, depth="facets")
        way = gk.Motion(pair.poses_a[:4], rng.normal(size=(4, 3)), rng.normal(size=(4, 3)))
        yield f"impact {of}", gk.time_of_impact(*asked[:2], way, pair.poses_b[:4])
        yield f"cast {of}", gk.shapecast(*asked[:2], rng.normal(size=3), pair.poses_a[0], pair.poses_b[0])


def alone(rng: np.random.Generator) -> Asked:
    """Every convex shape by itself: rays, volumes, supports."""
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


def together(rng: np.random.Generator) -> Asked:
    """Many shapes at once: Pairs with workers, a Pair with its memory (booleans), a Scene."""
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
    found = {name: gk.Mesh(mesh.vertices, mesh.faces) for name, mesh in made.items()}
    found["open"] = gk.Mesh(made["torus"].vertices, made["torus"].faces[:200])
    return found


def mesh_against_mesh(rng: np.random.Generator) -> Asked:
    """Meshes, closed and open, against meshes."""
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


def robots(rng: np.random.Generator) -> Asked:
    """The arm of data/ in its cell."""
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


def clash(rng: np.random.Generator) -> Asked:
    """The gearbox of data/, every finding."""
    assembly = gk.clash.Assembly.load(DATA / "gearbox.glb")
    for workers in (1, 2):
        report = gk.clash.check(assembly, clearance=0.5e-3, workers=workers)
        for row in report.clashes:
            yield f"{row.kind} {row.a} {row.b}", (row.kind, row.a, row.b, row.distance, row.point_a, row.point_b)


# answers whose booleans stay and whose intervals overlap the old ones ------------------------------------------------


class Intervals(NamedTuple):
    """Answers that may change within their bounds."""

    rows: Array  #: (n, 3) a boolean or a count, and a lower and an upper bound


def intervals(rows: list[tuple[float, float, float]]) -> Intervals:
    """Return rows as intervals."""
    return Intervals(np.array(rows, dtype=float).reshape(-1, 3))


def nearly(known: Any, values: Any) -> list[tuple[float, float, float]]:
    """Return rows of numbers that have no bounds."""
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


def _beside_bodies(rng: np.random.Generator) -> Iterator[tuple[str, Any, Any, Array]]:
    """Yield every body beside everything else, but no mesh beside a mesh, and six poses."""
    solids = _bodies(rng)
    names = ("sphere", "box", "capsule", "cylinder", "cone", "ellipsoid", "hull", "rounded box", "sum")
    others = {name: build(random_spec(rng, name)) for name in names} | {"halfspace": gk.Halfspace((0, 0.6, 0.8), 0.1)}
    for name_a, a in solids.items():
        for name_b, b in (others | solids).items():
            if not (isinstance(a, gk.Mesh) and isinstance(b, gk.Mesh)):
                yield f"{name_a}, {name_b}", a, b, poses(rng, 6, 1.5)


def bodies(rng: np.random.Generator) -> Asked:
    """Booleans and distances of everything against everything that is not mesh against mesh."""
    for of, a, b, where in _beside_bodies(rng):
        rows = []
        for at in where:
            try:
                apart, signed = gk.distance(a, b, None, at), gk.signed_distance(a, b, None, at)
            except gk.errors.UnsupportedPair:
                continue
            hit = gk.collide(a, b, None, at)
            rows += [(hit, apart.lower, apart.upper), (hit, signed.lower, signed.upper)]
        yield of, intervals(rows)


def contacts_of_bodies(rng: np.random.Generator) -> Asked:
    """Contacts, penetrations, gradients and impacts of bodies, and rays at them."""
    for of, a, b, where in _beside_bodies(rng):
        for question, ask_one in (("contact", _contact), ("penetration", _penetration), ("gradient", _gradient)):
            rows = []
            for at in where[:3]:
                try:
                    rows += ask_one(a, b, at)
                except gk.errors.UnsupportedPair:
                    rows += nearly(False, -1.0)
            yield f"{question} {of}", intervals(rows)
        try:
            met = gk.shapecast(a, b, rng.normal(size=3), None, where[0])
            yield f"impact {of}", intervals([(met.status.value, *met.time)])
        except gk.errors.UnsupportedPair:
            yield f"impact {of}", "unsupported"
    for name, body in _bodies(rng).items():
        hit = gk.raycast(body, rng.normal(size=(200, 3)) * 2, rng.normal(size=(200, 3)))
        yield (
            f"rays {name}",
            intervals([row for h, t in zip(hit.hit, hit.distance, strict=True) for row in nearly(h, t if h else -1.0)]),
        )


def _contact(a: Any, b: Any, at: Array) -> list[tuple[float, float, float]]:
    found = gk.contact(a, b, None, at, within=0.1)
    return nearly(found.count > 0, np.sort(found.gaps)[:1] if found.count else -1.0)


def _penetration(a: Any, b: Any, at: Array) -> list[tuple[float, float, float]]:
    found = gk.penetration(a, b, None, at)
    return [(found.upper > 0.0, found.lower, found.upper)]


def _gradient(a: Any, b: Any, at: Array) -> list[tuple[float, float, float]]:
    apart = gk.distance(a, b, None, at)
    found = gk.gradient(apart)
    return nearly(found.unique, found.b if found.unique else np.zeros(6))


def with_bodies(rng: np.random.Generator) -> Asked:
    """A scene and a robot's cell with a mesh and a cloud."""
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


SECTIONS: dict[str, Callable[[np.random.Generator], Asked]] = {
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


def ask(seed: int) -> dict[str, Any]:
    """Digests by question of what must keep its bits, rows of the others."""
    found: dict[str, Any] = {}
    for name, section in SECTIONS.items():
        start = time.perf_counter()
        whole = hashlib.sha256()
        count = 0
        for number, (question, answer) in enumerate(section(np.random.default_rng(seed))):
            one, loose = hashlib.sha256(), isinstance(answer, Intervals)
            digest(answer.rows if loose else answer, one)
            whole.update(one.digest())
            found[f"{name}/{number}/{question}"] = answer.rows if loose else one.hexdigest()
            count += 1
        spent = time.perf_counter() - start
        print(f"{whole.hexdigest()[:16]}  {name}: {count} answers, {spent:.0f} s", flush=True)
    return found


def differences(old: dict[str, Any], new: dict[str, Any]) -> tuple[list[str], list[str]]:
    """What is wrong, and which rows of bodies changed within what they may."""
    wrong = [f"{key}: no longer asked, or newly" for key in sorted(set(old) ^ set(new))]
    changed = []
    for key in sorted(set(old) & set(new)):
        one, other = old[key], new[key]
        if isinstance(other, str):
            if str(one) != other:
                wrong.append(f"{key}: other bits")
            continue
        if one.shape != other.shape or not np.array_equal(one[:, 0], other[:, 0]):
            wrong.append(f"{key}: other booleans")
        elif np.any(one[:, 1] > other[:, 2]) or np.any(other[:, 1] > one[:, 2]):
            wrong.append(f"{key}: an interval misses the old one")
        elif not np.array_equal(one, other):
            changed += [
                f"{key}, row {k}: {one[k]} is now {other[k]}" for k in np.flatnonzero((one != other).any(axis=1))
            ]
    return wrong, changed


def main(given: list[str] | None = None) -> int:
    """Ask everything; 1 where an answer is another than the one kept."""
    parser = argparse.ArgumentParser(prog="python -m tests.hardening.answers", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", type=Path, metavar="FILE", help="keep the answers there (.npz)")
    parser.add_argument("--against", type=Path, metavar="FILE", help="compare with the answers kept there")
    arguments = parser.parse_args(given)
    found = ask(arguments.seed)
    if arguments.save:
        np.savez_compressed(arguments.save, **found)
    if not arguments.against:
        return 0
    with np.load(arguments.against) as kept:
        wrong, changed = differences({key: kept[key] for key in kept.files}, found)
    print("\n".join([*wrong, *changed]) or "all as it was")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
