"""Pictures of answers: on screen, as files where there is no screen, and as pages that need neither.

kinds/ makes a drawing of each kind of thing; paint.py gives it to pyvista, page.py to a browser; explanation/ shows the
steps of GJK and EPA. Nothing is computed here. Importing this loads nothing; pyvista comes with the first picture.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

_HOME = {
    "check_rendering": "rendering",
    "drag": "windows",
    "explain": "explanation",
    "motion": "motions",
    "plot": "picture",
    "plotter": "picture",
    "show": "picture",
    "sliders": "windows",
    "to_pyvista": "picture",
    "write_html": "page",
}

if TYPE_CHECKING:
    from gjk3d.viz.explanation import explain as explain
    from gjk3d.viz.motions import motion as motion
    from gjk3d.viz.page import write_html as write_html
    from gjk3d.viz.picture import plot as plot
    from gjk3d.viz.picture import plotter as plotter
    from gjk3d.viz.picture import show as show
    from gjk3d.viz.picture import to_pyvista as to_pyvista
    from gjk3d.viz.rendering import check_rendering as check_rendering
    from gjk3d.viz.windows import drag as drag
    from gjk3d.viz.windows import sliders as sliders

else:  # hidden from type checkers, to which it would make every name right
    __all__ = list(_HOME)

    def __getattr__(name: str) -> object:
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted(__all__)
