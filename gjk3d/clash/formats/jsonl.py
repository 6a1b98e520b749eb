"""JSON lines, a line a finding, written when it is found; and the JSON Schema of a report."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, TextIO

from gjk3d.clash.report import Clash, Report


def json_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12) that every document of `Report.to_json` fulfils."""
    text = files("gjk3d.clash.formats").joinpath("clash.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


class LineWriter:
    """Writes findings as they come, and at the end what is true of all.

    Each line is a JSON object whose ``record`` says what it is: "clash" or, once and last, "report". A file without
    that last line was cut off. Ranks and groups are not known before the end, and not written.

    Parameters
    ----------
    stream : text file
        Where to write to.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def clash(self, clash: Clash) -> None:
        """Write one finding."""
        values = clash.to_dict()
        del values["severity"], values["group"]
        self._line({"record": "clash", **values})

    def close(self, report: Report) -> None:
        """Write what the baseline says is gone, and the last line."""
        for clash in report.clashes:
            if clash.status == "resolved":
                self.clash(clash)
        document = report.to_dict()
        del document["clashes"], document["groups"], document["left_out"]  # every finding has its line
        self._line({"record": "report", **document})

    def _line(self, values: dict[str, Any]) -> None:
        self.stream.write(json.dumps(values, allow_nan=False, ensure_ascii=True) + "\n")
        self.stream.flush()


def to_jsonl(report: Report, stream: TextIO) -> None:
    """Write a finished report as JSON lines; the schema version is that of the JSON document."""
    writer = LineWriter(stream)
    for clash in report.clashes:
        if clash.status != "resolved":
            writer.clash(clash)
    writer.close(report)
