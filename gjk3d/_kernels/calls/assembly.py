"""The functions that CPython calls: their LLVM code, and the loading of object files.

An entry has a wrapper with CPython's fast calling convention, which is written as LLVM text. It reads the fields of
arrays, and takes floats, integers and bools of Python's own types. For other arguments it calls a Python function that
converts them or raises an error (`gjk3d._kernels.late.Late.otherwise`). A call takes as long as a call of ``len``. The
wrapper holds the GIL while it reads its arguments, and releases it while the kernel runs.

`head` is the part of an object file that is the same for all kernels: the declarations of CPython's functions, and the
functions that `gjk3d._kernels.addresses` declares. LLVM loads object files.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gjk3d._kernels.calls import CONSTANTS, DATA, DESCR, FLAGS, NDIM, PLAIN, SHAPE, TYPE

if TYPE_CHECKING:
    from gjk3d._kernels.store import Built

# --- text in LLVM's language -----------------------------------------------------------------------------------------


WORDS = 16  #: number of 64-bit words of each builtin, see `install`
CONSTANTS_AT = "gjk3d_constants_"  #: prefix of the symbol of the function that returns the address of the constants
#: for each dtype, LLVM's type of an item and its size in bytes
_ITEMS = {
    "float64": ("double", 8), "int64": ("i64", 8), "float32": ("float", 4), "int32": ("i32", 4), "uint8": ("i8", 1),
    "bool": ("i8", 1),
}  # fmt: skip

_ENTRIES = """
declare i8* @PyFloat_FromDouble(double)
declare i8* @PyLong_FromLongLong(i64)
declare i8* @PyBool_FromLong(i64)
declare i64 @PyLong_AsLongLong(i8*)
declare double @PyFloat_AsDouble(i8*)
declare i32 @PyObject_IsTrue(i8*)
declare i8* @PyErr_Occurred()
declare void @PyErr_SetString(i8*, i8*)
declare i8* @PyEval_SaveThread()
declare void @PyEval_RestoreThread(i8*)
declare i8* @PyTuple_New(i64)
declare i32 @PyTuple_SetItem(i8*, i64, i8*)
declare i8* @PyTuple_GetItem(i8*, i64)
declare i64 @PyTuple_Size(i8*)
declare i32 @PyType_IsSubtype(i8*, i8*)
declare i8* @PyObject_CallObject(i8*, i8*)
declare void @Py_IncRef(i8*)
declare void @Py_DecRef(i8*)
@gjk3d.constants = internal global [COUNT x i8*] zeroinitializer
@gjk3d.failed = internal constant [31 x i8] c"gjk3d: a kernel ended in error\\00"
define i8** @gjk3d_constants_NUMBER() {
  %p = getelementptr [COUNT x i8*], [COUNT x i8*]* @gjk3d.constants, i64 0, i64 0
  ret i8** %p
}
define internal i8* @gjk3d.otherwise(i8* %self, i8** %args, i64 %nargs) noinline {
entry:
  %all = call i8* @PyTuple_New(i64 %nargs)
  %none = icmp eq i8* %all, null
  br i1 %none, label %end, label %loop
loop:
  %i = phi i64 [0, %entry], [%i1, %next]
  %more = icmp slt i64 %i, %nargs
  br i1 %more, label %next, label %call
next:
  %ap = getelementptr i8*, i8** %args, i64 %i
  %a = load i8*, i8** %ap
  call void @Py_IncRef(i8* %a)
  %set = call i32 @PyTuple_SetItem(i8* %all, i64 %i, i8* %a)
  %i1 = add i64 %i, 1
  br label %loop
call:
  %answer = call i8* @PyObject_CallObject(i8* %self, i8* %all)
  call void @Py_DecRef(i8* %all)
  ret i8* %answer
end:
  ret i8* null
}
"""

#: the functions that `gjk3d._kernels.addresses` declares
_BUILTINS = """
declare i8* @PyObject_Vectorcall(i8*, i8**, i64, i8*)
declare i8* @PyBytes_FromStringAndSize(i8*, i64)
declare i8* @PyType_GenericAlloc(i8*, i64)
define i64 @gjk3d_word(i64 %address) alwaysinline {
  %p = inttoptr i64 %address to i64*
  %v = load i64, i64* %p
  ret i64 %v
}
define i64 @gjk3d_half(i64 %address) alwaysinline {
  %p = inttoptr i64 %address to i32*
  %v = load i32, i32* %p
  %w = sext i32 %v to i64
  ret i64 %w
}
define double @gjk3d_number(i64 %address) alwaysinline {
  %p = inttoptr i64 %address to double*
  %v = load double, double* %p
  ret double %v
}
define void @gjk3d_write(i64 %address, i64 %value) alwaysinline {
  %p = inttoptr i64 %address to i64*
  store i64 %value, i64* %p
  ret void
}
define i64 @gjk3d_constant(i64 %k) alwaysinline {
  %p = getelementptr [COUNT x i8*], [COUNT x i8*]* @gjk3d.constants, i64 0, i64 %k
  %a = load i8*, i8** %p
  %v = ptrtoint i8* %a to i64
  ret i64 %v
}
define i64 @gjk3d_incref(i64 %thing) alwaysinline {
  %p = inttoptr i64 %thing to i8*
  call void @Py_IncRef(i8* %p)
  ret i64 %thing
}
define void @gjk3d_decref(i64 %thing) alwaysinline {
  %p = inttoptr i64 %thing to i8*
  call void @Py_DecRef(i8* %p)
  ret void
}
define i64 @gjk3d_call(i64 %function, i64 %args, i64 %nargs, i64 %names) alwaysinline {
  %f = inttoptr i64 %function to i8*
  %a = inttoptr i64 %args to i8**
  %n = inttoptr i64 %names to i8*
  %r = call i8* @PyObject_Vectorcall(i8* %f, i8** %a, i64 %nargs, i8* %n)
  %v = ptrtoint i8* %r to i64
  ret i64 %v
}
define i64 @gjk3d_call_with(i64 %function, i64 %first, i64 %args, i64 %nargs, i64 %names) noinline {
entry:
  %has = icmp ne i64 %names, 0
  br i1 %has, label %named, label %copy
named:
  %tuple = inttoptr i64 %names to i8*
  %named.count = call i64 @PyTuple_Size(i8* %tuple)
  br label %copy
copy:
  %more = phi i64 [0, %entry], [%named.count, %named]
  %count = add i64 %nargs, %more
  %size = add i64 %count, 1
  %all = alloca i64, i64 %size
  store i64 %first, i64* %all
  %from = inttoptr i64 %args to i64*
  br label %loop
loop:
  %i = phi i64 [0, %copy], [%i1, %next]
  %go = icmp slt i64 %i, %count
  br i1 %go, label %next, label %call
next:
  %fp = getelementptr i64, i64* %from, i64 %i
  %v = load i64, i64* %fp
  %i1 = add i64 %i, 1
  %tp = getelementptr i64, i64* %all, i64 %i1
  store i64 %v, i64* %tp
  br label %loop
call:
  %given = ptrtoint i64* %all to i64
  %n1 = add i64 %nargs, 1
  %r = call i64 @gjk3d_call(i64 %function, i64 %given, i64 %n1, i64 %names)
  ret i64 %r
}
define i64 @gjk3d_replaced(i64 %tuple, i64 %which, i64 %item) {
entry:
  %from = inttoptr i64 %tuple to i8*
  %new = inttoptr i64 %item to i8*
  %count = call i64 @PyTuple_Size(i8* %from)
  %made = call i8* @PyTuple_New(i64 %count)
  %failed = icmp eq i8* %made, null
  br i1 %failed, label %end, label %loop
loop:
  %i = phi i64 [0, %entry], [%i1, %next]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %next, label %end
next:
  %old = call i8* @PyTuple_GetItem(i8* %from, i64 %i)
  %here = icmp eq i64 %i, %which
  %each = select i1 %here, i8* %new, i8* %old
  call void @Py_IncRef(i8* %each)
  %set = call i32 @PyTuple_SetItem(i8* %made, i64 %i, i8* %each)
  %i1 = add i64 %i, 1
  br label %loop
end:
  %v = ptrtoint i8* %made to i64
  ret i64 %v
}
define i64 @gjk3d_bytes(i64 %size) alwaysinline {
  %r = call i8* @PyBytes_FromStringAndSize(i8* null, i64 %size)
  %v = ptrtoint i8* %r to i64
  ret i64 %v
}
define i64 @gjk3d_object(i64 %type) alwaysinline {
  %t = inttoptr i64 %type to i8*
  %r = call i8* @PyType_GenericAlloc(i8* %t, i64 0)
  %v = ptrtoint i8* %r to i64
  ret i64 %v
}
define i64 @gjk3d_float(i64 %address) alwaysinline {
  %p = inttoptr i64 %address to double*
  %d = load double, double* %p
  %r = call i8* @PyFloat_FromDouble(double %d)
  %v = ptrtoint i8* %r to i64
  ret i64 %v
}
define i64 @gjk3d_int(i64 %value) alwaysinline {
  %r = call i8* @PyLong_FromLongLong(i64 %value)
  %v = ptrtoint i8* %r to i64
  ret i64 %v
}
define i64 @gjk3d_vector(i64 %address) {
entry:
  %dimensions = alloca i64
  store i64 3, i64* %dimensions
  %np = getelementptr [COUNT x i8*], [COUNT x i8*]* @gjk3d.constants, i64 0, i64 NEW_ARRAY
  %n = load i8*, i8** %np
  %new = bitcast i8* %n to i8* (i8*, i32, i64*, i32, i64*, i8*, i32, i32, i8*)*
  %tp = getelementptr [COUNT x i8*], [COUNT x i8*]* @gjk3d.constants, i64 0, i64 NDARRAY
  %t = load i8*, i8** %tp
  %r = call i8* %new(i8* %t, i32 1, i64* %dimensions, i32 12, i64* null, i8* null, i32 0, i32 0, i8* null)
  %failed = icmp eq i8* %r, null
  br i1 %failed, label %end, label %fill
fill:
  %fields = getelementptr i8, i8* %r, i64 16
  %dp = bitcast i8* %fields to double**
  %to = load double*, double** %dp
  %from = inttoptr i64 %address to double*
  %a = load double, double* %from
  store double %a, double* %to
  %f1 = getelementptr double, double* %from, i64 1
  %t1 = getelementptr double, double* %to, i64 1
  %b = load double, double* %f1
  store double %b, double* %t1
  %f2 = getelementptr double, double* %from, i64 2
  %t2 = getelementptr double, double* %to, i64 2
  %c = load double, double* %f2
  store double %c, double* %t2
  br label %end
end:
  %v = ptrtoint i8* %r to i64
  ret i64 %v
}
"""

_PLACES = {"COUNT": len(CONSTANTS), "NEW_ARRAY": CONSTANTS.index("PyArray_New"), "NDARRAY": CONSTANTS.index("ndarray")}


def head(number: int) -> str:
    """Return the LLVM text at the beginning of the object file of the group with this number."""
    text = (_ENTRIES + _BUILTINS).replace("NUMBER", str(number))
    for name, number in _PLACES.items():
        text = text.replace(name, str(number))
    return text


def symbol_of(name: str) -> str:
    """Return the symbol of the function that CPython calls for an entry or a builtin."""
    return f"gjk3d.{name}"


class _Text:
    """The lines of an LLVM function while it is written."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._count = 0

    def add(self, line: str) -> None:
        self.lines.append("  " + line)

    def value(self, expression: str) -> str:
        """Append an instruction that computes an expression, and return the name of its value."""
        self._count += 1
        self.add(f"%v{self._count} = {expression}")
        return f"%v{self._count}"

    def need(self, flag: str) -> None:
        """Append a branch that continues if a flag is set. Otherwise a Python function takes over the call."""
        self._count += 1
        self.add(f"br i1 {flag}, label %l{self._count}, label %otherwise")
        self.lines.append(f"l{self._count}:")

    def refuse(self, error: str) -> None:
        """Append a branch that continues if the pointer ``error`` is null. Otherwise the function returns null."""
        good = self.value(f"icmp eq i8* {error}, null")
        self._count += 1
        self.add(f"br i1 {good}, label %l{self._count}, label %wrong")
        self.lines.append(f"l{self._count}:")

    def constant(self, name: str) -> str:
        """Append the load of a constant of `CONSTANTS`, and return the name of its value."""
        n = len(CONSTANTS)
        place = f"getelementptr [{n} x i8*], [{n} x i8*]* @gjk3d.constants, i64 0, i64 {CONSTANTS.index(name)}"
        return self.value(f"load i8*, i8** {self.value(place)}")

    def field(self, thing: str, offset: int, kind: str) -> str:
        """Append the load of an object's field at an offset, and return the name of its value. ``kind`` is its type."""
        place = self.value(f"getelementptr i8, i8* {thing}, i64 {offset}")
        return self.value(f"load {kind}, {kind}* {self.value(f'bitcast i8* {place} to {kind}*')}")

    def need_type(self, thing: str, name: str) -> None:
        """Append a branch that continues if the type of an object is exactly this type, and not a subclass."""
        self.need(self.value(f"icmp eq i8* {self.field(thing, TYPE, 'i8*')}, {self.constant(name)}"))


