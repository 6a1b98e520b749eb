"""GJK and EPA of the page, run in Chromium and compared with the kernels."""

import json
import re
from itertools import starmap

import numpy as np
import pytest
from browser import Browser, program
from example_results import pose
from scipy.optimize import minimize_scalar

import gjk3d as gk
from gjk3d.query.overlap import Difference
from gjk3d.viz.explanation.stage import given_to
from gjk3d.wording import format_distance
from tests.viz import messages

RUN = """pairs.map(([a, b]) => {
  const far = gjk3dSolve.solve(a, b), meets = gjk3dGjk.gjk(a, b, [0, 0, 0], { boolean: true });
  const separated = meets.lower - meets.error > a.radius + b.radius;
  return [far.distance, far.lower, far.upper, far.size, separated, far.status, far.epa ? far.epa.code : ""];
})"""
TELL = "pairs.map(([a, b]) => gjk3dTell.tell(a, b, [0, 0, 0]).map((s) => [s.title, s.sentence]))"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if program() is None:
        pytest.fail("these tests run the page's loop in Chromium, which is not on PATH: apt-get install chromium")
    opened, box = Browser(tmp_path_factory.mktemp("profile")), gk.Box((1, 1, 1))
    page = tmp_path_factory.mktemp("page") / "explain.html"
    gk.viz.explain(gk.distance(box, box, None, pose(2, 0, 0))).save(page)
    opened.open_plainly(page)
    yield opened
    opened.close()


def run(browser, results, what):
    """Return the values of a JavaScript expression for the pairs of the results."""
    data = json.dumps([given_to(pair, Difference(pair)) for pair in results])
    return json.loads(browser.evaluate(f"(() => {{ const pairs = {data}; return JSON.stringify({what}); }})()"))


def some(rng, k, scale):
    """Return a random shape, some of them flat, thin or tiny."""
    flat = rng.choice([1.0, 1.0, 1e-3, 1e-7], size=3)
    points = rng.normal(size=(rng.integers(4, 30), 3)) * flat * scale
    kinds = (
        lambda: gk.ConvexHull(points),
        lambda: gk.Box(np.abs(points[0]) + 1e-3 * scale),
        lambda: gk.Sphere(scale),
        lambda: gk.Capsule(0.3 * scale, scale),
        lambda: gk.Point((0, 0, 0)),
        lambda: gk.Cylinder(0.5 * scale, scale * flat[0]),
        lambda: gk.Cone(0.5 * scale, scale),
        lambda: gk.Ellipsoid(scale * np.array((1, 0.7, 0.4))),
        lambda: gk.Ellipsoid(scale * np.array((0.6, 1, 0.6))),
        lambda: gk.Cylinder(0.2 * scale, 2 * scale),
    )
    return kinds[k]()


def pairs(count, kinds, seed):
    rng, out = np.random.default_rng(seed), []
    for _ in range(count):
        scale = 10.0 ** rng.uniform(-6, 6)
        a, b = (some(rng, int(rng.choice(kinds)), scale * rng.choice([1.0, 1.0, 1e-4])) for _ in range(2))
        at, away = scale * rng.normal(size=(2, 3))
        place_b = at + away * rng.choice([0.0, 1e-9, 0.3, 1.0, 1.0, 2.0, 100.0])
        out.append(gk.distance(a, b, pose(*at, rng.normal(size=3)), pose(*place_b, rng.normal(size=3))))
    return out


def numbers(browser, results):
    """Return the distances, bounds, sizes and flags of the page, and the end codes of its loops."""
    rows = run(browser, results, RUN)
    return *np.array([row[:5] for row in rows], dtype=np.float64).T, [row[5:] for row in rows]


@pytest.mark.parametrize(("kinds", "seed"), [(range(5), 1), (range(8), 2), (range(8), 22), (range(8), 26)])
def test_page_distances_equal_kernels(browser, kinds, seed):
    results = pairs(1000, kinds, seed)
    distance, lower, upper, size, separated, _ = numbers(browser, results)
    kernel = np.array([r.distance for r in results])
    disjoint = np.array([r.lower > 0.0 for r in results])
    assert (np.abs(np.maximum(distance, 0.0) - kernel) <= 1e-12 * size).all()
    assert (lower <= [r.upper for r in results]).all()  # both intervals contain the distance, so they intersect
    assert (np.maximum(upper, 0.0) >= [r.lower for r in results]).all()
    np.testing.assert_array_equal(separated, disjoint)
    assert 0.3 < disjoint.mean() < 0.8


def least_depth_on_sides(result):
    """Return the least depth along the side normals of curved shapes, an upper bound of the depth."""
    difference, least, angles = Difference(result), np.inf, np.linspace(0.0, 2.0 * np.pi, 721)
    for sign, shape, (turn, _) in zip((1, -1), (result.shape_a, result.shape_b), difference.frames, strict=True):
        if not isinstance(shape, (gk.Cylinder, gk.Cone, gk.Ellipsoid)):
            continue
        up = 0.0
        if isinstance(shape, gk.Cone):
            up = shape.radius / np.hypot(shape.radius, shape.height)
        axis = 1 if isinstance(shape, gk.Ellipsoid) else 2

        def height(angle, turn=turn, axis=axis, up=up, sign=sign):
            n = np.roll((np.cos(angle), np.sin(angle), 0.0), axis - 2) * np.sqrt(1.0 - up * up)
            n[axis] = up
            n = sign * turn @ n
            return n @ difference.support(n)

        lowest = angles[int(np.argmin([height(angle) for angle in angles]))]
        bounds = (lowest - angles[1], lowest + angles[1])
        least = min(least, minimize_scalar(height, bounds=bounds, method="bounded", options={"xatol": 1e-12}).fun)
    return least + sum(difference.radii)


