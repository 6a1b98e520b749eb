"""The public names of `gjk3d.clash.formats`. `__init__.py` reads this list, and type checkers do."""

from .bcf import read_bcf as read_bcf
from .bcf import to_bcf as to_bcf
from .glb import to_glb as to_glb
from .text import LineWriter as LineWriter
from .text import json_schema as json_schema
from .text import to_csv as to_csv
from .text import to_jsonl as to_jsonl
from .text import to_junit as to_junit
from .text import to_markdown as to_markdown
