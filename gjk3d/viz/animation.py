"""Motions of robots as GIF: everything is put into the picture once, and then only moved and coloured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gjk3d.viz import robots
from gjk3d.viz.bodies import add
from gjk3d.viz.drawing import COLORS, LINES, MODEL, Drawing, Item, Style, darker
from gjk3d.viz.rendering import check_rendering

if TYPE_CHECKING:
    from gjk3d.viz.motions import Travel


_SIZE = (800, 600)
_HOLD = 1.5  #: seconds that the last picture stays
_COLORS = 96  #: of the palette, which is the same in all pictures


class Stage:
    """A plotter with the robot and its surroundings, to be set to one picture of a motion after another."""

    def __init__(self, there: Travel, title: str, size: tuple[int, int] = _SIZE) -> None:
        from gjk3d.viz.paint import add_items, aim, camera_of
        from gjk3d.viz.picture import new_plotter

        check_rendering()
        self.there, self.title = there, title
        self.plotter = new_plotter(off_screen=True, size=size)
        self.plotter.set_background("white")  # a gradient would take most of the palette
        whole = frame(there)
        checker, camera = there.checker, camera_of(whole)
        self.size = whole.ball[1]
        #: by name: the actors of its faces and of its edges, and the colour while it is free
        self.actors: dict[str, tuple[list[Any], str]] = {}
        for item in whole.items:
            if item.name in checker.objects:
                self.actors[item.name] = add_items(self.plotter, [item], camera.eye), robots.THINGS
        self.links: list[tuple[int, list[Any]]] = []
        for k, (vertices, faces) in enumerate(robots.link_surfaces(checker.robot)):
            if len(vertices):
                item = Item(vertices, faces, robots.LINKS[k % 2], look=MODEL, outline=False)
                actors = add_items(self.plotter, [item], None)
                self.links.append((k, actors))
                self.actors[checker.robot.links[k]] = actors, item.color
        for name, link in checker.attached.items():
            one = Drawing()
            add(one, checker.shape(name), checker.pose(name), COLORS[1], 1.0, outline=False, name=name)
            actors = [actor for item in one.items for actor in add_items(self.plotter, [item], None)]
            self.links.append((checker.robot.link_number(link), actors))
            self.actors[name] = actors, COLORS[1]
        self.marks: list[Any] = []
        aim(self.plotter, camera)

    def set(self, k: int) -> None:
        """Move everything to where it is in the k-th picture."""
        from gjk3d.viz.paint import add_items, add_words

        there, state = self.there, self.there.states[k]
        for number, actors in self.links:
            for actor in actors:
                actor.user_matrix = there.poses[k, number]
        for name, (actors, color) in self.actors.items():
            now = robots.HIT if name in state.hit else color
            for n, actor in enumerate(actors):
                actor.prop.color = now if n == 0 else darker(now)
        for actor in self.marks:
            self.plotter.remove_actor(actor, render=False)
        over = Drawing(focus=(np.zeros(3), self.size))
        robots.add_state(over, state, labels=False)
        if k:
            color = robots.HIT if state.pairs else COLORS[1]
            over.lines(np.stack([there.trace[:k], there.trace[1 : k + 1]], axis=1), color, width=5.0)
        self.marks = add_items(self.plotter, over.items, None)
        where = f"edge {there.edge[k]}, from waypoint {there.edge[k]} to {there.edge[k] + 1} of {there.edges}"
        words = [self.title, where, robots.words_for(state)]
        add_words(self.plotter, Drawing(words=words))

    def image(self, k: int) -> NDArray[np.uint8]:
        """Draw the k-th picture."""
        self.set(k)
        self.plotter.reset_camera_clipping_range()
        self.plotter.render()
        return np.asarray(self.plotter.screenshot(None, return_img=True))

    def close(self) -> None:
        """Give the window back."""
        self.plotter.close()


def frame(there: Travel) -> Drawing:
    """Return a drawing of all that has to be in the picture, wherever the robot goes."""
    drawing = robots.draw(there.checker, Style(), q=there.q, labels=False)
    drawing.items = [item for item in drawing.items if item.look != LINES]
    return drawing


def write_gif(file: Path, there: Travel, title: str, fps: float) -> Path:
    """Write a motion as a GIF that plays again and again."""
    from PIL import Image

    stage = Stage(there, title)
    try:
        pictures = [Image.fromarray(stage.image(k)) for k in range(len(there.q))]
    finally:
        stage.close()
    # one palette for all, of the first, the middle and the last beside each other: no flicker, and every state is in it
    some = [pictures[0], pictures[len(pictures) // 2], pictures[-1]]
    beside = Image.new("RGB", (len(some) * some[0].width, some[0].height))
    for k, each in enumerate(some):
        beside.paste(each, (k * each.width, 0))
    palette = Image.new("P", (1, 1))
    own = [int(color[k : k + 2], 16) for color in (COLORS[1], robots.HIT) for k in (1, 3, 5)]  # of thin lines
    palette.putpalette([*(beside.quantize(_COLORS).getpalette() or [])[: 3 * _COLORS], *own])
    frames = [each.quantize(palette=palette, dither=Image.Dither.NONE) for each in pictures]
    times = [max(20, round(1000.0 / fps))] * (len(frames) - 1) + [round(1000.0 * _HOLD)]
    frames[0].save(file, save_all=True, append_images=frames[1:], duration=times, loop=0, optimize=False)
    return file
