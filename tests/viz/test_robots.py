"""Pictures and animations of robots: link poses, collision colours, and motions until the first hit."""

import base64
import itertools
import json
import re
import types

import numpy as np
import pytest
import trimesh
from example_results import pose
from message_checks import assert_names
from PIL import Image
from scipy.interpolate import CubicSpline, PchipInterpolator, PPoly, make_interp_spline
from test_page import browse
from test_show import color_at, picture, pixel_of, share

import gjk3d as gk
from gjk3d import viz
from gjk3d.errors import FileError, RobotError
from gjk3d.viz import page
from gjk3d.viz.colors import PALE
from gjk3d.viz.drawing import LINES, MARK, Style, camera_of
from gjk3d.viz.kinds import drawing_of, robots
from gjk3d.viz.kinds.robots import along, path_frames
from gjk3d.viz.motions import play_of_travel
from gjk3d.viz.page import _pieces
from tests.viz import messages

VERMILION, BLUE, GREY = (np.array(c) for c in ((213, 94, 0), (86, 180, 233), (168, 178, 189)))

# a post at the origin, a beam from it along x that turns about z, a hand at its end
TEXT = """<robot name="crane">
<link name="post"><collision><origin xyz="0 0 -0.5"/><geometry><box size="0.2 0.2 0.8"/></geometry></collision></link>
<link name="beam"><collision><origin xyz="0.5 0 0"/><geometry><box size="1 0.1 0.1"/></geometry></collision></link>
<link name="hand"><collision><origin xyz="0.1 0 0"/><geometry><box size="0.2 0.3 0.3"/></geometry></collision></link>
<joint name="turn" type="continuous"><parent link="post"/><child link="beam"/><axis xyz="0 0 1"/></joint>
<joint name="roll" type="continuous"><parent link="beam"/><child link="hand"/><origin xyz="1 0 0"/><axis xyz="1 0 0"/>
</joint></robot>"""
#: The hand hits the ball when the beam has turned by about 0.9 of a quarter turn.
BALL = (gk.Sphere(0.1), pose(0.1, 1.15, 0.0))
PATH = np.array([[0.0, 0.0], [0.7, 0.5], [np.pi / 2, 1.0]])
HAND_WITH_BALL = messages.PAIR.format("hand", "ball")


@pytest.fixture(scope="module")
def crane(tmp_path_factory):
    path = tmp_path_factory.mktemp("crane") / "crane.urdf"
    path.write_text(TEXT)
    return gk.robot.Robot.from_urdf(path)


@pytest.fixture
def checker(crane):
    return gk.robot.Checker(crane, {"ball": BALL, "floor": (gk.Halfspace((0, 0, 1), -3.0), None)})


def named(drawing, name):
    return [item for item in drawing.items if item.name == name]


# --- one configuration ------------------------------------------------------------------------------------------------


def test_links_have_poses_of_robot(crane):
    q = (0.4, 1.1)
    drawing = drawing_of(crane, q=q)
    poses = crane.link_poses(q)
    for k, name in enumerate(crane.links):
        (item,) = named(drawing, name)
        middle = {"post": (0, 0, -0.5), "beam": (0.5, 0, 0), "hand": (0.1, 0, 0)}[name]
        np.testing.assert_allclose(item.vertices.mean(axis=0), (poses[k] @ (*middle, 1))[:3], atol=1e-12)
    assert {item.color for item in drawing.items} == set(robots.LINKS)


