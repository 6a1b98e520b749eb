"""Motions of the parts of an assembly.

A `Track` is a sequence of steady motions of a body. A `Movement` has the tracks of the moving parts of an assembly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from gjk3d.clash.detection.findings import chosen
from gjk3d.clash.detection.parts import first_names
from gjk3d.clash.motion.joints import Coupling, Joint, Linkage
from gjk3d.errors import Gjk3dError, ParseError, ShapeError
from gjk3d.narrow.toi import CENTER, REFERENCE, TURN, WAY
from gjk3d.poses import pose_rows
from gjk3d.query.time_of_impact import Motion
from gjk3d.typing import Array
from gjk3d.units import reading
from gjk3d.wording import count, kind_of, number, with_unit

# --- tracks ----------------------------------------------------------------------------------------------------------

_ROUNDING = 1e-12  #: errors up to this share of the size of the assembly are rounding
_NAMED = 5  #: the largest number of parts or steps in a note
#: Poses whose entries differ by more than this number are a jump. For translations above 1 it is a relative difference.
_JUMP = 1e-6
_HALF = np.radians(170.0)  #: above this angle, the direction of the rotation between two poses is ambiguous


class Piece(NamedTuple):
    """A time interval in which two bodies have steady motions, and the rows of these motions, (2, 21)."""

    begin: float
    end: float
    rows: Array


class Track(NamedTuple):
    """The poses of a body over time, as displacements from its drawn pose.

    Attributes
    ----------
    times : (n + 1,) float
        The times in ascending order. The body is static before the first and after the last time.
    rows : (n, 21) float
        The motions between the times, as rows of `gjk3d.Motion`.
    slack : float
        The position error of a track that was computed from joints. It was measured at three times of each interval
        and is not certified.
    """

    times: Array
    rows: Array
    slack: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the track as JSON data."""
        return {"times": self.times.tolist(), "rows": self.rows.tolist(), "slack": self.slack}

    def which(self, time: float) -> int:
        """Return the index in ``rows`` of the motion at a time."""
        return int(np.clip(np.searchsorted(self.times, time, side="right") - 1, 0, len(self.rows) - 1))

    def share(self, k: int, time: float) -> float:
        """Return the share, 0 to 1, of motion k that has elapsed at a time."""
        begin, end = self.times[k], self.times[k + 1]
        return float(np.clip((time - begin) / (end - begin), 0.0, 1.0))

    def pose(self, time: float) -> Array:
        """Return the displacement from the drawn pose at a time, (4, 4)."""
        k = self.which(time)
        return motion_of(self.rows[k]).at(self.share(k, time))

    def cut(self, begin: float, end: float) -> Array:
        """Return the motion row, (21,), from ``begin`` to a later or earlier ``end``.

        Both times must be in the same interval of ``times``.
        """
        k = self.which(0.5 * (begin + end))
        first, last, row = self.share(k, begin), self.share(k, end), self.rows[k]
        cut: Array = row.copy()
        cut[:9] = motion_of(row).at(first)[:3, :3].ravel()
        cut[CENTER:WAY] = row[CENTER:WAY] + first * row[WAY:TURN]
        cut[WAY:REFERENCE] = (last - first) * row[WAY:REFERENCE]
        return cut

    def speeds(self, bounds: Array) -> Array:
        """Return for each motion an upper bound of the speed of any point in the box ``bounds`` (2, 3), (n,)."""
        arms = np.abs(bounds[None] - self.rows[:, None, REFERENCE:]).max(axis=1)
        turns, shifts = (np.linalg.norm(self.rows[:, k : k + 3], axis=1) for k in (TURN, WAY))
        speeds: Array = (shifts + turns * np.linalg.norm(arms, axis=1)) / np.diff(self.times) * (1.0 + 1e-12)
        return speeds

    def places(self, most_turn: float) -> tuple[Array, Array]:
        """Return poses (k, 4, 4) along the track, and the bend of each motion, (n,).

        The rotation between two poses is at most ``most_turn`` radians. The bend is the square of this rotation divided
        by 8. The bend times a point's distance from the axis bounds the deviation of the point from a straight line.
        """
        turns = np.linalg.norm(self.rows[:, TURN:REFERENCE], axis=1)
        steps = np.maximum(1, np.ceil(turns / most_turn)).astype(int)
        poses = [motion_of(row).at(np.linspace(0.0, 1.0, n + 1)) for row, n in zip(self.rows, steps, strict=True)]
        return np.concatenate(poses), turns**2 / (8.0 * steps**2)


