"""Motion files: TOML with tracks and joints, and CSV with poses over time."""

from __future__ import annotations

import os
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from gjk3d.clash.detection.findings import parse_toml
from gjk3d.clash.motion.joints import KINDS, Coupling, Joint
from gjk3d.clash.motion.movement import Movement
from gjk3d.errors import FileError, Gjk3dError, ParseError, PoseError
from gjk3d.poses import pose_rows
from gjk3d.query.time_of_impact import Motion
from gjk3d.typing import Array
from gjk3d.units import conversion, symbol
from gjk3d.wording import cut, expected_names, is_number, kind_of

_LARGEST = 1 << 26  #: the largest size of a file in bytes
_TURNS = 1000  #: the largest number of turns of a `gjk3d.Motion`
_TOP = {"unit", "times", "length", "part", "joint", "coupling"}
_PART = {"parts", "poses", "linear", "angular", "center"}
_JOINT = {"name", "kind", "child", "parent", "axis", "point", "drive"}
_COUPLING = {"joint", "to", "ratio", "lead"}
_LENGTHS = {"linear", "center", "poses", "point", "lead"}  #: keys with lengths
_QUATERNION = 8  #: the number of values in a line with a time, a position and a quaternion
_WIDTHS = {
    _QUATERNION: "time, x, y, z, qx, qy, qz, qw",
    13: "time and 3 rows of a matrix",
    17: "time and 4 rows of a matrix",
}


@np.errstate(all="ignore")  # an overflow raises an error below, so a numpy warning is not needed
def read_motion(path: str | os.PathLike[str], unit: str | None = None) -> Movement:
    r"""Return the motion of an assembly in a TOML file.

    The file starts with optional keys. ``times = [begin, end]`` is [0, 1] by default, ``unit`` is the unit of time, and
    ``length`` is the unit of lengths if it differs from the unit of the assembly. Angles are in degrees. Tables follow:

    - ``[[part]]`` has ``parts``, a pattern of names. It has either ``linear``, ``angular`` and ``center`` as in
      `gjk3d.Motion`, or ``poses``, the name of a .csv file in the folder of the motion file or below it.
    - ``[[joint]]`` has the attributes of a `Joint`. A joint without a ``parent`` is fixed to the ground. The drive of
      a cylindrical joint contains the angle and then the translation.
    - ``[[coupling]]`` has ``joint``, ``to``, and either a ``ratio`` or the ``lead`` of a screw, which is the
      translation in one turn.

    Parameters
    ----------
    path : path
        The file.
    unit : str, optional
        The unit of the assembly, to which lengths are converted.

    Returns
    -------
    Movement

    Raises
    ------
    FileError
        If the file does not exist.
    ParseError
        If the file is not TOML, or has unknown keys or invalid values.

    Examples
    --------
    >>> import gjk3d as gk
    >>> engine = gk.clash.read_motion("data/engine/engine.toml", "m")
    >>> engine.times, engine.unit, engine.bodies
    ((0.0, 360.0), 'deg', ['crank_*', 'rod', 'piston*'])
    """
    file = Path(path)
    text = _text(file)
    try:
        document = parse_toml(text)
    except ValueError as error:
        table = f'Write a TOML file with a table [[part]]: parts = "NAMES" and poses = "{file.name}".'
        cure = table if file.suffix.lower() == ".csv" else "Correct this line, or see data/engine/engine.toml."
        raise ParseError(f"{file} is not TOML: {str(error)[:200]}. {cure}") from None
    _only(document, _TOP, str(file))
    tables = {name: document.get(name, []) for name in ("part", "joint", "coupling")}
    for name, rows in tables.items():
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise ParseError(f"{file}: {name} is not a table. Write [[{name}]] and its keys below it.")
    times = document.get("times", [0.0, 1.0])
    if not _numbers(times) or len(times) != 2:
        raise ParseError(f"{file}: times is {_shown(times)}, expected two numbers such as [0, 1]")
    scale, where = _scale(document.get("length"), unit, file), str(file)
    try:
        return Movement(
            _parts(tables["part"], where, scale, file.parent),
            joints=[_joint(row, f"{where}, joint {k + 1}", scale) for k, row in enumerate(tables["joint"])],
            couplings=_couplings(tables, where, scale),
            times=(times[0], times[1]),
            unit=_word(document, "unit", where),
            notes=_unitless(document, tables, unit, where),
            source=where,
        )
    except ParseError:
        raise
    except Gjk3dError as error:
        raise ParseError(f"{file}: {error}") from None


