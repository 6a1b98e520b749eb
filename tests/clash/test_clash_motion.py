"""Clashes during a motion, compared with dense sampling by python-fcl and manifold3d at poses in closed form."""

import csv
import importlib.util
import io
import itertools
import json
import math
import re
import zipfile
from pathlib import Path

import fcl
import jsonschema
import manifold3d
import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st
from message_checks import assert_names

import gjk3d as gk
from gjk3d.clash import Coupling, Joint, Movement, formats
from gjk3d.clash.formats import json_schema, to_bcf, to_csv, to_jsonl, to_junit, to_markdown
from gjk3d.clash.motion.joints import Linkage
from gjk3d.clash.page import write_page
from gjk3d.clash.report.baseline import read_baseline
from gjk3d.errors import FileError, ParseError, ShapeError
from gjk3d.viz.drawing import Style
from gjk3d.viz.kinds.scenes import draw_report
from tests.clash import messages

DATA = Path(__file__).parents[2] / "data"
UP = np.array([0.0, 0.0, 1.0])


def make_engine():
    import sys

    sys.path.insert(0, str(DATA))
    try:
        spec = importlib.util.spec_from_file_location("make_engine", DATA / "make_engine.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(DATA))
    return module


def turned(angle, point=(0.0, 0.0, 0.0), shift=(0.0, 0.0, 0.0)):
    """Return a rotation about z through a point, followed by a shift, without code of the package."""
    c, s = math.cos(angle), math.sin(angle)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = turn, np.asarray(point) - turn @ point + shift
    return pose


def engine_pose(name, degrees, throw, rod):
    """Return the pose of a part of the slider-crank in closed form; the crank is up at 0 degrees."""
    angle = math.radians(degrees)
    pin = throw * np.array([-math.sin(angle), math.cos(angle), 0.0])
    lean = math.asin(pin[0] / rod)  # lean of the rod that keeps its small end on the axis of the bore
    wrist = pin[1] + rod * math.cos(lean)
    if name.startswith("crank"):
        return turned(angle)
    if name == "rod":
        return turned(lean, (0.0, throw, 0.0), pin - (0.0, throw, 0.0))
    if name.startswith("piston"):
        return turned(0.0, shift=(0.0, wrist - throw - rod, 0.0))
    return np.eye(4)


class Solid:
    """A part as objects of python-fcl and manifold3d."""

    def __init__(self, vertices, faces):
        self.vertices, self.faces = np.array(vertices, dtype=float), np.array(faces, dtype=np.int64)
        self.model = fcl.BVHModel()
        self.model.beginModel(len(self.faces), len(self.vertices))
        self.model.addSubModel(self.vertices, self.faces)
        self.model.endModel()
        self.body = manifold3d.Manifold(manifold3d.Mesh64(self.vertices, self.faces.astype(np.uint64)))
        assert self.body.status() == manifold3d.Error.NoError

    def gap(self, other, pose, pose_other):
        objects = [
            fcl.CollisionObject(x.model, fcl.Transform(p[:3, :3], p[:3, 3]))
            for x, p in ((self, pose), (other, pose_other))
        ]
        return fcl.distance(*objects, fcl.DistanceRequest(), fcl.DistanceResult())

    def shared(self, other, pose, pose_other):
        return (self.body.transform(pose[:3]) ^ other.body.transform(pose_other[:3])).volume()


@pytest.fixture(scope="module")
def engine():
    return gk.clash.Assembly.load(DATA / "engine" / "engine.glb")


@pytest.fixture(scope="module")
def report(engine):
    return gk.clash.check(engine, clearance=0.5e-4, motion=DATA / "engine" / "engine.toml")


@pytest.fixture(scope="module")
def solids():
    scene = trimesh.load_scene(DATA / "engine" / "engine.glb")
    return {name: Solid(scene.geometry[name].vertices, scene.geometry[name].faces) for name in scene.geometry}


# --- the engine ----------------------------------------------------------------------------------------------------


@pytest.mark.full
def test_planted_engine_clash_is_at_37_degrees(report):
    drawing = make_engine()
    (hard,) = [clash for clash in report.clashes if clash.kind == "hard"]
    assert (hard.a, hard.b, hard.method, hard.distance_kind) == ("crank_plug", "sensor", "epa", "exact")
    assert hard.time == pytest.approx(drawing.AT, abs=1e-4)
    assert hard.penetration == pytest.approx((drawing.PLUG - drawing.SENSOR) * 1e-3, rel=1e-5)
    ((after, begin, end, before),) = hard.intervals
    half = drawing.half_angle()
    assert after <= drawing.AT - half + 1e-5
    assert drawing.AT - half <= begin <= after + 0.04
    assert end <= drawing.AT + half <= before + 1e-5
    assert before <= end + 0.04
    (course,) = [pair for pair in report.motion.pairs if pair.b == "sensor" and pair.a == "crank_plug"]
    assert course.proven
    assert course.intervals == hard.intervals
    assert {(c.kind, c.a, c.b) for c in report.clashes if c.time is not None} == {
        ("hard", "crank_plug", "sensor"),
        ("clearance", "block", "crank_shaft"),
    }


@pytest.mark.full
def test_all_engine_pairs_equal_dense_sampling(report, solids):
    drawing = make_engine()
    throw, rod = drawing.THROW * 1e-3, drawing.ROD * 1e-3
    listed = {(pair.a, pair.b): pair for pair in report.motion.pairs}
    moving = [(a, b) for a, b in itertools.combinations(sorted(solids), 2) if a[:4] != b[:4] and moves(a, b)]
    assert set(listed) <= set(moving)
    for a, b in moving:
        course = listed.get((a, b))
        for degrees in np.arange(1.5, 360.0, 7.5) if course is not None else (0.0, 60.0, 180.0, 271.0):
            poses = [engine_pose(name, degrees, throw, rod) for name in (a, b)]
            gap = solids[a].gap(solids[b], *poses)
            if course is None:
                assert gap > report.clearance
            elif course.intervals:
                ((after, begin, end, before),) = course.intervals
                shared = solids[a].shared(solids[b], *poses)
                assert shared > 0.0 if begin <= degrees <= end else True
                assert gap > 0.0 if not after <= degrees <= before else True
            else:
                assert gap >= course.least[0] * (1.0 - 1e-9)
        if course is not None and not course.intervals:
            poses = [engine_pose(name, course.when, throw, rod) for name in (a, b)]
            assert course.least[0] <= solids[a].gap(solids[b], *poses) <= course.least[1] * (1.0 + 1e-9)
            slack = sum(report.motion.tracks[name].slack for name in (a, b) if name in report.motion.tracks)
            assert slack < 2.5e-6
            assert course.least[1] - course.least[0] <= 2e-3 * course.least[1] + 4.0 * slack


@pytest.mark.full
def test_report_notes_measured_error_of_loops(report):
    (note,) = report.notes
    most = max(track.slack for track in report.motion.tracks.values())
    assert_names(note, "rod, piston, piston_pin", f"{1000.0 * most:.2g} mm", "not proven")
    assert report.reading == ("mm", 1000.0)
    assert note in to_markdown(report).replace("\\", "")
    of_loops = {"rod", "piston", "piston_pin"}
    proven = {(pair.a, pair.b): pair.proven for pair in report.motion.pairs}
    assert {of_loops.isdisjoint(names) for names in proven} == {False, True}
    assert proven == {names: of_loops.isdisjoint(names) for names in proven}


def moves(a, b):
    return any(name.startswith(("crank", "rod", "piston")) for name in (a, b))


def test_script_reproduces_the_engine(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["make_engine.py", "--out", str(tmp_path)])
    make_engine().main()
    assert (tmp_path / "engine.toml").read_bytes() == (DATA / "engine" / "engine.toml").read_bytes()
    new, old = (trimesh.load_scene(folder / "engine.glb") for folder in (tmp_path, DATA / "engine"))
    assert set(new.geometry) == set(old.geometry)
    for name in old.geometry:
        assert new.geometry[name].volume == pytest.approx(old.geometry[name].volume, rel=1e-9)
        assert old.geometry[name].is_watertight


# --- against naive sampling ----------------------------------------------------------------------------------------

OUTLINE = np.array([(0, 0), (3, 0), (3, 1), (1, 1), (1, 3), (0, 3)], dtype=float)
_MESH = manifold3d.Manifold.extrude(manifold3d.CrossSection([OUTLINE]), 1.0).to_mesh64()
ELL = trimesh.Trimesh(np.asarray(_MESH.vert_properties)[:, :3], np.asarray(_MESH.tri_verts), process=False)


@pytest.mark.full
@given(
    angles=st.tuples(*[st.floats(-3.0, 3.0)] * 3),
    way=st.tuples(*[st.floats(-6.0, 6.0)] * 3),
    start=st.tuples(*[st.floats(-4.0, 4.0)] * 3),
)
def test_intervals_equal_sampling_for_any_steady_motion(angles, way, start):
    parts = {"a": gk.Mesh(ELL.vertices, ELL.faces), "b": gk.Mesh(ELL.vertices + start, ELL.faces)}
    motion = gk.Motion(None, way, angles, center=start)
    result = gk.clash.check(gk.clash.Assembly.of(parts, "mm"), motion=Movement({"b": motion}), clearance=1.0)
    fixed, moving = Solid(ELL.vertices, ELL.faces), Solid(ELL.vertices + start, ELL.faces)
    (course,) = result.motion.pairs or (None,)
    for time in np.linspace(0.0, 1.0, 41).tolist():
        pose = motion.at(time)
        gap, shared = fixed.gap(moving, np.eye(4), pose), fixed.shared(moving, np.eye(4), pose)
        if course is None:
            assert gap > result.clearance
            continue
        if shared > 1e-4:
            assert any(after <= time <= before for after, _, _, before in course.intervals)
        if any(begin < time < end for _, begin, end, _ in course.intervals) and course.proven:
            assert gap <= 0.0 or shared > 0.0
        assert course.intervals or gap >= course.least[0] - 1e-9
    for clash in result.clashes:
        assert clash.kind != "unchecked", clash.note


def test_equal_parts_passing_each_other_are_not_duplicates():
    cube = gk.Box((1, 1, 1)).surface()
    first, second, far = (gk.Mesh(cube.vertices + (x, 0, 0), cube.faces) for x in (0, 0, 3))
    way = Movement({"b": gk.Motion.translation(None, (-6, 0, 0))})
    (passing,) = gk.clash.check(gk.clash.Assembly.of({"a": first, "b": far}, "mm"), motion=way).clashes
    assert (passing.kind, passing.time, passing.depth) == (
        "hard",
        pytest.approx(0.5, abs=1e-3),
        pytest.approx(1.0, abs=0.01),
    )
    assert passing.method != "equal"
    (twice,) = gk.clash.check(gk.clash.Assembly.of({"a": first, "b": second}, "mm"), motion=way).clashes
    assert twice.kind == "duplicate"  # two equal parts at one place, and the motion separates them only later


def test_part_passing_through_another_is_hard_clash():
    """A part is contained only if it is inside at all times, not merely when it is deepest."""
    small, large = gk.Mesh(*gk.Box((1, 1, 1)).surface()), gk.Mesh(*gk.Box((9, 9, 9)).surface())
    parts, way = {"small": small, "large": large}, {"small": gk.Motion.translation(None, (20, 0, 0))}
    (through,) = gk.clash.check(gk.clash.Assembly.of(parts, "mm"), motion=Movement(way)).clashes
    assert through.kind == "hard"
    assert "not always" in through.note
    way = {"small": gk.Motion.translation(None, (1, 0, 0))}
    (within,) = gk.clash.check(gk.clash.Assembly.of(parts, "mm"), motion=Movement(way)).clashes
    assert within.kind == "contained"


def test_sliding_pair_is_not_proven():
    """A car sliding on a rail hits a step too short for the samples, so the result must not claim a proof."""
    rail = manifold3d.Manifold.cube((100, 10, 1), True)
    step = manifold3d.Manifold.cube((0.01, 1, 0.1), True).translate((0.0523, 0, 0.5))
    raw = (rail + step).to_mesh64()
    car = gk.Box((0.02, 1, 1)).surface()
    parts = {
        "rail": gk.Mesh(raw.vert_properties, raw.tri_verts),
        "car": gk.Mesh(car.vertices + (-40, 0, 1), car.faces),
        "post": gk.Mesh(car.vertices + (-60, 0, 1), car.faces),
    }
    slide = Movement({"car": gk.Motion.translation(None, (80, 0, 0))}, times=(0, 80))
    report = gk.clash.check(gk.clash.Assembly.of(parts, "mm"), motion=slide)
    (clash,), (pair,) = report.clashes, report.motion.pairs
    assert not pair.proven
    assert clash.kind == "hard" or (clash.kind == "touch" and "not excluded" in clash.note)
    assert any("rail" in note and "400 times" in note for note in report.notes)
    hover = Movement({"car": gk.Motion.translation(turned(0.0, shift=(0, 0, 1)), (80, 0, 0))}, times=(0, 80))
    above = gk.clash.check(gk.clash.Assembly.of(parts, "mm"), 2.0, motion=hover)
    assert all(pair.proven for pair in above.motion.pairs)


def test_thin_wall_between_samples_is_detected():
    """A bullet passes the wall within a thousandth of the time and is detected without sampling."""
    wall, bullet = gk.Mesh(*gk.Box((0.01, 9, 9)).surface()), gk.Box((0.02, 0.02, 0.02)).surface()
    parts = {"wall": wall, "bullet": gk.Mesh(bullet.vertices - (123.456, 0, 0), bullet.faces)}
    fly = Movement({"bullet": gk.Motion.translation(None, (1000.0, 0, 0))})
    (clash,) = gk.clash.check(gk.clash.Assembly.of(parts), motion=fly).clashes
    ((after, begin, end, before),) = clash.intervals
    assert clash.kind == "hard"
    assert after <= 0.123456 - 1.5e-5 + 1e-9 <= begin < end <= 0.123456 + 1.5e-5 + 1e-9 <= before + 1e-8


def test_parts_moving_together_are_checked_at_rest():
    cube = gk.Box((1, 1, 1)).surface()
    parts = {f"bolt {k}": gk.Mesh(cube.vertices + (0.75 * k, 0, 0), cube.faces) for k in range(2)}
    parts["plate"] = gk.Mesh(cube.vertices + (0, 0, -3), cube.faces)
    lift = Movement({"bolt*": gk.Motion.translation(None, (0, 0, 5))})
    result = gk.clash.check(gk.clash.Assembly.of(parts), motion=lift)
    assert [(c.kind, c.a, c.b, c.time) for c in result.clashes] == [("hard", "bolt 0", "bolt 1", None)]
    assert result.pairs_tested == 3


def test_each_pass_has_its_own_interval():
    cube = gk.Box((1, 1, 1)).surface()
    parts = {"a": gk.Mesh(*cube[:2]), "b": gk.Mesh(cube.vertices + (0.5, 0, 0), cube.faces)}
    poses = np.tile(np.eye(4), (5, 1, 1))
    poses[:, 0, 3] = 0.0, 3.0, 0.0, -4.0, 0.0
    result = gk.clash.check(gk.clash.Assembly.of(parts), motion=Movement({"b": poses}, times=(0, 4)))
    spans = np.array(result.clashes[0].intervals)
    truth = [(0.0, 0.5 / 3), (2 - 0.5 / 3, 2.0 + 1.5 / 4), (4.0 - 1.5 / 4, 4.0)]
    assert np.allclose(spans[:, [0, 3]], truth, atol=1e-6)
    assert np.allclose(spans[:, [1, 2]], truth, atol=1e-3)
    assert spans[0, 1] == 0.0
    assert spans[-1, 2] == 4.0


def open_sheet(count, size, turn=None):
    """Return the vertices and faces of a square sheet in the plane z = 0, rotated by a matrix."""
    x = np.linspace(-0.5 * size, 0.5 * size, count + 1)
    points = np.stack([*np.meshgrid(x, x, [0.0], indexing="ij")], axis=-1).reshape(-1, 3)
    a = (np.arange(count)[:, None] * (count + 1) + np.arange(count)).ravel()
    faces = np.concatenate(
        [np.stack([a, a + count + 1, a + 1], -1), np.stack([a + 1, a + count + 1, a + count + 2], -1)]
    )
    return points @ (np.eye(3) if turn is None else turn).T, faces


@pytest.mark.parametrize("count", [1, 4, 20])
def test_open_surfaces_clash_at_each_crossing(count):
    """A blade crosses a sheet twice, compared with sampling by python-fcl and with closed forms."""
    floor, faces = open_sheet(count, 2.0)
    turn = trimesh.transformations.euler_matrix(math.pi / 2, 0.0, 0.3)[:3, :3]
    blade, blade_faces = open_sheet(count, 1.0, turn)
    blade = blade + (0.0123, 0.037, 0.0)
    poses, times = np.tile(np.eye(4), (5, 1, 1)), np.arange(5.0)
    poses[:, 2, 3] = 1.0, 0.2, 1.0, 0.2, 1.0
    parts = gk.clash.Assembly.of({"floor": gk.Mesh(floor, faces), "blade": gk.Mesh(blade, blade_faces)}, "mm")
    (clash,) = gk.clash.check(parts, motion=Movement({"blade": poses}, times=(0, 4))).clashes
    assert clash.kind == "hard"
    assert "not closed" in clash.note
    spans = np.array(clash.intervals)
    truth = np.array([(0.625, 1.375), (2.625, 3.375)])  # the lower rim, 0.5 below the center, passes through z = 0
    np.testing.assert_allclose(spans[:, [0, 3]], truth, atol=1e-9)
    np.testing.assert_allclose(spans[:, [1, 2]], truth, atol=1e-3)
    objects = in_fcl(floor, faces), in_fcl(blade, blade_faces)
    for t in np.linspace(0.0, 4.0, 161):
        objects[1].setTranslation(np.array([0.0, 0.0, np.interp(t, times, poses[:, 2, 3])]))
        hits = fcl.collide(*objects, fcl.CollisionRequest(), fcl.CollisionResult()) > 0
        inside = any(begin <= t <= end for _, begin, end, _ in clash.intervals)
        outside = not any(after <= t <= before for after, _, _, before in clash.intervals)
        assert hits or not inside, t
        assert not (hits and outside), t


def in_fcl(points, faces):
    model = fcl.BVHModel()
    model.beginModel(len(points), len(faces))
    model.addSubModel(points, faces)
    model.endModel()
    return fcl.CollisionObject(model, fcl.Transform())


def test_parts_with_inverted_faces_clash():
    """Cubes with some inverted faces are not closed, and their surfaces still clash."""
    vertices, faces = gk.Box((1, 1, 1)).surface()
    faces = faces.copy()
    faces[:3] = faces[:3, ::-1]
    parts = {"a": gk.Mesh(vertices, faces), "b": gk.Mesh(vertices + (5.0, 0.3, 0.2), faces)}
    slide = Movement({"b": gk.Motion.translation(None, (-10.0, 0, 0))})
    (clash,) = gk.clash.check(gk.clash.Assembly.of(parts, "mm"), motion=slide).clashes
    assert clash.kind == "hard"
    spans = np.array(clash.intervals)
    np.testing.assert_allclose(spans[0, 0], 0.4, atol=1e-9)  # 4 of 10
    np.testing.assert_allclose(spans[-1, 3], 0.6, atol=1e-9)


# --- joints --------------------------------------------------------------------------------------------------------


def boxes(*names):
    return {name: np.array([[-1.0, -1, -1], [1, 1, 1]]) for name in names}


def test_four_bar_closes_at_every_time():
    a, b, c, d = np.array([[0.0, 0, 0], [1, 0, 0], [4, 2.5, 0], [5, 0, 0]])
    joints = [
        Joint("crank", "revolute", "in", point=a, drive=(0.0, 2 * math.pi)),
        Joint("first", "revolute", "coupler", "in", point=b),
        Joint("second", "revolute", "out", "coupler", point=c),
        Joint("rocker", "revolute", "out", point=d),
    ]
    tracks = Movement(joints=joints, times=(0, 360)).place(["in", "coupler", "out"], boxes("in", "coupler", "out"))
    for time in np.linspace(0.0, 360.0, 91):
        poses = {name: track.pose(time) for name, track in tracks.items()}
        slack = sum(track.slack for track in tracks.values()) + 1e-9
        for first, second, point in (("in", "coupler", b), ("coupler", "out", c)):
            ends = [poses[name][:3, :3] @ point + poses[name][:3, 3] for name in (first, second)]
            assert np.linalg.norm(ends[0] - ends[1]) <= 6.0 * slack
        assert np.linalg.norm(poses["out"][:3, :3] @ d + poses["out"][:3, 3] - d) <= 6.0 * slack
        crank = poses["in"][:3, :3] @ b
        assert np.allclose(crank, (math.cos(math.radians(time)), math.sin(math.radians(time)), 0.0), atol=1e-9)


@pytest.mark.parametrize("ratio", [2.0, 2.5, 3.0, 4.0])
def test_slider_position_is_within_slack(ratio):
    """The error of the slider stays within its slack; at a ratio of 3 the path bends between the first solved times."""
    r, rod = 20.0, 20.0 * ratio
    joints = (
        Joint("main", "revolute", "crank", drive=(0.0, 2.0 * math.pi)),
        Joint("pin", "revolute", "rod", "crank", point=(r, 0, 0)),
        Joint("wrist", "revolute", "slider", "rod", point=(r + rod, 0, 0)),
        Joint("guide", "prismatic", "slider", axis=(1, 0, 0)),
    )
    boxes = {"crank": [(-4, -3, -2), (24, 3, 2)], "rod": [(r - 3, -3, 4), (r + rod + 3, 3, 8)]}
    boxes["slider"] = [(r + rod - 10, -10, 9), (r + rod + 10, 10, 19)]
    boxes = {name: np.array(box, dtype=float) for name, box in boxes.items()}
    track = Movement(joints=joints, times=(0, 360), unit="deg").place(list(boxes), boxes)["slider"]
    for time in np.linspace(0.0, 360.0, 1441):
        turn = math.radians(time)
        true = r * math.cos(turn) + math.sqrt(rod**2 - (r * math.sin(turn)) ** 2) - r - rod
        assert abs(track.pose(time)[0, 3] - true) <= track.slack, time


def test_newton_equals_least_squares_for_loops():
    joints = [
        Joint("crank", "revolute", "in", drive=(0.0, 2 * math.pi)),
        Joint("first", "revolute", "coupler", "in", point=(1, 0, 0)),
        Joint("second", "revolute", "out", "coupler", point=(4, 2.5, 0)),
        Joint("rocker", "revolute", "out", point=(5, 0, 0)),
    ]
    batch, single = (Linkage(joints, (), (0.0, 360.0), 6.0) for _ in range(2))
    times = batch.grid()[:-1] + 0.5 * np.diff(batch.grid())
    batch.begin(batch.grid())
    solved, closed = batch._newton(times, batch._guesses(times))
    assert closed.all()
    single.begin(np.unique(np.concatenate([single.grid(), times])))  # `begin` solves each time by itself
    assert np.allclose(solved, [single._solved[t] for t in times.tolist()], rtol=0.0, atol=1e-12)


def test_gears_and_screws_follow_their_ratio():
    joints = [
        Joint("spindle", "revolute", "spindle", axis=UP, drive=(0.0, 4 * math.pi)),
        Joint("wheel", "revolute", "wheel", axis=UP, point=(48, 0, 0)),
        Joint("nut", "prismatic", "nut", axis=2 * UP),
    ]
    couplings = [Coupling("wheel", "spindle", -18 / 30), Coupling("nut", "wheel", -5.0 / (2 * math.pi))]
    tracks = Movement(joints=joints, couplings=couplings).place(
        ["spindle", "wheel", "nut"], boxes("spindle", "wheel", "nut")
    )
    assert np.allclose(tracks["wheel"].pose(0.5), turned(-18 / 30 * 2 * math.pi, (48, 0, 0)), atol=1e-9)
    assert np.allclose(tracks["nut"].pose(1.0)[:3, 3], (0, 0, 5 * 2 * 18 / 30), atol=1e-9)


def test_cylindrical_and_planar_joints_follow_their_drive():
    slide = Joint("s", "cylindrical", "a", axis=UP, point=(1, 0, 0), drive=[(0, 0), (math.pi, 4)])
    plane = Joint("p", "planar", "b", axis=UP, drive=[(0, 0, 0), (3, -2, math.pi / 2)])
    tracks = Movement(joints=[slide, plane]).place(["a", "b"], boxes("a", "b"))
    assert np.allclose(tracks["a"].pose(1.0), turned(math.pi, (1, 0, 0), (0, 0, 4)), atol=1e-9)
    assert np.allclose(tracks["b"].pose(1.0), turned(math.pi / 2, shift=(3, -2, 0)), atol=1e-9)


BAD_JOINTS = {
    "nothing drives it": ([Joint("j", "revolute", "a")], (), "'j'.*drive"),
    "held by itself": (
        [Joint("j", "revolute", "a", "b", drive=(0, 1)), Joint("k", "revolute", "b", "a", drive=(0, 1))],
        (),
        "'a'.*ground",
    ),
    "an unknown coupling": (
        [Joint("j", "revolute", "a", drive=(0, 1))],
        [Coupling("k", "j", 1)],
        r"coupling.*'k'.*expected 'j'\.$",
    ),
    "driven twice": ([Joint("j", "revolute", "a", drive=(0, 1))], [Coupling("j", "j", 1)], "'j'.*twice"),
    "coupled in a ring": (
        [Joint("j", "revolute", "a"), Joint("k", "revolute", "b")],
        [Coupling("j", "k", 1), Coupling("k", "j", 1)],
        "'j'.*itself",
    ),
    "a loop that cannot close": (
        [Joint("j", "prismatic", "a", drive=(0, 9)), Joint("k", "revolute", "a")],
        (),
        r"loop.*'k'.*0\.125.*1\.12",
    ),
    "a four-bar driven past its end": (
        [
            Joint("j", "revolute", "a", drive=(0, math.pi)),
            Joint("k", "revolute", "b", "a", point=(3, 0, 0)),
            Joint("l", "revolute", "c", "b", point=(4, 1, 0)),
            Joint("m", "revolute", "c", point=(5, 0, 0)),
        ],
        (),
        r"loop.*'m'.*0\.25.*0\.602",
    ),
    "a motion left open": (
        [Joint("j", "planar", "a"), Joint("k", "planar", "a")],
        (),
        "j, j, j, k, k, k.*Drive",
    ),
    "too many turns": ([Joint("j", "revolute", "a", drive=(0, 1e300))], (), r"'j'.*1\.59155e\+299.*1000"),
    "too many turns by gears": (
        [Joint("j", "revolute", "a", drive=(0, 1)), Joint("k", "revolute", "b")],
        [Coupling("k", "j", 1e9)],
        r"'j'.*1\.59155e\+08.*1000",
    ),
    "one name": ([Joint("j", "revolute", "a", drive=(0, 1))] * 2, (), "joints.*'j'"),
}


@pytest.mark.parametrize("case", BAD_JOINTS)
def test_invalid_linkages_raise(case):
    joints, couplings, pattern = BAD_JOINTS[case]
    names = sorted({joint.child for joint in joints} | {"a", "b"})
    with pytest.raises(ShapeError, match=pattern):
        Movement(joints=joints, couplings=couplings).place(names, boxes(*names))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"kind": "ball"}, "'j'.*'ball'.*'revolute', 'prismatic'"),
        ({"child": ""}, "'j'.*child.*''"),
        ({"child": None}, "'j'.*child.*None"),
        ({"axis": (0, 0, 0)}, r"'j'.*axis.*\[0\.0, 0\.0, 0\.0\]"),
        ({"axis": (1, 0)}, r"'j'.*axis.*\[1\.0, 0\.0\]"),
        ({"point": (0, np.nan, 0)}, r"'j'.*point.*\(0, nan, 0\)"),
        ({"point": np.array([0, np.nan, 0])}, r"'j'.*point.*\[0\.0, nan, 0\.0\]"),
        ({"point": (0, 1e60, 0)}, r"'j'.*point.*\(0, 1e\+60, 0\).*1e\+50"),
        ({"kind": "prismatic", "drive": (0, 1e60)}, r"'j'.*slide.*\[0\.0, 1e\+60\].*1e\+50"),
        ({"drive": (1,)}, r"'j'.*drive.*\(1,\).*turn"),
        ({"drive": ()}, r"'j'.*drive.*\(0,\).*turn"),
        ({"drive": [(0, 0), (1, 1)]}, r"'j'.*drive.*\(2, 2\).*turn"),
    ],
)
def test_invalid_joints_raise(values, message):
    with pytest.raises(ShapeError, match=message):
        Joint(**({"name": "j", "kind": "revolute", "child": "a"} | values))