def words_of(name: str) -> str:
    """Return the symbol of the memory that contains the words of a builtin, see `install`."""
    return f"words of {name}"


def builtin(name: str, declared: Any) -> str:
    """Return the LLVM text of the function that CPython calls for a builtin.

    ``declared`` is the declaration of its kernel. If the first parameter of the kernel is called ``words``, it gets the
    address of the builtin's words.
    """
    from llvmlite import ir

    function = declared.target_context.declare_function(ir.Module("one"), declared.fndesc)
    pointer, error = (str(argument.type) for argument in function.args[:2])
    symbol, words = symbol_of(name), words_of(name)
    arguments = [f"i64 %a{k}" for k in range(len(declared.fndesc.argtypes))]
    text, parameters = _Text(), arguments
    if declared.fndesc.args[0] == "words":
        parameters = arguments[1:]
        arguments = [f'i64 ptrtoint ([{WORDS} x i64]* @"{words}" to i64)', *parameters]
    text.add(f"%ret = alloca {pointer[:-1]}")
    text.add(f"%exc = alloca {error[:-1]}")
    text.add(f'%status = call i32 @"{function.name}"({pointer} %ret, {error} %exc, {", ".join(arguments)})')
    text.add(f"ret i64 {text.value('load i64, i64* %ret')}")
    return (
        f'{str(function).strip()}\n@"{words}" = global [{WORDS} x i64] zeroinitializer\n'
        f'define i64 @"{symbol}"({", ".join(parameters)}) {{\n' + "\n".join(text.lines) + "\n}\n"
    )


