"""Contact normals of closed meshes that intersect themselves, have thin walls, or have bodies wound inside out.

A point is in such a mesh if its surface winds about the point, in either direction. The tests sum solid angles.
"""

from __future__ import annotations

import naive
import numpy as np
import pytest

import gjk3d as gk

ROWS = 12


def box(size, at=(0, 0, 0), inverted=False):
    surface = gk.Box(size).surface()
    return surface.vertices + np.array(at, dtype=float), surface.faces[:, ::-1] if inverted else surface.faces


def joined(*bodies):
    vertices, faces, count = [], [], 0
    for points, triangles in bodies:
        vertices.append(points)
        faces.append(triangles + count)
        count += len(points)
    return gk.Mesh(np.vstack(vertices), np.vstack(faces))


def bent_tube(sides=8, radius=0.2):
    """Return a capped tube along a curve that crosses itself."""
    t = np.linspace(-1.25, 1.25, 41)
    middle = 2.0 * np.column_stack([t**2 - 1.0, t * (t**2 - 1.0), 0.0 * t])
    along = np.gradient(middle, axis=0)
    along /= np.linalg.norm(along, axis=1)[:, None]
    across = np.cross(along, (0.0, 0.0, 1.0))
    turn = 2.0 * np.pi * np.arange(sides) / sides + 0.1
    rings = np.cos(turn)[:, None] * across[:, None] + np.sin(turn)[:, None] * np.cross(across, along)[:, None]
    vertices = np.vstack([(middle[:, None] + radius * rings).reshape(-1, 3), middle[:1], middle[-1:]])
    i, j = np.divmod(np.arange((len(t) - 1) * sides), sides)
    a, b = i * sides + j, i * sides + (j + 1) % sides
    walls = np.vstack([np.column_stack([a, b, a + sides]), np.column_stack([b, b + sides, a + sides])])
    j, last = np.arange(sides), len(t) * sides
    first = np.column_stack([np.full(sides, last), (j + 1) % sides, j])
    end = np.column_stack([np.full(sides, last + 1), last - sides + j, last - sides + (j + 1) % sides])
    return gk.Mesh(vertices, np.vstack([walls, first, end]))


def figure_of_eight(lobe, count=41):
    """Return a prism over a figure of eight, whose lobes have opposite windings and different sizes."""
    turn = 2.0 * np.pi * (np.arange(count) + 0.37) / count
    flat = np.column_stack([np.cos(turn), np.sin(turn) * np.cos(turn), np.zeros(count)])
    flat[flat[:, 0] < 0.0] *= lobe
    i = np.arange(count)
    j, low, high = (i + 1) % count, np.full(count, 2 * count), np.full(count, 2 * count + 1)
    triangles = [(i, j, i + count), (j, j + count, i + count), (low, j, i), (high, i + count, j + count)]
    vertices = np.vstack([flat, flat + (0, 0, 1), [(0, 0, 0), (0, 0, 1)]])
    return gk.Mesh(vertices, np.vstack([np.column_stack(columns) for columns in triangles]))


def spindle(ring=0.5, radius=1.0, count=24):
    """Return a torus without a hole, which contains its inner sheet."""
    u, v = (2.0 * np.pi * (np.arange(count) + part) / count for part in (0.3, 0.2))
    u, v = (angles.ravel() for angles in np.meshgrid(u, v, indexing="ij"))
    far = ring + radius * np.cos(v)
    vertices = np.column_stack([far * np.cos(u), far * np.sin(u), radius * np.sin(v)])
    i, j = np.divmod(np.arange(count * count), count)
    p, q = i * count + j, (i + 1) % count * count + j
    r, s = i * count + (j + 1) % count, (i + 1) % count * count + (j + 1) % count
    return gk.Mesh(vertices, np.vstack([np.column_stack([p, q, r]), np.column_stack([r, q, s])]))


def inner_tetrahedron(inverted):
    """Return a box and a tetrahedron in it that shares a corner with the box; a cavity if it is inverted."""
    corner = np.ones(3)
    points = np.array([corner, corner - (1.2, 0.9, 1.0), corner - (0.9, 1.3, 0.8), corner - (0.7, 0.8, 1.4)])
    faces = np.array([(0, 1, 2), (0, 2, 3), (0, 3, 1), (1, 3, 2)])
    outwards = np.linalg.det(points[1:] - points[0]) < 0.0
    return joined(box((2, 2, 2)), (points, faces if outwards != inverted else faces[:, ::-1]))


#: a function that makes the mesh, and whether the mesh has walls with the solid on both sides
MESHES = {
    "bent tube": (bent_tube, True),
    "figure of eight, one lobe smaller": (lambda: figure_of_eight(0.6), False),
    "figure of eight, one lobe larger": (lambda: figure_of_eight(1.4), False),
    "spindle torus": (spindle, True),
    "wall of 1e-5": (lambda: joined(box((1, 1, 1)), box((1 - 2e-5,) * 3, inverted=True)), False),
    "inverted inner shell": (lambda: joined(box((1, 1, 1)), box((0.5,) * 3)), True),
    "inner shell at a corner": (lambda: inner_tetrahedron(False), True),
    "cavity at a corner": (lambda: inner_tetrahedron(True), False),
    "all inside out": (lambda: joined(box((1, 1, 1), inverted=True), box((0.5,) * 3)), False),
    "crossing boxes, one inside out": (
        lambda: joined(box((1, 1, 1)), box((0.5,) * 3, (0.5, 0.5, 0.5), inverted=True)),
        False,
    ),
}
SHAPES = {
    "ball": lambda size: gk.Sphere(0.5 * size),
    "box": lambda size: gk.Box((size,) * 3),
    "mesh": lambda size: gk.Mesh(*gk.Box((size,) * 3).surface()),
}


