"""Results and drawings as one HTML page, which opens offline in any browser and is written without OpenGL."""

from __future__ import annotations

import html
import os
from collections.abc import Mapping, Sequence
from copy import copy
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from gjk3d import webpage
from gjk3d.query.distance import distance
from gjk3d.query.wording import headline, unit_of, verdict
from gjk3d.results import Distance, Status
from gjk3d.typing import Array, Ints
from gjk3d.viz.colors import hex_rgb
from gjk3d.viz.drawing import DOTS, FIELD, LINES, MARK, MODEL, PART, Drawing, Item, Style
from gjk3d.viz.kinds.answers import draw_distance
from gjk3d.viz.layout import camera_of, kind, models_of, ready
from gjk3d.viz.triangles import shade
from gjk3d.webpage import color_chip, color_key, to_base64, to_json
from gjk3d.wording import above, below, format_bounds, format_depth, format_vector, number, widened, with_unit

ROOM = "gjk3d.viz"  #: package with the templates of the pages
FILES = ("picture.html", "picture.css", "picture.js")
_SLIDE = (
    '<label id="label-slide"><input type="range" id="slide" min="0" max="1" step="0.025" value="0">'
    " <span>{}</span></label>"
)
#: Number of steps of the slider.
_POSITIONS = 40
#: Number of digits that distinguish a float from its neighbours, rounded up or down.
_EVERY = 18
#: Number of triangles of the largest model that a page contains in addition to its hull.
MAX_TRIANGLES = 300_000


def write_html(
    path: str | os.PathLike[str],
    result: Distance,
    *,
    names: tuple[str, str] = ("A", "B"),
    notes: tuple[str, ...] = (),
    unit: str | None = None,
    surfaces: tuple[Any, Any] | None = None,
) -> Path:
    """Write a result as one self-contained page, with the bodies in 3D and all numbers in a table, and return its path.

    The page does not use the network, and its content security policy forbids it. The 3D code (three.js) comes from the
    installed trimesh.

    Parameters
    ----------
    path : path
        The file to write.
    result : Distance
        Result of one pair, for example a row of a stack.
    names : (str, str)
        Names of A and B.
    notes : tuple of str
        Sentences above the table, for example that hulls were compared.
    unit : str, optional
        Unit of length.
    surfaces : (mesh, mesh), optional
        The models whose hulls were compared, each None or with ``vertices`` and ``faces`` in the frame of its hull.
        They are drawn inside their hulls.

    Returns
    -------
    Path
        The written file.

    Raises
    ------
    TypeError
        ``result`` is not a result of one pair.

    Examples
    --------
    >>> import gjk3d as gk, pathlib, tempfile
    >>> result = gk.distance(gk.Box((1, 1, 1)), gk.Point((2, 0, 0)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = gk.viz.write_html(pathlib.Path(folder) / "a.html", result, unit="mm")
    ...     "Apart by 1.5 mm" in page.read_text()
    True
    """
    drawing = draw_distance(result, Style(), surfaces=surfaces, unit=unit)
    return write_result(path, result, drawing, names=names, notes=notes, unit=unit, surfaces=surfaces)


