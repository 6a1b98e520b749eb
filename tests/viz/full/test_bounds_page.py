"""The lesson on bounding volumes in Chromium: volumes and overlaps, presets, keys, dragging and its address."""

from __future__ import annotations

import json

import numpy as np
import pytest
from page_state import assert_address_restores, press_shift, set_input, state, text
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.query.overlap import Difference
from gjk3d.viz.explanation.lessons import bounded_shapes

SHAPES = bounded_shapes()
KINDS = ("sphere", "aabb", "moved", "obb")
VOLUMES = """asked.map(([a, b, turn, at]) => {
  const [one, two] = [a, b].map((name) => gjk3d.data.shapes[name]), still = [1, 0, 0, 0, 1, 0, 0, 0, 1];
  const { placed, volumes, content, gap, corners } = gjk3dVolumes;
  const first = volumes(placed(one, turn), placed(one, still));
  const second = volumes(placed(two, still, at), placed(two, still));
  return ["sphere", "aabb", "moved", "obb"].map((kind) => [content(first[kind]), gap(first[kind], second[kind]),
    ...(kind === "sphere" ? first[kind].center : corners(first[kind]).flat())]);
})"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return gk.viz.lesson(tmp_path_factory.mktemp("bounds") / "bounds.html", "bounds")


def at(name, rotation=None, shift=(0, 0, 0)):
    """Return the pose of a shape whose centre the page places at the origin before it moves the shape."""
    shape, pose = SHAPES[name], np.eye(4)
    pair = gk.distance(shape, shape)
    if rotation is not None:
        pose[:3, :3] = rotation.as_matrix()
    pose[:3, 3] = shift - pose[:3, :3] @ Difference(pair).center
    return pose


def around(shape, pose):
    """Return the bounding volumes of the library by their names in the page."""
    return {
        "sphere": gk.bounding_sphere(shape, pose),
        "aabb": gk.aabb(shape, pose),
        "moved": gk.aabb(shape).placed(pose),
        "obb": gk.obb(shape, pose),
    }


# --- numbers ---------------------------------------------------------------------------------------------------------


def test_volumes_and_overlaps_equal_library(browser, page):
    browser.open_anew(page)
    rng, names, cases, expected = np.random.default_rng(6), list(SHAPES), [], []
    for k in range(200):
        a, b = names[k % len(names)], names[int(rng.integers(len(names)))]
        rotation, shift = Rotation.random(rng=rng), rng.uniform(-2.5, 2.5, 3)
        cases.append([a, b, rotation.as_matrix().ravel().tolist(), shift.tolist()])
        expected.append((around(SHAPES[a], at(a, rotation)), around(SHAPES[b], at(b, None, shift))))
    script = f"(() => {{ const asked = {json.dumps(cases)}; return JSON.stringify({VOLUMES}); }})()"
    overlaps = []
    for rows, (first, second) in zip(json.loads(browser.evaluate(script)), expected, strict=True):
        for kind, (volume, gap, *places) in zip(KINDS, rows, strict=True):
            volume_a, volume_b = first[kind], second[kind]
            assert volume == pytest.approx(volume_a.volume, rel=1e-9)
            assert (gap <= 0.0) == volume_a.overlaps(volume_b)
            overlaps.append(gap <= 0.0)
            if kind == "sphere":
                np.testing.assert_allclose(places, volume_a.center, atol=1e-9)
                continue
            corners = np.reshape(places, (8, 3))
            if kind == "obb":
                assert volume_a.contains(corners * (1.0 - 1e-9)).all()
                continue
            np.testing.assert_allclose(corners.min(axis=0), volume_a.low, atol=1e-9)
            np.testing.assert_allclose(corners.max(axis=0), volume_a.high, atol=1e-9)
    assert 0.3 < np.mean(overlaps) < 0.9


# --- the page --------------------------------------------------------------------------------------------------------

#: o or -: whether the spheres, AABBs, AABBs of the rotated boxes, OBBs and the shapes overlap
PRESETS = {
    "a rod that rotates": "-----",
    "boxes overlap, shapes do not": "ooo--",
    "fitted again, or the box rotated": "o-o--",
    "spheres decide": "-ooo-",
    "AABBs decide, OBBs do not": "o-oo-",
    "all volumes overlap": "oooo-",
    "all volumes are apart": "-----",
    "shapes that overlap": "ooooo",
}


def rows_of(browser):
    """Return the cells of the table by the names of the volumes."""
    rows = browser.evaluate(
        "[...document.querySelectorAll('#volumes tbody tr')].map((row) => [row.dataset.kind,"
        " ...[...row.children].slice(1).map((cell) => cell.textContent)])"
    )
    return {name: cells for name, *cells in rows}


def assert_library(browser):
    """Assert that the table and the verdict equal those of the library, and return which volumes overlap."""
    values = state(browser)
    x, y, z, w = (float(value) for value in values["tilt"].split(","))
    rotation = Rotation.from_euler("z", float(values["angle"]), degrees=True) * Rotation.from_quat((x, y, z, w))
    poses = at(values["a"], rotation), at(values["b"], None, [float(value) for value in values["at"].split(",")])
    shapes, table = [SHAPES[values[name]] for name in "ab"], rows_of(browser)
    result = gk.signed_distance(*shapes, *poses)
    words, value = ("overlap by", result.depth) if result.distance < 0.0 else ("apart by", result.distance)
    shown = text(browser, "#verdict")
    assert shown.startswith(f"Shapes {words} ")
    assert float(shown.split()[3]) == pytest.approx(value, rel=1e-4)
    first, second = (around(shape, pose) for shape, pose in zip(shapes, poses, strict=True))
    for kind in KINDS:
        volume, share, status = table[kind]
        assert float(volume) == pytest.approx(first[kind].volume, rel=1e-3)
        assert float(share) == pytest.approx(first[kind].volume / shapes[0].volume, rel=1e-3)
        alarm = "false alarm" if words == "apart by" else "overlap"
        assert status == (alarm if first[kind].overlaps(second[kind]) else "apart")
    code = "".join("-o"[table[kind][2] != "apart"] for kind in KINDS)
    return code + "-o"[result.distance < 0.0]


@pytest.mark.parametrize("name", PRESETS)
def test_presets_show_topic_and_library_numbers(browser, page, name):
    browser.open_anew(page, f"#topic={name}")
    assert browser.evaluate("Object.keys(gjk3dBoundsPresets)") == list(PRESETS)
    assert text(browser, "#topic").startswith(f"{name[0].upper()}{name[1:]}. ")
    assert assert_library(browser) == PRESETS[name]
    assert browser.picture("#left").std() > 10
    assert browser.complaints == []


def test_keys_slider_and_pointer_move_shapes(browser, page):
    browser.open_anew(page, "#topic=boxes overlap, shapes do not")
    first = state(browser)
    for key in ("ArrowRight", "ArrowUp", "ArrowUp"):
        browser.key(key)
        assert_library(browser)
    turned = state(browser)
    assert int(turned["angle"]) == int(first["angle"]) + 5
    assert turned["tilt"] != first["tilt"]
    press_shift(browser, "ArrowUp")
    assert state(browser)["at"] != turned["at"]
    set_input(browser, "#slide", 200)
    assert state(browser)["angle"] == "200"
    assert_library(browser)
    for body, name in ((0, "tilt"), (1, "at")):  # drag with the pointer
        x, y = browser.middle_of_body(body)
        before = state(browser)[name]
        browser.drag((x, y), (x + 30, y + 30))
        assert state(browser)[name] != before
        assert_library(browser)
    assert_address_restores(browser, page)


def test_phone_window_shows_all_volumes(browser, page):
    browser.resize(390, 844)
    try:
        for name in PRESETS:
            browser.open_anew(page, f"#topic={name}")
            view = browser.picture("#left")
            drawn = np.abs(view - view[-3, 3]).max(axis=-1) > 12
            drawn[:36] = False  # the caption
            assert not any(edge.any() for edge in (drawn[:, :2], drawn[:, -2:], drawn[-2:])), name
            assert max(np.ptp(np.flatnonzero(drawn.any(axis=axis))) for axis in (0, 1)) > 150, name
    finally:
        browser.resize(1280, 900)


def test_play_rotates_a_and_chart_selects_angle(browser, page):
    browser.open_anew(page, "#topic=a rod that rotates")
    browser.click("#play")
    browser.wait("Number(document.documentElement.dataset.angle) > 40")
    browser.click("#play")
    assert text(browser, "#play") == "play"
    left, top, width, height = browser.evaluate(
        "(({ x, y, width, height }) => [x, y, width, height])"
        "(document.querySelector('#sizes svg').getBoundingClientRect())"
    )
    browser.click_at(left + 52 + (width - 66) / 2, top + height / 2)
    assert browser.state("angle") in ("179", "180", "181")
    browser.click("#show-obb")
    assert browser.evaluate("document.querySelectorAll('#sizes polyline').length") == 1


@pytest.mark.parametrize("evil", ["#a=<script>&b=box", "#a=rod&b=box&at=1,2&tilt=0,0,0,0", "#topic=__proto__"])
def test_invalid_address_shows_first_topic(browser, page, evil):
    browser.open_anew(page, evil)
    assert text(browser, "#topic").startswith("A rod that rotates")
    assert browser.complaints == []
