"""SRDF files: reading and writing of allowed pairs of links, groups and named poses.

The joints, links, chains and subgroups of a group are resolved to names of joints, as in MoveIt.
"""

from __future__ import annotations

import os
import re
import weakref
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from gjk3d.errors import ParseError, RobotError
from gjk3d.robot.files import Place, read_root
from gjk3d.robot.mechanism import Mechanism, listed
from gjk3d.typing import Ints
from gjk3d.wording import expected_names

#: reasons that gjk3d sets; an SRDF may contain any text as a reason
REASONS = ("adjacent", "default", "always", "never", "user")


class AllowedPair(NamedTuple):
    """Two links that may touch, and the reason: an item of `AllowedPairs`.

    Attributes
    ----------
    link_a, link_b : str
        Names of the links. The first one comes earlier in `AllowedPairs.links`.
    reason : str
        The reason why the pair may touch. `AllowedPairs` lists the reasons.

    Examples
    --------
    >>> import gjk3d as gk
    >>> for link_a, link_b, reason in gk.robot.Robot.example().allowed:
    ...     print(link_a, link_b, reason)
    post beam adjacent
    beam hand adjacent
    """

    link_a: str
    link_b: str
    reason: str


class AllowedPairs:
    """Pairs of links that are not checked. They can be read and edited by name.

    Reasons are "adjacent" (see `Robot.adjacent`), "default" (in collision at a configuration that is free in reality),
    "always" (in collision in every sample), "never" (without collision in all samples, see `evidence`), "user", and any
    text of an SRDF.

    Parameters
    ----------
    links : iterable of str
        Names of the links of a robot.
    pairs : iterable of (str, str, str)
        Two names and the reason.
    evidence : str
        A text about the samples on which the reasons "always" and "never" are based.

    Attributes
    ----------
    evidence : str
        The text of the parameter.
    proven : list of (str, str)
        Pairs with the reason "never" that are proven not to touch within the limits, see `allow_by_sampling`.
    unknown : list of AllowedPair
        Pairs of an SRDF with a link that the robot does not have. Checks ignore them, and `Robot.to_srdf` writes them
        back.

    Raises
    ------
    RobotError
        A name is not a link, or a pair has the same link twice.

    Examples
    --------
    >>> from gjk3d.robot import AllowedPairs
    >>> allowed = AllowedPairs(["base", "arm", "hand"], [("base", "arm", "adjacent")])
    >>> allowed.allow("hand", "base")
    >>> list(allowed)[-1]
    AllowedPair(link_a='base', link_b='hand', reason='user')
    >>> allowed.reason("arm", "base"), ("arm", "hand") in allowed
    ('adjacent', False)
    >>> allowed.counts(), allowed.links
    ({'adjacent': 1, 'user': 1}, ('base', 'arm', 'hand'))
    >>> other = allowed.copy()
    >>> other.forbid("base", "hand"), other.forbid_reason("adjacent"), len(other), len(allowed)
    (None, 1, 0, 2)
    """

    __slots__ = ("_codes", "_number", "_reasons", "_users", "evidence", "proven", "unknown")

    _codes: Ints  #: (links, links), symmetric, 1 + the number of the reason, 0 for a checked pair
    _reasons: dict[str, int]  #: the number of each reason
    _users: weakref.WeakSet[Any]  #: checkers that are notified of each change
    evidence: str
    proven: list[tuple[str, str]]
    unknown: list[AllowedPair]

    def __init__(self, links: Iterable[str], pairs: Iterable[tuple[str, str, str]] = (), *, evidence: str = "") -> None:
        self._number = {name: k for k, name in enumerate(links)}
        self._codes = np.zeros((len(self._number),) * 2, dtype=np.uint8)
        self._reasons = {}
        for a, b, reason in pairs:
            self._set(*self._pair(a, b), str(reason))
        self._users = weakref.WeakSet()
        self.evidence = evidence
        self.proven = []
        self.unknown = []

    @property
    def links(self) -> tuple[str, ...]:
        """Names of the links."""
        return tuple(self._number)

    def allow(self, link_a: str, link_b: str, reason: str = "user") -> None:
        """Allow a pair to touch. A pair that is already allowed gets the new reason.

        Parameters
        ----------
        link_a, link_b : str
            Names of two links, in any order.
        reason : str
            Any text. `AllowedPairs` lists the reasons that gjk3d gives.

        Raises
        ------
        RobotError
            A link does not exist, or both names are the same.
        """
        self._set(*self._pair(link_a, link_b), str(reason))
        self._changed()

    def forbid(self, link_a: str, link_b: str) -> None:
        """Remove a pair from the allowed pairs, so that it is checked. A pair that is already checked does not change.

        Parameters
        ----------
        link_a, link_b : str
            Names of two links, in any order.

        Raises
        ------
        RobotError
            A link does not exist, or both names are the same.
        """
        a, b = self._pair(link_a, link_b)
        self._codes[a, b] = self._codes[b, a] = 0
        self._changed()

    def forbid_reason(self, reason: str) -> int:
        """Remove all pairs with a reason from the allowed pairs, so that they are checked. Return their number.

        Parameters
        ----------
        reason : str
            A reason that was passed to `allow` or read from an SRDF.

        Returns
        -------
        int
            The number of removed pairs.
        """
        chosen = self._codes == 1 + self._reasons.get(reason, len(self._reasons))
        self._codes[chosen] = 0
        self._changed()
        return int(chosen.sum()) // 2

    def reason(self, link_a: str, link_b: str) -> str | None:
        """Return the reason of an allowed pair.

        Parameters
        ----------
        link_a, link_b : str
            Names of two links, in any order.

        Returns
        -------
        str or None
            The reason, or None for a pair that is checked.

        Raises
        ------
        RobotError
            A link does not exist, or both names are the same.
        """
        code = self._codes[self._pair(link_a, link_b)]
        return [*self._reasons][code - 1] if code else None

    def counts(self) -> dict[str, int]:
        """Return the number of allowed pairs for each reason."""
        counts = np.bincount(self._codes.ravel(), minlength=1 + len(self._reasons))[1:] // 2
        return {reason: number for reason, number in zip(self._reasons, counts.tolist(), strict=True) if number}

    def copy(self) -> AllowedPairs:
        """Return an independent copy."""
        copy = AllowedPairs(self._number, evidence=self.evidence)
        copy._codes, copy._reasons = self._codes.copy(), dict(self._reasons)
        copy.proven = list(self.proven)
        copy.unknown = list(self.unknown)
        return copy

    def _changed(self) -> None:
        for checker in list(self._users):
            checker._pairs_changed()

    def _taken_by(self, checkers: Iterable[Any]) -> None:
        """Add checkers that are notified of all later changes of the pairs."""
        self._users.update(checkers)

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__ if name != "_users"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._users = weakref.WeakSet()
        for name, value in state.items():
            setattr(self, name, value)

    def _allow_all(self, links: Ints, partners: Ints, reason: str) -> None:
        self._set(links[:, None], partners, reason)
        np.fill_diagonal(self._codes, 0)
        self._changed()

    def _set(self, links: Any, partners: Any, reason: str) -> None:
        number = 1 + self._reasons.setdefault(reason, len(self._reasons))
        if number > np.iinfo(self._codes.dtype).max:
            self._codes = self._codes.astype(np.int64)
        self._codes[links, partners] = number
        self._codes[partners, links] = number

    def _pair(self, link_a: str, link_b: str) -> tuple[int, int]:
        """Return the indices of two different links, the lower first. Other names raise `RobotError`."""
        a, b = self._number.get(link_a, -1), self._number.get(link_b, -1)
        if a < 0 or b < 0:
            name = link_a if a < 0 else link_b
            raise RobotError(f"{name!r} is not a link, {expected_names(name, self._number)}")
        if a == b:
            raise RobotError(f"{link_a!r} is given twice, expected two different links")
        return min(a, b), max(a, b)

    def __contains__(self, pair: object) -> bool:
        return isinstance(pair, tuple) and len(pair) == 2 and self.reason(*pair) is not None

    def __iter__(self) -> Iterator[AllowedPair]:
        """Yield the pairs in the order of the links."""
        links, reasons = self.links, [*self._reasons]
        for a, b in np.argwhere(np.triu(self._codes)).tolist():
            yield AllowedPair(links[a], links[b], reasons[self._codes[a, b] - 1])

    def __len__(self) -> int:
        return int(np.count_nonzero(self._codes)) // 2

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AllowedPairs):
            return NotImplemented
        if list(self._number) != list(other._number):
            return False
        numbers = [0, *(1 + self._reasons.get(reason, len(self._reasons)) for reason in other._reasons)]
        return np.array_equal(self._codes, np.array(numbers)[other._codes])

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        counts = ", ".join(f"{n} {reason}" for reason, n in self.counts().items())
        return f"<AllowedPairs: {counts or 'none'}>"


