"""The results of a run by class, and their table in Markdown."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .draw import Stack

_HEAD = ("class", "pairs", "wrong", "exceptions", "NaN", "touching", "verified", "refuted", "unprovable", "not tight")
_TAIL = ("worst width / size", "most iterations")


@dataclass
class Line:
    """The results of one class."""

    pairs: int = 0
    broken: Counter[str] = field(default_factory=Counter)  #: rows by law
    exceptions: int = 0
    nan: int = 0
    verified: int = 0
    refuted: int = 0
    unproven: int = 0
    touching: int = 0
    loose: int = 0
    width: float = 0.0
    iterations: int = 0

    def add(self, other: Line) -> None:
        """Add the rows of another line."""
        self.broken += other.broken
        for name in ("pairs", "exceptions", "nan", "verified", "refuted", "unproven", "touching", "loose"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.width, self.iterations = max(self.width, other.width), max(self.iterations, other.iterations)

    @property
    def wrong(self) -> bool:
        """Whether any fault was found."""
        return bool(self.broken or self.exceptions or self.nan or self.refuted)

    def cells(self) -> list[str]:
        """Return the cells of the table."""
        broken = ", ".join(f"{name} {count}" for name, count in self.broken.most_common()) or "0"
        counts = (self.exceptions, self.nan, self.touching, self.verified, self.refuted, self.unproven, self.loose)
        return [f"{self.pairs}", broken, *map(str, counts), f"{self.width:.1e}", f"{self.iterations}"]


class Tally:
    """The results of all classes, and the messages of faults."""

    def __init__(self) -> None:
        self.lines: dict[str, Line] = {}
        self.found: list[str] = []
        self.unproven: Counter[str] = Counter()  #: rows by kinds of shape and reason

    def line(self, name: str) -> Line:
        """Return the results of a class."""
        return self.lines.setdefault(name, Line())

    def total(self) -> Line:
        """Return the sum of all classes."""
        total = Line()
        for line in self.lines.values():
            total.add(line)
        return total

    def report(self, stack: Stack, law: str, rows: list[int], message: str) -> None:
        """Count rows that break a law or raise, and print the message immediately."""
        line = self.line(stack.name)
        if law == "exception":
            line.exceptions += len(rows)
        elif law == "verify":
            line.refuted += len(rows)
        else:
            line.broken[law] += len(rows)
        shown = ", ".join(map(str, rows[:5])) + (", ..." if len(rows) > 5 else "")
        where = f"seed {stack.seed} stack {stack.number} ({stack.name}; {stack.pair.a[0]}, {stack.pair.b[0]})"
        text = f"{law}: {where} rows {shown}: {message}"
        self.found.append(text)
        print(f"\n{text}", file=sys.stderr, flush=True)

    def markdown(self) -> str:
        """Return the table in Markdown."""
        rows = [[name, *self.lines[name].cells()] for name in sorted(self.lines)]
        rows.append(["**all**", *self.total().cells()])
        head = [*_HEAD, *_TAIL]
        lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
        text = "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"
        if self.found:
            text += "\nFound:\n\n" + "\n".join(f"- {line}" for line in self.found) + "\n"
        if self.unproven:
            reasons = "\n".join(f"- {count}: {why}" for why, count in self.unproven.most_common())
            text += f"\nUnprovable:\n\n{reasons}\n"
        return text
