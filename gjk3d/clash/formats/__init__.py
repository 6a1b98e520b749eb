"""A report as files for other programs and for readers; JSON is what `Report.to_json` writes."""

from gjk3d.clash.formats.bcf import to_bcf
from gjk3d.clash.formats.jsonl import LineWriter, json_schema, to_jsonl
from gjk3d.clash.formats.junit import to_junit
from gjk3d.clash.formats.marked import to_glb
from gjk3d.clash.formats.tables import to_csv, to_markdown

__all__ = ["LineWriter", "json_schema", "to_bcf", "to_csv", "to_glb", "to_jsonl", "to_junit", "to_markdown"]