def wrapper(name: str, declared: Any) -> str:
    """Return the LLVM text of the wrapper that CPython calls for an entry. ``declared`` is its kernel's declaration."""
    from llvmlite import ir

    function = declared.target_context.declare_function(ir.Module("one"), declared.fndesc)
    kinds = [str(argument.type) for argument in function.args]
    pointer, error = kinds[0], kinds[1]
    text = _Text()
    text.need(text.value(f"icmp eq i64 %nargs, {len(declared.fndesc.argtypes)}"))
    arguments: list[str] = []
    for k, kind in enumerate(declared.fndesc.argtypes):
        place = text.value(f"getelementptr i8*, i8** %args, i64 {k}")
        arguments += _argument(text, text.value(f"load i8*, i8** {place}"), kind)
    assert [argument.split(" ")[0] for argument in arguments] == kinds[2:], name
    text.add(f"%ret = alloca {pointer[:-1]}")
    text.add(f"%exc = alloca {error[:-1]}")
    text.add("%thread = call i8* @PyEval_SaveThread()")
    text.add(f'%status = call i32 @"{function.name}"({pointer} %ret, {error} %exc, {", ".join(arguments)})')
    text.add("call void @PyEval_RestoreThread(i8* %thread)")
    text.add("%good = icmp sle i32 %status, 0")
    text.add("br i1 %good, label %done, label %failed")
    text.lines.append("failed:")
    message = "getelementptr [31 x i8], [31 x i8]* @gjk3d.failed, i64 0, i64 0"
    text.add(f"call void @PyErr_SetString(i8* {text.constant('SystemError')}, i8* {text.value(message)})")
    text.add("ret i8* null")
    text.lines.append("done:")
    returned = declared.fndesc.restype
    value = "" if str(returned) == "none" else text.value(f"load {pointer[:-1]}, {pointer} %ret")
    text.add(f"ret i8* {_object(text, value, pointer[:-1], returned, declared.target_context)}")
    if "label %wrong" in "".join(text.lines):
        text.lines += ["wrong:", "  ret i8* null"]
    text.lines.append("otherwise:")
    text.add("%other = call i8* @gjk3d.otherwise(i8* %self, i8** %args, i64 %nargs)")
    text.add("ret i8* %other")
    head = f'define i8* @"{symbol_of(name)}"(i8* %self, i8** %args, i64 %nargs) {{\nentry:\n'
    return f"{str(function).strip()}\n{head}" + "\n".join(text.lines) + "\n}\n"


