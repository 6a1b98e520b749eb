# ruff: noqa: F403, F405
"""All public names can be imported with a star."""

from typing import assert_type

from gjk3d import *

assert_type(collide(Box((1, 1, 1)), Sphere(1)), bool)
errors.ShapeError("")
