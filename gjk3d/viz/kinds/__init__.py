"""The table of functions that draw each kind of object, and the functions for lists and for results of scenes.

Other files draw bodies, results of pairs (also impacts and rays), scenes and clash reports, and robots. All functions
return a `Drawing`, which needs neither pyvista nor a page.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np
from scipy.spatial.transform import RigidTransform

from gjk3d.bodies.base import Body
from gjk3d.bodies.compound import PointCloud
from gjk3d.bodies.mesh import as_mesh
from gjk3d.clash.detection.assembly import Assembly
from gjk3d.clash.detection.clashes import Clash
from gjk3d.clash.report import Report
from gjk3d.convex.checks import line_for
from gjk3d.query.contact import Contact
from gjk3d.query.distance import PointDistances
from gjk3d.query.gradient import Gradient
from gjk3d.query.raycast import RayHit
from gjk3d.query.time_of_impact import Impact, Motion
from gjk3d.query.volumes import Volume
from gjk3d.results import Axis, Distance
from gjk3d.robot import Checker, Robot, RobotClearance, RobotCollision
from gjk3d.robot.occupancy import SweptVolume
from gjk3d.scene import Scene
from gjk3d.scene.query import Clearance, ScenePairs
from gjk3d.shapes.base import Shape
from gjk3d.shapes.halfspace import Halfspace
from gjk3d.shapes.measure import Surface
from gjk3d.viz.colors import GREY, NORMAL, PALETTE, SEPARATION
from gjk3d.viz.drawing import Drawing, Style, ball_of, check_flag, ready
from gjk3d.viz.kinds.answers import draw_axis, draw_contact, draw_distance, draw_gradient, draw_impact, draw_rays
from gjk3d.viz.kinds.bodies import add, draw_body, draw_points, draw_poses, draw_swept, draw_volume, matrices, words_for
from gjk3d.viz.kinds.robots import Travel, draw_robot, draw_travel
from gjk3d.viz.kinds.scenes import draw_assembly, draw_report, draw_scene
from gjk3d.wording import expected_names, with_article

#: Greatest number of bodies whose names are in the legend. If there are more bodies, a caption has their number.
MOST_KEYS = 8
#: Colours of bounding volumes in turn, which differ from those of bodies.
_VOLUMES = (NORMAL, SEPARATION, *PALETTE[3:])
#: Greatest number of pairs of a scene that are drawn.
_MOST_PAIRS = 12


def draw_list(x: Any, style: Style) -> Drawing:
    """Draw a list of solids, of pairs of a solid and its pose, or of other objects.

    An inner list of solids has one colour, one opacity and one name.
    """
    entries = [entry if _is_pair(entry) else (entry, None) for entry in ([x] if _is_pair(x) else x)]
    if not entries:
        raise ValueError("the list of objects to draw is empty, expected at least one object")
    drawing = Drawing()
    named = len(entries) <= MOST_KEYS
    planes = volumes = 0
    for k, (thing, pose) in enumerate(entries):
        several, plane, alpha = type(thing) is list, isinstance(thing, Halfspace), style.alpha(k, 1.0)
        if not several and not is_solid(thing):
            colors = style.colors
            if isinstance(thing, Volume):
                colors, volumes = (style.color(volumes, _VOLUMES),), volumes + 1
            drawing.take(drawing_of(thing, Style(pose, colors, style.opacity)))
            continue
        color = style.color(k) if style.colors is not None else GREY if plane else style.color(k - planes)
        planes += plane
        stack: Any = [] if several else matrices(pose)
        for i, at in enumerate(stack):
            add(drawing, thing, at, color, alpha if plane or i == len(stack) - 1 else 0.3 * alpha)
        if several:
            drawing.items += draw_list(thing, Style(colors=(color,), opacity=alpha)).items
        if named:
            drawing.key(style.name(k, f"{len(thing)} bodies" if several else words_for(thing)), color)
    if not named:
        drawing.words.append(f"{len(entries)} bodies")
    return drawing


def draw_foreign(x: Any, style: Style) -> Drawing:
    """Draw a scene or points of trimesh, or a volume, blocks or points of pyvista."""
    if hasattr(x, "dump"):  # trimesh.Scene
        parts = [(str(part.metadata.get("name", "")), part) for part in x.dump()]
        return draw_list([part for _, part in parts], _with_names(style, parts))
    if hasattr(x, "combine"):  # pyvista.MultiBlock
        blocks = [entry for entry in x.recursive_iterator("items", skip_none=True) if entry[1].n_points]
        parts = [("" if re.fullmatch(r"Block-\d+", name) else name, block) for name, block in blocks]
        return draw_list([block for _, block in parts], _with_names(style, parts))
    points = x.vertices if hasattr(x, "vertices") else x.points
    lines = hasattr(x, "n_cells") and x.n_cells > getattr(x, "n_verts", 0)
    return draw_body(as_mesh(x) if lines else PointCloud(points, 0.0), style)


def _with_names(style: Style, parts: list[tuple[str, Any]]) -> Style:
    """Return the style with names for ``parts``, each a name and an object. Names in the style have priority."""
    return replace(style, names=style.names or tuple(name or words_for(part) for name, part in parts))


def _is_pair(entry: Any) -> bool:
    """Return whether an entry of a list is a pair of an object and its poses, and not a pair of objects."""
    if not (type(entry) is tuple and len(entry) == 2):
        return False
    pose = entry[1]
    return pose is None or hasattr(pose, "as_matrix") or (np.ndim(pose) in (2, 3) and np.shape(pose)[-2:] == (4, 4))


def draw_clearance(x: Clearance, style: Style) -> Drawing:
    """Draw a result of `Scene.clearance`."""
    if x.result is None or x.pair is None:
        return Drawing(words=["No pair within the limit"])
    return drawing_of(x.result, _named(style, x.pair))


def draw_pairs(x: ScenePairs[Any, Any], style: Style) -> Drawing:
    """Draw a result of `Scene.closest` or `Scene.contacts`."""
    if len(x) == 1:
        a, b, row = x[0]
        return drawing_of(row, _named(style, (a, b)))
    more = f", the first {_MOST_PAIRS} of them" if len(x) > _MOST_PAIRS else ""
    drawing = Drawing(words=[f"{len(x)} pairs{more}"])
    for k in range(min(len(x), _MOST_PAIRS)):
        a, b, row = x[k]
        pair_drawing = drawing_of(row, _named(style, (a, b)))
        drawing.items += pair_drawing.items
        drawing.keys = pair_drawing.keys[-1:]
        if k < 4:
            text = pair_drawing.words[0]
            drawing.words.append(f"{a} – {b or 'other'}: {text[:1].lower()}{text[1:]}")
    return drawing


def _named(style: Style, pair: tuple[str, str | None]) -> Style:
    return Style(style.pose, style.colors, style.opacity, style.names or (pair[0], pair[1] or "other"))


#: Drawing functions by class. A subclass is drawn like its nearest base class in this table.
KINDS: dict[type, Callable[..., Drawing]] = {
    Shape: draw_body,
    Body: draw_body,
    Surface: draw_body,
    np.ndarray: draw_poses,
    RigidTransform: draw_poses,
    Volume: draw_volume,
    Distance: draw_distance,
    Contact: draw_contact,
    Axis: draw_axis,
    Gradient: draw_gradient,
    Impact: draw_impact,
    RayHit: draw_rays,
    PointDistances: draw_points,
    SweptVolume: draw_swept,
    Scene: draw_scene,
    Clearance: draw_clearance,
    ScenePairs: draw_pairs,
    Assembly: draw_assembly,
    Report: draw_report,
    Robot: draw_robot,
    Checker: draw_robot,
    Travel: draw_travel,
    list: draw_list,
    tuple: draw_list,
}


def function_of(x: Any) -> Callable[..., Drawing]:
    """Return the function that draws an object. Raise TypeError for an object that cannot be drawn."""
    for cls in type(x).__mro__:
        if cls in KINDS and (cls is not tuple or type(x) is tuple):  # a NamedTuple is not a list
            return KINDS[cls]
    if hasattr(x, "regular_faces") or (hasattr(x, "vertices") and hasattr(x, "faces")):  # pyvista, trimesh
        return draw_body if len(getattr(x, "regular_faces", "+")) else draw_foreign
    if line_for(x):
        return draw_foreign
    cure = _cure(x)
    if cure:
        raise TypeError(f"{with_article(type(x).__name__)} cannot be drawn by itself. Draw {cure}")
    ours = {cls.__name__ for cls in KINDS if cls.__module__.startswith("gjk3d.")}
    ours -= {"Body", "Surface", "Travel", "Volume"}  # base classes and internal classes
    ours |= {"Mesh", "PointCloud", "VoxelGrid", "HeightField", "Shell", "Compound", "AABB", "OBB"}
    options = ", ".join([*sorted(ours), "poses"])
    raise TypeError(f"{with_article(type(x).__name__)} cannot be drawn, expected one of {options}, or a list of them")


def _cure(x: Any) -> str:
    cures = {
        Clash: "its report at this clash: viz.show(report, clash=k), or clash=finding.id",
        **dict.fromkeys((RobotClearance, RobotCollision), "the checker at its configuration: viz.show(checker, q=q)"),
        Motion: "the body at some poses of the motion: viz.show(shape, pose=motion.at(times))",
    }
    return next((cure for cls, cure in cures.items() if isinstance(x, cls)), "")


def is_solid(x: Any) -> bool:
    """Return whether an object is a single body with a surface."""
    return function_of(x) is draw_body


#: The drawing functions of results of two bodies.
_OF_PAIRS = (draw_distance, draw_contact, draw_axis, draw_gradient, draw_impact, draw_clearance, draw_pairs)


def bodies_in(x: Any) -> int | None:
    """Return how many bodies with a colour and a name the picture of an object has, or None if this varies."""
    if isinstance(x, (list, tuple)) and not hasattr(x, "_fields"):
        entries = [entry[0] if _is_pair(entry) else entry for entry in ([x] if _is_pair(x) else x)]
        solid = all(type(entry) is list or is_solid(entry) for entry in entries)
        return len(entries) if solid and entries else None
    draw = function_of(x)
    return 1 if draw is draw_body else 2 if draw in _OF_PAIRS else None


def drawing_of(x: Any, style: Style | None = None, **options: Any) -> Drawing:
    """Return the drawing of an object. Raise TypeError for an option that its kind does not have.

    For a bounding volume, rays or points, the object in the option ``of`` is drawn first, at the pose in the style.
    """
    draw = function_of(x)
    defaults = {name: parameter.default for name, parameter in list(signature(draw).parameters.items())[2:]}
    accepted = list(defaults)
    for name, value in options.items():
        if name not in defaults:
            cure = f", {expected_names(name, accepted)}" if accepted else ". Leave the option out"
            raise TypeError(f"the picture of {with_article(type(x).__name__)} does not have the option {name!r}{cure}")
        if isinstance(defaults[name], bool):
            check_flag(value, name)
    style = style or Style()
    if draw in (draw_volume, draw_rays, draw_points) and options.get("of") is not None:
        faint = 0.45 if style.opacity is None else style.opacity
        other_style = Style(style.pose) if draw is draw_volume else Style(style.pose, style.colors, faint)
        options["of"] = drawing_of(options["of"], other_style)
    drawing = draw(x, style, **options)
    planes = [item.vertices for item in drawing.items if item.slab is not None]
    if planes and not len(drawing.framed):  # only half-spaces, so the camera shows their slabs
        around = ball_of(np.concatenate(planes))
        drawing.items = [replace(item, framed=True) for item in ready(drawing.items, *around)]
    return drawing
