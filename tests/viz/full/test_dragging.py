"""Dragging B with a simulated mouse updates the pose, the result and the picture."""

from __future__ import annotations

import numpy as np
import pytest

import gjk3d as gk
from gjk3d.errors import UnsupportedPair
from gjk3d.viz.colors import COLORS, INK, SEPARATION, darker

BOX, BALL = gk.Box((1, 1, 1)), gk.Sphere(0.5)


def at(x, y=0.0, z=0.0):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


@pytest.fixture
def dragged():
    made = gk.viz.drag(BOX, BALL, None, at(2.0), off_screen=True)
    made._hold()
    made.plotter.show(auto_close=False, interactive=False)
    yield made
    made.plotter.close()


def on_screen(plotter, point):
    plotter.renderer.SetWorldPoint(*point, 1.0)
    plotter.renderer.WorldToDisplay()
    return [round(c) for c in plotter.renderer.GetDisplayPoint()[:2]]


def drag_arrow(made, arrow, pixels):
    """Press on an arrow of the widget, move the mouse in small steps, and release it."""
    plotter = made.plotter
    x, y = on_screen(plotter, made._widget._arrows[arrow].center)
    plotter.iren._mouse_move(x, y)
    plotter.iren._mouse_left_button_press(x, y)
    for step in np.linspace(0.0, 1.0, 5)[1:]:
        plotter.iren._mouse_move(round(x + step * pixels[0]), round(y + step * pixels[1]))
    plotter.iren._mouse_left_button_release(round(x + pixels[0]), round(y + pixels[1]))


def words(made):
    return made.plotter.renderer.actors["gjk3d line 0"].input


def test_mouse_moves_b_and_updates_result(dragged):
    origin = on_screen(dragged.plotter, (2.0, 0.0, 0.0))
    target = on_screen(dragged.plotter, (1.0, 0.0, 0.0))
    before = dragged.pose_b.copy()
    drag_arrow(dragged, 0, np.subtract(target, origin))
    moved = dragged.pose_b
    assert moved[0, 3] < before[0, 3] - 0.2
    assert moved[1:, 3] == pytest.approx(before[1:, 3])
    expected = gk.signed_distance(BOX, BALL, None, moved)
    assert dragged.result.distance == pytest.approx(expected.distance, abs=1e-12)
    assert words(dragged).startswith("Apart" if expected.distance > 0 else "Overlapping")
    # the widget has moved to the ball
    assert dragged._widget._origin == pytest.approx(moved[:3, 3], abs=1e-6)


def test_widget_follows_b_while_it_is_dragged(dragged):
    origin, target = (on_screen(dragged.plotter, (x, 0.0, 0.0)) for x in (2.0, 1.2))
    seen, follow = [], dragged._query

    def look():
        follow()
        seen.append([np.asarray(a.user_matrix)[:3, 3] for a in dragged._widget._arrows + dragged._widget._circles])
        np.testing.assert_allclose(seen[-1], np.tile(dragged.pose_b[:3, 3], (6, 1)), atol=1e-6)

    dragged._query = look
    drag_arrow(dragged, 0, np.subtract(target, origin))
    assert len(seen) > 2
    for arrow in dragged._widget._arrows:  # in the picture
        assert (
            np.abs(np.divide(on_screen(dragged.plotter, arrow.center), dragged.plotter.window_size) - 0.5).max() < 0.5
        )


def marks(made, color):
    """Return the corners of each sign that is drawn in a colour over the bodies."""
    signs = [actor for _, drawn in made._posed._signs for actor in drawn if actor.prop.color == color]
    return [np.asarray(actor.mapper.dataset.points) for actor in signs]


def middle(points):
    return (points.min(axis=0) + points.max(axis=0)) / 2


