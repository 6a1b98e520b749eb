"""The way from Python into an entry, in LLVM's language: arguments are read from the objects, as CPython's own do.

An entry is a method of CPython's fast calling convention. Arrays are read from their fields; floats, integers and flags
have to be of Python's own types. Whatever is otherwise goes to a Python function that the loader binds, which brings it
into shape or says what is wrong.
"""

from __future__ import annotations

from typing import Any

from gjk3d._kernels.assembly import DATA, DESCR, FLAGS, KNOWN, NDIM, PLAIN, SHAPE, TYPE

WORDS = 16  #: that a builtin has of its own
_NUMBERS = {"float64": "double", "int64": "i64", "uint8": "i8", "bool": "i8"}
_DESCR = {"float64": "float64", "int64": "int64", "uint8": "uint8", "bool": "bool_"}


def symbol_of(name: str) -> str:
    """Return the symbol of an entry's way in."""
    return f"gjk3d.{name}"


class _Text:
    """Lines of a function, and names for its values."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._count = 0

    def add(self, line: str) -> None:
        self.lines.append("  " + line)

    def value(self, expression: str) -> str:
        """Name the value of an expression."""
        self._count += 1
        self.add(f"%v{self._count} = {expression}")
        return f"%v{self._count}"

    def need(self, flag: str) -> None:
        """Go on where a flag is set, to the Python function otherwise."""
        self._count += 1
        self.add(f"br i1 {flag}, label %l{self._count}, label %otherwise")
        self.lines.append(f"l{self._count}:")

    def refuse(self, error: str) -> None:
        """Go on where there is no error, to the caller with it otherwise."""
        good = self.value(f"icmp eq i8* {error}, null")
        self._count += 1
        self.add(f"br i1 {good}, label %l{self._count}, label %wrong")
        self.lines.append(f"l{self._count}:")

    def known(self, name: str) -> str:
        """Return one of the objects that the loader handed over."""
        n = len(KNOWN)
        place = f"getelementptr [{n} x i8*], [{n} x i8*]* @gjk3d.known, i64 0, i64 {KNOWN.index(name)}"
        return self.value(f"load i8*, i8** {self.value(place)}")

    def field(self, thing: str, offset: int, kind: str) -> str:
        """Read a field of an object."""
        place = self.value(f"getelementptr i8, i8* {thing}, i64 {offset}")
        return self.value(f"load {kind}, {kind}* {self.value(f'bitcast i8* {place} to {kind}*')}")

    def need_type(self, thing: str, name: str) -> None:
        """Go on where an object is of a type, and of no class derived from it."""
        self.need(self.value(f"icmp eq i8* {self.field(thing, TYPE, 'i8*')}, {self.known(name)}"))


def words_of(name: str) -> str:
    """Return the symbol of the words of a builtin."""
    return f"words of {name}"


def builtin(name: str, declared: Any) -> str:
    """Return the declaration of a builtin's kernel, and the function of C that CPython calls.

    A kernel whose first parameter is called ``words`` is handed the address of the builtin's own.
    """
    from llvmlite import ir

    function = declared.target_context.declare_function(ir.Module("one"), declared.fndesc)
    pointer, error = (str(each.type) for each in function.args[:2])
    symbol, words = symbol_of(name), words_of(name)
    given = [f"i64 %a{k}" for k in range(len(declared.fndesc.argtypes))]
    text, taken = _Text(), given
    if declared.fndesc.args[0] == "words":
        taken = given[1:]
        given = [f'i64 ptrtoint ([{WORDS} x i64]* @"{words}" to i64)', *taken]
    text.add(f"%ret = alloca {pointer[:-1]}")
    text.add(f"%exc = alloca {error[:-1]}")
    text.add(f'%status = call i32 @"{function.name}"({pointer} %ret, {error} %exc, {", ".join(given)})')
    text.add(f"ret i64 {text.value('load i64, i64* %ret')}")
    return (
        f'{str(function).strip()}\n@"{words}" = global [{WORDS} x i64] zeroinitializer\n'
        f'define i64 @"{symbol}"({", ".join(taken)}) {{\n' + "\n".join(text.lines) + "\n}\n"
    )


def wrapper(name: str, declared: Any) -> str:
    """Return the declaration of an entry's kernel, and the function that Python calls."""
    from llvmlite import ir

    function = declared.target_context.declare_function(ir.Module("one"), declared.fndesc)
    kinds = [str(each.type) for each in function.args]
    pointer, error = kinds[0], kinds[1]
    text = _Text()
    text.need(text.value(f"icmp eq i64 %nargs, {len(declared.fndesc.argtypes)}"))
    given: list[str] = []
    for k, kind in enumerate(declared.fndesc.argtypes):
        place = text.value(f"getelementptr i8*, i8** %args, i64 {k}")
        given += _argument(text, text.value(f"load i8*, i8** {place}"), kind)
    assert [each.split(" ")[0] for each in given] == kinds[2:], name
    text.add(f"%ret = alloca {pointer[:-1]}")
    text.add(f"%exc = alloca {error[:-1]}")
    text.add("%thread = call i8* @PyEval_SaveThread()")
    text.add(f'%status = call i32 @"{function.name}"({pointer} %ret, {error} %exc, {", ".join(given)})')
    text.add("call void @PyEval_RestoreThread(i8* %thread)")
    text.add("%good = icmp sle i32 %status, 0")
    text.add("br i1 %good, label %done, label %failed")
    text.lines.append("failed:")
    message = "getelementptr [31 x i8], [31 x i8]* @gjk3d.failed, i64 0, i64 0"
    text.add(f"call void @PyErr_SetString(i8* {text.known('SystemError')}, i8* {text.value(message)})")
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
    """Return the values that a kernel takes for one argument."""
    from numba import types

    if isinstance(kind, types.Array):
        return _array(text, thing, kind)
    if isinstance(kind, types.BaseTuple):
        # a NamedTuple is one, too: its class is a subtype
        kinds = f"i8* {text.field(thing, TYPE, 'i8*')}, i8* {text.known('tuple')}"
        text.need(text.value(f"icmp ne i32 {text.value(f'call i32 @PyType_IsSubtype({kinds})')}, 0"))
        size = text.value(f"call i64 @PyTuple_Size(i8* {thing})")
        text.need(text.value(f"icmp eq i64 {size}, {len(kind)}"))
        items = [text.value(f"call i8* @PyTuple_GetItem(i8* {thing}, i64 {k})") for k in range(len(kind))]
        return [value for item, each in zip(items, kind, strict=True) for value in _argument(text, item, each)]
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
    """Return the fields of numba's array: no owner, size, data, shape, strides."""
    number = _NUMBERS[str(kind.dtype)]
    text.need_type(thing, "ndarray")
    text.need(text.value(f"icmp eq i32 {text.field(thing, NDIM, 'i32')}, {kind.ndim}"))
    descr = text.field(thing, DESCR, "i8*")
    text.need(text.value(f"icmp eq i8* {descr}, {text.known(_DESCR[str(kind.dtype)])}"))
    flags = text.value(f"and i32 {text.field(thing, FLAGS, 'i32')}, {PLAIN}")
    text.need(text.value(f"icmp eq i32 {flags}, {PLAIN}"))
    data = text.value(f"bitcast i8* {text.field(thing, DATA, 'i8*')} to {number}*")
    dimensions = text.field(thing, SHAPE, "i64*")
    places = [text.value(f"getelementptr i64, i64* {dimensions}, i64 {k}") for k in range(kind.ndim)]
    shape = [text.value(f"load i64, i64* {place}") for place in places]
    item = 8 if number in ("double", "i64") else 1
    strides, size = [str(item)], "1"
    for k in reversed(range(kind.ndim)):
        size = text.value(f"mul i64 {size}, {shape[k]}")
        strides.insert(0, text.value(f"mul i64 {size}, {item}"))
    fields = ["i8* null", "i8* null", f"i64 {size}", f"i64 {item}", f"{number}* {data}"]
    return [*fields, *(f"i64 {each}" for each in shape), *(f"i64 {each}" for each in strides[1:])]


def _object(text: _Text, value: str, fresh: str, kind: Any, context: Any) -> str:
    """Return the Python object of what a kernel returned."""
    from numba import types

    if isinstance(kind, types.NoneType):
        text.add(f"call void @Py_IncRef(i8* {text.known('None')})")
        return text.known("None")
    if isinstance(kind, types.BaseTuple):
        made = text.value(f"call i8* @PyTuple_New(i64 {len(kind)})")
        for k, each in enumerate(kind):
            part = text.value(f"extractvalue {fresh} {value}, {k}")
            item = _object(text, part, str(context.get_data_type(each)), each, context)
            text.value(f"call i32 @PyTuple_SetItem(i8* {made}, i64 {k}, i8* {item})")
        return made
    if kind == types.float64:
        return text.value(f"call i8* @PyFloat_FromDouble(double {value})")
    if kind == types.int64:
        return text.value(f"call i8* @PyLong_FromLongLong(i64 {value})")
    assert kind == types.boolean, kind
    return text.value(f"call i8* @PyBool_FromLong(i64 {text.value(f'zext {fresh} {value} to i64')})")
