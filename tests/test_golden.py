"""Pairs that once gave wrong results, each with a result that the library did not compute (data/golden)."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import gjk3d as gk
from gjk3d.results import Status

DATA = Path(__file__).parents[1] / "data"
sys.path.insert(0, str(DATA))
from failure_bank import BANK, CLASSES, WAITING  # noqa: E402

FILES = sorted((DATA / "golden").glob("*.json"))


BODIES = sorted((DATA / "golden" / "bodies").glob("*.json"))


def numbers(value):
    if isinstance(value, str):
        return float.fromhex(value)
    if isinstance(value, int):
        return value
    return [numbers(x) for x in value]


def shape(case):
    if "part" in case:
        case = json.loads((DATA / "golden" / "bodies" / "parts" / f"{case['part']}.json").read_text())
    arguments = {k: v if k == "faces" else numbers(v) for k, v in case.items() if k != "shape"}
    return getattr(gk, case["shape"])(**arguments)


def test_every_known_failure_has_a_golden_case():
    covered = {key for file in FILES for key in json.loads(file.read_text()).get("covers", [])}
    assert covered == {*BANK, *CLASSES} - set(WAITING)
    readme = (DATA / "golden" / "README.md").read_text()
    assert all(f"`{key}`" in readme for key in WAITING)


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_golden_convex_pairs(file):
    case = json.loads(file.read_text())
    assert case["name"] == file.stem
    a, b = shape(case["a"]), shape(case["b"])
    poses = [None if case[k] is None else np.array(numbers(case[k])) for k in ("pose_a", "pose_b")]
    query = {"distance": gk.distance, "signed_distance": gk.signed_distance}[case["query"]]
    lower, upper = numbers(case["expected"]["lower"]), numbers(case["expected"]["upper"])
    size = gk.bounding_sphere(a).radius + gk.bounding_sphere(b).radius + 1e-9
    for result, left, right, at in ((query(a, b, *poses), a, b, poses), (query(b, a, *poses[::-1]), b, a, poses[::-1])):
        assert result.lower <= upper
        assert lower <= result.upper
        assert result.lower <= result.distance <= result.upper
        assert result.tight
        assert result.status is Status[case["expected"]["status"]]
        assert np.linalg.norm(result.normal) == pytest.approx(1, abs=1e-12)
        np.testing.assert_allclose(
            result.point_b - result.point_a, result.distance * result.normal, rtol=0,
            atol=1e-12 * size + 4e-16 * np.abs(result.point_a).max(),
        )  # fmt: skip
        assert gk.verify(result, left, right, *at)
        for point, of, pose in ((result.point_a, left, at[0]), (result.point_b, right, at[1])):
            assert gk.distance(gk.Point(point), of, None, pose).lower <= 1e-12 * size + 1e-15 * np.abs(point).max()


def query_bounds(query, a, b, at):
    """Return the bounds that a case queries, and check the other fields of the result."""
    if query == "signed_distance":
        result = gk.signed_distance(a, b, *at)
        assert gk.collide(a, b, *at)
        free = np.eye(4) if at[1] is None else at[1].copy()
        free[:3, 3] += result.separation_vector + 1e-9 * result.normal
        assert not gk.collide(a, b, at[0], free)
        return result.lower, result.upper
    if query == "contact":
        result = gk.contact(a, b, *at)
        assert result.count > 0
        return result.gaps.min(), result.gaps.min()
    result = gk.penetration(a, b, *at)
    assert result.lower <= result.depth <= result.upper <= result.lower * (1.0 + 0.011) + 1e-11
    return result.lower, result.upper


@pytest.mark.parametrize("file", BODIES, ids=lambda f: f.stem)
def test_golden_body_pairs(file):
    """The interval contains the expected value for both orders of the pair."""
    case = json.loads(file.read_text())
    assert case["name"] == file.stem
    a, b = shape(case["a"]), shape(case["b"])
    poses = [None if case[k] is None else np.array(numbers(case[k])) for k in ("pose_a", "pose_b")]
    least, most = numbers(case["expected"]["lower"]), numbers(case["expected"]["upper"])
    for left, right, at in ((a, b, poses), (b, a, poses[::-1])):
        lower, upper = query_bounds(case["query"], left, right, at)
        assert lower <= most
        assert least <= upper
        if case["query"] == "signed_distance":
            assert lower >= least * 1.002  # the separating translation is at most 0.2 % too long