def test_free_configuration_shows_closest_points(checker):
    drawing = drawing_of(checker, q=(0.9, 0.0))
    near = checker.clearance((0.9, 0.0))
    assert near.pair == ("hand", "ball")
    assert robots.HIT not in {item.color for item in drawing.items}
    rod, *balls = [item for item in drawing.items if item.look == MARK]
    for end, point in zip(balls, (near.point_a, near.point_b), strict=True):
        np.testing.assert_allclose(end.vertices.mean(axis=0), point, atol=1e-9)
    middle = (rod.vertices.max(axis=0) + rod.vertices.min(axis=0)) / 2
    np.testing.assert_allclose(middle, (near.point_a + near.point_b) / 2, atol=1e-9)
    assert_names(drawing.words[-1], messages.CLOSEST.format("hand", "ball"), f"{near.distance:.4g} m")
    assert [label.text for label in drawing.labels] == ["hand - ball"]


def test_colliding_objects_are_vermilion_and_named(checker):
    drawing = drawing_of(checker, q=(np.pi / 2 - 0.1, 0.0))
    assert {item.name for item in drawing.items if item.color == robots.HIT and item.name} == {"hand", "ball"}
    assert drawing.words[-1].startswith(messages.COLLISION.format(HAND_WITH_BALL, ""))
    free = drawing_of(checker, q=(0.0, 0.0))
    assert {item.name for item in free.items if item.color == robots.HIT} == set()


def test_caption_lists_as_many_pairs_as_fit():
    ends = (np.zeros(3), np.ones(3))
    pairs = tuple((f"link_number_{k}", "a wall") for k in range(5))
    words = robots.words_for(robots.State(pairs, -0.25, -0.25, -0.25, pairs[0], ends))
    expected = messages.AND_PAIRS.format(messages.PAIR.format("link_number_0", "a wall"), 4)
    assert words == messages.COLLISION.format(expected, "0.25 m")
    long = (("x" * 60, "y"), ("a", "b"))
    words = robots.words_for(robots.State(long, -0.25, -0.25, -0.25, long[0], ends))
    expected = messages.AND_A_PAIR.format(messages.PAIR.format("x" * 60, "y"))
    assert words == messages.COLLISION.format(expected, "0.25 m")
    short = tuple((f"l{k}", "w") for k in range(4))
    words = robots.words_for(robots.State(short, -1.0, -1.0, -1.0, short[0], ends))
    expected = ", ".join(messages.PAIR.format(*pair) for pair in short)
    assert words == messages.COLLISION.format(expected, "1 m")


def test_pair_within_margin_is_not_a_collision(checker):
    checker.margin = 0.05
    (q,) = [q for q in np.linspace((1.0, 0), (1.4, 0), 400) if 0.01 < checker.clearance(q).distance < 0.012][:1]
    drawing = drawing_of(checker, q=q)
    assert drawing.words[-1].startswith(messages.TOO_CLOSE.format(HAND_WITH_BALL, 0.01))


@pytest.mark.full
def test_colliding_link_has_vermilion_pixels(checker):
    for q, color in (((0.0, 0.0), BLUE), ((np.pi / 2 - 0.1, 0.0), VERMILION)):
        image, plotter = picture(checker, q=q, labels=False)
        # the upper face of the hand, clear of the marks
        hand = checker.robot.link_poses(q)[2]
        pixel = color_at(image, plotter, (hand @ (0.03, -0.08, 0.15, 1))[:3])
        cosine = pixel @ color / np.linalg.norm(pixel) / np.linalg.norm(color)
        assert cosine > 0.97, (q, pixel)
        plotter.close()


def test_only_last_of_several_configurations_is_opaque(checker):
    q = np.linspace((0.0, 0.0), (np.pi / 2 - 0.1, 0.0), 30)
    drawing = drawing_of(checker, q=q)
    hands = named(drawing, "hand")
    assert len(hands) == robots.MOST_GHOSTS
    assert [item.color == robots.HIT for item in hands] == [False] * 8 + [True]
    alphas = [item.opacity for item in hands]
    assert alphas == sorted(alphas)
    assert alphas[-2] < 0.3 < alphas[-1] == 1.0
    np.testing.assert_allclose(hands[-1].vertices.mean(axis=0), (1.1 * np.cos(q[-1, 0]), 1.1 * np.sin(q[-1, 0]), 0),
                               atol=1e-12)  # fmt: skip
    assert "30 configurations" in drawing.words[1]


