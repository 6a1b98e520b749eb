"""Models named on the command line: ``FILE`` or ``FILE#PART``, and what is known about them."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gjk3d.cli.arguments import UsageError

if TYPE_CHECKING:
    from gjk3d.bodies.mesh import Mesh


@dataclass(frozen=True)
class Model:
    """One model of the command line."""

    path: Path
    part: str | None
    mesh: Mesh

    @property
    def name(self) -> str:
        """File name, and the part where one was chosen."""
        return self.path.name if self.part is None else f"{self.path.name}#{self.part}"


def split_name(text: str) -> tuple[Path, str | None]:
    """Split ``FILE#PART`` behind the first ``FILE`` that is there; a ``#`` may be part of either name."""
    pieces = text.split("#")
    splits = [(Path("#".join(pieces[:k])), "#".join(pieces[k:])) for k in range(1, len(pieces))]
    if not Path(text).is_file():
        for path, part in splits:
            if path.is_file():
                return path, part
        for path, part in splits:
            if path.suffix:
                return path, part
    return Path(text), None


def read_models(names: list[tuple[Path, str | None]]) -> list[Model]:
    """Load each file once, and take the parts that were asked for."""
    import gjk3d as gk

    # a file that is not there comes first, to be complained about before the other one is read
    meshes = {path: gk.load(path) for path in sorted({path for path, _ in names}, key=Path.is_file)}
    models = []
    for path, part in names:
        mesh = meshes[path]
        if part is not None:
            found = dict(mesh.parts).get(part)
            mesh = gk.load(path, part=part) if found is None else found  # raises, naming the parts that are there
        models.append(Model(path, part, mesh))
    return models


def check_unit(said: str | None) -> None:
    """Refuse what is no unit of length."""
    if said is not None and _conversion(said, "m") is None:
        raise UsageError(f"--unit {said}: no unit of length is called that; mm, cm, m, in and ft are")


def in_one_unit(a: Model, b: Model, said: str | None) -> tuple[Model, Model, str | None, list[str]]:
    """Return both models in one unit, the unit, and what was done to get there.

    ``said`` is that of the one that states none; where both state one it goes before theirs.

    A model of unknown size beside one of known size is refused: taking it for the other's unit is wrong by 1000 where
    metres meet millimetres.
    """
    check_unit(said)
    if said is not None and a.mesh.unit is not None and b.mesh.unit is not None:
        first, second = (replace(model, mesh=_scaled(model.mesh, 1.0, said)) for model in (a, b))
        return first, second, said, _overridden((a, b), said)
    units = [model.mesh.unit or said for model in (a, b)]
    if units[0] is None and units[1] is None:
        return a, b, None, []
    for model, own, other in ((a, units[0], units[1]), (b, units[1], units[0])):
        if own is None:
            raise UsageError(
                f"{model.name} has no unit of length, and the other model is in {other}\n"
                "say which it is in: --unit mm (or m, cm, in, ...)"
            )
    # the unit that a file states is the one to answer in
    first, second = (a, b) if a.mesh.unit is not None or b.mesh.unit is None else (b, a)
    unit, other = str(first.mesh.unit or said), str(second.mesh.unit or said)
    factor = _conversion(other, unit)
    if factor is None:
        raise UsageError(f"{first.name} is in {unit} and {second.name} in {other}: one of these is no unit of length")
    if factor == 1.0:
        return a, b, unit, []
    scaled = replace(second, mesh=_scaled(second.mesh, factor, unit))
    notes = [f"{second.name} is in {other}: its lengths are multiplied by {factor:g}, {first.name} is in {unit}"]
    return (a, scaled, unit, notes) if first is a else (scaled, b, unit, notes)


def _overridden(models: Iterable[Model], said: str) -> list[str]:
    units = {model.path: str(model.mesh.unit) for model in models}
    return [
        f"{path.name}: its numbers are taken for {said}, though it is in {unit}"
        for path, unit in units.items()
        if _conversion(unit, said) != 1.0
    ]


def size_notes(meshes: Sequence[Mesh], unit: str | None, said: bool) -> list[str]:
    """Return the remark on sizes that suggest another unit, if there is one."""
    from gjk3d.clash.units import doubt

    sizes = [float((mesh.bounds[1] - mesh.bounds[0]).max()) for mesh in meshes]
    text = doubt(unit, sizes, max(sizes), said)
    return [] if text is None else [text]


def _scaled(mesh: Mesh, factor: float, unit: str) -> Mesh:
    from gjk3d.bodies.mesh import Mesh

    return Mesh(mesh.vertices * factor, mesh.faces, name=mesh.name, unit=unit, parts=mesh.parts, source=mesh.source)


def _conversion(unit: str, other: str) -> float | None:
    if unit == other:
        return 1.0
    from trimesh.units import unit_conversion

    try:
        return float(unit_conversion(unit, other))
    except (KeyError, ValueError):
        return None


def sha256(path: Path) -> str:
    """Return the hash of a file, by which a reader knows that it is the same one."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def convexity_facts(mesh: Mesh) -> dict[str, Any]:
    """Return whether the mesh is closed and convex, by the hull's volume over its own; None where that says nothing."""
    ratio = mesh.convexity
    known = math.isfinite(ratio)
    return {
        "watertight": mesh.is_watertight,
        "open_edges": mesh.open_edges,
        "convex": mesh.is_convex if known else None,
        "hull_volume_ratio": 1.0 / ratio if known and ratio > 0.0 else None,
    }


def hull_notes(model: Model) -> list[str]:
    """Say in what the compared hull may differ from the model."""
    notes = []
    if model.part is None and len(model.mesh.parts) > 1:
        notes.append(
            f"{model.name} has {len(model.mesh.parts)} parts, and the hull of all together is compared; "
            f"{model.name}#NAME takes one (gjk3d info lists them)"
        )
    facts = convexity_facts(model.mesh)
    if not facts["watertight"]:
        count = facts["open_edges"]
        notes.append(
            f"{model.name} is not closed ({count} open edges), so it may be hollower than the hull that is compared"
        )
    elif facts["convex"] is False:
        notes.append(f"{model.name} is not convex: the hull that is compared has {_more(facts['hull_volume_ratio'])}")
    return notes


def _more(ratio: float | None) -> str:
    if ratio is None:  # the mesh has no volume at all
        return "more volume"
    return f"{ratio:.3g} times its volume" if ratio >= 1.1 else f"{100.0 * (ratio - 1.0):.2g} % more volume"


def versions() -> dict[str, str]:
    """Return the versions that an answer depends on."""
    from importlib.metadata import version

    return {name: version(name) for name in ("gjk3d", "numpy", "scipy", "numba", "trimesh")}
