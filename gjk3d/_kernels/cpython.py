"""What builtins are made of: words of memory, and CPython's and numpy's objects by where their fields are on 64 bits.

A builtin is a kernel that takes objects by their addresses and returns one. It answers the usual call by itself and
hands every other one, as it came, to the Python function that it stands for. It holds the interpreter's lock all the
time; between two objects that it makes nothing of Python runs. Functions here are written in `assembly`; they exist for
the compiler alone, so builtins are never interpreted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gjk3d._kernels.assembly import BYTES as BYTES
from gjk3d._kernels.assembly import DATA as DATA
from gjk3d._kernels.assembly import DESCR, FLAGS, KNOWN, NDIM, PLAIN
from gjk3d._kernels.assembly import FLOAT as FLOAT
from gjk3d._kernels.assembly import SHAPE as SHAPE
from gjk3d._kernels.assembly import SIZE as SIZE
from gjk3d._kernels.assembly import TUPLE as TUPLE
from gjk3d._kernels.assembly import TYPE as TYPE
from gjk3d._kernels.decorators import MODE, inlined
from gjk3d.typing import Array1, Array2, Ints1, Ints2

NDARRAY, FLOAT64, NONE, BOOLS, BYTES_TYPE, TUPLE_TYPE, FLOAT_TYPE = (
    KNOWN.index(name) for name in ("ndarray", "float64", "None", "False", "bytes", "tuple", "float")
)

if TYPE_CHECKING:

    def word(address: int) -> int: ...
    def half(address: int) -> int: ...
    def number(address: int) -> float: ...
    def put(address: int, value: int) -> None: ...
    def known(k: int) -> int: ...
    def keep(thing: int) -> int: ...
    def drop(thing: int) -> None: ...
    def call(function: int, args: int, nargs: int, names: int) -> int: ...
    def call_with(function: int, first: int, args: int, nargs: int, names: int) -> int: ...
    def replaced(items: int, k: int, item: int) -> int: ...
    def new_bytes(size: int) -> int: ...
    def new_object(kind: int) -> int: ...
    def new_float(address: int) -> int: ...
    def new_int(value: int) -> int: ...
    def new_vector(address: int) -> int: ...
    def floats(address: int, count: int) -> Array1: ...
    def float_rows(address: int, rows: int, columns: int) -> Array2: ...
    def ints(address: int, count: int) -> Ints1: ...
    def int_rows(address: int, rows: int, columns: int) -> Ints2: ...

elif MODE == "alone":
    from llvmlite import ir
    from numba import float64, int64
    from numba.extending import intrinsic
    from numba.np.arrayobj import make_array, populate_array
    from numba.types import Array, ExternalFunction, void

    word, half, known, keep, new_bytes, new_object, new_float, new_int, new_vector = (
        ExternalFunction(f"gjk3d_{name}", int64(int64))
        for name in ("word", "half", "known", "keep", "bytes", "object", "float", "int", "vector")
    )
    replaced = ExternalFunction("gjk3d_replaced", int64(int64, int64, int64))
    number = ExternalFunction("gjk3d_number", float64(int64))
    put, drop = ExternalFunction("gjk3d_put", void(int64, int64)), ExternalFunction("gjk3d_drop", void(int64))
    call = ExternalFunction("gjk3d_call", int64(int64, int64, int64, int64))
    call_with = ExternalFunction("gjk3d_call_with", int64(int64, int64, int64, int64, int64))

    def _view(kind: Any) -> Any:
        """Return what makes an array of what lies at an address; numba returns none from a function."""

        def written(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            made, shape, eight = make_array(kind)(context, builder), list(args[1:]), ir.IntType(64)(8)
            strides = [builder.mul(each, eight) for each in shape[1:]] + [eight]
            data = builder.inttoptr(args[0], made.data.type)
            populate_array(made, data=data, shape=shape, strides=strides, itemsize=eight, meminfo=None)
            return made._getvalue()

        return kind(*(int64,) * (1 + kind.ndim)), written

    @intrinsic
    def floats(context: Any, address: Any, count: Any) -> Any:
        return _view(Array(float64, 1, "C"))

    @intrinsic
    def float_rows(context: Any, address: Any, rows: Any, columns: Any) -> Any:
        return _view(Array(float64, 2, "C"))

    @intrinsic
    def ints(context: Any, address: Any, count: Any) -> Any:
        return _view(Array(int64, 1, "C"))

    @intrinsic
    def int_rows(context: Any, address: Any, rows: Any, columns: Any) -> Any:
        return _view(Array(int64, 2, "C"))

else:
    word = half = number = replaced = put = known = keep = drop = call = call_with = floats = float_rows = ints = (
        int_rows
    ) = None
    new_bytes = new_object = new_float = new_int = new_vector = None


@inlined
def floats_in(thing: int, dimensions: int) -> int:
    """Return where the numbers of an array of floats are, 0 where it is no array that kernels take as it is."""
    if word(thing + TYPE) != known(NDARRAY) or word(thing + DESCR) != known(FLOAT64):
        return 0
    if half(thing + NDIM) != dimensions or (half(thing + FLAGS) & PLAIN) != PLAIN:
        return 0
    return word(thing + DATA)


@inlined
def pose_in(thing: int, standing: int) -> int:
    """Return where the numbers of a pose are, ``standing`` for None; 0 where it is no matrix as kernels take it."""
    if thing == known(NONE):
        return standing
    data = floats_in(thing, 2)
    if data == 0:
        return 0
    shape = word(thing + SHAPE)
    return data if word(shape) == 4 and word(shape + 8) == 4 else 0