@pytest.mark.parametrize("size", [1e-310, 1e-300, 1e300])
def test_axis_may_have_any_length(size):
    pose = Joint("j", "revolute", "a", axis=(0, 0, size)).pose((0.5,))
    assert np.array_equal(pose, Joint("j", "revolute", "a").pose((0.5,)))


@pytest.mark.parametrize(
    ("values", "message"),
    [((1, 2), r"'j'.*values.*\(2,\).*turn"), (1, r"'j'.*values.*\b1\b.*1e\+50"), ((np.nan,), "nan")],
)
def test_joint_pose_of_invalid_coordinates_raises(values, message):
    with pytest.raises(ShapeError, match=message):
        Joint("j", "revolute", "a").pose(values)


@pytest.mark.parametrize("ratio", [None, "2", np.inf])
def test_invalid_coupling_ratios_raise(ratio):
    with pytest.raises(ShapeError, match=f"'k'.*'j'.*ratio.*{ratio!r}"):
        Coupling("k", "j", ratio)


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        ({"tracks": [("a", None)]}, TypeError, r"tracks.*\blist\b.*Pass \{'rod': track\}"),
        ({"tracks": {3: None}}, TypeError, r"tracks.*\b3\b.*\bint\b"),
        ({"joints": Joint("j", "revolute", "a")}, TypeError, "joints.*Joint.*list of Joint"),
        ({"joints": ["j"]}, TypeError, r"joints.*\bstr\b.*'j'.*Joint"),
        ({"tracks": {"a": gk.Motion(np.zeros((0, 4, 4)))}}, ShapeError, r"'a'.*gjk3d\.Motion"),
        ({"tracks": {"a": (["x"], None)}}, ShapeError, r"'a'.*times.*\['x'\]"),
        ({"times": None}, ShapeError, "times.*None"),
        ({"times": (1,)}, ShapeError, r"times.*\(1,\)"),
        ({"times": ("a", "b")}, ShapeError, r"times.*\('a', 'b'\)"),
        ({"times": (1e16, 1e16 + 2)}, ShapeError, r"times.*\(1e\+16, 1\.0000000000000002e\+16\)"),
        ({"times": (0, 1e-320)}, ShapeError, r"times.*\(0, 1e-320\)"),
        ({"times": (-1.7e308, 1.7e308)}, ShapeError, r"times.*\(-1\.7e\+308, 1\.7e\+308\)"),
        (
            {"tracks": {"a": gk.Motion(None, (1, 0, 0))}, "couplings": [Coupling("k", "j", 1)]},
            ShapeError,
            "'k'.*'j'.*joints.*drive",
        ),
    ],
)
def test_invalid_movement_arguments_raise(given, kind, message):
    with pytest.raises(kind, match=message):
        Movement(**given)


