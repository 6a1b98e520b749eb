"""The command line, with a module for each command. Results are printed on stdout, everything else on stderr.

`app` runs a command and returns its exit code, `arguments` checks the arguments, and `terminal` prints. The commands
do not compute results. They call the package as the script of a user does.
"""

import signal
from enum import IntEnum


class ExitCode(IntEnum):
    """The exit codes of all commands. ``ExitCode(failed)`` is OK for False and FAILED for True."""

    OK = 0
    FAILED = 1  #: shapes touch, overlap or clash, or another check fails
    BAD_INPUT = 2  #: an invalid command line, or a file that cannot be read or written
    BUG = 70  #: an unexpected error, as EX_SOFTWARE of sysexits.h
    INTERRUPTED = 128 + signal.SIGINT  #: Ctrl-C
    BROKEN_PIPE = 128 + 13  #: the number of SIGPIPE is 13, and Windows lacks this signal
