"""Several bodies of one mesh are one set of points: a surface inside another body is ignored."""

from __future__ import annotations

from math import sqrt

import naive
import numpy as np
import pytest
from message_checks import assert_names

import gjk3d as gk
from gjk3d.bodies import solids
from gjk3d.bodies.depth import penetration
from gjk3d.clash import Assembly, check
from gjk3d.poses import IDENTITY

CUBE = 0.1
DEEP = sqrt(2)  #: from the middle of a face of the cube to the inner corners of the cross
CROSS = [((4, 2, 4), (0, 0, 0)), ((2, 4, 4), (0, 0, 0))]
LAYERS = [((1, 4, 4), (0, 0, 0)), ((1, 4, 4), (1, 0, 0))]  # with common corners
STEPS = [((1, 4, 4), (0, 0, 0)), ((1, 4, 5), (1, 0, 0))]  # without common corners


def part(*boxes, inverted=()):
    """Return one mesh of several boxes, some of which are inverted."""
    vertices, faces, count = [], [], 0
    for k, (size, at) in enumerate(boxes):
        box = gk.Box(size).surface()
        vertices.append(box.vertices + np.array(at, dtype=float))
        faces.append(count + (box.faces[:, ::-1] if k in inverted else box.faces))
        count += len(box.vertices)
    return gk.Mesh(np.vstack(vertices), np.vstack(faces))


def small(at=(0, 0, 0), size=CUBE):
    return part(((size,) * 3, at))


def only_clash(a, b):
    report = check(Assembly.of({"a": a, "b": b}))
    (clash,) = report.clashes
    return clash


def test_cube_in_two_overlapping_boxes_counts_once():
    clash = only_clash(part(*CROSS), small())
    assert clash.kind == "contained"
    assert clash.overlap_volume == pytest.approx(CUBE**3, rel=1e-9)
    assert clash.penetration == pytest.approx(DEEP, rel=1e-2)
    assert part(*CROSS).volume == pytest.approx(64.0)  # the sum of the boxes


@pytest.mark.parametrize("swap", [False, True])
def test_penetration_ignores_inner_walls(swap):
    pair = (small(), part(*CROSS)) if swap else (part(*CROSS), small())
    result = gk.penetration(*pair, tol=1e-3)
    assert result.lower <= DEEP <= result.upper
    assert result.upper - result.lower < 1e-2
    turned = gk.penetration(*pair, naive.pose(naive.random_rotations(np.random.default_rng(0), 1)[0]), None, tol=1e-3)
    assert turned.lower > 1.3


@pytest.mark.parametrize("layers", [LAYERS, STEPS], ids=["common corners", "no common corners"])
def test_box_in_a_wall_of_two_layers_is_contained(layers):
    wall, box = part(*layers), small((0.5, 0.1, 0.05), 0.2)
    clash = only_clash(wall, box)
    assert clash.kind == "contained"
    assert clash.overlap_volume == pytest.approx(0.008, rel=1e-9)
    assert clash.penetration == pytest.approx(1.0, rel=1e-2)
    result = gk.penetration(wall, box)
    assert result.lower <= 1.0 <= result.upper
    assert result.lower > 0.98


def test_ends_of_overlapping_bodies_are_no_surface():
    """A pin of two overlapping bodies is deep in a block, and the ends inside each other are ignored."""
    block, pin = part(((10, 10, 10), (0, 0, 0))), part(((2, 2, 6), (0, 0, 3)), ((2, 2, 6), (0, 0, 7)))
    single_pin = part(((2, 2, 10), (0, 0, 5)))
    result, expected = gk.penetration(block, pin), gk.penetration(block, single_pin)
    assert result.lower <= expected.upper
    assert expected.lower <= result.upper
    assert result.depth == pytest.approx(5.0, rel=1e-2)


def test_cavities_stay_hollow_unless_another_body_fills_them():
    hollow = part(((4, 4, 4), (0, 0, 0)), ((2, 2, 2), (0, 0, 0)), ((1, 1, 1), (5, 0, 0)), inverted=[1])
    assert solids.union_of(hollow).mesh is hollow
    assert check(Assembly.of({"a": hollow, "b": small()})).clashes == ()
    beam = part(((4, 4, 4), (0, 0, 0)), ((2, 2, 2), (0, 0, 0)), ((9, 1, 1), (0, 0, 0)), inverted=[1])
    assert only_clash(beam, small()).kind == "contained"
    assert only_clash(beam, small()).overlap_volume == pytest.approx(CUBE**3, rel=1e-9)
    assert check(Assembly.of({"a": beam, "b": small((0, 0.75, 0))})).clashes == ()


def test_separated_and_edge_sharing_bodies_are_unchanged():
    for boxes in ([((1, 1, 1), (0, 0, 0)), ((1, 1, 1), (3, 0, 0))], [((1, 1, 1), (0, 0, 0)), ((1, 1, 1), (1, 1, 0))]):
        mesh = part(*boxes)
        result = solids.union_of(mesh)
        assert (result.mesh is mesh, result.slack, result.decided) == (True, 0.0, True)


def test_bounds_without_manifold3d_are_valid(monkeypatch):
    monkeypatch.setattr(solids, "available", lambda: False)
    for pair, true in (
        ((part(*CROSS), small()), DEEP),
        ((small((0.5, 0.1, 0.05), 0.2), part(*LAYERS)), 1.0),
        ((part(((10, 10, 10), (0, 0, 0))), part(((2, 2, 6), (0, 0, 3)), ((2, 2, 6), (0, 0, 7)))), 5.0),
    ):
        result = gk.penetration(*pair)
        assert 0.0 < result.lower <= true <= result.upper


