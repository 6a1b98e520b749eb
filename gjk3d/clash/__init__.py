"""Detection of parts of an assembly that clash, touch or come too close, with depths and places.

`detection` computes the findings: assemblies, close pairs, tolerances, decisions by hulls and triangles, rules, and the
run. `motion` adds moving parts. `report` has the report, its comparison with an earlier one, and the text of its
numbers. `formats` writes and reads files, `page` and `templates` make the HTML page, and `serving` is its server.
`triage` has the decisions of people about findings, and `documents` reads JSON by the types of fields. The distance and
the depth of two meshes are in `bodies`, pictures in `viz`, and the command ``gjk3d clash`` is in `cli`.
"""

from gjk3d.clash import formats, page, serving
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
from gjk3d.clash.triage import Triage, read_triage

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
