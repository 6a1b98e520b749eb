"""Normals of touching bodies and at impacts are those of the parts that touch, independent of the hulls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import gjk3d as gk
from tests.bodies import every_kind
from tests.bodies.random_shapes import Array, anywhere, at
from tests.hardening.normals import cast_at_balls, cast_at_gearbox, touch_level_fields

UP = np.array([0.0, 0.0, 1.0])


def box_mesh(extents: Any, center: Any = (0.0, 0.0, 0.0)) -> gk.Mesh:
    surface = gk.Box(extents).surface()
    return gk.Mesh(surface.vertices + np.array(center), surface.faces)


def an_l() -> gk.Mesh:
    """Return a floor of 4 x 4 x 1 with a wall of 1 x 4 x 4 as one closed mesh; the floor is level at z = 1."""
    profile = [(0.0, 0.0), (4.0, 0.0), (4.0, 1.0), (1.0, 1.0), (1.0, 5.0), (0.0, 5.0)]
    corners = [(x, y, z) for y in (0.0, 4.0) for x, z in profile]
    sides = [(k, (k + 1) % 6) for k in range(6)]
    faces = [f for i, j in sides for f in ((i, i + 6, j + 6), (i, j + 6, j))]
    caps = [(0, 1, 2), (0, 2, 3), (0, 3, 5), (3, 4, 5)]
    faces += [(a, b, c) for a, b, c in caps] + [(a + 6, c + 6, b + 6) for a, b, c in caps]
    return gk.Mesh(corners, faces)


def make_ground(bottom: float) -> gk.HeightField:
    """Return a height field that is level at z = 1 and rises to 5 along x = 0."""
    heights = np.ones((5, 5))
    heights[0, :] = 5.0
    return gk.HeightField(heights, 1.0, bottom=bottom)


FLOOR, WALL = ((4.0, 4.0, 1.0), (2.0, 2.0, 0.5)), ((1.0, 4.0, 4.0), (0.5, 2.0, 3.0))  #: extents and centres
CELLS = np.zeros((4, 4, 5), dtype=bool)
CELLS[..., 0] = CELLS[0] = True
#: bodies with level ground at z = 1 for x from 1 to 4 and y from 0 to 4, next to a wall or a slope
LEVEL = {
    "compound": gk.Compound([(gk.Box(extents), at(*center)) for extents, center in (FLOOR, WALL)]),
    "closed mesh": an_l(),
    "open mesh": gk.Mesh(an_l().vertices, an_l().faces[:-1], solid=False),
    "ground with a bottom": make_ground(0.0),
    "endless ground": make_ground(-np.inf),
    "voxels": gk.VoxelGrid(CELLS, 1.0),
    "compound of meshes": gk.Compound([(box_mesh(*FLOOR), None), (box_mesh(*WALL), None)]),
}
#: shapes that are placed on the ground, and the height of their origin
PLACED = {
    "ball": (gk.Sphere(0.25), 0.25),
    "box": (gk.Box((0.5, 0.5, 0.5)), 0.25),
    "cylinder": (gk.Cylinder(0.25, 0.5), 0.25),
    "capsule": (gk.Capsule(0.25, 0.5), 0.5),
    "hull": (gk.ConvexHull(every_kind.CUBE * 0.5), 0.25),
    "point": (gk.Point(), 0.0),
    "compound": (gk.Compound([(gk.Sphere(0.125), at(x, 0, 0)) for x in (-0.125, 0.125)]), 0.125),
    "mesh": (box_mesh((0.5, 0.5, 0.5)), 0.25),
}


@pytest.mark.parametrize("ground", LEVEL)
@pytest.mark.parametrize("thing", PLACED)
def test_normals_on_level_ground(ground: str, thing: str, rng: np.random.Generator) -> None:
    """Bodies touch up to rounding, in both orders, also at positions on edges of the triangles."""
    body, (shape, height) = LEVEL[ground], PLACED[thing]
    places = np.vstack([[(2, 2), (3, 2), (2.25, 1.75), (2.5, 2.5)], rng.uniform((1.5, 0.5), (3.5, 3.5), (4, 2))])
    for x, y in places:
        turned = Rotation.from_rotvec(UP * rng.uniform(0, 6) * (x % 0.25 > 0))
        pose = at(x, y, 1.0 + height, rotation=turned)
        for query in (gk.signed_distance, gk.distance):
            result, back = query(body, shape, None, pose), query(shape, body, pose, None)
            assert np.linalg.norm(result.normal - UP) < 1e-9, (query, x, y, result)
            assert (back.normal == -result.normal).all()
            assert result.lower <= 1e-13
            assert -1e-13 <= result.upper <= 1e-9
            assert result.distance == pytest.approx(0.0, abs=1e-9)
            assert result.point_b - result.point_a == pytest.approx(result.distance * result.normal, abs=1e-12)


@pytest.mark.full
@pytest.mark.parametrize("ground", LEVEL)
def test_normals_of_support_functions_on_level_ground(ground: str) -> None:
    ball = gk.Support(lambda d: 0.25 * d / np.sqrt((d * d).sum()), (0.0, 0.0, 0.0), 0.25)
    for x, y in ((2.0, 2.0), (2.7, 1.3)):
        for query in (gk.signed_distance, gk.distance):
            result = query(LEVEL[ground], ball, None, at(x, y, 1.25))
            assert np.linalg.norm(result.normal - UP) < 1e-7, (query, result)
            assert result.distance == pytest.approx(0.0, abs=1e-8)


@pytest.mark.parametrize("ground", LEVEL)
@pytest.mark.parametrize("thing", PLACED)
def test_normals_of_impacts_on_level_ground(ground: str, thing: str, rng: np.random.Generator) -> None:
    body, (shape, height) = LEVEL[ground], PLACED[thing]
    for x, y in [(2, 2), (2.25, 1.75), *rng.uniform((1.5, 0.5), (3.5, 3.5), (3, 2))]:
        hit = gk.shapecast(shape, body, (0, 0, -2), at(x, y, 1.0 + height + rng.uniform(0.5, 1.5)))
        assert hit.status == gk.ImpactStatus.HIT
        assert np.linalg.norm(hit.normal + UP) < 1e-9, (x, y, hit)


@pytest.mark.parametrize(
    "shape",
    [gk.Ellipsoid((0.3, 0.2, 0.4)), gk.Cylinder(0.25, 0.5), gk.Cone(0.25, 0.5), gk.Box((0.3, 0.2, 0.4)).inflated(0.1)],
)
@pytest.mark.parametrize("ground", ["compound", "closed mesh", "voxels", "endless ground"])
def test_normals_of_shapes_that_touch_at_one_point(shape: gk.Shape, ground: str, rng: np.random.Generator) -> None:
    for turned in Rotation.random(8, rng=rng):
        low = (turned.as_matrix() @ shape.support(turned.inv().apply(-UP)))[2]
        pose = at(*rng.uniform((2.0, 1.5), (3.0, 2.5)), 1.0 - low, rotation=turned)
        for query in (gk.signed_distance, gk.distance):
            assert np.linalg.norm(query(LEVEL[ground], shape, None, pose).normal - UP) < 1e-7
        pose[2, 3] += 0.5
        hit = gk.shapecast(shape, LEVEL[ground], (0, 0, -2), pose)
        assert np.linalg.norm(hit.normal + UP) < 1e-7


@pytest.mark.parametrize("bottom", [-np.inf, -2.0])
@pytest.mark.parametrize("y", [4.0, 4.3, 4.5])
def test_normal_of_a_crate_on_more_columns_than_are_listed(bottom: float, y: float) -> None:
    """The first columns only touch the sides of the crate."""
    ground, crate, pose = gk.HeightField(np.zeros((12, 12)), 1.0, bottom=bottom), gk.Box((1, 1, 1)), at(4.5, y, 0.5)
    for result in (query(ground, crate, None, pose) for query in (gk.distance, gk.signed_distance)):
        assert np.linalg.norm(result.normal - UP) < 1e-9, result
        assert gk.verify(result, ground, crate, None, pose).proven
    assert np.abs(gk.contact(ground, crate, None, pose).normals - UP).max() < 1e-9
    hit = gk.shapecast(crate, ground, (0, 0, -1), at(4.5, y, 1.0))
    assert np.linalg.norm(hit.normal + UP) < 1e-9, hit


def test_normal_of_a_long_mesh_on_many_triangles() -> None:
    """Its sides touch more triangles than are listed, all with the same normal."""
    surface = gk.HeightField(np.zeros((33, 33)), 1.0).surface()
    ground, beam = gk.Mesh(surface.vertices, surface.faces), box_mesh((3.0, 34.0, 1.0))
    for query in (gk.distance, gk.signed_distance):
        assert np.linalg.norm(query(ground, beam, None, at(16.5, 16.1, 0.5)).normal - UP) < 1e-9


def test_normal_on_an_open_mesh_is_that_of_the_touching_parts(rng: np.random.Generator) -> None:
    """A box that drops into a valley touches it with a corner, while the hulls overlap."""
    heights = np.add.outer(np.array([0, -0.2, -0.4, -0.4, -0.2, 0]), np.zeros(6))
    surface, extents = gk.HeightField(heights, 0.5).surface(), (0.275, 0.53, 0.263)
    ground, slopes = gk.Mesh(surface.vertices, surface.faces), np.array([(0.4, 0, 1), (-0.4, 0, 1)]) / np.sqrt(1.16)
    for turned in Rotation.random(12, rng=rng):
        start = at(*rng.uniform((0.4, 0.8), (0.6, 1.6)), 4.0, rotation=turned)
        for body in (gk.Box(extents), box_mesh(extents)):
            hit = gk.shapecast(body, ground, (0, 0, -6), start)
            end = start.copy()
            end[2, 3] -= 6.0 * hit.free_until
            for normal in (hit.normal, gk.signed_distance(body, ground, end).normal):
                assert np.linalg.norm(normal + slopes, axis=1).min() < 1e-9, (body, hit)


@pytest.mark.parametrize("ground", LEVEL)
@pytest.mark.parametrize("thing", ["ball", "box", "cylinder", "hull", "mesh"])
def test_normals_in_a_corner_lead_away_from_floor_or_wall(ground: str, thing: str) -> None:
    body, (shape, height) = LEVEL[ground], PLACED[thing]
    pose = at(1.25, 2.0, 1.0 + height)
    for query in (gk.signed_distance, gk.distance):
        normal = query(body, shape, None, pose).normal
        assert normal[[0, 2]].max() > 1.0 - 1e-9, (query, normal)


def test_normal_of_a_ball_in_a_corner_is_that_of_one_side() -> None:
    """A ball on the floor touches the wall: the normal is that of the floor or that of the wall."""
    for name in ("compound", "closed mesh", "open mesh", "voxels", "compound of meshes"):
        body = LEVEL[name]
        ball = gk.signed_distance(body, gk.Sphere(0.25), None, at(1.25, 2.0, 1.25))
        assert np.abs(ball.normal).max() > 1.0 - 1e-9, (name, ball)
        assert ball.normal @ (1.0, 0.0, 1.0) == pytest.approx(1.0, abs=1e-9), (name, ball)
        assert ball.status == gk.Status.TOUCHING
        proof = gk.signed_distance(body, gk.Sphere(0.25), None, at(1.25, 2.0, 1.25), certificate=True)
        assert gk.verify(proof, body, gk.Sphere(0.25), None, at(1.25, 2.0, 1.25)).proven
        hit = gk.shapecast(gk.Sphere(0.25), body, (0, 0, -2), at(1.25 + 1e-6, 2.0, 2.0))
        assert np.linalg.norm(hit.normal + UP) < 1e-9, (name, hit)


@pytest.mark.parametrize("gap", [2.0**-50, 2.0**-48, 2.0**-46])
@pytest.mark.parametrize("thing", ["ball", "box", "point"])
def test_bounds_contain_gaps_near_rounding(gap: float, thing: str) -> None:
    """The bodies are separated by a gap that rounding may hide."""
    body, (shape, height) = LEVEL["compound"], PLACED[thing]
    pose = at(2, 2, 1.0 + height + gap)
    result = gk.signed_distance(body, shape, None, pose)
    assert result.lower <= gap <= result.upper
    assert gk.verify(result, body, shape, None, pose).proven


def test_ball_between_two_walls_touches_one_of_them() -> None:
    """Only a long translation along the walls is certain to separate the ball, which overlaps neither wall."""
    walls = gk.Compound([(gk.Box((1, 8, 8)), at(x, 0, 0)) for x in (-0.75, 0.75)])
    sheets = gk.Mesh([(x, y, z) for x in (-0.25, 0.25) for y, z in ((-4, -4), (4, -4), (0, 4))], [(0, 1, 2), (3, 4, 5)])
    for body in (walls, sheets):
        ball = gk.signed_distance(body, gk.Sphere(0.25), None, at(0, 0.5, -1.0))
        assert ball.lower <= ball.distance <= ball.upper <= 1e-12
        assert ball.distance == pytest.approx(0.0, abs=1e-12)
        assert abs(ball.normal[0]) == pytest.approx(1.0, abs=1e-9)


def test_flat_shape_on_a_seam_is_deep_inside() -> None:
    """A point or a sheet on a seam of cells or boxes only touches the parts, but is deep inside the body."""
    cells = gk.VoxelGrid(np.ones((4, 4, 4), dtype=bool), 1.0)
    halves = gk.Compound([(gk.Box((4, 4, 2)), at(2, 2, z)) for z in (1, 3)])
    sheet = gk.Mesh([(1, 1, 2), (3, 1, 2), (2, 3, 2)], [(0, 1, 2)])
    for body, shape in ((cells, gk.Point((2, 2, 2))), (halves, gk.Point((2, 2, 2))), (halves, sheet)):
        assert gk.signed_distance(body, shape).lower <= -1.0


@pytest.mark.parametrize("radius", [0.0, 1e-15, 1e-14])
def test_point_on_a_seam_of_boxes_has_a_normal_that_separates(radius: float) -> None:
    """A point has no interior, and neither does a ball that is smaller than rounding."""
    halves = gk.Compound([(gk.Box((2, 2, 2)), None), (gk.Box((2, 2, 2)), at(2, 0, 0))])
    ball = gk.Sphere(radius) if radius else gk.Point()
    result = gk.signed_distance(halves, ball, None, at(1, 0, 0))
    assert result.distance == pytest.approx(-1.0)
    assert not gk.collide(halves, ball, None, at(*((1, 0, 0) - (result.distance - 1e-9) * result.normal)))


def test_equal_bodies_overlap() -> None:
    body = an_l()
    assert gk.signed_distance(body, body).distance <= -1.0


def contacts_of_cubes() -> dict[str, tuple[Array, Array]]:
    """Return positions at which a cube of side 1 touches another, and the valid normals."""
    x, y, z = np.eye(3)
    return {
        "flush": (np.array([0.0, 0.0, 1.0]), z[None]),
        "shifted along an axis": (np.array([0.5, 0.0, 1.0]), z[None]),
        "shifted": (np.array([0.25, 0.375, 1.0]), z[None]),
        "inside the face of a larger one": (np.array([0.0, 0.0, 1.5]), z[None]),
        "edge on edge": (np.array([1.0, 0.0, 1.0]), np.array([x, z])),
        "corner on corner": (np.array([1.0, 1.0, 1.0]), np.array([x, y, z])),
    }


@pytest.mark.parametrize("kinds", [(i, j) for i in range(3) for j in range(3)])
@pytest.mark.parametrize("name", contacts_of_cubes())
def test_cubes_of_every_kind_touch(name: str, kinds: tuple[int, int], rng: np.random.Generator) -> None:
    """Cubes are meshes, compounds of two halves or convex shapes; normals are in the cone of the valid ones."""
    move, cone = contacts_of_cubes()[name]
    wide = 2.0 if "larger" in name else 1.0

    def cube(side: float, kind: int) -> Any:
        half = gk.Box((side / 2, side, side))
        halves = gk.Compound([(half, at(-side / 4, 0, 0)), (half, at(side / 4, 0, 0))])
        return (box_mesh((side,) * 3), halves, gk.Box((side,) * 3))[kind]

    a, b = cube(wide, kinds[0]), cube(1.0, kinds[1])
    for frame in (np.eye(4), anywhere(rng, 1.0)):
        for query in (gk.signed_distance, gk.distance):
            result = query(a, b, frame, frame @ at(*move))
            normal = frame[:3, :3].T @ result.normal
            weights = np.linalg.lstsq(cone.T, normal, rcond=None)[0]
            assert np.linalg.norm(weights @ cone - normal) < 1e-9, (query, result)
            assert (weights > -1e-9).all(), (query, result)


@pytest.mark.parametrize("gap", [0.0, 1e-15, 2e-13, 1e-9])
def test_normals_of_meshes_over_a_small_gap(gap: float, rng: np.random.Generator) -> None:
    """For a corner over a face and for an edge across an edge, the normal is unique to rounding."""
    base = box_mesh((2.0, 2.0, 2.0))
    tip = gk.Mesh([(0, 0, 0), (1, 0, 2), (-1, 1, 2), (-1, -1, 2)], [(0, 2, 1), (0, 3, 2), (0, 1, 3), (1, 2, 3)])
    roof = gk.Mesh(
        [(0, -2, 0), (0, 2, 0), (1, -2, 2), (1, 2, 2), (-1, -2, 2), (-1, 2, 2)],
        [(0, 1, 2), (2, 1, 3), (1, 0, 4), (1, 4, 5), (0, 2, 4), (1, 5, 3), (2, 3, 4), (3, 5, 4)],
    )
    edge = np.array([1.0, 0.0, 1.0]) / np.sqrt(2.0)
    ridge = Rotation.align_vectors([edge, (1, 0, -1)], [(0, 0, 1), (0, 1, 0)])[0]  # across the edge of the base
    for b, at_first, true in ((tip, at(0.25, 0.5, 1.0), UP), (roof, at(1.0, 0.125, 1.0, rotation=ridge), edge)):
        frame = anywhere(rng, 1.0)
        start = at_first.copy()
        start[:3, 3] += gap * true
        true = frame[:3, :3] @ true
        for query in (gk.signed_distance, gk.distance):
            assert np.linalg.norm(query(base, b, frame, frame @ start).normal - true) < 1e-9, (query, b)
        start[:3, 3] += 0.5 * frame[:3, :3].T @ true
        hit = gk.shapecast(b, base, -true, frame @ start, frame)
        assert np.linalg.norm(hit.normal + true) < 1e-9, (hit, b)


def test_sample_of_the_sweeps_of_normals() -> None:
    """``python -m tests.hardening.normals`` runs all casts."""
    rng = np.random.default_rng(7)
    fields = touch_level_fields((12,), (1.0,))
    for result in (cast_at_balls(rng, 150), cast_at_gearbox(rng, 6, parts=12), fields):
        assert result.hits > 60
        assert not result.wrong, str(result)


@pytest.mark.parametrize("one", every_kind.BOUNDED)
@pytest.mark.parametrize("other", ["ball", "box", *every_kind.BOUNDED])
def test_distance_grows_as_b_moves_along_the_normal_of_a_touch(one: str, other: str, rng: np.random.Generator) -> None:
    shapes = {"ball": gk.Sphere(0.3), "box": gk.Box((0.5, 0.4, 0.6))}
    a, b = every_kind.BOUNDED[one]().body, shapes.get(other) or every_kind.BOUNDED[other](seed_of(other)).body
    hits = 0
    for _ in range(4):
        pose_a, start, way = anywhere(rng, 0.5), anywhere(rng, 0.5), rng.normal(size=3)
        way *= 6.0 / np.linalg.norm(way)
        start[:3, 3] -= way
        hit = gk.shapecast(b, a, 2.0 * way, start, pose_a)
        touching = start.copy()
        touching[:3, 3] += min(float(hit.time[1]), 1.0) * 2.0 * way
        normals = [-hit.normal, *(query(a, b, pose_a, touching).normal for query in (gk.signed_distance, gk.distance))]
        for normal in normals:
            moved = touching.copy()
            moved[:3, 3] += 1e-6 * normal
            rate = gk.distance(a, b, pose_a, moved).distance / 1e-6
            assert rate > 1.0 - 1e-3 or hit.status != gk.ImpactStatus.HIT
        hits += hit.status == gk.ImpactStatus.HIT
    assert hits > 0


def seed_of(name: str) -> Any:
    """Return the argument that makes another body of a kind: a seed, or a size for the kind without a seed."""
    return 0.8 if name == "solid" else 1
