"""The tree of an assembly, as its files have it, with what was found below each branch."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from gjk3d.cli.terminal import safe, say
from gjk3d.wording import count

if TYPE_CHECKING:
    from gjk3d.clash import Report

_Path = tuple[str, ...]


def print_tree(report: Report) -> None:
    """Print branches and parts; a finding counts once in every branch that one of its parts is below."""
    paths = {part.name: (*part.path[:-1], _leaf(part.name, part.path)) for part in report.parts}
    found: dict[_Path, Counter[str]] = {}
    for clash in report.clashes:
        if clash.is_open:
            both = (paths[name] for name in (clash.a, clash.b) if name in paths)
            for branch in {path[:k] for path in both for k in range(1, len(path) + 1)}:
                found.setdefault(branch, Counter())[clash.kind] += 1
    below = Counter(path[:k] for path in paths.values() for k in range(1, len(path)))
    told: set[_Path] = set()
    for path in paths.values():
        for k in range(1, len(path) + 1):
            branch = path[:k]
            if branch in told and k < len(path):
                continue
            told.add(branch)
            many = f" ({count(below[branch], 'part')})" if k < len(path) else ""
            here = ", ".join(f"{n} {kind}" for kind, n in found.get(branch, Counter()).items())
            say(f"{'  ' * (k - 1)}{safe(path[k - 1])}{many}{f': {here}' if here else ''}")


def _leaf(name: str, path: _Path) -> str:
    """Return the last step of a path, with the number that a part has where several have its path."""
    whole = "/".join(path)
    return path[-1] + (name[len(whole) :] if name.startswith(whole) else "")
