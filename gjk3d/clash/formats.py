"""A report as files for other programs and for readers: tables and text, GLB, and BCF.

`Report.to_json` writes JSON, and `page` the page. `gjk3d.cli.clash` maps file endings and ``--format`` to formats.
"""

from gjk3d.clash.report.bcf import read_bcf, to_bcf
from gjk3d.clash.report.glb import to_glb
from gjk3d.clash.report.text import LineWriter, json_schema, to_csv, to_jsonl, to_junit, to_markdown

__all__ = ["LineWriter", "json_schema", "read_bcf", "to_bcf", "to_csv", "to_glb", "to_jsonl", "to_junit", "to_markdown"]
