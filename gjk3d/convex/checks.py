"""Checks of the arguments of a query, before any kernel runs."""

from __future__ import annotations

from math import inf
from numbers import Real
from typing import Any

import numpy as np

from gjk3d.errors import DeviceUnavailableError, Gjk3dError, ShapeError, UnsupportedPair
from gjk3d.narrow import solve as narrow
from gjk3d.shapes import layout
from gjk3d.shapes.base import Shape
from gjk3d.typing import Array
from gjk3d.wording import kind_of, with_article

MOST_WORKERS = 1024
#: modes in addition to those of `gjk3d.narrow.solve`: the separating axis test, and the fast depth of non-convex bodies
FACETS, FAST = 3, 4
_FLOAT, _THREE = np.dtype(np.float64), (3,)
_GREATEST = float(np.finfo(np.float64).max)
_EXACT_INTEGERS = 2**53  #: smaller integers are exact in float64
_MODES = {
    "auto": narrow.SIGNED, "epa": narrow.EPA_ALWAYS, "facets": FACETS, "tight": narrow.SIGNED, "fast": FAST,
}  # fmt: skip


def check_polytopes(a: Shape, b: Shape, what: str, rounded: bool) -> None:
    """Raise unless a and b are polytopes. Polytopes with a radius are accepted if ``rounded``.

    ``what`` names the caller's option or function in the error.
    """
    for name, shape in (("a", a), ("b", b)):
        sharp = rounded or shape._packed[1][layout.RADIUS] == 0.0
        if not (shape._packed[0][layout.POLYTOPE] and sharp):
            raise UnsupportedPair(
                f"{name} is {kind_of(shape)}, but {what} needs polytopes{' or rounded polytopes' if rounded else ''}. "
                "Use signed_distance with depth='auto', whose normal is the best axis of any pair."
            )


#: for each type of another library, the line that converts its objects
_LINES = {
    "trimesh.Trimesh": "gjk3d.Mesh.from_trimesh(mesh), or gjk3d.ConvexHull(mesh.vertices)",
    "trimesh.Scene": "gjk3d.Mesh.from_trimesh(scene.to_mesh()), or gjk3d.scene_to_collision(scene) for its parts",
    "trimesh.PointCloud": "gjk3d.PointCloud(cloud.vertices, radius)",
    "pyvista.DataSet": "gjk3d.Mesh.from_pyvista(data), or gjk3d.PointCloud(data.points, radius)",
    "pyvista.MultiBlock": "gjk3d.Mesh.from_pyvista(blocks.combine())",
}


def _type_name(kind: type) -> str:
    return f"{kind.__module__.partition('.')[0]}.{kind.__name__}"


def line_for(value: Any) -> str:
    """Return a hint how to convert an object of another library to a shape, or an empty string for an unknown type."""
    lines = (_LINES.get(_type_name(kind)) for kind in type(value).__mro__)
    line = next((line for line in lines if line), None)
    return f"pass {line}" if line else ""


def no_shape(name: str, value: Any) -> Gjk3dError:
    """Return the error for the argument ``name``, whose value is no shape or body, with a call that converts it."""
    if isinstance(value, type):
        return UnsupportedPair(f"{name} is the class {value.__name__}, expected an object, {value.__name__}(...)")
    line = line_for(value)
    if line:
        return UnsupportedPair(f"{name} is {with_article(_type_name(type(value)))}, expected a shape of gjk3d: {line}")
    if hasattr(value, "vertices") and hasattr(value, "faces"):
        return UnsupportedPair(
            f"{name} is {with_article(_type_name(type(value)))}, expected a shape. "
            "Pass gjk3d.Mesh(mesh.vertices, mesh.faces), or gjk3d.ConvexHull(mesh.vertices)."
        )
    if isinstance(value, np.ndarray) and value.ndim == 2 and value.shape[1] == 3:
        return UnsupportedPair(
            f"{name} is an array of shape {value.shape}, expected a shape such as gjk3d.ConvexHull(points) or "
            "gjk3d.PointCloud(points, radius)."
        )
    library = type(value).__module__.partition(".")[0]
    description = kind_of(value) if library in ("builtins", "gjk3d") else with_article(_type_name(type(value)))
    return UnsupportedPair(f"{name} is {description}, expected a shape such as gjk3d.Box or gjk3d.ConvexHull")


def is_finite(value: Any) -> bool:
    """Return whether a value is a single finite real number in the range of float64."""
    if type(value) is float:
        return -_GREATEST <= value <= _GREATEST
    if isinstance(value, np.floating):  # a comparison with a float32 would convert the greatest float64 to infinity
        value = float(value)
    size: Any = abs(value) if isinstance(value, Real) and not isinstance(value, bool) else inf
    return bool(size <= _GREATEST)


