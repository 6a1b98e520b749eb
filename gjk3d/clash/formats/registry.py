"""The formats of a report: their names, their file endings, and the function that writes a report in a format.

The command line imports this file at its start. `write` therefore imports the writers at the first call.
"""

from __future__ import annotations

import io
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TextIO

if TYPE_CHECKING:
    from gjk3d.clash.report.report import Report

Format = Literal["json", "jsonl", "csv", "md", "junit", "glb"]
#: The format of each file ending.
ENDINGS = {"json": "json", "jsonl": "jsonl", "csv": "csv", "md": "md", "xml": "junit", "glb": "glb"}
BINARY = ("glb",)  #: the formats that are written only to files


def write(
    report: Report, form: str, target: Path | TextIO, *, top: int, fatal: Collection[str], only_new: bool
) -> None:
    """Write a finished report in the `Format` ``form`` to a file, or to a stream if the format is text.

    A Markdown table has at most ``top`` rows. ``fatal`` and ``only_new`` select the failures of JUnit, see `to_junit`.
    ``gjk3d clash`` does not write JSON lines here. It uses `LineWriter`, which writes each finding during the check.
    """
    from gjk3d.clash import formats

    if form == "glb":
        assert isinstance(target, Path)
        formats.to_glb(report, target)
        return
    if form == "json":
        text = report.to_json() + "\n"
    elif form == "jsonl":
        stream = io.StringIO()
        formats.to_jsonl(report, stream)
        text = stream.getvalue()
    elif form == "csv":
        text = report.to_csv()
    elif form == "junit":
        text = formats.to_junit(report, fatal, only_new)
    else:
        text = formats.to_markdown(report, top)
    if isinstance(target, Path):
        target.write_text(text, encoding="utf-8", newline="")
    else:
        target.write(text)
