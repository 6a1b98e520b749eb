"""Blocks drawn face to face touch in files of any precision, also far from the origin."""

from __future__ import annotations

import naive
import numpy as np
import pytest
import trimesh
from message_checks import assert_names
from model_files import CORNERS, TRIANGLES, obj, stl_binary, stl_text
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.clash import Assembly, check

TURN = Rotation.from_euler("z", 30, degrees=True).as_matrix()
SIZES = np.array([(1.0, 1.0), (1.3, 1.7), (0.7, 0.6), (2.1, 1.3), (1.1, 0.8), (0.9, 1.2)])
FRONTS = (0.0, -0.31, 0.17, 0.05, -0.23, 0.09)
STARTS = np.concatenate([[0.0], np.cumsum(SIZES[:, 0])])
#: A row of six blocks whose faces share no corners, and one block across the top of all.
BLOCKS = [
    CORNERS * (*size, 1.0) + (start, front, 0.0) for size, start, front in zip(SIZES, STARTS[:-1], FRONTS, strict=True)
]
BLOCKS.append(CORNERS * (STARTS[-1], 1.0, 0.5) + (0.0, 0.0, 1.0))
TOUCHING = 11  #: five pairs in the row, and six with the block on top


def placed(angle_too, at):
    pose = naive.pose(TURN if angle_too else None, at)
    return [corners @ pose[:3, :3].T + pose[:3, 3] for corners in BLOCKS]


def written(folder, kind, blocks):
    if kind == "glb":
        scene = trimesh.Scene()
        for k, corners in enumerate(blocks):
            scene.add_geometry(trimesh.Trimesh(corners, TRIANGLES, process=False), node_name=f"block {k}")
        (folder / "blocks.glb").write_bytes(scene.export(file_type="glb"))
        return folder / "blocks.glb"
    for k, corners in enumerate(blocks):
        data = {
            "stl": lambda corners=corners: stl_binary(corners, TRIANGLES),
            "text": lambda corners=corners: stl_text("b", corners.astype(np.float32).astype(float).round(4), TRIANGLES),
            "obj": lambda corners=corners: obj(np.array([[float(f"{x:.7g}") for x in p] for p in corners]), TRIANGLES),
        }[kind]()
        (folder / f"block {k}.{'obj' if kind == 'obj' else 'stl'}").write_bytes(data)
    return folder


@pytest.mark.parametrize("at", [(6308.0, 7736.0, 0.0), (63082.7, -7736.1, 411.0)])
@pytest.mark.parametrize("kind", ["glb", "stl", "text", "obj"])
def test_blocks_far_from_the_origin_touch(tmp_path, kind, at):
    report = check(Assembly.load(written(tmp_path, kind, placed(True, at)), unit=None if kind == "glb" else "m"))
    assert {name: count for name, count in report.counts.items() if count} == {"touch": TOUCHING}
    spacing = np.spacing(np.float32(np.abs(at).max()))
    assert report.tolerance <= 8.0 * spacing


@pytest.mark.parametrize("single", [True, False])
def test_tolerance_of_distant_node_follows_matrix_rounding(tmp_path, single):
    """The tolerance grows only if the node matrices of a distant group are rounded to float32."""
    scene = trimesh.Scene()
    scene.graph.update("far", "world", matrix=rounded(naive.pose(None, (6308.3, 7736.1, 0.7)), single))
    for k, corners in enumerate(BLOCKS):
        name = scene.geometry[f"g{k}"] = trimesh.Trimesh(corners - corners[0], TRIANGLES, process=False)
        assert name is not None
        pose = rounded(naive.pose(TURN, TURN @ corners[0]), single)
        scene.graph.update(f"block {k}", "far", matrix=pose, geometry=f"g{k}")
    (tmp_path / "blocks.glb").write_bytes(scene.export(file_type="glb"))
    report = check(Assembly.load(tmp_path / "blocks.glb"))
    assert report.counts["touch"] == TOUCHING
    assert (report.tolerance > 1e-3) == single