def test_discontinuous_motions_are_noted():
    starts = np.tile(np.eye(4), (3, 1, 1))
    starts[:, 0, 3] = 0, 1, 5
    moved = Movement({"a": gk.Motion(starts, (1, 0, 0))}, times=(0, 3), unit="s")
    (note,) = moved.notes
    assert_names(note, "a: ", "[1] and [2]", "2 s")
    starts[2, 0, 3] = 2
    assert Movement({"a": gk.Motion(starts, (1, 0, 0))}).notes == ()


def test_invalid_movements_raise():
    pose = np.tile(np.eye(4), (2, 1, 1))
    for tracks, times, message in (
        ({}, (0, 1), r"\[\[part\]\].*\[\[joint\]\]"),
        ({"a": pose}, (1, 1), r"times.*\(1, 1\)"),
        ({"a": np.eye(4)}, (0, 1), r"'a'.*\b2\b.*gjk3d\.Motion"),
        ({"a": (np.array([0.0, 0.0]), pose)}, (0, 1), r"'a'.*\b0\b.*\[1\]"),
        ({"a": (np.array([0.0, 2.0]), pose)}, (0, 1), r"'a'.*\b0\b.*\b2\b.*\(0\.0, 1\.0\)"),
    ):
        with pytest.raises(ShapeError, match=message):
            Movement(tracks, times=times)
    cube = gk.Mesh(*gk.Box((1, 1, 1)).surface())
    for tracks, message in (({"b": pose}, "'b'.* 1 parts"), ({"a": pose, "a*": pose}, r"'a'.*'a'.*'a\*'")):
        with pytest.raises(ParseError, match=message):
            gk.clash.check(gk.clash.Assembly.of({"a": cube}), motion=Movement(tracks))


