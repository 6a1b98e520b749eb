"""Difficult shapes and poses as specs (see naive.py), and the package's shape of a spec.

Hypothesis strategies generate single pairs for the laws. Plain numpy generators serve large seeded runs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from math import inf, nextafter, pi
from typing import Any

import naive
import numpy as np
import pytest
from hypothesis import strategies as st
from naive import Array, Spec
from scipy.spatial.transform import Rotation

import gjk3d as gk


def sampled(cases: Iterable[tuple[Any, ...]], every: int) -> list[Any]:
    """Return the cases of a parametrized test. One in ``every`` is in the quick tier, the rest in the full tier."""
    return [pytest.param(*case, marks=pytest.mark.full if k % every else ()) for k, case in enumerate(cases)]


def build(spec: Spec) -> Any:
    """Return the package's shape of a spec."""
    kind, *numbers = spec
    if kind == "inflated":
        return build(numbers[0]).inflated(numbers[1])
    if kind == "scaled":
        return build(numbers[0]).scaled(numbers[1])
    if kind == "placed":
        return build(numbers[0]).placed(np.asarray(numbers[1]))
    if kind == "sum":
        return gk.MinkowskiSum(build(numbers[0]), build(numbers[1]))
    if kind == "union":
        return gk.ConvexUnion(*map(build, numbers))
    makers = {
        "point": gk.Point,
        "segment": gk.Segment,
        "triangle": gk.Triangle,
        "tetrahedron": gk.Tetrahedron,
        "sphere": gk.Sphere,
        "box": gk.Box,
        "capsule": gk.Capsule,
        "cylinder": gk.Cylinder,
        "cone": gk.Cone,
        "ellipsoid": gk.Ellipsoid,
        "halfspace": gk.Halfspace,
        "hull": gk.ConvexHull,
    }
    return makers[kind](*numbers)


def rescaled(spec: Spec, factor: float) -> Spec:
    """Return the spec of a shape that is ``factor`` times as large, by scaling its numbers."""
    kind, *numbers = spec
    if kind == "scaled":
        return (kind, rescaled(numbers[0], factor), numbers[1])
    if kind == "placed":
        where = np.array(numbers[1], dtype=float)
        where[:3, 3] *= factor
        return (kind, rescaled(numbers[0], factor), where)
    if kind == "inflated":
        return (kind, rescaled(numbers[0], factor), numbers[1] * factor)
    if kind in ("sum", "union"):
        return (kind, *(rescaled(spec, factor) for spec in numbers))
    return (kind, *(np.asarray(x, dtype=float) * factor if np.ndim(x) else x * factor for x in numbers))


def is_polytope(spec: Spec) -> bool:
    """Return whether the shape is a polytope, possibly flat or rounded, for which 1e-12 is promised."""
    return naive.body(spec).points is not None


# example shapes -----------------------------------------------------------------------------------------------------

_TURNED = naive.pose(Rotation.from_rotvec([0.3, -0.8, 0.5]).as_matrix(), (0.2, -0.1, 0.3))
_CLOUD = np.random.default_rng(42).normal(size=(30, 3)) * (0.7, 0.5, 0.9)

