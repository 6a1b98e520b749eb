"""Bounds of cores with a coarse error, which must hold for all shapes within that error."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from math import inf

import naive
import numpy as np
import pytest

import gjk3d as gk
from gjk3d.narrow import closed, gjk, sat, solve, ties, toi, workspace
from gjk3d.narrow.cores import Cores, cores_at
from gjk3d.narrow.solve import ShapeRows
from gjk3d.narrow.toi import CENTER, MOTION, TURN, WAY
from gjk3d.poses import IDENTITY, pose_rows
from gjk3d.scene import coherence
from gjk3d.shapes.layout import Core

ERROR = 2.0**-10
UNSIGNED, SIGNED, EPA_ALWAYS = solve.UNSIGNED, solve.SIGNED, solve.EPA_ALWAYS
POINTS = 200  #: capacity of the workspace

BOX = gk.Box((2.0, 2.0, 2.0))
CUBE = gk.ConvexHull(BOX.vertices)
WHEEL = gk.Cylinder(1.0, 2.0)
BAR = gk.Segment((-1.0, 0.0, 0.0), (1.0, 0.0, 0.0))


def coarse(a: gk.Shape, b: gk.Shape, offset: tuple[float, float, float], error: float = ERROR) -> Cores:
    """Return the cores of two shapes, the second one translated, with an error larger than the rounding."""
    pose = pose_rows(naive.pose(None, offset))[0][0]
    return cores_at(Core(*a._packed[:2]), IDENTITY[0], Core(*b._packed[:2]), pose)._replace(error=error)


def scratch() -> workspace.Workspace:
    return workspace.Workspace(*(np.zeros_like(array) for array in workspace.new_workspace(POINTS)))


def solved(c: Cores, mode: int, tol: float = 0.0) -> tuple[float, float, bool]:
    """Return both bounds of the distance, and whether they are tight."""
    out, flags = np.zeros((1, solve.FLOATS)), np.zeros((1, solve.INTS), dtype=np.int64)
    solve.solve(c, mode, inf, tol, scratch(), out[:0], out, flags, 0)
    return out[0, 1], out[0, 2], bool(flags[0, 2])


@pytest.mark.parametrize("mode", [UNSIGNED, SIGNED, EPA_ALWAYS])
@pytest.mark.parametrize(
    ("a", "b"),
    [(gk.Point(), gk.Point()), (BAR, BAR), (BOX, BOX), (BOX, BAR), (CUBE, CUBE), (CUBE, WHEEL), (WHEEL, WHEEL)],
)
def test_distance_is_proven_only_up_to_the_error(a: gk.Shape, b: gk.Shape, mode: int) -> None:
    reach = 3.0 - sum(float(shape.support((1.0, 0.0, 0.0))[0]) for shape in (a, b))
    lower, upper, tight = solved(coarse(a, b, (3.0, 0.0, 0.0)), mode)
    assert lower <= reach - 0.999 * ERROR
    assert upper >= reach + 0.999 * ERROR
    assert upper - lower < 2.01 * ERROR
    assert tight


@pytest.mark.parametrize("mode", [SIGNED, EPA_ALWAYS])
@pytest.mark.parametrize(("a", "b"), [(BOX, BOX), (CUBE, CUBE), (BOX, CUBE), (CUBE, WHEEL), (WHEEL, WHEEL)])
@pytest.mark.parametrize("offset", [(1.5, 0.0, 0.0), (1.5, 0.25, 0.125)])
def test_depth_is_proven_only_up_to_the_error(
    a: gk.Shape, b: gk.Shape, mode: int, offset: tuple[float, float, float]
) -> None:
    depth = 2.0 - (float(np.hypot(*offset[:2])) if a is b is WHEEL else 1.5)
    lower, upper, tight = solved(coarse(a, b, offset), mode)
    assert lower <= -depth - 0.999 * ERROR
    assert upper >= -depth + 0.999 * ERROR
    assert upper - lower < 2.01 * ERROR
    assert tight


def test_depth_includes_the_error_for_nearly_best_directions() -> None:
    """The faces across the x axis are 2 + offset and 2 - offset away, and the first is a face of the tetrahedron."""
    offset = 2.0**-12
    lower, upper, _ = solved(coarse(CUBE, CUBE, (offset, 0.0, 0.0)), SIGNED)
    assert lower <= offset - 2.0 - ERROR
    assert upper >= offset - 2.0 + ERROR


@pytest.mark.parametrize("mode", [UNSIGNED, SIGNED])
@pytest.mark.parametrize(("a", "b"), [(CUBE, WHEEL), (WHEEL, WHEEL), (CUBE, CUBE)])
def test_contact_within_the_error_is_undecided(a: gk.Shape, b: gk.Shape, mode: int) -> None:
    lower, upper, _ = solved(coarse(a, b, (2.0 + 0.5 * ERROR, 0.0, 0.0)), mode)
    assert lower <= (-0.499 * ERROR if mode == SIGNED else 0.0)
    assert upper >= 1.499 * ERROR


@pytest.mark.parametrize("tol", [0.01, 0.03, 0.1])
@pytest.mark.parametrize("offset", [(2.5, 1.0, 1.0), (2.25, 0.5, 2.5)])
@pytest.mark.parametrize("mode", [UNSIGNED, SIGNED])
def test_interval_is_no_wider_than_the_tolerance(tol: float, offset: tuple[float, float, float], mode: int) -> None:
    """The error takes nearly all of the tolerance."""
    c = coarse(gk.Ellipsoid((1.0, 0.5, 0.25)), gk.Cone(1.0, 2.0), offset)
    lower, upper, _ = solved(c._replace(error=0.48 * tol * c.size), mode, tol)
    assert upper - lower <= tol * c.size


def test_cylinders_tilted_within_the_error_have_tight_depth() -> None:
    """Without the error, the interval of a section through both axes would be too wide."""
    tilt = 2.0**-21
    turn = np.array([(1.0, 0.0, tilt), (0.0, 1.0, 0.0), (-tilt, 0.0, 1.0)])
    pose = pose_rows(naive.pose(turn, (1.5, 0.0, 0.0)))[0][0]
    c = cores_at(Core(*WHEEL._packed[:2]), IDENTITY[0], Core(*WHEEL._packed[:2]), pose)
    lower, upper, tight = solved(c._replace(error=2.0**-19), SIGNED)
    assert tight
    assert upper - lower < 2.01 * 2.0**-19


@pytest.mark.parametrize("near", [False, True])
def test_gjk_stops_early_only_beyond_the_error(near: bool) -> None:
    for a, b in ((CUBE, CUBE), (CUBE, WHEEL)):
        c = coarse(a, b, (3.0, 0.25, 0.5))
        limits = (inf, 1.0 + 0.999 * ERROR) if near else (1.0 - 0.999 * ERROR, -inf)
        for axis in ((1.0, 0.0, 0.0), (1.0, 0.5, 0.25)):
            result = gjk.gjk(c, gjk.Start(axis, 0), 0.0, *limits, scratch().simplex, np.zeros(0))
            assert result.code not in (gjk.NEAR_ENOUGH, gjk.FAR)


@pytest.mark.parametrize("apart", [2.0 - 0.5 * ERROR, 2.0 + 0.5 * ERROR, 3.0, 1.0])
@pytest.mark.parametrize(("a", "b"), [(BOX, BOX), (CUBE, CUBE), (CUBE, WHEEL), (BOX, gk.Point()), (BAR, BAR)])
def test_gap_within_the_margin_up_to_error_is_not_excluded(a: gk.Shape, b: gk.Shape, apart: float) -> None:
    c = coarse(a, b, (apart, 0.0, 0.0))
    margin = apart - sum(float(shape.support((1.0, 0.0, 0.0))[0]) for shape in (a, b)) - 0.999 * ERROR
    simplex, cache = scratch().simplex, np.zeros((1, gjk.MEMORY))
    for _ in range(2):  # without and with the cached axis of the first query
        assert solve.quick_collide(c, margin, simplex, cache, 0) != 0


@pytest.mark.parametrize("depth", [0.5 * ERROR, 0.25])
def test_depth_of_boxes_includes_the_error(depth: float) -> None:
    settled, gap, upper, *_ = closed.overlapping_boxes(coarse(BOX, BOX, (2.0 - depth, 0.0, 0.0)))
    assert gap == -depth
    assert upper >= ERROR - depth
    assert settled == (depth > ERROR)


def test_boxes_settle_distance_for_inexact_rotations() -> None:
    """The vector between the witness points is inexact by rounding and by the error of the matrix."""
    rng = np.random.default_rng(1)
    settled = 0
    for stretch in (0.0, 4e-7):
        for _ in range(10):
            turn = naive.random_rotations(rng, 1)[0]
            pose = pose_rows(naive.pose(turn * (1.0 + stretch), 4.0 * naive.unit_vectors(rng, 1)[0]))[0][0]
            c = cores_at(Core(*BOX._packed[:2]), IDENTITY[0], Core(*BOX._packed[:2]), pose)
            for error in (0.0, c.error):
                gap = closed.gap_of(c._replace(error=error))
                settled += gap.settled
    assert settled == 40


def test_overlap_from_facets_is_proven_only_up_to_the_error() -> None:
    depth, shape = 0.5, Core(*CUBE._packed[:2])
    poses = pose_rows(naive.pose(None, (2.0 - depth, 0.25, 0.125)))[0]
    a, b = ShapeRows(*shape, IDENTITY), ShapeRows(*shape, poses)
    axes = np.array([[-depth, ERROR, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0]])
    out, flags = np.zeros((1, solve.FLOATS)), np.zeros((1, solve.INTS), dtype=np.int64)
    kinds = np.zeros((1, 4), dtype=np.int64)
    sat.overlap_rows(a, b, axes, kinds, 0, 1, scratch().simplex, out, flags)
    assert not flags[0, 3]
    assert flags[0, 2]
    assert out[0, 1] <= -depth - ERROR
    assert out[0, 2] >= -depth + ERROR


def test_depth_from_stored_faces_includes_rounding() -> None:
    """Both hulls are the same cube, so all faces of the difference are 2 away."""
    c, floats = coarse(CUBE, CUBE, (0.0, 0.0, 0.0)), scratch()
    out, flags = np.zeros((1, solve.FLOATS)), np.zeros((1, solve.INTS), dtype=np.int64)
    stored = np.zeros((1, coherence.ROW))
    solve.solve(c, solve.SIGNED, inf, 0.0, floats, out[:0], out, flags, 0)
    coherence.store_faces(c, floats, stored, 0)
    assert stored[0, 0] > 0.0
    tiny = c._replace(tiny=2.0**-8)
    assert coherence.most_moved(tiny, stored, 0) >= 4.0 * tiny.tiny
    stored[0, 1] = inf  # faces that are not stored do not bound the depth
    assert 1.9 < coherence.nearest_face(tiny, stored, 0)[0] <= 2.0 - 4.0 * tiny.tiny
    assert coherence.solve_from_cache(c, inf, floats, stored, 0, out, flags, 0)
    assert flags[0, 2]
    assert out[0, 1] <= -2.0 - ERROR
    assert out[0, 2] >= -2.0 + ERROR


def test_section_of_uncertain_depth_does_not_prove_overlap() -> None:
    a, b = gk.Ellipsoid((1.0, 1.0, 2.0)), gk.Ellipsoid((0.5, 0.5, 0.25))
    c = coarse(a, b, (1.25, 0.0, 1.0))
    settled, depth = ties.meridian(c, 0.05, 1e-6, inf, (1.0, 0.0, 0.0), scratch())
    assert settled
    assert 0.0 < -depth.outer < depth.least - 1e-3
    wide = c._replace(error=0.5 * (depth.least - depth.outer))
    assert not ties.meridian(wide, 0.05, 1e-6, inf, (1.0, 0.0, 0.0), scratch())[0]


# motions ------------------------------------------------------------------------------------------------------------


def flight(a: gk.Shape, b: gk.Shape, offset: float, way: float, turn: float, plane: bool) -> toi.Flight:
    """Return the flight of B, which moves along the x axis and rotates about it, with a coarse error.

    With ``plane``, A is the plane through its centre across that axis.
    """
    moves = np.zeros((2, MOTION))
    moves[:, :9] = np.eye(3).ravel()
    moves[1, CENTER], moves[1, WAY], moves[1, TURN] = offset, way, turn
    cores = [Core(*shape._packed[:2]) for shape in (a, b)]
    poses, cache = np.zeros((2, IDENTITY.shape[1])), np.zeros((1, gjk.MEMORY))
    return toi.Flight(
        *cores, not plane, (1.0, 0.0, 0.0), *moves, 0.0, turn, ERROR, 0.0, 1.0, poses, cache, scratch().simplex
    )


@pytest.mark.parametrize(("a", "b"), [(CUBE, CUBE), (WHEEL, CUBE), (BOX, gk.Point()), (gk.Point(), CUBE)])
@pytest.mark.parametrize("turn", [0.0, 0.5])
@pytest.mark.parametrize("plane", [False, True])
def test_motion_is_proven_free_only_up_to_the_error(a: gk.Shape, b: gk.Shape, turn: float, plane: bool) -> None:
    wide = float(b.support((1.0, 0.0, 0.0))[0]) + (0.0 if plane else float(a.support((1.0, 0.0, 0.0))[0]))
    x = flight(a, b, wide + 0.5, -1.0, turn, plane)
    code, free, hit, _ = toi.impact(x, 0.0)
    assert code == toi.HIT
    assert 0.4 < free <= 0.5 - ERROR
    assert hit >= 0.5 - 2.0 * ERROR
    for t in (0.0, 0.5 - 0.999 * ERROR):
        c = toi.cores_in_flight(x, t)
        assert toi.probe(x, c, inf).separated == (t == 0.0)


def test_rotating_box_stays_farther_away_than_the_error() -> None:
    rng, hits = np.random.default_rng(0), 0
    for _ in range(12):
        error, turn, box = 2.0 ** -rng.integers(2, 9), rng.uniform(0.5, 6.0), gk.Box(rng.uniform(0.2, 4.0, 3))
        offset, way = rng.uniform(3.0, 6.0), -rng.uniform(3.0, 8.0)
        x = flight(BOX, box, offset, way, turn, plane=False)._replace(lost=error)
        x.mb[TURN : TURN + 3] = rng.normal(size=3) * turn
        code, free, _, _ = toi.impact(x, 0.0)
        place, pose = np.eye(4), np.zeros(IDENTITY.shape[1])
        toi.place(x.mb, free, pose)
        place[:3, :3], place[:3, 3] = pose[:9].reshape(3, 3), pose[9:12]
        hits += code == toi.HIT
        assert gk.distance(BOX, box, None, place).distance >= 0.999 * error
    assert hits > 5


def length(v: Sequence[Decimal]) -> Decimal:
    return sum((x * x for x in v), Decimal()).sqrt()


def cross(a: Sequence[Decimal], b: Sequence[Decimal]) -> list[Decimal]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def test_acceleration_bounds_of_a_core_are_true() -> None:
    with localcontext(prec=60):
        for seed in range(60):
            rng = np.random.default_rng(seed)
            n, w, spin, r, between, v = rng.normal(size=(6, 3)).tolist()
            most, rho = rng.uniform(size=2).tolist()
            dn, dw, ds, dr, db, dv = ([Decimal(x) for x in row] for row in (n, w, spin, r, between, v))
            speed = length(cross(dr, dw)) + Decimal(rho) * length(dw)
            assert Decimal(toi.bend(tuple(n), tuple(w), tuple(r), rho)) >= length(cross(dn, dw)) * speed
            later = [x + Decimal(most) * y for x, y in zip(db, dv, strict=True)]
            far = max(length(cross(ds, db)), length(cross(ds, later))) + length(ds) * (length(dr) + Decimal(rho))
            least = length(cross(dn, ds)) * (far + 2 * (length(dv) + speed)) + length(dw) * speed
            rows = [tuple(x) for x in (w, spin, n, between, v)]
            assert Decimal(toi.bound_to(*rows, most, tuple(r), rho)) >= least