# --- files ---------------------------------------------------------------------------------------------------------

BAD_FILES = {
    "no toml": ("= 3", "TOML.*line 1, column 1"),
    "unknown key": ("speed = 3", "'speed'.*'coupling', 'joint', 'length', 'part', 'times', 'unit'"),
    "no table": ("part = 3", r"part .*\[\[part\]\]"),
    "times": ('times = ["a"]', r"times.*\['a'\]"),
    "unit of time": ("unit = 3\n[[part]]\nparts='a'\nlinear=[0,0,1]", "unit.*3"),
    "length": ('length = "furlong"', "length.*'furlong'.*mm"),
    "nothing": ("times = [0, 1]", r"\[\[part\]\].*\[\[joint\]\]"),
    "no way": ("[[part]]\nparts='a'", "part 1.*'a'.*linear = .* angular = .* poses = "),
    "a middle and no way": ("[[part]]\nparts='a'\ncenter=[1,0,0]", "part 1.*'a'.*linear = .* angular = .* poses = "),
    "twice": ("[[part]]\nparts='a'\nlinear=[0,0,1]\n" * 2, r"part 2.*'a'.*\[\[part\]\]"),
    "no pattern": ("[[part]]\nlinear=[0,0,1]", "part 1.*parts = "),
    "two ways": ("[[part]]\nparts='a'\nposes='x.csv'\nlinear=[0,0,1]", "part 1 has poses and also linear"),
    "vector": ("[[part]]\nparts='a'\nlinear=[0,0]", r"part 1.*linear.*\[0, 0\]"),
    "kind": ("[[joint]]\nname='j'\nkind='ball'\nchild='a'", "joint 1.*'ball'.*'revolute', 'prismatic'"),
    "drive": ("[[joint]]\nname='j'\nkind='revolute'\nchild='a'\ndrive=[[0,1],[1,2]]", "joint 1.*drive.* 2 .*turn"),
    "ragged drive": ("[[joint]]\nname='j'\nkind='planar'\nchild='a'\ndrive=[[0,1],[1]]", "joint 1.*drive.*lengths"),
    "drive of words": ("[[joint]]\nname='j'\nkind='planar'\nchild='a'\ndrive='x'", r"joint 1.*drive.*'x'.*\[0, 90\]"),
    "coupling": ("[[coupling]]\njoint='j'\nto='k'", "coupling 1.*ratio.*lead"),
    "lead": ("[[coupling]]\njoint='j'\nto='k'\nlead=1", "coupling 1.*lead.*prismatic.*turns"),
    "kind of a driven one": (
        "[[joint]]\nname='j'\nkind='ball'\nchild='a'\ndrive=[0,1]",
        "joint 1.*'ball'.*'revolute', 'prismatic'",
    ),
    "no drive": ("[[joint]]\nname='j'\nkind='revolute'\nchild='a'\ndrive=[]", r"joint 1.*drive.*\[\].*\[0, 90\]"),
    "no direction": (
        "[[joint]]\nname='j'\nkind='revolute'\nchild='a'\naxis=[0,0,0]",
        r"joint 1.*axis.*\[0\.0, 0\.0, 0\.0\]",
    ),
    "a ratio that is none": (
        "[[joint]]\nname='j'\nchild='a'\nkind='revolute'\n[[coupling]]\njoint='j'\nto='k'\nratio=nan",
        "'j'.*'k'.*ratio.*nan",
    ),
    "no joints to couple": (
        "[[part]]\nparts='a'\nlinear=[0,0,1]\n[[coupling]]\njoint='j'\nto='k'\nratio=2",
        "'j'.*'k'.*joints.*drive",
    ),
    "coupled to nothing": ("[[coupling]]\njoint='j'\nratio=2", r"coupling 1.*joint.*\bto\b"),
    "no child": ("[[joint]]\nname='j'\nkind='revolute'\ndrive=[0,1]", "joint 1.*'j'.*child.*''"),
    "a word for a vector": ("[[part]]\nparts='a'\nlinear='x'", "part 1.*linear.*'x'"),
    "too many turns": ("[[part]]\nparts='a'\nangular=[0,0,4e5]", r"angular.*\[0\.0, 0\.0, 400000\.0\].*1000"),
    "no file of poses": ("[[part]]\nparts='a'\nposes=''", "part 1.*poses.*poses = "),
    "a folder of poses": ("[[part]]\nparts='a'\nposes='.'", "part 1.*folder"),
    "poses that are not there": ("[[part]]\nparts='a'\nposes='x.csv'", r"part 1.*x\.csv"),
    "no unit": ("length = 'barn'", "length.*'barn'.*mm"),
    "too large for a float": (f"times = [0, 1{'0' * 400}]", r"times.*\[0, 10000"),
    "too many digits": (f"times = [0, 1{'0' * 5000}]", "TOML.*4300 digits"),
    "too deep": (f"times = {'[' * 5000}{']' * 5000}", "TOML.*levels of brackets"),
    "not finite": ("[[part]]\nparts='a'\nlinear=[0,0,inf]", r"part 1.*linear.*\[0\.0, 0\.0, inf\]"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_invalid_motion_files_raise_with_file_name(case, tmp_path):
    text, message = BAD_FILES[case]
    file = tmp_path / "motion.toml"
    file.write_text(text)
    with pytest.raises(ParseError, match=message) as caught:
        gk.clash.read_motion(file, "mm")
    assert str(file) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (
            "[[part]]\nparts='lidd'\nlinear=[0,0,1]",
            ("'lidd'", "1 parts", "'lid'?"),
        ),
        ("[[joint]]\nname='j'\nkind='revolute'\nchild='lid'", ("joint 'j'", "drive")),
    ],
)
def test_motion_errors_found_with_parts_name_the_file(tmp_path, text, named):
    file = tmp_path / "motion.toml"
    file.write_text(text)
    cube = gk.Mesh(*gk.Box((1, 1, 1)).surface())
    with pytest.raises(gk.errors.Gjk3dError) as caught:
        gk.clash.check(gk.clash.Assembly.of({"lid": cube}, "mm"), motion=file)
    assert_names(caught.value, str(file), *named)