#: one example of every type of shape, with simple numbers
SHAPES: dict[str, Spec] = {
    "point": ("point", (0.1, 0.2, -0.3)),
    "segment": ("segment", (-0.5, 0.0, 0.25), (0.75, 0.5, 0.0)),
    "triangle": ("triangle", np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.25), (0.0, 1.5, 0.5)])),
    "tetrahedron": ("tetrahedron", np.array([(0.0, 0.0, 0.0), (1.5, 0.0, 0.0), (0.0, 1.0, 0.0), (0.25, 0.25, 1.25)])),
    "sphere": ("sphere", 0.8),
    "box": ("box", (1.0, 1.5, 0.75)),
    "capsule": ("capsule", 0.4, 1.25),
    "cylinder": ("cylinder", 0.6, 1.25),
    "cone": ("cone", 0.7, 1.5),
    "ellipsoid": ("ellipsoid", (0.5, 0.75, 1.0)),
    "hull": ("hull", _CLOUD),
    "flat hull": ("hull", _CLOUD[:12] * (1.0, 1.0, 0.0)),
    "rounded triangle": ("inflated", ("triangle", np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.25), (0.0, 1.5, 0.5)])), 0.2),
    "rounded box": ("inflated", ("box", (1.0, 0.5, 0.75)), 0.25),
    "rounded cone": ("inflated", ("cone", 0.5, 1.0), 0.2),
    "placed cylinder": ("placed", ("cylinder", 0.5, 1.0), _TURNED),
    "squashed cone": ("scaled", ("cone", 0.7, 1.5), (1.0, 0.5, 1.25)),
    "squashed capsule": ("placed", ("scaled", ("capsule", 0.4, 1.0), (1.0, 0.75, 1.5)), _TURNED),
    "sum": ("sum", ("box", (0.5, 0.25, 0.75)), ("cylinder", 0.4, 0.5)),
    "sharp sum": ("sum", ("box", (0.5, 0.75, 0.25)), ("segment", (-0.25, 0.0, 0.0), (0.25, 0.5, 0.5))),
    "union": ("union", ("cone", 0.5, 1.0), ("placed", ("capsule", 0.2, 0.5), _TURNED)),
    "disc": ("cylinder", 0.6, 0.0),
    "capsule without height": ("capsule", 0.5, 0.0),
}
SOLID = [name for name in SHAPES if name not in ("point", "segment", "triangle", "flat hull", "disc")]
_DEGENERATE = {"disc", "capsule without height"}  #: their pairs come last, so that all other pairs keep their seeds
PAIRS = sorted(itertools.combinations_with_replacement(SHAPES, 2), key=lambda pair: not _DEGENERATE.isdisjoint(pair))
#: Pairs that execute each branch of the narrow phase that `PAIRS` execute, and twice where two pairs of `PAIRS` do.
#: They are the greedy set cover of the traced branches which tests/hardening/pair_cover.py recomputes and checks.
CHOSEN_PAIRS = [
    ("hull", "placed cylinder"),
    ("placed cylinder", "placed cylinder"),
    ("capsule", "rounded box"),
    ("box", "capsule"),
    ("flat hull", "sharp sum"),
    ("capsule", "rounded cone"),
    ("sharp sum", "sharp sum"),
    ("ellipsoid", "squashed cone"),
    ("squashed cone", "union"),
    ("rounded triangle", "union"),
    ("ellipsoid", "ellipsoid"),
    ("point", "disc"),
    ("point", "point"),
    ("sphere", "hull"),
    ("sphere", "box"),
    ("rounded box", "rounded box"),
    ("rounded cone", "squashed capsule"),
    ("tetrahedron", "squashed capsule"),
    ("capsule", "capsule"),
    ("capsule", "capsule without height"),
    ("capsule", "disc"),
    ("hull", "hull"),
    ("box", "box"),
    ("box", "capsule without height"),
    ("cylinder", "cone"),
    ("disc", "capsule without height"),
    ("rounded box", "disc"),
    ("sphere", "capsule without height"),
    ("triangle", "cylinder"),
    ("rounded box", "rounded cone"),
    ("sum", "sum"),
    ("flat hull", "rounded cone"),
    ("hull", "rounded triangle"),
    ("cylinder", "cylinder"),
    ("squashed cone", "sharp sum"),
    ("tetrahedron", "cone"),
    ("cylinder", "sum"),
    ("point", "rounded box"),
    ("box", "rounded box"),
    ("box", "squashed cone"),
    ("cone", "sharp sum"),
    ("cylinder", "capsule without height"),
    ("cylinder", "flat hull"),
    ("disc", "disc"),
    ("point", "cone"),
    ("point", "cylinder"),
    ("point", "ellipsoid"),
    ("rounded cone", "disc"),
    ("segment", "triangle"),
    ("point", "capsule"),
    ("point", "segment"),
]


# plain numpy --------------------------------------------------------------------------------------------------------


def random_poses(rng: np.random.Generator, a: Spec, b: Spec, count: int) -> tuple[Array, Array]:
    """Return random poses for two specs. Half share a point, the rest have a gap of 1e-6 to 1 of their size."""
    body_a, body_b = naive.body(a), naive.body(b)
    poses = []
    for _ in range(2):
        stack = np.tile(np.eye(4), (count, 1, 1))
        stack[:, :3, :3] = naive.random_rotations(rng, count)
        poses.append(stack)
    poses_a, poses_b = poses
    size = body_a.size + body_b.size
    poses_a[:, :3, 3] = rng.normal(size=(count, 3)) * size
    poses_b[:, :3, 3] += _some_point(rng, body_a, poses_a) - _some_point(rng, body_b, poses_b)
    separated = rng.random(count) < 0.5
    directions = naive.unit_vectors(rng, count)
    gap = naive.posed_gap(body_a, poses_a, body_b, poses_b, directions)
    wanted = size * 10.0 ** rng.uniform(-6, 0, count)
    poses_b[separated, :3, 3] += ((wanted - gap)[:, None] * directions)[separated]
    return poses_a, poses_b


