"""The models in data/ and their truth files, checked with trimesh, manifold3d and python-fcl.

These tests do not use gjk3d, because other tests rely on the truth files.
"""

import itertools
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import fcl
import manifold3d
import numpy as np
import pytest
import trimesh

DATA = Path(__file__).parents[1] / "data"
NOTHING = 1e-9  # share of the volume of the smaller part that counts as rounding error


class Part:
    """A mesh in world coordinates, as objects of manifold3d and python-fcl."""

    def __init__(self, vertices, faces):
        self.vertices = np.ascontiguousarray(vertices, float)
        self.faces = np.ascontiguousarray(faces, np.int64)
        mesh = manifold3d.Mesh64(self.vertices, self.faces.astype(np.uint64))
        self.solid = manifold3d.Manifold(mesh)
        assert self.solid.status() == manifold3d.Error.NoError

    @property
    def object(self):
        model = fcl.BVHModel()
        model.beginModel(len(self.faces), len(self.vertices))
        model.addSubModel(self.vertices, self.faces)
        model.endModel()
        return fcl.CollisionObject(model)

    @property
    def hull(self):
        mesh = trimesh.Trimesh(self.vertices, self.faces, process=False).convex_hull
        return Part(mesh.vertices, mesh.faces)

    def moved(self, shift):
        return Part(self.vertices + shift, self.faces)


def surface_distance(a, b):
    """Return the distance of the triangles, 0 if they intersect. A part inside another has a positive distance."""
    return max(0.0, fcl.distance(a.object, b.object, fcl.DistanceRequest(), fcl.DistanceResult()))


def overlap(a, b):
    return (a.solid ^ b.solid).volume()


def box_gap(a, b):
    gap = np.maximum(a.vertices.min(0) - b.vertices.max(0), b.vertices.min(0) - a.vertices.max(0))
    return np.linalg.norm(np.maximum(gap, 0.0))


@cache
def truth(name):
    return json.loads((DATA / f"{name}.truth.json").read_text(encoding="utf-8"))


@cache
def gearbox():
    scene = trimesh.load_scene(DATA / "gearbox.glb")
    parts = {}
    for name in scene.graph.nodes_geometry:
        pose, geometry = scene.graph[name]
        mesh = scene.geometry[geometry]
        parts[name] = Part(mesh.vertices @ pose[:3, :3].T + pose[:3, 3], mesh.faces)
    return scene, parts


@cache
def model(name):
    return trimesh.load_mesh(DATA / name)


def model_pair(pair):
    placed = []
    for which in "ab":
        mesh, pose = model(pair[which]), np.array(pair[f"pose_{which}"])
        placed.append(Part(mesh.vertices @ pose[:3, :3].T + pose[:3, 3], mesh.faces))
    return placed


def all_pairs():
    """Yield (title, slack, truth, part a, part b) for all pairs of both truth files."""
    for pair in truth("gearbox")["pairs"]:
        parts = gearbox()[1]
        yield f"{pair['a']} {pair['b']}", truth("gearbox")["slack"], pair, parts[pair["a"]], parts[pair["b"]]
    for pair in truth("models")["pairs"]:
        yield pair["case"], truth("models")["slack"], pair, *model_pair(pair)


# the files ------------------------------------------------------------------------------------------------------


def test_folder_is_small():
    files = [path for path in DATA.rglob("*") if path.is_file() and path.parent.name != "__pycache__"]
    assert sum(path.stat().st_size for path in files) < 1.5e6


def test_stl_files_are_closed_meshes_in_millimetres():
    for name, expected in truth("models")["files"].items():
        mesh = model(name)
        assert mesh.is_watertight, name
        assert mesh.is_winding_consistent, name
        assert mesh.volume == pytest.approx(expected["volume"], rel=1e-12), name
        np.testing.assert_array_equal(mesh.bounds, expected["bounds"])
        assert 10 < mesh.extents.max() < 100, name


def test_gearbox_parts_match_truth_file():
    scene, parts = gearbox()
    expected = truth("gearbox")["parts"]
    assert set(parts) == set(expected)
    assert scene.units == "meters"
    for name, wanted in expected.items():
        part, mesh = parts[name], scene.geometry[scene.graph[name][1]]
        assert mesh.is_watertight, name
        assert part.solid.volume() == pytest.approx(wanted["volume"], rel=1e-6), name
        assert len(part.faces) == wanted["triangles"], name
        np.testing.assert_array_equal([part.vertices.min(0), part.vertices.max(0)], wanted["bounds"])
        np.testing.assert_array_equal(scene.graph[name][0], wanted["pose"])
        assert (part.solid.volume() > 0.999999 * part.hull.solid.volume()) == wanted["convex"], name


