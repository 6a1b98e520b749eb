"""Fixtures that run the command line in this process and write small model files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh

from gjk3d.cli.app import main


@dataclass
class Run:
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Run]:
    """Return a function that runs the command line in this process."""

    def call(*argv: object) -> Run:
        capsys.readouterr()
        code = main([str(word) for word in argv])
        return Run(code, *capsys.readouterr())

    return call


@pytest.fixture
def box(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes a box of side 2 to a file; the suffix of its name selects the format."""

    def write(name: str = "box.stl", center: Any = (0, 0, 0)) -> Path:
        mesh = trimesh.creation.box((2, 2, 2), transform=trimesh.transformations.translation_matrix(center))
        path = tmp_path / name
        path.write_bytes(trimesh.exchange.export.export_mesh(mesh, None, file_type=path.suffix[1:]))
        return path

    return write


@pytest.fixture
def assembly(tmp_path: Path) -> Path:
    """Return a GLB in metres with a box of side 2, an L-shaped prism at x = 2.5 and an open box at y = 50."""
    scene = trimesh.Scene()
    scene.add_geometry(trimesh.creation.box((2, 2, 2)), node_name="plate")
    ell = trimesh.Trimesh(*_ell(), process=False)
    scene.add_geometry(ell, node_name="ell", transform=trimesh.transformations.translation_matrix((2.5, 0, 0)))
    open_box = trimesh.creation.box((2, 2, 2))
    open_box.update_faces(np.arange(len(open_box.faces)) > 0)
    scene.add_geometry(open_box, node_name="open", transform=trimesh.transformations.translation_matrix((0, 50, 0)))
    path = tmp_path / "assembly.glb"
    path.write_bytes(scene.export(file_type="glb"))
    return path


def _ell() -> tuple[np.ndarray, np.ndarray]:
    """Return vertices and faces of an L-shaped prism of three unit cubes (volume 3, hull volume 3.5)."""
    outline = np.array([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)], float)
    low, high = np.c_[outline, np.zeros(6)], np.c_[outline, np.ones(6)]
    cap = np.array([(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)])
    sides = [(i, (i + 1) % 6, (i + 1) % 6 + 6) for i in range(6)] + [(i, (i + 1) % 6 + 6, i + 6) for i in range(6)]
    return np.r_[low, high], np.r_[cap[:, ::-1], cap + 6, sides]
