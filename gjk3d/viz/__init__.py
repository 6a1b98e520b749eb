"""Pictures of results on screen, as image files without a screen, and as pages without OpenGL.

`kinds` makes a drawing of each kind of object. `paint` shows it with pyvista, `page` in a browser. `explanation` shows
the steps of GJK and EPA. This subpackage does not compute results. A name is loaded at its first use, and pyvista at
the first picture.
"""

import lazy_loader

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    if name not in __all__:
        from gjk3d.wording import missing_name

        raise missing_name(__name__, name, __all__)
    value = globals()[name] = _load(name)
    return value
