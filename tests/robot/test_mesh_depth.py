"""Distances and gradients of a robot that overlaps meshes, with fast, default and tight depth."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from scipy.optimize import minimize

import gjk3d as gk
from gjk3d.errors import ShapeError
from gjk3d.robot import Checker, Robot

MODEL = trimesh.creation.torus(0.5, 0.12, major_sections=24, minor_sections=12)
RING = gk.Mesh(MODEL.vertices, MODEL.faces)


def at(*place: float) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, 3] = place
    return pose


def checker_among(**obstacles: tuple[object, np.ndarray]) -> Checker:
    return Checker(Robot.example(), obstacles)


def checker_with_ring() -> Checker:
    """Return a checker of an arm with a ring and a compound that it can enter, and a box."""
    blocks = gk.Compound([(gk.Box((0.3, 0.3, 0.3)), None), (gk.Sphere(0.2), at(0.15, 0.15, 0.1))])
    return checker_among(
        ring=(RING, at(1.0, 0.2, 0.0)),
        blocks=(blocks, at(-0.9, 0.3, 0.0)),
        box=(gk.Box((0.2, 0.2, 2.0)), at(0.2, 1.2, 0.0)),
    )


QS = np.random.default_rng(4).uniform(-2.5, 2.5, (60, 2))


def test_fast_and_tight_depth_differ_only_in_overlaps() -> None:
    checker = checker_with_ring()
    fast, tight = checker.distances(QS, within=0.5), checker.distances(QS, within=0.5, depth="tight")
    assert np.array_equal(fast.pair, tight.pair)
    assert np.array_equal(fast.configuration, tight.configuration)
    bodies = np.array(["ring" in names or "blocks" in names for names in fast.pairs])[fast.pair]
    deep = bodies & (tight.distance < 0.0)
    assert 0.1 < deep.mean() < 0.8
    for name in ("distance", "lower", "upper", "normal", "point_a", "point_b", "gradient"):
        assert np.array_equal(getattr(fast, name)[~deep], getattr(tight, name)[~deep]), name
    assert (fast.distance[deep] < 0.0).all()
    assert (fast.lower <= tight.upper + 1e-12).all()
    assert (tight.lower <= fast.upper + 1e-12).all()
    assert (fast.lower <= fast.distance).all()
    assert (fast.distance <= fast.upper).all()
    assert np.median(fast.distance[deep] / tight.distance[deep]) < 1.1


def test_gradient_follows_from_points_and_normal() -> None:
    result = checker_with_ring().distances(QS, within=0.2, jacobians=True)
    assert result.jacobian_a is not None
    assert result.jacobian_b is not None
    expected = np.einsum("mi,mij->mj", result.normal, result.jacobian_b - result.jacobian_a)
    assert np.allclose(result.gradient, expected, atol=1e-12)
    assert np.allclose(result.point_b - result.point_a, result.distance[:, None] * result.normal, atol=1e-12)


@pytest.mark.parametrize("depth", ["fast", "tight"])
def test_clearance_gradient_is_that_of_nearest_row(depth: str) -> None:
    checker = checker_with_ring()
    result = checker.distances(QS, depth=depth)  # type: ignore[arg-type]
    gradients = checker.gradient(QS, depth=depth)  # type: ignore[arg-type]
    for k, q in enumerate(QS):
        rows = slice(result.starts[k], result.starts[k + 1])
        nearest = np.argsort(result.distance[rows], kind="stable")
        if result.distance[rows][nearest[1]] > result.distance[rows][nearest[0]] + 1e-9:
            assert np.allclose(gradients[k], result.gradient[rows][nearest[0]], atol=1e-9)
        assert np.array_equal(checker.gradient(q, depth=depth), gradients[k])  # type: ignore[arg-type]


def test_default_depth_is_fast_and_others_raise() -> None:
    checker = checker_with_ring()
    default, fast = checker.distances(QS, 0.0), checker.distances(QS, 0.0, depth="fast")
    assert np.array_equal(default.distance, fast.distance)
    assert np.array_equal(checker.gradient(QS), checker.gradient(QS, depth="fast"))
    assert not np.array_equal(checker.gradient(QS), checker.gradient(QS, depth="tight"))
    for query in (checker.distances, checker.gradient, checker.clearance):
        with pytest.raises(ShapeError, match="depth is 'auto', expected 'fast' or 'tight'"):
            query(QS, depth="auto")  # type: ignore[operator]


@pytest.mark.parametrize("workers", [1, 2])
def test_clearance_is_least_distance_of_same_depth(workers: int) -> None:
    checker = checker_with_ring()
    assert np.array_equal(checker.clearance(QS).distance, checker.clearance(QS, depth="tight").distance)
    for depth in ("fast", "tight"):
        result = checker.distances(QS, depth=depth)  # type: ignore[arg-type]
        near = checker.clearance(QS, depth=depth, workers=workers)  # type: ignore[arg-type]
        assert np.array_equal(near.distance, np.minimum.reduceat(result.distance, result.starts[:-1]))
        assert np.array_equal(near.lower, np.minimum.reduceat(result.lower, result.starts[:-1]))
    fast, tight = checker.clearance(QS, depth="fast"), checker.clearance(QS)
    deep = tight.distance < 0.0
    assert 0 < deep.sum() < len(QS)
    assert np.array_equal(fast.distance[~deep], tight.distance[~deep])
    assert (fast.lower[deep] < tight.lower[deep]).any()


def test_fallback_pair_of_meshes_supports_both_depths(tmp_path) -> None:
    """The pair of a mesh link and a mesh obstacle is a fallback pair of the cell."""
    MODEL.copy().apply_scale(0.3).export(tmp_path / "hand.stl")
    (tmp_path / "arm.urdf").write_text(
        "<robot name='arm'><link name='base'/><link name='hand'><collision><origin xyz='1 0 0'/><geometry>"
        "<mesh filename='hand.stl'/></geometry></collision></link><joint name='turn' type='revolute'>"
        "<parent link='base'/><child link='hand'/><axis xyz='0 0 1'/><limit lower='-3' upper='3'/></joint></robot>"
    )
    checker = Checker(Robot.from_urdf(tmp_path / "arm.urdf", geometry="mesh"), {"ring": (RING, at(1.0, 0.4, 0.02))})
    q = np.linspace(-0.5, 1.0, 16)[:, None]
    fast, tight = checker.distances(q), checker.distances(q, depth="tight")
    deep = tight.distance < 0.0
    assert 0.2 < deep.mean() < 1.0
    assert np.array_equal(fast.distance[~deep], tight.distance[~deep])
    assert (fast.lower <= tight.upper + 1e-12).all()
    assert (tight.lower <= fast.upper + 1e-12).all()


def test_optimiser_leaves_mesh_by_penalties() -> None:
    post = trimesh.creation.cylinder(0.15, 2.0, sections=48).subdivide()
    checker = checker_among(pillar=(gk.Mesh(post.vertices, post.faces), at(1.2, 0.3, 0.0)))
    start = np.array([0.25, 0.1])

    def cost(q: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = checker.distances(q, within=0.02).penalty(0.02)
        return 100.0 * value[0] + (q - start) @ (q - start), 100.0 * slope[0] + 2.0 * (q - start)

    assert not checker.free(start)
    assert checker.free(minimize(cost, start, jac=True).x)
