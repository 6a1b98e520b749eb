"""Hypothesis profiles: no deadline, because a first call compiles; the same examples in every run.

GJK3D_TEST_PROFILE=few is for the slow modes, without compilation and with bounds checks.
"""

import os

from hypothesis import settings

common = settings(deadline=None, derandomize=True, print_blob=True)
settings.register_profile("full", common)
settings.register_profile("few", common, max_examples=10)
settings.load_profile(os.environ.get("GJK3D_TEST_PROFILE", "full"))
