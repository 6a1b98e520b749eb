"""The page's own GJK, run in Chromium against the kernels: bits of a distance, and whether two meet."""

import json
import re
from itertools import starmap

import numpy as np
import pytest
from answers import pose
from browser import Browser, program
from scipy.optimize import minimize_scalar

import gjk3d as gk
from gjk3d.query.overlap import Difference
from gjk3d.viz.explanation.stage import given_to
from gjk3d.wording import format_distance
from tests.viz import sentences

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


def run(browser, asked, what):
    """Return what an expression of the page's scripts makes of the pairs that answers are about."""
    given = json.dumps([given_to(pair, Difference(pair)) for pair in asked])
    return json.loads(browser.evaluate(f"(() => {{ const pairs = {given}; return JSON.stringify({what}); }})()"))


def some(rng, k, scale):
    """Return a shape given by its vertices or a simple support, some of them needles, plates and tiny."""
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
        there = at + away * rng.choice([0.0, 1e-9, 0.3, 1.0, 1.0, 2.0, 100.0])
        out.append(gk.distance(a, b, pose(*at, rng.normal(size=3)), pose(*there, rng.normal(size=3))))
    return out


def numbers(browser, asked):
    """Return the distances, bounds, sizes and flags of the page, and the ends of its loops."""
    rows = run(browser, asked, RUN)
    return *np.array([row[:5] for row in rows], dtype=np.float64).T, [row[5:] for row in rows]


@pytest.mark.parametrize(("kinds", "seed"), [(range(5), 1), (range(8), 2), (range(8), 22), (range(8), 26)])
def test_a_thousand_pairs_have_the_distance_of_the_kernels(browser, kinds, seed):
    asked = pairs(1000, kinds, seed)
    distance, lower, upper, size, separated, _ = numbers(browser, asked)
    kernel = np.array([r.distance for r in asked])
    apart = np.array([r.lower > 0.0 for r in asked])
    assert (np.abs(np.maximum(distance, 0.0) - kernel) <= 1e-12 * size).all()
    assert (lower <= [r.upper for r in asked]).all()  # both hold the distance, so they have a point in common
    assert (np.maximum(upper, 0.0) >= [r.lower for r in asked]).all()
    np.testing.assert_array_equal(separated, apart)
    assert 0.3 < apart.mean() < 0.8


def least_on_a_side(result):
    """Return the least depth along the normals of the sides of curved shapes, an upper bound of the depth."""
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
def test_a_thousand_pairs_have_the_depth_of_the_kernels(browser, kinds, seed, limit):
    asked = [gk.signed_distance(r.shape_a, r.shape_b, r.pose_a, r.pose_b) for r in pairs(1000, kinds, seed)]
    distance, lower, upper, size, _, ends = numbers(browser, asked)
    kernel, low, high = (np.array([getattr(r, name) for r in asked]) for name in ("distance", "lower", "upper"))
    assert (lower <= high).all()
    assert (upper >= low).all()
    wanted = [{"separated": "apart"}.get(r.status.name.lower(), r.status.name.lower()) for r in asked]
    assert [status for status, _ in ends] == wanted
    # EPA ends slowly if a whole circle of directions nearly ties. The kernels have a closed form for parallel axes.
    # Without it their bounds are wide too, and the page's depth is compared with the least on the circle.
    wide = (kernel < 0.0) & ~np.isclose(low, high, rtol=0.0, atol=limit * size)
    assert (np.abs(distance - kernel) <= limit * size)[~wide].all()
    for k in np.flatnonzero(wide):
        assert -distance[k] <= least_on_a_side(asked[k]) + limit * size[k]
        assert low[k] - limit * size[k] <= distance[k] <= high[k] + limit * size[k]
    assert wide.mean() < {5: 0.001, 8: 0.01, 10: 0.03}[len(kinds)]
    assert np.mean([code != "full" for _, code in ends]) > {5: 0.999, 8: 0.95, 10: 0.9}[len(kinds)]
    assert (kernel < 0.0).sum() > 300


