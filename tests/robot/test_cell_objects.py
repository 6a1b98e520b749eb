"""Objects of all types around a robot and attached to it, compared with queries of every pair of shapes."""

from __future__ import annotations

import itertools

import naive
import numpy as np
import pytest
from message_checks import assert_names
from model_files import write_3mf

import gjk3d as gk
from gjk3d.errors import RobotError
from gjk3d.poses import pose_rows
from gjk3d.robot import Checker, Robot
from tests.robot.test_checker import AROUND, PANDA, UR5, at, drawn

RNG = np.random.default_rng(3)
GROUND = 0.02 * np.sin(np.arange(25)[:, None] * 0.7) * np.cos(np.arange(25)[None] * 0.5)
SOLIDS = {
    "floor": (gk.Halfspace((0, 0.1, 1), 0.15), None),
    "wall": (gk.Plane((1, 0.2, 0), 0.5), None),
    "slab": (gk.HeightField(GROUND[:9, :7], (0.1, 0.05), bottom=-0.1), at(0.1, -0.15, 0.5)),
    "sheet": (gk.Shell(gk.Mesh([(0, 0, 0), (0.5, 0, 0), (0, 0.5, 0.2)], [(0, 1, 2)]), 0.02), at(-0.6, -0.3, 0.3)),
    "ground": (gk.HeightField(GROUND, 0.15), at(-1.8, -1.8, 0.15)),
    "dish": (gk.Mesh(*(lambda s: (s.vertices, s.faces))(gk.Capsule(0.1, 0.5).surface(8))), at(0.4, 0.35, 0.5)),
    "rack": (gk.Compound([(gk.Box((0.6, 0.1, 0.05)), at(0, 0, z)) for z in (0.0, 0.25, 0.5)]), at(0.4, -0.25, 0.2)),
    "voxels": (gk.VoxelGrid(RNG.random((4, 4, 4)) < 0.3, 0.1), at(-0.7, 0.2, 0.5)),
    "points": (gk.PointCloud(RNG.uniform(-0.3, 0.3, (40, 3)), 0.02), at(-0.3, -0.6, 0.8)),
}


def test_meshes_with_a_unit_are_scaled_to_metres(tmp_path):
    box = gk.Box((40.0, 20.0, 10.0)).surface()
    gk.Mesh(box.vertices, box.faces).to_trimesh().export(tmp_path / "bracket.stl")
    bracket = gk.load(tmp_path / "bracket.stl", unit="mm")
    plain = gk.load(tmp_path / "bracket.stl")
    checker = Checker(Robot.example(), {"first": (bracket, at(2.0, 0.0, 0.0))})
    checker.add("second", bracket, at(0.0, 3.0, 0.0))
    checker.attach("held", bracket, "hand", at(0.1, 0.0, 0.0))
    checker.add("plain", plain, at(0.0, 0.0, 100.0))
    checker.move("first", at(2.5, 0.0, 0.0))
    for name in ("first", "second", "held"):
        mesh = checker.shape(name)
        assert (mesh.unit, np.ptp(mesh.bounds, axis=0).tolist()) == ("meters", pytest.approx([0.04, 0.02, 0.01]))
    assert checker.shape("first") is checker.shape("second")  # so the tree is built once
    assert checker.shape("plain") is plain
    tool = checker.robot.with_geometry("hand", bracket, geometry="mesh").bodies[-1].shape
    assert np.ptp(tool.bounds, axis=0).tolist() == pytest.approx([0.04, 0.02, 0.01])
    shapes = bracket, gk.Box((0.04, 0.02, 0.01))
    checkers = [Checker(checker.robot, {"it": (shape, at(2.0, 0.0, 0.0))}) for shape in shapes]
    near, truth = (tested.clearance([0.0, 0.0]).distance for tested in checkers)
    assert near == pytest.approx(truth, rel=1e-7)


