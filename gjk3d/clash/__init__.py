"""Which parts of an assembly clash, touch or come too close, by how much, and where."""

from gjk3d.clash import formats, page
from gjk3d.clash.assembly import Assembly, AssemblyPart
from gjk3d.clash.check import check
from gjk3d.clash.report import Clash, Input, PartRow, Report
from gjk3d.clash.rules import Rule, read_rules

__all__ = [
    "Assembly",
    "AssemblyPart",
    "Clash",
    "Input",
    "PartRow",
    "Report",
    "Rule",
    "check",
    "formats",
    "page",
    "read_rules",
]
