"""Entries, and what they do while there is no machine code: answer interpreted, or wait for the builder.

The builder is a process of its own that the first call starts. A question about few things is answered at once, by the
Python that the machine code is made of, bit for bit the same. What is large waits, and says so on stderr.
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

FEW = 4  #: questions of a call that are answered interpreted: milliseconds each
_LOOK = 0.2  #: seconds between looks whether the builder is done
_HOW = 'pip install "gjk3d[build]" brings what compiles, and `gjk3d doctor` tells what is missing'

_late: dict[str, Late] = {}
_code: dict[str, Any] = {}
_guard = threading.RLock()
_builder: subprocess.Popen[bytes] | None = None
_hopeless = ""  #: why nothing will be built
_looked = 0.0


def entry(function: Function, single: bool) -> Any:
    """Return the machine code of an entry, or what stands for it until there is some."""
    name = f"{function.__module__}:{function.__qualname__}"
    late = _late[name] = Late(name, function, single)
    _load()
    return _code.get(name, late)


def builtin(name: str) -> Any:
    """Return where the machine code of a builtin and its words are, None where there is none."""
    _load()
    return _code.get(name)


def arrived() -> bool:
    """Tell whether there is machine code, as far as anything asked for it."""
    return bool(_code)


def source(entry: Any) -> Function:
    """Return the Python function that an entry is made of."""
    return _late[f"{entry.__module__}:{entry.__name__}"].py_func


class Late:
    """An entry that has no machine code yet."""

    def __init__(self, name: str, function: Function, single: bool) -> None:
        self.name, self.py_func, self.single = name, function, single
        self.__name__, self.__doc__, self.__module__ = function.__name__, function.__doc__, function.__module__
        parameters = inspect.signature(function).parameters
        self._names, self._kinds = list(parameters), [str(each.annotation) for each in parameters.values()]

    def __call__(self, *args: Any) -> Any:
        code = _code.get(self.name) or self._arrived()
        if code is None and not (self.single and self._few(args)):
            wait()
            code = _code.get(self.name)
        return (code or self.py_func)(*args)

    def _arrived(self) -> Any:
        """Start the builder, look now and then whether it is done, and return the machine code if it is."""
        global _looked
        if time.monotonic() - _looked > _LOOK:
            with _guard:
                _looked = time.monotonic()
                _step()
            if _hopeless:
                _say_interpreted()
        return _code.get(self.name)

    def _few(self, args: tuple[Any, ...]) -> bool:
        """Tell whether a call asks about few things: from ``start`` to ``stop``, or rows of its arrays."""
        if "stop" in self._names:
            return bool(args[self._names.index("stop")] - args[self._names.index("start")] <= FEW)
        return all(len(each) <= 4 * FEW for each in args if isinstance(each, np.ndarray) and each.ndim > 1)

    def otherwise(self, *args: Any) -> Any:
        """Take a call that machine code does not: numbers and arrays in other clothes; all else is refused."""
        plain = tuple(map(_undressed, args, self._kinds))
        if len(args) != len(self._names) or all(a is b for a, b in zip(plain, args, strict=True)):
            told = ", ".join(f"{name}: {_told(each)}" for name, each in zip(self._names, args, strict=False))
            raise TypeError(f"{self.name} takes {inspect.signature(self.py_func)}, not ({told})")
        return _code[self.name](*plain)


_DTYPES = {each: each for each in map(np.dtype, (np.float64, np.int64, np.uint8, np.bool_))}
_NUMBERS: dict[str, type] = {"float": float, "int": int, "bool": bool}


def _undressed(each: Any, kind: str) -> Any:
    """Return a number as Python's of the kind that is wanted, and an array as numpy's own with numpy's own item type.

    Arrays that were unpickled have item types of their own, that are equal only. What is as it should be is returned
    itself.
    """
    if isinstance(each, tuple):
        if any(isinstance(x, np.ndarray | tuple) for x in each):
            plain = tuple(_undressed(x, "") for x in each)
            return each if all(a is b for a, b in zip(plain, each, strict=True)) else plain
        return each if all(type(x) in (float, bool) for x in each) else tuple(map(float, each))
    number = _NUMBERS.get(kind)
    if number is not None:
        fits = isinstance(each, (int, np.integer, np.bool_)) or (
            number is float and isinstance(each, (float, np.floating))
        )
        return number(each) if fits and type(each) is not number else each
    own = _DTYPES.get(each.dtype) if isinstance(each, np.ndarray) else None
    if own is None or (type(each) is np.ndarray and each.dtype is own):
        return each
    return each.view(own, np.ndarray)


def _told(each: Any) -> str:
    if isinstance(each, np.ndarray):
        lies = "aligned, contiguous" if each.flags.c_contiguous and each.flags.aligned else "strided or misaligned"
        return f"{lies} {each.dtype} {each.shape}"
    return type(each).__name__


_wrong: list[Path] = []  #: objects that do not work here


def _misses(code: dict[str, Any]) -> str:
    """Return what is wrong with the answer to a question whose answer is known, nothing if it is right."""
    turned = np.array([[[0.0, -1.0, 0.0, 2.0], [1.0, 0.0, 0.0, 3.0], [0.0, 0.0, 1.0, 4.0], [0.0, 0.0, 0.0, 1.0]]])
    known, row = [0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 0.0], np.full((1, 13), np.nan)
    told = code["gjk3d.poses:check_rows"](turned, row)
    return "" if (told, row[0].tolist()) == ((-1, 0), known) else f"a pose is taken for {told}, {row[0].tolist()}"


def _load() -> None:
    """Take the object's entries if there is one, and it works."""
    global _hopeless
    if _code:
        return
    built = store.find(_wrong)
    if built is None:
        return
    from gjk3d._kernels.loader import load

    try:
        code = load(built, lambda name: lambda *args: _late[name].otherwise(*args))
        why = _misses(code)
    except Exception as error:  # LLVM's, of many kinds
        why = f"{type(error).__name__}: {error}"
    if not why:
        _code.update(code)
        return
    _wrong.append(built.path)
    sys.stderr.write(f"gjk3d: the machine code in {built.path} is not used, since it does not work here: {why}\n")
    if built.path.parent == files.folder():
        _hopeless = f"the machine code that was built here does not work ({why}): GJK3D_KERNELS=jit does without"


