"""Robots: reading URDF, SRDF and MJCF, and collision checks of configurations and motions.

A `Checker` provides the queries. Its `cell` is the input of the kernels of `cell_kernels` and `motion_cover`. `ompl`
connects a checker to the planners of OMPL and is imported at first use. Pictures are in `gjk3d.viz`.
"""

from gjk3d.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
