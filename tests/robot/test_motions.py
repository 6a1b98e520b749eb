"""Sampled motions compared with single configurations, and certified motions compared with dense samples."""

from __future__ import annotations

import os
import pickle
import sysconfig

import numpy as np
import pytest
from random_robots import drawn, random_robot

import gjk3d as gk
from gjk3d.errors import Gjk3dError
from gjk3d.robot import Checker, MotionStatus, Robot

SHARE = os.path.join(sysconfig.get_paths()["purelib"], "cmeel.prefix/share/example-robot-data/robots")
PANDA = f"{SHARE}/panda_description/urdf/panda.urdf", f"{SHARE}/panda_description/srdf/panda.srdf"
UR5 = f"{SHARE}/ur_description/urdf/ur5_robot.urdf", f"{SHARE}/ur_description/srdf/ur5.srdf"


def at(x, y, z):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


AROUND = {
    "post": (gk.Box((0.1, 0.1, 1.2)), at(0.45, 0.3, 0.4)),
    "ball": (gk.Sphere(0.15), at(-0.4, 0.2, 0.7)),
    "plate": (gk.Box((0.6, 0.002, 0.5)), at(0.0, -0.45, 0.5)),
}


@pytest.fixture(scope="module", params=["panda hull", "panda bodies", "ur5 bodies"])
def checker(request):
    name, geometry = request.param.split()
    return Checker(Robot.from_urdf(*(PANDA if name == "panda" else UR5), geometry=geometry), AROUND)


def edges(checker, count, length=1.0, seed=0):
    """Return the start and end configurations of ``count`` edges of about this length. All starts are free."""
    robot, rng = checker.robot, np.random.default_rng(seed)
    low = np.where(np.isfinite(robot.lower), robot.lower, -3.0)
    high = np.where(np.isfinite(robot.upper), robot.upper, 3.0)
    q = rng.uniform(low, high, (8 * count, robot.dof))
    q = q[checker.free(q)][:count]
    step = rng.normal(size=q.shape)
    step *= np.minimum(1.0, high - low)  # fingers slide only by millimetres, so shorten their steps
    return q, q + length * step / np.linalg.norm(step, axis=1)[:, None] * rng.uniform(0.2, 1.8, (len(q), 1))


def test_sampled_motions_equal_single_configurations(checker):
    q0, q1 = edges(checker, 60)
    answer = checker.motion_free(q0, q1, resolution=0.07)
    assert 0.3 < answer.free.mean() < 0.9
    for k in range(len(q0)):
        steps = int(np.ceil(np.abs(q1[k] - q0[k]).max() / 0.07))
        t = np.arange(steps + 1) / steps
        free = np.array([checker.free((1 - s) * q0[k] + s * q1[k]) for s in t])
        assert answer.free[k] == free.all()
        if free.all():
            assert (answer.safe[k], answer.pair[k]) == (1.0, None)
            assert np.isnan(answer.hit[k])
            continue
        first = int(np.argmin(free))
        assert answer.hit[k] == t[first]
        assert answer.safe[k] == t[max(first - 1, 0)]
        at_hit = (1 - t[first]) * q0[k] + t[first] * q1[k]
        nearest = Checker(checker.robot, AROUND).clearance(at_hit)
        assert nearest.distance <= 0.0
        cell = checker._cell()
        assert answer.pair[k] in [cell.names[p] for p in range(len(cell.slots))]


def test_single_stacked_broadcast_and_threaded_calls_agree(checker):
    q0, q1 = edges(checker, 150, seed=1)
    many = checker.motion_free(q0, q1)
    for repeated in (checker.motion_free(q0, q1, workers=2), pickle.loads(pickle.dumps(checker)).motion_free(q0, q1)):
        for field in ("free", "status", "safe", "hit"):
            assert np.array_equal(getattr(many, field), getattr(repeated, field), equal_nan=True)
    for k in range(12):
        single = checker.motion_free(q0[k], q1[k])
        assert isinstance(single.free, bool)
        assert isinstance(single.status, MotionStatus)
        assert (single.free, single.status, single.safe) == (many.free[k], many.status[k], many.safe[k])
        assert bool(single) == single.free
    fan = checker.motion_free(q0[0], q1[:20])
    assert np.array_equal(fan.free, checker.motion_free(np.tile(q0[0], (20, 1)), q1[:20]).free)
    back = checker.motion_free(q1[:20], q0[0])
    assert len(back.free) == 20


