"""From the joints of a URDF to the arrays that the kernels take: parents first, each number of q with its column."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gjk3d.errors import ParseError
from gjk3d.robot.kinematics import FIXED, NUMBERS, Chain
from gjk3d.robot.urdf import KINDS, Description, Joint


class Tree(NamedTuple):
    """The links by number, the joint above each, the columns of the joints that have some, and the arrays."""

    links: tuple[str, ...]
    above: tuple[Joint | None, ...]
    columns: dict[str, slice]
    chain: Chain


def build(description: Description) -> Tree:
    """Return the tree of a robot; `ParseError` where its joints make none."""
    file = description.file
    above = _parents(description)
    order = _order(description, above)
    number = {name: k for k, name in enumerate(order)}
    columns: dict[str, slice] = {}
    count = 0
    for joint in description.joints:
        size = NUMBERS[KINDS[joint.type]] if joint.mimic is None else 0
        if size:
            columns[joint.name] = slice(count, count + size)
            count += size
    joints = {joint.name: joint for joint in description.joints}
    n = len(order)
    chain = Chain(
        parent=np.full(n, -1, dtype=np.int64),
        kind=np.zeros(n, dtype=np.int64),
        axis=np.tile([1.0, 0.0, 0.0], (n, 1)),
        origin=np.tile(np.eye(4), (n, 1, 1)),
        source=np.full(n, -1, dtype=np.int64),
        multiplier=np.ones(n),
        offset=np.zeros(n),
    )
    for k, name in enumerate(order):
        hangs = above.get(name)
        if hangs is None:
            continue
        chain.parent[k] = number[hangs.parent]
        chain.kind[k] = KINDS[hangs.type]
        chain.axis[k] = hangs.axis
        chain.origin[k] = hangs.origin
        if chain.kind[k] != FIXED:
            leader, chain.multiplier[k], chain.offset[k] = _leader(hangs, joints, str(file))
            chain.source[k] = columns[leader].start
    return Tree(order, tuple(above.get(name) for name in order), columns, chain)


def _parents(description: Description) -> dict[str, Joint]:
    names = {link.name for link in description.links}
    above: dict[str, Joint] = {}
    for joint in description.joints:
        for what, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in names:
                raise ParseError(
                    f"{description.file}, joint {joint.name!r}: its {what} {name!r} is no link of the file"
                )
        if joint.child in above:
            raise ParseError(
                f"{description.file}: link {joint.child!r} hangs on two joints, {above[joint.child].name!r} and "
                f"{joint.name!r}; closed loops are no URDF"
            )
        above[joint.child] = joint
    return above


def _order(description: Description, above: dict[str, Joint]) -> tuple[str, ...]:
    """Return the links from the root downwards, each branch to its end, branches as the file has them."""
    roots = [link.name for link in description.links if link.name not in above]
    if len(roots) > 1:
        raise ParseError(
            f"{description.file} has {len(roots)} links that hang on no joint, expected one: "
            + ", ".join(map(repr, roots[:5]))
        )
    below: dict[str, list[str]] = {}
    for joint in description.joints:
        below.setdefault(joint.parent, []).append(joint.child)
    order: list[str] = []
    waiting = roots
    while waiting:
        name = waiting.pop()
        order.append(name)
        waiting.extend(reversed(below.get(name, [])))
    if len(order) < len(description.links):
        lost = next(link.name for link in description.links if link.name not in order)
        raise ParseError(f"{description.file}: link {lost!r} hangs on itself, through a loop of joints")
    return tuple(order)


def _leader(joint: Joint, joints: dict[str, Joint], file: str) -> tuple[str, float, float]:
    """Return the joint with numbers of its own that this one follows, through any chain, and how."""
    multiplier, offset = 1.0, 0.0
    seen = [joint.name]
    while joint.mimic is not None:
        where = f"{file}, joint {joint.name!r}: it mimics {joint.mimic.joint!r}"
        follows = joints.get(joint.mimic.joint)
        if follows is None:
            raise ParseError(f"{where}, which is no joint of the file")
        if follows.name in seen:
            raise ParseError(f"{where}, which mimics it in turn")
        for each in (joint, follows):
            if NUMBERS[KINDS[each.type]] != 1:
                raise ParseError(f"{where}; {each.name!r} is {each.type}, expected joints of one number")
        offset += multiplier * joint.mimic.offset
        multiplier *= joint.mimic.multiplier
        seen.append(follows.name)
        joint = follows
    return joint.name, multiplier, offset
