"""Pictures of contacts, impacts, rays, axes, gradients, bounding volumes, poses and scenes."""

from dataclasses import replace

import numpy as np
import pytest
from example_results import pose
from message_checks import assert_names
from test_show import GREEN, ORANGE, color_at, is_shade, picture, pixel_of, share

import gjk3d as gk
from gjk3d.bodies.bvh import boxes_at
from gjk3d.viz import paint
from gjk3d.viz.drawing import BODY, DOTS, LINES, MARK, Style, ready
from gjk3d.viz.kinds import drawing_of
from tests.viz import messages

BLUE, VERMILION = np.array([0, 114, 178]), np.array([213, 94, 0])


def of(drawing, look, color=None):
    """Return the items of a look, with merged copies as separate items."""
    items = [item for item in drawing.items if item.look == look and (color is None or item.color == color)]
    return [
        replace(item, vertices=part, faces=item.faces[: len(item.faces) // item.copies], copies=1)
        for item in items
        for part in np.split(item.vertices, item.copies)
    ]


def alike(color, wanted):
    return color @ wanted / np.linalg.norm(color) / np.linalg.norm(wanted)


# --- contact ------------------------------------------------------------------------------------------------------


@pytest.mark.full
def test_every_contact_point_is_marked():
    touch = gk.contact(gk.Box((2, 2, 1)), gk.Box((2, 2, 1)), None, pose(0.5, 0.3, 1))
    assert touch.count == 4
    drawing = drawing_of(touch)
    for point in touch.points:
        near = [item for item in of(drawing, MARK) if np.linalg.norm(item.vertices.mean(axis=0) - point) < 1e-6]
        assert len(near) == 1
    assert drawing.words == [messages.TOUCHING_POINTS.format(4)]
    image, plotter = picture(touch)
    assert image.std() > 5.0
    for point in touch.points:
        assert color_at(image, plotter, point).max() < 90  # nearly black
    assert share(image, ORANGE) > 0.02
    assert share(image, GREEN) > 0.02
    plotter.close()
    colors = [color for _, color in drawing.keys]
    assert len(set(colors)) == len(colors)


def test_different_gaps_are_labelled_at_their_points():
    touch = gk.contact(gk.Box((2, 2, 1)), gk.Box((2, 1.2, 1)), None, pose(0.5, 0.2, 0.97, (0.02, 0.03, 0.4)))
    drawing = drawing_of(touch)
    assert len(drawing.labels) == touch.count == 4
    for label, gap, point in zip(drawing.labels, touch.gaps, touch.points, strict=True):
        assert float(label.text) == pytest.approx(gap, abs=1e-4)
        np.testing.assert_allclose(label.point, point)
    assert_names(drawing.words[0], "4 ", "gap -0.05")


def test_no_contact_is_drawn_and_stack_raises():
    poses = np.stack([pose(3, 0, 0), pose(1, 0, 0)])
    stack = gk.contact(gk.Sphere(1), gk.Sphere(1), None, poses)
    with pytest.raises(TypeError, match=r"\b2\b.*contact\[0\]"):
        drawing_of(stack)
    assert drawing_of(stack[0]).words[0].startswith(messages.NO_POINTS)
    assert_names(drawing_of(stack[1]).words[0], "1 ", "gap -1")


# --- impact -------------------------------------------------------------------------------------------------------


@pytest.mark.full
def test_impact_shows_path_and_first_contact():
    motion = gk.Motion(pose(-3, 0.3, 0.2), (5, 0, 0.5), (0.5, 2.5, 0))
    hit = gk.time_of_impact(gk.Box((0.6, 0.4, 0.4)), gk.Cylinder(0.7, 1.6), motion, None)
    assert 0.3 < hit.free_until < 0.5
    drawing = drawing_of(hit, ghosts=5)
    boxes = of(drawing, BODY, "#E69F00")
    assert len(boxes) == 6
    wanted = [motion.at(t)[:3, 3] for t in (*np.linspace(0, hit.free_until, 5, endpoint=False), hit.free_until)]
    np.testing.assert_allclose([b.vertices.mean(axis=0) for b in boxes], wanted, atol=1e-9)
    assert all(ghost.opacity < 0.3 for ghost in boxes[:-1])
    assert boxes[-1].opacity > 0.8
    assert len(of(drawing, BODY, "#009E73")) == 1  # the cylinder does not move
    image, plotter = picture(hit)
    assert is_shade(color_at(image, plotter, motion.at(hit.free_until / 2)[:3, 3]), ORANGE)  # the track
    assert color_at(image, plotter, (hit.point_a + hit.point_b) / 2).max() < 110  # the contact point is dark
    plotter.close()


def test_captions_of_impacts():
    ball, wall = gk.Sphere(0.5), gk.Halfspace((0, 0, 1), 0.0)
    down = gk.Motion.translation(pose(0, 0, 2), (0, 0, -2))
    assert drawing_of(gk.time_of_impact(ball, wall, down)).words[0] == messages.FIRST_CONTACT.format(0.75)
    up = gk.Motion.translation(pose(0, 0, 2), (1, 0, 1))
    assert drawing_of(gk.time_of_impact(ball, wall, up)).words[0] == messages.FREE_MOTION
    inside = gk.Motion.translation(pose(0, 0, 0.1), (1, 0, 1))
    assert drawing_of(gk.time_of_impact(ball, wall, inside)).words[0] == messages.CLOSE_AT_START
    stack = gk.time_of_impact(ball, ball, gk.Motion(None, np.ones((2, 3))), pose(3, 3, 3))
    with pytest.raises(TypeError, match=r"impact\[0\]"):
        drawing_of(stack)


# --- rays ---------------------------------------------------------------------------------------------------------


@pytest.mark.full
def test_rays_end_at_hits_and_continue_at_misses():
    origins = np.array([(-3.0, 0, 0), (-3.0, 0, 0.5), (-3.0, 0, 2.0)])
    ball = gk.Sphere(1.0)
    hit = gk.raycast(ball, origins, (2, 0, 0))
    drawing = drawing_of(hit, Style(), of=ball)
    blue, grey = of(drawing, MARK, "#0072B2"), of(drawing, MARK, "#A8B2BD")
    ends = sorted(item.vertices[:, 0].max() for item in blue if np.ptp(item.vertices[:, 0]) > 1)
    np.testing.assert_allclose(ends, [-1.0, -np.sqrt(0.75)], atol=1e-6)
    assert max(item.vertices[:, 0].max() for item in grey) > 1.0
    assert drawing.words[0] == messages.RAYS.format(2, 3)
    image, plotter = picture(hit, of=ball)
    assert alike(color_at(image, plotter, (-1, 0, 0)), VERMILION) > 0.9
    row, column = (int(float(x)) for x in pixel_of(plotter, (-2, 0, 0.5)))
    patch = image[row - 3 : row + 4, column - 3 : column + 4].reshape(-1, 3)
    assert alike(patch[np.argmax(np.ptp(patch, axis=1))], BLUE) > 0.9  # the ray is a few pixels thick
    plotter.close()
    assert drawing_of(hit).words[0] == messages.RAYS.format(2, 3)  # the result contains its rays


def test_many_rays_are_drawn_as_lines():
    origins = np.stack([np.linspace(-2, 2, 500), np.full(500, -4.0), np.zeros(500)], axis=1)
    drawing = drawing_of(gk.raycast(gk.Box((2, 2, 2)), origins, (0, 1, 0)))
    hits, misses = of(drawing, LINES, "#0072B2")[0], of(drawing, LINES, "#A8B2BD")[0]
    assert len(hits.vertices) + len(misses.vertices) == 1000
    assert hits.vertices[1::2, 1] == pytest.approx(-1.0)
    starts, ends = of(drawing, DOTS)
    assert len(starts.vertices) == 500
    assert len(ends.vertices) == len(hits.vertices) // 2


# --- axis and gradient --------------------------------------------------------------------------------------------


@pytest.mark.full
def test_separating_axis_is_drawn_as_two_planes():
    a, b, place = gk.Box((1, 1, 1)), gk.Box((1, 0.6, 0.8)), pose(1.4, 0.3, 0.5, (0.5, 0.3, 0.7))
    axis = gk.separating_axis(a, b, None, place)
    assert axis.gap > 0.1
    drawing = drawing_of(axis, of=(a, b, None, place))
    tops = [float((item.vertices @ axis.normal).max()) for item in drawing.items if not item.framed]
    assert tops[0] == pytest.approx(0.5)  # the face of A
    assert tops[1] == pytest.approx(0.5 + axis.gap)
    image, plotter = picture(axis, of=(a, b, None, place))
    assert image.std() > 5.0
    assert share(image, BLUE) > 0.0005
    plotter.close()
    with pytest.raises(TypeError, match=r"of=\(a, b, pose_a, pose_b\)"):
        drawing_of(axis)


def test_gradient_arrows_start_at_the_poses():
    result = gk.signed_distance(gk.Box((2, 2, 2)), gk.Capsule(0.3, 1.2), None, pose(1.6, 0.3, 0.9, (0.9, 0.3, 0)))
    slope = gk.gradient(result)
    drawing = drawing_of(slope, of=result)
    shaft_a, _, shaft_b, _ = of(drawing, MARK, "#0072B2")
    along = shaft_b.vertices.mean(axis=0) - (1.6, 0.3, 0.9)
    np.testing.assert_allclose(along / np.linalg.norm(along), slope.b[:3], atol=1e-6)
    back = shaft_a.vertices.mean(axis=0)
    np.testing.assert_allclose(back / np.linalg.norm(back), slope.a[:3], atol=1e-6)
    assert drawing.words[1] == ("unique" if slope.unique else messages.KINK)


# --- volumes, trees, poses ----------------------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize("bound", [gk.aabb, gk.obb, gk.bounding_sphere])
def test_bounding_volume_is_drawn_around_its_shape(bound):
    hull = gk.ConvexHull(np.random.default_rng(5).normal(size=(30, 3)) * (1, 0.4, 0.2)).placed(
        pose(1, 2, 3, (0.3, 0.4, 0.5))
    )
    volume = bound(hull)
    drawing = drawing_of(volume, of=hull)
    box = drawing.items[-1].vertices
    if bound is gk.bounding_sphere:
        np.testing.assert_allclose(np.linalg.norm(box - volume.center, axis=1), volume.radius)
    else:
        lines = of(drawing, LINES)[0].vertices.reshape(-1, 2, 3)
        assert len(lines) == 12
        lengths = np.sort(np.linalg.norm(lines[:, 1] - lines[:, 0], axis=1))
        np.testing.assert_allclose(lengths, np.sort(np.repeat(volume.extents, 4)))
        np.testing.assert_allclose(np.unique(box.round(9), axis=0), np.unique(volume.corners.round(9), axis=0))
    image, plotter = picture(volume, of=hull)
    assert share(image, ORANGE) > 0.01
    assert share(image, BLUE) > 0.005
    plotter.close()


def test_stack_of_boxes_is_drawn():
    boxes = gk.AABB([(0, 0, 0), (3, 0, 0)], [(1, 1, 1), (4, 2, 1)])
    drawing = drawing_of(boxes)
    assert len(of(drawing, LINES)[0].vertices) == 2 * 12 * 2
    assert drawing.words == [messages.STACK_OF_BOXES.format(2)]
    np.testing.assert_allclose(drawing.framed.max(axis=0), (4, 2, 1))


def test_tree_levels_contain_the_mesh_and_get_finer():
    vertices, faces = gk.Sphere(1.0).surface(24)
    mesh = gk.Mesh(vertices, faces)
    volumes = []
    for level in (0, 3, 6):
        corners = boxes_at(mesh, level)
        assert len(corners) <= 2**level
        edges = corners[:, [4, 2, 1]] - corners[:, :1]
        lengths = np.linalg.norm(edges, axis=2)
        axes = edges / np.maximum(lengths, 1e-300)[:, :, None]
        local = np.einsum("nij,nptj->npti", axes, vertices[faces][None] - corners[:, None, None, 0])
        inside = ((local > -1e-9) & (local < lengths[:, None, None] + 1e-9)).all(axis=(2, 3))
        assert inside.any(axis=0).all()  # each triangle is inside one box
        volumes.append(lengths.prod(axis=1).sum())
    assert volumes[2] < 0.8 * volumes[0]
    drawing = drawing_of(mesh, level=3)
    assert sum(len(item.vertices) for item in of(drawing, LINES)) == 24 * len(boxes_at(mesh, 3))
    assert "8 boxes" in drawing.words[-1]
    with pytest.raises(TypeError, match=r"level=.*gjk3d\.Mesh.*Sphere"):
        drawing_of(gk.Sphere(1), level=1)


def test_poses_are_drawn_as_axes():
    place = pose(1, 2, 3, (0.1, 0.2, 0.3))
    drawing = drawing_of(np.stack([np.eye(4), place]), length=0.5)
    for k, color in enumerate(("#D55E00", "#009E73", "#0072B2")):
        tip = of(drawing, MARK, color)[-1].vertices
        far = tip[np.argmax(tip @ place[:3, k])]
        np.testing.assert_allclose(far, place[:3, 3] + 0.5 * place[:3, k], atol=1e-9)
    np.testing.assert_allclose(of(drawing, LINES)[0].vertices, [(0, 0, 0), (1, 2, 3)])
    with pytest.raises(TypeError, match=r"shape \(7, 3\)"):
        drawing_of(np.zeros((7, 3)))


# --- scene --------------------------------------------------------------------------------------------------------


def row_of_balls(count=4):
    scene = gk.Scene()
    for k in range(count):
        scene.add(f"ball {k}", gk.Sphere(0.6), pose(1.5 * k - (0.6 if k == 3 else 0), 0, 0))
    return scene


@pytest.mark.full
def test_colliding_objects_of_scene_are_vermilion():
    scene = row_of_balls()
    assert scene.collisions() == [("ball 2", "ball 3")]
    drawing = drawing_of(scene)
    colors = {item.name: item.color for item in of(drawing, BODY)}
    assert colors == {"ball 0": "#9DB4C8", "ball 1": "#9DB4C8", "ball 2": "#D55E00", "ball 3": "#D55E00"}
    assert drawing.words == [messages.PAIR_COLLIDES.format(4), "ball 2 – ball 3"]
    assert [label.text for label in drawing.labels] == scene.names
    image, plotter = picture(scene)
    hit, free = (color_at(image, plotter, (x, -0.5, -0.3)) for x in (3.0, 0.0))
    assert alike(hit, VERMILION) > 0.97
    assert np.ptp(free) < 60  # greyish
    plotter.close()


def test_captions_of_free_empty_and_margin_scenes():
    scene = row_of_balls(3)
    assert drawing_of(scene).words == [messages.NONE_COLLIDES.format(3)]
    assert drawing_of(scene, margin=0.35).words[0] == messages.PAIRS_WITHIN.format(2, 0.35, 3)
    assert drawing_of(gk.Scene()).words == [messages.NONE_COLLIDES.format(0)]


def test_large_scene_is_merged_into_few_items():
    scene = row_of_balls(60)
    drawing = drawing_of(scene, contacts=False)
    assert [item.look for item in drawing.items] == [BODY] * 2
    assert sum(item.copies for item in drawing.items) == 60
    low, high = drawing.framed.min(axis=0), drawing.framed.max(axis=0)
    np.testing.assert_allclose((low[0], high[0]), (-0.6, 59 * 1.5 + 0.6), atol=0.01)
    faces = max(item.faces.max() - len(item.vertices) for item in drawing.items)
    assert faces < 0


def test_crowded_scene_has_few_items_and_marks():
    rng = np.random.default_rng(1)
    scene = gk.Scene()
    shapes = (gk.Sphere(0.5), gk.Box((1, 1, 0.5)), gk.Capsule(0.2, 0.8))
    places = rng.uniform(0, 9, (600, 3))
    for k, place in enumerate(places):
        scene.add(f"o{k}", shapes[k % 3], pose(*place, rng.normal(size=3)))
    scene.add("floor", gk.Halfspace((0, 0, 1), 0.5))
    drawing = drawing_of(scene)
    hit = {name for pair in scene.collisions() for name in pair}
    assert 3 * len(hit) > 601
    assert len(drawing.items) < 12
    pale, free = (dict(drawing.keys)[text] for text in ("collides", "free"))
    count = {color: sum(item.copies for item in drawing.items if item.color == color) for color in (pale, free)}
    assert count == {pale: len(hit - {"floor"}), free: 600 - len(hit - {"floor"})}
    assert pale != "#D55E00"  # only the marks of collisions are vermilion
    (marks,) = of_color(drawing, MARK, "#D55E00")
    assert marks.copies == len(scene.collisions())
    (floor,) = [item for item in drawing.items if item.name == "floor"]
    assert floor.color == "#A8B2BD"
    assert [label.text for label in drawing.labels] == ["floor"]


def test_many_points_and_segments_have_their_poses():
    for thin in (gk.Point((0, 0, 0)), gk.Segment((0, 0, 0), (0, 0, 1))):
        scene = gk.Scene()
        for k in range(50):
            scene.add(f"o{k}", thin, pose(3 * k, 0, 0))
            scene.add(f"own {k}", gk.Segment((0, 0, 0), (0, 1, 1 + 0.01 * k)), pose(3 * k, 5, 0))
        drawing = drawing_of(scene)
        for item in ready(drawing.items, np.zeros(3), 1.0):
            for part in np.split(item.vertices, item.copies):
                assert np.ptp(part[:, 0]) < 0.2


def of_color(drawing, look, color):
    return [item for item in drawing.items if (item.look, item.color) == (look, color)]


def test_merged_copies_are_shaded_as_single_bodies():
    from gjk3d.viz.drawing import arrow, repeated, shade

    starts = np.array([(0.0, 0, 0), (1, 2, 3), (-5, 0, 1e-3)])
    ways = np.array([(0.0, 0, 1), (1, 0, 0), (0.6, 0, -0.8)])
    for vertices, faces in arrow(starts, ways, 0.7, 0.01):
        many = shade(vertices, faces, 3)
        singles = [shade(part, faces[: len(faces) // 3]) for part in np.split(vertices, 3)]
        for field in ("vertices", "normals"):  # at each corner of each face
            theirs = np.concatenate([getattr(single, field)[single.faces] for single in singles])
            np.testing.assert_allclose(getattr(many, field)[many.faces], theirs, atol=1e-9)
        assert len(many.edges) == sum(len(single.edges) for single in singles)
        assert len(many.faces) == len(repeated(singles[0].faces, 3, len(singles[0].vertices)))


@pytest.mark.full
def test_projected_points_lie_in_the_picture():
    _, plotter = picture(row_of_balls())
    rows, columns = np.transpose([pixel_of(plotter, (x, 0, 0)) for x in (-0.6, 4.5)])
    assert 0 < columns[0] < columns[1] < plotter.window_size[0]
    assert np.all(rows > 0)
    plotter.close()


def test_scene_with_nonconvex_bodies_is_drawn():
    scene = gk.Scene()
    ring = np.ones((3, 3, 1), bool)
    ring[1, 1] = False
    scene.add("ring", gk.VoxelGrid(ring, 1.0))
    scene.add("pin", gk.Cylinder(0.3, 2.0), pose(1.5, 1.5, 0.5))
    scene.add("rod", gk.Cylinder(0.3, 2.0), pose(0.5, 0.5, 0.5))
    scene.add("floor", gk.Halfspace((0, 0, 1), -2.0))
    drawing = drawing_of(scene)
    colors = {item.name: item.color for item in of(drawing, BODY)}
    assert colors == {"ring": "#D55E00", "rod": "#D55E00", "pin": "#9DB4C8", "floor": "#A8B2BD"}
    assert drawing.words[1] == "ring – rod"
    assert drawing.framed[:, 2].min() == pytest.approx(-0.5)  # the picture may cut off the floor
    origins = np.array([(1.5, -5.0, 0.5), (0.5, -5.0, 1.2)])
    hits = scene.raycast(origins, (0, 1, 0))
    assert hits.name == ["ring", "rod"]
    rays = drawing_of(hits, of=scene)
    color = dict(rays.keys)["rays that hit"]  # not blue, the colour of normals
    ends = [item.vertices[:, 1].max() for item in of(rays, MARK, color) if np.ptp(item.vertices[:, 1]) > 2]
    np.testing.assert_allclose(ends, [0.0, 0.2], atol=1e-6)


def test_scene_results_are_drawn_with_names():
    scene = row_of_balls(3)
    nearest = scene.clearance()
    drawing = drawing_of(nearest)
    assert [text for text, _ in drawing.keys[:2]] == ["A  ball 0", "B  ball 1"]
    assert drawing.words[0] == "Apart by 0.3"
    two_pairs = drawing_of(scene.closest(k=2))
    assert two_pairs.words == [
        "2 pairs",
        *(messages.PAIR_APART.format(f"ball {k}", f"ball {k + 1}", 0.3) for k in (0, 1)),
    ]
    assert len(of(two_pairs, BODY)) == 4
    assert drawing_of(gk.Scene().clearance()).words == [messages.NO_PAIR]
    with pytest.raises(TypeError, match=r"Verdict.*Distance, Gradient"):
        drawing_of(gk.verify(nearest.result, scene.shape("ball 0"), scene.shape("ball 1")))


@pytest.mark.full
def test_depth_label_is_next_to_its_arrow():
    result = gk.signed_distance(gk.Box((2, 2, 2)), gk.Sphere(1), None, pose(1.5, 0, 0))
    drawing = drawing_of(result, unit="mm")
    (label,) = drawing.labels
    np.testing.assert_allclose(label.point, (result.point_a + result.point_b) / 2)
    assert label.text == "depth 0.5 mm"
    assert drawing.words == [messages.OVERLAPPING.format("0.5 mm"), messages.PROVEN_DEPTH.format("0.5 mm")]
    plotter = gk.viz.plot(result, off_screen=True, unit="mm", up=(0, 1, 0))
    arrow = np.array([paint._pixel(plotter, point) for point in label.free])
    (actor,) = [a for name, a in plotter.renderer.actors.items() if name.startswith("gjk3d label")]
    low = np.array(actor.GetPositionCoordinate().GetComputedViewportValue(plotter.renderer))
    high = low + paint._extent(actor.GetTextProperty(), label.text)
    plotter.close()
    assert not ((low < arrow) & (arrow < high)).all(axis=1).any()  # the label hides no part of the arrow
    assert np.maximum(low - arrow, arrow - high).max(axis=1).min() < 25.0  # the label is next to the arrow
