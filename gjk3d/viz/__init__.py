"""Pictures of results on screen, as image files without a screen, and as pages without OpenGL.

`kinds` makes a drawing of each kind of object. `paint` shows a drawing with pyvista, and `page` in a browser.
`explanation` shows the steps of GJK and EPA. This subpackage does not compute results. A name is imported at its first
use, and pyvista at the first picture.
"""

from gjk3d.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
