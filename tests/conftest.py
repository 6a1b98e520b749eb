"""One hypothesis profile: no deadline, because a first call compiles; the same examples in every run."""

from hypothesis import settings

settings.register_profile("gjk3d", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("gjk3d")