def _argument(text: _Text, thing: str, kind: Any) -> list[str]:
    """Append the reading of an argument of numba's type ``kind``, and return the values that a kernel takes for it."""
    from numba import types

    if isinstance(kind, types.Array):
        return _array(text, thing, kind)
    if isinstance(kind, types.BaseTuple):
        # the class of a NamedTuple is a subclass of tuple
        kinds = f"i8* {text.field(thing, TYPE, 'i8*')}, i8* {text.constant('tuple')}"
        text.need(text.value(f"icmp ne i32 {text.value(f'call i32 @PyType_IsSubtype({kinds})')}, 0"))
        size = text.value(f"call i64 @PyTuple_Size(i8* {thing})")
        text.need(text.value(f"icmp eq i64 {size}, {len(kind)}"))
        items = [text.value(f"call i8* @PyTuple_GetItem(i8* {thing}, i64 {k})") for k in range(len(kind))]
        return [
            value for item, item_kind in zip(items, kind, strict=True) for value in _argument(text, item, item_kind)
        ]
    if kind == types.float64:
        text.need_type(thing, "float")
        return [f"double {text.value(f'call double @PyFloat_AsDouble(i8* {thing})')}"]
    if kind == types.int64:
        text.need_type(thing, "int")
        number = text.value(f"call i64 @PyLong_AsLongLong(i8* {thing})")
        text.refuse(text.value("call i8* @PyErr_Occurred()"))
        return [f"i64 {number}"]
    assert kind == types.boolean, kind
    text.need_type(thing, "bool")
    truth = text.value(f"call i32 @PyObject_IsTrue(i8* {thing})")
    return [f"i8 {text.value(f'trunc i32 {truth} to i8')}"]