def check_margin(margin: Any, what: str = "margin", unit: str = "") -> None:
    """Raise unless the margin is a finite number. ``what`` names the argument, and ``unit`` is added to the error."""
    if not is_finite(margin):
        raise ShapeError(f"{what} is {margin!r:.80}, expected one finite number{unit}")


def check_workers(workers: Any) -> None:
    """Raise unless ``workers`` is a valid number of threads."""
    if isinstance(workers, bool) or not isinstance(workers, int) or not 1 <= workers <= MOST_WORKERS:
        raise ShapeError(f"workers is {workers!r}, expected a number of threads from 1 to {MOST_WORKERS}")


def check_device(device: Any) -> bool:
    """Return whether ``device`` requests the GPU. Raise if the GPU is unavailable, or the device is unknown."""
    if device == "cpu":
        return False
    if device != "cuda":
        raise ShapeError(f"device is {device!r:.80}, expected 'cpu' or 'cuda'")
    try:
        from gjk3d._kernels import gpu
    except ImportError:
        why = "numba-cuda is not installed, install it with pip install 'gjk3d[gpu]'"
    else:
        why = gpu.unavailable()
    if why:
        raise DeviceUnavailableError(f"device='cuda': {why}. device='cpu' gives the same results.")
    return True


def check_limits(max_distance: Any, tol: Any) -> None:
    """Raise unless both are numbers of at least 0. ``max_distance`` may also be infinite, and ``tol`` may be None."""
    if not (is_finite(max_distance) or (isinstance(max_distance, Real) and max_distance == inf)) or max_distance < 0:
        raise ShapeError(f"max_distance is {max_distance!r:.80}, expected a number of at least 0")
    if tol is not None and (not is_finite(tol) or tol < 0):
        raise ShapeError(f"tol is {tol!r:.80}, expected a number of at least 0, relative to the pair's size")


def depth_mode(depth: str) -> int:
    """Return the mode of the kernels for the argument ``depth`` of `gjk3d.signed_distance`, or raise."""
    mode = _MODES.get(depth)
    if mode is None:
        raise ShapeError(f"signed_distance: depth is {depth!r}, expected 'auto', 'epa', 'facets', 'tight' or 'fast'")
    return mode


def convex_mode(mode: int) -> int:
    """Return ``mode``, but SIGNED instead of FAST: for convex shapes the depths "tight" and "fast" are the same."""
    return narrow.SIGNED if mode == FAST else mode


def check_depth(depth: Any) -> None:
    """Raise unless ``depth`` is the name of a depth algorithm for non-convex bodies."""
    if depth not in ("fast", "tight"):
        raise ShapeError(f"depth is {depth!r:.80}, expected 'fast' or 'tight'")


def three(value: Any) -> Any:
    """Return a value of three numbers as a tuple of floats, or None for other values, which need a full check."""
    kind = type(value)
    if kind is np.ndarray:
        return tuple(value.tolist()) if value.dtype is _FLOAT and value.shape == _THREE else None
    if (kind is tuple or kind is list) and len(value) == 3:
        x, y, z = value
        if type(x) is type(y) is type(z) is float:
            return value if kind is tuple else (x, y, z)
        if all(type(number) is float or (type(number) is int and abs(number) < _EXACT_INTEGERS) for number in value):
            return float(x), float(y), float(z)
    return None


def vectors(value: Any, what: str, most: float = inf) -> tuple[Array, bool]:
    """Return ``value`` as rows of three finite numbers, and whether it was a stack of rows.

    Raises an error if the magnitude of a number exceeds ``most``. ``what`` names the argument in the error.
    """
    rows, stacked = unchecked_vectors(value, what)
    bad = np.flatnonzero(~(np.isfinite(rows) & (np.abs(rows) <= most)).all(axis=1))
    if len(bad):
        where = f"{what}[{bad[0]}]" if stacked else what
        limit = f" of at most {most:g}" if most < inf else ""
        cure = ". Use another unit" if most == layout.GREATEST and np.isfinite(rows[bad[0]]).all() else ""
        raise ShapeError(f"{where} is {rows[bad[0]].tolist()}, expected finite numbers{limit}{cure}")
    return rows, stacked


def unchecked_vectors(value: Any, what: str, copy: bool = True) -> tuple[Array, bool]:
    """Return ``value`` as rows of three numbers, and whether it was a stack of rows.

    The numbers may be infinite or NaN. Without ``copy`` the rows may be the caller's array. ``what`` names the argument
    in an error.
    """
    try:
        raw = np.asarray(value)
    except ValueError:
        raise ShapeError(f"{what} is ragged, expected three numbers, or rows of three numbers") from None
    if raw.dtype.kind not in "fiu" or raw.ndim not in (1, 2) or raw.shape[-1] != 3:
        raise ShapeError(f"{what} has shape {raw.shape} and dtype {raw.dtype}, expected (3,) or (n, 3) real numbers")
    rows = (np.array if copy else np.asarray)(raw, dtype=np.float64, order="C")
    return rows.reshape(-1, 3), raw.ndim == 2
