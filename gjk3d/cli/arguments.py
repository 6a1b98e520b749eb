"""Arguments of commands: models, poses, units and output files. A command checks them before any long computation."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from gjk3d.errors import FileError, Gjk3dError, PoseError
from gjk3d.wording import expected_names

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gjk3d.bodies.mesh import Mesh


#: A pose or another text that may begin with a minus sign.
PoseText = Annotated[str | None, Parameter(allow_leading_hyphen=True)]
POSE_FILES = (".json", ".txt", ".npy")
_LARGEST_POSE_FILE = 65536  #: bytes
_FORMS = (
    "3 numbers (x y z), 6 (x y z and a rotation vector in radians, or with deg after each angle), "
    "16 (a 4x4 matrix by rows) or 12 (its first three rows), or a .json, .txt or .npy file with such numbers"
)


class UsageError(Gjk3dError, ValueError):
    """An invalid command line. Nothing was computed."""


def read_pose(text: str | None, option: str) -> NDArray[np.float64] | None:
    """Return the (4, 4) pose in a text or in the file that the text names. None returns None.

    Raise a PoseError for an invalid pose, and a FileError for a missing file. Both name the option ``option``.
    """
    if text is None:
        return None
    if text.lower().endswith(POSE_FILES):
        return _matrix(_numbers_of_file(Path(text), option), f"{option} {text}")
    return _matrix(_numbers_of_text(text, option), option)


def _numbers_of_text(text: str, name: str) -> list[float]:
    words = [word for word in re.split(r"[\s,;\[\]()]+", text) if word]
    numbers = []
    for k, word in enumerate(words):
        degrees = word.endswith("deg")
        try:
            value = float(word.removesuffix("deg"))
        except ValueError:
            raise PoseError(f"{name}: {word!r} is not a number, expected {_FORMS}") from None
        if degrees and not (len(words) == 6 and k >= 3):
            raise PoseError(
                f"{name}: {word!r} is an angle, but only the last three of six numbers can be angles. Write x y z and "
                "three angles."
            )
        numbers.append(math.radians(value) if degrees else value)
    return numbers


def _numbers_of_file(path: Path, option: str) -> list[float]:
    import numpy as np

    name = f"{option} {path}"
    if not os.path.isfile(path):
        raise FileError(f"{option}: the file {str(path)!r} does not exist. Correct its path.")
    if path.stat().st_size > _LARGEST_POSE_FILE:
        raise PoseError(
            f"{name} has {path.stat().st_size} bytes, expected at most {_LARGEST_POSE_FILE}. Name a file with a "
            "single pose."
        )
    try:
        if path.suffix.lower() == ".npy":
            return [float(x) for x in np.load(path, allow_pickle=False).ravel()]
        text = path.read_text(encoding="utf-8")
        if path.suffix.lower() == ".json":
            return _flat(json.loads(text))
    except (ValueError, TypeError, EOFError, RecursionError) as reason:
        raise PoseError(f"{name} does not contain only numbers ({reason}), expected {_FORMS}") from None
    return _numbers_of_text(re.sub(r"#.*", "", text), name)


def _flat(value: Any) -> list[float]:
    if isinstance(value, list):
        return [number for item in value for number in _flat(item)]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return [float(value)]
    raise TypeError(f"the entry {json.dumps(value)[:40]} is not a number")


def _matrix(numbers: list[float], name: str) -> NDArray[np.float64]:
    import numpy as np

    from gjk3d.poses import pose_rows

    if len(numbers) not in (3, 6, 12, 16):
        raise PoseError(f"{name} has {len(numbers)} numbers, expected {_FORMS}")
    for k, number in enumerate(numbers):
        if not math.isfinite(number):
            raise PoseError(f"{name}: number {k + 1} is {number}, expected finite numbers")
    pose = np.eye(4)
    if len(numbers) >= 12:
        pose[: len(numbers) // 4] = np.reshape(numbers, (-1, 4))
    else:
        pose[:3, 3] = numbers[:3]
        if len(numbers) == 6:
            pose[:3, :3] = _rotation(numbers[3:])
    pose_rows(pose, name)
    return pose


def _rotation(vector: list[float]) -> NDArray[np.float64]:
    import numpy as np
    from scipy.spatial.transform import Rotation

    matrix: NDArray[np.float64] = Rotation.from_rotvec(vector).as_matrix()
    # pi is not a float64, so the matrix of a quarter turn differs from 0 and 1 by a few 1e-16
    nearest = np.rint(matrix)
    return nearest if np.abs(matrix - nearest).max() < 1e-15 else matrix


def read_direction(text: str | None, option: str) -> tuple[float, float, float] | None:
    """Return the three numbers in a text such as "1 -2 1". None returns None."""
    if text is None:
        return None
    try:
        x, y, z = (float(word) for word in re.split(r"[\s,]+", text.strip()))
    except ValueError:
        raise UsageError(
            f"{option} {text!r}: expected three numbers, a direction towards the viewer such as '1 -2 1'"
        ) from None
    if not 0.0 < abs(x) + abs(y) + abs(z) < float("inf"):
        raise UsageError(f"{option} {text!r} is not a direction, expected finite numbers that are not all 0")
    return x, y, z


def check_output(
    path: Path | None, option: str, endings: tuple[str, ...], inputs: tuple[Path, ...], cure: str = ""
) -> None:
    """Raise a UsageError if the output file ``path`` cannot be written, or is one of the inputs.

    Any extension is accepted if ``endings`` is empty. ``cure`` is added to the error for a wrong extension.
    """
    if path is None:
        return
    if endings and path.suffix.lower() not in endings:
        raise UsageError(f"{option} {str(path)!r}: the name must end in {' or '.join(endings)}{cure}")
    if path.is_dir():
        raise UsageError(f"{option} {str(path)!r} is a folder. Name a file in it.")
    if not path.parent.is_dir():
        raise UsageError(f"{option} {str(path)!r}: the folder {str(path.parent)!r} does not exist. Create it first.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UsageError(f"{option} {str(path)!r} cannot be written. Choose a folder with write permission.")
    for source in inputs:
        if path.exists() and source.exists() and path.samefile(source):
            raise UsageError(f"{option} {str(path)!r} is an input. Name another file.")


def output_form(requested: str | None, output: Path | None, endings: dict[str, str], inputs: tuple[Path, ...]) -> str:
    """Return the form of an output, such as "json", and check that the file ``output`` can be written.

    The form is ``requested`` or, if this is None, "table" for stdout and the form in ``endings`` for a file.
    ``endings`` maps extensions to forms.
    """
    ends = () if requested else tuple(f".{ending}" for ending in endings)
    check_output(output, "--output", ends, inputs, ", or -f must name the form")
    form = requested or ("table" if output is None else endings[output.suffix.lower()[1:]])
    if form == "table" and output is not None:
        raise UsageError("-f table is for the terminal. Leave -f out, so that the extension of -o selects the form.")
    return form


@dataclass(frozen=True)
class Model:
    """A model that the command line names, with its mesh. ``part`` is the selected part, or None for the whole file."""

    path: Path
    part: str | None
    mesh: Mesh

    @property
    def name(self) -> str:
        """The name of the file, or FILE#PART for a selected part."""
        return self.path.name if self.part is None else f"{self.path.name}#{self.part}"