def test_length_unit_without_assembly_unit_raises(tmp_path):
    (tmp_path / "motion.toml").write_text("length = 'mm'")
    with pytest.raises(ParseError, match=r"motion\.toml.*length.*'mm'.*unit"):
        gk.clash.read_motion(tmp_path / "motion.toml")


def test_pose_file_as_motion_raises_with_remedy(tmp_path):
    (tmp_path / "lid.csv").write_text("0,0,0,0,0,0,0,1\n1,0,0,5,0,0,0,1\n")
    with pytest.raises(ParseError, match=r'lid\.csv.*TOML.*\[\[part\]\].*parts = "NAMES".*poses = "lid\.csv"'):
        gk.clash.read_motion(tmp_path / "lid.csv")


def test_single_pose_raises(tmp_path):
    (tmp_path / "lid.csv").write_text("0,0,0,0,0,0,0,1\n")
    (tmp_path / "motion.toml").write_text("[[part]]\nparts='a'\nposes='lid.csv'")
    with pytest.raises(ParseError, match=r"part 1.*lid\.csv.*\b2\b.*lines"):
        gk.clash.read_motion(tmp_path / "motion.toml", "mm")


def test_missing_motion_file_raises():
    with pytest.raises(FileError, match=r"nowhere\.toml"):
        gk.clash.read_motion("nowhere.toml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"poses\.csv.*time, x, y, z, qx, qy, qz, qw"),
        ("t,x,y,z,qx,qy,qz,qw\n\n", r"poses\.csv.*time, x, y, z, qx, qy, qz, qw"),
        ("1,2\n", "line 1.* 2 numbers.*time, x, y, z, qx, qy, qz, qw"),
        ("0,0,0,0,0,0,0,1\n\n1,0,0,0,0,0,0,1,0\n", "line 3.* 9 numbers"),
        ("0,0,0,o,0,0,0,1\n1,0,0,0,0,0,0,1\n", "line 1.*commas.*'o'"),
        ("0,0,0,0,0,0,0,1\n1,2\n", "line 2.* 2 numbers"),
        ("0,0,0,0,0,0,0,1\n1,0,0,0,x,0,0,1\n", "line 2.*commas.*'x'"),
        ("0,0,0,0,0,0,0,0\n", "line 1.*quaternion.*0, 0, 0, 0.*1. Divide it by its length.$"),
        (
            "t,x,y,z,qx,qy,qz,qw\n0,0,0,0,0,0,0,1\n1,0,0,0,0,0,0,2\n",
            "line 3.*quaternion.*0, 0, 0, 2.*1. Divide it by its length.$",
        ),
        ("0,0,nan,0,0,0,0,1\n", "line 1.*nan"),
        ("0,0,0,0,0,0,0,1\n1,0,1e999,0,0,0,0,1\n", "line 2.*1e999"),
        (
            "t,x,y,z,qx,qy,qz,qw\n0,0,0,0,0,0,0,1\n\n0,0,0,1,0,0,0,1\n",
            r"line 4.*time 0\b.*\b0\b",
        ),
        ("0,0,0,0,0,0,0,1\n2,0,0,0,0,0,0,1\n1,0,0,0,0,0,0,1\n", r"line 3.*time 1\b.*\b2\b.*Sort"),
        ("0;0;0;0;0;0;0;1\n1;0;0;0;0;0;0;1\n", "line 2.*commas.*'1;0;"),
        ("0,1,0,0,0,0,1,0,0,0,0,1,0\n1,1,0,0,0,0,2,0,0,0,0,1,0\n", r"line 2.*\(1, 2, 1\)"),
        ("t,x,y,z,qx,qy,qz,qw\n0,0,0,0,0,0,0,1\n1,1e99,0,0,0,0,0,1\n", r"line 3.*\[1e\+99.*1e\+50"),
    ],
)
def test_invalid_pose_files_raise(text, message, tmp_path):
    file = tmp_path / "poses.csv"
    file.write_text(text)
    with pytest.raises(ParseError, match=message):
        gk.clash.read_poses(file)


