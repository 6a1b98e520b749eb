"""A mechanism with shapes on its links, and the pairs of links that are checked against each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat

import numpy as np

from gjk3d.errors import RobotError
from gjk3d.robot.allowed import AllowedPairs
from gjk3d.robot.bodies import Body, Geometry
from gjk3d.robot.mechanism import Mechanism
from gjk3d.typing import Ints


class PairedLinks(Mechanism):
    """What of a `gjk3d.robot.Robot` has shapes, and which pairs of links are checked; see there."""

    __slots__ = ("_allowed", "_apart", "_welded", "_worlds", "bodies", "geometries")

    _allowed: AllowedPairs
    _apart: frozenset[str]  #: links whose fixed children are other bodies than they, as far as adjacency goes
    _welded: Ints  #: (links,), as ``rigid``, of bodies that adjacency goes by
    _worlds: frozenset[str]  #: links that are the surroundings
    bodies: tuple[Body, ...]
    geometries: tuple[Geometry, ...]

    def adjacent(self) -> list[tuple[str, str, str]]:
        """Return the pairs of links with shapes that a joint joins, or joints through links that have none.

        Links that are joined by fixed joints alone are one body: each of them is adjacent to the others, and to all of
        the next body with shapes on the way to the root, as in MuJoCo's filter of parents.

        Returns
        -------
        list of (str, str, str)
            Both names, the one nearer to the root first, and the reason, "adjacent".
        """
        first, second = np.array(self.links, dtype=object)[self._adjacent().T].tolist()
        return list(zip(first, second, repeat("adjacent")))

    def _adjacent(self) -> Ints:
        """Return them by number, (n, 2)."""
        found = [np.zeros((2, 0), dtype=np.int64)]
        for own, over in self._neighbours():
            found += [own[np.array(np.triu_indices(len(own), 1))]]
            found += [np.stack([np.tile(over, len(own)), np.repeat(own, len(over))])]
        pairs = np.concatenate(found, axis=1)
        ordered: Ints = pairs[:, np.lexsort(pairs)].T
        return ordered

    def _neighbours(self) -> Iterator[tuple[Ints, Ints]]:
        """Yield the links with shapes of each rigid body, and those of the next one on the way to the root."""
        welded: dict[int, list[int]] = {}
        for link in sorted({each.link for each in self.geometries}):
            if self.links[link] not in self._worlds:
                welded.setdefault(int(self._welded[link]), []).append(link)
        for body, links in welded.items():
            other = self._above(body)
            while other >= 0 and other not in welded:
                other = self._above(other)
            yield np.array(links), np.array(welded.get(other, ()), dtype=np.int64)

    def _above(self, body: int) -> int:
        """Return the rigid body that a rigid body hangs on, -1 for the root; both by the number of their first link."""
        link = int(self._chain.parent[body])
        return link if link < 0 else int(self._welded[link])

    def all_pairs(self) -> Ints:
        """Return the pairs of links that have shapes and are not joined by fixed joints alone, (n, 2)."""
        shaped = np.unique(np.array([each.link for each in self.geometries], dtype=np.int64))
        first, second = np.triu_indices(len(shaped), 1)
        pairs = np.column_stack([shaped[first], shaped[second]])
        apart: Ints = pairs[self.rigid[pairs[:, 0]] != self.rigid[pairs[:, 1]]]
        return apart

    @property
    def pairs(self) -> Ints:
        """Pairs of links that are checked, (n, 2), the lower number first.

        Both have shapes, they are not allowed to touch, and not joined by fixed joints alone: such links never move
        against each other.
        """
        return self._pairs_with({})

    def _pairs_with(self, said: Mapping[tuple[str, str], bool]) -> Ints:
        """Return them where of some pairs it is said otherwise whether they may touch."""
        pairs = self.all_pairs()
        checked = self.allowed._are_checked(pairs)
        for pair, may in said.items():
            checked[(pairs == self.allowed._pair(*pair)).all(axis=1)] = not may
        found: Ints = pairs[checked]
        return found

    @property
    def allowed(self) -> AllowedPairs:
        """Pairs of links that are left unchecked.

        Set it to what `allow_by_sampling` returns, or to pairs of names, each with a reason or without: (a, b, reason)
        or (a, b). A `Checker` takes the pairs as they are when it is asked.
        """
        return self._allowed

    @allowed.setter
    def allowed(self, pairs: AllowedPairs | Iterable[Sequence[str]]) -> None:
        found = pairs if isinstance(pairs, AllowedPairs) else self._pairs_of(pairs)
        if found.links != tuple(self.links):
            raise RobotError("allowed: these pairs are of a robot with other links")
        old = getattr(self, "_allowed", None)
        self._allowed = found
        if old is not None:
            found._taken_by(old._users)
            found._changed()

    def _pairs_of(self, pairs: Iterable[Sequence[str]]) -> AllowedPairs:
        found = AllowedPairs(self.links)
        for pair in pairs:
            if isinstance(pair, str) or len(pair) not in (2, 3):
                raise RobotError(f"allowed has {pair!r:.80}, expected two names of links, and a reason or none")
            found.allow(*pair)
        return found


def no_shapes(robot: PairedLinks) -> RobotError:
    """Return what is said of a robot that would be free everywhere."""
    return RobotError(
        f"robot {robot.name!r} has no collision shapes, so nothing of it can be checked: load it with "
        'collision="visual" (--collision visual) to check what is drawn of it, or attach shapes to its links'
    )
