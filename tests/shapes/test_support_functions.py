"""Shapes with a user's support function: compiled or not, invalid functions, and errors that they raise."""

from __future__ import annotations

import pickle

import naive
import numpy as np
import pytest
from message_checks import assert_names
from strategies import build

import gjk3d as gk
from gjk3d._kernels.decorators import MODE
from gjk3d.errors import ShapeError, UnsupportedPair

RADII = np.array([0.5, 0.75, 1.0])


def ellipsoid(d):
    return RADII**2 * d / np.sqrt(np.sum((RADII * d) ** 2))


def ellipsoid_python(d):
    """Return the same support point in a way that numba cannot compile."""
    return [float(x) for x in ellipsoid({"d": d}["d"])] if isinstance(d, np.ndarray) else None


def calls_until(limit):
    """Return the support function of a unit ball that raises after ``limit`` calls."""
    count = [0]

    def ball(d):
        count.append(count.pop() + 1)
        if count[0] > limit:
            raise ZeroDivisionError("the mapping is tired")
        return [float(x) for x in d]

    return ball


def noisy(size):
    rng = np.random.default_rng(8)
    return lambda d: d + rng.normal(size=3) * size


def only_above(d):
    if d[2] < -0.999999:
        raise ValueError("nothing below")
    return d / np.sqrt(np.sum(d * d))


@pytest.fixture(params=[ellipsoid, ellipsoid_python])
def shape(request):
    return gk.Support(request.param, (0, 0, 0), 1.0)


def poses(rng, count):
    turns, places = naive.random_rotations(rng, count), rng.normal(size=(count, 3)) * 1.2
    return np.array([naive.pose(r, x) for r, x in zip(turns, places, strict=True)])


@pytest.mark.parametrize("other", [("box", (1.0, 0.5, 0.25)), ("cylinder", 0.4, 1.0), ("sphere", 0.5)])
def test_queries_agree_with_equal_ellipsoid(shape, other, rng):
    turned = poses(rng, 12)
    b, reference = build(other), gk.Ellipsoid(RADII)
    for query in (gk.signed_distance, gk.distance):
        ours, theirs = query(shape, b, None, turned), query(reference, b, None, turned)
        np.testing.assert_allclose(ours.distance, theirs.distance, rtol=0, atol=4e-9)
        assert (np.maximum(ours.lower, theirs.lower) <= np.minimum(ours.upper, theirs.upper)).all()
        np.testing.assert_array_equal(query(b, shape, turned, None).status, ours.status)
    np.testing.assert_array_equal(gk.collide(shape, b, None, turned), gk.collide(reference, b, None, turned))
    assert gk.collide(shape, b, None, turned[0], margin=0.3) == gk.collide(reference, b, None, turned[0], margin=0.3)
    assert gk.verify(gk.distance(shape, b, None, turned[0]), shape, b, None, turned[0]).proven is False


def test_methods_agree_with_equal_ellipsoid(shape, rng):
    reference = gk.Ellipsoid(RADII)
    np.testing.assert_allclose(shape.bounds, reference.bounds, atol=1e-14)
    assert shape.volume == pytest.approx(reference.volume, rel=1e-3)
    assert shape.contains([(0, 0, 0.99), (0, 0, 1.01)]).tolist() == [True, False]
    assert shape.inflated(0.5).volume == pytest.approx(reference.inflated(0.5).volume, rel=2e-3)
    turned = naive.pose(naive.random_rotations(rng, 1)[0], (1, 2, 3))
    for derived in (lambda s: s.placed(turned), lambda s: s.scaled((1, -2, 3)), lambda s: s.inflated(0.25)):
        ours, theirs = derived(shape), derived(reference)
        np.testing.assert_allclose(ours.bounds, theirs.bounds, atol=1e-13)
        placements = poses(rng, 5)
        a, b = (gk.signed_distance(s, gk.Box((1, 1, 1)), None, placements).distance for s in (ours, theirs))
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-8)
    summed = gk.MinkowskiSum(shape, gk.Box((1, 1, 1)))
    np.testing.assert_allclose(summed.bounds, reference.bounds + [[-0.5], [0.5]], atol=1e-14)
    assert gk.Pairs([shape, gk.Sphere(1)]).collide([[0, 1]], [np.eye(4), naive.pose(None, (0, 0, 1.9))])[0]
    impact = gk.time_of_impact(shape, gk.Sphere(1), gk.Motion(None, (0, 0, 4)), naive.pose(None, (0, 0, 4)))
    assert impact.time[1] == pytest.approx(0.5, abs=1e-9)


