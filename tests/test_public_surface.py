"""The public surface: names, parameters and the fields of JSON documents, as the committed list has them.

A change of the surface changes the list: ``PYTHONPATH=tests python -m tests.test_public_surface`` writes it.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from test_docstrings import PUBLIC, Thing

from gjk3d.clash.formats import json_schema

LIST = Path(__file__).with_name("public_surface.txt")


def parameters(thing: Thing) -> str:
    """Return the parameters of a name with their defaults, the fields of a named tuple, or nothing of a property."""
    if thing.is_property or thing.maker is None:
        return ", ".join(thing.parameters)
    found = []
    for each in inspect.signature(thing.maker).parameters.values():
        if each.name in thing.parameters:
            star = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**", each.KEYWORD_ONLY: "--"}.get(each.kind, "")
            default = "" if each.default is each.empty else f"={each.default!r}"
            found.append(f"{star}{each.name}{default}")
    return ", ".join(found)


def fields(schema: dict[str, Any], path: str) -> Iterator[str]:
    """Yield the fields that a JSON schema names."""
    for key, value in schema.items():
        if key in ("properties", "$defs"):
            for name, inner in value.items():
                yield f"{path}.{name}"
                yield from fields(inner, f"{path}.{name}")
        elif isinstance(value, dict):
            yield from fields(value, path)
        elif isinstance(value, list):
            for inner in value:
                if isinstance(inner, dict):
                    yield from fields(inner, path)


def surface() -> list[str]:
    """Return the public surface, a line for each name."""
    kinds = {True: "property", False: "function"}
    names = [
        f"{name}: {'class' if thing.is_class else kinds[thing.is_property]}({parameters(thing)})"
        for name, thing in PUBLIC.items()
    ]
    documents = json.loads(json.dumps(json_schema()))
    return sorted({*names, *fields(documents, "report")})


def test_the_public_surface_is_the_committed_one():
    assert surface() == LIST.read_text().splitlines()


if __name__ == "__main__":
    LIST.write_text("\n".join(surface()) + "\n")
