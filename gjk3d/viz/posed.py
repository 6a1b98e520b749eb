"""Bodies that keep their form and move, each drawn once: in a film, under the mouse, and by sliders."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gjk3d.typing import Array
from gjk3d.viz.drawing import INK, SEPARATION, Drawing, Item, darker
from gjk3d.viz.layout import camera_of, ready
from gjk3d.viz.paint import add_items, aim, panel_of
from gjk3d.viz.words import add_words

if TYPE_CHECKING:
    import pyvista


class Mover(NamedTuple):
    """A body that keeps its form."""

    name: str
    color: str  #: while it is free
    items: list[Item]  #: in its own frame
    poses: Array | None = None  #: (frames, 4, 4); None: it stays, or nobody knows yet where it goes


class Posed:
    """A plotter with bodies to be moved and coloured, and the signs and words of the moment.

    Attributes
    ----------
    plotter : pyvista.Plotter
    panel : (int, int)
        Where in it they are.
    movers : sequence of Mover
    actors : list of list of pyvista.Actor
        Of each of these.
    """

    def __init__(self, plotter: pyvista.Plotter, whole: Drawing, movers: Sequence[Mover]) -> None:
        self.plotter, self.movers = plotter, movers
        self._ball, camera = whole.ball, camera_of(whole)
        items = [ready(mover.items, *self._ball) for mover in movers]
        self.actors = [[a for item in each for a in add_items(plotter, [item], camera.eye)] for each in items]
        self._edges = [
            [actor.prop.color != mover.color for actor in actors]
            for mover, actors in zip(movers, self.actors, strict=True)
        ]
        self._signs: list[Any] = []
        self.panel = panel_of(plotter)
        aim(plotter, camera)

    def signs(self, *words: str) -> Drawing:
        """Return a drawing as large as all of them, for what is known of a moment."""
        return Drawing(words=list(words), focus=self._ball)

    def set(
        self, poses: Iterable[Array | None], signs: Drawing, hit: Collection[str] = (), alarm: bool = False
    ) -> None:
        """Move the first bodies to their poses, None being where they are, and make those of some names vermilion.

        So is the first line of the words then, or in alarm.
        """
        for actors, pose in zip(self.actors, poses, strict=False):
            for actor in actors if pose is not None else ():
                actor.user_matrix = pose
        for mover, actors, edges in zip(self.movers, self.actors, self._edges, strict=True):
            now = SEPARATION if mover.name in hit else mover.color
            for actor, edge in zip(actors, edges, strict=True):
                actor.prop.color = darker(now) if edge else now
        self.plotter.subplot(*self.panel)
        for actor in self._signs:
            self.plotter.renderer.remove_actor(actor, reset_camera=False, render=False)
        self._signs = add_items(self.plotter, signs.items, None)
        add_words(self.plotter, signs, SEPARATION if hit or alarm else INK)
