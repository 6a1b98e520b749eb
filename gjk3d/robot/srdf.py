"""SRDF: which pairs a robot's makers left unchecked, its named poses; http://wiki.ros.org/srdf."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from gjk3d.errors import ParseError
from gjk3d.robot.allowed import REASONS, AllowedPair, AllowedPairs
from gjk3d.robot.xml import Place, read_root

#: elements that say which pairs are checked: they are written anew, all others are kept as they are
_ABOUT_PAIRS = ("disable_default_collisions", "disable_collisions", "enable_collisions")

State = dict[str, tuple[float, ...]]


class Srdf(NamedTuple):
    """What an SRDF says."""

    name: str
    allowed: AllowedPairs
    states: dict[str, State]  #: reference poses: the numbers of some joints, by name
    others: tuple[str, ...]  #: groups, end effectors and so on, as XML


def read_srdf(path: str | os.PathLike[str], links: Iterable[str]) -> Srdf:
    """Read an SRDF for a robot of these links."""
    file, root = read_root(path)
    top = Place(root, str(file))
    names = list(links)
    known = set(names)
    allowed = AllowedPairs(names)
    for place in top.children("disable_default_collisions"):
        link = place.text("link")
        for other in names if link in known else ():
            if other != link:
                allowed.allow(link, other, "default link")
    for place in top.children("disable_collisions"):
        pair = AllowedPair(place.text("link1"), place.text("link2"), place.element.get("reason") or "user")
        if pair.link_a not in known or pair.link_b not in known:
            allowed.unknown.append(pair)
        elif pair.link_a != pair.link_b:
            allowed.allow(pair.link_a, pair.link_b, _plain(pair.reason))
    for place in top.children("enable_collisions"):
        a, b = place.text("link1"), place.text("link2")
        if a in known and b in known and a != b:
            allowed.forbid(a, b)
    if root.tag != "robot" or (root.find("joint") is not None and root.find("disable_collisions") is None):
        raise ParseError(
            f"{file} is no SRDF, but a <{root.tag}> with joints: is it the URDF?"
            if root.tag == "robot"
            else f"{file} is no SRDF: its root is <{root.tag}>, expected <robot>"
        )
    if allowed.unknown and not len(allowed):
        first = allowed.unknown[0]
        raise ParseError(
            f"{file} is the SRDF of another robot: none of its {len(allowed.unknown)} pairs names two links of this "
            f"one, the first is {first.link_a!r} with {first.link_b!r}"
        )
    others = tuple(_xml(child) for child in root if child.tag not in _ABOUT_PAIRS)
    return Srdf(root.get("name", ""), allowed, _states(top), others)


def _xml(element: Element) -> str:
    """Return an element as text, indented in one way so that what was written reads the same."""
    element.tail = None
    ElementTree.indent(element, "  ")
    return ElementTree.tostring(element, encoding="unicode")


def _plain(reason: str) -> str:
    """Return our own words for those of MoveIt: Adjacent, Never, Default, Always, User."""
    return reason.lower() if reason.lower() in REASONS else reason


def _states(top: Place) -> dict[str, State]:
    """Return the poses by name; by group/name where several groups have one of the same name."""
    places = list(top.children("group_state"))
    names = [place.text("name") for place in places]
    states: dict[str, State] = {}
    for name, place in zip(names, places, strict=True):
        key = name if names.count(name) == 1 else f"{place.text('group')}/{name}"
        if key in states:
            raise ParseError(f"{place.where}: there are two poses of the name {key!r}")
        states[key] = {
            joint.text("name"): joint.numbers("value", len(joint.text("value").split()))
            for joint in place.children("joint")
        }
    return states


def srdf_text(name: str, allowed: AllowedPairs, others: Iterable[str] = ()) -> str:
    """Return the text of an SRDF."""
    root = Element("robot", {"name": name})
    for each in others:
        root.append(ElementTree.fromstring(each))
    for pair in [*allowed, *allowed.unknown]:
        reason = pair.reason.capitalize() if pair.reason in REASONS else pair.reason
        ElementTree.SubElement(
            root, "disable_collisions", {"link1": pair.link_a, "link2": pair.link_b, "reason": reason}
        )
    ElementTree.indent(root, "  ")
    note = f"<!-- {_comment(allowed.evidence)} -->\n" if allowed.evidence else ""
    return f'<?xml version="1.0"?>\n{note}{ElementTree.tostring(root, encoding="unicode")}\n'


def _comment(text: str) -> str:
    """Return a text that may stand in an XML comment."""
    return re.sub("-{2,}", "-", " ".join(text.split())).rstrip("-")


def write_srdf(path: str | os.PathLike[str], text: str) -> None:
    """Write the text of an SRDF to a file."""
    Path(path).write_text(text, encoding="utf-8")