def movement_of(motion: Any, unit: str | None) -> Movement:
    """Return a movement unchanged, or read it from a file for an assembly in ``unit``."""
    if isinstance(motion, Movement):
        return motion
    if isinstance(motion, str | os.PathLike):
        return read_motion(motion, unit)
    more = ". Use Movement({name: motion}) with the name of the part." if isinstance(motion, Motion) else ""
    raise TypeError(f"motion is {kind_of(motion)}, expected a Movement or the path of a TOML file{more}")


def _text(file: Path) -> str:
    if not os.path.isfile(file):
        raise FileError(
            f"{file} is a folder, expected a motion file. Name a .toml file in it."
            if os.path.isdir(file)
            else f"the motion file {cut(file)} does not exist. Correct the path."
        )
    if file.stat().st_size > _LARGEST:
        raise ParseError(
            f"{file} has {file.stat().st_size} bytes, expected at most {_LARGEST} for a motion. Move its poses to "
            ".csv files."
        )
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ParseError(f"{file} is not a text in UTF-8: {error}. Save it as UTF-8.") from None


def _only(row: Mapping[str, Any], keys: set[str], where: str) -> None:
    unknown = sorted(set(row) - keys)
    if unknown:
        raise ParseError(f"{where} has the unknown key {unknown[0]!r}, {expected_names(unknown[0], sorted(keys))}")


def _shown(value: Any) -> str:
    return repr(value)[:60]


def _numbers(value: Any) -> bool:
    return isinstance(value, list) and all(map(_number, value))


def _number(x: Any) -> bool:
    """Return whether a value is a float, which may be infinite or nan, or an integer in the range of floats."""
    return isinstance(x, float) or (isinstance(x, int) and not isinstance(x, bool) and abs(x) < 1e300)


def _word(row: Mapping[str, Any], key: str, where: str) -> str:
    value = row.get(key, "")
    if not isinstance(value, str):
        raise ParseError(f"{where}: {key} is {_shown(value)}, expected a text in quotes")
    return value


def _three(row: Mapping[str, Any], key: str, where: str, default: tuple[float, float, float]) -> Array:
    value = row.get(key, list(default))
    if not _numbers(value) or len(value) != 3:
        raise ParseError(f"{where}: {key} is {_shown(value)}, expected three numbers such as [0, 0, 1]")
    return np.array(value, dtype=np.float64)


def _unitless(document: Mapping[str, Any], tables: Mapping[str, list[Any]], unit: str | None, where: str) -> list[str]:
    """Return a note if lengths without a unit are read in the unit of the assembly."""
    if unit is None or "length" in document:
        return []
    keys = {key for rows in tables.values() for row in rows for key in row}
    driven = [KINDS.get(str(row.get("kind")), ()) for row in tables["joint"] if "drive" in row]
    slides = any(set(coordinates) - {"turn"} for coordinates in driven)
    if not slides and not keys & _LENGTHS:
        return []
    return [
        f"{where}: its lengths are read in {unit}, the unit of the assembly."
        ' Write length = "mm" at the top of the file for another unit.'
    ]


def _scale(stated: Any, unit: str | None, file: Path) -> float:
    if stated is None:
        return 1.0
    length = symbol(stated) if isinstance(stated, str) else None
    factor = None if length is None or unit is None else conversion(length, unit)
    if factor is None:
        what = f"{file}: length is {_shown(stated)}"
        if unit is None:
            raise ParseError(f"{what}, but the unit of the assembly is unknown. Set it with --unit (unit= in Python).")
        if length is not None and conversion(length, "m") is not None:
            raise ParseError(
                f"{what}, which cannot be converted to {unit}, the unit of the assembly. Set --unit (unit= in Python)."
            )
        raise ParseError(f'{what}, expected a unit such as "mm", "m" or "in"')
    return factor


def _parts(rows: list[Any], where: str, scale: float, folder: Path) -> dict[str, Any]:
    tracks: dict[str, Any] = {}
    for k, row in enumerate(rows):
        pattern, track = _part(row, f"{where}, part {k + 1}", scale, folder)
        if pattern in tracks:
            raise ParseError(f"{where}, part {k + 1}: {pattern!r} is in two tables [[part]]. Remove one of them.")
        tracks[pattern] = track
    return tracks


