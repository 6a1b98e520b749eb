"""Motions: sampled ones against single configurations, certified ones against dense samples."""

from __future__ import annotations

import os
import pickle
import sysconfig

import numpy as np
import pytest
from chains import drawn, random_robot

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
    """Return the ends of edges of about that length, the first end free."""
    robot, rng = checker.robot, np.random.default_rng(seed)
    low = np.where(np.isfinite(robot.lower), robot.lower, -3.0)
    high = np.where(np.isfinite(robot.upper), robot.upper, 3.0)
    q = rng.uniform(low, high, (8 * count, robot.dof))
    q = q[checker.free(q)][:count]
    step = rng.normal(size=q.shape)
    step *= np.minimum(1.0, high - low)  # fingers slide by millimetres
    return q, q + length * step / np.linalg.norm(step, axis=1)[:, None] * rng.uniform(0.2, 1.8, (len(q), 1))


def test_sampled_motions_are_their_samples(checker):
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
        one = Checker(checker.robot, AROUND).clearance(at_hit)
        assert one.distance <= 0.0
        cell = checker._cell()
        assert answer.pair[k] in [cell.names[p] for p in range(len(cell.slots))]


def test_single_stacked_broadcast_and_threads_agree(checker):
    q0, q1 = edges(checker, 150, seed=1)
    many = checker.motion_free(q0, q1)
    for other in (checker.motion_free(q0, q1, workers=2), pickle.loads(pickle.dumps(checker)).motion_free(q0, q1)):
        for field in ("free", "status", "safe", "hit"):
            assert np.array_equal(getattr(many, field), getattr(other, field), equal_nan=True)
    for k in range(12):
        one = checker.motion_free(q0[k], q1[k])
        assert isinstance(one.free, bool)
        assert isinstance(one.status, MotionStatus)
        assert (one.free, one.status, one.safe) == (many.free[k], many.status[k], many.safe[k])
        assert bool(one) == one.free
    fan = checker.motion_free(q0[0], q1[:20])
    assert np.array_equal(fan.free, checker.motion_free(np.tile(q0[0], (20, 1)), q1[:20]).free)
    back = checker.motion_free(q1[:20], q0[0])
    assert len(back.free) == 20


def test_resolution_of_each_joint(checker):
    q0, q1 = edges(checker, 40, seed=2)
    fine = checker.motion_free(q0, q1, resolution=np.full(checker.robot.dof, 0.05))
    assert np.array_equal(fine.safe, checker.motion_free(q0, q1, resolution=0.05).safe)
    for coarse in (10.0, np.inf):  # both ends are asked all the same
        ends = checker.motion_free(q0, q1, resolution=coarse)
        assert np.array_equal(ends.free, checker.free(q0) & checker.free(q1))


def test_nothing_to_ask_and_no_motion(checker):
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
    each = checker.motion_free(long[:-1], long[1:])
    assert not answer
    assert answer.edge == int(np.argmin(each.free))
    assert (answer.safe, answer.hit) == (each.safe[answer.edge], each.hit[answer.edge])
    assert not checker.free(answer.configuration)
    assert checker.path_free(path[:1])


@pytest.mark.parametrize("certify", [False, True])
def test_refused(checker, certify):
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


def test_too_many_samples(checker):
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
    # never safe beyond what was seen to collide, and dense samples meet nothing before the proof does
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


def test_certified_there_and_back(checker):
    q0, q1 = edges(checker, 100, seed=7)
    there, back = checker.motion_free(q0, q1, certify=True), checker.motion_free(q1, q0, certify=True)
    clear = (there.status != MotionStatus.UNRESOLVED) & (back.status != MotionStatus.UNRESOLVED)
    assert clear.mean() > 0.9
    assert np.array_equal(there.free[clear], back.free[clear])
    # the first contact from one end is not behind the first from the other
    met = clear & ~there.free
    assert (there.safe[met] <= 1.0 - back.safe[met] + 1e-6).all()


def test_certified_motions_shrink_with_the_margin(checker):
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


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4, 5, 6, 8, 10, 11])  # of 7 and 9 hardly any configuration is free
def test_certified_motions_of_every_kind_of_joint(tmp_path, seed):
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


def test_a_plate_between_two_samples(arm):
    checker = Checker(arm, {"plate": (gk.Box((0.4, 0.002, 0.4)), at(0.7, 0.7, 0.0))})
    assert checker.motion_free([0.0], [1.2], resolution=0.05).free
    answer = checker.motion_free([0.0], [1.2], certify=True)
    # the ball's middle goes round a circle of radius 1, and meets the plate's face where it is 0.01 below it
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
def test_tolerance(arm, tolerance):
    checker = Checker(arm, {"plate": (gk.Box((0.4, 0.002, 0.4)), at(0.7, 0.7, 0.0))})
    answer = checker.motion_free([0.0], [1.2], certify=True, tolerance=tolerance)
    contact = np.arcsin(0.7 - 0.001 - 0.01) / 1.2
    assert answer.status == MotionStatus.HIT
    assert answer.safe <= contact + 1e-12
    assert contact - 1e-12 <= answer.hit <= answer.safe + tolerance


