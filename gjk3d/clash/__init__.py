"""Detection of parts of an assembly that clash, touch or come too close, with depths and places.

`detection` computes the findings: assemblies, close pairs, decisions by hulls and triangles, rules, and the run.
`motion` adds moving parts. `report` holds the report, its comparison with an earlier one, and its file formats.
`decisions` holds the decisions of people about findings. The modules `formats`, `page` and `serving` are public. The
distance and the depth of two meshes are in `bodies`, pictures in `viz`, and the command ``gjk3d clash`` is in `cli`.
"""

from gjk3d.clash import formats, page, serving
from gjk3d.clash.decisions.triage import Triage, read_triage
from gjk3d.clash.detection.assembly import Assembly
from gjk3d.clash.detection.clashes import Clash
from gjk3d.clash.detection.parts import AssemblyPart
from gjk3d.clash.detection.rules import Rule, read_rules
from gjk3d.clash.detection.run import check
from gjk3d.clash.disassembly import Order, Removal, order
from gjk3d.clash.motion.envelope import swept
from gjk3d.clash.motion.files import read_motion, read_poses
from gjk3d.clash.motion.joints import Coupling, Joint
from gjk3d.clash.motion.movement import Movement
from gjk3d.clash.report.report import Input, PartRow, Report

__all__ = [
    "Assembly",
    "AssemblyPart",
    "Clash",
    "Coupling",
    "Input",
    "Joint",
    "Movement",
    "Order",
    "PartRow",
    "Removal",
    "Report",
    "Rule",
    "Triage",
    "check",
    "formats",
    "order",
    "page",
    "read_motion",
    "read_poses",
    "read_rules",
    "read_triage",
    "serving",
    "swept",
]


def __dir__() -> list[str]:
    return sorted(__all__)
