"""The styles, scripts and templates of the pages, which lie beside this file."""

from __future__ import annotations

from importlib.resources import files


def read(name: str) -> str:
    """Return one of the files as text."""
    return files("gjk3d.viz").joinpath(name).read_text(encoding="utf-8")


def script_with(name: str) -> str:
    """Return the script of a page, behind the one that all pages have in common."""
    return read("stage.js") + read(name)
