"""Kernels compiled ahead of the first query."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gjk3d._kernels.decorators import MODE


def warmup(report: Callable[[float], None] | None = None) -> bool:
    """Compile all kernels now, unless that was done: less than a minute on two cores, once a machine and version.

    Without it the first large question does so, and those about one pair are answered meanwhile, interpreted.

    Parameters
    ----------
    report : callable, optional
        Called now and then with how far it is, from 0 to 1. By default progress goes to stderr.

    Returns
    -------
    bool
        Whether there is machine code: False where nothing can compile it, or `GJK3D_KERNELS` wants none.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.warmup()
    True
    """
    if MODE != "object":
        return MODE == "jit"
    from gjk3d._kernels import late

    return late.wait(report)


def kernels() -> dict[str, Any]:
    """Return how kernels run in this process, for `gjk3d doctor`."""
    if MODE != "object":
        return {"mode": MODE}
    from gjk3d._kernels import late
    from gjk3d._kernels.calls.install import is_usable

    return {"mode": MODE, **late.status(), "builtins": is_usable()}