@pytest.mark.parametrize(
    ("put", "names"),
    [
        (lambda c, mesh: c.add("cell", gk.Shell(mesh, 1.0)), ("'cell'", "Shell", "mm", "mesh.scaled(0.001, ")),
        (lambda c, mesh: c.attach("cell", gk.Compound([(mesh, None)]), "hand"), ("Compound", "mesh.scaled(0.001, ")),
        (lambda c, mesh: c.add("cell", mesh._like(mesh.vertices, mesh.faces, unit="cubit")), ("cubit", "mesh.scaled(")),
        (
            lambda c, mesh: Checker(c.robot, scene_of(mesh)),
            ("Scene", "in mm ('frame')", "mesh.scaled(0.001", "mapping"),
        ),
    ],
    ids=["shell", "compound", "unknown unit", "scene"],
)
def test_units_that_cannot_be_converted_raise(put, names):
    checker = Checker(Robot.example())
    box = gk.Box((40.0, 20.0, 10.0)).surface()
    with pytest.raises(RobotError) as error:
        put(checker, gk.Mesh(box.vertices, box.faces, unit="mm"))
    assert_names(error.value, *names)
    assert checker.objects == ()


def test_urdf_mesh_coordinates_are_metres(tmp_path):
    corners = (gk.Box((1.0, 1.0, 1.0)).surface().vertices, gk.Box((1.0, 1.0, 1.0)).surface().faces)
    write_3mf(tmp_path / "cube.3mf", [("cube", *corners)], unit="millimeter")
    (tmp_path / "a.urdf").write_text(
        '<robot name="r"><link name="a"><collision><geometry><mesh filename="cube.3mf"/></geometry></collision></link>'
        '<link name="b"/><joint name="j" type="continuous"><parent link="b"/><child link="a"/></joint></robot>'
    )
    robot = Robot.load(tmp_path / "a.urdf", geometry="mesh")
    checker = Checker(robot, {"wall": (gk.Mesh(*corners, unit="meters"), at(3.0, 0.0, 0.0))})
    assert checker.clearance([0.0]).distance == pytest.approx(2.0)


def scene_of(mesh):
    scene = gk.Scene()
    scene.add("frame", mesh)
    return scene


def least_distances(robot, q, objects):
    """Return the signed distance of each pair of names. Items are (name, shape, pose, link or None, touch)."""
    links = robot.link_poses(q)
    checked = {frozenset(pair) for pair in robot.pairs.tolist()}
    items = [(robot.links[b.link], links[b.link] @ b.pose, b.shape, b.link, ()) for b in robot.bodies]
    for name, shape, pose, link, touch in objects:
        pose = np.eye(4) if pose is None else pose
        number = None if link is None else robot.links.index(link)
        items.append((name, pose if link is None else links[number] @ pose, shape, number, touch))
    least = {}
    for k, (name, pose, shape, link, touch) in enumerate(items):
        for other_name, their_pose, their_shape, their_link, their_touch in items[k + 1 :]:
            if name in their_touch or other_name in touch or (link is None and their_link is None):
                continue
            if name in robot.links and other_name in robot.links and frozenset((link, their_link)) not in checked:
                continue
            if None not in (link, their_link) and robot.rigid[link] == robot.rigid[their_link]:
                continue
            d = gk.signed_distance(shape, their_shape, pose, their_pose)
            key = frozenset((name, other_name))
            if key not in least or d.distance < least[key].distance:
                least[key] = d
    return least