#: elements that are written from `AllowedPairs`; all other elements of an SRDF are written back unchanged
_ABOUT_PAIRS = ("disable_default_collisions", "disable_collisions", "enable_collisions")

State = dict[str, tuple[float, ...]]


class Srdf(NamedTuple):
    """The content of an SRDF."""

    name: str
    allowed: AllowedPairs
    states: dict[str, State]  #: joint values of the named poses
    groups: Groups
    unused: str  #: a warning about elements that are not used, or empty
    elements: tuple[str, ...]  #: groups, end effectors and other elements as XML, to be written back


def read_srdf(path: str | os.PathLike[str], links: Iterable[str]) -> Srdf:
    """Return the content of an SRDF for a robot with the given names of links."""
    file, root = read_root(path)
    top = Place(root, str(file))
    names = list(links)
    link_names = set(names)
    allowed = AllowedPairs(names)
    # Order as in MoveIt: first the defaults, then disabled pairs. Enabled pairs override both.
    for place in top.children("disable_default_collisions"):
        link = place.text("link")
        if link in link_names:
            allowed._allow_all(np.array([allowed._number[link]]), np.arange(len(names)), "default link")
    for place in top.children("disable_collisions"):
        pair = AllowedPair(place.text("link1"), place.text("link2"), place.element.get("reason") or "user")
        if pair.link_a not in link_names or pair.link_b not in link_names:
            allowed.unknown.append(pair)
        elif pair.link_a != pair.link_b:
            # MoveIt's own reasons are capitalised
            reason = pair.reason.lower() if pair.reason.lower() in REASONS else pair.reason
            allowed.allow(pair.link_a, pair.link_b, reason)
    for place in top.children("enable_collisions"):
        a, b = place.text("link1"), place.text("link2")
        if a in link_names and b in link_names and a != b:
            allowed.forbid(a, b)
    if root.tag != "robot" or (root.find("joint") is not None and root.find("disable_collisions") is None):
        raise ParseError(
            f"{file} is a <{root.tag}> with joints, expected an SRDF. Pass it as the robot if it is the URDF"
            if root.tag == "robot"
            else f"{file} is not an SRDF, because its root is <{root.tag}>, expected <robot>. Pass the path of an SRDF"
        )
    if allowed.unknown and not len(allowed):
        first = allowed.unknown[0]
        raise ParseError(
            f"{file} is the SRDF of another robot, because none of its {len(allowed.unknown)} pairs names two links of "
            f"this robot (the first is {first.link_a!r} with {first.link_b!r}). Pass the SRDF of this robot"
        )
    elements = tuple(_xml(child) for child in root if child.tag not in _ABOUT_PAIRS)
    return Srdf(root.get("name", ""), allowed, _states(top), read_groups(top), _unused(file, root), elements)