def kinds_of(text: str | None, option: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the kinds of findings in a text such as "hard,contained".

    Without a text the result is ``default``, or all kinds but touch if ``default`` is empty. Raise a UsageError for an
    unknown kind.
    """
    from gjk3d.clash.detection.clashes import COUNTED, KINDS

    if text is None:
        return default or COUNTED
    kinds = tuple(kind.strip() for kind in text.split(","))
    for kind in kinds:
        if kind not in KINDS:
            raise UsageError(f"{option} {text!r}: {kind!r} is not a kind, {expected_names(kind, KINDS)}")
    return kinds


def split_name(text: str) -> tuple[Path, str | None]:
    """Return the path and the part of ``FILE#PART``. The part is None if the whole text is the path of a file.

    A path may contain a ``#``, so the shortest path of an existing file is used.
    """
    pieces = text.split("#")
    splits = [(Path("#".join(pieces[:k])), "#".join(pieces[k:])) for k in range(1, len(pieces))]
    if not os.path.isfile(text):
        for path, part in splits:
            if path.is_file():
                return path, part
        for path, part in splits:
            if path.suffix:
                return path, part
    return Path(text), None


def read_models(names: list[tuple[Path, str | None]]) -> list[Model]:
    """Return a model for each pair of a path and a part. The part None means the whole file. Each file is read once."""
    import gjk3d as gk

    # missing files are first, so that no other file is read before their error is raised
    meshes = {path: gk.load(path) for path in sorted({path for path, _ in names}, key=Path.is_file)}
    models = []
    for path, part in names:
        mesh = meshes[path]
        if part is not None:
            loaded = dict(mesh.parts).get(part)
            mesh = gk.load(path, part=part) if loaded is None else loaded  # raises an error with the names of the parts
        models.append(Model(path, part, mesh))
    return models


def in_one_unit(models: list[Model], requested: str | None) -> tuple[list[Model], str | None, list[str]]:
    """Return the models in one unit, the unit, and notes on conversions. See `gjk3d.units.one_unit`."""
    from gjk3d.clash.detection.parts import converted
    from gjk3d.units import one_unit

    unit, factors, notes = one_unit([(model.path.name, model.mesh.unit) for model in models], requested)
    return (
        [
            model
            if factor == 1.0 and model.mesh.unit in (None, unit)
            else replace(model, mesh=converted(model.mesh, factor, str(unit)))
            for model, factor in zip(models, factors, strict=True)
        ],
        unit,
        notes,
    )


def size_notes(meshes: Sequence[Mesh], unit: str | None, is_requested: bool) -> list[str]:
    """Return a list with at most one note, which says that the sizes suggest another unit.

    ``is_requested`` is whether the user set the unit. Otherwise there is no note when every file states its unit.
    """
    from gjk3d.files.load import states_unit
    from gjk3d.units import doubt

    sizes = [float((mesh.bounds[1] - mesh.bounds[0]).max()) for mesh in meshes]
    text = doubt(unit, sizes, max(sizes), is_requested)
    stated = not is_requested and text is not None and all(map(states_unit, {mesh.source for mesh in meshes}))
    return [] if text is None or stated else [text]


def convexity_facts(mesh: Mesh) -> dict[str, Any]:
    """Return JSON data of a mesh: its open edges, whether it is closed and convex, and hull volume / mesh volume."""
    ratio = mesh.convexity
    has_volume = math.isfinite(ratio)
    return {
        "watertight": mesh.is_watertight,
        "open_edges": mesh.open_edges,
        "convex": mesh.is_convex if has_volume else None,
        "hull_volume_ratio": 1.0 / ratio if has_volume and ratio > 0.0 else None,
    }


def model_notes(model: Model, hulls: bool) -> list[str]:
    """Return notes on the differences between a model and the hull or the triangles that are compared."""
    notes = []
    if model.part is None and len(model.mesh.parts) > 1:
        what = "the hull of all parts is compared" if hulls else "all parts are compared as one model"
        notes.append(
            f"{model.name} has {len(model.mesh.parts)} parts, and {what}. "
            f"Use {model.name}#NAME for a single part (gjk3d info lists the parts)."
        )
    facts: dict[str, Any] = convexity_facts(model.mesh) if hulls else {"convex": None}
    if opened := model.mesh._mended.loose_edges:
        pieces = "its open pieces" if model.mesh.is_watertight else "it"
        why = "so it may be smaller than the compared hull" if hulls else f"so nothing can be inside {pieces}"
        notes.append(f"{model.name} is not closed ({opened} open edges), {why}")
    elif facts["convex"] is False:
        notes.append(f"{model.name} is not convex, and its compared hull has {_more(facts['hull_volume_ratio'])}")
    return notes


def _more(ratio: float | None) -> str:
    if ratio is None:  # the mesh has no volume
        return "more volume"
    return f"{ratio:.3g} times its volume" if ratio >= 1.1 else f"{100.0 * (ratio - 1.0):.2g} % more volume"