def write_result(
    path: str | os.PathLike[str], result: Distance, drawing: Drawing, *, names: Sequence[str] | None = None,
    notes: tuple[str, ...] = (), unit: str | None = None, surfaces: tuple[Any, Any] | None = None,
) -> Path:  # fmt: skip
    """Write the page of a result and of its drawing, and return its path. See `write_html`."""
    names = tuple(pair or letter for pair, letter in zip_longest(names or (), "AB"))
    bodies = models_of(result, surfaces)
    sizes = {k: len(body.faces) for k, body in enumerate(bodies) if body is not None}
    large = {k: size for k, size in sizes.items() if size > MAX_TRIANGLES}
    more = [
        f"Only the hull of {'AB'[k]} is drawn, because the model has {count} triangles." for k, count in large.items()
    ]
    if large:
        drawing = copy(drawing)
        drawing.items = [item for item in drawing.items if not (_is_model(item) and len(item.faces) > MAX_TRIANGLES)]
    drawn = len(sizes) > len(large)
    unit = unit or unit_of(result)
    colors = [drawing.keys[k][1] for k in (0, 1)]
    scene = _pair_scene(drawing, result, colors[1])
    if result.distance != 0.0:
        positions = (_moved(result, k / _POSITIONS) for k in range(_POSITIONS + 1))
        scene["readings"] = [[headline(x, unit), x.status.name.lower(), _rows(x, unit)] for x in positions]
    out = "just touches" if result.tight else "is free"
    slide = "move B until it touches A" if result.distance > 0.0 else f"move B out until it {out}"
    who = []
    for k, name, shape in zip("AB", names, (result.shape_a, result.shape_b), strict=True):
        shape_name = name if name != k else getattr(shape, "name", None) or _shape(shape)
        who.append(f"{color_chip(colors['AB'.index(k)])} <b>{k}</b> {html.escape(shape_name)}")
    rows = "\n".join(f"<tr><th>{name}</th><td>{html.escape(value)}</td></tr>" for name, value in _rows(result, unit))
    layers = [("A", colors[0]), ("B", colors[1])]
    legend = [color_key(*key) for key in drawing.keys[2:]]  # A and B are in the heading
    if drawn:
        layers += [("hulls", "hulls"), ("models", "models")]
        legend.append("opaque: the models. Transparent: their convex hulls, which were compared")
    box = '<label id="label-{0}"><input type="checkbox" checked value="{1}"> {0}</label>'
    answer = (
        '<section id="answer" aria-label="answer">\n'
        f'<h1 class="{result.status.name.lower()}">{html.escape(headline(result, unit))}</h1>'
        + f'\n<p id="between">{"<br>".join(who)}</p>\n'
        + "\n".join(f'<p class="note">{html.escape(note)}</p>' for note in (*notes, *more))
        + f'\n<table>\n{rows}\n</table>\n<p id="legend">{"<br>".join(legend)}</p>\n</section>'
    )
    title, keys = f"{names[0]} and {names[1]}: {verdict(result, unit)}", [*layers, ("points, arrows", "marks")]
    tools = _SLIDE.format(html.escape(slide)) if result.distance != 0.0 else ""
    return write_viewer(path, title, scene, [box.format(*layer) for layer in keys], tools=tools, aside=answer)


def write_viewer(
    path: str | os.PathLike[str], title: str, scene: Any, keys: list[str], *, words: list[str] | None = None,
    tools: str = "", aside: str = "", help: str = "", more: tuple[str, ...] = (),
) -> Path:  # fmt: skip
    """Write the page of an interactive picture with captions above and legend and tools below, and return its path.

    ``keys``, ``tools`` and ``aside`` are HTML. ``more`` are further styles and scripts.
    """
    lines = [f"<p>{html.escape(line)}</p>" for line in words or ()]
    over = "" if words is None else f'<h1>{html.escape(title)}</h1>{"".join(lines)}<p id="state"></p>'
    markup = {"words": over, "keys": "\n".join(keys), "tools": tools, "aside": aside, "scene": to_json(scene)}
    return webpage.write_page(path, ROOM, (*FILES, *more), text={"title": title, "help": help}, markup=markup)


def _moved(result: Distance, share: float) -> Distance:
    """Return the result after B moved along the normal by a share of the translation to touch or to separate.

    The distance and its bounds grow by the length of this translation, since no translation changes a distance by more
    than its length. The witness points move with the bodies. If the bounds are wide, the bodies may be apart before the
    end, so they are queried again.
    """
    by = -share * float(result.distance)
    if share == 0.0:
        return result
    moved = copy(result)
    moved.distance, moved.point_b = result.distance + by, result.point_b + by * result.normal
    moved.lower, moved.upper = (_outward(bound, by, way) for bound, way in ((result.lower, -1), (result.upper, 1)))
    if not result.tight:
        pose = np.eye(4) if result.pose_b is None else np.array(result.pose_b, dtype=np.float64)
        pose[:3, 3] += by * result.normal
        queried = distance(result.shape_a, result.shape_b, result.pose_a, pose)
        if queried.status != Status.OVERLAPPING:
            return queried
        moved.upper = min(moved.upper, 0.0)
    elif share == 1.0:
        moved.status = Status.TOUCHING
    return moved


