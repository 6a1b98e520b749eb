"""The public names of `gjk3d.clash`. `__init__.py` reads this list, and type checkers do."""

from . import formats as formats
from . import page as page
from . import serving as serving
from .detection.assembly import Assembly as Assembly
from .detection.clashes import Clash as Clash
from .detection.findings import Rule as Rule
from .detection.findings import read_rules as read_rules
from .detection.parts import AssemblyPart as AssemblyPart
from .detection.run import check as check
from .disassembly import Order as Order
from .disassembly import Removal as Removal
from .disassembly import order as order
from .motion.envelope import swept as swept
from .motion.files import read_motion as read_motion
from .motion.files import read_poses as read_poses
from .motion.joints import Coupling as Coupling
from .motion.joints import Joint as Joint
from .motion.movement import Movement as Movement
from .report.report import Input as Input
from .report.report import PartRow as PartRow
from .report.report import Report as Report
from .triage import Triage as Triage
from .triage import read_triage as read_triage
