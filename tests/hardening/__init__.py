"""Random and adversarial pairs against the laws and exact verification: ``python -m tests.hardening``."""

import sys
from pathlib import Path

# naive.py, laws.py, strategies.py and peers.py are imported by their plain names, as in the tests
sys.path.insert(0, str(Path(__file__).parents[1]))
