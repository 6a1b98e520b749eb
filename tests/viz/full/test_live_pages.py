"""Pages that recompute: joints of robots, the slider of a distance, names in scenes, and views of safety reports."""

import numpy as np
import pytest
from browser import Browser, program
from example_results import overlapping, pose, separated
from page_state import set_input

import gjk3d as gk
from gjk3d import viz
from gjk3d.query.wording import headline
from gjk3d.viz.page import _pieces


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if program() is None:
        pytest.fail("these tests look at pages in Chromium, which is not on PATH: apt-get install chromium")
    opened = Browser(tmp_path_factory.mktemp("profile"), (1100, 900))
    opened.media(prefers_reduced_motion="reduce")
    yield opened
    opened.close()


def opened(browser, page, hash=""):
    browser.open_anew(page, hash)
    return browser


def checker():
    made = gk.robot.Checker(gk.robot.Robot.example(), margin=0.01)
    made.add("<ball>", gk.Sphere(0.1), pose(1, 1, 0))
    made.add("floor", gk.Halfspace((0, 0, 1), -0.5))
    cup = gk.Compound([(gk.Cylinder(0.03, 0.1), None), (gk.Box((0.05, 0.05, 0.05)), pose(0, 0, 0.1))])
    made.attach("cup", cup, "hand", touch_links=["beam"])
    return made


@pytest.fixture(scope="module")
def robot_page(tmp_path_factory):
    return viz.show(checker(), path=tmp_path_factory.mktemp("robot") / "robot.html", title="A cell")


def test_page_distance_equals_checker(browser, robot_page, rng):
    cell, page = checker(), opened(browser, robot_page)
    assert page.evaluate("document.querySelector('#source').textContent") == "computed by gjk3d, with proven bounds"
    hits = 0
    for q in rng.uniform((-0.2, -0.8), (1.6, 0.8), (30, 2)):
        for column, value in enumerate(q.tolist()):
            set_input(page, f"#joint-{column}", value)
        q = np.array([page.evaluate(f"Number(document.querySelector('#joint-{k}').value)") for k in range(2)])
        collisions = cell.collisions(q)
        hits += bool(collisions)
        names = sorted({name for collision in collisions for name in (collision.a, collision.b)})
        assert page.state("hit") == " ".join(names)
        if not collisions:
            assert float(page.state("distance")) == pytest.approx(float(cell.clearance(q).distance), abs=2e-3)
    assert 0 < hits < 30
    assert page.evaluate("document.querySelector('#source').textContent").startswith("approximate")
    assert page.complaints == []


def test_page_links_have_poses_of_robot(browser, robot_page):
    page, robot = opened(browser, robot_page), gk.robot.Robot.example()
    set_input(page, "#joint-0", 0.7)
    set_input(page, "#joint-1", -1.1)
    data = page.evaluate("({size: gjk3d.data.robot.size, center: gjk3d.data.robot.center})")
    for name, pose_ in zip(robot.links, robot.link_poses([0.7, -1.1]), strict=True):
        elements = page.evaluate(
            f"gjk3d.picture.groups.find(({{item}}) => item.name === {name!r})?.group.matrix.elements"
        )
        if elements is not None:
            moved = np.reshape(elements, (4, 4)).T
            np.testing.assert_allclose(moved[:3, :3], pose_[:3, :3], atol=1e-12)
            np.testing.assert_allclose(moved[:3, 3] * data["size"] + data["center"], pose_[:3, 3], atol=1e-12)


def test_keys_move_joints_and_home_resets_them(browser, robot_page):
    page = opened(browser, robot_page)
    first = page.evaluate("document.querySelector('#live').textContent")
    page.evaluate("document.querySelector('#joint-0').focus()")
    for _ in range(5):
        page.key("ArrowRight")
    assert page.evaluate("document.querySelector('#live').textContent") != first
    assert "≈" in page.evaluate("document.querySelector('#live').textContent") or page.state("hit")
    assert "rad" in page.evaluate("document.querySelector('#joint-0').getAttribute('aria-valuetext')")
    page.click("#home")
    assert page.evaluate("document.querySelector('#live').textContent") == first
    assert page.evaluate("document.querySelector('#q').textContent") == "[0, 0]"


def test_slider_updates_distance_readings(browser, tmp_path):
    for name, result in (("apart", separated()), ("deep", overlapping())):
        page = opened(browser, viz.show(result, path=tmp_path / f"{name}.html"))
        for share in (0.0, 0.5, 1.0):
            set_input(page, "#slide", share)
            moved = result.pose_b.copy()
            moved[:3, 3] -= share * result.distance * result.normal
            expected = gk.signed_distance(result.shape_a, result.shape_b, result.pose_a, moved)
            assert page.evaluate("document.querySelector('#answer h1').textContent") == headline(expected)
            rows = dict(
                page.evaluate(
                    "[...document.querySelectorAll('tr')].map((row) => [...row.children].map((x) => x.textContent))"
                )
            )
            assert rows["Status"] == expected.status.name.lower()
            assert float(rows["Proven at least"]) <= abs(expected.distance) + 1e-12
            assert float(rows["Proven at most"]) >= abs(expected.distance) - 1e-12
        page.click("#reset")
        assert page.evaluate("document.querySelector('#answer h1').textContent") == headline(result)


