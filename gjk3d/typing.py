"""Types of arguments for type checkers: numbers, poses, rows and stacks, as sequences or numpy arrays but not as text.

The number of dimensions of a pose decides whether a query is about one pair or about many pairs. The type of an array
seldom contains this number: the type of `numpy.eye(4)` does, the type of a slice does not. Each query therefore has
three overloads. The first takes arrays of unknown shape, and its return type fits one and many pairs. The second takes
one pose, and the third a stack.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from typing_extensions import TypeVar  # part of every type checker, so users need not install it

    #: type of the numbers of a result: ``Distance[float]`` is of one pair, ``Distance[NDArray[np.float64]]`` of n pairs
    N = TypeVar("N", default=Any)
    #: types of the flags, of the status and of the names of a result
    B = TypeVar("B", default=Any)
    S = TypeVar("S", default=Any)
    P = TypeVar("P", default=Any)
else:
    from typing import TypeVar

    N, B, S, P = (TypeVar(name) for name in "NBSP")

#: arrays of numbers, indices and flags in results and kernels
Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Bits = NDArray[np.uint8]
#: arrays of 32 bits per entry, for the trees that only discard candidates
Floats32 = NDArray[np.float32]
Ints32 = NDArray[np.int32]

#: arrays with their number of dimensions; kernels are compiled for exactly these types
Array1 = Annotated[Array, 1]
Array2 = Annotated[Array, 2]
Array3 = Annotated[Array, 3]
Array4 = Annotated[Array, 4]
Ints1 = Annotated[Ints, 1]
Ints2 = Annotated[Ints, 2]
Bools1 = Annotated[Bools, 1]
Bools2 = Annotated[Bools, 2]
Floats32_1 = Annotated[Floats32, 1]
Floats32_3 = Annotated[Floats32, 3]
Ints32_2 = Annotated[Ints32, 2]
Bits3 = Annotated[Bits, 3]

Real = np.floating[Any] | np.integer[Any]
Number = float | Real
Numbers = NDArray[Real]


class SupportsArray(Protocol):
    """An object that numpy converts to an array of numbers, or a numpy array."""

    def __array__(self) -> Numbers:
        """Return the array."""


class SupportsMatrix(Protocol):
    """A scipy RigidTransform, single or a stack."""

    def as_matrix(self) -> Any:
        """Return the (4, 4) or (n, 4, 4) array."""


#: a vector: three numbers, or one number per joint
VectorLike = SupportsArray | Sequence[Number]
#: (n, k) numbers
RowsLike = SupportsArray | Sequence[SupportsArray | Sequence[Number]]
#: one number, or three numbers
FactorsLike = Number | VectorLike

#: Arrays of unknown shape match this type. No array of known shape does, because none has seven dimensions.
Unclear = np.ndarray[tuple[int, int, int, int, int, int, int], np.dtype[Real]]

#: one row of numbers: a point, a direction, a configuration
Row = np.ndarray[tuple[int], np.dtype[Real]] | Sequence[Number]
#: one row of numbers, or many rows
Rows = Numbers | Sequence[Number | Numbers | Sequence[Number]]

#: one pose as a (4, 4) matrix
Pose = np.ndarray[tuple[int, int], np.dtype[Real]] | Sequence[np.ndarray[tuple[int], np.dtype[Real]] | Sequence[Number]]
#: one pose or many poses: as arrays of unknown shape, and in any form
UnclearPose = Unclear | Sequence[Unclear] | SupportsMatrix
PoseLike = Numbers | Sequence[Numbers | Sequence[Number | Numbers | Sequence[Number]]] | SupportsMatrix
#: (n, 4, 4) or (m, 2, 4, 4) numbers
PosesLike = Numbers | Sequence[Numbers | Sequence[Numbers | Sequence[Number | Numbers | Sequence[Number]]]]

#: (m, 2) whole numbers
Indices = NDArray[np.integer[Any]] | Sequence[Sequence[int] | NDArray[np.integer[Any]]]

#: the processor of a query
Device = Literal["cpu", "cuda"]

#: one pose, or None for the identity; a stack of poses is not allowed
OnePose = Pose | SupportsMatrix | None
