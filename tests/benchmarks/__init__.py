"""Benchmarks of gjk3d and of other collision libraries: ``python -m tests.benchmarks`` at the root."""

import sys
from pathlib import Path

# the tests and the benchmarks import naive.py, strategies.py and peers.py from this folder
sys.path.insert(0, str(Path(__file__).parents[1]))
