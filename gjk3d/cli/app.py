"""The ``gjk3d`` command, which reads the command line, runs a command and returns its `ExitCode`."""

from __future__ import annotations

import errno
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from cyclopts import App, CycloptsError

from gjk3d import __version__
from gjk3d.cli import ExitCode
from gjk3d.cli.check import check
from gjk3d.cli.clash import clash
from gjk3d.cli.diff import diff
from gjk3d.cli.doctor import doctor, warmup
from gjk3d.cli.info import info
from gjk3d.cli.replay import replay
from gjk3d.cli.robot import robot
from gjk3d.cli.terminal import note
from gjk3d.cli.triage import serve, triage
from gjk3d.cli.view import explain, view
from gjk3d.errors import Gjk3dError, Gjk3dWarning

_HELP = """Compute whether 3D shapes touch, how far apart they are and how deep they overlap.

Exit codes: 0 apart or done, 1 touching, overlapping or clashing, 2 bad usage or input, 70 a bug of
gjk3d, 130 interrupted.
With --debug, or GJK3D_DEBUG=1 in the environment, errors are printed with their stack trace.
"""


app = App(name="gjk3d", help=_HELP, version=f"gjk3d {__version__}")
for command in (check, clash, diff, triage, serve, explain, info, view, robot, replay, warmup, doctor):
    app.command(command)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    tokens = list(sys.argv[1:] if argv is None else argv)
    debug = os.environ.get("GJK3D_DEBUG", "") not in ("", "0")
    if "--debug" in tokens:
        tokens.remove("--debug")
        debug = True
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a name that the terminal cannot encode must not end the run
            stream.reconfigure(errors="backslashreplace")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", Gjk3dWarning)
            warnings.showwarning = lambda message, category, *_: note(
                message if issubclass(category, Gjk3dWarning) else f"{category.__name__}: {message}"
            )
            return _run(tokens, debug)
    except BrokenPipeError:  # the process that reads the pipe has ended
        _drop_output()
        return ExitCode.BROKEN_PIPE
    except SystemExit as stop:  # rich exits with 1 after a broken pipe, but 1 means contact
        if isinstance(stop.__context__, BrokenPipeError):
            return ExitCode.BROKEN_PIPE
        raise


def _run(tokens: list[str], debug: bool) -> int:
    try:
        call = _parse(tokens)
        if call is None:
            return ExitCode.BAD_INPUT
        code = int(call() or ExitCode.OK)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except BrokenPipeError:
        raise
    except KeyboardInterrupt:
        note("interrupted", "gjk3d")
        return ExitCode.INTERRUPTED
    except Exception as error:
        if debug:
            traceback.print_exc()
        return _explain(error)


def _parse(tokens: list[str]) -> Callable[[], Any] | None:
    if not tokens:
        from rich.console import Console

        app.help_print(console=Console(stderr=True))
        return None
    try:
        if "" in tokens:  # an empty path would be the current folder
            where = f"argument {tokens.index('') + 1} is empty"
            raise CycloptsError(msg=f"{where}, expected a name or a value. Check the shell variables in the command.")
        function, bound, _ = app.parse_args(tokens, exit_on_error=False, print_error=False)
    except CycloptsError as error:
        note(error, "error")
        names, _, _ = app.parse_commands(tokens)
        note(" ".join(("gjk3d", *names, "--help")), "usage")
        return None
    return lambda: function(*bound.args, **bound.kwargs)


def _explain(error: Exception) -> int:
    lacks_extra = isinstance(error, ImportError) and "pip install" in str(error)
    if isinstance(error, Gjk3dError) or lacks_extra:
        note(error, "error")
        return ExitCode.BAD_INPUT
    if isinstance(error, MemoryError):
        note(f"not enough memory{f': {error}' if str(error) else ''}. Reduce the size of the input.", "error")
        return ExitCode.BAD_INPUT
    if isinstance(error, OSError) and error.strerror:
        if error.errno == errno.ENOSPC:
            _drop_output()
        note(f"{error.strerror}: {error.filename!r}" if error.filename else error.strerror, "error")
        return ExitCode.BAD_INPUT
    note(
        f"unexpected {type(error).__name__}: {error}\n"
        "This is a bug of gjk3d. Please report it with the command, the files and the output of --debug.",
        "error",
    )
    return ExitCode.BUG


def _drop_output() -> None:
    # without this the interpreter fails again when it flushes stdout at its end
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