def test_compiled_reports_whether_numba_compiles():
    assert gk.Support(ellipsoid, (0, 0, 0), 1.0).compiled == (MODE != "python")
    assert not gk.Support(ellipsoid_python, (0, 0, 0), 1.0).compiled


def test_support_shapes_are_values(shape):
    again = pickle.loads(pickle.dumps(shape))
    assert again == shape
    assert again._order == shape._order
    summed = gk.MinkowskiSum(shape.placed(naive.pose(None, (0, 0, 1))), gk.Sphere(1))
    assert pickle.loads(pickle.dumps(summed)) == summed
    assert gk.distance(pickle.loads(pickle.dumps(summed)), gk.Point((0, 0, 5))).distance == pytest.approx(2.0, abs=1e-9)
    with pytest.raises(UnsupportedPair, match="Support"):
        gk.distance(shape, gk.Sphere(1)).to_json()


def test_errors_of_python_functions_reach_the_caller():
    tired = gk.Support(calls_until(250), (0, 0, 0), 1.0)
    far = naive.pose(None, (1.5, 1.0, 0.5))
    with pytest.raises(ZeroDivisionError, match="tired"):
        gk.distance(tired, gk.Box((1, 1, 1)), None, [far] * 100)
    fresh = gk.Support(ellipsoid, (0, 0, 0), 1.0)
    assert gk.distance(fresh, gk.Sphere(0.1), None, far).distance > 0  # the error leaves no state behind


def test_errors_of_compiled_functions_reach_the_caller():
    with pytest.raises(ShapeError) as caught:
        gk.Support(only_above, (0, 0, 0), 1.0)
    assert_names(caught.value, "only_above", "-1.0")

    def thin(d):
        if abs(d[0] - 0.6) < 1e-9:
            raise KeyError("thin")
        return d / np.sqrt(np.sum(d * d))

    shape = gk.Support(thin, (0, 0, 0), 1.0)
    with pytest.raises(KeyError, match="thin"):
        gk.distance(shape, gk.Point((1.8, 2.4, 0.0)))


@pytest.mark.parametrize(
    ("function", "center", "radius", "fragments"),
    [
        (3, (0, 0, 0), 1.0, ("function", "an int")),
        (lambda d: -d, (0, 0, 0), 1.0, ("[-1.0, -0.0, -0.0]", "by 2")),
        (lambda d: d * (1 + 0.3 * np.sin(9 * d[0])), (0, 0, 0), 2.0, ("<lambda>", "farthest")),
        (lambda d: d * np.nan, (0, 0, 0), 1.0, ("nan, nan, nan", "[1.0, 0.0, 0.0]")),
        (lambda d: d[:2], (0, 0, 0), 1.0, ("array([1., 0.])", "[1.0, 0.0, 0.0]")),
        (lambda d: d, (0, 0, 0), 0.5, ("center", "radius", "0.5")),
        (lambda d: d, (0, 0, 0), -1.0, ("radius", "-1")),
        (lambda d: d, (0, 0), 1.0, ("center", "(0, 0)")),
        (noisy(1e-6), (0, 0, 0), 1.1, ("<lambda>", "e-0")),
    ],
)
def test_invalid_functions_raise_at_construction(function, center, radius, fragments):
    with pytest.raises(ShapeError) as caught:
        gk.Support(function, center, radius)
    assert_names(caught.value, *fragments)


def test_radius_may_be_slightly_too_small():
    assert gk.Support(ellipsoid, (0, 0, 0), max(RADII) * (1.0 - 0.5e-7)).radius < max(RADII)
    with pytest.raises(ShapeError, match="The ball must contain the whole shape"):
        gk.Support(ellipsoid, (0, 0, 0), max(RADII) * (1.0 - 2e-7))


def test_bounding_box_includes_error_of_support_points():
    box = gk.aabb(gk.Support(ellipsoid, (0, 0, 0), max(RADII)))
    np.testing.assert_allclose(box.high - RADII, 1e-13 * max(RADII), rtol=0, atol=2e-14)
