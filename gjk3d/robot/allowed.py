"""Which links may touch: pairs that are not checked, by name, each with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gjk3d.errors import RobotError

#: reasons that gjk3d gives itself; an SRDF may hold any text
REASONS = ("adjacent", "default", "always", "never", "user")


class AllowedPair(NamedTuple):
    """Two links that may touch, and why."""

    link_a: str
    link_b: str
    reason: str


class AllowedPairs:
    """Pairs of links that are left unchecked, to be read and edited by name.

    Reasons are "adjacent" (joined by a joint, or by joints through links that have no shapes), "default" (in
    collision at a configuration that is known to be free), "always" (in collision in every sample), "never" (in none;
    see `evidence`), "user", and whatever an SRDF says.

    Parameters
    ----------
    links : iterable of str
        Names of the links of a robot.
    pairs : iterable of (str, str, str)
        Two names and the reason.
    evidence : str
        What the reasons "always" and "never" rest on, in words.

    Attributes
    ----------
    evidence : str
    proven : list of (str, str)
        Pairs called never that are proven not to touch within the limits; see `allow_by_sampling`.
    unknown : list of AllowedPair
        Pairs of an SRDF that name a link which the robot does not have; they are written back and mean nothing.

    Examples
    --------
    >>> from gjk3d.robot import AllowedPairs
    >>> allowed = AllowedPairs(["base", "arm", "hand"], [("base", "arm", "adjacent")])
    >>> allowed.allow("hand", "base")
    >>> list(allowed)[-1]
    AllowedPair(link_a='base', link_b='hand', reason='user')
    >>> allowed.reason("arm", "base"), ("arm", "hand") in allowed
    ('adjacent', False)
    """

    __slots__ = ("_number", "_reasons", "evidence", "proven", "unknown")

    evidence: str
    proven: list[tuple[str, str]]
    unknown: list[AllowedPair]

    def __init__(self, links: Iterable[str], pairs: Iterable[tuple[str, str, str]] = (), *, evidence: str = "") -> None:
        self._number = {name: k for k, name in enumerate(links)}
        self._reasons: dict[tuple[str, str], str] = {}
        self.evidence = evidence
        self.proven = []
        self.unknown = []
        for a, b, reason in pairs:
            self.allow(a, b, reason)

    @property
    def links(self) -> tuple[str, ...]:
        """Names of the links."""
        return tuple(self._number)

    def allow(self, link_a: str, link_b: str, reason: str = "user") -> None:
        """Leave a pair unchecked; a pair that is allowed already gets the new reason."""
        self._reasons[self._key(link_a, link_b)] = str(reason)

    def forbid(self, link_a: str, link_b: str) -> None:
        """Check a pair again; nothing happens to a pair that is checked already."""
        self._reasons.pop(self._key(link_a, link_b), None)

    def forbid_reason(self, reason: str) -> int:
        """Check all pairs again that are allowed for a reason; return how many they are."""
        found = [key for key, why in self._reasons.items() if why == reason]
        for key in found:
            del self._reasons[key]
        return len(found)

    def reason(self, link_a: str, link_b: str) -> str | None:
        """Return why a pair is allowed, None where it is checked."""
        return self._reasons.get(self._key(link_a, link_b))

    def counts(self) -> dict[str, int]:
        """Return how many pairs are allowed for each reason."""
        counts: dict[str, int] = {}
        for reason in self._reasons.values():
            counts[reason] = counts.get(reason, 0) + 1
        return counts

    def copy(self) -> AllowedPairs:
        """Return a list of its own."""
        other = AllowedPairs(self._number, self, evidence=self.evidence)
        other.proven = list(self.proven)
        other.unknown = list(self.unknown)
        return other

    def _key(self, link_a: str, link_b: str) -> tuple[str, str]:
        """Return the two names in the order of the links, which must be two and be there."""
        for name in (link_a, link_b):
            if name not in self._number:
                raise RobotError(f"there is no link {name!r}; links are {', '.join(self._number)}")
        if link_a == link_b:
            raise RobotError(f"{link_a!r} twice, expected two links: a link is never checked against itself")
        return (link_a, link_b) if self._number[link_a] < self._number[link_b] else (link_b, link_a)

    def __contains__(self, pair: object) -> bool:
        return isinstance(pair, tuple) and len(pair) == 2 and self.reason(*pair) is not None

    def __iter__(self) -> Iterator[AllowedPair]:
        """Yield the pairs in the order of the links."""
        number = self._number
        for a, b in sorted(self._reasons, key=lambda key: (number[key[0]], number[key[1]])):
            yield AllowedPair(a, b, self._reasons[a, b])

    def __len__(self) -> int:
        return len(self._reasons)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AllowedPairs):
            return NotImplemented
        return list(self._number) == list(other._number) and self._reasons == other._reasons

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        counts = ", ".join(f"{n} {reason}" for reason, n in self.counts().items())
        return f"<AllowedPairs: {counts or 'none'}>"
