"""`Movement`, the motion of the parts of an assembly over time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gjk3d.clash.detection.rules import chosen
from gjk3d.clash.motion.joints import Coupling, Joint, Linkage
from gjk3d.clash.motion.track import Track, half_turns, jumps, through
from gjk3d.errors import Gjk3dError, ParseError, ShapeError
from gjk3d.poses import pose_rows
from gjk3d.query.motion import Motion
from gjk3d.typing import Array
from gjk3d.wording import count, kind_of

ACCURACY = 3e-6  #: the largest measured error of tracks from joints, relative to the size of the assembly
_LOOKS = 0.25, 0.5, 0.75  #: the shares of an interval at which the error is measured
_SAFE = 2.0  #: the slack of a track relative to its measured error
_TOLD_APART, _SHORTEST = 1e-10, 1e-290  #: the shortest motion, relative to its times and absolute
_MOST = 20_000  #: the largest number of intervals of a track


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
        The file of the motion, which errors of `place` name.

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
    >>> round(span[1], 3), span[3]  # it runs into the stop after 2 mm, and stays there
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
                " bodies by joints, one of them with a drive, in place of tracks."
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
        """Return the name of the moving body that is a joint's parent, or an empty text for ground and static parts."""
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
                f"{what} {joint.parent!r} has a track, expected a body that a joint moves. Give it a joint with a "
                "drive in place"
                " of its track."
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
    if not max(_SHORTEST, _TOLD_APART * max(abs(begin), abs(end))) < end - begin < np.inf:
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
        raise ShapeError(f"Movement: {name!r} has {len(rows)} poses and {len(at)} times, expected equal numbers")
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
    """Return the track of screw motions through the poses that the function ``poses`` returns at times.

    The intervals of ``grid`` are halved until the errors of the positions of ``corners`` are within the accuracy.
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
