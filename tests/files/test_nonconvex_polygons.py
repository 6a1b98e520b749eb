"""Non-convex polygons of files.

A triangle fan from one corner, as file readers make it, would cover such a polygon with overlapping triangles.
"""

import naive
import numpy as np
import pytest

import gjk3d as gk
from gjk3d.errors import ParseError

L_SHAPE = [(4, 0), (4, 1), (1, 1), (1, 4), (0, 4), (0, 0)]
DART = [(0, 0), (2, 0), (0.5, 0.5), (0, 2)]
STAR = [((1 + k % 2) * np.cos(k * np.pi / 5), (1 + k % 2) * np.sin(k * np.pi / 5)) for k in range(10)]
SHAPES = {"L": L_SHAPE, "dart": DART, "star": STAR}


def prism(outline, turn, first):
    """Return the rotated vertices and the polygons of a right prism. Each polygon is rolled by ``first`` corners."""
    n = len(outline)
    points = np.array([(x, y, z) for z in (0.0, 1.0) for x, y in outline]) @ turn.T
    sides = [[i, (i + 1) % n, (i + 1) % n + n, i + n] for i in range(n)]
    polygons = [list(reversed(range(n))), list(range(n, 2 * n)), *sides]
    return points, [np.roll(polygon, first).tolist() for polygon in polygons]


def area(points, polygon):
    """Return the area of a plane polygon, from the sum of cross products."""
    return 0.5 * np.linalg.norm(np.cross(points[polygon], points[np.roll(polygon, -1)]).sum(axis=0))


def as_obj(points, polygons):
    return "".join(f"v {x!r} {y!r} {z!r}\n" for x, y, z in points.tolist()) + "".join(
        f"f {' '.join(str(i + 1) for i in polygon)}\n" for polygon in polygons
    )


def rows(points, polygons):
    return "".join(f"{x!r} {y!r} {z!r}\n" for x, y, z in points.tolist()) + "".join(
        f"{len(polygon)} {' '.join(map(str, polygon))}\n" for polygon in polygons
    )


def as_off(points, polygons):
    return f"OFF\n{len(points)} {len(polygons)} 0\n" + rows(points, polygons)


def as_ply(points, polygons):
    head = (
        f"ply\nformat ascii 1.0\nelement vertex {len(points)}\nproperty double x\nproperty double y\nproperty double z"
    )
    return f"{head}\nelement face {len(polygons)}\nproperty list uchar int vertex_indices\nend_header\n" + rows(
        points, polygons
    )


def as_dae(points, polygons):
    numbers = " ".join(map(repr, points.ravel().tolist()))
    axes = "".join(f'<param name="{name}" type="float"/>' for name in "XYZ")
    source = (
        f'<source id="p"><float_array id="pa" count="{points.size}">{numbers}</float_array><technique_common>'
        f'<accessor source="#pa" count="{len(points)}" stride="3">{axes}</accessor></technique_common></source>'
    )
    counts = " ".join(str(len(polygon)) for polygon in polygons)
    corners = " ".join(str(i) for polygon in polygons for i in polygon)
    return (
        '<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset>'
        '<unit meter="1" name="meter"/><up_axis>Z_UP</up_axis></asset><library_geometries><geometry id="g" name="g">'
        f'<mesh>{source}<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>'
        f'<polylist count="{len(polygons)}"><input semantic="VERTEX" source="#v" offset="0"/><vcount>{counts}</vcount>'
        f"<p>{corners}</p></polylist></mesh></geometry></library_geometries><library_visual_scenes>"
        '<visual_scene id="s"><node id="n"><instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>'
        '<scene><instance_visual_scene url="#s"/></scene></COLLADA>'
    )


WRITERS = {"obj": as_obj, "off": as_off, "ply": as_ply, "dae": as_dae}


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("name", SHAPES)
def test_surface_has_area_of_polygons(tmp_path, suffix, name):
    rng = np.random.default_rng(len(name))
    for first in range(3):
        turn = np.eye(3) if first == 0 else naive.random_rotations(rng, 1)[0]
        points, polygons = prism(SHAPES[name], turn, first)
        file = tmp_path / f"{first}.{suffix}"
        file.write_text(WRITERS[suffix](points, polygons))
        mesh = gk.load(file)
        corners = mesh.vertices[mesh.faces]
        areas = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
        assert areas.sum() == pytest.approx(sum(area(points, polygon) for polygon in polygons))
        assert mesh.is_watertight
        assert mesh.volume == pytest.approx(area(points, polygons[0]))


def test_reentrant_corner_is_empty(tmp_path):
    file = tmp_path / "l.obj"
    file.write_text(as_obj(*prism(L_SHAPE, np.eye(3), 0)))
    pose = naive.pose(np.eye(3), (2, 2, 1.1))
    assert gk.signed_distance(gk.load(file), gk.Sphere(0.2), None, pose).distance == pytest.approx(
        np.hypot(1, 0.1) - 0.2, abs=1e-9
    )


def test_self_intersecting_polygon_raises(tmp_path):
    points = np.array([(0, 0, 0), (2, 0, 0), (0, 1, 0), (2, 1, 0), (1, 3, 0), (1, -2, 0)], dtype=float)
    file = tmp_path / "crossed.obj"
    file.write_text(as_obj(points, [[0, 1, 2, 3, 4, 5]]))
    with pytest.raises(ParseError, match="polygon of 6"):
        gk.load(file)


def test_sharp_blade_of_triangles_is_unchanged(tmp_path):
    """Two nearly coincident faces of a file that contains only triangles are not merged into a polygon."""
    points = np.array([(0, 0, 0), (1, 0, 0), (0.5, 1, 0), (0.5, 1, 1e-4)])
    faces = [[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]]
    file = tmp_path / "blade.obj"
    file.write_text(as_obj(points, faces))
    assert gk.load(file).faces.tolist() == faces