def solved(tracks: Mapping[str, Track], size: float) -> dict[str, float]:
    """Return the `Track.slack` of tracks that were computed from joints, by the name of the part.

    Tracks with a slack that is not larger than rounding errors are left out. ``size`` is the size of the assembly.
    """
    return {name: track.slack for name, track in tracks.items() if track.slack > _ROUNDING * size}


def measured(errors: Mapping[str, float], size: float, unit: str | None) -> list[str]:
    """Return at most one note, on the errors of tracks that were computed from joints."""
    if not errors:
        return []
    shown, factor = reading(unit, size)
    error = with_unit(number(factor * max(errors.values()), 2), shown)
    return [
        f"the motion of {first_names(list(errors), _NAMED)} was computed from joints, with an assumed error of {error}."
        " This is twice the measured error, and it is not proven."
    ]


def pauses(tracks: Mapping[str, Track], times: tuple[float, float], unit: str) -> list[str]:
    """Return notes on parts whose tracks begin after the begin of a motion, or end before its end."""
    waiting: dict[str, list[str]] = {}
    for name, track in tracks.items():
        first, last = (float(track.times[k]) for k in (0, -1))
        if first > times[0]:
            waiting.setdefault(f"before {with_unit(number(first), unit)}, when the poses begin", []).append(name)
        if last < times[1]:
            waiting.setdefault(f"after {with_unit(number(last), unit)}, when the poses end", []).append(name)
    span = f"in a motion from {number(times[0])} to {with_unit(number(times[1]), unit)}"
    return [f"{first_names(names, _NAMED)}: static {when}, {span}" for when, names in waiting.items()]


def half_turns(track: Track, unit: str) -> str:
    """Return a note on a track with a rotation of about half a turn between two poses, or an empty text."""
    turns = np.linalg.norm(track.rows[:, TURN:REFERENCE], axis=1)
    steps = [
        f"[{k}] and [{k + 1}] (from {number(track.times[k])} to {with_unit(number(track.times[k + 1]), unit)},"
        f" {np.degrees(turns[k]):.4g} degrees)"
        for k in np.flatnonzero(turns > _HALF).tolist()
    ]
    if not steps:
        return ""
    return (
        f"the direction of rotation is a guess between the poses {first_names(steps, _NAMED)}, because they are about"
        " half a turn apart. Add a pose between them."
    )


def jumps(track: Track, unit: str) -> str:
    """Return a note on a track if a motion does not begin at the end of the previous motion, or an empty text."""
    motions = Motion._made(_numbers=track.rows, stacked=True)
    ends, begins = motions.at(1.0)[:-1], motions.at(0.0)[1:]
    gaps, far = np.abs(ends - begins).max(axis=1), np.abs(begins[:, :3, 3]).max(axis=1)
    jumped = (gaps[:, :3].max(axis=1) > _JUMP) | (gaps[:, 3] > _JUMP * np.maximum(1.0, far))
    steps = [
        f"[{k}] and [{k + 1}] (at {with_unit(number(track.times[k + 1]), unit)})"
        for k in np.flatnonzero(jumped).tolist()
    ]
    if not steps:
        return ""
    return (
        f"the track jumps between the motions {first_names(steps, _NAMED)}, because the second motion does not begin at"
        " the end of the first motion. No clash is detected during a jump."
    )


def motion_of(row: Array) -> Motion:
    """Return the `gjk3d.Motion` of a motion row, (21,)."""
    return Motion._made(_numbers=row[None], stacked=False)


def still(times: tuple[float, float]) -> Track:
    """Return the track of a static body."""
    return Track(np.array(times), np.asarray(Motion()._rows))


def through(times: Array, poses: Array, slack: float = 0.0) -> Track:
    """Return the track through poses (n, 4, 4), with a steady screw motion from each pose to the next."""
    return Track(times, Motion.between(poses[:-1], poses[1:], kind="screw")._rows, slack)


def pieces(a: Track, b: Track, begin: float, end: float) -> Iterator[Piece]:
    """Yield the intervals from ``begin`` to a later or earlier ``end`` in which both bodies have steady motions."""
    low, high = min(begin, end), max(begin, end)
    knots = np.unique(np.concatenate([a.times, b.times]))
    stops = [low, *knots[(knots > low) & (knots < high)].tolist(), high]
    if end < begin:
        stops.reverse()
    for first, last in pairwise(stops):
        yield Piece(first, last, np.stack([a.cut(first, last), b.cut(first, last)]))


# --- movements -------------------------------------------------------------------------------------------------------