def _unused(file: Path, root: Element) -> str:
    names: dict[str, list[str]] = {}
    for child in root:
        if child.tag not in (*_ABOUT_PAIRS, "group", "group_state"):
            names.setdefault(child.tag, []).append(child.get("name", ""))
    if not names:
        return ""
    words = ", ".join(
        f"<{tag}> {listed([name for name in tag_names if name])}".rstrip() for tag, tag_names in names.items()
    )
    cure = ". Use Robot.join(..., joints=...) for a base that moves." if "virtual_joint" in names else ""
    return f"{file}: these elements are not used: {words}{cure}"


def _xml(element: Element) -> str:
    """Return an element as text. The indentation is the same each time, also for an element that was written before."""
    element.tail = None
    ElementTree.indent(element, "  ")
    return ElementTree.tostring(element, encoding="unicode")


def _states(top: Place) -> dict[str, State]:
    """Return the named poses of an SRDF. The key is the name, or group/name if several poses have that name."""
    places = list(top.children("group_state"))
    names = [place.text("name") for place in places]
    counts = Counter(names)
    states: dict[str, State] = {}
    for name, place in zip(names, places, strict=True):
        key = name if counts[name] == 1 else f"{place.text('group')}/{name}"
        if key in states:
            raise ParseError(f"{place.where}: two poses have the name {key!r}. Rename or remove one.")
        states[key] = {
            joint.text("name"): joint.numbers("value", len(joint.text("value").split()))
            for joint in place.children("joint")
        }
    return states


def srdf_text(name: str, allowed: AllowedPairs, elements: Iterable[str] = ()) -> str:
    """Return the text of an SRDF with the allowed pairs and with further ``elements``, each a text in XML."""
    root = Element("robot", {"name": name})
    for element in elements:
        root.append(ElementTree.fromstring(element))
    for pair in [*allowed, *allowed.unknown]:
        reason = pair.reason.capitalize() if pair.reason in REASONS else pair.reason
        ElementTree.SubElement(
            root, "disable_collisions", {"link1": pair.link_a, "link2": pair.link_b, "reason": reason}
        )
    ElementTree.indent(root, "  ")
    evidence = re.sub("-{2,}", "-", " ".join(allowed.evidence.split())).rstrip("-")  # -- would end an XML comment
    note = f"<!-- {evidence} -->\n" if allowed.evidence else ""
    return f'<?xml version="1.0"?>\n{note}{ElementTree.tostring(root, encoding="unicode")}\n'


