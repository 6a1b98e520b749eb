"""The names of products in a STEP file, for occurrences that have none of their own.

An assembly's occurrences (NEXT_ASSEMBLY_USAGE_OCCURRENCE in ISO 10303-44) are often called NAUO1, NAUO2, a blank or
nothing by the program that wrote them. The nodes of the GLB that is made of the file have these names. What a designer
named is the product that each is an occurrence of.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, NamedTuple

_STRING = rb"'(?:[^']|'')*+'"
_OCCURRENCE, _DEFINITION, _FORMATION, _PRODUCT = (
    b"NEXT_ASSEMBLY_USAGE_OCCURRENCE", b"PRODUCT_DEFINITION", b"PRODUCT_DEFINITION_FORMATION", b"PRODUCT"
)  # fmt: skip
_ENTITY = re.compile(
    rb"#(\d+)\s*=\s*(" + b"|".join((_OCCURRENCE, _FORMATION, _DEFINITION, _PRODUCT))
    + rb")(?:_WITH_SPECIFIED_SOURCE|_WITH_ASSOCIATED_DOCUMENTS)?\s*\(((?:" + _STRING + rb"|[^';])*+);"
)  # fmt: skip
_TOKEN = re.compile(rb"(" + _STRING + rb")|#(\d+)|\$")
_MACHINE = re.compile(r"(NAUO)?\d*")  #: what programs call an occurrence
REFERENCE = re.compile(r"=>\[[\d:]+\]")  #: what Open CASCADE calls a shape without a name


class _Occurrence(NamedTuple):
    name: str
    definition: int  #: of the product it is one of


class _Products:
    """What a STEP file says of its assemblies."""

    def __init__(self, step: bytes) -> None:
        formations: dict[int, int] = {}
        definitions: dict[int, int] = {}
        names: dict[int, str] = {}
        self._used: dict[tuple[int, str], list[_Occurrence]] = {}
        for number, what, text in _ENTITY.findall(step):
            tokens = _TOKEN.findall(text)
            strings = [_text(string).strip() for string, _ in tokens[:2]]
            references = [int(reference) for _, reference in tokens if reference]
            if what == _PRODUCT and strings:
                names[int(number)] = next((name for name in reversed(strings) if name), "")
            elif what == _FORMATION and references:
                formations[int(number)] = references[0]
            elif what == _DEFINITION and references:
                definitions[int(number)] = references[0]
            elif what == _OCCURRENCE and len(strings) == 2 and len(references) > 1:
                own, name = strings
                used = self._used.setdefault((references[0], name or own), [])
                used.append(_Occurrence("" if name == own else name, references[1]))
        self._names = {key: names.get(formations.get(made, -1), "") for key, made in definitions.items()}

    def called(self, name: str) -> list[int]:
        """Return the definitions of products of that name."""
        return [definition for definition, its in self._names.items() if its == name.strip()]

    def occurrence(self, wholes: list[int], node: str, before: int) -> tuple[list[int], str]:
        """Return what a node below one of these products is an occurrence of, and what to call it.

        Occurrences of one name are in the order of the file; so many nodes of the name come ``before`` this one.
        """
        for whole in wholes:
            if used := self._used.get((whole, node.strip())):
                its = used[min(before, len(used) - 1)]
                product = self._names.get(its.definition, "")
                return [its.definition], product if product and _MACHINE.fullmatch(its.name) else node.strip()
        return [], node


def _text(string: bytes) -> str:
    r"""Return a string of a STEP file: quotes doubled, and ``\X2\..\X0\``, ``\X\..`` and ``\S\.`` for other letters."""
    try:
        text = string[1:-1].decode()
    except UnicodeDecodeError:
        text = string[1:-1].decode("latin-1")
    text = text.replace("''", "'")
    text = re.sub(r"\\X2\\((?:[0-9A-F]{4})+)\\X0\\", lambda m: bytes.fromhex(m[1]).decode("utf-16-be", "replace"), text)
    text = re.sub(r"\\X\\([0-9A-F]{2})", lambda m: chr(int(m[1], 16)), text)
    return re.sub(r"\\S\\([ -~])", lambda m: chr(ord(m[1]) + 128), text)


def name_products(tree: dict[str, Any], step: bytes) -> None:
    """Call the nodes of a glTF that was made of a STEP file as their products, where they have no name.

    Parameters
    ----------
    tree : dict
        The glTF.
    step : bytes
        The file.
    """
    nodes = tree.get("nodes", [])
    if not any(node.get("children") for node in nodes):
        return
    products = _Products(step)
    roots = [root for scene in tree.get("scenes", []) for root in scene.get("nodes", [])]
    waiting = [(root, products.called(nodes[root].get("name", ""))) for root in roots]
    while waiting:
        whole, definitions = waiting.pop()
        before: Counter[str] = Counter()
        for child in nodes[whole].get("children", ()):
            node = nodes[child].get("name", "")
            its, name = products.occurrence(definitions, node, before[node])
            before[node] += 1
            if its:
                nodes[child]["name"] = name
                waiting.append((child, its))


def name_shapes(tree: dict[str, Any]) -> None:
    """Call the shapes without a name below a product by their number, or as the product if it has no other."""
    nodes = tree.get("nodes", [])
    for whole in nodes:
        children = whole.get("children", [])
        unnamed = [child for child in children if REFERENCE.fullmatch(nodes[child].get("name", ""))]
        if children == unnamed and len(unnamed) == 1 and nodes[unnamed[0]].keys() <= {"name", "mesh"}:
            whole |= {**nodes[unnamed[0]], "name": whole.get("name", "")}
            del whole["children"]
        for number, child in enumerate(unnamed, 1):
            nodes[child]["name"] = str(number)