def test_the_page_writes_bounds_as_python_does_rounded_outward(browser):
    rng = np.random.default_rng(5)
    middle = rng.choice([-1.0, 1.0], 3000) * 10.0 ** rng.uniform(-9, 9, 3000)
    half = np.abs(middle) * rng.choice([0.0, 1e-15, 1e-6, 1e-5, 1e-4, 0.1, 3.0], 3000) * rng.uniform(0, 1, 3000)
    bounds = [
        *np.stack([middle - half, middle + half], axis=1).tolist(),
        [0.0, 0.0],
        [-1e-17, 0.0],
        [99999.6, 100000.4],
    ]
    asked = json.dumps([{"lower": low, "upper": high} for low, high in bounds])
    page = json.loads(browser.evaluate(f"JSON.stringify({asked}.map(gjk3dTell.bounds))"))
    assert page == [format_distance(low, high, 5) for low, high in bounds]
    for text, (low, high) in zip(page, bounds, strict=True):
        if " to " in text:
            below, above = map(float, re.findall(r"-?[\d.]+(?:e[-+]\d+)?", text))
            assert below <= min(abs(low), abs(high)) <= max(abs(low), abs(high)) <= above
        assert not re.search(r" -\d", text)


def test_what_overlaps_is_told_to_overlap_and_what_touches_to_touch(browser):
    asked = [gk.signed_distance(r.shape_a, r.shape_b, r.pose_a, r.pose_b) for r in pairs(200, range(8), 4)]
    asked = [r for r in asked if abs(r.distance) > 1e-9 * Difference(r).size]
    box = gk.Box((1, 1, 1))
    asked += [
        gk.signed_distance(box, box, None, pose(*at)) for at in ((1, 0, 0), (1, 0.3, 0.2), (1, 1, 0.1), (1, 1, 1))
    ]
    wanted = ["apart" if r.lower > 0 else "overlapping" if r.upper < 0 else "touching" for r in asked]
    answers = [page[-1][0].removeprefix("Result: ") for page in run(browser, asked, TELL)]
    assert [answer.split(" by")[0] for answer in answers] == wanted
    assert wanted.count("overlapping") > 40


def words(title, sentence):
    """Return a step's text without the name of a support point that is known: of two equally far it is rounding."""
    return title, re.sub(sentences.AGAIN, "again", re.sub(sentences.SAME_AGAIN, "no farther than", sentence))


def test_the_page_tells_its_steps_in_the_words_of_the_kernels_trace(browser):
    asked = [r for r in pairs(160, range(5), 3) if r.lower > 1e-6][:60]
    pages = run(browser, asked, TELL)
    alike = 0

    for pair, page in zip(asked, pages, strict=True):
        steps = gk.viz.explain(gk.signed_distance(pair.shape_a, pair.shape_b, pair.pose_a, pair.pose_b)).steps
        assert page[-1][0] == steps[-1].title
        alike += [words(step.title, step.sentence) for step in steps] == list(starmap(words, page))
    assert alike > 0.9 * len(asked) > 50  # ties of whole steps are broken by rounding, which is another in other axes


def test_the_page_tells_the_growth_of_epa_in_the_words_of_the_kernels_trace(browser):
    # the first directions of EPA are A's axes in the kernels, and those of the world in the page
    places = [(r, r.pose_b[:3, 3] - r.pose_a[:3, 3]) for r in pairs(300, [0], 3) if r.distance == 0.0]
    asked = [gk.signed_distance(r.shape_a, r.shape_b, None, pose(*away)) for r, away in places]
    asked = [r for r in asked if r.upper < 0.0][:60]
    pages = run(browser, asked, TELL)
    alike = grown = 0
    for pair, page in zip(asked, pages, strict=True):
        steps = gk.viz.explain(pair).steps
        assert page[-1][0] == steps[-1].title
        grown += any(step.phase == "EPA" for step in steps)
        alike += [words(step.title, step.sentence) for step in steps] == list(starmap(words, page))
    assert alike > 0.8 * len(asked) > 40
    assert grown > 40
