"""The findings of a run, and the rules for findings to ignore.

A `Rule` has patterns of part names. `read_rules` reads rules from a TOML file. `Findings` collects the findings of a
run, `ranked` and `grouped` sort them, and `causes` returns the parts that explain several findings.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from gjk3d.clash.detection.clashes import KINDS, STATUSES, Clash, Clashes, Names, objects
from gjk3d.clash.detection.parts import order
from gjk3d.clash.documents import Vector
from gjk3d.clash.report.report import PartRow, Report
from gjk3d.errors import FileError, ParseError, ShapeError
from gjk3d.geometry.polygon import connected
from gjk3d.typing import Array, Bools, Ints
from gjk3d.wording import count, expected_names, nearest, number, with_unit

# --- rules -----------------------------------------------------------------------------------------------------------

MAX_NESTING = 20  #: the largest number of names in a dotted key
#: TOML strings and comments. An unclosed string ends with the line or the file, so the search takes linear time.
_TEXT = re.compile(
    r""""{3}(?:[^\\]|\\.)*?(?:"{3,5}|\Z)|'{3}.*?(?:'{3,5}|\Z)|"(?>(?:[^"\\\n]|\\[^\n])*)"?|'[^'\n]*'?|\#[^\n]*""",
    re.DOTALL,
)
#: A dotted key with more than MAX_NESTING names.
_DEEP = re.compile(rf"(?<![\w-])(?>[\w-]+)(?:(?>[ \t]*)\.(?>[ \t]*)(?>[\w-]+)){{{MAX_NESTING}}}")


def parse_toml(text: str) -> dict[str, Any]:
    """Return the document of a TOML text. Raise a ValueError if the text is not TOML or is nested too deeply.

    A dotted key has at most `MAX_NESTING` names, because the memory of tomllib grows with the square of their number.
    """
    if deep := _DEEP.search(_TEXT.sub("text", text)):
        raise ValueError(f"the key {deep[0][:40]}... is too long, expected at most {MAX_NESTING} names")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("the values are in too many levels of brackets") from None


