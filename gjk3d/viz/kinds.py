"""Which module draws what: one line a kind.

The key is where the class is defined, so that nothing is imported before something of the kind is drawn. The module has
a function ``draw(x, style, **options) -> Drawing``; subclasses are drawn as their base where they have no line.
"""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from typing import Any

from gjk3d.viz.drawing import Drawing, Style

KINDS = {
    "gjk3d.results.Distance": "distances",
    "gjk3d.shapes.base.Shape": "bodies",
    "gjk3d.bodies.mesh.Mesh": "bodies",
    "gjk3d.bodies.unions.Solid": "bodies",
    "gjk3d.shapes.surfaces.Surface": "bodies",
    "gjk3d.robot.model.Robot": "robots",
    "gjk3d.robot.checker.Checker": "robots",
    "gjk3d.viz.motions.Travel": "motions",
    "pyvista.core.pointset.PolyData": "bodies",
    "trimesh.base.Trimesh": "bodies",
    "numpy.ndarray": "frames",
    "scipy.spatial.transform._rigid_transform.RigidTransform": "frames",
    "gjk3d.query.contact.Contact": "patches",
    "gjk3d.query.motion.Impact": "impacts",
    "gjk3d.query.raycast.RayHit": "casts",
    "gjk3d.results.Axis": "answers",
    "gjk3d.query.gradient.Gradient": "answers",
    "gjk3d.query.volume.Volume": "volumes",
    "gjk3d.scene.scene.Scene": "scenes",
    "gjk3d.scene.results.Clearance": "found",
    "gjk3d.scene.results.ScenePairs": "found",
    "gjk3d.clash.assembly.Assembly": "assemblies",
    "gjk3d.clash.report.Report": "clashes",
    "builtins.list": "many",
    "builtins.tuple": "many",
}

#: What to draw instead of what has no picture by itself.
_CURES = {
    "gjk3d.clash.report.Clash": "draw its report, and say which finding: viz.show(report, clash=k), or clash=found.id",
    "gjk3d.query.motion.Motion": "draw what moves at some of its poses: viz.show(shape, pose=motion.at(times))",
    "trimesh.points.PointCloud": "draw gjk3d.PointCloud(cloud.vertices, radius)",
    "trimesh.scene.scene.Scene": "draw each mesh of scene.dump(), or load its file with gjk3d.clash.Assembly.load",
}


def module_of(x: Any) -> Any:
    """Return the module that draws a thing.

    Raises
    ------
    TypeError
        None does.
    """
    for cls in type(x).__mro__:
        home = KINDS.get(f"{cls.__module__}.{cls.__qualname__}")
        if home is not None:
            return import_module(f"gjk3d.viz.{home}")
        cure = _CURES.get(f"{cls.__module__}.{cls.__qualname__}")
        if cure is not None:
            raise TypeError(f"a {type(x).__name__} cannot be drawn by itself: {cure}")
    known = ", ".join(sorted({name.rpartition(".")[2] for name in KINDS if name.startswith("gjk3d.")}))
    raise TypeError(f"{type(x).__name__} cannot be drawn; these can: {known}, poses, and lists of them")


def is_solid(x: Any) -> bool:
    """Return whether a thing is a single body with a surface."""
    return module_of(x) is import_module("gjk3d.viz.bodies")


def drawing_of(x: Any, style: Style | None = None, **options: Any) -> Drawing:
    """Return the drawing of a thing, by the module of its kind.

    Raises
    ------
    TypeError
        It is of no kind that can be drawn, or its kind has no such option.
    """
    draw = module_of(x).draw
    known = list(signature(draw).parameters)[2:]
    for name in options:
        if name not in known:
            has = f"it has {', '.join(known)}" if known else "it has none of its own"
            raise TypeError(f"the picture of a {type(x).__name__} has no option {name!r}: {has}")
    drawing = draw(x, style or Style(), **options)
    assert isinstance(drawing, Drawing)
    return drawing
