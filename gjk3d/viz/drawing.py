"""The content of a picture as plain arrays and colours. Pages are made from this content without OpenGL."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from gjk3d.typing import Array, Ints
from gjk3d.viz import triangles
from gjk3d.viz.colors import COLORS, INK, PALETTE, hex_rgb

#: The look of an item: a solid with sharp edges and an outline, a solid of an opaque model without an outline, a marker
#: that shows through everything, a marker among the bodies, line segments (vertices are ends in pairs), dots, or a
#: surface with a colour at each vertex.
BODY, MODEL, MARK, PART, LINES, DOTS, FIELD = "body", "model", "mark", "part", "lines", "dots", "field"


#: The background of a picture without a background.
TRANSPARENT = "transparent"


@dataclass(frozen=True, slots=True)
class Style:
    """The options of a picture that apply to every kind of object."""

    pose: Any = None  #: a pose or a stack, for an object without a pose
    colors: tuple[str, ...] | None = None  #: None for the colours of the kind
    opacity: float | tuple[float, ...] | None = None  #: None for the opacity of the kind
    names: tuple[str, ...] | None = None
    palette: tuple[str, ...] = PALETTE  #: colours of bodies in turn, first those that the plotter does not contain yet

    def color(self, k: int, default: Sequence[str] = ()) -> str:
        """Return the colour of the k-th body from ``colors``, or else from ``default``, or else from the palette."""
        colors = self.colors or (default if default != COLORS else ()) or self.palette
        return colors[k % len(colors)]

    def alpha(self, k: int, default: float) -> float:
        """Return the opacity of the k-th body."""
        every = np.atleast_1d(default if self.opacity is None else self.opacity)
        return float(every[k % len(every)])

    def name(self, k: int, default: str) -> str:
        """Return the name of the k-th body."""
        return self.names[k] if self.names is not None and k < len(self.names) else default


@dataclass(frozen=True, slots=True)
class Item:
    """A body, marker, set of lines or set of dots in a drawing."""

    vertices: Array
    faces: Ints
    color: str
    opacity: float = 1.0
    look: str = BODY
    width: float = 1.6  #: width of lines and dots, in pixels
    framed: bool = True  #: whether the camera has to show it
    outline: bool = False  #: whether a body has an outline
    even: bool = False  #: whether a transparent body is lit evenly and without edges
    name: str = ""
    parts: tuple[tuple[str, int], ...] = ()  #: names and numbers of faces of joined bodies
    copies: int = 1  #: number of equal bodies, one after another in vertices and faces
    colors: Array | None = None  #: colours of the vertices, (n, 3) uint8
    slab: float | None = None  #: thickness of a half-space, which is given by points on it and above it

    def moved(self, pose: Array, **more: Any) -> Item:
        """Return the item at a pose, (4, 4) float, with the fields in ``more`` changed."""
        return replace(self, vertices=self.vertices @ pose[:3, :3].T + pose[:3, 3], **more)


class Label(NamedTuple):
    """A text at a point."""

    point: Array
    text: str
    color: str = INK
    free: Array | Sequence[Array] = ()  #: points that it should not hide


ANGLE = 30.0  #: vertical angle of view, in degrees


class Camera(NamedTuple):
    """The position and direction of the camera."""

    center: Array
    eye: Array
    up: Array
    angle: float = ANGLE


class Steps(NamedTuple):
    """Several drawings that are shown one at a time. The keys n and p show the next and the previous one."""

    total: int
    at: int
    make: Callable[[int], Drawing]


@dataclass
class Drawing:
    """Items, captions, legend, labels and the view of a picture."""

    items: list[Item] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    keys: list[tuple[str, str]] = field(default_factory=list)  #: text and colour of each legend entry
    labels: list[Label] = field(default_factory=list)
    view: Array | None = None  #: direction from the middle to the eye
    up: Array | None = None  #: direction that is up in the picture, None for z
    focus: tuple[Array, float] | None = None  #: ball to look at, None for everything
    camera: Camera | None = None  #: exact camera, None to derive it from the view
    steps: Steps | None = None
    sorted: bool = False  #: whether transparent bodies are sorted from far to near
    headline: str = ""  #: the caption of a result of a pair
    aimed: bool = False  #: whether the caller chose the ball to look at
    background: str | None = None  #: colour, "transparent", or None for the usual background
    ink: str = INK  #: colour of captions

    def body(self, vertices: Any, faces: Any, color: str, opacity: float = 1.0, *, key: str = "", **more: Any) -> None:
        """Add a solid and its legend entry. Without faces the vertices are a point, or the ends of a segment."""
        corners = np.asarray(faces, dtype=np.int64).reshape(-1, 3)
        self.items.append(Item(np.asarray(vertices, dtype=np.float64), corners, color, opacity, **more))
        if key:
            self.key(key, color)

    def marks(self, solids: Any, color: str, **more: Any) -> None:
        """Add markers, each a pair of vertices and faces. Markers are drawn over all bodies unless ``look=PART``."""
        for vertices, faces in solids:
            self.body(vertices, faces, color, **{"look": MARK, **more})

    def balls(self, points: Any, radius: float, color: str, resolution: int = 40, **more: Any) -> None:
        """Add balls of one size at (k, 3) points as markers."""
        copies = np.size(points) // 3
        if copies:
            self.marks([triangles.ball(points, radius, resolution)], color, copies=copies, **more)

    def rods(self, starts: Any, ends: Any, radius: float, color: str, resolution: int = 32, **more: Any) -> None:
        """Add round bars as markers, from (k, 3) points to (k, 3) points. Bars of length 0 are left out."""
        starts, ends = np.reshape(starts, (-1, 3)), np.reshape(ends, (-1, 3))
        long = (starts != ends).any(axis=1)
        if long.any():
            solid = triangles.rod(starts[long], ends[long], radius, resolution)
            self.marks([solid], color, copies=int(long.sum()), **more)

    def arrows(self, starts: Any, directions: Any, length: float, thickness: float, color: str, **more: Any) -> None:
        """Add arrows from (k, 3) points along unit vectors. The thickness is the radius of the shaft."""
        copies, name = np.size(starts) // 3, more.pop("name", "")
        if copies:
            shaft, head = triangles.arrow(starts, directions, length, thickness)
            self.marks([shaft], color, copies=copies, name=name, **more)
            self.marks([head], color, copies=copies, name=name and f"{name} head", **more)

    def ends(
        self, a: Any, b: Any, size: float, colors: Sequence[str], bar: str | None = INK,
        names: Sequence[str] = ("point_a", "point_b", "gap"), **more: Any,
    ) -> None:  # fmt: skip
        """Add markers at two points, in darker shades of two colours, and a bar between them."""
        gap = float(np.linalg.norm(b - a))
        if bar is not None:
            self.rods(a, b, 0.005 * size, bar, name=names[2], **more)
        for point, color, name in zip((a, b), colors, names[:2], strict=True):
            self.balls(point, min(0.022 * size, max(0.2 * gap, 0.012 * size)), darker(color), 24, name=name, **more)

    def lines(self, ends: Any, color: str, **more: Any) -> None:
        """Add line segments, (k, 2, 3) float."""
        if np.size(ends):
            self.body(np.reshape(ends, (-1, 3)), (), color, look=LINES, **more)

    def dots(self, points: Any, color: str, **more: Any) -> None:
        """Add points drawn as dots, (n, 3) float."""
        self.body(np.reshape(points, (-1, 3)), (), color, look=DOTS, **more)

    def label(self, point: Array, text: str, color: str = INK, free: Array | Sequence[Array] = ()) -> None:
        """Add a text next to a visible point."""
        self.labels.append(Label(point, text, color, free))

    def key(self, text: str, color: str) -> None:
        """Add a text and its colour to the legend, unless the legend has this entry."""
        if (text, color) not in self.keys:
            self.keys.append((text, color))

    def take(self, drawing: Drawing) -> None:
        """Add the content of another drawing except for its view."""
        self.items += drawing.items
        self.words += drawing.words
        self.labels += drawing.labels
        self.up = drawing.up if self.up is None else self.up
        for text, color in drawing.keys:
            self.key(text, color)

    def join(self, drawing: Drawing) -> None:
        """Add another drawing of the same panel. The camera then shows both, and its pairs get the next letters."""
        if self.items:
            for each in (self, drawing):
                if not each.keys and each.words and each.items:
                    each.key(each.words[0], each.items[-1].color)
            _name_pairs(self, drawing)
        first = not self.items
        self.take(drawing)
        if first or drawing.aimed:
            self.focus, self.camera = drawing.focus, drawing.camera
        elif not self.aimed:
            self.focus = self.camera = None
        self.aimed |= drawing.aimed
        self.view = self.view if drawing.view is None else drawing.view
        self.up = self.up if drawing.up is None else drawing.up
        self.steps, self.headline = drawing.steps, self.headline or drawing.headline

    def recolor(self, old: str, new: str) -> None:
        """Replace a colour of items, legend and text."""
        self.items = [replace(item, color=new) if item.color == old else item for item in self.items]
        self.keys = [(text, new if color == old else color) for text, color in self.keys]
        self.labels = [label._replace(color=new) if label.color == old else label for label in self.labels]
        self.ink = new if self.ink == old else self.ink

    @property
    def framed(self) -> Array:
        """Points that the camera has to show."""
        return np.concatenate([np.zeros((0, 3)), *(item.vertices for item in self.items if item.framed)])

    @property
    def ball(self) -> tuple[Array, float]:
        """Middle and radius of the ball to look at."""
        return self.focus or ball_of(self.framed)


_PAIR = re.compile("^[A-Z](?=  )")  #: the letter of a body in the legend of a pair


def _name_pairs(drawn: Drawing, drawing: Drawing) -> None:
    """Rename A and B in ``drawing`` to the next letters, so that the second pair in a panel is C and D."""
    letters = [text[0] for text, _ in drawn.keys if _PAIR.match(text)]
    if not drawing.headline or len(letters) < 2 or len(letters) > 24:
        return
    if drawn.headline in drawn.words:
        at = drawn.words.index(drawn.headline)
        drawn.words[at] = f"A and B: {drawn.headline[:1].lower()}{drawn.headline[1:]}"
    pair = dict(zip("AB", (chr(65 + len(letters)), chr(66 + len(letters))), strict=True))
    at = drawing.words.index(drawing.headline)
    drawing.words[at] = f"{pair['A']} and {pair['B']}: {drawing.headline[:1].lower()}{drawing.headline[1:]}"

    def renamed(text: str) -> str:
        if _PAIR.match(text):
            return pair[text[0]] + text[1:]
        return re.sub(r"\b[AB]\b", lambda found: pair[found[0]], text)

    drawing.keys = [(renamed(text), color) for text, color in drawing.keys]


def ball_of(points: Array) -> tuple[Array, float]:
    """Return the centre and radius of a ball around points, with the centre of their box. The radius is above 0."""
    if not len(points):
        return np.zeros(3), 1.0
    low, high = points.min(axis=0), points.max(axis=0)
    center = low + (high - low) / 2
    radius = float(np.linalg.norm(points - center, axis=1).max())
    return center, radius or max(1.0, float(np.abs(center).max())) * 1e-3


def darker(color: str, by: float = 0.5) -> str:
    """Return a darker shade of a colour ``#rrggbb``, or of a colour that pyvista knows by name."""
    color = hex_rgb(color)
    return "#" + "".join(f"{round(by * int(color[k : k + 2], 16)):02X}" for k in (1, 3, 5))