def _outward(bound: float, by: float, way: int) -> float:
    """Return the sum of a bound and a length, rounded down or up unless it is exactly 0."""
    total = float(bound) + by
    return float(np.nextafter(total, way * np.inf)) if total else 0.0


def _rows(result: Distance, unit: str | None) -> list[tuple[str, str]]:
    more = ", where the search stopped" if result.upper == np.inf else ""
    low, high = widened(float(result.lower), float(result.upper))
    measured = ("Distance", format_bounds(low, high, 9, unit) + more)
    if low < 0.0:
        measured = ("Signed distance", f"{format_bounds(low, high, 9, unit)}, negative in overlap")
    if result.status == Status.OVERLAPPING and result.depth > 0.0:
        measured = ("Depth", format_depth(low, high, 9, unit))
        low, high = max(-high, 0.0), -low
    rows = [
        ("Status", result.status.name.lower()),
        measured,
        ("Proven at least", below(low, _EVERY) if np.isfinite(low) else "not bounded"),
        ("Proven at most", above(high, _EVERY) if np.isfinite(high) else "not bounded"),
    ]
    if not result.tight:
        rows.append(("", "a wider interval than usual, which contains the true value"))
    if result.depth > 0.0:
        long = -result.lower if np.isfinite(result.lower) else result.depth  # a length that is proven to separate them
        sure = number(long, 9) == number(-result.upper, 9) or not np.isfinite(result.lower)
        text = with_unit(number(long, 9) if sure else above(long, 9), unit)
        rows.append(("To separate", f"move B by {format_vector(long * result.normal, 9)}, {text} long"))
    elif result.distance > 0.0 and result.status != Status.BEYOND:
        rows.append(("To touch", f"move B by {format_vector(-result.distance * result.normal, 9)}"))
    rows += [
        ("Point on A", format_vector(result.point_a, 9)),
        ("Point on B", format_vector(result.point_b, 9)),
        ("Normal", f"{format_vector(result.normal, 9)}, from A to B"),
        ("Unit", unit or "not stated"),
        ("A is", _shape(result.shape_a)),
        ("B is", _shape(result.shape_b)),
    ]
    if result.iterations:  # a result of meshes has none of its own
        rows.append(("Steps", str(result.iterations)))
    return rows


def _shape(shape: Any) -> str:
    points = getattr(shape, "points", None)
    return f"{kind(shape)} of {len(points)} points" if points is not None else kind(shape)


def _is_model(item: Item) -> bool:
    """Return whether an item is the model of a hull."""
    return item.look == MODEL and not item.name


def _pair_scene(drawing: Drawing, result: Distance, color: str) -> dict[str, Any]:
    """Return the data of a drawing in which B, of this colour, can be moved, and kinds of items can be hidden."""
    scene, (center, size) = _scene_of(drawing, []), drawing.ball
    for entry, item in zip(scene["items"], drawing.items, strict=True):
        entry["moves"] = item.name in ("B", "point_b") or (_is_model(item) and item.color == color)
        entry["layer"] = "marks" if item.look == MARK else "models" if _is_model(item) else "hulls"
    ends = [((point - center) / size).tolist() for point in (result.point_a, result.point_b)]
    scene["apart"] = {"a": ends[0], "b": ends[1], "normal": result.normal.tolist()}
    scene["slide"] = (-float(result.distance) / size * result.normal).tolist() if result.distance else None
    return scene | {"table": True}


def mesh_data(vertices: Array, faces: Ints, copies: int = 1) -> dict[str, str]:
    """Return a shaded surface in the format of pages' scripts. Without faces the vertices are a point or a segment."""
    if not len(faces):
        return {"positions": to_base64(vertices, "<f4")}
    shaded = shade(vertices, faces, copies)
    return {
        "positions": to_base64(shaded.vertices, "<f4"),
        "indices": to_base64(shaded.faces, "<u2" if len(shaded.vertices) < 65536 else "<u4"),
        "edges": to_base64(shaded.edges, "<f4"),
    }