def test_resolution_of_each_joint(checker):
    q0, q1 = edges(checker, 40, seed=2)
    fine = checker.motion_free(q0, q1, resolution=np.full(checker.robot.dof, 0.05))
    assert np.array_equal(fine.safe, checker.motion_free(q0, q1, resolution=0.05).safe)
    for coarse in (10.0, np.inf):  # both ends are checked at any resolution
        ends = checker.motion_free(q0, q1, resolution=coarse)
        assert np.array_equal(ends.free, checker.free(q0) & checker.free(q1))


def test_empty_stacks_and_motions_of_no_length(checker):
    dof = checker.robot.dof
    none = checker.motion_free(np.empty((0, dof)), np.empty((0, dof)))
    assert none.free.shape == none.safe.shape == none.hit.shape == (0,)
    assert none.pair == []
    q0, q1 = edges(checker, 30, seed=3)
    ends = np.concatenate([q0, q1])
    assert np.array_equal(checker.motion_free(ends, ends).free, checker.free(ends))


def test_paths(checker):
    q0, q1 = edges(checker, 200, 0.3, seed=4)
    every = checker.motion_free(q0, q1)
    free = np.flatnonzero(every.free)[:20]
    path = np.stack([q0[free], q1[free], q0[free]], axis=1).reshape(-1, checker.robot.dof)[:3]
    good = checker.path_free(path)
    assert good
    assert (good.edge, good.pair, good.configuration, good.safe) == (None, None, None, 1.0)
    bad = int(np.flatnonzero(~every.free)[0])
    long = np.concatenate([np.tile(path[:2], (40, 1)), [q0[bad], q1[bad]], path])
    answer = checker.path_free(long, workers=2)
    motions = checker.motion_free(long[:-1], long[1:])
    assert not answer
    assert answer.edge == int(np.argmin(motions.free))
    assert (answer.safe, answer.hit) == (motions.safe[answer.edge], motions.hit[answer.edge])
    assert not checker.free(answer.configuration)
    assert checker.path_free(path[:1])


@pytest.mark.parametrize("certify", [False, True])
def test_invalid_arguments_raise(checker, certify):
    dof = checker.robot.dof
    zero, two = np.zeros(dof), np.zeros((2, dof))
    for q0, q1, words in [
        (np.zeros(dof + 1), zero, rf"q0.*\({dof + 1},\).*\({dof},\)"),
        (zero, np.full(dof, np.nan), r"q1\[0\].*nan"),
        (two, np.zeros((3, dof)), r"q0.*\b2\b.*q1.*\b3\b"),
    ]:
        with pytest.raises(Gjk3dError, match=words):
            checker.motion_free(q0, q1, certify=certify)
    for resolution in (0.0, -1.0, np.nan, "fine", np.ones(dof + 1), [0.1] * (dof - 1) + [0.0]):
        with pytest.raises(Gjk3dError, match="resolution"):
            checker.motion_free(zero, zero, resolution=resolution, certify=certify)
    for tolerance in (0.0, -1e-6, np.nan, np.inf, True, "fine"):
        with pytest.raises(Gjk3dError, match="tolerance"):
            checker.motion_free(zero, zero, tolerance=tolerance, certify=True)
    with pytest.raises(Gjk3dError, match="workers"):
        checker.motion_free(zero, zero, workers=0, certify=certify)
    for path in (zero, np.empty((0, dof))):
        with pytest.raises(Gjk3dError, match="waypoints"):
            checker.path_free(path, certify=certify)
    with pytest.raises(Gjk3dError, match=r"truth value of 2 motions.*\.free\.all\(\)"):
        bool(checker.motion_free(two, two, certify=certify))


def test_too_many_samples_raise(checker):
    with pytest.raises(Gjk3dError, match=r"\b0\b.*1e\+300.*resolution"):
        checker.motion_free(np.zeros(checker.robot.dof), np.ones(checker.robot.dof), resolution=1e-300)


