"""Whether pictures can be drawn here, asked in a child process: a missing OpenGL library kills the interpreter."""

from __future__ import annotations

import functools
import os
import subprocess
import sys

from gjk3d.errors import RenderingUnavailableError

_VARIABLE = "VTK_DEFAULT_OPENGL_WINDOW"
_EGL, _OSMESA = "vtkEGLRenderWindow", "vtkOSOpenGLRenderWindow"
_ON_SCREEN = ("vtkXOpenGLRenderWindow", "vtkWin32OpenGLRenderWindow", "vtkCocoaRenderWindow")
_SECONDS = 120.0
_CURE = (
    "no OpenGL library can draw here. On Debian and Ubuntu: "
    "apt-get install -y --no-install-recommends libegl1 libgl1-mesa-dri (no display needed)"
)

# draws one red frame, and says which kind of window it was drawn in
_PROBE = """
import vtkmodules.vtkRenderingOpenGL2
from vtkmodules.vtkCommonCore import vtkUnsignedCharArray
from vtkmodules.vtkRenderingCore import vtkRenderer, vtkRenderWindow
window, renderer, pixels = vtkRenderWindow(), vtkRenderer(), vtkUnsignedCharArray()
window.SetOffScreenRendering(1)
window.SetSize(8, 8)
renderer.SetBackground(1, 0, 0)
window.AddRenderer(renderer)
window.Render()
window.GetPixelData(0, 0, 7, 7, 1, pixels, 0)
print("drawn in", window.GetClassName() if pixels.GetTuple3(9) == (255.0, 0.0, 0.0) else "nothing", flush=True)
"""


def check_rendering() -> str:
    """Make sure that pictures can be drawn, and say in which kind of window.

    The first call probes in a child process (about half a second); later ones know. Where there is no display, VTK is
    told to draw without one, by the environment variable VTK_DEFAULT_OPENGL_WINDOW unless that is set already.

    Returns
    -------
    str
        VTK's name of the window, for example ``vtkEGLRenderWindow``.

    Raises
    ------
    RenderingUnavailableError
        No OpenGL library works; the message says what to install.
    ImportError
        pyvista, which draws, is not installed or does not load.

    Examples
    --------
    >>> import gjk3d as gk
    >>> gk.viz.check_rendering().startswith("vtk")
    True
    """
    window = _probed()
    if window in (_EGL, _OSMESA):
        os.environ.setdefault(_VARIABLE, window)  # spares VTK the search, its warnings, and a crash without libX11
    try:
        import pyvista  # noqa: F401 - where it is missing, the probe failed for that and not for OpenGL
    except ImportError as reason:
        raise ImportError(f"pictures need pyvista, which does not load: {reason}; pip install pyvista") from reason
    if window is None:
        raise RenderingUnavailableError(_CURE)
    return window


def has_display() -> bool:
    """Return whether a window can be opened for somebody to see."""
    return check_rendering() in _ON_SCREEN


@functools.cache
def _probed() -> str | None:
    """Return the first kind of window that draws, None where none does."""
    if os.environ.get(_VARIABLE) or not sys.platform.startswith("linux"):
        wishes = [os.environ.get(_VARIABLE)]
    elif os.environ.get("DISPLAY"):
        wishes = [None, _EGL, _OSMESA]
    else:
        wishes = [_EGL, _OSMESA]  # without libX11, VTK's own search crashes
    return next(filter(None, map(_draw, wishes)), None)


def _draw(wish: str | None) -> str | None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    environment |= {_VARIABLE: wish} if wish else {}
    try:
        call, none = [sys.executable, "-P", "-c", _PROBE], subprocess.DEVNULL
        child = subprocess.run(call, env=environment, stdin=none, capture_output=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    name = child.stdout.decode(errors="replace").rpartition("drawn in ")[2].strip()
    return name if child.returncode == 0 and name.startswith("vtk") else None
