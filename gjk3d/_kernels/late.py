"""Calls of kernels before their machine code exists: they run interpreted, or wait for the machine code.

An entry is a kernel that Python calls. The first call of an entry starts the builder, a process that compiles all
kernels. A call with few items may run the Python functions of the kernels, whose results have the same bits. Other
calls wait for the builder, and print the progress on stderr.
"""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from gjk3d._kernels import files, store

Function = Callable[..., Any]
Report = Callable[[float], None]

FEW = 4  #: greatest number of items of a call that runs interpreted, which takes milliseconds for each item
_INTERVAL = 0.2  #: least number of seconds between two checks of the builder
_HOW = 'install a compiler with pip install "gjk3d[build]", or run `gjk3d doctor` for the missing parts'

_late: dict[str, Late] = {}
_code: dict[str, Any] = {}
_guard = threading.RLock()
_builder: subprocess.Popen[bytes] | None = None
_hopeless = ""  #: reason why the machine code cannot be built
_last_check = 0.0


def entry(function: Function, single: bool) -> Any:
    """Return the machine code of a kernel that Python calls, or a `Late` if the code does not exist yet.

    With ``single``, calls with few items run ``function`` in Python until then.
    """
    name = f"{function.__module__}:{function.__qualname__}"
    late = _late[name] = Late(name, function, single)
    _load()
    return _code.get(name, late)


def builtin(name: str) -> Any:
    """Return the addresses of the machine code of a function that CPython calls, or None before this code exists."""
    _load()
    return _code.get(name)


def arrived() -> bool:
    """Return whether machine code is loaded."""
    return bool(_code)


def source(entry: Any) -> Function:
    """Return the Python function from which an entry is compiled."""
    return _late[f"{entry.__module__}:{entry.__name__}"].py_func


class Late:
    """A callable in place of a kernel without machine code. It calls the machine code as soon as this exists."""

    def __init__(self, name: str, function: Function, single: bool) -> None:
        self.name, self.py_func, self.single = name, function, single
        self.__name__, self.__doc__, self.__module__ = function.__name__, function.__doc__, function.__module__
        parameters = inspect.signature(function).parameters
        self._names, self._kinds = list(parameters), [str(parameter.annotation) for parameter in parameters.values()]

    def __call__(self, *args: Any) -> Any:
        code = _code.get(self.name) or self._arrived()
        if code is None and not (self.single and self._few(args)):
            wait()
            code = _code.get(self.name)
        return (code or self.py_func)(*args)

    def _arrived(self) -> Any:
        """Return the machine code of this kernel, or None if it does not exist.

        At most once per `_INTERVAL`, new machine code is loaded, or a builder is started if none runs.
        """
        global _last_check
        if time.monotonic() - _last_check > _INTERVAL:
            with _guard:
                _last_check = time.monotonic()
                _step()
            if _hopeless:
                _report_interpreted()
        return _code.get(self.name)

    def _few(self, args: tuple[Any, ...]) -> bool:
        """Return whether a call has few items: those from ``start`` to ``stop``, or else the rows of its arrays."""
        if "stop" in self._names:
            return bool(args[self._names.index("stop")] - args[self._names.index("start")] <= FEW)
        return all(len(array) <= 4 * FEW for array in args if isinstance(array, np.ndarray) and array.ndim > 1)

    def otherwise(self, *args: Any) -> Any:
        """Call the machine code with converted arguments, after it rejected ``args``.

        Raise a TypeError if no argument can be converted.
        """
        plain = tuple(map(_undressed, args, self._kinds))
        if len(args) != len(self._names) or all(a is b for a, b in zip(plain, args, strict=True)):
            passed = ", ".join(
                f"{name}: {_describe(argument)}" for name, argument in zip(self._names, args, strict=False)
            )
            raise TypeError(
                f"{self.name} takes {inspect.signature(self.py_func)}, not ({passed}). Pass numbers and contiguous "
                "arrays of these types."
            )
        return _code[self.name](*plain)


_DTYPES = {dtype: dtype for dtype in map(np.dtype, (np.float64, np.int64, np.float32, np.int32, np.uint8, np.bool_))}
_NUMBERS: dict[str, type] = {"float": float, "int": int, "bool": bool}


def _undressed(value: Any, kind: str) -> Any:
    """Return a number as the Python type ``kind``, and an array as a plain numpy array with numpy's own dtype object.

    An unpickled array has a dtype object that is only equal to numpy's own. A value that fits is returned unchanged.
    """
    if isinstance(value, tuple):
        fields = getattr(type(value), "__annotations__", None)  # of a NamedTuple
        if fields or any(isinstance(x, np.ndarray | tuple) for x in value):
            kinds = [getattr(hint, "__forward_arg__", "") for hint in (fields or {}).values()] or [""] * len(value)
            plain = tuple(map(_undressed, value, kinds))
            return value if all(a is b for a, b in zip(plain, value, strict=True)) else plain
        return value if all(type(x) in (float, bool) for x in value) else tuple(map(float, value))
    number = _NUMBERS.get(kind)
    if number is not None:
        fits = isinstance(value, (int, np.integer, np.bool_)) or (
            number is float and isinstance(value, (float, np.floating))
        )
        return number(value) if fits and type(value) is not number else value
    dtype = _DTYPES.get(value.dtype) if isinstance(value, np.ndarray) else None
    if dtype is None or (type(value) is np.ndarray and value.dtype is dtype):
        return value
    return value.view(dtype, np.ndarray)


