"""`shown`: the ``_repr_mimebundle_`` of all classes that have a picture in a notebook."""

from __future__ import annotations

from typing import Any


def shown(self: Any, include: Any = None, exclude: Any = None) -> Any:
    """Return text, a still picture and an interactive page for Jupyter; only the text if nothing can draw."""
    from gjk3d.viz.picture import bundle

    return bundle(self)