def test_attached_objects_move_with_their_link(checker):
    checker.attach("load", gk.Box((0.1, 0.1, 0.1)), "hand", pose(0.3, 0, 0), touch_links=["hand"])
    q = (0.8, 0.3)
    (load,) = named(drawing_of(checker, q=q), "load")
    np.testing.assert_allclose(load.vertices.mean(axis=0), (1.3 * np.cos(0.8), 1.3 * np.sin(0.8), 0), atol=1e-12)


def test_focus_ignores_large_surroundings(crane):
    near, far = ({"wall": (gk.Box((size, 1, size)), pose(0, size / 2, 0))} for size in (1, 100))
    assert robots.draw_robot(gk.robot.Checker(crane, near), Style()).focus is None
    _, radius = robots.draw_robot(gk.robot.Checker(crane, far), Style()).focus
    assert radius < 10.0


@pytest.mark.full
def test_robot_fills_picture_in_large_surroundings(crane):
    hall = gk.robot.Checker(crane, {"wall": (gk.Box((100, 1, 100)), pose(0, 50, 0))})
    image, plotter = picture(hall, q=(0.0, 0.0))
    assert share(image, BLUE) > 0.02
    rows, columns = np.transpose([pixel_of(plotter, point) for point in ((1.2, 0, 0), (0, 0, -0.9))])
    assert abs(rows[1] - rows[0]) + abs(columns[1] - columns[0]) > 150
    plotter.close()


# --- motions ----------------------------------------------------------------------------------------------------------


def travel(checker, path, moving=None, certify=False, resolution=0.05, frames=60, link=None):
    way = path_frames(checker, path, moving, certify, resolution, frames)
    return robots.travel(checker, way, -1 if link is None else checker.robot.link_number(link))


def test_travel_moves_evenly_until_hit(checker):
    result = travel(checker, PATH, resolution=0.001, frames=25)
    expected = checker.path_free(PATH, resolution=0.001)
    assert expected.edge == 1
    assert result.way.where[-1] == messages.ON_EDGE.format(2, 2, 2, 3)
    np.testing.assert_allclose(result.way.q[0], PATH[0], atol=1e-12)
    np.testing.assert_allclose(result.way.q[-1], expected.configuration, atol=1e-12)
    steps = np.abs(np.diff(result.way.q, axis=0)).max(axis=1)
    # even steps of the joint that moves most, except at the waypoint
    assert np.ptp(np.delete(steps, result.way.where.index(result.way.where[-1]) - 1)) < 1e-9
    assert result.way.where == sorted(result.way.where)
    assert [bool(state.pairs) for state in result.states] == [False] * 24 + [True]
    assert result.states[-1].hit == {"hand", "ball"}
    np.testing.assert_allclose(result.trace, result.poses[:, 2, :3, 3])
    assert result.way.verdict == messages.COLLISION_ON.format(2, 2, HAND_WITH_BALL)


def test_caption_names_robot_and_configuration(checker):
    assert drawing_of(checker.robot).words == [messages.ROBOT_AT.format("crane", 3, 2, "(0, 0)")]
    words = drawing_of(checker, q=[0.25, -1.0]).words
    assert words[0] == messages.ROBOT_AT.format("crane", 3, 2, "(0.25, -1)")
    assert_names(words[1], messages.CLOSEST.format("post", "hand"), " 0.8")
    assert drawing_of(travel(checker, PATH[:2], frames=3)).words == [
        messages.ROBOT.format("crane", 3, 2),
        messages.FREE_SAMPLES,
    ]


