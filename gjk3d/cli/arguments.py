"""Arguments checked before any long work: poses as text or files, and places to write to."""

from __future__ import annotations

import json
import math
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gjk3d.errors import FileError, Gjk3dError, PoseError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

POSE_FILES = (".json", ".txt", ".npy")
_LARGEST_POSE_FILE = 65536
_FORMS = (
    "3 numbers (x y z), 6 (x y z and a rotation vector in radians, or with deg behind each angle), "
    "12 or 16 (a 4x4 matrix by rows), or a .json, .txt or .npy file of those"
)


class UsageError(Gjk3dError, ValueError):
    """The command line asks for something that cannot be done; nothing was computed yet."""


def read_pose(text: str | None, option: str) -> NDArray[np.float64] | None:
    """Return the (4, 4) pose that the text or the file it names stands for.

    Raises
    ------
    PoseError, FileError
        Naming the option, the value seen and what is accepted.
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
            raise PoseError(f"{name}: {word!r} is no number; expected {_FORMS}") from None
        if degrees and not (len(words) == 6 and k >= 3):
            raise PoseError(f"{name}: {word!r} is an angle, and only the last three of six numbers are angles")
        numbers.append(math.radians(value) if degrees else value)
    return numbers


def _numbers_of_file(path: Path, option: str) -> list[float]:
    import numpy as np

    name = f"{option} {path}"
    if not path.is_file():
        raise FileError(f"{option}: there is no file {str(path)!r}")
    if path.stat().st_size > _LARGEST_POSE_FILE:
        raise PoseError(f"{name} has {path.stat().st_size} bytes, far too many for one pose")
    try:
        if path.suffix.lower() == ".npy":
            return [float(x) for x in np.load(path, allow_pickle=False).ravel()]
        text = path.read_text(encoding="utf-8")
        if path.suffix.lower() == ".json":
            return _flat(json.loads(text))
    except (ValueError, TypeError, EOFError, RecursionError) as reason:
        raise PoseError(f"{name} does not hold plain numbers: {reason}") from None
    return _numbers_of_text(re.sub(r"#.*", "", text), name)


def _flat(value: Any) -> list[float]:
    if isinstance(value, list):
        return [number for item in value for number in _flat(item)]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return [float(value)]
    raise TypeError(f"found {type(value).__name__} {str(value)[:40]!r}, expected lists of numbers")


def _matrix(numbers: list[float], name: str) -> NDArray[np.float64]:
    import numpy as np

    from gjk3d.poses import pose_rows

    if len(numbers) not in (3, 6, 12, 16):
        raise PoseError(f"{name} has {len(numbers)} numbers; expected {_FORMS}")
    for k, number in enumerate(numbers):
        if not math.isfinite(number):
            raise PoseError(f"{name} is not finite: number {k + 1} is {number}")
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
    # pi is no float: a quarter turn misses 0 and 1 by a few 1e-16, and is meant to hit them
    nearest = np.rint(matrix)
    return nearest if np.abs(matrix - nearest).max() < 1e-15 else matrix


def check_output(
    path: Path | None, option: str, endings: tuple[str, ...], inputs: tuple[Path, ...], cure: str = ""
) -> None:
    """Refuse a place to write to that would fail after the work, or that would destroy an input.

    Without ``endings`` any name will do.
    """
    if path is None:
        return
    if endings and path.suffix.lower() not in endings:
        raise UsageError(f"{option} {str(path)!r}: the name must end in {' or '.join(endings)}{cure}")
    if path.is_dir():
        raise UsageError(f"{option} {str(path)!r} is a folder; name a file in it")
    if not path.parent.is_dir():
        raise UsageError(f"{option} {str(path)!r}: there is no folder {str(path.parent)!r}; make it first")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UsageError(f"{option} {str(path)!r}: no permission to write there")
    for other in inputs:
        if path.exists() and other.exists() and path.samefile(other):
            raise UsageError(f"{option} {str(path)!r} is an input; name another file")
