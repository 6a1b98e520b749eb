"""Hypothesis profiles: no deadline, because a first call compiles; the same examples in every run.

GJK3D_TEST_PROFILE=few is for the slow modes, without compilation and with bounds checks.
"""

import os
import signal

from hypothesis import settings

# a shell without job control starts what runs in the background with Ctrl-C ignored; tests that send it to themselves
# and to programs they start need it as a terminal has it
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

common = settings(deadline=None, derandomize=True, print_blob=True)
settings.register_profile("full", common)
settings.register_profile("few", common, max_examples=10)
settings.load_profile(os.environ.get("GJK3D_TEST_PROFILE", "full"))