def test_byte_order_mark_before_poses_is_skipped(tmp_path):
    file = tmp_path / "poses.csv"
    file.write_bytes(b"\xef\xbb\xbf0,0,0,0,0,0,0,1\r\n1,0,0,5,0,0,0,1\r\n")
    times, poses = gk.clash.read_poses(file)
    assert times.tolist() == [0, 1]
    assert poses[1, 2, 3] == 5


def test_poses_for_part_of_the_time_are_noted(tmp_path):
    (tmp_path / "lid.csv").write_text("1,0,0,0,0,0,0,1\n2,0,0,20,0,0,0,1\n")
    file = tmp_path / "motion.toml"
    file.write_text(
        'times = [0, 10]\nunit = "s"\n[[part]]\nparts = "lid"\nposes = "lid.csv"\n'
        '[[part]]\nparts = "door"\nlinear = [9, 0, 0]\n'
    )
    cube = gk.Box((1, 1, 1)).surface()
    parts = {"lid": gk.Mesh(*cube[:2]), "door": gk.Mesh(cube.vertices + (5, 0, 0), cube.faces)}
    report = gk.clash.check(gk.clash.Assembly.of(parts, "mm"), motion=file)
    before, after = (note for note in report.notes if note.startswith("lid"))
    assert_names(before, "before 1 s", "0 to 10 s")
    assert_names(after, "after 2 s", "0 to 10 s")
    assert not [note for note in report.notes if note.startswith("door")]