@pytest.mark.parametrize("gap", [1e-5, 1e-7, 0.0, -1e-7, -1e-5])
def test_grazing(arm, gap):
    """The ball passes below a plate, at its highest by that gap."""
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
    # the same with the gap as the margin
    wide = Checker(arm, {"plate": (gk.Box((0.4, 0.1, 0.4)), at(0.0, 1.06, 0.0))}, margin=-gap)
    assert wide.motion_free([1.0], [2.1], certify=True).status == answer.status


def test_touching_all_the_way_is_not_free(arm):
    """The ball goes round inside a hole in the air: it slides on a large ball about the axis."""
    checker = Checker(arm, {"hub": gk.Sphere(0.99)})
    answer = checker.motion_free([0.0], [1.0], certify=True)
    assert not answer.free
    assert answer.safe == 0.0
    assert Checker(arm, {"hub": gk.Sphere(0.98)}).motion_free([0.0], [30.0], certify=True)
    assert not Checker(arm, {"hub": gk.Sphere(0.98)}, margin=0.01).motion_free([0.0], [1.0], certify=True)


def test_far_from_the_origin_and_many_turns(arm):
    """Rounding of angles: a million turns away the last digits of q are a billionth of a turn."""
    checker = Checker(arm, {"plate": (gk.Box((0.4, 0.1, 0.4)), at(0.0, 1.06 + 1e-9, 0.0))})
    turns = 2e6 * np.pi
    far = checker.motion_free([turns + 1.4], [turns + 1.8], certify=True)
    assert not far.free
    near = Checker(arm, {"plate": (gk.Box((0.4, 0.1, 0.4)), at(0.0, 1.07, 0.0))})
    assert near.motion_free([turns + 1.4], [turns + 1.8], certify=True)


def test_the_start_that_collides(arm):
    checker = Checker(arm, {"ball": (gk.Sphere(0.1), at(1.0, 0.0, 0.0))})
    for certify in (False, True):
        answer = checker.motion_free([0.0], [1.0], certify=certify)
        assert (answer.free, answer.status, answer.safe, answer.hit) == (False, MotionStatus.HIT, 0.0, 0.0)
        still = checker.motion_free([0.5], [0.5], certify=certify)
        assert still.free
        assert not checker.motion_free([0.0], [0.0], certify=certify)


def test_what_does_not_move_is_asked_too(tmp_path):
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


def test_solids_as_their_convex_twins(tmp_path):
    """A post as triangles and a floor as a half-space say what a box and a large box do."""
    robot = Robot.from_urdf(*UR5)
    box, high = gk.Box((0.1, 0.1, 1.2)), at(0.45, 0.3, 0.4)
    vertices, faces = box.surface()
    twin = Checker(robot, {"post": (box, high), "floor": (gk.Box((20, 20, 1)), at(0, 0, -0.6))})
    solid = Checker(robot, {"post": (gk.Mesh(vertices, faces), high), "floor": gk.Halfspace((0, 0, 1), -0.1)})
    q0, q1 = edges(twin, 20, 2.5, seed=11)
    for how in ({"resolution": 0.05}, {"certify": True}):
        one, other = twin.motion_free(q0, q1, **how), solid.motion_free(q0, q1, **how)
        assert 0.2 < one.free.mean() < 0.9
        assert np.array_equal(one.status, other.status)
        assert other.safe == pytest.approx(one.safe, abs=2e-6)
        assert other.hit == pytest.approx(one.hit, abs=2e-6, nan_ok=True)
    # of several that hit at one sample any may be named; the first contact of all is one pair's
    assert one.pair == other.pair
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
def test_a_margin_round_a_body_is_proven_to_the_end(kind, margin):
    """A body is known to a share of what it is apart beyond the margin: what passes closer than that is proven too."""
    one, other = (Checker(Robot.from_urdf(*UR5), {"post": (shape, at(0.5, 0.3, 0.4))}) for shape in TWINS[kind])
    q0, q1 = edges(one, 25, 2.0, seed=11)
    for checker in (one, other):
        checker.set_margin("post", None, margin)
    hull, body = one.motion_free(q0, q1, certify=True), other.motion_free(q0, q1, certify=True)
    assert (body.status != MotionStatus.UNRESOLVED).all()
    hits = body.status == MotionStatus.HIT
    assert 4 < hits.sum() < 24
    assert (body.hit[hits] <= body.safe[hits] + 1e-6).all()
    assert np.array_equal(hull.status, body.status)
    assert body.safe == pytest.approx(hull.safe, abs=2e-6)