def test_camera_avoids_objects_that_hide_the_collision(checker):
    q = checker.path_free(PATH).configuration
    usual = drawing_of(checker, q=q)
    np.testing.assert_array_equal(usual.view, robots.VIEW)
    (place, _), eye = robots.state_of(checker, q).points, camera_of(usual).eye
    wall, at = gk.Box((0.3, 0.3, 0.3)), pose(*(place + 0.2 * (eye - place)))
    checker.add("wall", wall, at)
    turned = camera_of(drawing_of(checker, q=q)).eye
    assert gk.raycast(wall, place, eye - place, at).hit
    assert not gk.raycast(wall, place, turned - place, at).hit
    free = drawing_of(checker, q=[0.0, 0.0])
    np.testing.assert_array_equal(free.view, robots.VIEW)


def test_travel_of_free_path_reaches_its_end(checker):
    result = travel(checker, PATH[:2], frames=7, link="beam")
    np.testing.assert_allclose(result.way.q[-1], PATH[1], atol=1e-12)
    assert result.way.verdict == messages.FREE_SAMPLES
    proven = travel(checker, PATH[:2], certify=True, frames=2)
    assert proven.way.verdict == messages.FREE_PROVEN
    np.testing.assert_allclose(result.trace, 0.0, atol=1e-12)  # the origin of the beam does not move
    still = travel(checker, [PATH[0], PATH[0]], frames=3)
    np.testing.assert_array_equal(still.way.q, np.repeat(PATH[:1], 3, axis=0))
    single = travel(checker, PATH[:1], frames=3)
    np.testing.assert_array_equal(single.way.q, still.way.q)
    assert single.way.verdict == messages.FREE_WAYPOINT
    assert set(single.way.where) == {messages.AT_WAYPOINT}


KNOTS = np.array([1.0, 2.0, 4.0])
RUNS = {
    "CubicSpline": CubicSpline(KNOTS, PATH),
    "BSpline": make_interp_spline(KNOTS, PATH, k=2),
    "PPoly": PPoly(PchipInterpolator(KNOTS, PATH).c, KNOTS),
    "waypoints with times": gk.robot.Trajectory(PATH, KNOTS),
}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_travel_of_trajectory_moves_evenly_until_hit(checker, run):
    result = travel(checker, run, certify=True, frames=9)
    expected = checker.trajectory_free(run, certify=True)
    times = np.linspace(1.0, expected.hit, 9)
    wanted = np.array([run.at(t) if isinstance(run, gk.robot.Trajectory) else run(t) for t in times])
    np.testing.assert_allclose(result.way.q, wanted, atol=1e-9)
    assert result.way.verdict == messages.COLLISION_AT.format(f"{expected.hit:.6g}", HAND_WITH_BALL)
    assert [bool(state.pairs) for state in result.states] == [False] * 8 + [True]
    assert result.way.where[0] == messages.AT_TIME.format(1, 1, 4)
    free = travel(checker, gk.robot.Trajectory(PATH[:2], KNOTS[:2]), frames=3)
    assert (free.way.free, free.way.verdict) == (True, messages.FREE_TIMES.format(1, 2))
    np.testing.assert_allclose(free.way.q[1], PATH[:2].mean(axis=0), atol=1e-12)


