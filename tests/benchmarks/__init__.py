"""gjk3d beside coal, python-fcl, mujoco, pybullet and distance3d: ``python -m tests.benchmarks`` at the root."""

import sys
from pathlib import Path

# naive.py, strategies.py and peers.py are imported as the tests do, by their folder
sys.path.insert(0, str(Path(__file__).parents[1]))
