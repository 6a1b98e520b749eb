"""Surface meshes are closed, wound outward, on the true surface, and converge to the true volume."""

from collections import Counter

import numpy as np
import pytest
from message_checks import assert_names

from gjk3d.errors import ShapeError
from gjk3d.shapes import measure

RESOLUTIONS = [3, 4, 5, 7, 16, 32, 50]


def volume(surface):
    a, b, c = np.moveaxis(surface.vertices[surface.faces], 1, 0)
    return float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6.0


def check_closed(surface):
    assert surface.vertices.dtype == np.float64
    assert surface.faces.dtype == np.int64
    directed = Counter((int(f[i]), int(f[(i + 1) % 3])) for f in surface.faces for i in range(3))
    assert set(directed.values()) == {1}
    assert all((b, a) in directed for a, b in directed)
    assert np.array_equal(np.unique(surface.faces), np.arange(len(surface.vertices)))
    assert len(surface.faces) == 2 * len(surface.vertices) - 4


def check_convex_outward(surface):
    check_closed(surface)
    a, b, c = np.moveaxis(surface.vertices[surface.faces], 1, 0)
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    reach = np.einsum("ij,ij->i", normals, a)
    assert ((normals @ surface.vertices.T).max(axis=1) - reach).max() < 1e-9
    assert volume(surface) > 0


ROUND = {
    "sphere": (lambda n: measure.sphere(2.0, n), 4 / 3 * np.pi * 8),
    "ellipsoid": (lambda n: measure.ellipsoid((1.0, 2.0, 0.5), n), 4 / 3 * np.pi),
    "capsule": (lambda n: measure.capsule(0.5, 2.0, n), np.pi * 0.5**2 * 2 + 4 / 3 * np.pi * 0.5**3),
    "cylinder": (lambda n: measure.cylinder(0.5, 2.0, n), np.pi * 0.5**2 * 2),
    "cone": (lambda n: measure.cone(0.5, 2.0, n), np.pi * 0.5**2 * 2 / 3),
}


@pytest.mark.parametrize("name", ROUND)
def test_volumes_of_round_shapes_converge(name):
    build, truth = ROUND[name]
    for resolution in RESOLUTIONS:
        surface = build(resolution)
        check_convex_outward(surface)
        assert volume(surface) < truth
    errors = [1.0 - volume(build(n)) / truth for n in (32, 64)]
    assert errors[0] < 0.02
    assert errors[1] < errors[0] / 3.5


def test_vertices_are_on_the_surface():
    v = measure.sphere(3.0).vertices
    assert np.abs(np.linalg.norm(v, axis=1) - 3.0).max() < 1e-14
    v = measure.ellipsoid((1.0, 20.0, 0.5)).vertices / (1.0, 20.0, 0.5)
    assert np.abs(np.linalg.norm(v, axis=1) - 1.0).max() < 1e-14
    v = measure.capsule(0.5, 2.0, 30).vertices
    core = np.zeros_like(v)
    core[:, 2] = np.clip(v[:, 2], -1.0, 1.0)
    assert np.abs(np.linalg.norm(v - core, axis=1) - 0.5).max() < 1e-14
    assert v[:, 2].max() == 1.5
    for surface in (measure.cylinder(0.5, 2.0), measure.cone(0.5, 2.0)):
        assert np.ptp(surface.vertices[:, 2]) == 2.0
        assert np.hypot(surface.vertices[:, 0], surface.vertices[:, 1]).max() == pytest.approx(0.5, rel=1e-15)
    assert measure.cone(0.5, 2.0).vertices[-1].tolist() == [0.0, 0.0, 1.0]


def test_box_surface():
    box = measure.box((1.0, 2.0, 3.0))
    check_convex_outward(box)
    assert volume(box) == pytest.approx(6.0)
    assert np.abs(box.vertices).max(axis=0).tolist() == [0.5, 1.0, 1.5]


def test_capsule_without_height_is_a_sphere():
    surface = measure.capsule(1.0, 0.0)
    check_convex_outward(surface)
    assert np.abs(np.linalg.norm(surface.vertices, axis=1) - 1.0).max() < 1e-14


@pytest.mark.parametrize("build", [lambda n: measure.sphere(1.0, n), lambda n: measure.cone(1.0, 1.0, n)])
def test_too_low_resolution_raises(build):
    with pytest.raises(ShapeError) as caught:
        build(2)
    assert_names(caught.value, "resolution is 2", "from 3 to 4096")


def support_of(points, radius=0.0):
    def support(directions):
        unit = directions / np.linalg.norm(directions, axis=1)[:, None]
        return points[(directions @ points.T).argmax(axis=1)] + radius * unit

    return support


def test_surface_from_support():
    rng = np.random.default_rng(2)
    cube = measure.box((1.0, 2.0, 3.0)).vertices
    surface = measure.from_support(support_of(cube))
    check_convex_outward(surface)
    assert len(surface.vertices) == 8
    hull = rng.standard_normal((25, 3))
    check_convex_outward(measure.from_support(support_of(hull)))
    for resolution in RESOLUTIONS:
        check_convex_outward(measure.from_support(support_of(cube, 0.3), resolution))
    rounded = measure.from_support(support_of(cube, 0.3), 64)
    truth = 6.0 + 22.0 * 0.3 + np.pi * 6.0 * 0.3**2 + 4 / 3 * np.pi * 0.3**3
    assert volume(rounded) < truth
    assert volume(rounded) == pytest.approx(truth, rel=1e-2)


def test_surface_from_support_of_flat_shapes():
    square = np.array([[0.0, 0.0, 0.2], [1.0, 0.0, 0.2], [1.0, 1.0, 0.2], [0.0, 1.0, 0.2]])
    surface = measure.from_support(support_of(square))
    check_closed(surface)
    assert len(surface.vertices) == 4
    segment = measure.from_support(support_of(square[:2]))
    assert (len(segment.vertices), len(segment.faces)) == (2, 0)
    point = measure.from_support(support_of(square[:1]))
    assert (len(point.vertices), len(point.faces)) == (1, 0)