def assert_agrees(checker, robot, q, objects, margin=0.0):
    free, near, all_hits = checker.free(q), checker.clearance(q), checker.collisions(q)
    pairs, contacts = checker.hit(q), checker.contacts(q)
    for k in range(len(q)):
        truth = least_distances(robot, q[k], objects)
        least = min(d.distance for d in truth.values())
        close = {pair for pair, d in truth.items() if not d.lower > margin}
        assert free[k] == (not close)
        assert near.distance[k] == pytest.approx(least, abs=1e-7)
        assert near.lower[k] <= near.distance[k] <= near.upper[k]
        assert truth[frozenset(near.pair[k])].distance == pytest.approx(least, abs=1e-7)
        assert np.allclose(near.point_b[k] - near.point_a[k], near.distance[k] * near.normal[k], atol=1e-9)
        assert (pairs[k] is None) == free[k]
        assert pairs[k] is None or frozenset(pairs[k]) in close
        assert {frozenset(contact.pair) for contact in all_hits[k]} == close
        for contact in all_hits[k]:
            assert contact.distance == pytest.approx(truth[frozenset(contact.pair)].distance, abs=1e-7)
            assert contact.lower <= contact.distance <= contact.upper
            assert np.allclose(contact.point_b - contact.point_a, contact.distance * contact.normal, atol=1e-9)
        touching = {pair for pair, d in truth.items() if not d.lower > 0.0}
        assert {frozenset(contact.pair) for contact in contacts[k]} == touching
        for contact in contacts[k]:
            assert np.allclose(contact.points_b - contact.points_a, contact.gaps[:, None] * contact.normal, atol=1e-9)
            assert contact.distance == pytest.approx(contact.gaps.min(), abs=1e-9)
    return free


def listed(around, link=None, touch=()):
    return [(name, shape, pose, link, touch) for name, (shape, pose) in around.items()]


@pytest.mark.parametrize("geometry", ["bodies", "mesh", "parts"])
def test_convex_surroundings(geometry):
    robot = Robot.from_urdf(*PANDA, geometry=geometry)
    q = drawn(robot, 8, 21)
    free = assert_agrees(Checker(robot, AROUND), robot, q, listed(AROUND))
    assert 0 < free.sum() < len(q)


@pytest.mark.parametrize("name", list(SOLIDS))
@pytest.mark.parametrize("margin", [0.0, 0.03])
def test_each_non_convex_body(name, margin):
    robot = Robot.from_urdf(*PANDA)
    around = {name: SOLIDS[name]}
    touch = ("panda_link0", "panda_link1") if name in ("floor", "ground") else ()
    checker = Checker(robot, margin=margin)
    checker.add(name, *SOLIDS[name], touching=touch)
    free = assert_agrees(checker, robot, drawn(robot, 25, 4), listed(around, touch=touch), margin)
    assert 0 < free.sum() < 25


def egg(direction):
    scaled = np.array([0.1, 0.2, 0.3]) * direction
    return np.array([0.1, 0.2, 0.3]) * scaled / np.linalg.norm(scaled)


OTHERS = {
    "ellipsoid": (gk.Ellipsoid((0.1, 0.2, 0.3)), at(-0.4, 0.1, 0.6)),
    "sheet": (gk.Triangle([(0, 0, 0), (0.5, 0, 0), (0, 0.5, 0.4)]), at(0.3, -0.5, 0.3)),
    "dot": (gk.Point((0.3, 0.3, 0.5)), None),
    "union": (gk.ConvexUnion(gk.Sphere(0.1), gk.Box((0.1, 0.5, 0.1))), at(-0.3, -0.4, 0.5)),
    "rounded": (gk.Box((0.2, 0.2, 0.2)).inflated(0.05), at(0, 0.5, 0.6)),
}


def test_convex_shapes_of_other_types():
    robot = Robot.from_urdf(*PANDA)
    around = OTHERS | {"support": (gk.Support(egg, (0, 0, 0), 0.3), at(0.4, 0.2, 0.5))}
    free = assert_agrees(Checker(robot, around), robot, drawn(robot, 15, 4), listed(around))
    assert 0 < free.sum() < 15


@pytest.mark.parametrize("name", ["dish", "rack", "points"])
def test_negative_margin_allows_overlap(name):
    robot = Robot.from_urdf(*PANDA)
    around, q = {name: SOLIDS[name]}, drawn(robot, 50, 4)
    free = assert_agrees(Checker(robot, around, margin=-0.05), robot, q, listed(around), -0.05)
    assert (free & ~Checker(robot, around).free(q)).any()


