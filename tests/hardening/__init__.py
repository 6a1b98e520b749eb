"""A million random and adversarial pairs against the laws and the rational judge: ``python -m tests.hardening``."""

import sys
from pathlib import Path

# naive.py, laws.py, strategies.py and peers.py are imported as the tests do, by their folder
sys.path.insert(0, str(Path(__file__).parents[1]))