def test_certified_motions_against_dense_samples(checker):
    q0, q1 = edges(checker, 120, seed=5)
    proof = checker.motion_free(q0, q1, certify=True)
    dense = checker.motion_free(q0, q1, resolution=2e-3)
    assert 0.3 < proof.free.mean() < 0.9
    assert (proof.status == MotionStatus.UNRESOLVED).mean() < 0.1
    assert not (proof.free & ~dense.free).any()
    hits = proof.status == MotionStatus.HIT
    assert (proof.hit[hits] - proof.safe[hits] <= 1e-6).all()
    assert (proof.hit[hits] >= proof.safe[hits]).all()
    # the safe part ends before the first colliding sample, and samples collide only after the proven hit
    seen = ~dense.free
    assert (proof.safe[seen] <= dense.hit[seen]).all()
    assert (dense.safe[hits] <= proof.hit[hits]).all()
    for k in np.flatnonzero(hits):
        at_hit = (1 - proof.hit[k]) * q0[k] + proof.hit[k] * q1[k]
        assert not checker.free(at_hit)
        nearest = checker.clearance(at_hit)
        assert -1e-4 < nearest.distance <= 1e-12
        assert nearest.pair == proof.pair[k]
    for k in np.flatnonzero(proof.free)[:20]:
        assert proof.pair[k] is None
        assert proof.safe[k] == 1.0


def test_certified_motions_agree_in_both_directions(checker):
    q0, q1 = edges(checker, 100, seed=7)
    forth, back = checker.motion_free(q0, q1, certify=True), checker.motion_free(q1, q0, certify=True)
    clear = (forth.status != MotionStatus.UNRESOLVED) & (back.status != MotionStatus.UNRESOLVED)
    assert clear.mean() > 0.9
    assert np.array_equal(forth.free[clear], back.free[clear])
    # the first contact from q0 is not behind the first contact from q1
    met = clear & ~forth.free
    assert (forth.safe[met] <= 1.0 - back.safe[met] + 1e-6).all()


def test_larger_margin_never_extends_the_safe_part(checker):
    q0, q1 = edges(checker, 60, seed=8)
    before = None
    for margin in (0.03, 0.0, -0.01):
        answer = Checker(checker.robot, AROUND, margin=margin).motion_free(q0, q1, certify=True)
        if before is not None:
            assert not (before.free & ~answer.free).any()
            assert (before.safe <= answer.safe + 1e-6).all()
        before = answer
        dense = Checker(checker.robot, AROUND, margin=margin).motion_free(q0, q1, resolution=0.01)
        assert not (answer.free & ~dense.free).any()


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4, 5, 6, 8, 10, 11])  # robots 7 and 9 have almost no free configurations
def test_certified_motions_with_every_joint_type(tmp_path, seed):
    robot = random_robot(tmp_path, seed)
    checker = Checker(
        robot, {"ball": (gk.Sphere(0.15), at(0.4, 0.2, 0.1)), "box": (gk.Box((0.1, 0.3, 0.2)), at(-1, 0, 0))}
    )
    q = drawn(robot, 4000, seed)
    q0 = q[checker.free(q)][:40]
    q1 = q0 + 0.15 * (drawn(robot, len(q0), seed + 50) - q0)
    proof = checker.motion_free(q0, q1, certify=True)
    dense = checker.motion_free(q0, q1, resolution=5e-4)
    assert not (proof.free & ~dense.free).any()
    assert (proof.free == dense.free).mean() > 0.9
    assert (proof.safe[~dense.free] <= dense.hit[~dense.free]).all()
    hits = proof.status == MotionStatus.HIT
    assert (proof.hit[hits] - proof.safe[hits] <= 1e-6).all()
    assert (dense.safe[hits] <= proof.hit[hits]).all()
    at_hit = (1 - proof.hit[hits])[:, None] * q0[hits] + proof.hit[hits][:, None] * q1[hits]
    assert not checker.free(at_hit).any()


ARM = """<robot name="arm"><link name="post"/><link name="tip"><collision><origin xyz="1 0 0"/>
<geometry><sphere radius="0.01"/></geometry></collision></link><joint name="turn" type="continuous">
<parent link="post"/><child link="tip"/><axis xyz="0 0 1"/></joint></robot>"""