def test_travel_moves_obstacles(checker, tmp_path):
    still = gk.robot.Trajectory([PATH[0], PATH[0]], [0.0, 10.0])
    moving = {
        "ball": gk.Motion.translation(BALL[1], (1.1, 0.0, 0.0)),
        "crate": gk.Motion.translation(pose(3, 3, 0), (0, 1, 0)),
    }
    belt = checker.copy()
    belt.add("crate", gk.Box((0.2, 0.2, 0.2)), pose(3, 3, 0))
    result = travel(belt, still, moving=moving, frames=6)
    assert (result.way.free, result.way.moved.keys()) == (True, moving.keys())
    for name, motion in moving.items():
        np.testing.assert_allclose(result.way.moved[name], motion.at(np.linspace(0, 1, 6)), atol=1e-12)
    # each state equals that of a checker with the ball at that pose
    for k in range(6):
        belt.move("ball", moving["ball"].at(k / 5))
        assert result.states[k].distance == pytest.approx(belt.clearance(PATH[0]).distance, abs=1e-9)
    np.testing.assert_array_equal(checker.pose("ball"), BALL[1])
    file = viz.motion(belt, still, tmp_path / "belt.html", moving=moving, frames=6)
    scene = json.loads(file.read_text(encoding="utf-8").partition('id="scene">')[2].partition("</script>")[0])
    assert {body["name"] for body in scene["items"] if "frames" in body} == {"post", "beam", "hand", "ball", "crate"}
    with pytest.raises(RobotError, match=r"moving.*gjk3d\.robot\.Trajectory\(path, times\)"):
        viz.motion(belt, PATH, tmp_path / "belt.html", moving=moving)
    with pytest.raises(RobotError, match=r"ufunc.*scipy"):
        viz.motion(belt, np.sin, tmp_path / "belt.html")
    with pytest.raises(RobotError, match=r"\b3\b.*'crane'.*\b2\. Pass a trajectory of this robot$"):
        viz.motion(belt, CubicSpline(KNOTS, np.zeros((3, 3))), tmp_path / "belt.html")


def test_frames_include_every_waypoint():
    points = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, 2.0]])
    q, edge = along(points, 7)
    np.testing.assert_allclose(q, [[0, 0], [0.5, 0], [1, 0], [1, 0.5], [1, 1], [1, 1.5], [1, 2]], atol=1e-12)
    assert edge.tolist() == [0, 0, 2, 2, 2, 2, 2]


@pytest.mark.full
def test_motion_picture_shows_path_of_hand(checker, tmp_path):
    result = travel(checker, PATH, frames=40)
    drawing = drawing_of(result, Style())
    (line,) = [item for item in drawing.items if item.look == LINES]
    np.testing.assert_allclose(line.vertices.reshape(-1, 2, 3)[:, 0], result.trace[:-1])
    assert (f"path of {checker.robot.links[-1]}", line.color) in drawing.keys  # the last link, whichever links collide
    assert line.color not in (robots.HIT, *robots.LINKS)
    assert len(named(drawing, "hand")) > 3
    file = viz.motion(checker, PATH, tmp_path / "motion.png", frames=20)
    image = np.asarray(Image.open(file).convert("RGB")).astype(float)
    assert share(image, VERMILION) > 0.003
    assert share(image, BLUE) > 0.02


@pytest.mark.full
def test_gif_moves_and_ends_in_collision_color(checker, tmp_path):
    file = viz.motion(checker, PATH, tmp_path / "motion.gif", frames=6, fps=10, title="A crane")
    with Image.open(file) as gif:
        assert gif.n_frames == 6
        frames, times = [], []
        for k in range(6):
            gif.seek(k)
            times.append(gif.info["duration"])
            frames.append(np.asarray(gif.convert("RGB")).astype(float))
        assert gif.info["loop"] == 0
    assert times == [100] * 5 + [1500]
    green = np.array([0, 158, 115])  # the path of the hand while it is free, which covers few pixels
    assert (np.abs(frames[4] - green).max(axis=2) < 12).mean() > 0.0005
    reds = [share(image, VERMILION) for image in frames]
    assert max(reds[:-1]) < 0.0002 < 0.005 < reds[-1]
    for image, after in itertools.pairwise(frames):
        assert np.mean(np.abs(image - after).max(axis=2) > 30) > 0.005
    # the camera does not move, so the static post keeps its pixels
    result = travel(checker, PATH, frames=6)
    from gjk3d.viz.motions import Stage

    stage = Stage(play_of_travel(result, "A crane"))
    stage.go(0)
    row, column = (round(float(x)) for x in pixel_of(stage.plotter, (0.05, -0.1, -0.6)))
    stage.plotter.close()
    spots = [image[row - 2 : row + 3, column - 2 : column + 3].mean(axis=(0, 1)) for image in frames]
    assert np.ptp(spots, axis=0).max() < 12
    assert spots[0] @ BLUE / np.linalg.norm(spots[0]) / np.linalg.norm(BLUE) > 0.97


