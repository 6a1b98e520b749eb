"""Poses: rigid (4, 4) transforms, world from local, which are checked once and are exact afterwards.

A rotation R is refused if an entry of R'R differs from the identity by more than 1e-6. Otherwise one polar step
R (3 - R'R) / 2 is applied in float64. The rounded result *is* the rotation of the pose: every result and proof refers
to these numbers. Kernels take a pose as a pose row of 13 floats: the rotation by rows, the translation, and the
residual, which is the largest deviation of an entry of R'R from the identity. A row without the residual has 12 floats.
"""

from __future__ import annotations

from math import inf
from typing import Any, TypeGuard

import numpy as np

from gjk3d._kernels.decorators import kernel, single_entry
from gjk3d.errors import PoseError
from gjk3d.typing import Array, Array2, Array3
from gjk3d.wording import kind_of

WIDTH = 13
TOLERANCE = 1e-6
IDENTITY = np.array([[1.0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0]])
STANDING = np.eye(4)  #: the identity as a matrix; `IDENTITY` is its pose row
_FLOAT, _SHAPE = np.dtype(np.float64), (4, 4)

GREATEST = 1e50  #: largest coordinate of a translation, so that products of a few lengths do not overflow
UNIT_ROUNDOFF = 2.0**-53  #: relative error of one floating-point operation
#: error of a point after its transformation by a pose and a few operations, relative to the largest coordinate
ROUNDING = 128.0 * UNIT_ROUNDOFF

_OK, _NOT_FINITE, _LAST_ROW, _TRANSPOSED, _NOT_ROTATION, _REFLECTION, _FAR = range(7)


@single_entry
def check_row(m: Array2, rows: Array2, k: int) -> int:
    """Write a (4, 4) matrix to row k as a pose row, and return a fault code. Code 0 means a valid pose."""
    a, b, c, x = m[0, 0], m[0, 1], m[0, 2], m[0, 3]
    d, e, f, y = m[1, 0], m[1, 1], m[1, 2], m[1, 3]
    g, h, i, z = m[2, 0], m[2, 1], m[2, 2], m[2, 3]
    # the entries of R'R - 1
    p, q, r = a * a + d * d + g * g - 1.0, b * b + e * e + h * h - 1.0, c * c + f * f + i * i - 1.0
    s, t, u = a * b + d * e + g * h, a * c + d * f + g * i, b * c + e * f + h * i
    # comparisons with NaN are false, so NaN is refused too
    rigid = abs(p) <= TOLERANCE and abs(q) <= TOLERANCE and abs(r) <= TOLERANCE
    rigid = rigid and abs(s) <= TOLERANCE and abs(t) <= TOLERANCE and abs(u) <= TOLERANCE
    near = abs(x) <= GREATEST and abs(y) <= GREATEST and abs(z) <= GREATEST
    if not (rigid and near and m[3, 0] == 0.0 and m[3, 1] == 0.0 and m[3, 2] == 0.0 and m[3, 3] == 1.0):
        return _fault(m, near)
    if a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) < 0.0:
        return _REFLECTION
    residual = 0.0
    if not (p == q == r == 0.0 and s == t == u == 0.0):
        # one polar step: R - R (R'R - 1) / 2
        a, b, c = (
            a - 0.5 * (a * p + b * s + c * t), b - 0.5 * (a * s + b * q + c * u), c - 0.5 * (a * t + b * u + c * r),
        )  # fmt: skip
        d, e, f = (
            d - 0.5 * (d * p + e * s + f * t), e - 0.5 * (d * s + e * q + f * u), f - 0.5 * (d * t + e * u + f * r),
        )  # fmt: skip
        g, h, i = (
            g - 0.5 * (g * p + h * s + i * t), h - 0.5 * (g * s + h * q + i * u), i - 0.5 * (g * t + h * u + i * r),
        )  # fmt: skip
        p, q, r = a * a + d * d + g * g - 1.0, b * b + e * e + h * h - 1.0, c * c + f * f + i * i - 1.0
        s, t, u = a * b + d * e + g * h, a * c + d * f + g * i, b * c + e * f + h * i
        residual = max(max(abs(p), abs(q), abs(r)), max(abs(s), abs(t), abs(u)))
    rows[k, 0], rows[k, 1], rows[k, 2], rows[k, 3], rows[k, 4], rows[k, 5] = a, b, c, d, e, f
    rows[k, 6], rows[k, 7], rows[k, 8], rows[k, 9], rows[k, 10], rows[k, 11] = g, h, i, x, y, z
    rows[k, 12] = residual
    return _OK


@kernel
def _fault(m: Array, near: bool) -> int:
    """Return the fault code of a matrix that is neither a pose nor a reflection.

    ``near`` is False if the translation is too long, or not finite.
    """
    for row in range(4):
        for column in range(4):
            if not abs(m[row, column]) < inf:
                return _NOT_FINITE
    if m[3, 0] != 0.0 or m[3, 1] != 0.0 or m[3, 2] != 0.0 or m[3, 3] != 1.0:
        if m[3, 3] == 1.0 and m[0, 3] == 0.0 and m[1, 3] == 0.0 and m[2, 3] == 0.0:
            return _TRANSPOSED
        return _LAST_ROW
    return _NOT_ROTATION if near else _FAR