@pytest.fixture
def arm(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    return Robot.from_urdf(path)


def test_certified_motion_hits_plate_between_samples(arm):
    checker = Checker(arm, {"plate": (gk.Box((0.4, 0.002, 0.4)), at(0.7, 0.7, 0.0))})
    assert checker.motion_free([0.0], [1.2], resolution=0.05).free
    answer = checker.motion_free([0.0], [1.2], certify=True)
    # the centre of the ball moves on a circle of radius 1 and touches the plate 0.01 below its face
    contact = np.arcsin(0.7 - 0.001 - 0.01) / 1.2
    assert answer.status == MotionStatus.HIT
    assert answer.pair == ("tip", "plate")
    assert answer.safe <= contact + 1e-12
    assert contact - 1e-12 <= answer.hit <= answer.safe + 1e-6
    back = checker.motion_free([1.2], [0.0], certify=True)
    assert back.safe == pytest.approx(1.0 - np.arcsin(0.7 + 0.001 + 0.01) / 1.2, abs=1e-6)
    path = checker.path_free([[0.0], [0.6], [1.2], [1.4]], certify=True)
    assert (path.edge, path.status) == (1, MotionStatus.HIT)
    assert path.configuration[0] == pytest.approx(1.2 * contact, abs=1e-6)


@pytest.mark.parametrize("tolerance", [1e-3, 1e-9])
def test_tolerance_bounds_hit_minus_safe(arm, tolerance):
    checker = Checker(arm, {"plate": (gk.Box((0.4, 0.002, 0.4)), at(0.7, 0.7, 0.0))})
    answer = checker.motion_free([0.0], [1.2], certify=True, tolerance=tolerance)
    contact = np.arcsin(0.7 - 0.001 - 0.01) / 1.2
    assert answer.status == MotionStatus.HIT
    assert answer.safe <= contact + 1e-12
    assert contact - 1e-12 <= answer.hit <= answer.safe + tolerance


@pytest.mark.parametrize("gap", [1e-5, 1e-7, 0.0, -1e-7, -1e-5])
def test_grazing_motions(arm, gap):
    """The ball passes below a plate. The least distance is ``gap``."""
    checker = Checker(arm, {"plate": (gk.Box((0.4, 0.1, 0.4)), at(0.0, 1.01 + 0.05 + gap, 0.0))})
    answer = checker.motion_free([1.0], [2.1], certify=True)
    if gap > 0.0:
        assert answer.status in (MotionStatus.FREE, MotionStatus.UNRESOLVED)
        assert gap < 1e-6 or answer.free
    else:
        assert not answer.free
        first = (np.arcsin(min(1.0, 1.0 + gap)) - 1.0) / 1.1
        assert answer.safe <= first + 1e-12
        assert answer.safe == pytest.approx(first, abs=1e-3)
    # a margin of -gap has the same effect as a gap
    wide = Checker(arm, {"plate": (gk.Box((0.4, 0.1, 0.4)), at(0.0, 1.06, 0.0))}, margin=-gap)
    assert wide.motion_free([1.0], [2.1], certify=True).status == answer.status


def test_motion_in_permanent_contact_is_not_free(arm):
    """The ball slides along the surface of a large ball about the axis."""
    checker = Checker(arm, {"hub": gk.Sphere(0.99)})
    answer = checker.motion_free([0.0], [1.0], certify=True)
    assert not answer.free
    assert answer.safe == 0.0
    assert Checker(arm, {"hub": gk.Sphere(0.98)}).motion_free([0.0], [30.0], certify=True)
    assert not Checker(arm, {"hub": gk.Sphere(0.98)}, margin=0.01).motion_free([0.0], [1.0], certify=True)


def test_angle_rounding_after_many_turns(arm):
    """After a million turns the last digit of q is worth a billionth of a turn."""
    checker = Checker(arm, {"plate": (gk.Box((0.4, 0.1, 0.4)), at(0.0, 1.06 + 1e-9, 0.0))})
    turns = 2e6 * np.pi
    far = checker.motion_free([turns + 1.4], [turns + 1.8], certify=True)
    assert not far.free
    near = Checker(arm, {"plate": (gk.Box((0.4, 0.1, 0.4)), at(0.0, 1.07, 0.0))})
    assert near.motion_free([turns + 1.4], [turns + 1.8], certify=True)


def test_colliding_start_is_a_hit_at_zero(arm):
    checker = Checker(arm, {"ball": (gk.Sphere(0.1), at(1.0, 0.0, 0.0))})
    for certify in (False, True):
        answer = checker.motion_free([0.0], [1.0], certify=certify)
        assert (answer.free, answer.status, answer.safe, answer.hit) == (False, MotionStatus.HIT, 0.0, 0.0)
        still = checker.motion_free([0.5], [0.5], certify=certify)
        assert still.free
        assert not checker.motion_free([0.0], [0.0], certify=certify)


def test_links_that_do_not_move_are_checked(tmp_path):
    text = ARM.replace(
        "</robot>",
        """<link name="more"><collision><geometry><sphere radius="0.2"/></geometry></collision></link>
    <joint name="other" type="continuous"><parent link="post"/><child link="more"/><origin xyz="3 0 0"/></joint>
    </robot>""",
    )
    path = tmp_path / "two.urdf"
    path.write_text(text)
    for x, free in ((3.0, False), (5.0, True)):
        checker = Checker(Robot.from_urdf(path), {"ball": (gk.Sphere(0.5), at(x, 0, 0))})
        assert checker.motion_free([0.0, 1.0], [1.0, 1.0], certify=True).free == free


def test_mesh_and_half_space_agree_with_equal_boxes(tmp_path):
    """A mesh and a half-space give the same results as a box and a large box of the same surface."""
    robot = Robot.from_urdf(*UR5)
    box, high = gk.Box((0.1, 0.1, 1.2)), at(0.45, 0.3, 0.4)
    vertices, faces = box.surface()
    twin = Checker(robot, {"post": (box, high), "floor": (gk.Box((20, 20, 1)), at(0, 0, -0.6))})
    solid = Checker(robot, {"post": (gk.Mesh(vertices, faces), high), "floor": gk.Halfspace((0, 0, 1), -0.1)})
    q0, q1 = edges(twin, 20, 2.5, seed=11)
    for how in ({"resolution": 0.05}, {"certify": True}):
        expected, result = twin.motion_free(q0, q1, **how), solid.motion_free(q0, q1, **how)
        assert 0.2 < expected.free.mean() < 0.9
        assert np.array_equal(expected.status, result.status)
        assert result.safe == pytest.approx(expected.safe, abs=2e-6)
        assert result.hit == pytest.approx(expected.hit, abs=2e-6, nan_ok=True)
    # sampling may report any pair that collides at a sample; certified motions report the first pair
    assert expected.pair == result.pair
    for margin in (-0.05, 0.02):
        wide = solid.copy()
        wide.set_margin("post", None, margin)
        proof, dense = wide.motion_free(q0, q1, certify=True), wide.motion_free(q0, q1, resolution=0.01)
        assert not (proof.free & ~dense.free).any()


CUBES = gk.Box((0.2, 0.2, 1.2))
TWINS = {
    "mesh": (CUBES, gk.Mesh(*CUBES.surface())),
    "voxels": (CUBES, gk.VoxelGrid(np.ones((2, 2, 12), dtype=bool), 0.1, (-0.1, -0.1, -0.6))),
    "ground": (CUBES, gk.HeightField(np.full((3, 3), 0.6), 0.1, (-0.1, -0.1), bottom=-0.6)),
    "compound": (CUBES, gk.Compound([(gk.Box((0.2, 0.2, 0.6)), at(0, 0, z)) for z in (-0.3, 0.3)])),
    "cloud": (gk.Sphere(0.15), gk.PointCloud([(0.0, 0.0, 0.0)] * 3, 0.15)),
}


@pytest.mark.parametrize("kind", TWINS)
@pytest.mark.parametrize("margin", [0.01, 0.1])
def test_margin_around_non_convex_body_is_resolved(kind, margin):
    """Motions that pass a non-convex body at little more than the margin are resolved too."""
    convex, general = (Checker(Robot.from_urdf(*UR5), {"post": (shape, at(0.5, 0.3, 0.4))}) for shape in TWINS[kind])
    q0, q1 = edges(convex, 25, 2.0, seed=11)
    for checker in (convex, general):
        checker.set_margin("post", None, margin)
    hull, body = convex.motion_free(q0, q1, certify=True), general.motion_free(q0, q1, certify=True)
    assert (body.status != MotionStatus.UNRESOLVED).all()
    hits = body.status == MotionStatus.HIT
    assert 4 < hits.sum() < 24
    assert (body.hit[hits] <= body.safe[hits] + 1e-6).all()
    assert np.array_equal(hull.status, body.status)
    assert body.safe == pytest.approx(hull.safe, abs=2e-6)


@pytest.mark.parametrize("seed", range(8))
def test_motion_below_the_margin_is_never_free(tmp_path, seed):
    """Samples give an upper bound of the least clearance. No proof may succeed with that bound as the margin."""
    robot = random_robot(tmp_path, seed)
    checker = Checker(robot, {"ball": (gk.Sphere(0.15), at(0.4, 0.2, 0.1))})
    q = drawn(robot, 2000, seed)
    t = np.linspace(0.0, 1.0, 401)[:, None]
    below = 0
    for q0, q1 in zip(q[:12], q[12:24], strict=True):
        q1 = q0 + 0.3 * (q1 - q0)
        least = float(checker.clearance((1.0 - t) * q0 + t * q1).distance.min())
        checker.margin = least
        assert not checker.motion_free(q0, q1, certify=True).free
        checker.margin = least - 1e-2
        below += checker.motion_free(q0, q1, certify=True).free
    assert below >= 8


SLAB = gk.Box((9, 9, 0.2 - 2e-7))
FLOORS = [gk.Halfspace((0, 0, 1), -0.1 - 1e-7), SLAB, gk.Mesh(*SLAB.surface()), gk.Compound([(SLAB, None)])]


@pytest.mark.parametrize("floor", FLOORS, ids=lambda floor: type(floor).__name__)
def test_motion_just_above_floor_terminates(tmp_path, floor, monkeypatch):
    """The proof stops after a limited number of steps. The safe part is proven, and the rest is unresolved."""
    (tmp_path / "r.urdf").write_text(
        "<robot name='r'><link name='rail'/><link name='cart'><collision><geometry><sphere radius='0.1'/></geometry>"
        "</collision></link><joint name='x' type='prismatic'><parent link='rail'/><child link='cart'/>"
        "<axis xyz='1 0 0.00000001'/><limit lower='-2' upper='2'/></joint></robot>"
    )
    monkeypatch.setattr("gjk3d.robot.motion_certified.MOST_BODY_LOOKS", 50)
    pose = np.eye(4)
    pose[2, 3] = 0.0 if isinstance(floor, gk.Halfspace) else -0.2
    checker = Checker(Robot.from_urdf(tmp_path / "r.urdf"), {"floor": (floor, pose)})
    got = checker.motion_free([-1.0], [1.0], certify=True, tolerance=1e-9)
    assert got.status in (MotionStatus.FREE, MotionStatus.UNRESOLVED)
    if isinstance(floor, gk.Halfspace):
        assert got.status == MotionStatus.FREE
    # the bound of meshes and compounds is only of first order, so each step proves about a micrometre
    if isinstance(floor, (gk.Mesh, gk.Compound)):
        assert (got.status, got.pair) == (MotionStatus.UNRESOLVED, ("cart", "floor"))
        assert 0.0 < got.safe < 0.01
    assert checker.free(np.linspace(-1.0, -1.0 + 2.0 * got.safe, 300)[:, None]).all()


def test_too_fine_resolution_raises(checker):
    zero = np.zeros(checker.robot.dof)
    with pytest.raises(Gjk3dError, match=r"1e\+12 .*resolution"):
        checker.motion_free(zero, zero + 1.0, resolution=1e-12)
    for share in (0.0, -5.0, 2.0, np.nan):
        with pytest.raises(Gjk3dError, match=f"tolerance.*{share}"):
            checker.motion_free(zero, zero, tolerance=share)


def test_angles_too_large_for_rounding_are_not_proven_free():
    """An angle of 1e12 is rounded by 1e-4, so a gap of 1e-5 is not proven free. Sampling raises an error."""
    checker = Checker(Robot.example(), {"ball": (gk.Sphere(0.1), at(0.0, 3.0, 0.0))})
    start = np.array([1e12, 0.0])
    result = checker.motion_free(start, start + [2.0, 0.0], certify=True)
    assert (result.status, result.safe, result.pair) == (MotionStatus.FREE, 1.0, None)
    checker.margin = checker.clearance(start).distance - 1e-5
    assert checker.free(start)
    result = checker.motion_free(start, start, certify=True)
    assert (result.free, result.status, result.safe) == (False, MotionStatus.UNRESOLVED, 0.0)
    with pytest.raises(Gjk3dError, match=r"4e\+13 .*resolution"):
        checker.motion_free([-1e12, 0.0], [1e12, 0.0])


@pytest.mark.parametrize("far", [1e200, 1e308, 1.7e308])
def test_slide_that_overflows_terminates(far):
    """The next power of two above such lengths is infinite. The search for a power of two below it never ended."""
    rail = Robot.load(
        """<robot name="rail"><link name="base"/><link name="cart"><collision><geometry><box size="1 1 1"/></geometry>
        </collision></link><joint name="slide" type="prismatic"><parent link="base"/><child link="cart"/>
        <limit lower="-1" upper="1"/></joint></robot>"""
    )
    result = Checker(rail, {"post": gk.Box((1, 1, 1))}).motion_free([-far], [far], certify=True)
    assert (result.status, result.safe) == (MotionStatus.UNRESOLVED, 0.0)


LIFT = """<robot name="lift"><link name="base"/><link name="hand"><collision><geometry>
<box size="0.1 0.1 0.1"/></geometry></collision></link><joint name="z" type="prismatic"><parent link="base"/>
<child link="hand"/><axis xyz="0 0 1"/><limit lower="0" upper="1"/></joint></robot>"""
TABLES = [gk.Box((1, 1, 1)), gk.Mesh(*gk.Box((1, 1, 1)).surface()), gk.Halfspace((0, 0, 1), 0.5)]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: type(table).__name__)
@pytest.mark.parametrize(("first", "last", "hit"), [(0.0, 1.0, 0.0), (0.0, 0.0, 0.0), (1.0, 0.0, 1.0), (0.3, 0.0, 1.0)])
def test_contact_only_at_an_end_is_a_hit(table, first, last, hit):
    """At 0 the hand touches the table. Rounding may hide or show a gap, so the motion is reported as a hit."""
    checker = Checker(Robot.load(LIFT), {"table": (table, at(0.0, 0.0, -0.55))})
    answer = checker.motion_free([first], [last], certify=True)
    assert (answer.free, answer.status, answer.hit, answer.pair) == (False, MotionStatus.HIT, hit, ("hand", "table"))
    assert hit - answer.safe <= 1e-6
    assert answer.hit == checker.motion_free([first], [last]).hit
    many = checker.motion_free([[first]] * 2, [[last]] * 2, certify=True)
    assert (many.status.tolist(), many.hit.tolist(), many.safe.tolist()) == ([1, 1], [hit] * 2, [answer.safe] * 2)
    path = checker.path_free(np.array([[first], [last]]), certify=True)
    assert (path.status, path.hit, path.configuration.tolist()) == (MotionStatus.HIT, hit, [last if hit else first])
    run = gk.robot.Trajectory([[first], [last]], times=[0.0, 2.0])
    timed = checker.trajectory_free(run, certify=True)
    assert (timed.status, timed.hit, timed.pair) == (MotionStatus.HIT, 2.0 * hit, ("hand", "table"))


FLAP = """<robot name="flap"><link name="base"/><link name="flap"><collision><origin xyz="0.5 0 0"/><geometry>
<box size="1 0.1 0.1"/></geometry></collision></link><joint name="hinge" type="revolute"><parent link="base"/>
<child link="flap"/><axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="1" velocity="1"/></joint></robot>"""


@pytest.mark.parametrize("table", TABLES, ids=lambda table: type(table).__name__)
def test_link_laid_flat_on_table_is_a_hit_at_the_end(table):
    """Near the end the gap decreases with the square of the angle, so the proof stops long before the end."""
    checker = Checker(Robot.load(FLAP), {"table": (table, at(0.5, 0.0, -0.55))})
    result = checker.motion_free([[-1.0], [0.0], [-1.0]], [[0.0], [-1.0], [-0.5]], certify=True)
    hit = int(MotionStatus.HIT)
    assert result.status[:2].tolist() == [hit, hit]
    assert result.hit[:2].tolist() == [1.0, 0.0]
    assert result.pair[:2] == [("flap", "table")] * 2
    assert result.status[2] != hit
    assert [checker.free([q]) for q in (-1.0, -0.5, 0.0)] == [True, True, False]