@pytest.mark.parametrize(
    ("kinds", "seed", "limit"),
    [
        *((range(5), seed, 1e-12) for seed in (1, 7)),
        *((range(8), seed, 1e-9) for seed in (2, 22, 26)),
        *((range(10), seed, 1e-9) for seed in (31, 32)),
    ],
)
def test_page_depths_equal_kernels(browser, kinds, seed, limit):
    results = [gk.signed_distance(r.shape_a, r.shape_b, r.pose_a, r.pose_b) for r in pairs(1000, kinds, seed)]
    distance, lower, upper, size, _, ends = numbers(browser, results)
    kernel, low, high = (np.array([getattr(r, name) for r in results]) for name in ("distance", "lower", "upper"))
    assert (lower <= high).all()
    assert (upper >= low).all()
    wanted = [{"separated": "apart"}.get(r.status.name.lower(), r.status.name.lower()) for r in results]
    assert [status for status, _ in ends] == wanted
    # EPA ends slowly if a whole circle of directions nearly ties. The kernels have a closed form for parallel axes.
    # Without it their bounds are wide too, and the page's depth is compared with the least on the circle.
    wide = (kernel < 0.0) & ~np.isclose(low, high, rtol=0.0, atol=limit * size)
    assert (np.abs(distance - kernel) <= limit * size)[~wide].all()
    for k in np.flatnonzero(wide):
        assert -distance[k] <= least_depth_on_sides(results[k]) + limit * size[k]
        assert low[k] - limit * size[k] <= distance[k] <= high[k] + limit * size[k]
    assert wide.mean() < {5: 0.001, 8: 0.01, 10: 0.03}[len(kinds)]
    assert np.mean([code != "full" for _, code in ends]) > {5: 0.999, 8: 0.95, 10: 0.9}[len(kinds)]
    assert (kernel < 0.0).sum() > 300


def test_page_formats_bounds_as_python_does(browser):
    rng = np.random.default_rng(5)
    middle = rng.choice([-1.0, 1.0], 3000) * 10.0 ** rng.uniform(-9, 9, 3000)
    half = np.abs(middle) * rng.choice([0.0, 1e-15, 1e-6, 1e-5, 1e-4, 0.1, 3.0], 3000) * rng.uniform(0, 1, 3000)
    bounds = [
        *np.stack([middle - half, middle + half], axis=1).tolist(),
        [0.0, 0.0],
        [-1e-17, 0.0],
        [99999.6, 100000.4],
    ]
    data = json.dumps([{"lower": low, "upper": high} for low, high in bounds])
    page = json.loads(browser.evaluate(f"JSON.stringify({data}.map(gjk3dTell.bounds))"))
    assert page == [format_distance(low, high, 5) for low, high in bounds]
    for text, (low, high) in zip(page, bounds, strict=True):
        if " to " in text:
            below, above = map(float, re.findall(r"-?[\d.]+(?:e[-+]\d+)?", text))
            assert below <= min(abs(low), abs(high)) <= max(abs(low), abs(high)) <= above
        assert not re.search(r" -\d", text)


def test_page_reports_overlap_and_touch(browser):
    results = [gk.signed_distance(r.shape_a, r.shape_b, r.pose_a, r.pose_b) for r in pairs(200, range(8), 4)]
    results = [r for r in results if abs(r.distance) > 1e-9 * Difference(r).size]
    box = gk.Box((1, 1, 1))
    results += [
        gk.signed_distance(box, box, None, pose(*at)) for at in ((1, 0, 0), (1, 0.3, 0.2), (1, 1, 0.1), (1, 1, 1))
    ]
    wanted = ["apart" if r.lower > 0 else "overlapping" if r.upper < 0 else "touching" for r in results]
    titles = [page[-1][0].removeprefix("Result: ") for page in run(browser, results, TELL)]
    assert [title.split(" by")[0] for title in titles] == wanted
    assert wanted.count("overlapping") > 40


def words(title, sentence):
    """Return the text of a step without the name of a repeated support point, which rounding decides in a tie."""
    return title, re.sub(messages.AGAIN, "again", re.sub(messages.SAME_AGAIN, "no farther than", sentence))


def test_page_steps_have_text_of_kernel_trace(browser):
    results = [r for r in pairs(160, range(5), 3) if r.lower > 1e-6][:60]
    pages = run(browser, results, TELL)
    alike = 0

    for pair, page in zip(results, pages, strict=True):
        steps = gk.viz.explain(gk.signed_distance(pair.shape_a, pair.shape_b, pair.pose_a, pair.pose_b)).steps
        assert page[-1][0] == steps[-1].title
        alike += [words(step.title, step.sentence) for step in steps] == list(starmap(words, page))
    assert alike > 0.9 * len(results) > 50  # rounding breaks ties differently in the axes of the page


def test_page_epa_steps_have_text_of_kernel_trace(browser):
    # EPA starts with the axes of A in the kernels and with the world axes in the page
    places = [(r, r.pose_b[:3, 3] - r.pose_a[:3, 3]) for r in pairs(300, [0], 3) if r.distance == 0.0]
    results = [gk.signed_distance(r.shape_a, r.shape_b, None, pose(*away)) for r, away in places]
    results = [r for r in results if r.upper < 0.0][:60]
    pages = run(browser, results, TELL)
    alike = grown = 0
    for pair, page in zip(results, pages, strict=True):
        steps = gk.viz.explain(pair).steps
        assert page[-1][0] == steps[-1].title
        grown += any(step.phase == "EPA" for step in steps)
        alike += [words(step.title, step.sentence) for step in steps] == list(starmap(words, page))
    assert alike > 0.8 * len(results) > 40
    assert grown > 40