def _part(row: Mapping[str, Any], where: str, scale: float, folder: Path) -> tuple[str, Any]:
    _only(row, _PART, where)
    pattern = _word(row, "parts", where)
    if not pattern:
        raise ParseError(
            f'{where} lacks the names of its parts. Write parts = "...", a name or a pattern such as "bolt*".'
        )
    if "poses" in row:
        if more := sorted(set(row) & {"linear", "angular", "center"}):
            raise ParseError(f"{where} has poses and also {' and '.join(more)}. Remove poses, or the other keys.")
        name = _word(row, "poses", where)
        if not name:
            raise ParseError(f'{where}: poses is empty. Write poses = "FILE.csv".')
        path = _csv_path(folder, name, where)
        try:
            times, poses = read_poses(path, scale)
        except Gjk3dError as error:
            raise ParseError(f"{where}: {error}") from None
        if len(times) < 2:
            raise ParseError(f"{where}: {folder / name} has one pose, expected 2 or more lines with ascending times")
        return pattern, (times, poses)
    if not set(row) & {"linear", "angular"}:
        raise ParseError(
            f"{where}: {pattern!r} has no motion. Write linear = [x, y, z], angular = [x, y, z] in degrees with"
            ' center = [x, y, z], or poses = "FILE.csv".'
        )
    linear, angular, center = (_three(row, key, where, (0.0, 0.0, 0.0)) for key in ("linear", "angular", "center"))
    if np.abs(angular).max() > 360.0 * _TURNS:
        raise ParseError(
            f"{where}: angular is {angular.tolist()} degrees, expected at most {_TURNS} turns. Divide the motion."
        )
    try:
        return pattern, Motion(None, linear * scale, np.radians(angular), center=center * scale)
    except Gjk3dError as error:
        raise ParseError(f"{where}: {error}") from None


def _csv_path(folder: Path, name: str, where: str) -> Path:
    # an untrusted motion file must not read other files of this machine
    file = folder / name
    try:
        inside = file.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError):  # a NUL in the name
        inside = False
    if not inside or file.suffix.lower() != ".csv":
        raise ParseError(
            f"{where}: poses is {_shown(name)}, expected a .csv file in the folder of the motion. Copy the file there."
        )
    return file


def _joint(row: Mapping[str, Any], where: str, scale: float) -> Joint:
    _only(row, _JOINT, where)
    words = {key: _word(row, key, where) for key in ("name", "kind", "child", "parent")}
    if words["kind"] not in KINDS:
        raise ParseError(f"{where} has the kind {words['kind']!r}, {expected_names(words['kind'], KINDS)}")
    drive = row.get("drive")
    if drive is not None:
        if not isinstance(drive, list) or not drive or not (_numbers(drive) or all(map(_numbers, drive))):
            raise ParseError(f"{where}: drive is {_shown(drive)}, expected numbers such as [0, 90], or rows of numbers")
        if len({len(x) for x in drive if isinstance(x, list)}) > 1:
            raise ParseError(f"{where}: the rows of drive have different lengths, expected equal lengths")
        factors = [np.pi / 180.0 if name == "turn" else scale for name in KINDS[words["kind"]]]
        rows = np.array(drive, dtype=np.float64).reshape(len(drive), -1)
        if rows.shape[1] != len(factors):
            names = ", ".join(KINDS[words["kind"]])
            raise ParseError(
                f"{where}: drive has {rows.shape[1]} numbers for each time, expected {len(factors)} for a "
                f"{words['kind']} joint: {names}"
            )
        drive = rows * factors
    axis, point = _three(row, "axis", where, (0.0, 0.0, 1.0)), _three(row, "point", where, (0.0, 0.0, 0.0)) * scale
    try:
        return Joint(**words, axis=axis, point=point, drive=drive)
    except Gjk3dError as error:
        raise ParseError(f"{where}: {error}") from None


def _couplings(tables: Mapping[str, list[Any]], where: str, scale: float) -> list[Coupling]:
    couplings = []
    kinds = {row.get("name"): row.get("kind") for row in tables["joint"] if isinstance(row.get("name"), str)}
    for k, row in enumerate(tables["coupling"]):
        place = f"{where}, coupling {k + 1}"
        _only(row, _COUPLING, place)
        keys = [key for key in ("ratio", "lead") if key in row]
        if len(keys) != 1 or not _numbers([row[keys[0]]]):
            given = ", ".join(f"{key} = {_shown(row[key])}" for key in keys) or "no number"
            raise ParseError(f"{place} has {given}, expected a ratio or a lead. Write ratio = 2.0 or lead = 5.0.")
        joint, to = _word(row, "joint", place), _word(row, "to", place)
        if not joint or not to:
            raise ParseError(
                f"{place} has joint = {joint!r} and to = {to!r}, expected the names of two joints. Write both in its "
                "table."
            )
        slides = [kinds.get(name) == "prismatic" for name in (joint, to)]
        if keys == ["lead"] and slides != [True, False]:
            raise ParseError(
                f"{place} has a lead, joint = {joint!r} and to = {to!r}, expected a prismatic joint and a joint that "
                "turns. Exchange joint and to, or use ratio."
            )
        if keys == ["ratio"] and slides[0] != slides[1]:
            raise ParseError(
                f"{place} has a ratio, but one joint slides and the other turns. Use lead, the translation per turn."
            )
        couplings.append(Coupling(joint, to, row["lead"] * scale / (2.0 * np.pi) if "lead" in row else row["ratio"]))
    return couplings


