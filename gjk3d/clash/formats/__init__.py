"""A report as files for other programs and for readers, a file a family of formats.

JSON is in `report`, the page in `clash/page.py`; what ending and which ``--format`` write what is in `gjk3d.cli.clash`.
"""

from gjk3d.clash.formats.bcf import to_bcf
from gjk3d.clash.formats.bcf_reading import read_bcf
from gjk3d.clash.formats.glb import to_glb
from gjk3d.clash.formats.text import LineWriter, json_schema, to_csv, to_jsonl, to_junit, to_markdown

__all__ = ["LineWriter", "json_schema", "read_bcf", "to_bcf", "to_csv", "to_glb", "to_jsonl", "to_junit", "to_markdown"]
