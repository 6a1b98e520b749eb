"""The common command line of the benchmarks that write a table."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path


def table_parser(module: str, description: str | None, rounds: int | None) -> argparse.ArgumentParser:
    """Return a parser with the common arguments."""
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=description)
    parser.add_argument("--rounds", type=int, default=rounds, help="of the interleaved run")
    parser.add_argument("--out", type=Path, help="the Markdown file; without it, standard output")
    return parser


def write_table(lines: Iterable[str], out: Path | None) -> None:
    """Write lines to a file, or print them if no file is given."""
    text = "\n".join(lines)
    if out is None:
        print(text)
    else:
        out.write_text(text.rstrip("\n") + "\n")