def _some_point(rng: np.random.Generator, of: naive.Body, poses: Array) -> Array:
    """Return a random point of the body at each pose, as a mean of five support points."""
    weights = rng.dirichlet(np.ones(5), len(poses))
    corners = [naive.posed_support(of, poses, naive.unit_vectors(rng, len(poses))) for _ in range(5)]
    return sum(w[:, None] * p for w, p in zip(weights.T, corners, strict=True))


def random_spec(rng: np.random.Generator, name: str) -> Spec:
    """Return a spec of the type of ``SHAPES[name]`` with random numbers."""

    def vary(spec: Spec) -> Spec:
        kind, *numbers = spec
        if kind in ("inflated", "scaled"):
            return (kind, vary(numbers[0]), np.asarray(numbers[1]) * rng.uniform(0.5, 2.0, np.shape(numbers[1])))
        if kind == "placed":
            return (kind, vary(numbers[0]), numbers[1])
        if kind in ("point", "segment", "triangle", "tetrahedron", "hull"):
            flatness = 1.0 if np.asarray(numbers[0]).any(axis=0).all() else (1.0, 1.0, 0.0)
            return (kind, *(x + flatness * rng.normal(size=np.shape(x)) * 0.3 for x in map(np.asarray, numbers)))
        if kind in ("box", "ellipsoid"):
            return (kind, np.asarray(numbers[0]) * rng.uniform(0.3, 2.0, 3))
        if kind in ("sum", "union"):
            return (kind, *(vary(of) for of in numbers))
        return (kind, *(x * float(rng.uniform(0.3, 2.0)) for x in numbers))

    spec = vary(SHAPES[name])
    return spec if spec[0] != "inflated" else (*spec[:2], float(spec[2]))


def thinned(rng: np.random.Generator, spec: Spec, decades: float) -> Spec:
    """Return the spec with each number divided by up to 10**decades, which gives needles, plates and specks."""

    def cut(shape: Any = None) -> Any:
        return 10.0 ** -rng.uniform(0, decades, shape)

    kind, *numbers = spec
    if kind == "placed":
        return (kind, thinned(rng, numbers[0], decades), numbers[1])
    if kind == "scaled":
        return (kind, thinned(rng, numbers[0], decades), np.asarray(numbers[1]) * cut(3))
    if kind == "inflated":
        return (kind, thinned(rng, numbers[0], decades), float(numbers[1] * cut()))
    if kind in ("sum", "union"):
        return (kind, *(thinned(rng, of, decades) for of in numbers))
    if kind in ("point", "segment", "triangle", "tetrahedron", "hull"):
        factors = cut(3)
        return (kind, *(np.asarray(x) * factors for x in numbers))
    if kind in ("box", "ellipsoid"):
        return (kind, np.asarray(numbers[0]) * cut(3))
    return (kind, *(float(x * cut()) for x in numbers))


# hypothesis ---------------------------------------------------------------------------------------------------------

_plain = st.sampled_from([0.5, 1.0, 1.5, 2.0, 3.0])
lengths = _plain | st.floats(0.1, 4.0) | st.sampled_from([1e-3, 1e-6, 1e-9, 100.0])
coordinates = st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.0, 0.5, 1.0, 2.0]) | st.floats(-3.0, 3.0).map(
    lambda x: 0.0 if abs(x) < 1e-12 else x
)
points = st.tuples(coordinates, coordinates, coordinates)
triples = st.tuples(lengths, lengths, lengths)


@st.composite
def clouds(draw: Any, least: int = 1, most: int = 12) -> Array:
    """Draw points for a hull: general, on a lattice, flat, collinear, equal, doubled, needles and plates."""
    cloud = np.array(draw(st.lists(points, min_size=least, max_size=most)))
    squeeze = draw(st.sampled_from([1.0, 1.0, 0.0, 1e-6, 1e-9, 1e-12]))
    axes = draw(st.sampled_from([(2,), (1, 2), (0, 1, 2)] if squeeze == 0.0 else [(2,), (1, 2)]))
    cloud[:, list(axes)] *= squeeze
    if draw(st.booleans()):
        cloud = cloud @ np.array(draw(rotations())).T
    if draw(st.booleans()):
        cloud = np.vstack([cloud, cloud[: draw(st.integers(1, len(cloud)))]])
    return cloud