_LARGEST = 1 << 24  #: the largest size of a file of rules in bytes
_KEYS = "a", "b", "reason", "kinds"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that ignores the findings of two parts whose names match two patterns, in any order.

    Attributes
    ----------
    a, b : str
        Patterns with ``*``, ``?`` and ``[abc]`` as in file names. A pattern must match the whole name of a part, or the
        text after the last ``/`` of the name.
    reason : str
        The reason of the rule for the report.
    kinds : tuple of str
        The kinds of findings to ignore. An empty tuple means all kinds.

    Raises
    ------
    ParseError
        If the reason is empty, or a kind is unknown.

    Examples
    --------
    >>> import gjk3d as gk
    >>> cube = gk.Box((1, 1, 1)).surface()
    >>> parts = {"bolt 1": gk.Mesh(*cube[:2]), "plate": gk.Mesh(cube.vertices + 0.75, cube.faces)}
    >>> rule = gk.clash.Rule("bolt*", "plate", "threads are drawn through")
    >>> gk.clash.check(gk.clash.Assembly.of(parts), ignore=[rule]).clashes[0].status
    'ignored'
    """

    a: str
    b: str
    reason: str
    kinds: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.reason.strip():
            raise ParseError(f"the rule to ignore {self.a!r} with {self.b!r} lacks a reason. Set reason.")
        for kind in self.kinds:
            if kind not in KINDS:
                raise ParseError(f"a rule has the kind {kind!r}, {expected_names(kind, KINDS)}")


def matcher(pattern: str) -> Callable[[str], bool]:
    """Return a function that returns whether ``pattern`` matches a part name, or the text after its last ``/``."""
    test = re.compile(fnmatch.translate(pattern)).match
    return lambda name: test(name) is not None or test(name.rpartition("/")[2]) is not None


def chosen(pattern: str | None, names: Sequence[str], what: str) -> list[bool]:
    """Return whether a pattern matches each name. None matches all names, and a pattern without a match is an error.

    ``what`` is the start of the error message, for example "a=".
    """
    if pattern is None:
        return [True] * len(names)
    fits = matcher(pattern)
    selected = [fits(name) for name in names]
    if not any(selected):
        hint = nearest(pattern.strip("*"), (name.rpartition("/")[2] for name in names), 0.5)
        hint = hint or " A pattern must match a whole name or the text after its last /."
        raise ParseError(f"{what}{pattern!r} does not match any of the {len(names)} parts.{hint}")
    return selected


def read_rules(given: str | os.PathLike[str] | Iterable[Rule] | None) -> tuple[Rule, ...]:
    r"""Read the rules for ignored findings from a TOML file.

    The file has a table ``[[ignore]]`` for each rule, with the keys ``a``, ``b`` and ``reason``. The key ``kinds`` is
    optional, and a rule without it ignores all kinds.

    Parameters
    ----------
    given : path, rules or None
        The path of the file. Rules are returned as a tuple, and None returns an empty tuple.

    Returns
    -------
    tuple of Rule

    Raises
    ------
    FileError
        If the file does not exist.
    ParseError
        If the file is not TOML, or a key is missing, unknown or has a wrong value.
    ShapeError
        If a rule is not a `Rule`.

    Examples
    --------
    >>> import gjk3d as gk, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "ignore.toml"
    ...     _ = file.write_text('[[ignore]]\na = "bolt*"\nb = "plate"\nreason = "threads"\n')
    ...     gk.clash.read_rules(file)
    (Rule(a='bolt*', b='plate', reason='threads', kinds=()),)
    """
    if given is None:
        return ()
    if not isinstance(given, str | os.PathLike):
        rules = tuple(given) if isinstance(given, Iterable) else (given,)
        for rule in rules:
            if not isinstance(rule, Rule):
                raise ShapeError(
                    f"ignore has {rule!r:.80}, expected rules such as gk.clash.Rule('bolt_*', 'nut_*', 'threads')"
                )
        return rules
    path = Path(given)
    if not os.path.isfile(path):
        raise FileError(f"the file {path} with rules for ignored findings does not exist. Correct the path.")
    if path.stat().st_size > _LARGEST:
        raise ParseError(
            f"{path} has {path.stat().st_size} bytes, expected at most {_LARGEST} for a file of rules. Use patterns "
            "such as bolt*."
        )
    try:
        document = parse_toml(path.read_text(encoding="utf-8"))
    except ValueError as error:  # also for bytes that are not UTF-8
        raise ParseError(
            f"{path} is not TOML: {str(error)[:200]}. Write tables [[ignore]] with a, b and reason."
        ) from None
    unknown = sorted(set(document) - {"ignore"})
    rows = document.get("ignore", [])
    if unknown or not isinstance(rows, list):
        fault = f"the key {unknown[0]!r}" if unknown else f"ignore = {str(rows)[:60]}"
        raise ParseError(
            f"{path} has {fault}, expected only tables [[ignore]]. Write [[ignore]] and its keys below it."
        )
    return tuple(_rule(row, f"{path}, rule {k + 1}") for k, row in enumerate(rows))


def _rule(row: Any, where: str) -> Rule:
    if not isinstance(row, dict):
        raise ParseError(f"{where} is not a table. Write [[ignore]] and its keys below it.")
    unknown = sorted(set(row) - {*_KEYS})
    if unknown:
        raise ParseError(f"{where} has the unknown key {unknown[0]!r}, {expected_names(unknown[0], _KEYS)}")
    missing = [key for key in ("a", "b", "reason") if not isinstance(row.get(key), str)]
    if missing:
        raise ParseError(f'{where} lacks a text for {missing[0]}. Write {missing[0]} = "..." in its table.')
    kinds = row.get("kinds", [])
    if not isinstance(kinds, list) or not all(isinstance(kind, str) for kind in kinds):
        raise ParseError(f'{where}: kinds is {json.dumps(kinds, default=str)[:60]}, expected a list such as ["touch"]')
    try:
        return Rule(row["a"], row["b"], row["reason"], tuple(kinds))
    except ParseError as error:
        raise ParseError(f"{where}: {error}") from None


class RuleBook:
    """Rules with the number of findings that each rule ignored. ``names`` are the names of the parts by index."""

    def __init__(self, rules: Sequence[Rule], names: Iterable[str]) -> None:
        self.rules = rules
        self.used = [0] * len(rules)
        self._fits = [
            tuple(np.fromiter(map(matcher(pattern), names), dtype=bool) for pattern in (rule.a, rule.b))
            for rule in rules
        ]

    def ignore(self, clashes: Clashes) -> None:
        """Set the status of matching findings to "ignored", and add the reason of the first matching rule as a note."""
        a, b, kind, status = (clashes.columns[name] for name in ("a", "b", "kind", "status"))
        left = np.ones(len(clashes), dtype=bool)
        for k, (rule, (first, second)) in enumerate(zip(self.rules, self._fits, strict=True)):
            fits = left & ((first[a] & second[b]) | (first[b] & second[a]))
            if rule.kinds:
                fits &= np.isin(kind, [KINDS.index(name) for name in rule.kinds])
            left &= ~fits
            self.used[k] += int(fits.sum())
            status[fits] = STATUSES.index("ignored")
            clashes.note(np.flatnonzero(fits), f"ignored: {rule.reason}")

    def unused(self) -> list[str]:
        """Return a note on each rule without a match."""
        return [
            f"the rule to ignore {rule.a!r} with {rule.b!r} matches no finding"
            for rule, count in zip(self.rules, self.used, strict=True)
            if not count
        ]


# --- findings --------------------------------------------------------------------------------------------------------

_NEIGHBOURS = 8  #: the number of the nearest findings with which a finding is compared
#: The class of each kind. Only findings of one class are in one group.
_CLASSES = {"hard": 0, "contained": 0, "duplicate": 0, "unchecked": 1, "touch": 2, "clearance": 3}


def ranked(clashes: Iterable[Clash], groups: Sequence[str]) -> Clashes:
    """Return the findings sorted by severity, with their ranks. ``groups`` has the group name of each finding."""
    table = Clashes.of(clashes)
    order = table.worst_first()
    columns = table.subset(order).columns
    return Clashes(table.parts, columns | {"severity": np.arange(1, len(order) + 1), "group": objects(groups)[order]})


def grouped(clashes: Clashes, sizes: Mapping[str, float]) -> list[str]:
    """Return the name of the group of each finding. ``sizes`` are the sizes of the parts by name.

    Two findings are in one group if their kinds are in one class, they share a part, and the distance of their points
    is at most the reach of one of the two findings. The kinds "hard", "contained" and "duplicate" are one class, and
    each other kind is its own class. The reach of a finding is the size of its smaller part. A group has the name of
    the part that is in most of its findings.
    """
    if not len(clashes):
        return []
    columns = clashes.columns
    # the numbers of the two parts of each finding; a finding with a single part has it twice
    parts = np.column_stack([columns["a"], np.where(columns["b"] < 0, columns["a"], columns["b"])])
    size = np.array([sizes.get(name, inf) for name in clashes.parts.names])
    points, kinds = columns["point"], np.array([_CLASSES[kind] for kind in KINDS])[columns["kind"]]
    placed = np.flatnonzero(~np.isnan(points[:, 0]))
    near = placed[_near(parts[placed], kinds[placed], points[placed], size[parts[placed]].min(axis=1))]
    joined = connected(near[:, 0], near[:, 1], len(clashes))
    _, first, group = np.unique(joined, return_index=True, return_inverse=True)
    names = clashes.parts.names[_naming(parts, group.ravel(), clashes.parts.places, size)].tolist()
    uses = Counter[str]()
    for k in np.argsort(first).tolist():
        uses[names[k]] += 1
        if uses[names[k]] > 1:
            names[k] = f"{names[k]} ({uses[names[k]]})"
    return [names[k] for k in group.ravel().tolist()]


def _near(parts: Ints, kinds: Ints, points: Array, reach: Array) -> Ints:
    """Return pairs of findings that belong to one group, (k, 2).

    Each finding is compared with a few of the nearest findings, which is enough to connect chains of findings.
    ``parts`` (n, 2) and ``points`` (n, 3) are the parts and the point of each finding. ``kinds`` (n,) has the class of
    its kind, and ``reach`` (n,) its reach. `grouped` explains both.
    """
    finding = np.concatenate([np.arange(len(parts)), np.flatnonzero(parts[:, 0] != parts[:, 1])])
    part = np.concatenate([parts[:, 0], parts[parts[:, 0] != parts[:, 1], 1]])
    like = part * len(_CLASSES) + kinds[finding]
    order = np.lexsort((finding, like))
    finding, ends = finding[order], np.flatnonzero(np.diff(like[order], append=-1)) + 1
    starts = np.concatenate([[0], ends[:-1]])
    blocks = [np.zeros((0, 2), dtype=np.int64)]
    counts = ends - starts
    for size in np.unique(counts[counts > 1]).tolist():
        members = finding[starts[counts == size, None] + np.arange(size)]  # the findings of all parts with this count
        if size <= _NEIGHBOURS + 1:  # all pairs are compared
            blocks += [members[:, [i, j]] for i, j in combinations(range(size), 2)]
            continue
        from scipy.spatial import cKDTree

        for row in members:
            _, nearest = cKDTree(points[row]).query(points[row], k=_NEIGHBOURS + 1)
            blocks.append(np.stack([np.repeat(row, _NEIGHBOURS + 1), row[nearest].ravel()], axis=1))
    pairs = np.concatenate(blocks)
    gap = np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1)
    close: Ints = pairs[gap <= reach[pairs].max(axis=1)]
    return close


def _naming(parts: Ints, group: Ints, places: Ints, size: Array) -> Ints:
    """Return the part that names each group: the part in most findings, or the smallest one of several such parts.

    ``parts`` (n, 2) and ``group`` (n,) are the parts and the group of each finding. ``size`` is the size of each part,
    and ``places`` is the rank of its name, which decides between parts of equal size.
    """
    distinct = parts[:, 0] != parts[:, 1]
    part, where = np.concatenate([parts[:, 0], parts[distinct, 1]]), np.concatenate([group, group[distinct]])
    keys, counts = np.unique(where * len(places) + part, return_counts=True)
    where, part = np.divmod(keys, len(places))
    best = np.lexsort((places[part], size[part], -counts, where))
    _, first = np.unique(where[best], return_index=True)
    naming: Ints = part[best[first]]
    return naming


_SPARE = 1024  #: the stored findings are sorted and cut when their number exceeds the limit by this number


class Findings:
    """The findings of a run.

    The worst ``most`` findings are stored, and the others are counted. If ``most`` is None, all are stored. ``watched``
    are ids, and `seen` is the set of those that the run has found. ``callback`` is called with each finding.
    """

    def __init__(
        self, parts: Names, most: int | None, watched: Collection[str], callback: Callable[[Clash], None] | None = None
    ) -> None:
        self.count = 0
        self.seen: set[str] = set()
        self._parts = parts
        self._most = most
        self._watched = watched
        self.found = callback
        self._many: list[Clashes] = []
        self._left_out: Counter[tuple[str, str]] = Counter()

    def add(self, clashes: Clashes, pairs: Iterable[bool], step: Callable[[], None] = lambda: None) -> None:
        """Store or count the findings of pairs, and call the callback with each finding.

        ``pairs`` has a bool for each pair, which is True if the pair has a finding. ``step`` is called after each pair.
        If ``step`` raises an error, the findings of the pairs so far are stored.
        """
        rows, before = iter(clashes), self.count
        try:
            for has_one in pairs:
                if has_one:
                    self.count += 1
                    if self.found is not None:
                        self.found(next(rows))
                step()
        finally:
            reported = self.count - before
            clashes = clashes if reported == len(clashes) else clashes.subset(slice(reported))
            if self._watched:
                self.seen.update(ident for ident in clashes.ids() if ident in self._watched)
            self._many += [clashes] * (len(clashes) > 0)
            if self._most is not None and sum(map(len, self._many)) > self._most + _SPARE:
                self._cut()

    @property
    def clashes(self) -> Clashes:
        """The stored findings."""
        self._cut()
        return self._many[0]

    @property
    def left_out(self) -> dict[str, dict[str, int]]:
        """The number of findings that are not stored, by status and kind."""
        self._cut()
        result: dict[str, dict[str, int]] = {}
        for (status, kind), many in sorted(self._left_out.items()):
            result.setdefault(status, {})[kind] = many
        return result

    def _cut(self) -> None:
        clashes, most = Clashes.all(self._parts, self._many), self._most
        if most is not None and len(clashes) > most:
            order = clashes.worst_first()
            self._left_out += clashes.subset(order[most:]).counts()
            clashes = clashes.subset(order[:most])
        self._many = [clashes]


#: The kinds that must be repaired. A touch is usually intended.
_TO_MEND = ("hard", "contained", "duplicate", "clearance")
_FEWEST = 3  #: the smallest number of findings that a cause explains
_MOST = 20  #: the largest number of causes


@dataclass(frozen=True, slots=True)
class Cause:
    """A part that explains several findings.

    Attributes
    ----------
    part : str
        The name of the part.
    ids : tuple of str
        The ids of the findings that the part explains, the worst first.
    moved : (3,) float or None
        The translation of the part's bounding box since the baseline. None if the box did not move, or changed its
        size.
    """

    part: str
    ids: tuple[str, ...]
    moved: Vector | None = None


def causes(clashes: Collection[Clash], moved: dict[str, Vector] | None = None) -> list[Cause]:
    """Return the parts that explain most findings. Each finding has at most one cause.

    The part with most of the remaining findings is selected repeatedly. Parts that moved are selected first. This is a
    greedy vertex cover of a graph whose edges are the findings (Chvatal 1979).

    Only open findings of two parts are used, of all kinds but "touch" and "unchecked". ``moved`` has the translation
    of each part that moved since the baseline, by the name of the part. Each cause explains at least three findings.
    """
    table, moved = Clashes.of(clashes), moved or {}
    left, covers = _to_mend(table), []
    if moved:  # the move of a part does not explain earlier findings
        new = left & (table.columns["status"] == STATUSES.index("new"))
        covers = _cover(table, new, np.array([name in moved for name in table.parts.names]))
    for _, rows in covers:
        left[rows] = False
    covers += _cover(table, left, None)
    names = table.parts.names
    result = [Cause(names[part], tuple(table.ids(rows)), moved.get(names[part])) for part, rows in covers[:_MOST]]
    return sorted(result, key=lambda cause: (-len(cause.ids), order(cause.part)))


def _to_mend(clashes: Clashes) -> Bools:
    """Return whether each finding is open, has two parts, and is of a kind that must be repaired."""
    kinds: Bools = np.isin(clashes.columns["kind"], [KINDS.index(kind) for kind in _TO_MEND])
    return kinds & clashes.is_open & (clashes.columns["b"] >= 0)


def _cover(clashes: Clashes, left: Bools, among: Bools | None) -> list[tuple[int, Ints]]:
    """Return a greedy cover of the findings ``left`` by parts: each part, and the findings that it explains.

    ``left`` (n,) selects findings. ``among`` (k,) selects the parts that may be in the cover, and None selects all.
    """
    sides, places = np.stack([clashes.columns["a"], clashes.columns["b"]]), clashes.parts.places
    counts = np.bincount(sides[:, left].ravel(), minlength=len(places))
    if among is not None:
        counts[~among] = 0
    covers: list[tuple[int, Ints]] = []
    while len(covers) < _MOST and (most := counts.max()) >= _FEWEST:
        best = np.flatnonzero(counts == most)
        part = best.item(places[best].argmin())
        mine = np.flatnonzero(left & (sides == part).any(axis=0))
        left = left & (sides != part).all(axis=0)
        np.subtract.at(counts, sides[:, mine].ravel(), 1)
        covers.append((part, mine))
    return covers


def moves(before: Collection[PartRow], after: Collection[PartRow], tolerance: float) -> dict[str, Vector]:
    """Return the translation of each part whose box moved between two reports without a change of size, by name.

    Translations up to the tolerance are ignored.
    """
    old = {part.name: np.array(part.bounds) for part in before if part.bounds is not None}
    shifts = {}
    for part in after:
        if part.bounds is None or part.name not in old:
            continue
        shift = np.array(part.bounds) - old[part.name]
        if np.abs(shift[1] - shift[0]).max() <= tolerance < np.abs(shift).max():
            x, y, z = shift.mean(axis=0).tolist()
            shifts[part.name] = (x, y, z)
    return shifts


def cause_notes(report: Report) -> tuple[str, ...]:
    """Return notes on moved parts, and on the part with most findings if it explains more than half of them.

    Each note states how many findings the part explains.
    """
    unit, factor = report.reading
    total = int(_to_mend(Clashes.of(report.clashes)).sum())
    lines = []
    for k, cause in enumerate(report.causes):
        share = f"{len(cause.ids)} of {count(total, 'finding')}"
        if cause.moved is not None:
            vector = ", ".join(number(factor * x, 4) for x in cause.moved)
            lines.append(f"{cause.part} moved by {with_unit(f'({vector})', unit)} since the baseline and is in {share}")
        elif k == 0 and 2 * len(cause.ids) > total:
            lines.append(f"{cause.part} is in {share}: look at it first")
    return tuple(lines)
