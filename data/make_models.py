"""Write every model in this folder, and the truth about them, from the drawing in `parts.py` and `assembly.py`.

    python data/make_models.py [--out FOLDER]

Needs numpy, scipy, trimesh and manifold3d (pip install "gjk3d[mesh]"). The same versions write the same bytes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from assembly import MM_GRID, build_scene, mesh_of
from parts import MAKERS
from truth import STL, dumps, gearbox, models


def main() -> None:
    """Write the STL files in millimetres, the GLB in metres, then read them back for the truth."""
    parser = argparse.ArgumentParser(description="write the models of this folder and the truth about them")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="folder to write to")
    out = parser.parse_args().out
    for name in STL:
        mesh_of(MAKERS[name](), 1.0, MM_GRID).export(out / f"{name}.stl")
    build_scene().export(out / "gearbox.glb")
    for name, content in [("gearbox", gearbox(out)), ("models", models(out))]:
        (out / f"{name}.truth.json").write_bytes(dumps(content).encode())
    for path in sorted([*out.glob("*.stl"), *out.glob("*.glb"), *out.glob("*.json")]):
        print(f"{path.name:20} {path.stat().st_size:8} bytes")


if __name__ == "__main__":
    main()
