"""The JSON Schema of a report, which lies beside this file."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any


def json_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12) that every document of `Report.to_json` fulfils."""
    text = files("gjk3d.clash.formats").joinpath("clash.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema
