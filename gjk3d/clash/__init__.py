"""Which parts of an assembly clash, touch or come too close, by how much, and where.

Here are assemblies and units, the run (boxes, hulls, triangles), what is ignored or known from before, the report and
its forms (formats, page). Distance and depth of two meshes are in `bodies`, pictures in `viz`, `gjk3d clash` in `cli`.
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
