"""An answer as a picture: both shapes, the points that prove it, and what to do about it."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gjk3d.errors import FileError, RenderingUnavailableError
from gjk3d.results import Distance
from gjk3d.shapes import surfaces
from gjk3d.viz.convert import polydata
from gjk3d.viz.layout import Body, Layout, kind, lay_out, models_of, proof, verdict
from gjk3d.viz.rendering import check_rendering, has_display
from gjk3d.viz.shading import Shaded, shade

if TYPE_CHECKING:
    import pyvista

Array = NDArray[np.float64]

#: Orange and bluish green of Okabe and Ito, which all kinds of colour vision tell apart; so do the three below.
COLORS = ("#E69F00", "#009E73")
_NORMAL, _SEPARATION, _INK = "#0072B2", "#D55E00", "#202124"
_SIZE = (1000, 750)
_IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff")
_PAGES = (".html", ".htm")


def show(
    result: Distance,
    *,
    plotter: pyvista.Plotter | None = None,
    colors: tuple[str, str] = COLORS,
    opacity: float | tuple[float, float] = 0.5,
    path: str | os.PathLike[str] | None = None,
    off_screen: bool | None = None,
    title: str | None = None,
    names: tuple[str, str] | None = None,
    surfaces: tuple[Any, Any] | None = None,
) -> pyvista.Plotter | Path:
    """Show an answer: both shapes, the witness points, the normal, and the way out of an overlap.

    A is orange and B green. The blue arrow is the normal, from A to B; the orange one, in overlap, is the shortest
    move of B that makes the two just touch.

    Parameters
    ----------
    result : Distance
        Answer of one pair; of a stack take a row.
    plotter : pyvista.Plotter, optional
        Draw into this one, with no window opened, and return it.
    colors : (str, str)
        Colours of A and B.
    opacity : float or (float, float)
        Of A and B.
    path : path, optional
        Draw into this image file, or write this .html page (which needs no OpenGL), instead of opening a window.
    off_screen : bool, optional
        True: return an off-screen plotter, ready for ``screenshot()``. By default a window opens; where there is no
        display, a picture goes to ``path``, else to gjk3d.png in the current folder, and stderr says where.
    title : str, optional
        A line above the answer.
    names : (str, str), optional
        What A and B are called; their kinds of shape by default.
    surfaces : (mesh, mesh), optional
        The models whose hulls were compared, each a Mesh or None: they are drawn inside their hulls.

    Returns
    -------
    pyvista.Plotter or Path
        The path where a file was written, else the plotter.

    Raises
    ------
    RenderingUnavailableError
        There is no OpenGL library to draw with; the message says what to install.
    FileError
        The folder of ``path`` is not there.
    """
    layout = lay_out(result)
    target = None if path is None else Path(path)
    if target is not None and not target.parent.is_dir():
        raise FileError(f"{target}: there is no folder {target.parent}; make it first")
    if target is not None and target.suffix.lower() in _PAGES:
        from gjk3d.viz.page import write_html

        notes = (title,) if title else ()
        return write_html(target, result, names=names or ("A", "B"), notes=notes, surfaces=surfaces)
    if target is not None and target.suffix.lower() not in _IMAGES:
        raise ValueError(
            f"{target} has the unknown extension {target.suffix!r}: {' '.join(_IMAGES + _PAGES)} are written"
        )
    opacities = (opacity, opacity) if isinstance(opacity, (int, float)) else opacity
    words = [*([title] if title else []), verdict(result).capitalize(), proof(result)]
    kinds = names or (kind(result.shape_a), kind(result.shape_b))

    def draw(on: pyvista.Plotter) -> None:
        _add_bodies(on, result, layout, models_of(result, surfaces), colors, opacities)
        _add_witness(on, result, layout, colors)
        _add_text(on, words, kinds, result.depth > 0.0, colors)
        _aim(on, layout)

    if plotter is not None:
        draw(plotter)
        return plotter if target is None else _save(plotter, target)
    check_rendering()
    import pyvista

    windowless = target is not None or off_screen is True or (off_screen is None and not has_display())
    fresh = pyvista.Plotter(off_screen=windowless, window_size=list(_SIZE), lighting="none")
    _prepare(fresh, layout)
    draw(fresh)
    if target is not None:
        return _closing(fresh, target)
    if off_screen is True:
        return fresh
    if windowless:
        saved = _closing(fresh, _free_name())
        sys.stderr.write(f"gjk3d: no display, so the picture is in {saved}\n")
        return saved
    fresh.show()
    return fresh


def _prepare(plotter: pyvista.Plotter, layout: Layout) -> None:
    """Set background, soft lights that follow the camera, and smooth translucent edges."""
    import pyvista

    plotter.set_background("white", top="#E8EDF2")
    for azimuth, elevation, intensity in ((-35.0, 45.0, 0.8), (60.0, 10.0, 0.4), (0.0, -50.0, 0.25)):
        light = pyvista.Light(light_type="camera light", intensity=intensity)
        a, e = np.radians(azimuth), np.radians(elevation)
        light.position = (np.sin(a) * np.cos(e), np.sin(e), np.cos(a) * np.cos(e))
        light.focal_point = (0.0, 0.0, 0.0)
        plotter.add_light(light)
    plotter.enable_anti_aliasing("ssaa")


def _aim(plotter: pyvista.Plotter, layout: Layout) -> None:
    camera = plotter.camera
    camera.view_angle = layout.angle
    camera.focal_point = tuple(layout.center)
    camera.position = tuple(layout.eye)
    camera.up = tuple(layout.up)
    plotter.reset_camera_clipping_range()


def _add_bodies(
    plotter: pyvista.Plotter,
    result: Distance,
    layout: Layout,
    models: list[Body | None],
    colors: tuple[str, str],
    opacities: tuple[float, float],
) -> None:
    # from far to near: the plane between the two, across the normal, has the farther one behind it
    between = (result.point_a + result.point_b) / 2
    order = (0, 1) if float(result.normal @ (layout.eye - between)) >= 0.0 else (1, 0)
    for i in order:
        body, model, color, opacity = layout.bodies[i], models[i], colors[i], opacities[i]
        if model is not None:
            _add_model(plotter, model, color)
        # a half-space, and a hull round its model, are glass
        _add_body(
            plotter, body, color, opacity * (0.6 if body.plate else 0.4 if model is not None else 1.0), layout.radius
        )


def _add_model(plotter: pyvista.Plotter, model: Body, color: str) -> None:
    shaded = shade(model.vertices, model.faces)
    look = {"reset_camera": False, "render": False, "pickable": False}
    light = {"ambient": 0.34, "diffuse": 0.78, "specular": 0.2, "specular_power": 25.0}
    plotter.add_mesh(_with_normals(shaded), color=color, **light, **look).prop.interpolation = "Phong"
    if len(shaded.edges):
        plotter.add_mesh(_wires(shaded), color=_darker(color), line_width=1.2, **look)


def _add_body(plotter: pyvista.Plotter, body: Body, color: str, opacity: float, size: float) -> None:
    look = {"color": color, "reset_camera": False, "render": False, "pickable": False}
    if not len(body.faces):  # a point or a segment: as thick as can be seen
        first, last = body.vertices[0], body.vertices[-1]
        thin = _ball(first, 0.018 * size) if len(body.vertices) == 1 else _rod(first, last, 0.012 * size)
        plotter.add_mesh(thin, **look)
        return
    shaded = shade(body.vertices, body.faces)
    mesh = _with_normals(shaded)
    # The far side first and the near side over it: a convex body then blends in the right order. VTK's depth peeling,
    # made for this, draws torn triangles or nothing with Mesa's software drivers.
    for hidden, ambient, diffuse in (("front", 0.6, 0.45), ("back", 0.34, 0.78)):
        light = {"ambient": ambient, "diffuse": diffuse, "specular": 0.2, "specular_power": 25.0}
        actor = plotter.add_mesh(mesh, opacity=opacity, culling=hidden, **light, **look)
        actor.prop.interpolation = "Phong"
    if len(shaded.edges):
        plotter.add_mesh(_wires(shaded), line_width=1.6, **(look | {"color": _darker(color)}))
    if not body.plate:
        plotter.add_silhouette(polydata(*_closed(shaded)), color=_darker(color), line_width=1.8)


def _wires(shaded: Shaded) -> pyvista.PolyData:
    import pyvista

    corners = shaded.edges.reshape(-1, 3)
    lines = np.column_stack([np.full(len(corners) // 2, 2), np.arange(len(corners)).reshape(-1, 2)])
    return pyvista.PolyData(corners, lines=lines.ravel())


def _closed(shaded: Any) -> tuple[Array, Any]:
    """Return the mesh joined again at its sharp edges, as outlines need it."""
    from gjk3d.meshes.mesh import merged_places

    places = merged_places(shaded.vertices)
    points = np.empty((places.max() + 1, 3))
    points[places] = shaded.vertices
    return points, places[shaded.faces]


def _darker(color: str) -> tuple[float, float, float]:
    import pyvista

    r, g, b = pyvista.Color(color).float_rgb
    return 0.5 * r, 0.5 * g, 0.5 * b


def _add_witness(plotter: pyvista.Plotter, result: Distance, layout: Layout, colors: tuple[str, str]) -> None:
    size = layout.radius
    a, b, n = result.point_a, result.point_b, result.normal
    gap = float(np.linalg.norm(b - a))
    solids: list[tuple[pyvista.PolyData, Any]] = []
    if result.distance > 0.0 and gap > 0.0:
        solids.append((_rod(a, b, 0.005 * size), _INK))
    start = a if result.distance <= 0.0 or gap < 0.6 * size else (a + b) / 2 - 0.17 * size * n
    solids += [(solid, _NORMAL) for solid in _arrow(start, n, 0.34 * size, 0.009 * size)]
    if result.depth > 0.0:
        thickness = min(0.014 * size, 0.2 * result.depth)
        solids += [(solid, _SEPARATION) for solid in _arrow(b, n, result.depth, thickness)]
    radius = min(0.022 * size, max(0.2 * gap, 0.012 * size))
    solids += [(_ball(point, radius), _darker(color)) for point, color in ((a, colors[0]), (b, colors[1]))]
    for solid, color in solids:
        actor = plotter.add_mesh(solid, color=color, culling="back", reset_camera=False, render=False, pickable=False)
        # painted after the bodies and as if before all of them, so that it shows through glass and models alike
        actor.ForceTranslucentOn()
        actor.mapper.SetResolveCoincidentTopologyToPolygonOffset()
        actor.mapper.SetRelativeCoincidentTopologyPolygonOffsetParameters(0.0, -66000.0)


# pyvista's own solids lose their place at 1e-9 and at 1e6: they are float32, and skip translations that look small.


def _ball(center: Array, radius: float) -> pyvista.PolyData:
    vertices, faces = surfaces.sphere(1.0, 40)
    return _with_normals(shade(center + radius * vertices, faces))


def _rod(start: Array, end: Array, radius: float) -> pyvista.PolyData:
    return _turned(surfaces.cylinder(1.0, 1.0, 32), start, end, radius)


def _arrow(start: Array, direction: Array, length: float, thickness: float) -> list[pyvista.PolyData]:
    end = start + length * direction
    neck = end - min(6.0 * thickness, 0.5 * length) * direction
    return [_rod(start, neck, thickness), _turned(surfaces.cone(1.0, 1.0, 40), neck, end, 2.3 * thickness)]


def _turned(surface: surfaces.Surface, start: Array, end: Array, radius: float) -> pyvista.PolyData:
    """Stretch a solid of revolution of height 1 and radius 1 from one point to another."""
    length = float(np.linalg.norm(end - start)) or 1.0
    axis = (end - start) / length
    side = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    side /= np.linalg.norm(side)
    axes = np.array([radius * side, radius * np.cross(axis, side), end - start])
    return _with_normals(shade((start + end) / 2 + surface.vertices @ axes, surface.faces))


def _with_normals(shaded: Shaded) -> pyvista.PolyData:
    mesh = polydata(shaded.vertices, shaded.faces)
    mesh.point_data["Normals"] = shaded.normals
    mesh.point_data.active_normals_name = "Normals"
    return mesh


def _add_text(
    plotter: pyvista.Plotter, lines: list[str], names: tuple[str, str], deep: bool, colors: tuple[str, str]
) -> None:
    # in parts of the window, so that it fits the panels of a divided plotter too
    for row, line in enumerate(lines):
        place = (0.014, 0.955 - 0.037 * row)
        plotter.add_text(
            line, position=place, viewport=True, font_size=13 - min(row, 1), color=_INK, name=f"gjk3d line {row}"
        )
    keys = [(f"A  {names[0]}", _darker(colors[0])), (f"B  {names[1]}", _darker(colors[1])), ("normal, A to B", _NORMAL)]
    if deep:
        keys.append(("shortest way out, for B", _SEPARATION))
    for row, (text, color) in enumerate(reversed(keys)):
        place = (0.014, 0.016 + 0.035 * row)
        plotter.add_text(text, position=place, viewport=True, font_size=11, color=color, name=f"gjk3d key {row}")


def _free_name() -> Path:
    """Return a name for a picture nobody named, in this folder if it can be written to."""
    if os.access(".", os.W_OK):
        return Path("gjk3d.png")
    return Path(tempfile.mkdtemp(prefix="gjk3d-")) / "gjk3d.png"


def _closing(plotter: pyvista.Plotter, target: Path) -> Path:
    try:
        return _save(plotter, target)
    finally:
        plotter.close()


def _save(plotter: pyvista.Plotter, target: Path) -> Path:
    plotter.render()  # screenshot() alone would give the frame of before the camera moved
    image = np.asarray(plotter.screenshot(None, return_img=True))
    if float(image.std()) < 1.0:
        raise RenderingUnavailableError(f"{target} would be blank: the OpenGL driver draws nothing (try xvfb-run)")
    from PIL import Image

    Image.fromarray(image).save(target)
    return target