def test_self_collisions_of_meshes():
    robot = Robot.from_urdf(*UR5, geometry="mesh")
    free = assert_agrees(Checker(robot), robot, drawn(robot, 6, 3), [])
    assert 0 < free.sum() < 6


HELD = {
    "cube": (gk.Box((0.08, 0.08, 0.3)), at(0, 0, 0.2)),
    "tool": (gk.Mesh(*(lambda s: (s.vertices, s.faces))(gk.Cone(0.05, 0.3).surface(8))), at(0.05, 0, 0.22)),
    "fork": (gk.Compound([(gk.Box((0.02, 0.02, 0.3)), at(x, 0, 0.2)) for x in (-0.05, 0.05)]), None),
}


@pytest.mark.parametrize("name", list(HELD))
def test_attached_objects(name):
    robot = Robot.from_urdf(*PANDA)
    around = {**AROUND, "rack": SOLIDS["rack"]}
    fingers = "panda_leftfinger", "panda_rightfinger"
    checker = Checker(robot, around)
    shape, pose = HELD[name]
    checker.attach(name, shape, "panda_hand", pose, touch_links=[*fingers, "drum"])
    assert checker.attached == {name: "panda_hand"}
    objects = [*listed(around), (name, shape, pose, "panda_hand", (*fingers, "drum"))]
    q = drawn(robot, 30, 12)
    free = assert_agrees(checker, robot, q, objects)
    assert 0 < free.sum() < len(q)
    hits = {
        frozenset(contact.pair) for contacts in checker.collisions(q) for contact in contacts if name in contact.pair
    }
    assert hits
    assert not any(partner in pair for pair in hits for partner in (*fingers, "drum", "panda_hand", "panda_link8"))
    checker.detach(name)
    assert checker.attached == {}
    assert np.array_equal(checker.free(q), Checker(robot, around).free(q))


def test_two_attached_objects_and_gradient():
    robot = Robot.from_urdf(*PANDA)
    checker = Checker(robot, {"wall": (gk.Box((0.1, 3, 3)), at(0.9, 0, 0))})
    checker.attach("far", gk.Box((0.05, 0.05, 0.9)), "panda_hand", at(0, 0, 0.6), ["panda_leftfinger"])
    checker.attach("near", gk.Box((0.9, 0.05, 0.05)), "panda_link4", at(0.5, 0, 0.0), ["panda_link5", "panda_link3"])
    objects = [
        ("wall", gk.Box((0.1, 3, 3)), at(0.9, 0, 0), None, ()),
        ("far", gk.Box((0.05, 0.05, 0.9)), at(0, 0, 0.6), "panda_hand", ("panda_leftfinger",)),
        ("near", gk.Box((0.9, 0.05, 0.05)), at(0.5, 0, 0.0), "panda_link4", ("panda_link5", "panda_link3")),
    ]
    q = drawn(robot, 60, 2)
    assert_agrees(checker, robot, q[:25], objects)
    assert any({"far", "near"} == set(hit.pair) for contacts in checker.collisions(q) for hit in contacts)
    step, right = 1e-6, 0
    for row, slope in zip(q[:15], checker.gradient(q[:15]), strict=True):
        up, down = (checker.clearance(row + sign * step * np.eye(robot.dof)) for sign in (1, -1))
        if len({*map(tuple, up.pair), *map(tuple, down.pair)}) == 1:
            right += np.allclose(slope, (up.distance - down.distance) / (2 * step), atol=2e-4)
    assert right >= 10


def test_gradient_next_to_half_space():
    robot = Robot.from_urdf(*PANDA)
    checker = Checker(robot)
    checker.add("floor", gk.Halfspace((0, 0, 1), 0.15), touching=["panda_link0", "panda_link1"])
    step, right = 1e-6, 0
    q = drawn(robot, 60, 30)
    q = [row for row, pair in zip(q, checker.clearance(q).pair, strict=True) if "floor" in pair]
    assert len(q) > 3
    for row in q:
        up, down = (checker.clearance(row + sign * step * np.eye(robot.dof)) for sign in (1, -1))
        right += np.allclose(checker.gradient(row), (up.distance - down.distance) / (2 * step), atol=2e-4)
    assert right >= len(q) - 1