def _describe(value: Any) -> str:
    if isinstance(value, np.ndarray):
        layout = "aligned, contiguous" if value.flags.c_contiguous and value.flags.aligned else "strided or misaligned"
        return f"{layout} {value.dtype} {value.shape}"
    return type(value).__name__


_wrong: list[Path] = []  #: object files that do not work on this machine


def _misses(code: dict[str, Any]) -> str:
    """Run a test kernel of ``code``. Return the result as text if it is wrong, else an empty string."""
    turned = np.array([[[0.0, -1.0, 0.0, 2.0], [1.0, 0.0, 0.0, 3.0], [0.0, 0.0, 1.0, 4.0], [0.0, 0.0, 0.0, 1.0]]])
    expected, row = [0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 0.0], np.full((1, 13), np.nan)
    result = code["gjk3d.poses:check_rows"](turned, row)
    return "" if (result, row[0].tolist()) == ((-1, 0), expected) else f"a pose gave {result}, {row[0].tolist()}"


def _load() -> None:
    """Load the object file if it exists. Its code is used only if a test kernel returns the known result."""
    global _hopeless
    if _code:
        return
    built = store.find(_wrong)
    if built is None:
        return
    from gjk3d._kernels.calls.assembly import load

    try:
        code = load(built, lambda name: lambda *args: _late[name].otherwise(*args))
        why = _misses(code)
    except Exception as error:  # LLVM raises many types
        why = f"{type(error).__name__}: {error}"
    if not why:
        _code.update(code)
        return
    _wrong.append(built.path)
    sys.stderr.write(f"gjk3d: the machine code in {built.path} is not used, because it does not work here: {why}\n")
    if built.path.parent == files.folder():
        _hopeless = f"the machine code that was built here does not work ({why}). Set GJK3D_KERNELS=jit to avoid it"


def _step() -> None:
    """Load the machine code if it exists. Otherwise start a builder, unless one runs on this machine."""
    ended = _builder is not None and _builder.poll() is not None
    _load()
    if _code or _hopeless:
        return
    if ended:
        _give_up()
    elif _builder is None and not store.is_building():
        _start()


def _start() -> None:
    """Start a process that builds the machine code, or store the reason why it cannot be built."""
    global _builder, _hopeless
    if getattr(sys, "frozen", False):
        _hopeless = "a frozen program cannot compile. Run `gjk3d warmup` before freezing it"
    elif not _can_build():
        _hopeless = f"machine code for this machine, and numba to build it, are missing: {_HOW}"
    else:
        root = str(Path(__file__).parents[2])  # the builder imports the package that this process runs
        paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
        _builder = subprocess.Popen(
            [sys.executable, "-P", "-m", "gjk3d._kernels.builder"],  # -P: no import from the working directory
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "GJK3D_CACHE_DIR": str(files.folder())},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            start_new_session=os.name != "nt",  # Ctrl-C stops only the query
        )  # fmt: skip


def _can_build() -> bool:
    return store.shipped_bitcode().exists() or find_spec("numba") is not None


def _forget() -> None:
    """Forget the builder after a fork, because it belongs to the parent process."""
    global _builder, _guard
    _builder, _guard = None, threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def wait(report: Report | None = None) -> bool:
    """Wait for the machine code; return whether it is available. Pass the progress to ``report``, or print it."""
    with _guard:
        _step()
    if not (_code or _hopeless):
        show = report or _Progress()
        try:
            while not (_code or _hopeless):
                with _guard:
                    _step()
                show(1.0 if _code else min(store.how_far(), 0.99))
                time.sleep(0.05)
        except KeyboardInterrupt:
            if not report:
                sys.stderr.write("\ngjk3d: compilation continues in the background\n")
            raise
    if not _code:
        _report_interpreted()
    return bool(_code)


class _Progress:
    """A callable that prints the progress of the builder on stderr.

    On a terminal it overwrites a single line. In a file it writes a new line every ten seconds.
    """

    def __init__(self) -> None:
        self._begun = self._said = time.monotonic()
        self._terminal = sys.stderr.isatty()
        sys.stderr.write("gjk3d: compiling its kernels, once on this machine: less than a minute on two free cores\n")

    def __call__(self, part: float) -> None:
        now = time.monotonic()
        if part < 1.0 and now - self._said < (0.3 if self._terminal else 10.0):
            return
        self._said = now
        again, end = ("\r", "" if part < 1.0 else "\n") if self._terminal else ("", "\n")
        sys.stderr.write(f"{again}gjk3d: compiled {part:4.0%} after {now - self._begun:.0f} s{end}")
        sys.stderr.flush()


def _give_up() -> None:
    global _builder, _hopeless
    assert _builder is not None
    output = _builder.stderr.read().decode(errors="replace").strip() if _builder.stderr else ""
    why = output.splitlines()[-1] if output else f"its process ended with {_builder.returncode}"
    _builder = None
    _hopeless = f"its kernels could not be compiled: {why}"


_is_reported = False


def _report_interpreted() -> None:
    global _is_reported
    if not _is_reported:
        _is_reported = True
        sys.stderr.write(f"gjk3d: {_hopeless}. All kernels run interpreted, about a thousand times slower.\n")


def status() -> dict[str, Any]:
    """Return the facts of `store.describe`, and whether the machine code is loaded and can be built here."""
    _load()
    return {**store.describe(), "loaded": bool(_code), "can_build": _can_build()}
