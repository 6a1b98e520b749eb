"""Drawings of every kind of object, and the options of show and plot."""

import numpy as np
import pytest
import pyvista
import trimesh
from example_results import SHAPES, overlapping, pose, separated
from message_checks import assert_names
from PIL import Image
from pyvista.plotting.renderer import view_vectors
from scipy.spatial.transform import RigidTransform
from test_show import GREEN, ORANGE, picture, pixel_of, share

import gjk3d as gk
from gjk3d import viz
from gjk3d.viz.colors import INK, PALE, PALETTE
from gjk3d.viz.drawing import BODY, DOTS, LINES, MARK, Drawing, Style, ready
from gjk3d.viz.kinds import drawing_of, function_of
from gjk3d.viz.paint import drawn_in
from gjk3d.viz.picture import Look, drawing_as_asked
from tests.viz import messages


def test_subclasses_are_drawn_as_base_and_typos_raise():
    class Ball(gk.Sphere):
        pass

    assert function_of(Ball(1)) is function_of(gk.Sphere(1))
    with pytest.raises(TypeError, match=r"Sphere.*'levl'.*'axes', 'level'.*Did you mean 'level'"):
        viz.plot(gk.Sphere(1), levl=1, off_screen=True)
    with pytest.raises(TypeError, match=r"\bstr\b.*AABB, Assembly"):
        viz.plot("sphere")


@pytest.mark.full
@pytest.mark.parametrize("name", SHAPES)
def test_single_shape_is_drawn(name):
    image, plotter = picture(SHAPES[name], opacity=1.0)
    assert image.std() > 5.0
    assert share(image, ORANGE) > (0.0005 if name in ("point", "segment") else 0.01)
    plotter.close()


@pytest.mark.full
def test_ghosts_have_their_poses_and_are_fainter():
    poses = np.stack([pose(x, 0, 0) for x in (0.0, 3.0, 6.0)])
    drawing = drawing_of(gk.Box((1, 1, 1)), Style(pose=poses))
    assert [item.vertices.mean(axis=0).round(9).tolist() for item in drawing.items] == [[0, 0, 0], [3, 0, 0], [6, 0, 0]]
    first, second, last = (item.opacity for item in drawing.items)
    assert first < second < 0.5 < last
    image, plotter = picture(gk.Box((1, 1, 1)), pose=poses)
    rows = [[int(float(x)) for x in pixel_of(plotter, (x, -0.5, 0.25))] for x in (0.0, 3.0, 6.0)]
    blue = [image[r - 3 : r + 4, c - 3 : c + 4, 2].mean() for r, c in rows]  # orange has no blue
    assert blue[0] > blue[1] > blue[2] + 30
    plotter.close()


def test_only_some_of_many_poses_are_drawn():
    poses = np.tile(np.eye(4), (200, 1, 1))
    poses[:, 0, 3] = np.arange(200)
    drawing = drawing_of(gk.Sphere(0.4), Style(pose=poses))
    assert len(drawing.items) == 24
    np.testing.assert_allclose(drawing.items[-1].vertices.mean(axis=0), (199, 0, 0), atol=0.01)
    assert "24 of 200 poses" in drawing.words[1]