@pytest.mark.full
def test_stage_moves_links_and_attached_objects(checker):
    from gjk3d.viz.motions import Stage

    checker.attach("load", gk.Box((0.1, 0.1, 0.1)), "hand", pose(0.3, 0, 0), touch_links=["hand"])
    result = travel(checker, PATH[:2], frames=3)
    stage = Stage(play_of_travel(result, ""))
    try:
        stage.go(2)
        shown = zip(stage.movers, stage.actors, strict=True)
        matrices = {mover.name: np.asarray(actors[0].user_matrix) for mover, actors in shown}
        for name, number in {"post": 0, "beam": 1, "hand": 2}.items():
            np.testing.assert_allclose(matrices[name], result.poses[2, number])
        np.testing.assert_allclose(matrices["load"], result.poses[2, 2] @ pose(0.3, 0, 0))
        for name in ("ball", "floor"):
            np.testing.assert_array_equal(matrices[name], np.eye(4))
    finally:
        stage.plotter.close()


def test_motion_page_contains_every_pose(checker, tmp_path):
    checker.attach("load", gk.Box((0.1, 0.1, 0.1)), "hand", pose(0.3, 0, 0), touch_links=["hand"])
    file = viz.motion(checker, PATH[:2], tmp_path / "motion.html", frames=5, title="<crane>")
    text = file.read_text(encoding="utf-8")
    assert "<title>&lt;crane&gt; – crane</title>" in text
    assert "default-src 'none'" in text
    scene = json.loads(text.partition('id="scene">')[2].partition("</script>")[0])
    result = travel(checker, PATH[:2], frames=5)
    assert [body["name"] for body in scene["items"]] == ["post", "beam", "hand", "load", "ball", "floor"]
    center, size = play_of_travel(result, "").whole.ball
    for name, link, local in (("beam", 1, (0.3, 0.2, 0.1)), ("load", 2, (0.03, 0.02, 0.01))):
        body = next(body for body in scene["items"] if body["name"] == name)
        columns = np.frombuffer(base64.b64decode(body["frames"]), "<f4").reshape(5, 4, 4)
        at = pose(0.3, 0, 0) if name == "load" else np.eye(4)
        for matrix, link_pose in zip(columns, result.poses[:, link], strict=True):
            shown = (matrix.T @ (*np.divide(local, size), 1))[:3] * size + center
            np.testing.assert_allclose(shown, (link_pose @ at @ (*local, 1))[:3], atol=1e-6)
    for state, wanted in zip(scene["states"], result.states, strict=True):
        assert state["words"] == robots.words_for(wanted)
        np.testing.assert_allclose(np.array(state["ends"]) * size + center, wanted.points, atol=1e-12)


@pytest.mark.full
def test_motion_page_plays_in_a_browser(checker, tmp_path):
    file = viz.motion(checker, PATH, tmp_path / "motion.html", frames=6)
    reds = []
    for k in (0, 5):
        address = types.SimpleNamespace(as_uri=lambda k=k: f"{file.as_uri()}#{k}")
        complaints, _ = browse(address, tmp_path, f"--screenshot={tmp_path / 'page.png'}")
        assert complaints == []
        image = np.asarray(Image.open(tmp_path / "page.png").convert("RGB")).astype(float)[80:560]
        reds.append(share(image, VERMILION))
        assert share(image, BLUE) > 0.005
    assert reds[0] < 0.0002 < 0.003 < reds[1]
    _, dom = browse(file, tmp_path, "--dump-dom")
    assert 'data-state="drawn"' in dom
    _, dom = browse(types.SimpleNamespace(as_uri=lambda: f"{file.as_uri()}#5"), tmp_path, "--dump-dom")
    assert 'data-at="5"' in dom
    assert f'<p id="state" class="hit">{messages.COLLISION.format(HAND_WITH_BALL, "")}' in dom