def _step() -> None:
    """Take the machine code if it is there; see to it that a builder is at work, of this process or another."""
    ended = _builder is not None and _builder.poll() is not None
    _load()
    if _code or _hopeless:
        return
    if ended:
        _give_up()
    elif _builder is None and not store.is_building():
        _start()


def _start() -> None:
    """Start the builder in the background."""
    global _builder, _hopeless
    if getattr(sys, "frozen", False):
        _hopeless = "a frozen program compiles nothing: run `gjk3d warmup` before it is frozen"
    elif not _can_build():
        _hopeless = f"there is no machine code for this machine, and no numba to make it: {_HOW}"
    else:
        root = str(Path(__file__).parents[2])  # the builder imports the package that this process runs
        paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
        _builder = subprocess.Popen(
            [sys.executable, "-P", "-m", "gjk3d._kernels.builder"],  # -P: not one that lies in the working directory
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "GJK3D_CACHE_DIR": str(files.folder())},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            start_new_session=os.name != "nt",  # Ctrl-C is for the question, not for what others wait for too
        )  # fmt: skip


def _can_build() -> bool:
    return store.shipped_bitcode().exists() or find_spec("numba") is not None


def _forget() -> None:
    """Leave the builder to the process that started it, after a fork."""
    global _builder, _guard
    _builder, _guard = None, threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def wait(report: Report | None = None) -> bool:
    """Wait for the machine code, with progress on stderr or to ``report``; return whether there is some."""
    with _guard:
        _step()
    if not (_code or _hopeless):
        told = report or _Progress()
        try:
            while not (_code or _hopeless):
                with _guard:
                    _step()
                told(1.0 if _code else store.how_far())
                time.sleep(0.05)
        except KeyboardInterrupt:
            if not report:
                sys.stderr.write("\ngjk3d: the compiling goes on in the background\n")
            raise
    if not _code:
        _say_interpreted()
    return bool(_code)


class _Progress:
    """Says how far the builder is: a line that is written over on a terminal, one every ten seconds elsewhere."""

    def __init__(self) -> None:
        self._begun = self._said = time.monotonic()
        self._terminal = sys.stderr.isatty()
        sys.stderr.write("gjk3d: compiling its kernels, once on this machine; less than a minute on two free cores\n")

    def __call__(self, part: float) -> None:
        now = time.monotonic()
        if part < 1.0 and now - self._said < (0.3 if self._terminal else 10.0):
            return
        self._said = now
        again, end = ("\r", "" if part < 1.0 else "\n") if self._terminal else ("", "\n")
        sys.stderr.write(f"{again}gjk3d: compiled {part:4.0%} after {now - self._begun:.0f} s{end}")
        sys.stderr.flush()


def _give_up() -> None:
    """Keep why the builder ended without an object."""
    global _builder, _hopeless
    assert _builder is not None
    said = _builder.stderr.read().decode(errors="replace").strip() if _builder.stderr else ""
    why = said.splitlines()[-1] if said else f"its process ended with {_builder.returncode}"
    _builder = None
    _hopeless = f"its kernels could not be compiled: {why}"


_said = False


def _say_interpreted() -> None:
    global _said
    if not _said:
        _said = True
        sys.stderr.write(f"gjk3d: {_hopeless}. All is interpreted, some thousand times slower.\n")


def status() -> dict[str, Any]:
    """Return what there is to run: where the object is, and why there is none."""
    _load()
    return {**store.describe(), "loaded": bool(_code), "can_build": _can_build()}
