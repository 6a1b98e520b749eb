"""Batches and clash checks on a cluster of two processes.

The results equal those of one process, in bits and order, even if a worker is killed.
"""

import os
import pickle
import signal
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import trimesh
from message_checks import assert_names
from scipy.spatial.transform import Rotation

import gjk3d as gk
from gjk3d.errors import ShapeError

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("dask.distributed", reason='pip install "gjk3d[scale]" brings Dask')
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def poses(rng, count, spread):
    out = np.tile(np.eye(4), (count, 1, 1))
    out[:, :3, :3] = Rotation.random(count, random_state=rng).as_matrix()
    out[:, :3, 3] = rng.uniform(-spread, spread, (count, 3))
    return out


def assembly(count=150):
    """Return rings with pins through them, at different relative poses, so that every pair needs its own decision."""
    rng = np.random.default_rng(3)
    ring, pin = (
        gk.Mesh(model.vertices, model.faces)
        for model in (
            trimesh.creation.annulus(0.4, 1.0, 0.8, sections=24),
            trimesh.creation.cylinder(0.45, 2.0, sections=24),
        )
    )
    parts = {}
    for k, (ring_pose, pin_pose) in enumerate(zip(poses(rng, count, 0.1), poses(rng, count, 0.3), strict=True)):
        ring_pose[0, 3] += 3.0 * k
        pin_pose[0, 3] += 3.0 * k
        parts[f"ring {k}"], parts[f"pin {k}"] = (ring, ring_pose), (pin, pin_pose)
    return gk.clash.Assembly.of(parts, "mm")


def kill_worker(client):
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)


def test_cluster_report_equals_local_report_after_worker_dies(client):
    model = assembly()
    expected = []
    local = gk.clash.check(model, 0.1, found=expected.append)
    assert local.decisions > 140
    for kill in (False, True):
        again, steps = [], []

        def on_clash(clash, again=again, kill=kill):
            again.append(clash)
            if kill and len(again) == 20:
                kill_worker(client)

        remote = gk.clash.check(
            model, 0.1, executor=client, found=on_clash, progress=lambda *step, steps=steps: steps.append(step)
        )
        assert remote.complete
        assert again == expected
        assert remote.clashes == local.clashes
        assert (remote.decisions, remote.pairs_tested) == (local.decisions, local.pairs_tested)
        assert steps[-1][1] == steps[-1][2] == local.pairs_close


def test_interrupt_keeps_the_clashes_found_so_far(client):
    model, clashes = assembly(), []

    def stop(clash):
        clashes.append(clash)
        if len(clashes) == 20:
            signal.raise_signal(signal.SIGINT)

    report = gk.clash.check(model, 0.1, executor=client, found=stop)
    assert not report.complete
    assert {clash.id for clash in report.clashes} == {clash.id for clash in clashes}
    assert 20 <= len(clashes) < 100


def batch_queries():
    rng = np.random.default_rng(8)
    shapes = [gk.Box((1, 2, 1)), gk.Sphere(0.5), gk.Capsule(0.3, 1)]
    pairs, which = gk.Pairs(shapes), rng.integers(0, 3, (4000, 2))
    stack = np.stack([poses(rng, 4000, 1.5), poses(rng, 4000, 1.5)], axis=1)
    yield pairs.collide, (which, stack), 700, lambda answer: answer
    yield pairs.signed_distance, (which, stack), 700, lambda answer: np.column_stack([answer.lower, answer.point_a])
    first = gk.Motion.between(poses(rng, 300, 2.0), poses(rng, 300, 2.0))
    second = gk.Motion.between(poses(rng, 300, 2.0), poses(rng, 300, 2.0))
    toi = partial(gk.time_of_impact, shapes[0], shapes[2])
    yield toi, (first, second), 64, lambda impact: np.column_stack([impact.free_until, impact.time])
    robot = gk.robot.Robot.from_urdf(DATA / "arm" / "arm.urdf")
    checker = gk.robot.Checker(robot)
    q = rng.uniform(-1, 1, (2000, robot.dof))
    yield checker.free, (q,), 300, lambda answer: answer
    yield checker.motion_free, (q[:200], q[200:400]), 64, lambda answer: answer.free


@pytest.mark.parametrize("number", range(5))
def test_batches_have_order_and_bits_of_the_rows(client, number):
    query, rows, size, bits = list(batch_queries())[number]
    expected = bits(query(*rows))
    for executor in (None, client):
        parts, answers = zip(*gk.batches(query, *rows, executor=executor, size=size), strict=True)
        assert [part.start for part in parts] == list(range(0, len(expected), size))
        assert parts[-1].stop == len(expected)
        np.testing.assert_array_equal(np.concatenate([bits(answer) for answer in answers]), expected)


def test_batches_are_complete_after_worker_dies(client):
    query, rows, _, _ = next(batch_queries())
    expected, answers = query(*rows), []
    for part, answer in gk.batches(query, *rows, executor=client, size=50):
        if part.start == 500:
            kill_worker(client)
        answers.append(answer)
    np.testing.assert_array_equal(np.concatenate(answers), expected)


def test_rows_are_read_lazily():
    class Counted:
        taken = 0

        def __len__(self):
            return 10**9

        def __getitem__(self, part):
            self.taken += 1
            return np.arange(part.start, part.stop)

    rows = Counted()
    answers = gk.batches(np.sum, rows, size=3)
    assert [next(answers)[1] for _ in range(4)] == [3, 12, 21, 30]
    assert rows.taken == 4


def test_invalid_arguments_of_batches_raise():
    with pytest.raises(ShapeError, match=r"size\b.*\b0\b"):
        gk.batches(np.sum, [1], size=0)
    with pytest.raises(ShapeError, match=r"\[1, 2\]"):
        gk.batches(np.add, [1], [1, 2])
    with pytest.raises(ShapeError) as caught:
        gk.batches(np.sum)
    assert_names(caught.value, "batches", "[]")
    with pytest.raises(TypeError, match=r"dask\.distributed\.Client.*gjk3d\[scale\]"):
        gk.batches(np.sum, [1], executor=4)
    with pytest.raises(TypeError, match="workers="):
        gk.clash.check(assembly(1), executor="cluster")


def test_decisions_pickle():
    from gjk3d.clash.detection.decider import Decisions

    ring = assembly(1).parts[0].shape
    again = pickle.loads(pickle.dumps(Decisions([ring], 0.5, 0.6)))
    assert again._shapes == (ring,)
    assert (again._clearance, again._most) == (0.5, 0.6)


def test_stack_of_motions_is_sliced():
    stack = gk.Motion(None, np.arange(12.0).reshape(4, 3))
    part = stack[1:3]
    assert (len(part), part.stacked) == (2, True)
    np.testing.assert_array_equal(part.at(1.0), stack.at(1.0)[1:3])
    assert len(stack[4:]) == 0