def test_node_paths_of_parts_match_truth_file():
    content = (DATA / "gearbox.glb").read_bytes()
    length = int.from_bytes(content[12:16], "little")  # length of the first chunk, which is JSON in a GLB file
    nodes = json.loads(content[20 : 20 + length])["nodes"]
    by_name = {node["name"]: node for node in nodes}
    parent = {child: node["name"] for node in nodes for child in node.get("children", [])}
    for name, part in truth("gearbox")["parts"].items():
        path = [name]
        while nodes.index(by_name[path[0]]) in parent:
            path.insert(0, parent[nodes.index(by_name[path[0]])])
        assert "/".join(path) == part["path"]


@pytest.mark.full
def test_make_models_script_reproduces_committed_files(tmp_path):
    """Two runs write the same bytes, and the committed truth files have equal values up to rounding."""
    runs = []
    for seed in "12":
        (tmp_path / seed).mkdir()
        command = [sys.executable, str(DATA / "make_models.py"), "--out", str(tmp_path / seed)]
        runs.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONHASHSEED": seed}))
    assert [run.wait() for run in runs] == [0, 0]
    names = sorted(path.name for path in (tmp_path / "1").iterdir())
    committed = [path.name for path in DATA.iterdir() if path.suffix in (".stl", ".glb", ".json")]
    assert names == sorted(committed)
    for name in names:
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes(), name
    for name in ("gearbox", "models"):
        assert_same(json.loads((tmp_path / "1" / f"{name}.truth.json").read_text(encoding="utf-8")), truth(name))


def assert_same(new, old, path=""):
    assert type(new) is type(old), path
    if isinstance(new, dict):
        assert new.keys() == old.keys(), path
        for key in new.keys() - {"triangles", "normal"}:
            assert_same(new[key], old[key], f"{path}/{key}")
    elif isinstance(new, list):
        assert len(new) == len(old), path
        for i, (x, y) in enumerate(zip(new, old, strict=True)):
            assert_same(x, y, f"{path}/{i}")
    elif isinstance(new, float):
        assert new == pytest.approx(old, rel=1e-9, abs=1e-12), path
    else:
        assert new == old, path


# the meshes -------------------------------------------------------------------------------------------------------


def test_mesh_truth_matches_manifold3d_and_fcl():
    seen = set()
    for title, slack, pair, a, b in all_pairs():
        kind, solid = pair["kind"], pair["solid"]
        seen.add(kind)
        volume, smaller = overlap(a, b), min(a.solid.volume(), b.solid.volume())
        if solid["volume"] is not None:
            assert volume == pytest.approx(solid["volume"], rel=1e-4, abs=NOTHING * smaller), title
        if kind == "clear":
            low, high = solid["distance"] or (slack, np.inf)
            assert low > 0, title
            assert low - slack <= surface_distance(a, b) <= high + slack, title
        elif kind == "touch":
            assert solid["distance"] == [0, 0], title
            assert surface_distance(a, b) <= slack, title
            assert volume <= NOTHING * smaller, title
        else:
            assert solid["distance"][0] <= solid["distance"][1] < 0, title
            assert volume > 1e-6 * smaller, title
        if kind == "contained":
            assert volume == pytest.approx(smaller, rel=1e-9), title
        if kind == "duplicate":
            np.testing.assert_array_equal(a.vertices, b.vertices)
    assert seen == {"hard", "touch", "clear", "contained", "duplicate"}


def test_exact_depth_along_normal_just_separates_meshes():
    count = 0
    for title, _, pair, a, b in all_pairs():
        low, high = pair["solid"]["distance"] or (1, 1)
        if low == high < 0:
            normal = np.array(pair["hull"]["normal"])
            assert overlap(a, b.moved(-low * normal)) <= NOTHING * min(a.solid.volume(), b.solid.volume()), title
            assert overlap(a, b.moved(-0.95 * low * normal)) > 0, title
            count += 1
    assert count >= 6


def test_thick_bolt_separates_upwards_at_truth_depth():
    parts = gearbox()[1]
    pairs = [pair for pair in truth("gearbox")["pairs"] if pair["b"] == "bolt_4"]
    assert len(pairs) == 4
    for pair in pairs:
        out = -pair["solid"]["distance"][0]
        for share, free in ((1 + 1e-4, True), (0.85, False)):
            moved = parts["bolt_4"].moved(np.array([0, share * out, 0]))
            assert (overlap(parts[pair["a"]], moved) <= 1e-18) == free, (pair["a"], share)


