"""Camera position and focus of pictures, nested lists, and pictures in several panels."""

import numpy as np
import pytest

import gjk3d as gk
from gjk3d.errors import ShapeError
from gjk3d.viz.drawing import Style
from gjk3d.viz.kinds import draw_list


def camera(x, **look):
    plotter = gk.viz.plot(x, off_screen=True, **look)
    eye, center, up = (np.array(v) for v in plotter.camera_position)
    plotter.close()
    way = eye - center
    return way / np.linalg.norm(way), center, up


@pytest.mark.parametrize("x", [gk.Box((1, 2, 3)), gk.distance(gk.Box((1, 1, 1)), gk.Point((2, 0, 0)))])
def test_camera_has_requested_view_and_up(x):
    view = np.array([0.6, 0.0, 0.8])
    np.testing.assert_allclose(camera(x, view=5 * view)[0], view, atol=1e-12)
    np.testing.assert_allclose(camera(x, view=view, up=(0, 2, 0))[2], (0, 1, 0), atol=1e-12)
    np.testing.assert_allclose(camera(x, up=(0, 1, 0))[2], (0, 1, 0), atol=1e-12)


def test_focus_sets_camera_target():
    plotter = gk.viz.plot(gk.Box((9, 9, 9)), off_screen=True, focus=((4, 4, 4), 0.5))
    eye, center, _ = (np.array(v) for v in plotter.camera_position)
    plotter.close()
    assert np.linalg.norm(center - 4.0) < 1.0
    assert np.linalg.norm(eye - center) < 4.0


@pytest.mark.parametrize(
    ("look", "words"),
    [
        ({"view": (0, 0, 0)}, r"view.*\(0, 0, 0\)"),
        ({"up": (0, 0, 0)}, r"up.*\(0, 0, 0\)"),
        ({"view": (1, 2)}, r"view.*\(1, 2\)"),
        ({"focus": ((0, 0, 0), 0.0)}, r"focus.*\b0\b"),
    ],
)
def test_invalid_views_raise(look, words):
    with pytest.raises(ShapeError, match=words):
        gk.viz.plot(gk.Box((1, 1, 1)), off_screen=True, **look)


def test_inner_list_is_drawn_as_one_object():
    shift = gk.Motion(None, (3, 0, 0)).at(1)
    rocks = [gk.Sphere(0.5), (gk.Sphere(0.4), shift)]
    style = Style(colors=("#112233", "#445566"), opacity=(0.5, 1.0), names=("rocks", "ship"))
    drawing = draw_list([rocks, gk.Box((1, 1, 1))], style)
    assert [item.color for item in drawing.items] == ["#112233", "#112233", "#445566"]
    assert [item.opacity for item in drawing.items] == [0.5, 0.5, 1.0]
    assert drawing.keys == [("rocks", "#112233"), ("ship", "#445566")]
    assert draw_list([rocks, gk.Box((1, 1, 1))], Style()).keys[0][0] == "2 bodies"


def test_panels_have_their_own_text():
    plotter = gk.viz.plotter((1, 2), (800, 300), off_screen=True)
    for column in range(2):
        plotter.subplot(0, column)
        gk.viz.plot(gk.Sphere(1), plotter, title=f"panel {column}\nsecond line")
    for column in range(2):
        written = [actor.input for actor in plotter.renderers[column].actors.values() if hasattr(actor, "input")]
        assert f"panel {column}" in written
        assert "second line" in written
    assert plotter.screenshot(None, return_img=True).shape == (300, 800, 3)
    plotter.close()


def test_size_option_sets_image_size(tmp_path):
    from PIL import Image

    with Image.open(gk.viz.show(gk.Sphere(1), path=tmp_path / "a.png", size=(320, 240))) as image:
        assert image.size == (320, 240)


def test_repeated_calls_do_not_overwrite_files(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gjk3d.viz.picture.has_display", lambda: False)
    names = [gk.viz.show(gk.Sphere(1)).name for _ in range(3)]
    assert names == ["gjk3d.png", "gjk3d-2.png", "gjk3d-3.png"]
    assert "gjk3d-3.png" in capsys.readouterr().err