def is_inside(p, corners):
    """Return whether the surface winds around a point, by the solid angles of all triangles."""
    a, b, c = (corners[:, k] - p for k in range(3))
    x, y, z = (np.linalg.norm(v, axis=1) for v in (a, b, c))
    dots = [np.einsum("ij,ij->i", u, v) for u, v in ((a, b), (b, c), (c, a))]
    angles = np.arctan2(np.einsum("ij,ij->i", a, np.cross(b, c)), x * y * z + dots[0] * z + dots[1] * x + dots[2] * y)
    return abs(angles.sum()) > np.pi


def places(rng, mesh):
    """Yield a random point of the surface, a unit normal of its face, and whether both sides of it are solid.

    The normal leads out of the solid if only one side is solid.
    """
    corners = mesh.vertices[mesh.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.linalg.norm(normals, axis=1)
    step = 1e-6 * np.linalg.norm(np.ptp(mesh.vertices, axis=0))
    while True:
        k = rng.choice(len(areas), p=areas / areas.sum())
        p, n = corners[k].T @ rng.dirichlet(np.ones(3)), normals[k] / areas[k]
        ahead, behind = (is_inside(p + far * n, corners) for far in (step, -step))
        if ahead or behind:
            yield p, n if behind else -n, ahead and behind


def resting(rng, p, n, far):
    """Return a pose at a distance from a point along a normal, which is the last axis."""
    x = np.cross(n, rng.normal(size=3))
    x /= np.linalg.norm(x)
    return naive.pose(np.column_stack([x, np.cross(n, x), n]), p + far * n)


def leads_in(touch, corners, size):
    """Return which contacts that overlap by more than rounding have a normal that leads into the solid."""
    starts = touch.points_a + 1e-7 * size * touch.normals
    return [k for k in range(touch.count) if touch.gaps[k] < -1e-6 * size and is_inside(starts[k], corners)]


@pytest.mark.parametrize("thing", SHAPES)
@pytest.mark.parametrize("name", MESHES)
def test_shape_on_the_surface_is_pushed_out(name, thing):
    mesh, rng = MESHES[name][0](), np.random.default_rng(3)
    corners, size, rows = mesh.vertices[mesh.faces], float(np.linalg.norm(np.ptp(mesh.vertices, axis=0))), 0
    for p, out, two_sided in places(rng, mesh):
        length = size * 10.0 ** rng.uniform(-2.0, -0.5)
        depth = length * 10.0 ** rng.uniform(-5.0, -1.5)
        body, pose = SHAPES[thing](length), resting(rng, p, out, 0.5 * length - depth)
        freed = pose + np.pad((1.01 * depth * out)[:, None], [(0, 1), (3, 0)])
        # only this face touches the body if the body is separated as soon as it leaves the face
        if two_sided or is_inside(pose[:3, 3], corners) or gk.collide(mesh, body, None, freed):
            continue
        touch = gk.contact(mesh, body, None, pose, max_points=None)
        assert touch.count, (name, p)
        assert leads_in(touch, corners, size) == [], (p, touch)
        assert (touch.normals @ out).max() > 1.0 - 1e-9, (p, out, touch)
        rows += 1
        if rows == ROWS:
            break


@pytest.mark.parametrize("thing", SHAPES)
@pytest.mark.parametrize("name", [name for name, (_, inner) in MESHES.items() if inner and name != "spindle torus"])
def test_shape_at_an_inner_wall_is_deep_inside(name, thing):
    mesh, rng = MESHES[name][0](), np.random.default_rng(4)
    corners, size, rows = mesh.vertices[mesh.faces], float(np.linalg.norm(np.ptp(mesh.vertices, axis=0))), 0
    for p, n, two_sided in places(rng, mesh):
        length = 0.01 * size * 10.0 ** rng.uniform(-1.0, 0.0)
        reach, body = length * np.sqrt(3.0), SHAPES[thing](length)
        around = p + reach * naive.unit_vectors(rng, 24)
        if not (two_sided and all(is_inside(point, corners) for point in around)):
            continue
        touch = gk.contact(mesh, body, None, resting(rng, p, n, 0.45 * length), max_points=None)
        deep = gk.signed_distance(mesh, body, None, resting(rng, p, n, 0.45 * length))
        assert touch.count == 1, (p, touch)
        assert touch.gaps[0] <= -0.5 * length, (p, touch, deep)
        rows += 1
        if rows == ROWS:
            break


@pytest.mark.parametrize("thing", ["ball", "box"])
@pytest.mark.parametrize("name", ["bent tube", "spindle torus"])
def test_no_normal_at_an_intersection_leads_into_the_solid(name, thing):
    mesh, rng = MESHES[name][0](), np.random.default_rng(5)
    corners, size, rows = mesh.vertices[mesh.faces], float(np.linalg.norm(np.ptp(mesh.vertices, axis=0))), 0
    for p, n, two_sided in places(rng, mesh):
        length = size * 10.0 ** rng.uniform(-1.5, -0.5)
        pose, body = resting(rng, p, n, 0.45 * length), SHAPES[thing](length)
        if not two_sided or is_inside(pose[:3, 3], corners):
            continue
        touch = gk.contact(mesh, body, None, pose, max_points=None)
        assert touch.count, (name, p)
        wrong = leads_in(touch, corners, size)
        if thing == "ball":
            assert wrong == [] or touch.count == 1, (p, touch)
        # a contact of two faces has all corners of their common part, some of which another part of the mesh may cover
        right = np.delete(touch.gaps, wrong)
        assert touch.count == 1 or right.min() == pytest.approx(touch.gaps.min(), rel=1e-9), (p, touch)
        rows += 1
        if rows == ROWS:
            break
