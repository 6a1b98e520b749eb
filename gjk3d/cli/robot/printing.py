"""How the commands of ``gjk3d robot`` print and draw: tables, documents, notes, pictures."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gjk3d.cli.models import sha256, versions
from gjk3d.cli.robot.configurations import columns
from gjk3d.cli.terminal import Table, console, note, safe
from gjk3d.wording import above, number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gjk3d.cli.robot.cell import Cell, Pair

SCHEMA_VERSION = 1
Document = dict[str, Any]
_RIGHT = ("#", "clearance m", "configurations", "bodies", "from", "to")
_NAMES = ("in collision", "closest", "outside its limits", "joint", "parent", "child", "link or object", "file", "pair")
_SPARE = ("outside its limits", "geometry", "type")


def document(cell: Cell, **found: Any) -> Document:
    """Return a document: the robot and its surroundings, what was found, and with which versions."""
    own, around = pair_counts(cell)
    robot, srdf = cell.robot, cell.model.srdf
    return {
        "schema_version": SCHEMA_VERSION,
        "command": "robot",
        "robot": {"name": robot.name, "path": str(cell.urdf), "sha256": sha256(cell.urdf), "joints": columns(robot)},
        "srdf": None if srdf is None else {"path": str(srdf), "sha256": sha256(srdf)},
        "scene": [{"path": str(path), "sha256": sha256(path)} for path in cell.around.scene],
        "objects": [{"name": each.name, "file": str(each.source), "geometry": each.way} for each in cell.things],
        "geometry": cell.model.geometry,
        "unit": "m",
        "margin": cell.margin,
        "pairs": {"of_links": own, "with_objects": around},
        **found,
        "versions": versions(),
    }


def pair_counts(cell: Cell) -> tuple[int, int]:
    """Return how many pairs of links are checked, and how many of a link with an object."""
    shaped = {each.link for each in cell.robot.geometries}
    return len(cell.robot.pairs), len(shaped) * len(cell.things) - len({*cell.still, *cell.touching})


def title(cell: Cell) -> str:
    """Return the first line of an answer."""
    things = f", {count(len(cell.things), 'object')} around it" if cell.things else ""
    margin = f", margin {number(cell.margin)} m" if cell.margin else ""
    numbers = count(cell.robot.dof, "joint number")
    return f"{safe(cell.robot.name)}: {numbers}, {sum(pair_counts(cell))} pairs{things}{margin}"


def pair_words(pair: Pair | None) -> str:
    """Return the two names of a pair."""
    return "-" if pair is None else f"{safe(pair[0])}, {safe(pair[1])}"


def count(many: int, one: str) -> str:
    """Return a number and what it counts."""
    return f"{many} {one}" if many == 1 else f"{many} {one}s"


def say(line: str) -> None:
    """Print a line."""
    from rich.text import Text

    console().print(Text(line))


def say_more(many: int, top: int) -> None:
    """Say what a table left out."""
    if many > top:
        say(f"... {many - top} more, --top {many} shows them")


def table(*titles: str) -> Table:
    """Return an empty table."""
    return Table(titles, _RIGHT, _NAMES, _SPARE)


def write_csv(rows: Iterable[Iterable[Any]]) -> None:
    """Print rows for programs."""
    csv.writer(sys.stdout, lineterminator="\n").writerows(rows)


def notes(cell: Cell, found: Iterable[str], hit: bool = False) -> None:
    """Say beside the answer what looks wrong, and what a hit is worth where hulls or parts stand for meshes."""
    for text in found:
        note(text)
    robot = cell.robot
    ways = {each.way for each in robot.geometries} | {way for thing in cell.things for way in thing.way.split(" and ")}
    if hit and ways & {"bodies", "hull"}:
        what = "the hulls of their connected bodies" if "bodies" in ways else "their hulls"
        note(f"meshes stand as {what}: free is free, a hit may be of a hull only (--geometry mesh tells)")
    if "parts" in ways:
        error = max((each.error for each in robot.geometries if each.error), default=0.0)
        note(f"meshes stand as convex parts, which are up to {above(error, 3)} m off: a graze may be missed")


def draw(cell: Cell, q: NDArray[np.float64], names: str, target: Path, quiet: bool) -> None:
    """Draw one configuration."""
    from gjk3d.viz import show

    show(cell.pictured(), q=q, path=target, names=names)
    wrote(target, quiet)


def wrote(target: Path, quiet: bool) -> None:
    """Say what was written."""
    if not quiet:
        note(target, "wrote")
