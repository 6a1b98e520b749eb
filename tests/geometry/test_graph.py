"""Climbing the edge graph of a hull finds what scanning all of its vertices finds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import trimesh

import gjk3d as gk
from gjk3d.geometry import graph
from gjk3d.geometry.graph import cell_directions, support_graph
from gjk3d.geometry.hulls import hull_of_faces
from gjk3d.shapes import layout
from gjk3d.shapes.convex_hull import cell_of

rng = np.random.default_rng(11)


def on_sphere(count):
    v = rng.normal(size=(count, 3))
    return v / np.linalg.norm(v, axis=1, keepdims=True)


CLOUDS = {
    "sphere": on_sphere(1000),
    "icosphere": trimesh.creation.icosphere(3).vertices,
    "latitudes": trimesh.creation.uv_sphere(count=[32, 32]).vertices,
    "egg": on_sphere(500) * (1, 2, 5),
    "far off": on_sphere(300) + 1e4,
    "drum": trimesh.creation.cylinder(1, 3, sections=60).vertices,
    "rounded box": np.vstack([on_sphere(400) * 0.2 + 0.3 * np.sign(on_sphere(400))]),
}


def directions(hull, count):
    """Random ones, face normals, normals of edges, edges, axes, all with little nudges."""
    corners = hull.vertices[hull.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    edges = (corners - np.roll(corners, 1, axis=1)).reshape(-1, 3)
    pairs = normals + np.roll(normals, 1, axis=0)
    special = np.vstack([normals, -normals, edges, pairs, np.eye(3), -np.eye(3), np.sign(rng.normal(size=(8, 3)))])
    nudged = special + rng.normal(size=special.shape) * 10.0 ** rng.uniform(-17, -1, size=(len(special), 1))
    plain = rng.normal(size=(count, 3))
    return np.vstack([special, nudged, plain])


@pytest.mark.many
@pytest.mark.parametrize("name", CLOUDS)
def test_climbing_is_scanning(name):
    hull = gk.ConvexHull(CLOUDS[name])
    assert hull._packed[0][layout.PARTS] > 0, "is climbed"
    d = directions(hull, 100_000 // len(CLOUDS))
    reached = np.einsum("ij,ij->i", hull.support(d), d)
    farthest = np.concatenate([(part @ hull.vertices.T).max(axis=1) for part in np.array_split(d, 20)])
    rho = np.linalg.norm(hull.vertices - hull.vertices.mean(axis=0), axis=1).max()
    where = np.abs(hull.vertices).max()
    rounding = 16 * 2.0**-53 * (rho + where) * np.linalg.norm(d, axis=1)
    assert (reached >= farthest - rounding).all()
    assert (reached <= farthest + rounding).all()
    graph = support_graph(hull._hull())
    assert 0 < graph.error <= 2e-13 * rho
    assert hull._packed[1][layout.SLACK] >= graph.error


def test_flat_hulls_and_hulls_with_nearly_straight_outlines_are_scanned():
    circle = np.linspace(0, 2 * np.pi, 4000, endpoint=False)
    disc = np.column_stack([np.cos(circle), np.sin(circle), np.zeros(4000)])
    assert gk.ConvexHull(disc)._packed[0][layout.PARTS] == 0
    drum = gk.ConvexHull(np.vstack([disc, disc + (0, 0, 1)]))
    assert drum._packed[0][layout.PARTS] == 0
    assert drum._packed[1][layout.SLACK] == drum._hull().defect


def test_small_hulls_are_scanned():
    assert gk.ConvexHull(on_sphere(40))._packed[0][layout.PARTS] == 0


def test_every_cell_of_the_cube_map_is_found_from_its_middle():
    for grid in (4, 7, 24):
        middles = cell_directions(grid)
        assert [cell_of((float(x), float(y), float(z)), grid) for x, y, z in middles] == list(range(6 * grid * grid))
    corner = np.array([1.0, 1.0, 1.0])
    assert 0 <= cell_of(tuple(corner), 4) < 96
    assert cell_of((0.0, 0.0, 0.0), 4) == 0


def test_a_tilted_vertex_is_seen_by_the_check_for_convexity():
    hull = gk.ConvexHull(on_sphere(200))._hull()
    assert graph._is_convex(hull.vertices, hull.faces)
    dented = hull.vertices.copy()
    dented[17] *= 0.9
    assert not graph._is_convex(dented, hull.faces)


@pytest.mark.parametrize("unit", [1.0, 2.0**-160, 2.0**160])
def test_one_rounding_of_one_corner_decides_convexity(unit):
    a, along, across = np.array([[2.0, 3.0, 5.0], [7.0, 1.0, -2.0], [-1.0, 6.0, 3.0]]) * unit
    faces = np.array([[0, 2, 1], [0, 3, 2], [4, 0, 1], [4, 1, 2], [4, 2, 3], [4, 3, 0]])
    apex = np.array([3.0, 5.0, 40.0]) * unit

    def pyramid(down):
        corners = np.array([a, a + along, a + along + across, a + across, apex])
        corners[3, 2] = np.nextafter(corners[3, 2], down)
        return corners

    flat = pyramid(a[2] + across[2])
    assert graph._is_convex(flat, faces)
    assert graph._is_convex(pyramid(np.inf), faces), "a corner of the base inwards: the base bends outwards"
    assert not graph._is_convex(pyramid(-np.inf), faces)


def test_heights_in_whole_numbers_are_those_in_fractions():
    corners = rng.integers(-9, 9, (4, 300, 3)) * 2.0 ** rng.integers(-70, 70, (4, 300, 3))
    corners[3, ::3] = corners[0, ::3] + corners[1, ::3]  # some that cancel, and some in one plane
    corners[:, ::5, 2] = 0.0
    above = graph._above(*graph._whole_steps(corners))
    signs = []
    for quad in np.moveaxis(corners, 0, 1):
        (x, y, z), (u, v, w), (p, q, r) = (
            [Fraction(s) - Fraction(t) for s, t in zip(c, quad[0], strict=True)] for c in quad[1:]
        )
        height = (y * w - z * v) * p + (z * u - x * w) * q + (x * v - y * u) * r
        signs.append((height > 0) - (height < 0))
    assert {-1, 0, 1} == set(signs)
    assert [(h > 0) - (h < 0) for h in above] == signs


def test_a_surface_wound_twice_round_is_not_climbed():
    """Convex across every edge, seen from inside everywhere, closed like a sphere; and not convex."""
    turn = 4 * np.pi * np.arange(5) / 5
    star = np.column_stack([np.cos(turn), np.sin(turn), np.zeros(5)])
    corners = np.vstack([star, [[0, 0, 1], [0, 0, -1]]])
    k = np.arange(5)
    after = (k + 1) % 5
    faces = np.vstack([np.column_stack([k, after, np.full(5, 5)]), np.column_stack([after, k, np.full(5, 6)])])
    hull = hull_of_faces(corners, faces, 3, 0.0, np.ones(15))
    assert graph._is_convex(corners, faces)
    assert support_graph(hull) is None