@pytest.mark.parametrize("from_file", [True, False])
def test_poses_half_a_turn_apart_are_noted(tmp_path, from_file):
    """The sense of a half turn between two poses is a guess; intermediate poses or a motion define it."""
    turned = [0.0, 180.0, 351.0, 520.9]
    halves = np.radians(turned) / 2.0
    lines = [f"{k},0,0,0,0,0,{np.sin(half)},{np.cos(half)}" for k, half in enumerate(halves)]
    (tmp_path / "lid.csv").write_text("\n".join(lines))
    file = tmp_path / "motion.toml"
    file.write_text('times = [0, 3]\nunit = "s"\n[[part]]\nparts = "lid"\nposes = "lid.csv"\n')
    poses = [gk.Motion(None, angular=(0, 0, np.radians(turn))).at(1.0) for turn in turned]
    full_motion = gk.Motion(None, angular=(0, 0, 3 * np.pi), center=(9, 0, 0))
    movement = Movement({"lid": np.array(poses), "door": full_motion}, times=(0, 3), unit="s")
    cube = gk.Box((1, 1, 1)).surface()
    parts = {"lid": gk.Mesh(*cube[:2]), "door": gk.Mesh(cube.vertices + (5, 0, 0), cube.faces)}
    assembly = gk.clash.Assembly.of(parts, "mm")
    motion = file if from_file else movement
    for notes in (gk.clash.check(assembly, motion=motion).notes, gk.clash.swept(assembly, motion, "lid", "hull").notes):
        (note,) = (note for note in notes if "degrees" in note)
        assert_names(
            note, "lid: ", "[0] and [1] (from 0 to 1 s, 180 degrees)", "[1] and [2] (from 1 to 2 s, 171 degrees)"
        )
        assert "[3]" not in note


def latch_tracks(tmp_path, parent, more=""):
    """Return the tracks of a latch on a door that opens by a quarter turn, with a given parent of the latch joint."""
    file = tmp_path / "motion.toml"
    file.write_text(
        '[[joint]]\nname = "hinge"\nkind = "revolute"\nchild = "door_*"\ndrive = [0, 90]\n'
        f'[[joint]]\nname = "bolt"\nkind = "prismatic"\nchild = "latch"\n{parent}\ndrive = [0, 7]\n{more}'
    )
    names = ["house/door_leaf", "house/door_knob", "latch", "frame", "drawer"]
    return gk.clash.read_motion(file, "mm").place(names, boxes(*names))


@pytest.mark.parametrize("parent", ["door_*", "house/door_*", "door_leaf", "*door*"])
def test_joint_parent_is_matched_by_pattern(tmp_path, parent):
    tracks = latch_tracks(tmp_path, f'parent = "{parent}"')
    assert np.allclose(tracks["latch"].pose(1.0), turned(math.pi / 2, shift=(0, 0, 7)))


@pytest.mark.parametrize("parent", ["", 'parent = ""', 'parent = "frame"', 'parent = "[fd]r*"'])
def test_resting_parent_is_the_ground(tmp_path, parent):
    assert np.allclose(latch_tracks(tmp_path, parent)["latch"].pose(1.0), turned(0.0, shift=(0, 0, 7)))


@pytest.mark.parametrize(
    ("parent", "message"),
    [
        ("Door_leaf", "'bolt'.*'Door_leaf'.* 5 parts.*door_leaf"),
        ("doors", "'bolt'.*'doors'.*'door_[*]', 'latch'.*ground"),
        ("*", "'bolt'.*'[*]'.*'door_[*]', 'latch'"),
        ("latc?", "'bolt'.*child.*'latch'"),
        ("drawer", "'bolt'.*'drawer'.*joint.*drive"),
    ],
)
def test_unknown_joint_parents_raise(tmp_path, parent, message):
    more = '[[part]]\nparts = "drawer"\nlinear = [1, 0, 0]\n' if parent == "drawer" else ""
    with pytest.raises((ParseError, ShapeError), match=message):
        latch_tracks(tmp_path, f'parent = "{parent}"', more)


def test_loop_that_cannot_close_raises_with_time_and_error():
    joints = [Joint("j", "prismatic", "a", drive=(0, 9)), Joint("k", "revolute", "a")]
    moves = Movement(joints=joints, times=(0, 10), unit="s")
    with pytest.raises(ShapeError, match=r"loop.*'k'.*1\.25 s.*1\.12 mm.*point and axis"):
        moves.place(["a", "b"], boxes("a", "b"), "mm")


@pytest.mark.parametrize("motion", [5, gk.Motion.translation(None, (1, 0, 0)), {"a": 3}])
def test_invalid_motion_types_raise(motion):
    assembly = gk.clash.Assembly.of({"a": gk.Mesh(*gk.Box((1, 1, 1)).surface()[:2])})
    for query in (lambda: gk.clash.check(assembly, motion=motion), lambda: gk.clash.swept(assembly, motion, "a")):
        with pytest.raises(TypeError, match=rf"motion.*\b{type(motion).__name__}\b.*Movement.*TOML"):
            query()