def rounded(matrix, single):
    return matrix.astype(np.float32).astype(float) if single else matrix


def test_exact_numbers_keep_default_tolerance(tmp_path):
    """Exact short numbers in files, and meshes in double precision, are not rounded at any distance."""
    (tmp_path / "exact").mkdir()
    blocks = [CORNERS * (10.0, 10.0, 10.0) + (500000.0 + 10.0 * k, 200000.0, 0.0) for k in range(3)]
    report = check(Assembly.load(written(tmp_path / "exact", "stl", blocks), unit="mm"))
    assert report.counts["touch"] == 2
    assert report.tolerance == pytest.approx(1.5e-5)
    far = placed(True, (6308.0, 7736.0, 0.0))
    meshes = {f"block {k}": gk.Mesh(corners, TRIANGLES) for k, corners in enumerate(far)}
    report = check(Assembly.of(meshes, "m"))
    assert report.tolerance < 1e-5
    loaded = gk.load(written(tmp_path, "stl", far) / "block 0.stl")
    report = check(Assembly.of({"block 0": loaded, "block 1": gk.Mesh(far[1], TRIANGLES)}, "m"))
    assert report.counts["touch"] == 1
    assert_names(report.notes, "large", "block 0", "origin")


def test_tolerance_does_not_depend_on_unit(tmp_path):
    """The first file states metres as its unit, and the files in mm are converted to it."""
    single, folder = tmp_path / "alone.glb", tmp_path / "mm"
    folder.mkdir()
    single.write_bytes(trimesh.Trimesh(CORNERS, TRIANGLES, process=False).export(file_type="glb"))
    written(folder, "stl", [1000.0 * corners for corners in placed(True, (6308.0, 7736.0, 0.0))])
    assembly = Assembly.load([single, folder], unit="mm")
    report = check(assembly)
    assert (report.unit, report.counts["touch"]) == ("m", TOUCHING)
    assert sum(report.counts.values()) == TOUCHING
    order = gk.clash.order(Assembly.load(folder, unit="mm"))
    assert order.locked == ()


@pytest.mark.parametrize("kind", ["glb", "stl"])
def test_gap_equal_to_clearance_is_free(tmp_path, kind):
    """Forty pairs have a gap of 1 mm, which float32 rounds to slightly less for some of them."""
    blocks, factor = [], 1e-3 if kind == "glb" else 1.0
    for k in range(40):
        at = np.array((17.3 * (k % 8) + 0.1 * k, 13.7 * (k // 8), 0.31 * k))
        blocks += [(10.0 * CORNERS + at) * factor, (10.0 * CORNERS * (0.3, 0.3, 0.3) + at + (1.1, 2.3, 11.0)) * factor]
    assembly = Assembly.load(written(tmp_path, kind, blocks), unit="mm")
    clearance = factor
    report = check(assembly, clearance)
    gaps = [clash for clash in report.clashes if clash.kind == "clearance"]
    assert gaps == []
    assert report.tolerance < 2e-3 * factor
    wider = check(assembly, clearance + 1.1 * report.tolerance)
    assert wider.counts["clearance"] == 40
    assert check(assembly, clearance, tolerance=0.0).counts["clearance"] > 0
    assert_names(wider.limits, "clearance", "tolerance", "clearance - tolerance")


@pytest.mark.parametrize(("tolerance", "found"), [(1e-6, 0), (1e-8, 1)])
def test_part_passing_at_clearance_is_free(tolerance, found):
    low, high = gk.Mesh(CORNERS * (10, 1, 1), TRIANGLES), gk.Mesh(CORNERS + (0.0, 0.0, 1.125), TRIANGLES)
    along = gk.clash.Movement({"high": gk.Motion.translation(None, (8.0, 0, 0))}, times=(0, 1))
    report = check(Assembly.of({"low": low, "high": high}), 0.125 + 1e-7, tolerance, motion=along)
    assert report.counts["clearance"] == found
