"""The command line, with a module for each command. Results are printed on stdout, everything else on stderr.

`app` runs a command and returns its exit code, `arguments` checks the arguments, and `terminal` prints. The commands
do not compute results. They call the package as a script of a user does.
"""

import signal
from enum import IntEnum


class ExitCode(IntEnum):
    """The exit codes of all commands. ``ExitCode(failed)`` is OK or FAILED."""

    OK = 0
    FAILED = 1  #: shapes touch, overlap or clash, or another check fails
    BAD_INPUT = 2
    BUG = 70
    INTERRUPTED = 128 + signal.SIGINT
    BROKEN_PIPE = 128 + 13  #: the code of a shell for a process that SIGPIPE ended; Windows lacks this signal