@pytest.mark.parametrize("count", [3, 60])
def test_scene_names_hovered_object_and_its_depth(browser, tmp_path, count):
    scene = gk.Scene()
    for k in range(count):
        scene.add(f"<b>{k}", gk.Box((1, 1, 1)), pose(2.0 * (k % 8) if k else 0.9, 0, 2.0 * (k // 8)))
    scene.move("<b>1", pose(1.6, 0, 0))
    page = opened(browser, viz.show(scene, path=tmp_path / "scene.html", view="xz"))
    page.evaluate("document.querySelector('#pick').focus()")
    page.key("ArrowDown")
    assert page.evaluate("document.querySelector('#fact').textContent") == "<b>0: depth 0.3 with <b>1"
    assert page.state("picked") == "<b>0"
    where = page.evaluate(
        "(() => { const box = gjk3d.picture.view.canvas.getBoundingClientRect(), found = [];"
        " for (let i = 0; i < 60; i++) for (let j = 0.1; j < 1; j += 0.2)"
        " found.push([box.left + (box.width * i) / 60, box.top + box.height * j]); return found; })()"
    )
    if count == 3:
        where = [(x, y) for x, y in where if abs(y - 450) < 40]
    seen = set()
    for x, y in where if count == 3 else where[::6]:
        page.hover(x, y)
        page.settle()
        if not page.evaluate("document.querySelector('#name').hidden"):
            seen.add(page.evaluate("document.querySelector('#name').textContent"))
    assert page.complaints == []
    assert any(text.endswith(": free") for text in seen)
    if count == 3:
        assert {"<b>0: depth 0.3 with <b>1", "<b>2: free"} <= seen


def test_safety_page_shows_the_pair_of_a_row(browser, tmp_path):
    cell = gk.robot.Checker(gk.robot.Robot.example(), {"ball": (gk.Sphere(0.1), pose(1, 1, 0))}, margin=0.02)
    for k in range(8):  # posts all around would hide the pair from most sides
        cell.add(f"post {k}", gk.Box((0.1, 0.1, 4)), pose(1 + 1.2 * np.cos(k), 1 + 1.2 * np.sin(k), 0))
    page = opened(browser, cell.safety({"over": [[0.2, 0], [1, 0]]}).to_html(tmp_path / "safety.html"), "#1")
    page.settle()
    state = page.evaluate("gjk3d.data.states[1]")
    assert "hand" in state["hit"]
    target = page.evaluate("gjk3d.picture.view.controls.target.toArray()")
    np.testing.assert_allclose(target, state["look"]["center"], atol=1e-6)
    faint = page.evaluate(
        "gjk3d.picture.groups.filter(({meshes}) => meshes[0].material.opacity < 0.5).map(({item}) => item.name)"
    )
    assert "post 0" in faint
    assert not set(faint) & set(state["hit"])
    first = page.evaluate(
        "(() => { const view = gjk3d.picture.view, at = gjk3d.data.states[1].ends[0], ray = new THREE.Raycaster();"
        " ray.set(view.camera.position, gjk3d.vec(at).sub(view.camera.position).normalize());"
        " const meshes = gjk3d.picture.groups.flatMap(({meshes}) =>"
        " meshes.filter((mesh) => mesh.isMesh && mesh.material.opacity > 0.5));"
        " const hit = ray.intersectObjects(meshes)[0].object;"
        " return gjk3d.picture.groups.find(({meshes}) => meshes.includes(hit)).item.name; })()"
    )
    assert first in state["hit"]


def test_point_cloud_has_pieces_for_live_distance():
    cloud = gk.PointCloud(np.random.default_rng(0).random((500, 3)), 0.0)
    pieces = _pieces(cloud, np.eye(4))
    assert len(pieces) == 64
    assert all(piece["radius"] == 0.0 for piece in pieces)


def test_safety_page_shows_all_then_scrolls_to_row(browser, tmp_path):
    cell = checker()
    cell.add("pillar", gk.Cylinder(0.05, 1.0), pose(0.8, 0.6, 0))
    page = opened(browser, cell.safety({"over": [[0.2, 0], [1, 0]]}).to_html(tmp_path / "safety.html"))
    eye = "gjk3d.picture.view.camera.position.distanceTo(new THREE.Vector3(...gjk3d.data.eye))"
    assert page.evaluate(eye) < 1e-6
    assert "one row after another" in page.evaluate("document.querySelector('#play').textContent")
    page.click("#rows a")
    page.settle()
    assert page.evaluate(eye) > 0.1
    page.resize(390, 844)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.evaluate("document.querySelector('#rows').scrollIntoView()")
    page.click("#rows a")
    assert page.evaluate("document.querySelector('#view').getBoundingClientRect().top") == pytest.approx(0, abs=1)
    page.resize(1100, 900)


def test_robot_picture_stays_visible_while_scrolling(browser, robot_page):
    page = opened(browser, robot_page)
    page.resize(390, 600)
    page.evaluate("window.scrollTo(0, 1e6)")
    assert page.evaluate("window.scrollY") > 0
    assert page.evaluate("document.querySelector('#view').getBoundingClientRect().top") == pytest.approx(0, abs=1)
    page.resize(1100, 900)