def test_compounds_of_overlapping_parts_are_one_set_of_points():
    cross = gk.Compound([(gk.Box(size), naive.pose(None, at)) for size, at in CROSS])
    result = gk.penetration(cross, gk.Box((CUBE,) * 3), tol=1e-3)
    assert result.lower <= DEEP <= result.upper
    assert result.upper - result.lower < 1e-2
    round_one = gk.Compound([(gk.Cylinder(1, 4), None), (gk.Box((4, 1, 1)), None)])
    result = gk.penetration(round_one, gk.Box((CUBE,) * 3))
    assert 0.4 < result.lower <= result.upper
    assert result.upper >= 0.94


@pytest.mark.parametrize("off", [0.2, 0.5, 0.9, 0.99, 0.999, 0.999999])
def test_seam_of_two_balls_of_a_compound_bounds_the_depth(off):
    """Polytopes inside the balls have a deeper crevice at the seam, down to the centre from 0.999 on."""
    balls = gk.Compound([(gk.Sphere(1), naive.pose(None, (-off, 0, 0))), (gk.Sphere(1), naive.pose(None, (off, 0, 0)))])
    seam = sqrt(1 - off**2)
    for z in (0.0, 0.3 * seam):
        result = gk.penetration(balls, gk.Point((0, 0, z)))
        assert result.lower <= seam - z <= result.upper < seam - z + 0.05
    result = gk.penetration(gk.Sphere(5), balls)  # no point of the balls is nearer to its centre
    assert 0.97 * (5 - seam) < result.lower <= 5 - seam <= result.upper < 5 - seam + 0.07


@pytest.mark.parametrize("tilt", [0.0, 0.4])
def test_compound_of_capsule_parts_is_as_deep_as_the_capsule(tilt):
    parts = [gk.Cylinder(0.5, 2), gk.Sphere(0.5), gk.Sphere(0.5)]
    pieces = gk.Compound(list(zip(parts, (naive.pose(None, (0, 0, z)) for z in (0, 1, -1)), strict=True)))
    nested = gk.Compound([(pieces, None), (gk.Sphere(0.3), None)])
    pose = naive.pose(
        np.array([[1, 0, 0], [0, np.cos(tilt), -np.sin(tilt)], [0, np.sin(tilt), np.cos(tilt)]]), (0.6, 0, 0)
    )
    expected = gk.penetration(gk.Capsule(0.5, 2), gk.Box((1, 1, 1)), None, pose)
    for compound in (pieces, nested):
        result = gk.penetration(compound, gk.Box((1, 1, 1)), None, pose)
        assert max(result.lower, expected.lower) <= min(result.upper, expected.upper)
        assert result.upper - result.lower < 0.05 * expected.upper


def test_random_unions_against_samples(rng):
    """Depths of a cube's vertices in random boxes are compared with samples of the outer surface."""
    for _ in range(6):
        boxes = [(rng.uniform(1.0, 3.0, 3), rng.uniform(-0.8, 0.8, 3)) for _ in range(3)]
        mesh, cube = part(*boxes), small(rng.uniform(-0.2, 0.2, 3), 0.3)
        surface = np.concatenate([samples(size, at, rng) for size, at in boxes])
        strictly = [(np.abs(surface - at) < 0.5 * size - 1e-9).all(axis=1) for size, at in boxes]
        surface = surface[~np.any(strictly, axis=0)]
        corners = [p for p in cube.vertices if any((np.abs(p - at) < 0.5 * size).all() for size, at in boxes)]
        depths = [np.linalg.norm(surface - p, axis=1).min() for p in corners]
        result = gk.penetration(mesh, cube)
        assert result.upper >= max(depths) - 0.05
        volume = only_clash(mesh, cube).overlap_volume
        points = rng.uniform(cube.bounds[0], cube.bounds[1], (20000, 3))
        share = np.any([(np.abs(points - at) < 0.5 * size).all(axis=1) for size, at in boxes], axis=0).mean()
        assert volume == pytest.approx(share * 0.3**3, abs=0.03 * 0.3**3)


def samples(size, at, rng):
    points = rng.uniform(-0.5, 0.5, (6000, 3))
    axis = rng.integers(0, 3, len(points))
    points[np.arange(len(points)), axis] = rng.choice((-0.5, 0.5), len(points))
    return points * size + at


def test_moving_parts_and_duplicates_are_unions():
    wall, box = part(*STEPS), small((-3, 0.1, 0.05), 0.2)
    into = gk.clash.Movement({"b": gk.Motion.translation(None, (3.5, 0, 0))}, times=(0, 1))
    (clash,) = check(Assembly.of({"a": wall, "b": box}), motion=into).clashes
    assert clash.penetration == pytest.approx(1.0, rel=2e-2)
    assert only_clash(part(*CROSS), part(*CROSS)).kind == "duplicate"
    assert_names(gk.Mesh.volume.__doc__, "sum")


def test_many_bodies_that_do_not_overlap_are_searched_together():
    cells = np.zeros((9, 9, 9), dtype=bool)
    cells[::2, ::2, ::2] = True
    skins = penetration.of_voxels(gk.VoxelGrid(cells, 0.1))
    assert len(skins[0].mesh.bodies()) == 125
    assert len(penetration._bodies(skins, IDENTITY[0])) == 1