@single_entry
def check_rows(matrices: Array3, rows: Array2) -> tuple[int, int]:
    """Write (n, 4, 4) matrices to (n, 13) pose rows; return the first bad index (or -1) and its fault code."""
    for k in range(matrices.shape[0]):
        what = check_row(matrices[k], rows, k)
        if what != _OK:
            return k, what
    return -1, _OK


def is_plain(pose: Any) -> TypeGuard[Array]:
    """Return whether a pose is a writable C-contiguous (4, 4) float64 array, which kernels take without a copy."""
    return type(pose) is np.ndarray and pose.dtype is _FLOAT and pose.shape == _SHAPE and pose.flags.carray


def plainly(pose: Any) -> Array | None:
    """Return one pose as an array that `is_plain` accepts, or None if ``pose`` is not a (4, 4) matrix."""
    if is_plain(pose):
        return pose
    if type(pose) is list and len(pose) != 4:  # a stack, which the full check converts
        return None
    try:
        raw = np.asarray(_as_array(pose))
    except ValueError:  # a ragged list; the full check reports it
        return None
    if raw.shape != _SHAPE or raw.dtype.kind not in "fiu":
        return None
    return raw if raw is not pose and is_plain(raw) else np.array(raw, dtype=np.float64, order="C")


def _as_array(pose: Any) -> Any:
    """Return the matrix of a transform of scipy, pinocchio, Drake or coal, or any other object unchanged."""
    if hasattr(pose, "as_matrix"):
        return pose.as_matrix()
    if hasattr(pose, "homogeneous"):  # pinocchio.SE3
        return pose.homogeneous
    if hasattr(pose, "GetAsMatrix4"):  # pydrake.math.RigidTransform
        return pose.GetAsMatrix4()
    if hasattr(pose, "getRotation") and hasattr(pose, "getTranslation"):  # coal.Transform3s
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = pose.getRotation(), np.ravel(pose.getTranslation())
        return matrix
    return pose


def as_matrices(pose: Any, name: str = "pose", single: bool = False) -> Array:
    """Return a pose or a stack of poses as a C-contiguous (4, 4) or (n, 4, 4) array of floats.

    The poses may be matrices or transforms of scipy, pinocchio, Drake or coal. Rigidity is not checked. ``name`` is the
    argument's name in errors. With ``single`` the errors do not offer stacks, because the caller refuses them.

    Raise a PoseError for other arguments.
    """
    pose = _as_array(pose)
    try:
        raw = np.asarray(pose)
    except ValueError:
        raise PoseError(
            f"{name} is ragged, expected a (4, 4) matrix{'' if single else ', or a list of them'}. Each row has four "
            "numbers."
        ) from None
    if raw.dtype.kind not in "fiu":
        description = f"has dtype {raw.dtype}" if raw.ndim else f"is {kind_of(pose)}"
        raise PoseError(
            f"{name} {description}, expected a (4, 4) matrix of real numbers{'' if single else ', or a stack of them'}"
        )
    if raw.ndim not in (2, 3) or raw.shape[-2:] != (4, 4):
        hint = ""
        if raw.shape[-1:] in ((6,), (7,)):
            hint = ". Quaternions and vectors are not poses, use scipy.spatial.transform.RigidTransform."
        elif raw.shape[-2:] == (3, 3):
            hint = ". Complete a rotation R with pose = np.eye(4), pose[:3, :3] = R, or use a scipy RigidTransform."
        elif raw.shape == (3,):
            hint = ". Start a translation t with pose = np.eye(4) and set pose[:3, 3] = t"
        elif raw.shape[-2:] == (3, 4):
            hint = ". Add the last row [0, 0, 0, 1]."
        raise PoseError(f"{name} has shape {raw.shape}, expected (4, 4){'' if single else ' or (n, 4, 4)'}{hint}")
    matrices = np.ascontiguousarray(raw, dtype=np.float64)
    return matrices if matrices.flags.aligned else matrices.copy()  # arrays from files may be unaligned


def pose_rows(pose: Any, name: str = "pose", single: bool = False) -> tuple[Array, bool]:
    """Return the pose rows (n, 13) of ``pose``, and whether ``pose`` is a stack. Raise a PoseError if it is invalid."""
    if pose is None:
        return IDENTITY, False
    matrices = as_matrices(pose, name, single)
    rows = np.empty((len(matrices) if matrices.ndim == 3 else 1, WIDTH))
    fill_rows(matrices, name, rows)
    return rows, matrices.ndim == 3


def fill_rows(matrices: Array | None, name: str, rows: Array) -> None:
    """Write matrices that `as_matrices` returned to pose rows. Raise a PoseError for an invalid pose.

    None means the identity.
    """
    if matrices is None:
        rows[:] = IDENTITY
        return
    stack = matrices if matrices.ndim == 3 else matrices.reshape(1, 4, 4)
    bad, what = check_rows(stack if stack.flags.writeable else stack.copy(), rows)
    if bad >= 0:
        raise PoseError(_complaint(stack[bad], f"{name}[{bad}]" if matrices.ndim == 3 else name, what))