@pytest.mark.parametrize(
    ("target", "error", "message"),
    [
        ("m.avi", ValueError, r"'\.avi'.*\.gif"),
        ("none/m.gif", FileError, r"none/m\.gif.*none"),
        (".", FileError, "folder"),
    ],
)
def test_invalid_targets_raise_before_drawing(checker, tmp_path, target, error, message):
    with pytest.raises(error, match=message):
        viz.motion(checker, "no path at all", tmp_path / target)


def test_invalid_motions_raise(checker):
    with pytest.raises(TypeError, match=r"'arm\.html'.*path of the robot.*file as target="):
        viz.motion(checker, path="arm.html")
    with pytest.raises(TypeError, match=r"target is a list.*file.*path="):
        viz.motion(checker, PATH, target=[[0.0]])
    with pytest.raises(RobotError, match=r"frames.*\b1\b.*\b2$"):
        viz.motion(checker, PATH, frames=1)
    with pytest.raises(RobotError, match=r"'crane'.*'claw'.*'post', 'beam', 'hand'"):
        viz.motion(checker, PATH, link="claw")
    with pytest.raises(RobotError, match=r"path.*\(2, 3\).*turn, roll"):
        viz.motion(checker, np.zeros((2, 3)))


def test_motion_title_contains_robot_name(checker):
    play = play_of_travel(travel(checker, PATH), "Over the wall")
    assert play.title == "Over the wall – crane"
    assert ("crane", robots.LINKS[0]) in play.keys
    assert play_of_travel(travel(checker, PATH), None).title == "crane"


def test_robot_page_contains_kinematics_and_pieces(checker, tmp_path):
    text = viz.show(checker, q=(0.3, 0.0), path=tmp_path / "crane.html", title="A cell").read_text(encoding="utf-8")
    scene = json.loads(re.search(r'id="scene">(.*?)</script>', text, re.DOTALL)[1])
    robot, cell = scene["robot"], checker._cell()
    assert robot["q"] == [0.3, 0.0]
    assert {tuple(pair[:2]) for pair in robot["pairs"]} == set(cell.names)
    assert {piece["name"] for piece in robot["pieces"]} == {name for pair in cell.names for name in pair}
    assert [item["link"] for item in scene["items"] if "link" in item]
    assert [text.count(f'id="joint-{k}"') for k in range(3)] == [1, 1, 0]
    assert "A cell" in text
    assert "crane: 3 links" in text


def test_pieces_of_nonconvex_body_contain_it(rng):
    ring = gk.Mesh.from_trimesh(trimesh.creation.torus(1.0, 0.2))
    place = pose(1, 2, 3)
    pieces = [piece["points"] for piece in _pieces(ring, place)]
    boxes = np.array([(points.min(axis=0) - 1e-5, points.max(axis=0) + 1e-5) for points in pieces])
    vertices = ring.vertices + place[:3, 3]
    assert ((vertices[:, None] >= boxes[:, 0]) & (vertices[:, None] <= boxes[:, 1])).all(axis=2).any(axis=1).all()
    assert not ((place[:3, 3] >= boxes[:, 0]) & (place[:3, 3] <= boxes[:, 1])).all(axis=1).any()  # the hole is empty


