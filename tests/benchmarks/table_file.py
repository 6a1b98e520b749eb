"""The command line of a benchmark that writes a table, and where the table goes."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path


def table_parser(module: str, says: str | None, rounds: int | None) -> argparse.ArgumentParser:
    """Return the arguments that all of them have."""
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=says)
    parser.add_argument("--rounds", type=int, default=rounds, help="of the interleaved run")
    parser.add_argument("--out", type=Path, help="the Markdown file; without it, standard output")
    return parser


def write_table(lines: Iterable[str], out: Path | None) -> None:
    """Write lines to a file, or print them where none is named."""
    text = "\n".join(lines)
    if out is None:
        print(text)
    else:
        out.write_text(text.rstrip("\n") + "\n")
