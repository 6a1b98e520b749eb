"""File formats of a report: tables, text, GLB and BCF.

`Report.to_json` writes JSON, and `page` writes the HTML page. `gjk3d.cli.clash` selects the format of a file.
"""

from gjk3d.clash.formats.bcf import read_bcf, to_bcf
from gjk3d.clash.formats.glb import to_glb
from gjk3d.clash.formats.text import LineWriter, json_schema, to_csv, to_jsonl, to_junit, to_markdown

__all__ = ["LineWriter", "json_schema", "read_bcf", "to_bcf", "to_csv", "to_glb", "to_jsonl", "to_junit", "to_markdown"]
