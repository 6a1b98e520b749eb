"""The public names of `gjk3d.viz`. `__init__.py` reads this list, and type checkers do."""

from .explanation import explain as explain
from .explanation.lessons import lesson as lesson
from .image_files import check_rendering as check_rendering
from .motions import motion as motion
from .page import write_html as write_html
from .picture import plot as plot
from .picture import plotter as plotter
from .picture import show as show
from .picture import to_pyvista as to_pyvista
from .windows import drag as drag
from .windows import sliders as sliders