#: greatest number of joint names in all chains and subgroups of a file together
MAX_JOINTS = 1_000_000


class Group(NamedTuple):
    """A group of an SRDF, with the names in its elements."""

    joints: tuple[str, ...]
    links: tuple[str, ...]
    chains: tuple[tuple[str, str], ...]  #: base link and tip link
    subgroups: tuple[str, ...]


class Groups(NamedTuple):
    """The groups of an SRDF, and the names of its virtual joints and their parent frames, which no URDF contains."""

    groups: dict[str, Group]
    virtual_joints: frozenset[str]
    frames: frozenset[str]  #: parent frames of virtual joints; a chain may start there instead of at the root


def read_groups(top: Place) -> Groups:
    """Return the groups of an SRDF. Two groups with one name raise `ParseError`."""
    groups: dict[str, Group] = {}
    for place in top.children("group"):
        name = place.text("name")
        if name in groups:
            raise ParseError(f"{place.where}: two groups have the name {name!r}. Rename or remove one.")
        joints, links, subgroups = (
            tuple(child.text("name") for child in place.children(tag)) for tag in ("joint", "link", "group")
        )
        chains = tuple((child.text("base_link"), child.text("tip_link")) for child in place.children("chain"))
        groups[name] = Group(joints, links, chains, subgroups)
    virtual = [child.element for child in top.children("virtual_joint")]
    names, frames = (frozenset(child.get(key, "") for child in virtual) for key in ("name", "parent_frame"))
    return Groups(groups, names, frames)


def resolved(file_groups: Groups, robot: Mechanism) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Return the joints of each group in the order of q, and the names in groups that the robot does not have.

    A link in a group adds the joint above it. A chain adds the joints between its two links. Joints without a value
    in q are left out. These are fixed joints, and joints that mimic another joint.
    """
    tree = _Tree(robot, file_groups)
    members = {name: set(tree.joints_of(name, group)) for name, group in file_groups.groups.items()}
    parents: dict[str, list[str]] = defaultdict(list)
    for name, group in file_groups.groups.items():
        for subgroup in group.subgroups:
            parents[subgroup].append(name)
            if subgroup not in members:
                tree.unknown.append(f"group {subgroup!r} in group {name!r}")
    # Each joint is added only once to each parent group, so this ends even if groups contain each other.
    news = [(name, joint) for name, joints in members.items() for joint in joints]
    while news:
        name, joint = news.pop()
        for parent in parents[name]:
            if joint not in members[parent]:
                tree.count(1)
                members[parent].add(joint)
                news.append((parent, joint))
    order = {joint: k for k, joint in enumerate(robot.columns)}
    return {
        name: tuple(sorted(joints & order.keys(), key=order.__getitem__)) for name, joints in members.items()
    }, tree.unknown


class _Tree:
    """The joint above each link of a robot, to resolve groups. ``unknown`` collects names that the robot lacks."""

    def __init__(self, robot: Mechanism, groups: Groups) -> None:
        self.above: Mapping[str, tuple[str, str] | None] = {
            link: joint and (joint.name, joint.parent) for link, joint in zip(robot.links, robot.joints, strict=True)
        } | dict.fromkeys(groups.frames - set(robot.links))
        self.names = {joint.name for joint in robot.joints if joint is not None}
        self.virtual = groups.virtual_joints
        self.unknown: list[str] = []
        self._joints = 0

    def joints_of(self, name: str, group: Group) -> Iterator[str]:
        """Yield the joints of a group without the joints of its subgroups. Unknown names are added to ``unknown``."""
        where = f"in group {name!r}"
        self.unknown += [f"joint {item!r} {where}" for item in group.joints if item not in self.names | self.virtual]
        links = [*group.links, *(link for chain in group.chains for link in chain)]
        self.unknown += [f"link {item!r} {where}" for item in links if item not in self.above]
        yield from self.names.intersection(group.joints)
        for link in group.links:
            if above := self.above.get(link):
                yield above[0]
        for base, tip in group.chains:
            if base in self.above and tip in self.above:
                # a joint between base and tip is on exactly one of their two paths to the root
                yield from self._up(base) ^ self._up(tip)

    def _up(self, link: str) -> set[str]:
        joints = set()
        while above := self.above[link]:
            joints.add(above[0])
            link = above[1]
        self.count(len(joints))
        return joints

    def count(self, joints: int) -> None:
        """Add ``joints`` to the total number of joints in groups. A total above `MAX_JOINTS` raises `ParseError`."""
        # a small file with nested groups may expand to a huge number of names
        self._joints += joints
        if self._joints > MAX_JOINTS:
            raise ParseError(f"groups of the SRDF expand to more than {MAX_JOINTS} joint names. Remove some groups.")
