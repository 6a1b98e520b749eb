"""Show one clash of an assembly: the assembly as a ghost, the two parts in colour, and the overlap close up."""

import argparse
import sys
from pathlib import Path

import gjk3d as gk

MODEL = Path(__file__).parents[1] / "data" / "gearbox.glb"
PARTS = ("shaft_in", "cap_in")
COLORS = ("#E69F00", "#009E73")


def draw(result, parts, path):
    """Draw the assembly as a ghost around the two parts, and next to it the overlap, close up."""
    plotter = gk.viz.plotter((1, 2), (1400, 600), off_screen=True)
    plotter.set_background("white", all_renderers=True)  # the PNG has few colours, so a gradient would show bands
    other_parts = [mesh for name, mesh in parts.items() if name not in PARTS]
    camera = {"view": (-0.8, 0.35, -0.45), "up": (0.0, 1.0, 0.0)}
    gk.viz.plot(
        [*(parts[name] for name in PARTS), other_parts],
        plotter,
        colors=(*COLORS, "#9FB1BD"),
        opacity=(1.0, 1.0, 0.12),
        names=(*PARTS, "the other parts of the gearbox"),
        title=f"{' and '.join(PARTS)} overlap",
        **camera,
    )
    plotter.subplot(0, 1)
    camera["view"] = (-0.62, 0.3, -0.7)  # along the shaft, so that all of it is visible
    gk.viz.plot(
        result,
        plotter,
        names=PARTS,
        title="The two, close up",
        focus=(result.point_b + (0.0, 0.0, 40.0), 58.0),
        unit="mm",
        **camera,
    )
    plotter.screenshot(path)
    plotter.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the picture")
    out = parser.parse_args().out
    # a GLB is in metres; below in millimetres
    parts = {p.name: p.mesh.scaled(1000.0, unit="millimeters") for p in gk.load(MODEL).parts}
    result = gk.signed_distance(*(parts[name] for name in PARTS))
    print(f"{PARTS[0]} and {PARTS[1]}: {result}")
    out.mkdir(parents=True, exist_ok=True)
    draw(result, parts, out / "hero.png")
    print(f"picture: {out / 'hero.png'}", file=sys.stderr)
