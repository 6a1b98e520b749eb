"""Faces of one mesh that intersect, compared with a reference that clips polygons in rational numbers."""

from __future__ import annotations

import copy
import itertools

import numpy as np
import pytest
from exact_triangles import cross, dot, sub, vec
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.bodies import self_intersections as method


def clipped(polygon, n, corner):
    """Return the part of a polygon where n . (x - corner) >= 0."""
    out = []
    heights = [dot(n, sub(p, corner)) for p in polygon]
    for k, (p, height) in enumerate(zip(polygon, heights, strict=True)):
        q, next_height = polygon[(k + 1) % len(polygon)], heights[(k + 1) % len(polygon)]
        if height >= 0:
            out.append(p)
        if height * next_height < 0:
            s = height / (height - next_height)
            out.append(tuple(a + s * (b - a) for a, b in zip(p, q, strict=True)))
    return out


def folded(f, g):
    """Return whether two triangles, one of which has an area, intersect beyond their shared corners and edges."""
    f, g = [vec(p) for p in f], [vec(p) for p in g]
    if not any(cross(sub(g[1], g[0]), sub(g[2], g[0]))):
        f, g = g, f
    n = cross(sub(g[1], g[0]), sub(g[2], g[0]))
    polygon = clipped(clipped(f, n, g[0]), tuple(-x for x in n), g[0])
    for k in range(3):
        polygon = clipped(polygon, cross(n, sub(g[(k + 1) % 3], g[k])), g[k])
    shared = [p for p in f if p in g]
    if len(set(shared)) == 3:
        return any(cross(sub(f[1], f[0]), sub(f[2], f[0])))

    def is_shared(p):
        if len(shared) < 2:
            return p in shared
        along, out = sub(shared[1], shared[0]), sub(p, shared[0])
        return not any(cross(along, out)) and 0 <= dot(along, out) <= dot(along, along)

    return not all(map(is_shared, polygon))


def reference_pairs(vertices, faces):
    corners = np.asarray(vertices, dtype=float)[np.asarray(faces)]
    pairs = itertools.combinations(range(len(faces)), 2)
    return [[i, j] for i, j in pairs if folded(corners[i], corners[j])]


def intersecting_pairs(vertices, faces):
    return gk.Mesh(vertices, faces, rounding=0.0).self_intersections().tolist()


def has_area(face):
    a, b, c = (vec(p) for p in face)
    return any(cross(sub(b, a), sub(c, a)))


@st.composite
def soups(draw, most=3):
    """Draw triangles on a small lattice that share corners, edges, planes and lines, at any scale and rotation."""
    count = draw(st.integers(3, 7))
    coordinate = st.integers(0, most).map(float)
    vertices = np.array([[draw(coordinate) for _ in range(3)] for _ in range(count)])
    if draw(st.booleans()):
        vertices[:, 2] = 0.0
    faces = [draw(st.permutations(range(count)))[:3] for _ in range(draw(st.integers(2, 5)))]
    vertices *= 2.0 ** draw(st.sampled_from([0, -60, 60]))
    if draw(st.booleans()):
        vertices += 10.0 ** draw(st.integers(-8, 3)) * np.array([0.1, 0.2, 0.3])
    if draw(st.booleans()):
        vertices = vertices @ Rotation.from_rotvec(draw(st.sampled_from([(0.1, 0.2, 0.3), (0, 0, 1e-9)]))).as_matrix()
    if draw(st.booleans()):
        vertices[draw(st.integers(0, count - 1))] *= 1.0 + 2.0**-52
    return vertices, faces


@given(soups())
def test_pairs_match_the_reference(soup):
    vertices, faces = soup
    solid = [face for face in faces if has_area(vertices[face])]
    for some in (solid, [*solid[:1], *faces[:1]]):
        if some and has_area(vertices[some[0]]):
            assert intersecting_pairs(vertices, some) == reference_pairs(vertices, some)


@given(soups(most=20))
def test_pairs_of_triangles_in_general_position(soup):
    vertices, faces = soup
    solid = [face for face in faces if has_area(vertices[face])]
    if solid:
        assert intersecting_pairs(vertices, solid) == reference_pairs(vertices, solid)


FLAT = [(0, 0, 0), (4, 0, 0), (0, 4, 0), (4, 4, 0)]


