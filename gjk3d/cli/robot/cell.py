"""A robot and its surroundings, ready to be asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gjk3d.cli.arguments import UsageError
from gjk3d.cli.robot.options import Geometry, Model, Surroundings
from gjk3d.cli.robot.surroundings import read_scene

if TYPE_CHECKING:
    from gjk3d.robot import Checker

Pair = tuple[str, str]


class Cell:
    """A robot and its surroundings; pairs are named by object, not by its pieces.

    Parameters
    ----------
    urdf : Path
    model, around : Model, Surroundings
        What the command line says of both.
    workers : int
        Threads.
    scene_geometry : str
        What a mesh of the surroundings becomes, unless ``around`` says so.
    """

    def __init__(
        self, urdf: Path, model: Model, around: Surroundings, workers: int = 1, scene_geometry: Geometry = "mesh"
    ) -> None:
        from gjk3d.robot import Checker

        self.urdf, self.model, self.around, self.workers = urdf, model, around, workers
        touching, self.margin = around.pairs(), around.gap()
        self.robot = robot = model.read(urdf)
        self.things = read_scene(around, around.scene_geometry or scene_geometry, model.package_dir, robot.links)
        self.owner: dict[str, str] = {}
        pieces: dict[str, Any] = {}
        for thing in self.things:
            for k, piece in enumerate(thing.pieces):
                name = thing.name if len(thing.pieces) == 1 else f"{thing.name}\n{k}"  # no file has such a name
                self.owner[name] = thing.name
                pieces[name] = piece
        shaped = {each.link for each in robot.geometries}
        still = [robot.links[k] for k in sorted(shaped) if robot.rigid[k] == robot.rigid[0]]
        #: links and objects neither of which moves: no configuration changes what is between them
        self.still = [(link, thing.name) for link in still for thing in self.things]
        self.touching = self._known(touching)
        may = {*self.still, *self.touching}
        allowed = [(link, name) for name, owner in self.owner.items() for link in robot.links if (link, owner) in may]
        self.checker = Checker(robot, pieces, touching=allowed, margin=self.margin)

    def _known(self, touching: Sequence[Pair]) -> list[Pair]:
        objects = [thing.name for thing in self.things]
        for link, name in touching:
            if link not in self.robot.links:
                raise UsageError(f"--touching {link}:{name}: there is no link {link!r}; links are "
                                 + ", ".join(self.robot.links))  # fmt: skip
            if name not in objects:
                known = f"objects are {', '.join(objects)}" if objects else "--scene names files with objects"
                raise UsageError(f"--touching {link}:{name}: there is no object {name!r}; {known}")
        return list(touching)

    def pair_count(self) -> tuple[int, int]:
        """Return how many pairs of links are checked, and how many of a link with an object."""
        shaped = {each.link for each in self.robot.geometries}
        return len(self.robot.pairs), len(shaped) * len(self.things) - len({*self.still, *self.touching})

    def name(self, pair: Pair | None) -> Pair | None:
        """Name the object where a pair has one of its pieces."""
        return None if pair is None else (pair[0], self.owner.get(pair[1], pair[1]))

    def pictured(self) -> Checker:
        """Return a checker that has each object as one, to be drawn."""
        from gjk3d.robot import Checker
        from gjk3d.solids import Compound

        around = {
            each.name: each.pieces[0] if len(each.pieces) == 1 else (Compound(each.pieces), None)
            for each in self.things
        }
        return Checker(self.robot, around, touching={*self.still, *self.touching}, margin=self.margin)
