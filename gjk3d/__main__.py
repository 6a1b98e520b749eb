"""``gjk3d`` and ``python -m gjk3d``: the command line, and Ctrl-C at moments at which it cannot be an exception."""

import os
import signal
import sys
from types import FrameType

_INTERRUPTED = 128 + signal.SIGINT
_UNFIT = tuple(f"{os.sep}{name}{os.sep}" for name in ("numba", "llvmlite"))


def _leave(*received: object) -> None:
    """End at once."""
    try:
        os.write(2, b"gjk3d: interrupted\n")
    finally:
        os._exit(_INTERRUPTED)


def _heed(received: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt; end at once in an import or in numba, which swallow it, or crash by it."""
    caller = frame
    while caller is not None:
        name = caller.f_code.co_filename
        if name.startswith("<frozen importlib") or any(part in name for part in _UNFIT):
            _leave()
        caller = caller.f_back
    raise KeyboardInterrupt


def main() -> int:
    """Run the command line and return the exit code."""
    heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # jobs in the background ignore it
    if heeded:
        signal.signal(signal.SIGINT, _leave)
    from gjk3d.cli.app import main as run

    try:
        if heeded:
            signal.signal(signal.SIGINT, _heed)
        code = run()
    except KeyboardInterrupt:  # before the command line is read
        code = _INTERRUPTED
    if heeded:
        signal.signal(signal.SIGINT, _leave)  # what is left is to clean up
    if code == _INTERRUPTED:
        # Python ends itself by a signal where the interrupt came out of an exec, whatever became of it
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        os._exit(code)
    return code


if __name__ == "__main__":
    sys.exit(main())
