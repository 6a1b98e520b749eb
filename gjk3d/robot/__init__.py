"""Robots: reading URDF, SRDF and MJCF, and collision checks of configurations and motions.

A `Checker` has the queries. Its `cell` is the input of the kernels of `cell_kernels` and `motion_cover`. `ompl`
connects a checker to the planners of OMPL and is imported at first use. `playback` samples a path evenly for pictures,
which are in `gjk3d.viz`.
"""

import lazy_loader

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    if name not in __all__:
        from gjk3d.wording import missing_name

        raise missing_name(__name__, name, __all__)
    value = globals()[name] = _load(name)
    return value