def _array(text: _Text, thing: str, kind: Any) -> list[str]:
    """Append the reading of the array ``thing``; return the fields of a numba array that does not own its memory."""
    number, item = _ITEMS[str(kind.dtype)]
    text.need_type(thing, "ndarray")
    text.need(text.value(f"icmp eq i32 {text.field(thing, NDIM, 'i32')}, {kind.ndim}"))
    descr = text.field(thing, DESCR, "i8*")
    text.need(text.value(f"icmp eq i8* {descr}, {text.constant(str(kind.dtype).replace('bool', 'bool_'))}"))
    flags = text.value(f"and i32 {text.field(thing, FLAGS, 'i32')}, {PLAIN}")
    text.need(text.value(f"icmp eq i32 {flags}, {PLAIN}"))
    data = text.value(f"bitcast i8* {text.field(thing, DATA, 'i8*')} to {number}*")
    dimensions = text.field(thing, SHAPE, "i64*")
    places = [text.value(f"getelementptr i64, i64* {dimensions}, i64 {k}") for k in range(kind.ndim)]
    shape = [text.value(f"load i64, i64* {place}") for place in places]
    strides, size = [str(item)], "1"
    for k in reversed(range(kind.ndim)):
        size = text.value(f"mul i64 {size}, {shape[k]}")
        strides.insert(0, text.value(f"mul i64 {size}, {item}"))
    fields = ["i8* null", "i8* null", f"i64 {size}", f"i64 {item}", f"{number}* {data}"]
    return [*fields, *(f"i64 {size}" for size in shape), *(f"i64 {size}" for size in strides[1:])]