def camera_data(drawing: Drawing, points: Array) -> dict[str, Any]:
    """Return the camera of a page that shows these points, in units of the picture about its middle."""
    camera, (center, size) = camera_of(drawing), drawing.ball
    reach = float(np.linalg.norm(points - center, axis=1).max(initial=size)) / size
    return {
        "center": ((camera.center - center) / size).tolist(),
        "eye": ((camera.eye - center) / size).tolist(),
        "up": camera.up.tolist(),
        "angle": camera.angle,
        "reach": max(2.0, 1.2 * reach),
    }


#: Greatest number of triangles of a page. Further items are left out, and a caption states this.
MAX_DRAWN = 1_500_000


#: Greatest number of names in the list of a page.
_MOST_LISTED = 2000
_PICK = (
    '<label id="label-pick">object <select id="pick"><option value="">none</option>{}</select></label>'
    '<p id="fact" role="status"></p>'
)


def write_drawing(drawing: Drawing, path: Path, facts: Mapping[str, str] | None = None) -> Path:
    """Write a drawing as one self-contained page in which the items of a colour can be hidden, and return its path.

    ``facts`` are lines about named objects. The page shows the name and the line of the object under the mouse, or of
    the one that is selected in a list.
    """
    words = list(drawing.words or [", ".join(text for text, _ in drawing.keys) or "gjk3d"])
    scene = _scene_of(drawing, words)
    head, *lines = words
    box, shown = '<input type="checkbox" checked value="{}">', {item.color for item in drawing.items}
    keys = [
        color_key(text, color, box.format(html.escape(color)) if color in shown else "") for text, color in drawing.keys
    ]
    if facts is None:
        return write_viewer(path, head, scene, keys, words=lines)
    scene["facts"] = facts
    ranked = sorted(facts, key=lambda name: not facts[name])[:_MOST_LISTED]  # those with a line first
    options = "".join(f'<option value="{html.escape(name)}">{html.escape(name)}</option>' for name in ranked)
    return write_viewer(path, head, scene, keys, words=lines, tools=_PICK.format(options), more=("names.js",))


def _scene_of(drawing: Drawing, words: list[str]) -> dict[str, Any]:
    """Return the data of all items. Lengths are relative to the picture's middle and size, because they are float32."""
    center, size = drawing.ball
    items, left, out = [], MAX_DRAWN, 0
    for item in ready(drawing.items, center, size):
        if len(item.faces) > left:
            out += 1
            continue
        left -= len(item.faces)
        if len(item.vertices):
            items.append(item_data(item, center, size))
    if out:
        words.append(f"{out} of the bodies are left out, because a page has at most {MAX_DRAWN} triangles")
    return {
        "items": items,
        "labels": [{"point": ((x.point - center) / size).tolist(), "text": x.text} for x in drawing.labels],
        "keys": [color for _, color in drawing.keys],
        "sorted": drawing.sorted,
        "background": drawing.background and hex_rgb(drawing.background),
        **camera_data(drawing, np.concatenate([np.zeros((0, 3)), *(item.vertices for item in drawing.items)])),
    }


def item_data(item: Item, center: Array, size: float) -> dict[str, Any]:
    """Return an item in the format of the viewer of pages, with lengths relative to ``center`` and ``size``."""
    points = (item.vertices - center) / size
    entry = {name: getattr(item, name) for name in ("look", "name", "color", "opacity", "width", "framed")}
    entry["middle"] = points.mean(axis=0).tolist()
    if item.parts:
        entry["parts"] = item.parts
    if item.colors is not None:
        entry["colors"] = to_base64(item.colors, "u1")
    if item.look in (LINES, DOTS):
        return entry | {"positions": to_base64(points, "<f4")}
    if item.look == FIELD:
        kind = "<u2" if len(points) < 65536 else "<u4"
        return entry | {"positions": to_base64(points, "<f4"), "indices": to_base64(item.faces, kind)}
    entry |= mesh_data(points, item.faces, item.copies)
    if item.look in (MARK, PART):
        del entry["edges"]
    return entry