def test_robot_page_limits_pieces_and_pairs(checker, tmp_path, rng, monkeypatch):
    balls = gk.Compound([(gk.Sphere(0.1), pose(*rng.uniform(5, 9, 3))) for _ in range(500)])
    robot = page_of(gk.robot.Checker(checker.robot, {"pile": balls}), tmp_path)
    (pile,) = {len([piece for piece in robot["pieces"] if piece["name"] == "pile"])}
    assert 1 < pile <= 64
    assert "1 shape" in robot["note"]
    boxes = [
        np.frombuffer(base64.b64decode(piece["points"]), "<f4").reshape(-1, 3)
        for piece in robot["pieces"]
        if piece["name"] == "pile"
    ]
    for part, place in balls.parts:  # each ball is inside one of the boxes
        center = place[:3, 3]
        assert any(
            (center - part.radius >= box.min(axis=0) - 1e-5).all()
            and (center + part.radius <= box.max(axis=0) + 1e-5).all()
            for box in boxes
        )
    monkeypatch.setattr(page, "_MOST_ROWS", 100)
    many = {f"ball_{k}": (gk.Sphere(0.05), pose(0.1 * k + 3, 0, 0)) for k in range(120)}
    robot = page_of(gk.robot.Checker(checker.robot, many), tmp_path)
    assert 50 < len(robot["pairs"]) <= 100
    assert f"the {len(robot['pairs'])} pairs of" in robot["note"]
    numbers = {int(name[5:]) for pair in robot["pairs"] for name in pair[:2] if name.startswith("ball")}
    assert min(numbers) == 0
    assert page_of(checker, tmp_path)["note"] == ""


def page_of(checker, folder):
    """Return the robot data of a page."""
    text = viz.show(checker, path=folder / "robot.html").read_text(encoding="utf-8")
    return json.loads(re.search(r'id="scene">(.*?)</script>', text, re.DOTALL)[1])["robot"]


def test_robot_page_has_background_and_one_legend_entry(checker, tmp_path):
    source = viz.show(checker, path=tmp_path / "arm.html", background="#102040").read_text()
    assert '"background":"#102040"' in source
    assert f'"ink":"{PALE}"' in source
    assert source.count("closest points</label>") == 1


def test_tip_path_is_that_of_the_longest_chain(tmp_path):
    (tmp_path / "tree.urdf").write_text(TREE)
    robot = gk.robot.Robot.from_urdf(tmp_path / "tree.urdf")
    assert robot.links[-1] == "base"
    target = viz.motion(gk.robot.Checker(robot), [[0.0, 0.0], [0.5, 0.5]], tmp_path / "tree.html", frames=2)
    assert "path of hand" in target.read_text()


TREE = """<robot name="tree">
<link name="root"/>
<link name="arm"><collision><geometry><box size="1 .1 .1"/></geometry></collision></link>
<link name="hand"><collision><geometry><box size=".2 .2 .2"/></geometry></collision></link>
<link name="base"/>
<joint name="shoulder" type="continuous"><parent link="root"/><child link="arm"/><axis xyz="0 0 1"/></joint>
<joint name="wrist" type="continuous"><parent link="arm"/><child link="hand"/><origin xyz="1 0 0"/></joint>
<joint name="foot" type="fixed"><parent link="root"/><child link="base"/></joint>
</robot>"""


def test_motion_accepts_picture_options(checker, tmp_path):
    path, target = [[0, 0], [0.2, 0.1]], tmp_path / "m.html"
    source = viz.motion(checker, path, target, frames=2, view="xy", background="#102040").read_text()
    assert '"background":"#102040"' in source
    assert f'"ink":"{PALE}"' in source
    assert '"up":[0.0,1.0,0.0]' in source
    gif = viz.motion(checker, path, tmp_path / "m.gif", frames=2, size=(320, 200), background="#102040")
    with Image.open(gif) as image:
        assert image.size == (320, 200)
        assert image.convert("RGB").getpixel((319, 0)) == (16, 32, 64)
    for options, message in (
        ({"path": "m.html"}, "Pass the file to write as target="),
        ({"filename": "m.html"}, "'filename'. Use target="),
        ({"bg": "red"}, "'bg'. Use background="),
        ({"frame": 3}, "Did you mean 'frames'"),
    ):
        with pytest.raises(TypeError, match=re.escape(message)):
            viz.motion(checker, path, **options)