@st.composite
def rotations(draw: Any) -> Array:
    """Draw right-angle turns, tiny turns, products of both, or arbitrary rotations."""
    axis = np.array(draw(st.sampled_from([(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1), (1, 2, 3)])), dtype=float)
    axis /= np.linalg.norm(axis)
    turns = draw(st.tuples(*[st.sampled_from([0, 90, 180, 270])] * 3))
    quarter = np.rint(Rotation.from_euler("xyz", turns, degrees=True).as_matrix())
    angles = [0.0, pi / 4, pi / 3, *(10.0**-k for k in range(3, 15))]
    angle = draw(st.sampled_from(angles) | st.floats(-pi, pi).filter(lambda x: abs(x) > 1e-15))
    return quarter if angle == 0.0 else Rotation.from_rotvec(angle * axis).as_matrix() @ quarter


@st.composite
def poses(draw: Any) -> Array:
    return naive.pose(draw(rotations()), draw(points))


_primitives = st.one_of(
    st.tuples(st.just("point"), points),
    st.tuples(st.just("segment"), points, points),
    st.tuples(st.just("triangle"), clouds(3, 3).filter(lambda c: len(c) == 3)),
    st.tuples(st.just("tetrahedron"), clouds(4, 4).filter(lambda c: len(c) == 4)),
    st.tuples(st.just("sphere"), lengths),
    st.tuples(st.just("box"), triples),
    st.tuples(st.just("capsule"), lengths, st.just(0.0) | lengths),
    st.tuples(st.just("cylinder"), lengths, st.just(0.0) | lengths),
    st.tuples(st.just("cone"), lengths, lengths),
    st.tuples(st.just("ellipsoid"), triples),
    st.tuples(st.just("hull"), clouds()),
)
_polytopes = st.one_of(
    st.tuples(st.just("segment"), points, points),
    st.tuples(st.just("triangle"), clouds(3, 3).filter(lambda c: len(c) == 3)),
    st.tuples(st.just("tetrahedron"), clouds(4, 4).filter(lambda c: len(c) == 4)),
    st.tuples(st.just("box"), triples),
    st.tuples(st.just("hull"), clouds()),
)
_factors = st.tuples(*[st.sampled_from([0.5, 1.0, 2.0, -1.0, 0.25])] * 3)


def _composed(of: Any) -> Any:
    return st.one_of(
        st.tuples(st.just("inflated"), of, lengths),
        st.tuples(st.just("scaled"), of, _factors),
        st.tuples(st.just("placed"), of, poses()),
        st.tuples(st.just("sum"), of, of),
        st.tuples(st.just("union"), of, of),
    )


specs = _primitives | _composed(_primitives) | _composed(_composed(_primitives))
polytopes = _polytopes | _composed(_polytopes)
scales = st.sampled_from([1.0, 1.0, 1.0, 1e-9, 1e-3, 1e6, 1e9, 2.0**-30, 2.0**20])


def _nudged(x: float, steps: Any) -> float:
    """Return x moved by one ulp, or by a relative amount if ``steps`` is a float."""
    if isinstance(steps, float):
        return x * (1.0 + steps)
    return nextafter(x, inf if steps > 0 else -inf) if steps else x


@st.composite
def pairs(draw: Any, of: Any = specs) -> tuple[Spec, Array, Spec, Array]:
    """Draw two specs and their poses: anywhere, coincident, touching along an axis, nearly touching, or far away."""
    a = draw(of)
    b = draw(st.just(a) | of)
    pose_a = naive.pose(draw(rotations()))
    pose_b = naive.pose(draw(st.just(pose_a[:3, :3]) | rotations()))
    where = draw(st.sampled_from(["anywhere", "coincident", "touching", "near"]))
    if where == "anywhere":
        pose_b[:3, 3] = draw(points)
    elif where != "coincident":
        axis = np.array(draw(st.sampled_from([(1.0, 0, 0), (0, -1.0, 0), (0, 0, 1.0)])))
        body_a, body_b = naive.body(a, pose_a), naive.body(b, pose_b)
        contact = -float(naive.gap(body_a, body_b, axis)[0]) or 1.0
        nudge = draw(
            st.sampled_from([0, 1, -1] if where == "touching" else [1e-15, -1e-15, 1e-12, -1e-12, 1e-8, -1e-8])
        )
        pose_b[:3, 3] = axis * _nudged(contact, nudge)
        if draw(st.booleans()):  # move along the contact plane
            pose_b[:3, 3] += np.cross(axis, draw(points))
    scale = draw(scales)
    offset = draw(st.sampled_from([0.0, 0.0, 1.0, 1024.0, 1e7])) * scale * np.array(draw(points))
    pose_a[:3, 3] *= scale
    pose_b[:3, 3] *= scale
    pose_a[:3, 3] += offset
    pose_b[:3, 3] += offset
    return rescaled(a, scale), pose_a, rescaled(b, scale), pose_b