ACCURACY = 3e-6  #: the largest measured error of tracks from joints, relative to the size of the assembly
_LOOKS = 0.25, 0.5, 0.75  #: the shares of an interval at which the error is measured
_SAFE = 2.0  #: the slack of a track divided by its measured error
_SHORTEST_SHARE, _SHORTEST = 1e-10, 1e-290  #: the shortest duration of a motion, relative to its times and absolute
_MOST = 20_000  #: the largest number of intervals of a track from joints


class Movement:
    """The motion of parts of an assembly over time.

    Every pose is a displacement from the pose of the part in its file.

    Parameters
    ----------
    tracks : mapping
        The motion of each body. The key is a pattern of names, and all matching parts move together. The value is one
        of these:

        - a `gjk3d.Motion`. Stacked motions have equal shares of the time.
        - poses (n, 4, 4) at equal intervals of time. Between two poses the body has a screw motion with the smaller
          rotation. A note names poses that are about half a turn apart, because the direction of rotation is a guess.
        - a pair of times (n,) and poses (n, 4, 4).
    joints : sequence of Joint
        The joints between bodies, and their drives.
    couplings : sequence of Coupling
        Gears, racks and screws.
    times : (float, float)
        The begin and the end of the motion.
    unit : str
        The unit of time in reports, for example "s", or "deg" for the angle of a crank.
    notes : sequence of str
        Notes on the motion for the report.
    source : str
        The path of the file of the motion. Errors of `place` start with it.

    Raises
    ------
    ShapeError, PoseError
        If an argument is invalid.

    Notes
    -----
    The track of a body is exact if a single joint moves it at a constant rate. Other tracks of joints are divided into
    screw motions, until the measured error is at most 3e-6 of the size of the assembly. The error is measured at a
    quarter, a half and three quarters of each interval. Twice the measured error is subtracted from every clearance.
    The error is not certified between these times.

    Examples
    --------
    >>> import gjk3d as gk
    >>> cube = gk.Box((1, 1, 1)).surface()
    >>> parts = {"drawer": gk.Mesh(*cube[:2]), "stop": gk.Mesh(cube.vertices + (3, 0, 0), cube.faces)}
    >>> out = gk.clash.Movement({"drawer": gk.Motion.translation(None, (2.5, 0, 0))}, times=(0, 10), unit="s")
    >>> report = gk.clash.check(gk.clash.Assembly.of(parts, "mm"), motion=out)
    >>> span = report.clashes[0].intervals[0]
    >>> round(span[1], 3), span[3]  # the drawer reaches the stop after 2 mm, and overlaps it until the end
    (8.0, 10.0)
    >>> out.bodies, out.place(["drawer"], {"drawer": parts["drawer"].bounds})["drawer"].pose(4.0)[:3, 3]
    (['drawer'], array([1., 0., 0.]))
    """

    def __init__(
        self,
        tracks: Mapping[str, Any] | None = None,
        *,
        joints: Sequence[Joint] = (),
        couplings: Sequence[Coupling] = (),
        times: tuple[float, float] = (0.0, 1.0),
        unit: str = "",
        notes: Sequence[str] = (),
        source: str = "",
    ) -> None:
        begin, end = _times(times)
        self.times, self.unit, self.source = (begin, end), unit, source
        self.joints, self.couplings = _all(joints, Joint, "joints"), _all(couplings, Coupling, "couplings")
        paths = _check_tracks(tracks)
        self.given = {pattern: _track(path, (begin, end), pattern) for pattern, path in paths.items()}
        warnings = {
            name: (jumps if isinstance(path, Motion) else half_turns)(self.given[name], unit)
            for name, path in paths.items()
        }
        self.notes = (*notes, *(f"{name}: {text}" for name, text in warnings.items() if text))
        if not self.given and not self.joints:
            raise ShapeError("Movement: no part moves. Set tracks or joints ([[part]] or [[joint]] in a file).")
        if self.couplings and not self.joints:
            coupling = self.couplings[0]
            raise ShapeError(
                f"Movement: a coupling names {coupling.joint!r} and {coupling.to!r}, but there are no joints. Move both"
                " bodies by joints instead of tracks, one of them with a drive."
            )

    @property
    def bodies(self) -> list[str]:
        """The patterns of names that select the moving bodies."""
        return list(dict.fromkeys([*self.given, *(joint.child for joint in self.joints)]))

    def place(self, names: Sequence[str], boxes: Mapping[str, Array], unit: str | None = None) -> dict[str, Track]:
        """Return the track of each moving part. The parts of a body share one track.

        Parameters
        ----------
        names : sequence of str
            The names of all parts.
        boxes : mapping of str to (2, 3) float
            The bounds of the parts in their drawn poses.
        unit : str, optional
            The unit of lengths for messages.

        Raises
        ------
        ParseError
            If a pattern matches no part, two patterns match one part, or the parent of a joint is neither a single
            body nor static.
        ShapeError
            If the joints contradict each other.
        """
        try:
            return self._placed(names, boxes, unit)
        except Gjk3dError as error:
            if not self.source:
                raise
            raise type(error)(f"{self.source}: {error}") from None

    def _placed(self, names: Sequence[str], boxes: Mapping[str, Array], unit: str | None) -> dict[str, Track]:
        of_body: dict[str, list[str]] = {}
        owner: dict[str, str] = {}
        for body in self.bodies:
            fits = chosen(body, names, "the motion's body ")
            of_body[body] = [name for name, fit in zip(names, fits, strict=True) if fit]
            for name in of_body[body]:
                if name in owner:
                    raise ParseError(f"part {name!r} matches {owner[name]!r} and {body!r}. Change one of the patterns.")
                owner[name] = body
        tracks = dict(self.given)
        if self.joints:
            joints = [replace(joint, parent=self._parent(joint, names, owner)) for joint in self.joints]
            tracks |= self._linked(joints, of_body, boxes, unit)
        return {name: tracks[body] for name, body in owner.items()}

    def _parent(self, joint: Joint, names: Sequence[str], owner: Mapping[str, str]) -> str:
        """Return the moving body that is the parent of a joint, or an empty text for the ground and static parts."""
        if not joint.parent:
            return ""
        what = f"joint {joint.name!r}: its parent"
        try:
            fits = chosen(joint.parent, names, f"{what} ")
        except ParseError as error:
            moving = ", ".join(map(repr, self.bodies))
            fault, _, hint = str(error).partition(". ")
            cure = f"expected a moving body ({moving}), a static part, or no parent for the ground"
            raise ParseError(f"{fault}, {cure}. {hint}") from None
        bodies = {owner.get(name, "") for name, fit in zip(names, fits, strict=True) if fit}
        if len(bodies) > 1:
            listed = ", ".join(repr(body) if body else "the static parts" for body in sorted(bodies))
            raise ParseError(f"{what} {joint.parent!r} matches parts of {listed}. Name one of them.")
        (body,) = bodies
        if body in self.given:
            raise ParseError(
                f"{what} {joint.parent!r} has a track, expected a body that a joint moves. Move it by a joint with a"
                " drive instead of a track."
            )
        return body

    def _linked(
        self,
        joints: Sequence[Joint],
        of_body: Mapping[str, list[str]],
        boxes: Mapping[str, Array],
        unit: str | None,
    ) -> dict[str, Track]:
        clashing = set(self.given) & {joint.child for joint in joints}
        if clashing:
            raise ShapeError(f"{min(clashing)!r} has a track and a joint. Remove one of them.")
        every = np.array(list(boxes.values())).reshape(-1, 2, 3)
        size = float(np.linalg.norm(every[:, 1].max(axis=0) - every[:, 0].min(axis=0))) if len(every) else 1.0
        linkage = Linkage(joints, self.couplings, self.times, size, (self.unit, unit))
        grid = linkage.grid()
        linkage.begin(grid)
        return {
            body: _divided(
                lambda t, body=body: linkage.bodies(t)[body],  # type: ignore[misc]
                grid,
                _corners([boxes[name] for name in of_body[body] if name in boxes]),
                ACCURACY * size,
            )
            for body in linkage.order
        }


