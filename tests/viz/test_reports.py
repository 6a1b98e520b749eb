"""Pictures of clash reports, and the keys that move between findings."""

import numpy as np
import pytest
from example_results import pose
from test_show import GREEN, ORANGE, picture, share

import gjk3d as gk
from gjk3d import viz
from gjk3d.viz.drawing import LINES, MODEL
from gjk3d.viz.kinds import drawing_of
from gjk3d.viz.paint import camera_of
from tests.viz import messages


def box(*place, size=(1, 1, 1)):
    return gk.Mesh(*gk.Box(size).surface()).placed(pose(*place))


@pytest.fixture(scope="module")
def report():
    parts = {
        "base": box(0, 0, 0, size=(4, 4, 1)),
        "deep": box(-1, 0, 0.6),
        "shallow": box(1.2, 0, 0.9),
        "far": box(0, 0, 9),
    }
    report = gk.clash.check(gk.clash.Assembly.of(parts, unit="mm"))
    assert [(row.a, row.b) for row in report.clashes] == [("base", "deep"), ("base", "shallow")]
    return report


def press(plotter, key):
    plotter.iren.interactor.SetKeySym(key)
    plotter.iren.interactor.InvokeEvent("KeyPressEvent")


def words(plotter):
    """Return the rows of text on the picture."""
    return [actor.input for name, actor in plotter.actors.items() if name.startswith("gjk3d line")]


@pytest.mark.full
def test_assembly_is_transparent_and_pair_is_coloured(report):
    drawing = drawing_of(report)
    ghost, a, b = drawing.items[:3]
    assert ghost.look == MODEL
    assert ghost.opacity < 0.2
    assert len(ghost.vertices) == sum(len(part.mesh.vertices) for part in report.assembly.parts)
    assert (a.name, b.name) == ("base", "deep")
    np.testing.assert_allclose(b.vertices.mean(axis=0), (-1, 0, 0.6))
    assert b.opacity > a.opacity  # the small part is visible inside the large one
    assert drawing.words == [messages.FINDING.format(1, 2, "0.4 mm"), "base  –  deep"]
    image, plotter = picture(report)
    assert share(image, ORANGE) > 0.02
    assert share(image, GREEN) > 0.02
    plotter.close()


def test_overlap_or_its_box_is_drawn(report, monkeypatch):
    box = [(-1.5, -0.5, 0.1), (-0.5, 0.5, 0.5)]
    drawing = drawing_of(report)
    (overlap,) = [item.vertices for item in drawing.items if item.color == dict(drawing.keys)["overlap volume"]]
    np.testing.assert_allclose([overlap.min(axis=0), overlap.max(axis=0)], box, atol=1e-9)
    assert [label.text for label in drawing.labels] == ["depth 0.4 mm"]  # at the arrow
    monkeypatch.setattr("gjk3d.bodies.solids.available", lambda: False)
    lines = next(item for item in drawing_of(report).items if item.look == LINES).vertices
    np.testing.assert_allclose([lines.min(axis=0), lines.max(axis=0)], box, atol=1e-9)


@pytest.mark.full
def test_keys_n_and_p_move_between_findings(report):
    plotter = viz.plot(report, off_screen=True)
    plotter.show(auto_close=False, interactive=False)
    assert words(plotter)[0].startswith("1 of 2")
    count, place = len(plotter.renderer.actors), plotter.camera.focal_point
    first = np.asarray(plotter.screenshot(None, return_img=True)).astype(float)
    press(plotter, "n")
    assert words(plotter) == [messages.FINDING.format(2, 2, "0.1 mm"), "base  –  shallow"]
    assert plotter.camera.focal_point[0] > place[0] + 0.3
    second = np.asarray(plotter.screenshot(None, return_img=True)).astype(float)
    assert np.abs(first - second).mean() > 2.0
    press(plotter, "n")  # back to the first finding
    assert words(plotter)[1] == "base  –  deep"
    press(plotter, "p")
    assert words(plotter)[1] == "base  –  shallow"
    press(plotter, "p")
    assert words(plotter)[1] == "base  –  deep"
    assert len(plotter.renderer.actors) == count  # no actors accumulate
    third = np.asarray(plotter.screenshot(None, return_img=True)).astype(float)
    assert np.abs(first - third).max() < 3.0
    plotter.close()


def test_clash_option_selects_a_finding(report):
    assert drawing_of(report, clash=1).words[1] == "base  –  shallow"
    assert drawing_of(report, clash=-1).words[1] == "base  –  shallow"
    assert drawing_of(report, clash="shallow").words[1] == "base  –  shallow"
    assert drawing_of(report, clash=report.clashes[1].id).words[1] == "base  –  shallow"
    with pytest.raises(ValueError, match=r"clash is 2.*\b0\b.*\b1\b"):
        drawing_of(report, clash=2)
    with pytest.raises(ValueError, match="clash is 'bolt'"):
        drawing_of(report, clash="bolt")


def test_reports_without_findings_or_triangles_are_drawn(report):
    free = gk.clash.check(gk.clash.Assembly.of({"a": box(0, 0, 0), "b": box(3, 0, 0)}))
    drawing = drawing_of(free)
    assert drawing.words == [messages.NO_CLASHES.format(2)]
    np.testing.assert_allclose(drawing.framed.max(axis=0), (3.5, 0.5, 0.5))
    from dataclasses import replace

    bare = drawing_of(replace(report, assembly=None))
    assert bare.words == drawing_of(report).words
    np.testing.assert_allclose(
        np.unique(bare.items[2].vertices, axis=0)[[0, -1]], [(-1.5, -0.5, 0.1), (-0.5, 0.5, 1.1)]
    )


@pytest.mark.full
def test_camera_centers_finding_with_up_axis_of_glb(report, tmp_path):
    import trimesh

    solids = {"base": box(0, 0, 0, size=(4, 1, 4)), "pin": box(1.8, 0.5, 1.8, size=(0.2, 1, 0.2))}
    scene = trimesh.Scene()
    for name, mesh in solids.items():
        scene.add_geometry(trimesh.Trimesh(mesh.vertices, mesh.faces), node_name=name)
    scene.export(tmp_path / "pinned.glb")
    assembly = gk.clash.Assembly.load(tmp_path / "pinned.glb")
    checked = gk.clash.check(assembly)
    for obj in (assembly, checked):
        camera = camera_of(drawing_of(obj))
        away = (camera.eye - camera.center) / np.linalg.norm(camera.eye - camera.center)
        assert camera.up.tolist() == [0, 1, 0]
        assert 0.2 < away[1] < 0.6  # from a little above
    low, high = np.array(checked.clashes[0].overlap_box)
    np.testing.assert_allclose(camera.center, (low + high) / 2)
    assert away @ (1, 0, 1) > 0.5  # from outside its corner, not through the base
    assert np.linalg.norm(camera.eye - camera.center) < 12  # close enough to see the pin
    image, plotter = picture(checked)
    middle = image[190:290, 270:370]
    assert share(middle, GREEN) + share(middle, np.array([214, 64, 143])) > 0.05  # the pin and the overlap
    plotter.close()
    turned = camera_of(drawing_of(checked, up="z"))
    assert turned.up.tolist() == [0, 0, 1]
    assert turned.eye[2] > turned.center[2]
    assert camera_of(drawing_of(report)).up.tolist() == [0, 0, 1]
    np.testing.assert_allclose(camera_of(drawing_of(report)).center, (-1, 0, 0.3))
