"""``NUMBA_DISABLE_JIT=1 python -m tests.hardening.pair_cover``: the branches of the kernels that each pair executes.

Every pair of `strategies.PAIRS` is queried at random poses and with coincident frames. The kernels run as plain Python.
Branches are the jumps from line to line in gjk3d/narrow, convex, query and shapes and each kind of shape.
The chosen pairs are a greedy set cover in which `TIMES` pairs execute each branch, or all pairs that do where there are
fewer. The command prints the branches that `strategies.CHOSEN_PAIRS` cover less often, and this set cover.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import laws
import naive
import numpy as np
from coverage import Coverage
from strategies import CHOSEN_PAIRS, PAIRS, SHAPES, is_polytope

import gjk3d as gk
from gjk3d._kernels.decorators import MODE

PACKAGE = Path(gk.__file__).parent
POSES = 12
TIMES = 2  #: two, since one pair may execute a branch only by chance

Branch = tuple[str, int, int]  #: file, line before, line after; or a kind of shape
Names = tuple[str, str]


def query(pair: laws.Pair, rng: np.random.Generator) -> None:
    """Run each query of two convex shapes that is tested with `CHOSEN_PAIRS`."""
    a, b, poses_a, poses_b = pair.shape_a, pair.shape_b, pair.poses_a, pair.poses_b
    result = pair.signed()
    gk.gradient(result)
    pair.signed(depth="epa")
    pair.apart(max_distance=float(np.median(np.abs(result.distance))))
    pair.collide()
    pair.swapped().signed()
    gk.contact(a, b, poses_a, poses_b, within=0.1)
    if is_polytope(pair.a) and is_polytope(pair.b):
        pair.signed(depth="facets")
        if not naive.body(pair.a).radius and not naive.body(pair.b).radius:
            gk.separating_axis(a, b, poses_a, poses_b)
    warm = gk.Pair(a, b)
    for pose_a, pose_b in zip(poses_a[:4], poses_b[:4], strict=True):
        warm.collide(pose_a, pose_b)
        warm.signed_distance(pose_a, pose_b)
    for pose_a, pose_b in zip(poses_a[:3], poses_b[:3], strict=True):
        gk.time_of_impact(a, b, gk.Motion(pose_a, *rng.normal(size=(2, 3))), pose_b)


def executed_branches() -> Iterator[tuple[Names, set[Branch]]]:
    """Yield every pair of names with the branches that its queries execute."""
    sources = [str(PACKAGE / folder / "*.py") for folder in ("narrow", "convex", "query", "shapes")]
    for names in [PAIRS[0], *PAIRS]:  # twice, since the first queries also execute one-time code
        rng = np.random.default_rng(PAIRS.index(names))
        a, b = (SHAPES[name] for name in names)
        random, coincident = laws.Pair.random(rng, a, b, POSES), laws.Pair(a, np.eye(4), b, np.eye(4))
        cover = Coverage(data_file=None, branch=True, include=sources, messages=False)
        with cover.collect():
            query(random, rng)
            query(coincident, rng)
        data = cover.get_data()
        kinds = {(name, 0, 0) for name in names}
        files = {str(Path(file).relative_to(PACKAGE)): data.arcs(file) or () for file in data.measured_files()}
        yield names, kinds | {(file, *arc) for file, arcs in files.items() for arc in arcs}


def missing_times(executed: dict[Names, set[Branch]], chosen: Iterable[Names]) -> Counter[Branch]:
    """Return the branches that the chosen pairs execute less than `TIMES` times, and the missing counts."""
    total = Counter(branch for branches in executed.values() for branch in branches)
    wanted = Counter({branch: min(TIMES, times) for branch, times in total.items()})
    return wanted - Counter(branch for names in chosen for branch in executed[names])


def greedy(executed: dict[Names, set[Branch]]) -> list[Names]:
    """Return a greedy set cover, which starts with the pair that executes the most branches."""
    chosen: list[Names] = []
    while missing := missing_times(executed, chosen):
        left = executed.keys() - set(chosen)
        chosen.append(max(sorted(left), key=lambda names: len(executed[names] & missing.keys())))
    return chosen


def main() -> int:
    if MODE != "python":
        print("Set NUMBA_DISABLE_JIT=1: compiled kernels have no lines to trace.", file=sys.stderr)
        return 2
    executed = dict(executed_branches())
    missing = missing_times(executed, CHOSEN_PAIRS)
    print(f"{len(set().union(*executed.values()))} branches of {len(PAIRS)} pairs")
    print(f"{len(missing)} of them not executed {TIMES} times by the {len(CHOSEN_PAIRS)} chosen pairs")
    for file, before, after in sorted(missing):
        print(f"  {file}: {before} -> {after}")
    for names in greedy(executed):
        print(f"    {names!r},")
    return int(bool(missing))


if __name__ == "__main__":
    sys.exit(main())