def _times(times: Any) -> tuple[float, float]:
    try:
        begin, end = (float(t) for t in times)
    except (TypeError, ValueError):
        begin = end = np.nan
    if not (np.isfinite([begin, end]).all() and begin < end):
        raise ShapeError(f"Movement: times are {times!r}, expected two finite numbers with begin < end")
    if not max(_SHORTEST, _SHORTEST_SHARE * max(abs(begin), abs(end))) < end - begin < np.inf:
        raise ShapeError(
            f"Movement: times are {times!r}, which are too close for float64. Subtract the begin from all times."
        )
    return begin, end


def _all(values: Any, kind: type[Any], name: str) -> tuple[Any, ...]:
    if not isinstance(values, Iterable):
        raise TypeError(f"Movement: {name} is {kind_of(values)}, expected a list of {kind.__name__}")
    items = tuple(values)
    odd = next((item for item in items if not isinstance(item, kind)), None)
    if odd is not None:
        raise TypeError(f"Movement: {name} contains {kind_of(odd)}, {odd!r:.60}, expected only {kind.__name__}")
    return items


def _check_tracks(tracks: Any) -> Mapping[str, Any]:
    paths = {} if tracks is None else tracks
    if not isinstance(paths, Mapping):
        raise TypeError(f"Movement: tracks is {kind_of(paths)}, expected tracks by name. Pass {{'rod': track}}")
    odd = next((pattern for pattern in paths if not isinstance(pattern, str)), None)
    if odd is not None:
        raise TypeError(f"Movement: tracks has the pattern {odd!r}, {kind_of(odd)}, expected a text")
    return paths