@np.errstate(all="ignore")
def read_poses(path: str | os.PathLike[str], scale: float = 1.0) -> tuple[Array, Array]:
    r"""Return the times and poses in a CSV file.

    Each line has a time and a displacement. The displacement is x, y, z and a quaternion x, y, z, w, or the first 3 or
    all 4 rows of a matrix. The times are ascending. A first line with column names is skipped.

    Parameters
    ----------
    path : path
        The file.
    scale : float
        The factor by which the translations are multiplied.

    Returns
    -------
    times : (n,) float
        The ascending times.
    poses : (n, 4, 4) float
        The displacements from the drawn pose, with lengths times ``scale``.

    Raises
    ------
    FileError
        If the file does not exist.
    ParseError
        If a line does not have these numbers, or the times are not ascending.

    Examples
    --------
    >>> import gjk3d as gk, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "lid.csv"
    ...     _ = file.write_text("t,x,y,z,qx,qy,qz,qw\n0,0,0,0,0,0,0,1\n2,0,0,9,0,0,1,0\n")
    ...     times, poses = gk.clash.read_poses(file)
    >>> times, poses[1]
    (array([0., 2.]), array([[-1.,  0.,  0.,  0.],
           [ 0., -1.,  0.,  0.],
           [ 0.,  0.,  1.,  9.],
           [ 0.,  0.,  0.,  1.]]))
    """
    from scipy.spatial.transform import Rotation

    file = Path(path)
    split = [[cell.strip() for cell in line.split(",")] for line in _text(file).splitlines()]
    lines = [(number, cells) for number, cells in enumerate(split, 1) if any(cells)]
    if lines and not any(map(is_number, lines[0][1])):
        lines = lines[1:]
    if not lines:
        raise ParseError(f"{file} has no poses. Write lines of {' or '.join(_WIDTHS.values())}.")
    width = len(lines[0][1])
    table = np.array([_pose_row(cells, width, f"{file}, line {number}") for number, cells in lines])
    late = np.flatnonzero(np.diff(table[:, 0]) <= 0.0)
    if len(late):
        number, cells = lines[late[0] + 1]
        raise ParseError(
            f"{file}, line {number}: the time {cells[0]} is not later than the time {lines[late[0]][1][0]} of the"
            " previous line. Sort the lines by time, and remove duplicate times."
        )
    poses = np.tile(np.eye(4), (len(table), 1, 1))
    if width == _QUATERNION:
        sizes = np.linalg.norm(table[:, 4:], axis=1)
        odd = np.flatnonzero(np.abs(sizes - 1.0) > 1e-3)
        if len(odd):
            number, cells = lines[odd[0]]
            raise ParseError(
                f"{file}, line {number}: the quaternion {', '.join(cells[4:])} has the length {sizes[odd[0]]:.4g},"
                " expected 1. Divide it by its length."
            )
        poses[:, :3, :3] = Rotation.from_quat(table[:, 4:]).as_matrix()
        poses[:, :3, 3] = table[:, 1:4]
    else:
        matrices = table[:, 1:].reshape(len(table), -1, 4)
        poses[:, : matrices.shape[1]] = matrices
    poses[:, :3, 3] *= scale
    _check_rigid(poses, [f"{file}, line {number}" for number, _ in lines])
    return table[:, 0], poses


def _check_rigid(poses: Array, names: list[str]) -> None:
    try:
        pose_rows(poses, "poses")
    except PoseError:
        for pose, name in zip(poses, names, strict=True):
            try:
                pose_rows(pose, name)
            except PoseError as error:
                raise ParseError(str(error)) from None


def _pose_row(cells: list[str], width: int, where: str) -> list[float]:
    odd = next((cell for cell in cells if not is_number(cell)), None)
    if odd is not None:
        raise ParseError(f"{where}: expected numbers between commas, not {odd[:40]!r}. Correct or remove the line.")
    if len(cells) != width or width not in _WIDTHS:
        raise ParseError(f"{where} has {len(cells)} numbers, expected {' or '.join(_WIDTHS.values())} in all lines")
    row = list(map(float, cells))
    odd = next((cell for cell, value in zip(cells, row, strict=True) if not isfinite(value)), None)
    if odd is not None:
        raise ParseError(f"{where}: {odd[:40]} is not a finite number. Correct or remove the line.")
    return row
