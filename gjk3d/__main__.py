"""The commands ``gjk3d`` and ``python -m gjk3d``, including Ctrl-C during imports and inside numba."""

import os
import signal
import sys
from types import FrameType

from gjk3d.cli import ExitCode

_UNSAFE = tuple(f"{os.sep}{name}{os.sep}" for name in ("numba", "llvmlite"))


def _exit_now(*received: object) -> None:
    try:
        os.write(2, b"gjk3d: interrupted\n")
    finally:
        os._exit(ExitCode.INTERRUPTED)


def _interrupt(received: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, or end the process at once during an import or inside numba."""
    # Imports and numba suppress the exception, or crash because of it.
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith("<frozen importlib") or any(part in name for part in _UNSAFE):
            _exit_now()
        frame = frame.f_back
    raise KeyboardInterrupt


def main() -> int:
    """Run the command line and return the exit code."""
    handled = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # a shell's background jobs ignore Ctrl-C
    if handled:
        signal.signal(signal.SIGINT, _exit_now)
    from gjk3d.cli.app import main as run

    try:
        if handled:
            signal.signal(signal.SIGINT, _interrupt)
        code = run()
    except KeyboardInterrupt:  # Ctrl-C came before the command line was parsed
        code = ExitCode.INTERRUPTED
    if handled:
        signal.signal(signal.SIGINT, _exit_now)  # only the cleanup remains
    if code == ExitCode.INTERRUPTED:
        # Python could end with the exit status of the signal, so the process ends here with the documented code
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        os._exit(code)
    return code


if __name__ == "__main__":
    sys.exit(main())
