"""The commands ``gjk3d`` and ``python -m gjk3d``, with Ctrl-C handled where an exception would be lost."""

import os
import signal
import sys
from types import FrameType

from gjk3d.cli import ExitCode

_UNFIT = tuple(f"{os.sep}{name}{os.sep}" for name in ("numba", "llvmlite"))


def _leave(*received: object) -> None:
    try:
        os.write(2, b"gjk3d: interrupted\n")
    finally:
        os._exit(ExitCode.INTERRUPTED)


def _heed(received: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, or end the process at once during an import or inside numba."""
    # Imports and numba swallow the exception, or crash because of it.
    caller = frame
    while caller is not None:
        name = caller.f_code.co_filename
        if name.startswith("<frozen importlib") or any(part in name for part in _UNFIT):
            _leave()
        caller = caller.f_back
    raise KeyboardInterrupt


def main() -> int:
    """Run the command line and return the exit code."""
    heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # a shell's background jobs ignore Ctrl-C
    if heeded:
        signal.signal(signal.SIGINT, _leave)
    from gjk3d.cli.app import main as run

    try:
        if heeded:
            signal.signal(signal.SIGINT, _heed)
        code = run()
    except KeyboardInterrupt:  # Ctrl-C came before the command line was parsed
        code = ExitCode.INTERRUPTED
    if heeded:
        signal.signal(signal.SIGINT, _leave)  # only the cleanup remains
    if code == ExitCode.INTERRUPTED:
        # Python may end itself by the signal, so the exit code is set here
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        os._exit(code)
    return code


if __name__ == "__main__":
    sys.exit(main())