def test_changed_checker_equals_new_checker():
    robot = Robot.from_urdf(*PANDA)
    q = drawn(robot, 150, 14)
    checker = Checker(robot, {"post": AROUND["post"], "points": SOLIDS["points"]}, margin=0.01)
    checker.set_margin("post", None, 0.05)
    before = checker.free(q)
    changed = checker.copy()
    changed.add("ball", AROUND["ball"][0])
    changed.move("ball", AROUND["ball"][1])
    changed.move("post", at(0.3, -0.4, 0.3))
    changed.move("points", at(-0.2, 0.7, 0.3))
    changed.add("drum", *AROUND["drum"])
    changed.free(q)
    changed.move("drum", at(0.2, 0.2, 0.9))
    fresh = Checker(
        robot,
        {
            "ball": AROUND["ball"],
            "post": (AROUND["post"][0], at(0.3, -0.4, 0.3)),
            "points": (SOLIDS["points"][0], at(-0.2, 0.7, 0.3)),
            "drum": (AROUND["drum"][0], at(0.2, 0.2, 0.9)),
        },
        margin=0.01,
    )
    fresh.set_margin("post", None, 0.05)
    assert np.array_equal(changed.free(q), fresh.free(q))
    assert (changed.free(q) != before).any()
    assert changed.clearance(q).distance == pytest.approx(fresh.clearance(q).distance, abs=1e-10)
    changed.remove("post")
    fresh = Checker(robot, {name: (changed.shape(name), changed.pose(name)) for name in changed.objects}, margin=0.01)
    assert np.array_equal(changed.free(q), fresh.free(q))
    changed.add("post", *AROUND["post"])  # the margin of the removed object no longer applies
    fresh.add("post", *AROUND["post"])
    assert np.array_equal(changed.free(q), fresh.free(q))
    changed.margin = fresh.margin = 0.06
    assert np.array_equal(changed.free(q), fresh.free(q))
    assert checker.objects == ("post", "points")
    assert np.array_equal(checker.free(q), before)


def test_touching_pairs_of_removed_names_are_forgotten():
    robot = Robot.from_urdf(*PANDA)
    checker = Checker(robot)
    checker.attach(
        "cube", gk.Box((0.1, 0.1, 0.1)), "panda_hand", at(0, 0, 0.2), ["panda_leftfinger", "panda_rightfinger"]
    )
    checker.add("room", gk.Box((5, 5, 5)), touching=[*robot.links, "cube"])
    q = drawn(robot, 1, 1)[0]
    assert not any("room" in contact.pair for contact in checker.collisions(q))
    checker.detach("cube")
    checker.attach(
        "cube", gk.Box((0.1, 0.1, 0.1)), "panda_hand", at(0, 0, 0.2), ["panda_leftfinger", "panda_rightfinger"]
    )
    assert ("cube", "room") in [contact.pair for contact in checker.collisions(q)]


def test_checker_copies_scene():
    robot = Robot.from_urdf(*PANDA)
    scene = gk.Scene()
    for name, (shape, pose) in AROUND.items():
        scene.add(name, shape, pose, group=name, mask=())
    scene.add("floor", gk.Halfspace((0, 0, 1), -0.2))
    scene.add("rack", *SOLIDS["rack"])
    checker = Checker(robot, scene, touching=[("panda_link0", "floor")])
    q = drawn(robot, 100, 31)
    around = {**AROUND, "floor": gk.Halfspace((0, 0, 1), -0.2), "rack": SOLIDS["rack"]}
    expected = Checker(robot, around, touching=[("panda_link0", "floor")])
    assert np.array_equal(checker.free(q), expected.free(q))
    scene.remove("post")
    assert np.array_equal(checker.free(q), expected.free(q))


