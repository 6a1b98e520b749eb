"""`shown`: what a notebook asks of an object that has a picture, the ``_repr_mimebundle_`` of every such class."""

from __future__ import annotations

from typing import Any


def shown(self: Any, include: Any = None, exclude: Any = None) -> Any:
    """Return text, a still picture and a page to turn, as Jupyter takes them; only the first where nothing can draw."""
    from gjk3d.viz.picture import bundle

    return bundle(self)
