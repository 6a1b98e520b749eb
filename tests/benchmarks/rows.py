"""``python -m tests.benchmarks.rows``: a million rows by `gjk3d.batches`, in one process and in two of Dask.

The table has the CPU time of all processes (for two with the client, in which the scheduler runs), the wall time,
whether the results have the same bits, and the growth of the peak memory of the calling process.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import gjk3d as gk
from tests.benchmarks.copies import _peak, _workers

DATA = Path(__file__).parents[2] / "data"
_MADE = 10_000  #: number of different rows, which repeat


class Again:
    """A sequence that repeats its rows, and makes them on demand."""

    def __init__(self, rows: Any, count: int) -> None:
        self._rows, self._count = rows, count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, part: slice) -> Any:
        return self._rows[: min(part.stop, self._count) - part.start]


def queries() -> Iterator[tuple[str, Callable[..., Any], tuple[Any, ...], Callable[[Any], Any]]]:
    """Yield the name, the query, its rows, and a function that returns the compared part of a result."""
    rng = np.random.default_rng(8)

    def poses(spread: float) -> Any:
        out = np.tile(np.eye(4), (_MADE, 1, 1))
        out[:, :3, :3] = Rotation.random(_MADE, random_state=rng).as_matrix()
        out[:, :3, 3] = rng.uniform(-spread, spread, (_MADE, 3))
        return out

    shapes = [gk.Box((1, 2, 1)), gk.Sphere(0.5), gk.Capsule(0.3, 1), gk.ConvexHull(rng.normal(size=(40, 3)))]
    pairs, which = gk.Pairs(shapes), rng.integers(0, 4, (_MADE, 2))
    pose_pairs = np.stack([poses(1.5), poses(1.5)], axis=1)
    yield "Pairs.collide", pairs.collide, (which, pose_pairs), np.asarray
    yield "Pairs.signed_distance", pairs.signed_distance, (which, pose_pairs), lambda result: result.lower
    checker = gk.robot.Checker(gk.robot.Robot.from_urdf(DATA / "arm" / "arm.urdf"))
    q = rng.uniform(-1, 1, (2 * _MADE, checker.robot.dof))
    yield "Checker.free", checker.free, (q[:_MADE],), np.asarray
    yield "Checker.motion_free", checker.motion_free, (q[:_MADE], q[_MADE:]), lambda result: result.free
    moves = [gk.Motion.between(poses(2.0), poses(2.0)) for _ in range(2)]
    yield "time_of_impact", partial(gk.time_of_impact, shapes[0], shapes[2]), (*moves,), lambda result: result.time


def _processor_time(client: Any) -> float:
    """Return the CPU time of this process and of the workers of a cluster so far."""
    return time.process_time() + sum(_workers(client).values())


def measure(question: Callable[..., Any], rows: Any, read: Callable[[Any], Any], client: Any) -> tuple[Any, ...]:
    """Return the CPU time, the wall time, the growth of memory in MB, and the hash of all results in order."""
    digest, cpu, wall, before = hashlib.sha256(), _processor_time(client), time.perf_counter(), _peak()
    for _, answer in gk.batches(question, *rows, executor=client):
        digest.update(np.ascontiguousarray(read(answer)).tobytes())
    return _processor_time(client) - cpu, time.perf_counter() - wall, _peak() - before, digest.digest()


def main(given: list[str] | None = None) -> int:
    """Run the benchmark that the command line selects."""
    from dask.distributed import Client, LocalCluster

    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.rows", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--motions", type=int, default=100_000, help="rows of what takes longer: motions")
    arguments = parser.parse_args(given)
    print(
        "| | rows | CPU time, one process | two | two / one | wall time, one | two | memory, client | same bits |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    )
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as processes,
        Client(processes) as client,
    ):
        for name, question, made, read in queries():
            count = arguments.motions if "motion" in name or "impact" in name else arguments.rows
            for some in (min(20_000, count), count):  # the first, short run loads all code
                rows = [Again(each, some) for each in made]
                one, two = (measure(question, rows, read, executor) for executor in (None, client))
            print(
                f"| `{name}` | {count} | {one[0]:.1f} s | {two[0]:.1f} s | {two[0] / one[0]:.2f} | {one[1]:.1f} s |"
                f" {two[1]:.1f} s | + {max(one[2], two[2]):.0f} MB | {'yes' if one[3] == two[3] else 'NO'} |",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