@pytest.mark.parametrize("seed", range(8))
def test_never_free_with_a_margin_that_is_not_kept(tmp_path, seed):
    """Samples know an upper bound of the least clearance of an edge: with it as the margin no proof may succeed."""
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
def test_a_motion_just_above_the_floor_ends(tmp_path, floor, monkeypatch):
    """Proof is given up after so many looks; what is safe was proven, and the rest is said to be open."""
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
    if isinstance(floor, (gk.Mesh, gk.Compound)):  # of which the bound is to first order: a micrometre at a time
        assert (got.status, got.pair) == (MotionStatus.UNRESOLVED, ("cart", "floor"))
        assert 0.0 < got.safe < 0.01
    assert checker.free(np.linspace(-1.0, -1.0 + 2.0 * got.safe, 300)[:, None]).all()


def test_a_resolution_that_would_take_for_ever(checker):
    zero = np.zeros(checker.robot.dof)
    with pytest.raises(Gjk3dError, match=r"1e\+12 .*resolution"):
        checker.motion_free(zero, zero + 1.0, resolution=1e-12)
    for share in (0.0, -5.0, 2.0, np.nan):
        with pytest.raises(Gjk3dError, match=f"tolerance.*{share}"):
            checker.motion_free(zero, zero, tolerance=share)


def test_turns_so_large_that_rounding_moves_the_robot():
    """At 1e12 a turn is rounded by 1e-4: what is that close is not called free, and samples are refused."""
    checker = Checker(Robot.example(), {"ball": (gk.Sphere(0.1), at(0.0, 3.0, 0.0))})
    there = np.array([1e12, 0.0])
    found = checker.motion_free(there, there + [2.0, 0.0], certify=True)
    assert (found.status, found.safe, found.pair) == (MotionStatus.FREE, 1.0, None)
    checker.margin = checker.clearance(there).distance - 1e-5
    assert checker.free(there)
    found = checker.motion_free(there, there, certify=True)
    assert (found.free, found.status, found.safe) == (False, MotionStatus.UNRESOLVED, 0.0)
    with pytest.raises(Gjk3dError, match=r"4e\+13 .*resolution"):
        checker.motion_free([-1e12, 0.0], [1e12, 0.0])


@pytest.mark.parametrize("far", [1e200, 1e308, 1.7e308])
def test_a_slide_that_overflows_ends(far):
    """The next power of two of such lengths is infinite; looking for one below it went on for ever."""
    rail = Robot.load(
        """<robot name="rail"><link name="base"/><link name="cart"><collision><geometry><box size="1 1 1"/></geometry>
        </collision></link><joint name="slide" type="prismatic"><parent link="base"/><child link="cart"/>
        <limit lower="-1" upper="1"/></joint></robot>"""
    )
    found = Checker(rail, {"post": gk.Box((1, 1, 1))}).motion_free([-far], [far], certify=True)
    assert (found.status, found.safe) == (MotionStatus.UNRESOLVED, 0.0)


LIFT = """<robot name="lift"><link name="base"/><link name="hand"><collision><geometry>
<box size="0.1 0.1 0.1"/></geometry></collision></link><joint name="z" type="prismatic"><parent link="base"/>
<child link="hand"/><axis xyz="0 0 1"/><limit lower="0" upper="1"/></joint></robot>"""
TABLES = [gk.Box((1, 1, 1)), gk.Mesh(*gk.Box((1, 1, 1)).surface()), gk.Halfspace((0, 0, 1), 0.5)]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: type(table).__name__)
@pytest.mark.parametrize(("first", "last", "hit"), [(0.0, 1.0, 0.0), (0.0, 0.0, 0.0), (1.0, 0.0, 1.0), (0.3, 0.0, 1.0)])
def test_a_motion_that_touches_only_at_an_end_hits_there(table, first, last, hit):
    """At 0 the hand touches the table. Rounding leaves open whether they are apart, so no more can be proven."""
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
def test_a_link_laid_flat_on_a_table_hits_at_the_end(table):
    """Near the hinge the gap falls with the square of the angle, so the proof stops long before the end."""
    checker = Checker(Robot.load(FLAP), {"table": (table, at(0.5, 0.0, -0.55))})
    found = checker.motion_free([[-1.0], [0.0], [-1.0]], [[0.0], [-1.0], [-0.5]], certify=True)
    hit = int(MotionStatus.HIT)
    assert found.status[:2].tolist() == [hit, hit]
    assert found.hit[:2].tolist() == [1.0, 0.0]
    assert found.pair[:2] == [("flap", "table")] * 2
    assert found.status[2] != hit
    assert [checker.free([q]) for q in (-1.0, -0.5, 0.0)] == [True, True, False]
