"""Conversions of meshes from and to trimesh and pyvista."""

import numpy as np
import pytest
import pyvista
import trimesh
from message_checks import assert_names

import gjk3d as gk
from gjk3d.errors import ShapeError, UnsupportedPair

RING = trimesh.creation.torus(2, 0.5)


def test_trimesh_round_trip():
    source = trimesh.creation.box((1, 2, 3))
    source.units, source.metadata["name"] = "mm", "lid"
    mesh = gk.Mesh.from_trimesh(source)
    assert (mesh.unit, mesh.name, mesh.volume) == ("mm", "lid", pytest.approx(6.0))
    source.vertices += 1.0  # the arrays are copies
    assert mesh.bounds.tolist() == [[-0.5, -1.0, -1.5], [0.5, 1.0, 1.5]]
    back = mesh.to_trimesh()
    assert (back.units, back.metadata["name"]) == ("mm", "lid")
    assert np.array_equal(back.vertices, mesh.vertices)
    assert np.array_equal(back.faces, mesh.faces)
    assert gk.Mesh.from_trimesh(back) == mesh
    back.vertices += 1.0
    assert mesh.bounds[0, 0] == -0.5


def test_duplicate_and_unused_vertices_are_kept():
    mesh = gk.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 0), (9, 9, 9)], [(0, 1, 2), (3, 1, 2), (0, 1, 2)])
    for back in (gk.Mesh.from_trimesh(mesh.to_trimesh()), gk.Mesh.from_pyvista(mesh.to_pyvista())):
        assert np.array_equal(back.vertices, mesh.vertices)
        assert np.array_equal(back.faces, mesh.faces)


def test_pyvista_round_trip():
    ring = gk.Mesh.from_trimesh(RING)
    drawn = ring.to_pyvista()
    assert drawn.is_manifold
    assert gk.Mesh.from_pyvista(drawn) == ring
    drawn.points[:] += 1.0
    assert np.array_equal(ring.vertices, RING.vertices)


def test_polygons_become_triangles():
    mesh = gk.Mesh.from_pyvista(pyvista.Cylinder(resolution=12).clean())
    assert mesh.is_watertight
    assert mesh.volume == pytest.approx(12 * 0.25 * np.sin(np.pi / 12) * np.cos(np.pi / 12), rel=1e-6)


def test_pyvista_volume_becomes_its_surface():
    mesh = gk.Mesh.from_pyvista(pyvista.ImageData(dimensions=(3, 4, 5)))
    assert (mesh.is_watertight, mesh.volume) == (True, pytest.approx(24.0))


def test_converted_meshes_give_the_results_of_a_built_mesh():
    pose = trimesh.transformations.translation_matrix((0, 0, 1.5))
    ring = gk.Mesh(RING.vertices, RING.faces)
    for converted in (gk.Mesh.from_trimesh(RING), gk.Mesh.from_pyvista(pyvista.wrap(RING))):
        assert converted == ring
        result, expected = (gk.distance(body, gk.Sphere(0.5), None, pose) for body in (converted, ring))
        assert (result.distance, result.lower, result.upper) == (expected.distance, expected.lower, expected.upper)


@pytest.mark.parametrize(
    ("make", "given", "fragments"),
    [
        (gk.Mesh.from_trimesh, trimesh.Scene(), ("trimesh.Scene", "scene.to_mesh()")),
        (gk.Mesh.from_trimesh, pyvista.Cube(), ("pyvista.PolyData", "trimesh.Trimesh")),
        (gk.Mesh.from_trimesh, None, ("NoneType", "trimesh.Trimesh")),
        (gk.Mesh.from_trimesh, trimesh.Trimesh(), ("faces", "empty")),
        (gk.Mesh.from_pyvista, RING, ("trimesh.Trimesh", "pyvista.PolyData")),
        (gk.Mesh.from_pyvista, pyvista.MultiBlock([pyvista.Cube()]), ("MultiBlock", "data.combine()")),
        (gk.Mesh.from_pyvista, pyvista.PolyData(np.eye(3)), ("3 points", "gjk3d.PointCloud")),
        (gk.Mesh.from_pyvista, pyvista.Line(), ("2 points", "gjk3d.PointCloud")),
    ],
)  # fmt: skip
def test_invalid_sources_raise(make, given, fragments):
    with pytest.raises(ShapeError) as caught:
        make(given)
    assert_names(caught.value, *fragments)


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (RING, "gjk3d.Mesh.from_trimesh(mesh)"),
        (trimesh.primitives.Box(), "gjk3d.Mesh.from_trimesh(mesh)"),
        (trimesh.Scene(), "gjk3d.Mesh.from_trimesh(scene.to_mesh())"),
        (trimesh.PointCloud(np.eye(3)), "gjk3d.PointCloud(cloud.vertices, radius)"),
        (pyvista.Cube(), "gjk3d.Mesh.from_pyvista(data)"),
        (pyvista.ImageData(dimensions=(2, 2, 2)), "gjk3d.Mesh.from_pyvista(data)"),
        (pyvista.MultiBlock(), "gjk3d.Mesh.from_pyvista(blocks.combine())"),
    ],
)  # fmt: skip
def test_query_errors_name_the_conversion_call(given, line):
    for query in (
        lambda: gk.collide(given, gk.Sphere(1)),
        lambda: gk.signed_distance(gk.Sphere(1), given),
        lambda: gk.raycast(given, (0, 0, 5), (0, 0, -1)),
        lambda: gk.Compound([(given, None)]),
        lambda: gk.Pairs([given]),
        lambda: gk.clash.Assembly.of({"it": given}),
    ):
        with pytest.raises((UnsupportedPair, ShapeError)) as caught:
            query()
        assert line in str(caught.value)
