"""Compiled code: the decorators of kernels, the builder and its cache, calls from CPython, and the user's functions.

The kernels are in the subpackages of their subjects, such as `narrow` and `bodies`. `warmup` compiles all of them.
"""

from __future__ import annotations

from collections.abc import Callable


def warmup(report: Callable[[float], None] | None = None) -> bool:
    """Compile all kernels now unless they are in the cache, and return whether machine code is available.

    Compilation takes less than a minute on two cores, once per machine and version. Without this call, the first large
    query compiles the kernels, and queries of one pair run interpreted until the kernels are ready.

    Parameters
    ----------
    report : callable, optional
        A function that is called from time to time with the progress, from 0 to 1. By default the progress is printed
        on stderr.

    Returns
    -------
    bool
        False if no compiler is available, or if `GJK3D_KERNELS` turns machine code off.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.warmup()
    True
    """
    from gjk3d._kernels.decorators import MODE

    if MODE != "object":
        return MODE == "jit"
    from gjk3d._kernels import late

    return late.wait(report)
