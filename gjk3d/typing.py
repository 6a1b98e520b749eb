"""Types of arguments for type checkers: numbers, poses, rows and stacks, as sequences or numpy arrays but not as text.

Whether a call is about one pair or many depends on the number of dimensions, which types rarely show. `numpy.eye` has
two dimensions, while a slice or an `NDArray` states none. The overloads of a query therefore match arrays of unknown
shape first, with a return type that fits one and many. The next overload matches one, and the last a stack.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from typing_extensions import TypeVar  # part of every type checker, so users need not install it

    #: the numbers of a result: ``Distance[float]`` is of one pair, ``Distance[NDArray[np.float64]]`` of n
    N = TypeVar("N", default=Any)
    #: its flags, its status, and names
    B = TypeVar("B", default=Any)
    S = TypeVar("S", default=Any)
    P = TypeVar("P", default=Any)
else:
    from typing import TypeVar

    N, B, S, P = (TypeVar(name) for name in "NBSP")

#: numbers, indices and flags in results and in the arrays of kernels
Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Bits = NDArray[np.uint8]
#: as compact as possible, for trees whose boxes only discard candidates
Floats32 = NDArray[np.float32]
Ints32 = NDArray[np.int32]

#: with the number of dimensions: kernels are compiled for exactly these types
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
    """An object that numpy converts to an array of numbers, also numpy's arrays themselves."""

    def __array__(self) -> Numbers:
        """Return the array."""


class SupportsMatrix(Protocol):
    """A scipy RigidTransform, single or a stack."""

    def as_matrix(self) -> Any:
        """Return the (4, 4) or (n, 4, 4) array."""


#: three numbers, or one for each joint
VectorLike = SupportsArray | Sequence[Number]
#: (n, k) numbers
RowsLike = SupportsArray | Sequence[SupportsArray | Sequence[Number]]
#: one number, or three
FactorsLike = Number | VectorLike

#: An array of unknown shape fits every shape, also this one, which arrays of known shape do not have.
Unclear = np.ndarray[tuple[int, int, int, int, int, int, int], np.dtype[Real]]

#: one row of numbers: a point, a direction, a configuration
Row = np.ndarray[tuple[int], np.dtype[Real]] | Sequence[Number]
#: one row or many
Rows = Numbers | Sequence[Number | Numbers | Sequence[Number]]

#: one pose, or None for the identity
Pose = np.ndarray[tuple[int, int], np.dtype[Real]] | Sequence[np.ndarray[tuple[int], np.dtype[Real]] | Sequence[Number]]
#: one pose or many
UnclearPose = Unclear | Sequence[Unclear] | SupportsMatrix
PoseLike = Numbers | Sequence[Numbers | Sequence[Number | Numbers | Sequence[Number]]] | SupportsMatrix
#: (n, 4, 4) or (m, 2, 4, 4) numbers
PosesLike = Numbers | Sequence[Numbers | Sequence[Numbers | Sequence[Number | Numbers | Sequence[Number]]]]

#: (m, 2) whole numbers
Indices = NDArray[np.integer[Any]] | Sequence[Sequence[int] | NDArray[np.integer[Any]]]

#: where a query runs
Device = Literal["cpu", "cuda"]

#: one pose where a stack is not allowed; an array of unknown shape is accepted
OnePose = Pose | SupportsMatrix | None
