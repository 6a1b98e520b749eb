"""Plotters with several panels: each panel keeps its text, legend and camera, and later drawing changes one panel."""

import itertools
from functools import cache

import numpy as np
import pytest
import pyvista
from example_results import overlapping, pose, separated

import gjk3d as gk
from gjk3d.viz import image_files
from gjk3d.viz.kinds import drawing_of


@pytest.fixture
def panels():
    image_files.check_rendering()
    made = []

    def make(*shape):
        made.append(pyvista.Plotter(off_screen=True, shape=shape, window_size=(900, 700)))
        return made[-1]

    yield make
    for plotter in made:
        plotter.close()


def written(plotter, row, column):
    """Return the text of each actor of a panel by name, including the chips of the legend."""
    plotter.subplot(row, column)
    ours = {name: actor for name, actor in plotter.renderer.actors.items() if name.startswith("gjk3d ")}
    words = {name: getattr(actor, "input", None) for name, actor in ours.items()}
    return {name: text and text.replace("\n", " ") for name, text in words.items()}  # long lines are broken


def single_panel_texts(panels, result, title):
    """Return the texts of a result that is drawn in a plotter of one panel."""
    plotter = panels(1, 1)
    gk.viz.plot(result, plotter, title=title)
    return written(plotter, 0, 0)


@cache
def results():
    touch = gk.contact(gk.Box((2, 2, 1)), gk.Box((2, 2, 1)), None, pose(0.5, 0.3, 1))
    return [separated(), overlapping(), gk.AABB((0, 0, 0), (1, 2, 3)), touch]


@pytest.mark.parametrize(("rows", "columns"), [(1, 2), (1, 3), (2, 1), (2, 2)])
def test_panels_keep_their_text_and_legend(panels, rows, columns):
    plotter = panels(rows, columns)
    places = [(row, column) for row in range(rows) for column in range(columns)]
    for k, place in enumerate(places):
        plotter.subplot(*place)
        gk.viz.plot(results()[k], plotter, title=f"panel {k}")
    plotter.render()
    for k, place in enumerate(places):
        texts = written(plotter, *place)
        assert texts == single_panel_texts(panels, results()[k], f"panel {k}")
        assert texts["gjk3d line 0"] == f"panel {k}"
        assert "gjk3d key 0" in texts
        assert "gjk3d chip 0" in texts
        points = drawing_of(results()[k]).framed
        assert_no_overlap(plotter, points)
        for point in points:
            assert_inside(plotter, point)


def assert_no_overlap(plotter, points):
    """Assert that rows of text overlap neither each other nor a point and stay inside the panel."""
    left, low, right, high = (4 * [900, 700])[:4] * np.array(plotter.renderer.GetViewport())
    spans = []
    for name, actor in plotter.renderer.actors.items():
        if name.startswith(("gjk3d line", "gjk3d key")):
            size = [0.0, 0.0]
            actor.GetSize(plotter.renderer, size)
            x, y = actor.GetActualPositionCoordinate().GetComputedViewportValue(plotter.renderer)
            assert x >= 0, name
            assert x + size[0] <= right - left, (name, actor.input)
            assert 0 <= y <= y + size[1] <= high - low, name
            for point in points:
                plotter.renderer.SetWorldPoint(*point, 1.0)
                plotter.renderer.WorldToView()
                seen = (np.array(plotter.renderer.GetViewPoint()[:2]) + 1) / 2 * (right - left, high - low)
                assert not ((x, y) < seen).all() or not (seen < (x + size[0], y + size[1])).all(), (name, point)
            spans.append((y, y + size[1]))
    for (_, top), (bottom, _) in itertools.pairwise(sorted(spans)):
        assert bottom > top - 3


def assert_inside(plotter, point):
    plotter.renderer.SetWorldPoint(*point, 1.0)
    plotter.renderer.WorldToView()
    assert np.abs(plotter.renderer.GetViewPoint()[:2]).max() < 1.0


def test_each_panel_has_its_own_light():
    from gjk3d.viz.picture import new_plotter

    brightest = []
    for shape in ((1, 1), (2, 2)):
        plotter = new_plotter(off_screen=True, shape=shape)
        gk.viz.plot(gk.Sphere(1), plotter)
        assert [len(renderer.lights) for renderer in plotter.renderers] == [3] * (shape[0] * shape[1])
        image = np.asarray(plotter.screenshot(None, return_img=True)).astype(int)
        part = image[: 750 // shape[0], : 1000 // shape[1]]
        orange = part[..., 0] > part[..., 2] + 60
        brightest.append(part[orange].mean(axis=0))
        plotter.close()
    np.testing.assert_allclose(*brightest, atol=6.0)


def test_long_line_is_broken_and_scaled_to_panel(panels):
    sizes = []
    for shape in ((1, 1), (2, 3)):
        plotter = panels(*shape)
        gk.viz.plot(
            gk.Sphere(1), plotter, title="a title of so many words that a narrow panel has no room for all of them"
        )
        line = plotter.renderer.actors["gjk3d line 0"]
        sizes.append((line.prop.font_size, line.input.count("\n")))
    (large, _), (small, breaks) = sizes
    assert large > small >= 0.6 * 24
    assert breaks >= 1


def test_show_changes_only_the_active_panel(panels):
    plotter = panels(1, 2)
    gk.viz.show(separated(), plotter=plotter, title="left")
    before = written(plotter, 0, 0)
    plotter.subplot(0, 1)
    gk.viz.show(overlapping(), plotter=plotter, title="right")
    assert written(plotter, 0, 0) == before
    plotter.subplot(0, 1)
    gk.viz.show(gk.Sphere(0.3), plotter=plotter)  # a second drawing in a panel adds to its text
    assert written(plotter, 0, 1)["gjk3d line 0"] == "right"
    assert written(plotter, 0, 0) == before


def test_text_is_visible_in_both_panels(panels):
    plotter = panels(1, 2)
    for column in (0, 1):
        plotter.subplot(0, column)
        gk.viz.plot(separated(), plotter, title="the same in both panels")
    image = np.asarray(plotter.screenshot(None, return_img=True)).astype(int)
    top = image[:60].min(axis=2) < 120  # ink
    assert top[:, :450].sum() > 100
    assert top[:, 450:].sum() == pytest.approx(top[:, :450].sum(), rel=0.3)


def test_dragging_changes_text_of_its_panel_only(panels):
    plotter = panels(1, 2)
    dragged = gk.viz.drag(gk.Sphere(0.5), gk.Box((1, 1, 1)), None, pose(1.5, 0, 0), plotter=plotter)
    plotter.subplot(0, 1)
    gk.viz.plot(separated(), plotter, title="right")
    before = written(plotter, 0, 1)
    dragged.move(pose(2, 0, 0))
    assert written(plotter, 0, 1) == before
    assert written(plotter, 0, 0)["gjk3d line 0"] == "Apart by 1"