def _track(path: Any, times: tuple[float, float], name: str) -> Track:
    if isinstance(path, Motion):
        rows = np.asarray(path._rows)
        if not len(rows):
            raise ShapeError(f"Movement: {name!r} has an empty gjk3d.Motion, expected one or more motions")
        return Track(np.linspace(*times, len(rows) + 1), rows)
    if isinstance(path, tuple) and len(path) == 2 and np.ndim(path[0]) == 1:
        try:
            at, poses = np.asarray(path[0], dtype=np.float64), path[1]
        except (TypeError, ValueError):
            raise ShapeError(f"Movement: {name!r} has the times {path[0]!r:.80}, expected numbers") from None
    else:
        at, poses = None, path
    rows, stacked = pose_rows(poses, f"Movement: {name}")
    if not stacked or len(rows) < 2:
        raise ShapeError(f"Movement: {name!r} has {count(len(rows), 'pose')}, expected 2 or more, or a gjk3d.Motion")
    if at is None:
        at = np.linspace(*times, len(rows))
    if at.shape != (len(rows),):
        raise ShapeError(f"Movement: {name!r} has {len(rows)} poses and {len(at)} times, expected a time for each pose")
    if not np.isfinite(at).all() or not (np.diff(at) > 0.0).all():
        k = int(np.argmin(np.isfinite(at) & (np.diff(at, prepend=-np.inf) > 0.0)))
        raise ShapeError(f"Movement: {name!r} has the time {at[k]:g} at [{k}], expected ascending times")
    if at[0] < times[0] or at[-1] > times[1]:
        raise ShapeError(
            f"Movement: {name!r} moves from {at[0]:g} to {at[-1]:g}, outside of the times {times}. Set times that"
            " include its poses."
        )
    matrices = np.tile(np.eye(4), (len(rows), 1, 1))
    matrices[:, :3, :3], matrices[:, :3, 3] = rows[:, :9].reshape(-1, 3, 3), rows[:, 9:12]
    return through(at, matrices)


def _corners(boxes: Sequence[Array]) -> Array:
    corners = [[box[k >> 2 & 1, 0], box[k >> 1 & 1, 1], box[k & 1, 2]] for box in boxes for k in range(8)]
    return np.array(corners).reshape(-1, 3)


def _divided(poses: Callable[[Array], Array], grid: Array, corners: Array, accuracy: float) -> Track:
    """Return a track of screw motions through given poses. ``poses`` is a function of times that returns the poses.

    The intervals of ``grid`` are halved until the position errors of the points ``corners`` are at most ``accuracy``.
    """
    begin, end, accepted, slack = grid[:-1], grid[1:], [grid[:1]], 0.0
    while len(begin):
        middle, screw = 0.5 * (begin + end), Motion.between(poses(begin), poses(end), kind="screw")
        far = np.zeros(len(begin))
        for share in _LOOKS:
            errors = screw.at(np.full(len(begin), share)) - poses(begin + share * (end - begin))
            far = np.maximum(far, [_farthest(error, corners) for error in errors])
        worst = np.argsort(-far)[: max(0, _MOST - sum(map(len, accepted)) - len(begin))]
        more = (far > accuracy) & (end - begin > 1e-9 * (grid[-1] - grid[0])) & np.isin(np.arange(len(far)), worst)
        slack = max(slack, float(far[~more].max(initial=0.0)))
        accepted.append(end[~more])
        begin, end = np.concatenate([begin[more], middle[more]]), np.concatenate([middle[more], end[more]])
    times = np.sort(np.concatenate(accepted))
    return through(times, poses(times), _SAFE * slack)


def _farthest(error: Array, corners: Array) -> float:
    moved = corners @ error[:3, :3].T + error[:3, 3]
    return float(np.sqrt((moved * moved).sum(axis=1)).max(initial=0.0))
