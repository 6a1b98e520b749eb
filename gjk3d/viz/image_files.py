"""Image files: what a plotter shows as pixels, or with its words as words; names of files that may be written."""

from __future__ import annotations

import itertools
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gjk3d.errors import FileError, RenderingUnavailableError
from gjk3d.viz.vector import Words, without_words, write_vector

if TYPE_CHECKING:
    import pyvista
    from PIL import Image

#: Drawn as pixels; the others keep their letters as letters.
_PIXELS = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff")
IMAGES = (*_PIXELS, ".svg", ".pdf")
PAGES = (".html", ".htm")


def shot(plotter: pyvista.Plotter) -> Image.Image:
    """Return what a plotter shows now."""
    from PIL import Image

    plotter.render()  # screenshot() alone would give the frame of before the camera moved
    return Image.fromarray(np.asarray(plotter.screenshot(None, return_img=True)))


def save(plotter: pyvista.Plotter, target: Path) -> Path:
    """Write what a plotter shows into an image file; a RenderingUnavailableError where that would be blank."""
    pixels = target.suffix.lower() in _PIXELS
    words: list[Words] = []
    if pixels:
        image = shot(plotter)
    else:
        with without_words(plotter) as words:
            image = shot(plotter)
    if float(np.std(image)) < 1.0:
        raise RenderingUnavailableError(f"{target} would be blank: the OpenGL driver draws nothing (try xvfb-run)")
    if pixels:
        image.save(target)
    else:
        write_vector(image, words, (plotter.window_size[0], plotter.window_size[1]), target)
    return target


def free_name(suffix: str = ".png") -> Path:
    """Return a name for a picture nobody named that no file has, in this folder if it can be written to."""
    folder = Path() if os.access(".", os.W_OK) else Path(tempfile.mkdtemp(prefix="gjk3d-"))
    names = itertools.chain(["gjk3d"], (f"gjk3d-{k}" for k in itertools.count(2)))
    return next(folder / f"{name}{suffix}" for name in names if not (folder / f"{name}{suffix}").exists())


def target_file(path: str | os.PathLike[str], known: tuple[str, ...] = (*IMAGES, *PAGES)) -> Path:
    """Return a file to write that has a folder and a known ending."""
    target = Path(path)
    if not target.parent.is_dir():
        raise FileError(f"{target}: there is no folder {target.parent}; make it first")
    if target.is_dir():
        raise FileError(f"{target} is a folder; name a file in it")
    if target.suffix.lower() not in known:
        raise ValueError(f"{target} has the unknown extension {target.suffix!r}: {' '.join(known)} are written")
    return target
