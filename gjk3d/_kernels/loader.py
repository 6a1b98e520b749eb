"""Make Python functions of the entries of an object file; LLVM's linker is all that it takes.

The functions are CPython's own kind, so a call costs what a call of a builtin costs. They keep the interpreter's lock
while they read their arguments, and give it back while the kernel runs.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from gjk3d._kernels import store
from gjk3d._kernels.assembly import KNOWN, WORDS
from gjk3d._kernels.wrappers import symbol_of, words_of

_FASTCALL = 0x80


class _Method(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char_p), ("code", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


class Place(NamedTuple):
    """Where a builtin's code and its words are."""

    code: int
    words: int


_NEW_ARRAY = 93  #: the place of ``PyArray_New`` in numpy's table, the same since numpy 1.7
_held: list[Any] = []  #: what loaded code needs as long as the process lives
_THINGS: dict[str, Any] = {
    "ndarray": np.ndarray, "float64": np.dtype(np.float64), "int64": np.dtype(np.int64), "uint8": np.dtype(np.uint8),
    "bool_": np.dtype(np.bool_), "float": float, "int": int, "tuple": tuple, "bool": bool, "None": None,
    "SystemError": SystemError, "False": False, "True": True, "bytes": bytes,
}  # fmt: skip


def load(built: store.Built, otherwise: Callable[[str], Callable[..., Any]]) -> dict[str, Any]:
    """Return the entries of an object file by name, ``module:function``.

    Parameters
    ----------
    built : store.Built
        Objects one after another, and what they need.
    otherwise : callable
        Given a name, returns the function that takes calls with arguments that the entry does not take as they are.
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
    for number in range(len(facts["sizes"])):
        words = ctypes.CFUNCTYPE(ctypes.c_void_p)(engine.get_function_address(f"{WORDS}{number}"))()
        known = (ctypes.c_void_p * len(KNOWN)).from_address(words)
        known[:] = [_new_array() if name == "PyArray_New" else id(_THINGS[name]) for name in KNOWN]
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
    made: dict[str, Any] = {}
    for name in facts["names"]:
        code = engine.get_function_address(symbol_of(name))
        if name in facts["builtins"]:
            made[name] = Place(code, engine.get_global_value_address(words_of(name)))
            continue
        home, _, plain = name.partition(":")
        method = _Method(plain.encode(), code, _FASTCALL, None)
        _held.append(method)
        made[name] = new(ctypes.addressof(method), otherwise(name), home)
    _held.extend((engine, module, machine))
    return made


def _new_array() -> int:
    """Return the address of numpy's ``PyArray_New``, from the table of its C interface."""
    core = import_module("numpy._core" if hasattr(np, "_core") else "numpy.core")
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = get(core._multiarray_umath._ARRAY_API, None)
    return int(ctypes.c_void_p.from_address(table + 8 * _NEW_ARRAY).value or 0)