@pytest.mark.parametrize(
    ("vertices", "faces", "found"),
    [
        (FLAT, [(0, 1, 2), (1, 3, 2)], []),  # neighbours in one plane
        ([*FLAT, (1, 1, 0)], [(0, 1, 2), (1, 4, 2)], [[0, 1]]),  # folded onto its neighbour
        ([*FLAT, (1, 1, 1)], [(0, 1, 2), (1, 4, 2)], []),
        (FLAT, [(0, 1, 2), (2, 1, 0)], [[0, 1]]),  # the same face twice, with either winding
        (FLAT, [(0, 1, 2), (1, 2, 0)], [[0, 1]]),
        ([*FLAT, (1, 1, 0), (1, 1, 1), (2, 1, 1)], [(0, 1, 2), (4, 5, 6)], [[0, 1]]),  # a corner in a face
        ([*FLAT, (2, 0, 0), (2, -1, 1), (2, -1, 0)], [(0, 1, 2), (4, 5, 6)], [[0, 1]]),  # on an edge
        ([*FLAT, (-1, 0, 0), (0, -1, 0)], [(0, 1, 2), (0, 4, 5)], []),  # a common corner
        ([*FLAT, (9, 9, 0), (8, 9, 0)], [(0, 1, 2), (0, 4, 5)], [[0, 1]]),
        ([*FLAT, (2, 0, 0), (3, 0, 0)], [(0, 1, 2), (0, 4, 1), (4, 5, 5)], [[0, 2], [1, 2]]),  # without an area
    ],
)
@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e9])
def test_known_pairs(vertices, faces, found, scale):
    vertices = np.array(vertices, dtype=float) * scale
    for shift in itertools.product(range(3), repeat=2):
        turned = [(*face[shift[k % 2] :], *face[: shift[k % 2]]) for k, face in enumerate(faces)]
        assert intersecting_pairs(vertices, turned) == found
        copies = vertices[np.array(turned)].reshape(-1, 3)  # as in an STL file
        assert intersecting_pairs(copies, np.arange(len(copies)).reshape(-1, 3)) == found


def test_self_intersections_of_closed_and_crossing_surfaces():
    for shape in (
        gk.Sphere(1),
        gk.Box((1, 2, 3)),
        gk.Cylinder(1, 2),
        gk.ConvexHull(np.random.default_rng(1).normal(size=(99, 3))),
    ):
        surface = shape.surface()
        for turn in (np.identity(3), Rotation.random(random_state=4).as_matrix()):
            assert not intersecting_pairs(surface.vertices @ turn, surface.faces)
    ball = gk.Sphere(1).surface()
    first, second = gk.Mesh(ball.vertices, ball.faces), gk.Mesh(ball.vertices + (0.71, 0.13, 0.07), ball.faces)
    joined = gk.Mesh(
        np.vstack([first.vertices, second.vertices]), np.vstack([first.faces, second.faces + len(first.vertices)])
    )
    pairs = joined.self_intersections()
    assert pairs.tolist() == (gk.meeting_faces(first, second) + (0, len(first.faces))).tolist()
    assert not pairs.flags.writeable
    assert joined.self_intersections() is pairs
    assert copy.deepcopy(joined).self_intersections() is pairs


def test_doubled_mesh_pairs_each_face_with_its_copy():
    ball = gk.Sphere(1).surface(8)
    pairs = intersecting_pairs(np.vstack([ball.vertices] * 2), np.vstack([ball.faces, ball.faces + len(ball.vertices)]))
    assert pairs == [[k, len(ball.faces) + k] for k in range(len(ball.faces))]


def test_copies_of_a_corner_that_differ_by_rounding_are_one_corner():
    ball = gk.Sphere(1).surface(12)
    corners = ball.vertices[ball.faces].reshape(-1, 3)
    noise = np.random.default_rng(2).uniform(-1e-7, 1e-7, corners.shape)
    mesh = gk.Mesh(corners + noise, np.arange(len(corners)).reshape(-1, 3), rounding=1e-6)
    assert mesh.is_watertight
    assert len(mesh.self_intersections()) == 0
    assert len(gk.Mesh(mesh.vertices, mesh.faces, rounding=0.0).self_intersections()) > 0


def test_floats_decide_nearly_all_pairs(monkeypatch):
    exact_calls = []
    decide = method._intersect
    monkeypatch.setattr(method, "_intersect", lambda *pair: exact_calls.append(pair) or decide(*pair))
    box = gk.Mesh(*gk.Box((1, 1, 1)).surface()[:2])
    for mesh in (box, gk.Mesh(*gk.Sphere(1).surface()[:2])):
        vertices = mesh.vertices @ Rotation.random(random_state=5).as_matrix()
        assert not intersecting_pairs(vertices, mesh.faces)
    line = np.linspace(0, 1, 12)
    x, y = np.meshgrid(line, line)
    grid = np.column_stack([x.ravel(), y.ravel(), 0 * x.ravel()]) @ Rotation.random(random_state=6).as_matrix()
    k = (np.arange(11)[:, None] * 12 + np.arange(11)).ravel()
    assert not intersecting_pairs(grid, np.vstack([np.c_[k, k + 1, k + 12], np.c_[k + 1, k + 13, k + 12]]))
    assert len(exact_calls) < 20


def test_clash_notes_a_part_that_intersects_itself():
    cube = gk.Mesh(*gk.Box((1, 1, 1)).surface()[:2])
    crossed = np.vstack([cube.vertices, cube.vertices + 0.5]), np.vstack([cube.faces, cube.faces + 8])
    parts = {"whole": cube, "crossed": gk.Mesh(crossed[0] + (1.2, 0, 0), crossed[1])}
    notes = gk.clash.check(gk.clash.Assembly.of(parts, "mm"), clearance=0.5).notes
    assert [note for note in notes if "intersect each other" in note] == [
        "crossed: faces intersect each other: Mesh.self_intersections() lists them"
    ]
    # more pairs than the first search examines
    ball = gk.Sphere(1).surface(128)
    twice = gk.Mesh(np.vstack([ball.vertices] * 2), np.vstack([ball.faces, ball.faces + len(ball.vertices)]))
    assert method.intersects_itself(twice)
    assert not method.intersects_itself(cube)
