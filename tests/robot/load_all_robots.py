"""Load every URDF of example-robot-data and print the errors: ``python tests/robot/load_all_robots.py``."""

from __future__ import annotations

import sys
import time
from collections import Counter

import numpy as np
from example_robots import SHARE

from gjk3d.errors import Gjk3dError
from gjk3d.robot import Robot


def main() -> int:
    """Print one line per file that does not load, and the number of files per outcome."""
    counts: Counter[str] = Counter()
    files = sorted(SHARE.rglob("*.urdf"))
    for file in files:
        start = time.perf_counter()
        try:
            robot = Robot.from_urdf(file)
            poses = robot.link_poses(np.zeros(robot.dof))
            assert np.isfinite(poses).all()
            counts["loads"] += 1
        except Gjk3dError as reason:
            counts[type(reason).__name__] += 1
            print(f"{file.relative_to(SHARE)}: {type(reason).__name__}: {str(reason).splitlines()[0]}")
        except ImportError as reason:
            counts["ImportError"] += 1
            print(f"{file.relative_to(SHARE)}: ImportError: {reason}")
        if time.perf_counter() - start > 5.0:
            print(f"{file.relative_to(SHARE)}: {time.perf_counter() - start:.0f} s")
    print(f"{len(files)} files:", ", ".join(f"{n} {what}" for what, n in counts.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