@pytest.mark.full
def test_shapes_of_a_list_have_different_colors():
    shapes = [(gk.Box((1, 1, 1)), pose(-2, 0, 0)), (gk.Sphere(0.6), RigidTransform.from_translation((2, 0, 0)))]
    image, plotter = picture(shapes, opacity=1.0)
    width = image.shape[1]
    assert share(image[:, : width // 2], ORANGE) > 0.02 > share(image[:, width // 2 :], ORANGE)
    assert share(image[:, width // 2 :], GREEN) > 0.02
    plotter.close()
    single = drawing_of((gk.Sphere(1.0), pose(5, 0, 0)))
    assert len(single.items) == 1
    np.testing.assert_allclose(single.ball[0], (5, 0, 0), atol=1e-9)


def test_half_space_in_a_list_is_drawn_below_others():
    drawing = drawing_of([gk.Halfspace((0, 0, 1), 0.0), (gk.Sphere(0.5), pose(7, 7, 0.5))])
    center, radius = drawing.ball
    np.testing.assert_allclose(center, (7, 7, 0.5), atol=1e-9)
    slab = ready(drawing.items, center, radius)[0].vertices
    assert slab[:, 2].max() == pytest.approx(0.0)
    np.testing.assert_allclose(slab.mean(axis=0)[:2], (7, 7), atol=1e-6)
    assert np.ptp(slab[:, 0]) > 2 * radius


@pytest.mark.full
def test_plot_adds_to_plotter_and_frames_everything():
    plotter = viz.plot(gk.Box((1, 1, 1)), off_screen=True, pose=pose(-4, 0, 0), opacity=1.0)
    assert isinstance(plotter, pyvista.Plotter)
    assert viz.plot(gk.Sphere(0.5), plotter, pose=pose(4, 0, 0), colors="#009E73", opacity=1.0) is plotter
    image = np.asarray(plotter.screenshot(None, return_img=True)).astype(float)
    for x in (-4.5, 4.5):
        row, column = pixel_of(plotter, (x, 0, 0))
        assert 0 < column < image.shape[1]
        assert 0 < row < image.shape[0]
    assert share(image, ORANGE) > 0.005
    assert share(image, GREEN) > 0.005
    plotter.close()


def test_every_result_of_a_list_is_drawn():
    drawing = drawing_of([separated(), overlapping()])
    assert sum(item.look == MARK for item in drawing.items) == sum(
        item.look == MARK for x in (separated(), overlapping()) for item in drawing_of(x).items
    )


@pytest.mark.full
def test_overlap_is_drawn_without_stripes():
    a, place = gk.Box((1, 1, 1)), pose(0.6, 0.2, 0.3)
    b = gk.ConvexHull(np.random.default_rng(3).normal(size=(30, 3)) * 0.5)
    part = gk.overlap(a, b, None, place)
    image, plotter = picture([part, a, (b, place)], opacity=(1.0, 0.25, 0.25))
    top = part.points[np.abs(part.points[:, 2] - 0.5) < 1e-9]  # coplanar with the top face of A
    assert len(top) > 2
    row, column = (int(float(x)) for x in pixel_of(plotter, top.mean(axis=0)))
    patch = image[row - 7 : row + 8, column - 7 : column + 8].reshape(-1, 3)
    assert patch.std(axis=0).max() < 3.0
    plotter.close()


def test_axes_option_draws_axes_at_the_pose():
    drawing = drawing_of(gk.Sphere(1.0), Style(pose=pose(1, 2, 3)), axes=True)
    tips = [item.vertices for item in drawing.items if item.look == MARK]
    for k, color in enumerate(("#D55E00", "#009E73", "#0072B2")):
        mine = np.concatenate([i.vertices for i in drawing.items if i.look == MARK and i.color == color])
        assert mine[:, k].max() - (1, 2, 3)[k] == pytest.approx(0.75 * np.sqrt(1.0) * drawing.ball[1], rel=0.5)
        assert mine[:, k].min() == pytest.approx((1, 2, 3)[k], abs=1e-9)
    assert len(tips) == 6


def test_user_subclasses_are_drawn_as_their_base(tmp_path):
    """Drawing does not compare class names, so subclasses of clouds, grids, boxes and reports look as their base."""
    kinds = {}
    for base in (gk.PointCloud, gk.VoxelGrid, gk.AABB, gk.clash.Report):
        kinds[base] = type("Mine", (base,), {"__slots__": ()} if hasattr(base, "__slots__") else {})
    points = np.random.default_rng(5).normal(size=(40, 3))
    for arguments in ((points, 0.0), (points, 0.1)):
        mine, theirs = (drawing_of(cls(*arguments)) for cls in (kinds[gk.PointCloud], gk.PointCloud))
        assert [i.look for i in mine.items] == [i.look for i in theirs.items]
        np.testing.assert_array_equal(mine.framed, theirs.framed)
    many = kinds[gk.PointCloud](np.random.default_rng(5).normal(size=(2000, 3)), 0.1)
    assert [item.look for item in drawing_of(many).items] == [DOTS]
    result = gk.distance(kinds[gk.PointCloud](points, 0.0), gk.Sphere(0.1), None, pose(9, 0, 0))
    assert len(drawing_of(result).items) > 2
    grid = kinds[gk.VoxelGrid](np.ones((2, 3, 4)), 0.5)
    assert [item.look for item in drawing_of(grid).items] == [LINES, BODY]
    assert drawing_of(kinds[gk.AABB]((0, 0, 0), (1, 2, 3))).words == [messages.BOX.format(6)]
    page = viz.show(kinds[gk.clash.Report](), path=tmp_path / "report.html")
    assert "<table" in page.read_text(encoding="utf-8")


# --- to pyvista ---------------------------------------------------------------------------------------------------


def test_to_pyvista_converts_nonconvex_bodies():
    place = pose(3, -2, 1, (0.3, 0.4, 0.5))
    grid = gk.VoxelGrid(np.ones((2, 3, 4)), 0.5)
    assert viz.to_pyvista(grid, place).volume == pytest.approx(24 * 0.125)
    parts = gk.Compound([(gk.Box((1, 1, 1)), None), (gk.Box((1, 2, 1)), pose(5, 0, 0))])
    assert viz.to_pyvista(parts).volume == pytest.approx(3.0)
    cloud = viz.to_pyvista(gk.PointCloud([(0, 0, 0), (1, 2, 3)], 0.1), place)
    np.testing.assert_allclose(cloud.points[1], place[:3, :3] @ (1, 2, 3) + place[:3, 3])
    ground = viz.to_pyvista(gk.HeightField(np.zeros((3, 5)), 0.5))
    assert ground.area == pytest.approx(1.0 * 2.0)


def test_to_pyvista_of_result_contains_all_items():
    result = separated()
    blocks = viz.to_pyvista(result)
    assert isinstance(blocks, pyvista.MultiBlock)
    assert blocks["A"].volume == pytest.approx(8.0)
    assert blocks["A"].field_data["color"][0] == "#E69F00"
    assert blocks["B"].field_data["opacity"][0] == 0.5
    np.testing.assert_allclose(blocks["B"].center, (2.8, 0, 0.3), atol=1e-6)
    assert len(blocks) == len(drawing_of(result).items)
    lines = viz.to_pyvista(gk.AABB((0, 0, 0), (1, 2, 3)))[0]
    assert lines.n_lines == 12
    with pytest.raises(TypeError, match=r"to_pyvista.*Sphere.*'levl'"):
        viz.to_pyvista(gk.Sphere(1), levl=3)


def test_ray_hits_contain_origin_and_direction():
    ball, ways = gk.Sphere(1), [(-1, 0, 0), (0, 2, 0)]
    scene = gk.Scene()
    scene.add("ball", ball)
    for hits in (gk.raycast(ball, (3, 0, 0), ways), scene.raycast((3, 0, 0), ways)):
        assert hits.origin.tolist() == [[3, 0, 0], [3, 0, 0]]
        assert hits.direction.tolist() == [[-1, 0, 0], [0, 1, 0]]
        assert hits[1].direction.tolist() == [0, 1, 0]
        drawing = drawing_of(hits, of=ball)
        assert drawing.words == [messages.RAYS.format(1, 2)]
    single = gk.raycast(ball, (3, 0, 0), (-4, 0, 0))
    assert (single.origin.tolist(), single.direction.tolist()) == ([3, 0, 0], [-1, 0, 0])
    assert drawing_of(single).words[0].startswith("Hit at 2")


def test_results_without_shapes_name_the_missing_option():
    a, b, at = gk.Box((1, 1, 1)), gk.Sphere(1), pose(3, 0, 0)
    call = r"viz.show\(result, of=\(a, b\)\).*of=\(a, b, pose_a, pose_b\)"
    with pytest.raises(TypeError, match=f"Axis.*separating_axis.*{call}$"):
        viz.show(gk.separating_axis(a, a, None, at))
    result = gk.signed_distance(a, b, None, at)
    with pytest.raises(TypeError, match=f"Gradient.*{call}.*of=result$"):
        viz.show(gk.gradient(result))
    assert drawing_of(gk.gradient(result), of=result).items


def test_trimesh_mesh_is_drawn():
    ring = trimesh.creation.torus(3, 1)
    drawing = drawing_of(ring)
    np.testing.assert_allclose(drawing.items[0].vertices, ring.vertices)
    assert type(drawing.items[0].vertices) is np.ndarray
    assert len(drawing_of([ring, gk.Sphere(1)]).items) == 2
    assert viz.to_pyvista(ring).n_cells == len(ring.faces)


def test_undrawable_objects_name_an_alternative():

    ring = gk.Mesh(*gk.Box((1, 1, 1)).surface())
    report = gk.clash.check(gk.clash.Assembly.of({"a": ring, "b": ring}))
    with pytest.raises(TypeError, match=r"Clash.*viz\.show\(report, clash=k\).*clash=finding\.id"):
        viz.show(report.clashes[0])
    assert drawing_of(report, clash=report.clashes[0].id).items  # the call that the message names
    checker = gk.robot.Checker(gk.robot.Robot.example())
    with pytest.raises(TypeError, match=r"RobotClearance.*viz\.show\(checker, q=q\)"):
        drawing_of(checker.clearance([0.0, 0.0]))
    with pytest.raises(TypeError, match=r"Motion.*pose=motion\.at\(times\)"):
        viz.show(gk.Motion(None, (1, 0, 0)))
    with pytest.raises(ValueError, match=r"list.*empty"):
        viz.show([])


def test_volumes_of_a_list_have_different_colors():
    shape = gk.Cone(1, 2)
    volumes = [gk.obb(shape), gk.aabb(shape), gk.bounding_sphere(shape)]
    for objects in (volumes, [shape, *volumes]):
        drawing = drawing_of(objects)
        assert len({color for _, color in drawing.keys}) == len(objects)
        assert {item.color for item in drawing.items} == {color for _, color in drawing.keys}
    assert [color for _, color in drawing_of(volumes, Style(colors=("red", "blue"))).keys] == ["red", "blue", "red"]


def test_rays_and_scene_have_different_colors():
    scene = gk.Scene()
    for k in range(3):
        scene.add(f"box {k}", gk.Box((1, 1, 1)), pose=pose(0.9 * k * (k < 2) + 5 * (k == 2), 0, 0))
    hits = scene.raycast((0.4, 0, 5), [(0, 0, -1), (0, 1, 0)])
    keys = drawing_of(hits, of=scene).keys
    assert {"collides", "free", *messages.RAY_HITS} < {text for text, _ in keys}
    assert len({color for _, color in keys}) == len(keys)


def test_named_meshes_keep_their_names(tmp_path):
    ant = gk.Mesh(*gk.Box((1, 1, 1)).surface(), name="ant")
    result = gk.distance(ant, gk.Sphere(1), None, pose(3, 0, 0))
    keys = [text for text, _ in drawing_of(result).keys]
    assert keys[:2] == ["A  ant", "B  sphere"]
    assert [text for text, _ in drawing_of(result, Style(names=("this", "that"))).keys][:2] == ["A  this", "B  that"]
    page = viz.write_html(tmp_path / "ant.html", result).read_text(encoding="utf-8")
    assert "</b> ant<br>" in page


def test_planes_shells_and_solid_grounds_are_drawn():
    sheet = gk.Mesh([(0, 0, 0), (4, 0, 0), (4, 4, 0), (0, 4, 0)], [(0, 1, 2), (0, 2, 3)])
    shell, slab = gk.Shell(sheet, 0.5), gk.HeightField(np.zeros((3, 4)), (1.0, 0.5), bottom=-1.0)
    drawing = drawing_of([gk.Plane((0, 0, 1), 0.25), shell, slab])
    assert len(drawing.items) == 3
    thin = viz.to_pyvista(gk.Plane((0, 0, 1), 0.25))
    assert thin.bounds[4:] == (0.25, 0.25)
    assert viz.to_pyvista(slab).is_manifold
    assert viz.to_pyvista(shell).is_manifold
    for body in (shell, slab, gk.Sphere(1)):
        assert drawing_of(gk.signed_distance(gk.Plane((0, 0, 1), 0.1), body)).items


def test_mesh_caption_has_size_in_millimetres():
    block = gk.Mesh(*gk.Box((0.1, 0.2, 0.05)).surface()[:2], name="block", unit="meters")
    name, size = drawing_of(block).words
    assert name == "block"
    assert_names(size, "12 triangles", "100 x 200 x 50 mm")
    assert drawing_of(gk.Box((1, 2, 3))).words == ["Box(extents=[1.0, 2.0, 3.0])"]


def test_pairs_of_scene_are_sorted_by_number():
    scene = gk.Scene()
    for k in (1, 2, 9, 10, 11):
        scene.add(f"ball {k}", gk.Sphere(0.6), gk.Motion(None, (k, 0, 0)).at(1))
    assert drawing_of(scene).words[1] == "ball 1 – ball 2, ball 9 – ball 10, ball 10 – ball 11"


FOREIGN = {
    "PolyData": (pyvista.Cube(), 1),
    "ImageData": (pyvista.ImageData(dimensions=(2, 2, 2)), 1),
    "MultiBlock": (pyvista.MultiBlock([pyvista.Cube(), pyvista.Sphere()]), 2),
    "points of pyvista": (pyvista.PolyData(np.eye(3)), 1),
    "Trimesh": (trimesh.creation.box((1, 1, 1)), 1),
    "Scene": (trimesh.Scene([trimesh.creation.box((1, 1, 1)), trimesh.creation.icosphere()]), 2),
    "points of trimesh": (trimesh.PointCloud(np.eye(3)), 1),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_pyvista_and_trimesh_objects_are_drawn(name, tmp_path):
    obj, count = FOREIGN[name]
    for x in (obj, [obj, (gk.Sphere(1), None)]):
        drawing = drawing_of(x)
        assert len(drawing.items) == count + (x is not obj)
        assert all(item.look == DOTS for item in drawing.items[:count]) == name.startswith("points")
    assert viz.show(obj, path=tmp_path / "a.html").stat().st_size > 1000


VIEWS = {"xy": ((0, 0, 1), (0, 1, 0)), "xz": ((0, -1, 0), (0, 0, 1)), "zy": ((-1, 0, 0), (0, 1, 0))}


@pytest.mark.parametrize("view", VIEWS)
def test_view_names_match_pyvista(view):
    drawing = drawing_as_asked(separated(), look=Look(view))
    for value, expected, vector in zip((drawing.view, drawing.up), VIEWS[view], view_vectors(view), strict=True):
        np.testing.assert_array_equal(value, expected)
        np.testing.assert_array_equal(value, vector)
    assert drawing_as_asked(separated(), look=Look(view, (1, 0, 0))).up.tolist() == [1, 0, 0]
    with pytest.raises(gk.errors.ShapeError, match=r"view is 'xyz', expected one of 'xy'.*Did you mean.*direction"):
        drawing_as_asked(separated(), look=Look("xyz"))


@pytest.mark.parametrize(
    ("option", "cure"),
    [
        ("filename", "path="),
        ("window_size", "size="),
        ("color", "colors="),
        ("alpha", "opacity="),
        ("camera_position", "view="),
        ("transparent", "transparent_background="),
    ],
)
def test_options_of_other_libraries_name_ours(option, cure):
    for call in (viz.show, viz.plot):
        with pytest.raises(TypeError, match=rf"'{option}'.*{cure}"):
            call(separated(), **{option: 1})


def test_dark_background_has_light_text_and_signs():
    drawing = drawing_as_asked(separated(), look=Look(background="#202830"))
    assert drawing.ink == PALE
    assert INK not in {item.color for item in drawing.items} | {color for _, color in drawing.keys}
    assert drawing_as_asked(separated(), look=Look(background="white")).ink == INK


def test_length_and_size_options_are_independent(tmp_path):
    drawing = drawing_of(np.eye(4), length=0.3)
    assert np.abs(drawing.items[0].vertices).max() < 0.31
    assert viz.show(np.eye(4), length=0.3, size=(300, 200), path=tmp_path / "a.html").exists()


def test_second_result_has_its_own_colors_and_letters():
    panel, second = Drawing(), gk.signed_distance(gk.Cone(1, 1), gk.Sphere(1), pose(0, 9, 0), pose(5, 9, 0))
    panel.join(drawing_of(separated()))
    palette = PALETTE[2:] + PALETTE[:2]
    panel.join(drawing_of(second, Style(palette=palette, names=("A top", "ball"))))
    keys = dict(panel.keys)
    assert [keys[text] for text in keys if text[1:3] == "  "] == [*PALETTE[:4]]
    assert [text for text in keys if text[0] in "CD"] == ["C  A top", "D  ball"]
    assert {"normal from A to B", "normal from C to D"} <= set(keys)
    assert [line[:9] for line in panel.words if ":" in line and "proven" not in line] == ["A and B: ", "C and D: "]
    low, high = panel.framed.min(axis=0), panel.framed.max(axis=0)
    center, radius = panel.ball
    assert np.linalg.norm(high - low) <= 2.0 * radius  # the ball contains both results
    np.testing.assert_allclose(center, (low + high) / 2)


def test_joining_a_drawing_keeps_the_focus():
    panel = Drawing()
    panel.join(drawing_as_asked(separated(), look=Look(focus=((1, 2, 3), 4.0))))
    panel.join(drawing_of(gk.Sphere(9)))
    assert panel.ball[1] == 4.0


def test_distance_blocks_are_named_after_fields():
    names = viz.to_pyvista(overlapping()).keys()
    assert {"A", "B", "normal", "separation_vector", "point_a", "point_b", "overlap volume"} <= set(names)
    assert not any(name.startswith("mark") for name in names)
    assert "gap" in viz.to_pyvista(separated()).keys()  # noqa: SIM118 - keys are names


@pytest.mark.full
def test_plot_files_contain_everything_in_the_plotter(tmp_path):
    plotter = viz.plot(gk.Sphere(1), path=tmp_path / "one.png", size=(300, 200))
    assert Image.open(tmp_path / "one.png").size == (300, 200)
    plotter.add_mesh(pyvista.Cube(center=(9, 0, 0)))  # the camera frames it when the next object is added
    viz.plot(gk.Point((0, 0, 3)), plotter, path=tmp_path / "all.html")
    text = (tmp_path / "all.html").read_text()
    for color, name in zip(PALETTE, ("Sphere(radius=1.0)", "Point"), strict=False):
        assert f'fill="{color}"></rect></svg> {name}' in text
    row, column = pixel_of(plotter, (9.5, 0, 0))
    assert 0 < row < 200
    assert 0 < column < 300
    with pytest.raises(TypeError, match=r"size=.*new plotter.*window_size"):
        viz.plot(gk.Sphere(1), plotter, size=(3, 3))
    plotter.close()


@pytest.mark.full
def test_transparent_background_has_zero_alpha(tmp_path):
    viz.show(separated(), path=tmp_path / "clear.png", transparent_background=True)
    alpha = np.asarray(Image.open(tmp_path / "clear.png"))[..., 3]
    assert (alpha[-5:] == 0).all()
    assert (alpha > 0).mean() > 0.1
    viz.show(separated(), path=tmp_path / "dark.png", background="#102030")
    assert np.asarray(Image.open(tmp_path / "dark.png"))[-1, -1].tolist() == [16, 32, 48]
    with pytest.raises(ValueError, match=r"\.jpg.*transparency.*\.png"):
        viz.show(separated(), path=tmp_path / "clear.jpg", transparent_background=True)


@pytest.mark.full
def test_text_over_bodies_has_a_halo(tmp_path):
    plotter = viz.plot(separated(), off_screen=True)
    names = [name for name in plotter.renderer.actors if name.startswith(("gjk3d line", "gjk3d key"))]
    assert names
    assert not any(name.startswith("gjk3d halo") for name in plotter.renderer.actors)
    plotter.close()
    options = {"focus": ((0, 0, 0), 0.4)}  # the body fills the panel
    plotter = viz.plot(gk.Sphere(1), off_screen=True, **options)
    actors = plotter.renderer.actors
    assert actors["gjk3d line 0"].prop.background_opacity == 0.0
    halo = [actors[f"gjk3d halo gjk3d line 0 {k}"] for k in range(8)]
    assert {actor.input for actor in halo} == {actors["gjk3d line 0"].input}
    assert {actor.GetTextProperty().GetColor() for actor in halo} == {(1.0, 1.0, 1.0)}
    image = plotter.screenshot(return_img=True)
    left, low = actors["gjk3d line 0"].GetActualPositionCoordinate().GetComputedViewportValue(plotter.renderer)
    around = image[-low - 30 : -low + 2, left : left + 60].reshape(-1, 3)
    assert (around.min(axis=1) > 250).mean() > 0.1  # the halo
    assert (around.max(axis=1) < 60).mean() > 0.02  # the letters
    plotter.close()
    viz.show(gk.Sphere(1), path=tmp_path / "over.svg", **options)
    text = (tmp_path / "over.svg").read_text()
    assert 'stroke="#ffffff"' in text
    assert text.count("sphere") == text.count(">sphere")  # the file does not contain the copies of the halo
    plotter.close()


@pytest.mark.parametrize(
    ("options", "fragments"),
    [
        ({"background": (1, 0, 0)}, ["background", "(1, 0, 0)", "'navy'"]),
        ({"background": "blu"}, ["background", "'blu'", "'blue'"]),
        ({"colors": "nocolor"}, ["colors", "'nocolor'", "#102040"]),
        ({"colors": ("red", "green", "blue")}, ["colors", "3 values", "1 value"]),
        ({"names": ("a", "b")}, ["names", "2 values", "1 value"]),
        ({"names": 3}, ["names", "3", "a name"]),
        ({"title": 3}, ["title", "3", "a text"]),
        ({"size": 800}, ["size", "800", "(width, height)"]),
        ({"size": (0, 100)}, ["size", "(0, 100)", "from 1 to"]),
        ({"plotter": 3}, ["plotter", "an int", "Plotter"]),
        ({"focus": 1}, ["focus", "1", "a point and a radius"]),
        ({"opacity": "a"}, ["opacity", "'a'", "0 to 1"]),
        ({"opacity": 2}, ["opacity", "2", "0 to 1"]),
        ({"level": "a"}, ["level", "'a'", "0 to"]),
        ({"level": -1}, ["level", "-1", "0 to"]),
        ({"level": 400}, ["level", "400", "0 to"]),
        ({"view": (0, 0, 1), "up": (0, 0, 2)}, ["up", "(0, 0, 2)", "parallel"]),
        ({"axes": "yes"}, ["axes", "'yes'", "True or False"]),
        ({"self_intersections": 1}, ["self_intersections", "1", "True or False"]),
        ({"transparent_background": "no"}, ["transparent_background", "'no'", "True or False"]),
    ],
)
def test_invalid_options_name_accepted_values(options, fragments, tmp_path):
    ring = gk.Mesh(trimesh.creation.torus(1, 0.3))
    with pytest.raises((TypeError, ValueError)) as error:
        gk.viz.show(ring, path=tmp_path / "a.html", **options)
    assert_names(error.value, *fragments)


def test_options_that_do_not_fit_the_object_raise(tmp_path):
    path = tmp_path / "a.html"
    for drawn, names in (
        (separated(), "abc"),
        ([gk.Sphere(1), gk.Sphere(2)], "abc"),
        ((gk.Sphere(1), np.eye(4)), "ab"),
    ):
        with pytest.raises(ValueError, match="names has"):
            gk.viz.show(drawn, path=path, names=tuple(names))
    ray = gk.raycast(gk.Sphere(1), (0, 0, 5), (0, 0, -1))
    with pytest.raises(TypeError, match=r"image is True, expected \(rows, columns\)"):
        gk.viz.show(ray, image=True, path=path)


def test_invalid_drawing_options_raise():
    impact = gk.shapecast(gk.Sphere(0.5), gk.Sphere(0.5), (4, 0, 0), None, pose(3, 0, 0))
    for drawn, option, value, rule in (
        (separated(), "unit", 3, "a text"),
        (separated(), "surfaces", (None,), "a pair, each a Mesh or None"),
        (separated(), "surfaces", (None, 3), "a pair, each a Mesh or None"),
        (np.eye(4), "length", 0, "more than 0"),
        (np.eye(4), "length", "a", "a real number"),
        (impact, "ghosts", 2.5, "a whole number of at least 1"),
        (impact, "ghosts", 0, "a whole number of at least 1"),
    ):
        with pytest.raises((TypeError, ValueError)) as error:
            drawing_of(drawn, **{option: value})
        assert_names(error.value, option, str(value), rule)
    with pytest.raises(TypeError, match="unit is 3, expected a text"):
        viz.explain(separated(), unit=3)


def test_scene_caption_and_colors_use_the_margin():
    scene = gk.Scene()
    for k, x in enumerate((0.0, 1.5, 9.0)):
        scene.add(f"box {k}", gk.Box((1, 1, 1)), pose(x, 0, 0))
    drawing = drawing_of(scene, Style(colors=("red",)), margin=1.0)
    assert drawing.words[0] == "1 pair is within 1 among 3 objects"
    assert [text for text, _ in drawing.keys[:2]] == ["within 1", "free"]
    assert drawing.keys[0][1] == "red" != drawing.keys[1][1]
    assert drawing_of(scene, margin=0.1).words[0] == "No pair is within 0.1 among 3 objects"
    assert drawing_of(scene).words[0] == "Nothing collides among 3 objects"
    for option, values in (("colors", ("red", "green", "blue")), ("opacity", (0.1, 0.2, 0.3))):
        with pytest.raises(ValueError, match=f"{option} has 3 values, expected at most 2: .* collide .* others"):
            drawing_of(scene, Style(**{option: values}))


@pytest.mark.parametrize("theme", ["DarkTheme", "DocumentTheme"])
def test_text_color_follows_plotter_background(theme):
    plotter = pyvista.Plotter(off_screen=True, theme=getattr(pyvista.themes, theme)())
    viz.plot(separated(), plotter)
    expected = PALE if theme == "DarkTheme" else INK
    assert drawn_in(plotter).ink == expected
    assert plotter.renderer.actors["gjk3d line 0"].prop.color == pyvista.Color(expected)
    viz.plot(gk.Point((3, 0, 0)), plotter)
    assert plotter.renderer.actors["gjk3d line 0"].prop.color == pyvista.Color(expected)
    plotter.close()


def test_pyvista_blocks_and_trimesh_geometries_keep_names():
    blocks = pyvista.MultiBlock({"lid": pyvista.Sphere(), "pot": pyvista.Cube()})
    assert [text for text, _ in drawing_of(blocks).keys] == ["lid", "pot"]
    assert [text for text, _ in drawing_of(pyvista.MultiBlock([pyvista.Cube()])).keys] == ["Poly data"]
    scene = trimesh.Scene()
    scene.add_geometry(trimesh.creation.box(), geom_name="crate")
    assert [text for text, _ in drawing_of(scene).keys] == ["crate"]
    assert [text for text, _ in drawing_of(scene, Style(names=("mine",))).keys] == ["mine"]


def test_captions_of_mesh_with_and_without_slice():
    ring = gk.Mesh(trimesh.creation.torus(1, 0.3))
    words = drawing_of(ring).words
    assert sum(line.count("triangles") for line in words) == 1
    assert "does not intersect" in drawing_of(ring, slice=((0, 0, 9), (0, 0, 1))).words[-1]
    assert drawing_of(ring, slice="xy").words == words


def test_many_rays_are_faint_and_misses_fainter():
    directions = np.random.default_rng(0).normal(size=(4800, 3)) * (0.2, 0.2, 1.0)
    hits = gk.raycast(gk.Sphere(1), (0, 0, 5), directions)
    hit, missed = [item for item in drawing_of(hits).items if item.look == LINES]
    assert 0.0 < missed.opacity < hit.opacity < 0.2


def test_swept_links_have_different_colors():
    pieces = tuple(gk.robot.SweptPiece(f"link {k}", gk.Box((1, 1, 1)), 0.0, 1.0) for k in range(8))
    keys = drawing_of(gk.robot.SweptVolume(pieces, 0.0)).keys
    assert len({color for _, color in keys}) == 8


def test_large_volume_is_printed_without_exponent():
    box = gk.aabb(gk.Box((1234.5, 1000, 1000)))
    assert drawing_of(box).words[0].endswith("volume 1,234,500,000 cubic units")
    assert drawing_of(gk.aabb(gk.Box((1, 2, 3)))).words[0].endswith("volume 6 cubic units")
