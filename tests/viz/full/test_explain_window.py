import numpy as np
import pytest
from example_results import pose, separated
from PIL import Image

import gjk3d as gk


@pytest.fixture(scope="module")
def explanation():
    a, b, place = gk.Box((2, 1.4, 1.2)), gk.Box((1, 1, 1)), pose(0.7, 0.3, 0.2, (0.4, 0.3, 0.5))
    return gk.viz.explain(gk.signed_distance(a, b, None, place, depth="epa", trace=True))


@pytest.fixture(scope="module")
def window(explanation):
    opened = explanation.show(off_screen=True)
    opened.plotter.show(auto_close=False, interactive=False)
    yield opened
    opened.plotter.close()


def press(window, key):
    window.plotter.iren.interactor.SetKeySym(key)
    window.plotter.iren.interactor.InvokeEvent("KeyPressEvent")


def picture(window):
    window.plotter.render()
    return np.asarray(window.plotter.screenshot(None, return_img=True)).astype(int)


def test_arrow_keys_move_between_steps(window, explanation):
    window.go(0)
    press(window, "Left")
    assert window.at == 0
    for index in range(1, len(explanation.steps)):
        press(window, "Right")
        assert window.at == index
        assert window.slider.GetRepresentation().GetValue() == index + 1
    press(window, "Right")
    assert window.at == len(explanation.steps) - 1
    press(window, "Left")
    assert window.at == len(explanation.steps) - 2


def test_slider_moves_between_steps(window):
    window.go(0)
    window.slider.GetRepresentation().SetValue(6.2)
    window.slider.InvokeEvent("InteractionEvent")
    assert window.at == 5


def test_views_and_text_change_with_the_step(window, explanation):
    epa = next(step.number for step in explanation.steps if step.phase == "EPA")
    window.go(epa)
    first = picture(window)
    window.go(epa + 1)
    second = picture(window)
    height, width = first.shape[:2]
    upper = height * 480 // 860
    for part in (np.s_[:upper, : width // 2], np.s_[:upper, width // 2 :], np.s_[upper:, :]):
        assert np.abs(first[part] - second[part]).mean() > 0.3
    yellow = (np.abs(second[:upper, width // 2 :] - (240, 228, 66)).max(axis=-1) < 40).sum()
    assert yellow > 200  # the face nearest to the origin
    window.go(epa)
    assert np.abs(picture(window) - first).mean() < 0.1  # no sign of the other step remains


def test_show_without_display_saves_a_strip(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gjk3d.viz.explanation.has_display", lambda: False)
    saved = gk.viz.explain(separated()).show()
    assert str(saved) in capsys.readouterr().err
    with Image.open(tmp_path / saved) as image:
        assert np.asarray(image.convert("RGB")).std() > 5
