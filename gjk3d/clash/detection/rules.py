"""Patterns of part names, and rules for findings to ignore, from TOML files."""

from __future__ import annotations

import fnmatch
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gjk3d.clash.detection.clashes import KINDS, STATUSES, Clashes
from gjk3d.errors import FileError, ParseError
from gjk3d.wording import expected_names, nearest

MAX_NESTING = 20  #: the largest number of names in a dotted key
#: Strings and comments. An unclosed one ends with the line or the file, so the search takes linear time.
_TEXT = re.compile(
    r""""{3}(?:[^\\]|\\.)*?(?:"{3,5}|\Z)|'{3}.*?(?:'{3,5}|\Z)|"(?>(?:[^"\\\n]|\\[^\n])*)"?|'[^'\n]*'?|\#[^\n]*""",
    re.DOTALL,
)
_DEEP = re.compile(rf"(?<![\w-])(?>[\w-]+)(?:(?>[ \t]*)\.(?>[ \t]*)(?>[\w-]+)){{{MAX_NESTING}}}")


def parse_toml(text: str) -> dict[str, Any]:
    """Return the document of a TOML text.

    Raises
    ------
    ValueError
        If the text is not TOML, is nested too deeply, or has a dotted key with too many names. The memory of tomllib
        grows with the square of the number of names.
    """
    if deep := _DEEP.search(_TEXT.sub("text", text)):
        raise ValueError(f"the key {deep[0][:40]}... is too long, expected at most {MAX_NESTING} names")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("its values are in too many levels of brackets") from None


_LARGEST = 1 << 24
_KEYS = "a", "b", "reason", "kinds"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that ignores the findings of two parts whose names match two patterns, in any order.

    Attributes
    ----------
    a, b : str
        Patterns with ``*``, ``?`` and ``[abc]`` as in file names. A pattern must match the whole name of a part or the
        last step of the name.
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
    """Return a function of a name that returns whether a pattern matches the whole name or its last step."""
    test = re.compile(fnmatch.translate(pattern)).match
    return lambda name: test(name) is not None or test(name.rpartition("/")[2]) is not None


def chosen(pattern: str | None, names: Sequence[str], what: str) -> list[bool]:
    """Return whether a pattern matches each name. None matches all names, and a pattern without a match is an error."""
    if pattern is None:
        return [True] * len(names)
    fits = matcher(pattern)
    selected = [fits(name) for name in names]
    if not any(selected):
        hint = nearest(pattern.strip("*"), (name.rpartition("/")[2] for name in names), 0.5)
        hint = hint or " It must match a whole name or its last step."
        raise ParseError(f"{what}{pattern!r} does not match any of the {len(names)} parts.{hint}")
    return selected


def read_rules(given: str | os.PathLike[str] | Iterable[Rule] | None) -> tuple[Rule, ...]:
    r"""Return the rules for ignored findings in a TOML file.

    The file has a table ``[[ignore]]`` for each rule, with the keys ``a``, ``b`` and ``reason``. The key ``kinds`` is
    optional, and a rule without it ignores all kinds.

    Parameters
    ----------
    given : path, rules or None
        The file. Rules are returned unchanged. None returns an empty tuple.

    Returns
    -------
    tuple of Rule

    Raises
    ------
    FileError
        If the file does not exist.
    ParseError
        If the file is not TOML, or a key is missing, unknown or has a wrong value.

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
        return tuple(given)
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
        raise ParseError(f"{path} has {fault}, expected only tables. Write [[ignore]] and its keys below it.")
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
        raise ParseError(f'{where}: kinds is {str(kinds)[:60]!r}, expected a list such as ["touch"]')
    try:
        return Rule(row["a"], row["b"], row["reason"], tuple(kinds))
    except ParseError as error:
        raise ParseError(f"{where}: {error}") from None


class RuleBook:
    """Rules that ignore findings and count their matches. ``names`` are the names of the parts by number."""

    def __init__(self, rules: Sequence[Rule], names: Iterable[str]) -> None:
        self.rules = rules
        self.used = [0] * len(rules)
        self._fits = [
            tuple(np.fromiter(map(matcher(pattern), names), dtype=bool) for pattern in (rule.a, rule.b))
            for rule in rules
        ]

    def ignore(self, clashes: Clashes) -> None:
        """Set the status of matching findings to ignored, with the reason of the first matching rule."""
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