def test_unlisted_gearbox_pairs_have_a_gap():
    wanted = truth("gearbox")["unlisted_pairs"]
    assert wanted["kind"] == "clear"
    listed = {frozenset((pair["a"], pair["b"])) for pair in truth("gearbox")["pairs"]}
    assert len(listed) == len(truth("gearbox")["pairs"])
    parts = gearbox()[1]
    near = 0
    for a, b in itertools.combinations(parts, 2):
        if frozenset((a, b)) in listed or box_gap(parts[a], parts[b]) > wanted["gap_at_least"]:
            continue
        near += 1
        assert overlap(parts[a], parts[b]) == 0, (a, b)
        assert surface_distance(parts[a], parts[b]) >= wanted["gap_at_least"], (a, b)
    assert near > 5


def test_meshing_gears_stay_clear_at_every_angle():
    pair = next(pair for pair in truth("models")["pairs"] if pair["case"] == "in mesh")
    low, _ = pair["solid"]["distance"]
    a, b = model_pair(pair)
    for turn in np.linspace(0, 2 * np.pi / 18, 7):
        ca, sa, cb, sb = np.cos(turn), np.sin(turn), np.cos(-turn * 18 / 30), np.sin(-turn * 18 / 30)
        spin_a = np.array([[ca, -sa, 0], [sa, ca, 0], [0, 0, 1]])
        spin_b = np.array([[cb, -sb, 0], [sb, cb, 0], [0, 0, 1]])
        turned_a = Part(a.vertices @ spin_a.T, a.faces)
        turned_b = Part((b.vertices - [48, 0, 0]) @ spin_b.T + [48, 0, 0], b.faces)
        assert low - 2e-5 <= surface_distance(turned_a, turned_b) <= low + 0.05
        assert overlap(turned_a, turned_b) == 0


# the hulls ----------------------------------------------------------------------------------------------------------


def separation(a, b, normals):
    """Return a lower bound of the signed distance along each unit direction, from all corners."""
    # einsum uses one thread: BLAS threads slow such thin products down on a busy machine
    far_b, far_a = (np.einsum("ij,kj->ik", normals, part.vertices) for part in (b, a))
    return far_b.min(1) - far_a.max(1)


def separating_axes(a, b):
    """Return the face normals of both hulls and the cross products of their edges; one of them gives the depth."""
    faces, edges = [], []
    for part in (a, b):
        mesh = trimesh.Trimesh(part.vertices, part.faces, process=False)
        faces.append(mesh.face_normals)
        # diagonals of flat faces are not edges
        ends = mesh.vertices[mesh.face_adjacency_edges[mesh.face_adjacency_angles > 1e-5]]
        sides = ends[:, 1] - ends[:, 0]
        sides /= np.linalg.norm(sides, axis=1)[:, None]
        sides *= np.where(sides @ [1.0, 1e-3, 1e-6] < 0, -1.0, 1.0)[:, None]
        edges.append(sides[np.unique(np.round(sides, 6), axis=0, return_index=True)[1]])
    cross = np.cross(edges[0][:, None], edges[1][None]).reshape(-1, 3)
    length = np.linalg.norm(cross, axis=1)
    axes = np.vstack([*faces, cross[length > 1e-6] / length[length > 1e-6, None]])
    return np.vstack([axes, -axes])


@pytest.mark.full
def test_hull_truth_matches_fcl_and_separating_axes():
    """A scan and python-fcl bound the distance of separated hulls, the separating axis theorem gives the depth."""
    statuses = []
    for title, _, pair, a, b in all_pairs():
        hull, a, b = pair["hull"], a.hull, b.hull
        normal = np.array(hull["normal"])
        size = max(np.ptp(a.vertices, axis=0).max(), np.ptp(b.vertices, axis=0).max())
        assert np.linalg.norm(normal) == pytest.approx(1, abs=1e-14), title
        close = pytest.approx(hull["distance"], abs=max(hull["tolerance"], 1e-13 * size))
        # the normal attains the distance
        assert separation(a, b, normal[None])[0] == close, title
        if hull["status"] == "separated":
            assert hull["distance"] > 0, title
            assert surface_distance(a, b) == close, title
        else:
            assert (hull["distance"] < 0) == (hull["status"] == "overlapping"), title
            best = max(separation(a, b, axes).max() for axes in np.array_split(separating_axes(a, b), 16))
            # faces that the file's rounding bends count as flat here, so slanted results agree up to rounding only
            loose = 1e-15 if hull["by"] == "construction" else 1e-7
            assert best == pytest.approx(hull["distance"], abs=max(hull["tolerance"], loose * size)), title
        if hull["by"] == "construction":
            assert hull["distance"] == pair["solid"]["distance"][0] == pair["solid"]["distance"][1], title
            statuses.append(hull["status"])
    assert min(statuses.count(s) for s in ("separated", "touching", "overlapping")) >= 5