def parts(rows: Array) -> tuple[Array, Array]:
    """Return the rotations (..., 3, 3) and the translations (..., 3) of pose rows (..., 12 or 13)."""
    return rows[..., :9].reshape(*rows.shape[:-1], 3, 3), rows[..., 9:12]


def matrices(rows: Array) -> Array:
    """Return pose rows (..., 12 or 13) as matrices (..., 4, 4)."""
    out = np.zeros((*rows.shape[:-1], 4, 4))
    out[..., :3, :3], out[..., :3, 3] = parts(rows)
    out[..., 3, 3] = 1.0
    return out


def translations(places: Array) -> Array:
    """Return the pose rows (n, 13) of translations by the vectors ``places`` (n, 3)."""
    rows = np.zeros((len(places), WIDTH))
    rows[:, [0, 4, 8]] = 1.0
    rows[:, 9:12] = places
    return rows


def moved(row: Array, points: Array) -> Array:
    """Return points (n, 3), given in the frame of a pose row, in world coordinates."""
    turn, shift = parts(row)
    return np.asarray(points @ turn.T + shift)


def moved_back(row: Array, points: Array) -> Array:
    """Return points (n, 3), given in world coordinates, in the frame of a pose row."""
    turn, shift = parts(row)
    out: Array = (points - shift) @ turn
    return out


def inverse(row: Array) -> Array:
    """Return the pose row (12,) of the inverse of the pose row ``row``."""
    turn, shift = parts(row)
    return np.concatenate([turn.T.ravel(), -(shift @ turn)])


def relative(row_a: Array, row_b: Array) -> Array:
    """Return the pose row (12,) of B in A's frame, from the pose rows of A and of B."""
    (turn_a, shift_a), (turn_b, shift_b) = parts(row_a), parts(row_b)
    return np.concatenate([(turn_a.T @ turn_b).ravel(), turn_a.T @ (shift_b - shift_a)])


def relatives(rows_a: Array, rows_b: Array) -> Array:
    """Return the pose rows (n, 13) of B in A's frame, with residual 0, from pose rows of A and of B, (n, 13) each."""
    inverse, turns = rows_a[:, :9].reshape(-1, 3, 3).transpose(0, 2, 1), rows_b[:, :9].reshape(-1, 3, 3)
    out = np.zeros((len(rows_a), WIDTH))
    out[:, :9] = (inverse[:, :, :, None] * turns[:, None]).sum(axis=2).reshape(-1, 9)
    out[:, 9:12] = (inverse * (rows_b[:, 9:12] - rows_a[:, 9:12])[:, None]).sum(axis=2)
    return out


def composed(row: Array, rows: Array) -> Array:
    """Return the pose rows (n, 13) of the products ``row`` times each of ``rows``."""
    turn, shift = parts(row)
    inner, places = parts(rows)
    out = np.empty((len(rows), WIDTH))
    turns = turn @ inner
    out[:, :9], out[:, 9:12] = turns.reshape(-1, 9), places @ turn.T + shift
    out[:, 12] = np.abs(turns.transpose(0, 2, 1) @ turns - np.eye(3)).max(axis=(1, 2), initial=0.0)
    return out


def _complaint(matrix: Array, name: str, what: int) -> str:
    if what == _NOT_FINITE:
        i, j = np.argwhere(~np.isfinite(matrix))[0]
        return f"{name} has the entry [{i}, {j}] = {matrix[i, j]}, expected finite numbers"
    if what == _FAR:
        return f"{name} translates by {matrix[:3, 3].tolist()}, expected at most {GREATEST:g}. Use another unit."
    if what == _TRANSPOSED:
        last = matrix[3].tolist()
        return f"{name} has the last row {last} and the last column [0, 0, 0, 1]. It is transposed: use its .T"
    if what == _LAST_ROW:
        return f"{name} has the last row {matrix[3].tolist()}, expected [0, 0, 0, 1]"
    rotation = matrix[:3, :3]
    lengths = np.linalg.norm(rotation, axis=0)
    if what == _REFLECTION:
        det = np.linalg.det(rotation)
        return (
            f"{name} is a reflection (determinant {det:.6g}), expected a rotation. Mirror the shape with "
            "shape.scaled((-1, 1, 1))."
        )
    gram = rotation.T @ rotation
    off = float(np.abs(gram - np.eye(3)).max())
    fault = f"{name} is not rigid, because R'R differs from the identity by {off:.3g}, expected at most {TOLERANCE:g}"
    cure = "Replace its rotation R by scipy.spatial.transform.Rotation.from_matrix(R).as_matrix()"
    if off < 1e-2:
        return f"{fault}. {cure} if its numbers were rounded, or scale the shape with shape.scaled(...)."
    if np.abs(gram - np.diag(np.diag(gram))).max() <= TOLERANCE * max(1.0, float(gram.max())):
        numbers = ", ".join(f"{x:.6g}" for x in lengths)
        return f"{name} has the scale ({numbers}), but a pose is rigid. Scale the shape with shape.scaled(...)."
    return f"{fault}. {cure}."