def _object(text: _Text, value: str, fresh: str, kind: Any, context: Any) -> str:
    """Append the creation of the Python object of a kernel's result, and return the name of its value.

    ``value`` is the kernel's result, ``fresh`` its LLVM type, and ``kind`` its numba type.
    """
    from numba import types

    if isinstance(kind, types.NoneType):
        text.add(f"call void @Py_IncRef(i8* {text.constant('None')})")
        return text.constant("None")
    if isinstance(kind, types.BaseTuple):
        result = text.value(f"call i8* @PyTuple_New(i64 {len(kind)})")
        for k, item_kind in enumerate(kind):
            part = text.value(f"extractvalue {fresh} {value}, {k}")
            item = _object(text, part, str(context.get_data_type(item_kind)), item_kind, context)
            text.value(f"call i32 @PyTuple_SetItem(i8* {result}, i64 {k}, i8* {item})")
        return result
    if kind == types.float64:
        return text.value(f"call i8* @PyFloat_FromDouble(double {value})")
    if kind == types.int64:
        return text.value(f"call i8* @PyLong_FromLongLong(i64 {value})")
    assert kind == types.boolean, kind
    return text.value(f"call i8* @PyBool_FromLong(i64 {text.value(f'zext {fresh} {value} to i64')})")


# --- loading ---------------------------------------------------------------------------------------------------------


FASTCALL, KEYWORDS = 0x80, 0x2  #: METH_FASTCALL, METH_KEYWORDS
_NEW_ARRAY = 93  #: index of ``PyArray_New`` in numpy's table of C functions, the same since numpy 1.7
alive: list[Any] = []  #: objects whose addresses machine code uses until the process ends
_CONSTANTS: dict[str, Any] = {
    "ndarray": np.ndarray, "float64": np.dtype(np.float64), "int64": np.dtype(np.int64), "uint8": np.dtype(np.uint8),
    "bool_": np.dtype(np.bool_), "float": float, "int": int, "tuple": tuple, "list": list, "bool": bool, "None": None,
    "float32": np.dtype(np.float32), "int32": np.dtype(np.int32),
    "SystemError": SystemError, "False": False, "True": True, "bytes": bytes,
}  # fmt: skip


class Place(NamedTuple):
    """The addresses of a builtin's code and of its words, which `install` describes."""

    code: int
    words: int


class Method(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char_p), ("code", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


def load(built: Built, fallback: Callable[[str], Callable[..., Any]]) -> dict[str, Any]:
    """Return the entries and builtins of an object file by name, "module:function".

    Parameters
    ----------
    built : Built
        The object files of all groups one after another, and the symbols that they need.
    fallback : callable
        A function that takes the name of an entry, and returns the function for calls with other types of arguments.
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
    """Return the address of ``PyArray_New`` from numpy's table of C functions."""
    core = import_module("numpy._core" if hasattr(np, "_core") else "numpy.core")
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = get(core._multiarray_umath._ARRAY_API, None)
    return int(ctypes.c_void_p.from_address(table + 8 * _NEW_ARRAY).value or 0)