def test_drawn_signs_match_the_result(dragged):
    result = dragged.move(at(0.9, 0.1, 0.2))
    assert dragged.result is result
    assert result.depth == pytest.approx(0.1)
    for color, point in ((darker(COLORS[0]), result.point_a), (darker(COLORS[1]), result.point_b)):
        assert any(middle(ball) == pytest.approx(point, abs=1e-6) for ball in marks(dragged, color))
    translation = np.concatenate(marks(dragged, SEPARATION)[:2]) @ result.normal  # shaft and head of the arrow
    assert [translation.min(), translation.max()] == pytest.approx(
        [result.point_b @ result.normal, result.point_b @ result.normal + result.depth], abs=1e-6
    )
    assert len(dragged.contact.points_a) == 1
    balls = [middle(ball) for ball in marks(dragged, darker(COLORS[0]))]
    # the contact point and the witness point
    assert sum(ball == pytest.approx(dragged.contact.points_a[0], abs=1e-6) for ball in balls) == 2
    assert words(dragged) == "Overlapping by 0.1"
    dragged.move(at(3.0))
    assert words(dragged) == "Apart by 2"
    assert dragged.contact is None
    rod = next(points for points in marks(dragged, INK) if np.ptp(points[:, 0]) > 1.0)
    assert [rod[:, 0].min(), rod[:, 0].max()] == pytest.approx([0.5, 2.5])
    assert marks(dragged, SEPARATION) == []


def test_pixels_move_with_b(dragged):
    def middle_of_green():
        dragged.plotter.render()
        image = dragged.plotter.screenshot(None, return_img=True).astype(int)
        green = (image[..., 1] > image[..., 0] + 40) & (image[..., 1] > 90)
        assert green.sum() > 2000
        return np.argwhere(green).mean(axis=0)

    before = middle_of_green()
    dragged.move(at(2.0, 0.0, -0.5))
    assert middle_of_green()[0] > before[0] + 40  # rows count from the top


def test_contact_patch_of_two_boxes():
    made = gk.viz.drag(BOX, BOX, None, at(0.0, 0.0, 2.0), off_screen=True)
    made.move(at(0.25, 0.5, 0.9))
    assert len(marks(made, SEPARATION)) == 2  # shaft and head of the separating translation
    ring, _ = marks(made, INK)  # the contact patch, and the gaps
    middles = ring.reshape(4, -1, 3).mean(axis=1)  # middles of its four bars
    assert middles[:, :2].min(axis=0) == pytest.approx([-0.25, 0.0], abs=1e-7)
    assert middles[:, :2].max(axis=0) == pytest.approx([0.5, 0.5], abs=1e-7)
    assert made.contact.normal == pytest.approx([0, 0, 1])
    made.plotter.close()


def test_drag_works_with_meshes_and_half_spaces():
    ring = gk.load("data/nut.stl")
    size = float(np.ptp(ring.vertices, axis=0).max())
    made = gk.viz.drag(ring, gk.Sphere(0.05 * size), at(0, 0, 0), at(2 * size), off_screen=True)
    assert made.result.distance > 0
    hole = made.move(at(*ring.vertices.mean(axis=0)))
    assert hole.distance > 0  # in the hole, which the hull would fill
    assert made.contact is None
    made.plotter.close()
    floor = gk.viz.drag(gk.Halfspace((0, 0, 1)), BALL, None, at(0, 0, 1), off_screen=True)
    assert floor.move(at(5, 5, 0.4)).depth == pytest.approx(0.1)
    floor.plotter.close()


def test_drag_without_display_saves_the_start(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gjk3d.viz.picture.has_display", lambda: False)
    made = gk.viz.drag(BOX, BALL, None, at(2.0))
    assert (tmp_path / "gjk3d.png").stat().st_size > 5000
    assert "gjk3d.png" in capsys.readouterr().err
    made.plotter.close()
    gk.viz.drag(BOX, BALL, None, at(2.0), path=tmp_path / "start.png").plotter.close()
    assert (tmp_path / "start.png").exists()


def test_drag_uses_existing_plotter():
    import pyvista

    plotter = pyvista.Plotter(off_screen=True)
    made = gk.viz.drag(BOX, BALL, None, at(2.0), plotter=plotter)
    assert made.plotter is plotter
    plotter.close()


def test_dragging_a_half_space_raises():
    with pytest.raises(UnsupportedPair, match=r"Halfspace.*\bA\b"):
        gk.viz.drag(BOX, gk.Halfspace((0, 0, 1)), off_screen=True)