def test_motion_file_has_units_angles_and_poses(tmp_path):
    (tmp_path / "lid.csv").write_text("0,0,0,0,0,0,0,1\n1,0,0,20,0,0,1,0\n")
    file = tmp_path / "motion.toml"
    file.write_text(
        'length = "mm"\n[[part]]\nparts = "lid"\nposes = "lid.csv"\n'
        '[[part]]\nparts = "door"\nangular = [0, 0, 90]\ncenter = [10, 0, 0]\n'
        '[[joint]]\nname = "s"\nkind = "revolute"\nchild = "spindle"\ndrive = [0, 720]\n'
        '[[joint]]\nname = "n"\nkind = "prismatic"\nchild = "nut"\n[[coupling]]\njoint = "n"\nto = "s"\nlead = 5\n'
    )
    names = ["lid", "door", "spindle", "nut"]
    tracks = gk.clash.read_motion(file, "m").place(names, boxes(*names))
    assert np.allclose(tracks["lid"].pose(1.0), turned(math.pi, shift=(0, 0, 0.02)))
    assert np.allclose(tracks["door"].pose(1.0), turned(math.pi / 2, (0.01, 0, 0)))
    assert np.allclose(tracks["nut"].pose(1.0)[:3, 3], (0, 0, 0.01))


# --- forms ---------------------------------------------------------------------------------------------------------


@pytest.mark.full
def test_all_formats_contain_the_time(report, tmp_path):
    document = json.loads(report.to_json())
    jsonschema.validate(document, json_schema())
    assert document["motion"]["unit"] == "deg"
    assert "crank_plug" in document["motion"]["moving"]
    hard = next(row for row in document["clashes"] if row["kind"] == "hard")
    assert hard["time"] == pytest.approx(37.0, abs=1e-4)
    assert len(hard["intervals"]) == 1
    assert gk.clash.Clash.from_dict(hard) == next(clash for clash in report.clashes if clash.kind == "hard")
    row = next(row for row in csv.DictReader(io.StringIO(to_csv(report))) if row["kind"] == "hard")
    assert float(row["time"]) == hard["time"]
    assert row["intervals"].split() == [repr(x) for x in hard["intervals"][0]]
    near = next(row for row in csv.DictReader(io.StringIO(to_csv(report))) if row["b"] == "crank_shaft")
    assert 0.0 < float(near["least_lower"]) <= float(near["least_upper"])
    words = rf"{messages.DEEPEST.format('37 deg')}, {messages.IN_CLASH}33\.9\d* to 40\.0\d* deg"
    assert re.search(words, to_junit(report))
    assert re.search(words, to_markdown(report).replace("\\", ""))
    stream = io.StringIO()
    to_jsonl(report, stream)
    assert json.loads(stream.getvalue().splitlines()[-1])["motion"]["pairs"]
    to_bcf(report, tmp_path / "engine.bcf")
    with zipfile.ZipFile(tmp_path / "engine.bcf") as archive:
        topics = [archive.read(name).decode() for name in archive.namelist() if name.endswith("markup.bcf")]
    assert sum(bool(re.search(words, topic)) for topic in topics) == 1


def test_baseline_matches_clash_in_motion(report, engine, tmp_path):
    report.to_json(tmp_path / "before.json")
    again = gk.clash.check(
        engine,
        0.5e-4,
        a="crank_plug",
        b="sensor",
        motion=DATA / "engine" / "engine.toml",
        baseline=tmp_path / "before.json",
    )
    assert next(clash for clash in again.clashes if clash.kind == "hard").status == "active"


def scene(page):
    return json.loads(re.search(r'id="scene">(.*?)</script>', page.read_text(encoding="utf-8"))[1])


def test_motion_is_read_back_and_check_at_rest_resolves_nothing(report, engine, tmp_path):
    report.to_json(tmp_path / "old.json")
    old = read_baseline(tmp_path / "old.json")
    assert (old.motion.begin, old.motion.end, old.motion.unit) == (0.0, 360.0, "deg")
    assert old.motion.pairs == report.motion.pairs
    assert (old.pairs_total, old.pairs_close) == (report.pairs_total, report.pairs_close)
    to_bcf(old, tmp_path / "old.bcf")
    with zipfile.ZipFile(tmp_path / "old.bcf") as file:
        assert any(
            messages.DEEPEST.format("37 deg").encode() in file.read(name)
            for name in file.namelist()
            if name.endswith("markup.bcf")
        )
    played = [scene(write_page(source, tmp_path / "page.html"))["motion"] for source in (report, old)]
    assert played[0]["bodies"] == played[1]["bodies"] != []
    for name, track in report.motion.tracks.items():
        assert all((old.motion.pose(name, time) == track.pose(time)).all() for time in (0.0, 37.5, 360.0))
    # a report of an earlier version, without tracks
    document = json.loads((tmp_path / "old.json").read_text())
    del document["motion"]["tracks"]
    (tmp_path / "older.json").write_text(json.dumps(document))
    page = write_page(read_baseline(tmp_path / "older.json"), tmp_path / "older.html")
    assert scene(page)["motion"] is None
    assert messages.NOT_MOVING in page.read_text(encoding="utf-8")
    resting = gk.clash.check(engine, a="crank_*", b="sensor", baseline=old)
    status = {(clash.a, clash.b): clash.status for clash in resting.clashes}
    assert status["crank_plug", "sensor"] == "active"
    assert any("baseline" in note and "motion" in note for note in resting.notes)


def test_pictures_and_marks_show_parts_at_clash_time(report, tmp_path):
    clash = report.clashes[0]
    drawing = draw_report(report, Style(), clash=clash.id)
    plug = next(item for item in drawing.items if item.name == clash.a)
    gap = np.linalg.norm(np.asarray(plug.vertices) - clash.point, axis=1).min()
    assert gap < 5e-3, gap  # at rest the plug is 37 degrees away, 20 mm
    formats.to_glb(report, tmp_path / "marked.glb")
    marks = trimesh.load(tmp_path / "marked.glb").geometry
    mark = next(mesh for name, mesh in marks.items() if name.startswith("clash 1 "))
    assert np.allclose(mark.bounds, clash.overlap_box, atol=1e-7)


def test_interrupted_check_counts_only_tested_pairs(engine):
    def stop(stage, done, total, found):
        if stage == "boxes":
            raise KeyboardInterrupt

    def stop_later(stage, done, total, found):
        if stage == "pairs":
            raise KeyboardInterrupt

    motion = DATA / "engine" / "engine.toml"
    assert gk.clash.check(engine, motion=motion, progress=stop).pairs_tested == 0
    late = gk.clash.check(engine, motion=motion, progress=stop_later)
    # all pairs move except block, head and sensor, crank_plug and crank_shaft, piston and piston_pin: 28 - 3 - 1 - 1
    assert (late.complete, late.pairs_tested) == (False, 28 - 23 - late.pairs_close + 1)


def test_worker_count_does_not_change_result():
    rng = np.random.default_rng(3)
    cube = gk.Box((1, 1, 1)).surface()
    parts = {f"p{k}": gk.Mesh(cube.vertices + rng.uniform(-3, 3, 3), cube.faces) for k in range(12)}
    tracks = {f"p{k}": gk.Motion(None, rng.uniform(-2, 2, 3), rng.uniform(-1, 1, 3)) for k in range(4)}
    single, threaded = (
        gk.clash.check(gk.clash.Assembly.of(parts), 0.1, motion=Movement(tracks), workers=n) for n in (1, 3)
    )
    assert single.clashes == threaded.clashes
    assert single.motion == threaded.motion
    assert len(single.motion.pairs) > 5
