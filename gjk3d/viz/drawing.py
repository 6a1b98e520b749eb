"""The content of a picture as plain arrays, and its colors. Pages are made from it without OpenGL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from gjk3d.typing import Array, Ints
from gjk3d.viz import triangles
from gjk3d.viz.colors import INK, PALETTE

#: The look of an item: a solid with sharp edges and an outline, a solid of an opaque model without an outline, a marker
#: that shows through everything, a marker among the bodies, line segments (vertices are ends in pairs), or dots.
BODY, MODEL, MARK, PART, LINES, DOTS = "body", "model", "mark", "part", "lines", "dots"


@dataclass(frozen=True, slots=True)
class Style:
    """The options of a picture that apply to every kind of object."""

    pose: Any = None  #: a pose or a stack, for an object without a pose
    colors: tuple[str, ...] | None = None  #: None for the colours of the kind
    opacity: float | tuple[float, ...] | None = None  #: None for the opacity of the kind
    names: tuple[str, ...] | None = None

    def color(self, k: int, default: Sequence[str] = ()) -> str:
        """Return the colour of the k-th body: that of the caller, of its kind, or of the palette."""
        colors = self.colors or default or PALETTE
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
    copies: int = 1  #: number of equal bodies, one after another in vertices and faces
    slab: float | None = None  #: thickness of a half-space, which is given by points on it and above it

    def moved(self, pose: Array, **more: Any) -> Item:
        """Return the item at a pose, (4, 4) float, with some fields changed."""
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

    def body(self, vertices: Any, faces: Any, color: str, opacity: float = 1.0, *, key: str = "", **more: Any) -> None:
        """Add a solid and its legend entry. Without faces it is a point, or the segment of its ends."""
        corners = np.asarray(faces, dtype=np.int64).reshape(-1, 3)
        self.items.append(Item(np.asarray(vertices, dtype=np.float64), corners, color, opacity, **more))
        if key:
            self.key(key, color)

    def marks(self, solids: Any, color: str, **more: Any) -> None:
        """Add markers, each of vertices and faces. They show through everything unless ``look=PART``."""
        for vertices, faces in solids:
            self.body(vertices, faces, color, **{"look": MARK, **more})

    def balls(self, points: Any, radius: float, color: str, resolution: int = 40, **more: Any) -> None:
        """Add balls of one size at (k, 3) points as markers."""
        copies = np.size(points) // 3
        if copies:
            self.marks([triangles.ball(points, radius, resolution)], color, copies=copies, **more)

    def rods(self, starts: Any, ends: Any, radius: float, color: str, resolution: int = 32, **more: Any) -> None:
        """Add round bars from (k, 3) points to others as markers. Bars of length 0 are left out."""
        starts, ends = np.reshape(starts, (-1, 3)), np.reshape(ends, (-1, 3))
        long = (starts != ends).any(axis=1)
        if long.any():
            solid = triangles.rod(starts[long], ends[long], radius, resolution)
            self.marks([solid], color, copies=int(long.sum()), **more)

    def arrows(self, starts: Any, directions: Any, length: float, thickness: float, color: str, **more: Any) -> None:
        """Add arrows from (k, 3) points along unit vectors. The thickness is the radius of the shaft."""
        copies = np.size(starts) // 3
        if copies:
            self.marks(triangles.arrow(starts, directions, length, thickness), color, copies=copies, **more)

    def ends(self, a: Any, b: Any, size: float, colors: Sequence[str], bar: str | None = INK, **more: Any) -> None:
        """Add markers at two points, in darker shades of two colours, and a bar between them."""
        gap = float(np.linalg.norm(b - a))
        if bar is not None:
            self.rods(a, b, 0.005 * size, bar, **more)
        for point, color in zip((a, b), colors, strict=True):
            self.balls(point, min(0.022 * size, max(0.2 * gap, 0.012 * size)), darker(color), 24, **more)

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
        """Add a legend entry unless it is present."""
        if (text, color) not in self.keys:
            self.keys.append((text, color))

    def take(self, drawing: Drawing) -> None:
        """Add everything of another drawing except its view."""
        self.items += drawing.items
        self.words += drawing.words
        self.labels += drawing.labels
        self.up = drawing.up if self.up is None else self.up
        for text, color in drawing.keys:
            self.key(text, color)

    @property
    def framed(self) -> Array:
        """Points that the camera has to show."""
        return np.concatenate([np.zeros((0, 3)), *(item.vertices for item in self.items if item.framed)])

    @property
    def ball(self) -> tuple[Array, float]:
        """Middle and radius of the ball to look at."""
        return self.focus or ball_of(self.framed)


def ball_of(points: Array) -> tuple[Array, float]:
    """Return the middle of the box of points and the distance of the farthest, or a positive radius for a point."""
    if not len(points):
        return np.zeros(3), 1.0
    low, high = points.min(axis=0), points.max(axis=0)
    center = low + (high - low) / 2
    radius = float(np.linalg.norm(points - center, axis=1).max())
    return center, radius or max(1.0, float(np.abs(center).max())) * 1e-3


def darker(color: str, by: float = 0.5) -> str:
    """Return a darker shade of a colour ``#rrggbb``, or of a colour that pyvista knows by name."""
    if not (color.startswith("#") and len(color) == 7):
        import pyvista

        color = str(pyvista.Color(color).hex_rgb)
    return "#" + "".join(f"{round(by * int(color[k : k + 2], 16)):02X}" for k in (1, 3, 5))
