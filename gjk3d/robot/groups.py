"""Groups of an SRDF. Joints, links, chains and subgroups of a group become names of joints, as in MoveIt."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from gjk3d.errors import ParseError
from gjk3d.robot.files import Place
from gjk3d.robot.mechanism import Mechanism

#: Names of joints that the chains and subgroups of a file become, at most
MAX_JOINTS = 1_000_000


class Group(NamedTuple):
    """What an SRDF writes in a group."""

    joints: tuple[str, ...]
    links: tuple[str, ...]
    chains: tuple[tuple[str, str], ...]  #: base link and tip link
    subgroups: tuple[str, ...]


class Groups(NamedTuple):
    """The groups of a file, and names in them that no robot has."""

    groups: dict[str, Group]
    virtual_joints: frozenset[str]
    frames: frozenset[str]  #: parent frames of the virtual joints: chains start there as at the first link


def read_groups(top: Place) -> Groups:
    """Read the groups of an SRDF; `ParseError` if two groups have one name."""
    groups: dict[str, Group] = {}
    for place in top.children("group"):
        name = place.text("name")
        if name in groups:
            raise ParseError(f"{place.where}: there are two groups of the name {name!r}. Rename or remove one.")
        joints, links, subgroups = (
            tuple(each.text("name") for each in place.children(tag)) for tag in ("joint", "link", "group")
        )
        chains = tuple((each.text("base_link"), each.text("tip_link")) for each in place.children("chain"))
        groups[name] = Group(joints, links, chains, subgroups)
    virtual = [each.element for each in top.children("virtual_joint")]
    names, frames = (frozenset(each.get(key, "") for each in virtual) for key in ("name", "parent_frame"))
    return Groups(groups, names, frames)


def resolved(given: Groups, robot: Mechanism) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Return the joints of each group in the order of q, and the names in groups that the robot lacks.

    A link stands for the joint above it, a chain for the joints between its links. Joints without numbers in q are
    left out: fixed ones, and those that mimic another.
    """
    tree = _Tree(robot, given)
    members = {name: set(tree.joints_of(name, group)) for name, group in given.groups.items()}
    parents: dict[str, list[str]] = defaultdict(list)
    for name, group in given.groups.items():
        for subgroup in group.subgroups:
            parents[subgroup].append(name)
            if subgroup not in members:
                tree.unknown.append(f"group {subgroup!r} in group {name!r}")
    # each joint goes once from a group to each that holds it, so loops of groups end
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
    """The joints of a robot by their links."""

    def __init__(self, robot: Mechanism, given: Groups) -> None:
        self.above: Mapping[str, tuple[str, str] | None] = {
            link: joint and (joint.name, joint.parent) for link, joint in zip(robot.links, robot.joints, strict=True)
        } | dict.fromkeys(given.frames - set(robot.links))
        self.names = {joint.name for joint in robot.joints if joint is not None}
        self.virtual = given.virtual_joints
        self.unknown: list[str] = []
        self._joints = 0

    def joints_of(self, name: str, group: Group) -> Iterator[str]:
        """Yield the joints of a group without those of its subgroups; note the names that the robot lacks."""
        where = f"in group {name!r}"
        self.unknown += [f"joint {each!r} {where}" for each in group.joints if each not in self.names | self.virtual]
        links = [*group.links, *(link for chain in group.chains for link in chain)]
        self.unknown += [f"link {each!r} {where}" for each in links if each not in self.above]
        yield from self.names.intersection(group.joints)
        for link in group.links:
            if above := self.above.get(link):
                yield above[0]
        for base, tip in group.chains:
            if base in self.above and tip in self.above:
                yield from self._up(base) ^ self._up(tip)

    def _up(self, link: str) -> set[str]:
        """Return the joints between a link and the first one."""
        joints = set()
        while above := self.above[link]:
            joints.add(above[0])
            link = above[1]
        self.count(len(joints))
        return joints

    def count(self, joints: int) -> None:
        """Count what chains and subgroups become; a small file of nested groups can ask for any number."""
        self._joints += joints
        if self._joints > MAX_JOINTS:
            raise ParseError(f"groups of the SRDF become more than {MAX_JOINTS} names of joints. Remove some groups.")
