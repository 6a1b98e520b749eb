"""Load the functions of an object file into CPython.

Entries are CPython's own kind of function, so a call costs as much as a call of ``len``. An entry keeps the
interpreter's lock while it reads its arguments, and releases it while the kernel runs. LLVM's linker alone loads the
file.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gjk3d._kernels.calls import CONSTANTS
from gjk3d._kernels.calls.assembly import CONSTANTS_AT, symbol_of, words_of

if TYPE_CHECKING:
    from gjk3d._kernels.store import Built

FASTCALL, KEYWORDS = 0x80, 0x2  #: METH_FASTCALL, METH_KEYWORDS
_NEW_ARRAY = 93  #: index of ``PyArray_New`` in numpy's table of functions, constant since numpy 1.7
alive: list[Any] = []  #: objects that machine code uses by address until the process ends
_CONSTANTS: dict[str, Any] = {
    "ndarray": np.ndarray, "float64": np.dtype(np.float64), "int64": np.dtype(np.int64), "uint8": np.dtype(np.uint8),
    "bool_": np.dtype(np.bool_), "float": float, "int": int, "tuple": tuple, "list": list, "bool": bool, "None": None,
    "float32": np.dtype(np.float32), "int32": np.dtype(np.int32),
    "SystemError": SystemError, "False": False, "True": True, "bytes": bytes,
}  # fmt: skip


class Place(NamedTuple):
    """The addresses of a builtin's code and of its words."""

    code: int
    words: int


class Method(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char_p), ("code", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


def load(built: Built, fallback: Callable[[str], Callable[..., Any]]) -> dict[str, Any]:
    """Return the entries of an object file by name, ``module:function``.

    Parameters
    ----------
    built : Built
        Objects one after another, and the symbols that they need.
    fallback : callable
        Takes a name, and returns the function for calls with arguments that the entry does not take unchanged.
    """
    import llvmlite.binding as llvm

    facts = built.facts
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    library = ctypes.CDLL(None) if os.name != "nt" else ctypes.cdll.msvcrt
    for name in facts["undefined"]:
        symbol = getattr(ctypes.pythonapi if name.startswith("Py") else library, name)
        llvm.add_symbol(name, ctypes.cast(symbol, ctypes.c_void_p).value)
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True, codemodel="jitdefault")
    module = llvm.parse_assembly("")
    engine = llvm.create_mcjit_compiler(module, machine)
    start = 0
    for size in facts["sizes"]:
        engine.add_object_file(llvm.ObjectFileRef.from_data(built.content[start : start + size]))
        start += size
    engine.finalize_object()
    values = {**{name: id(value) for name, value in _CONSTANTS.items()}, "tuple items": tuple.__basicsize__}
    values["PyArray_New"] = _new_array()
    for number in range(len(facts["sizes"])):
        address = ctypes.CFUNCTYPE(ctypes.c_void_p)(engine.get_function_address(f"{CONSTANTS_AT}{number}"))()
        (ctypes.c_void_p * len(CONSTANTS)).from_address(address)[:] = [values[name] for name in CONSTANTS]
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
    entries: dict[str, Any] = {}
    for name in facts["names"]:
        code = engine.get_function_address(symbol_of(name))
        if name in facts["builtins"]:
            entries[name] = Place(code, engine.get_global_value_address(words_of(name)))
            continue
        home, _, plain = name.partition(":")
        method = Method(plain.encode(), code, FASTCALL, None)
        alive.append(method)
        entries[name] = new(ctypes.addressof(method), fallback(name), home)
    alive.extend((engine, module, machine))
    return entries


def _new_array() -> int:
    """Return the address of numpy's ``PyArray_New``, from the table of its C interface."""
    core = import_module("numpy._core" if hasattr(np, "_core") else "numpy.core")
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = get(core._multiarray_umath._ARRAY_API, None)
    return int(ctypes.c_void_p.from_address(table + 8 * _NEW_ARRAY).value or 0)
