"""Names, parameters and JSON fields of the public surface equal the committed list.

To update the list after a change, run ``PYTHONPATH=tests python -m tests.test_public_surface``.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from test_docstrings import PUBLIC, PublicObject

from gjk3d.clash.formats import json_schema

LIST = Path(__file__).with_name("public_surface.txt")


def parameters(obj: PublicObject) -> str:
    """Return the parameters of an object with defaults, the fields of a named tuple, or nothing for a property."""
    if obj.is_property or obj.maker is None:
        return ", ".join(obj.parameters)
    items = []
    for parameter in inspect.signature(obj.maker).parameters.values():
        if parameter.name in obj.parameters:
            star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**", parameter.KEYWORD_ONLY: "--"}.get(
                parameter.kind, ""
            )
            default = "" if parameter.default is parameter.empty else f"={parameter.default!r}"
            items.append(f"{star}{parameter.name}{default}")
    return ", ".join(items)


def fields(schema: dict[str, Any], path: str) -> Iterator[str]:
    """Yield the paths of the fields in a JSON schema."""
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
    """Return the public surface as one line per name."""
    kinds = {True: "property", False: "function"}
    names = [
        f"{name}: {'class' if obj.is_class else kinds[obj.is_property]}({parameters(obj)})"
        for name, obj in PUBLIC.items()
    ]
    documents = json.loads(json.dumps(json_schema()))
    return sorted({*names, *fields(documents, "report")})


def test_public_surface_equals_committed_list():
    assert surface() == LIST.read_text().splitlines()


if __name__ == "__main__":
    LIST.write_text("\n".join(surface()) + "\n")