def test_sampled_motions_hit_bodies_and_attached_objects():
    robot = Robot.from_urdf(*PANDA)
    around = {**AROUND, "points": SOLIDS["points"], "dish": SOLIDS["dish"]}
    checker = Checker(robot, around)
    checker.attach("tool", *HELD["tool"][:1], "panda_hand", HELD["tool"][1], ["panda_leftfinger", "panda_rightfinger"])
    q = drawn(robot, 400, 50)
    q = q[checker.free(q)][:40]
    result = checker.motion_free(q[:-1], q[1:], resolution=0.3)
    for k, (a, b) in enumerate(itertools.pairwise(q)):
        count = int(np.ceil(np.abs(b - a).max() / 0.3))
        t = np.arange(count + 1)[:, None] / count
        free = checker.free((1 - t) * a + t * b)
        assert result.free[k] == free.all()
        if not free.all():
            assert result.hit[k] == np.argmin(free) / count
            assert result.pair[k] in [
                contact.pair for contact in checker.collisions((1 - result.hit[k]) * a + result.hit[k] * b)
            ]
    assert 0 < result.free.sum() < len(q) - 1
    assert {"tool", "points", "dish"} <= {name for pair in result.pair if pair for name in pair}


@pytest.mark.parametrize("value", [np.nan, np.inf, "wide", None, True])
def test_invalid_lengths_raise_with_argument_name(value):
    checker = Checker(Robot.example())
    with pytest.raises(gk.errors.ShapeError, match=rf"set_padding\('hand'\).*{value!r}"):
        checker.set_padding("hand", value)
    with pytest.raises(gk.errors.ShapeError, match=rf"set_margin\('post', 'hand'\).*{value!r}"):
        checker.set_margin("post", "hand", value)
    with pytest.raises(gk.errors.ShapeError, match=rf"set_margin\('post', None\).*{value!r}"):
        checker.set_margin("post", None, value)
    with pytest.raises(gk.errors.ShapeError, match=f"margin.*{value!r}"):
        checker.margin = value
    if value is not None:
        with pytest.raises(gk.errors.ShapeError, match=f"margin.*{value!r}"):
            checker.valid([0.0, 0.0], margin=value)
    assert checker.free([0.0, 0.0])


def test_half_space_with_far_pose_is_not_missed(rng):
    """The rotation is rounded to 2e-7. The error that remains turns the plane about a distant point."""
    robot = Robot.load(
        "<robot name='ball'><link name='base'/><link name='hand'><collision><geometry><sphere radius='0.5'/></geometry>"
        "</collision></link><joint name='x' type='prismatic'><parent link='base'/><child link='hand'/>"
        "<axis xyz='1 0 0'/><limit lower='-1' upper='1'/></joint></robot>"
    )
    floor = gk.Halfspace((0, 0, 1), 0)
    checker, touching, missed = Checker(robot, {"floor": floor}), 0, []
    for turn in naive.random_rotations(rng, 120):
        pose = np.eye(4)
        pose[:3, :3] = turn + rng.uniform(-2e-7, 2e-7, (3, 3))
        x, y, _ = pose_rows(pose)[0][0, :9].reshape(3, 3).T
        pose[:3, 3] = (x * rng.normal() + y * rng.normal()) * 10.0 ** rng.uniform(3, 8) - 0.5 * np.cross(x, y)
        checker.move("floor", pose)
        free = [checker.free([0.0]), checker.free([[0.0]])[0], not checker.collisions([0.0])]
        free += [checker.motion_free([0.0], [0.0]).free, checker.motion_free([0.0], [0.0], certify=True).free]
        touches = gk.collide(gk.Sphere(0.5), floor, None, pose)
        touching += touches
        missed += [(pose, free)] if touches and any(free) else []
    assert missed == []
    assert touching > 40
