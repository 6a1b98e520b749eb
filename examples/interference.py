"""Compare the hulls of pairs of a gearbox: overlap or gap, depth, and the translation that separates them."""

import argparse
import sys
from pathlib import Path

import numpy as np

import gjk3d as gk

MODEL = Path(__file__).parents[1] / "data" / "gearbox.glb"
PAIRS = [
    ("shaft_in", "cap_in", "the hulls decide: the shaft ends in a flat face, the cap is a disc"),
    ("shaft_out", "cap_out", "its twin at the other end, made to the right length"),
    ("cover", "bolt_1", "here the hulls mislead: the bolt is free in its hole, but a hull has no holes"),
]


def mm(vector):
    """Return a vector as text."""
    return "(" + ", ".join(f"{x + 0.0:.4f}" for x in vector.round(9)) + ") mm"


def report(a, b, note, result):
    """Print a result."""
    print(f"\n{a} and {b}: {result.status.name.lower()}   [{note}]")
    if result.depth > 0:
        print(f"   depth of the overlap     {result.depth:.6f} mm")
        print(f"   moving {b} by {mm(result.separation_vector)} makes the hulls just touch")
    else:
        print(f"   distance                 {result.distance:.6f} mm")
    print(f"   proven                   {result.lower!r} <= signed distance <= {result.upper!r} mm")
    print(f"   point of {a:<15} {mm(result.point_a)}")
    print(f"   point of {b:<15} {mm(result.point_b)}")


def draw(parts, clash, clear, path):
    """Draw the parts of a clash and of a clear pair close up, since the difference is a millimetre."""
    plotter = gk.viz.plotter((1, 2), (1200, 450), off_screen=True)
    for column, (a, b, _) in enumerate((clash, clear)):
        plotter.subplot(0, column)
        result = gk.signed_distance(parts[a], parts[b])
        inwards = np.array((0.0, 0.0, -np.sign(result.normal[2])))
        view = np.array((-1.0, 0.3, 0.0)) * np.sign(inwards[2]) - 0.35 * inwards
        gk.viz.plot(
            result,
            plotter,
            title=f"{a} and {b}",
            names=(a, b),
            unit="mm",
            focus=(result.point_b + 40.0 * inwards, 56.0),
            view=view,
            up=(0, 1, 0),
        )
    plotter.screenshot(path)
    plotter.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the picture")
    out = parser.parse_args().out
    gearbox = gk.load(MODEL)
    print(f"{MODEL.name}: {len(gearbox.parts)} parts, in {gearbox.unit}. The lengths below are in mm.")
    print("Convex hulls are compared. If they are apart, the parts are apart. An overlap may be inside a hole.")
    # a GLB is in metres; scaled hulls give results in millimetres
    hulls = {part.name: part.mesh.hull().scaled(1000.0) for part in gearbox.parts}
    results = [gk.signed_distance(hulls[a], hulls[b]) for a, b, _ in PAIRS]
    for pair, result in zip(PAIRS, results, strict=True):
        report(*pair, result)
    out.mkdir(parents=True, exist_ok=True)
    parts = {part.name: part.mesh.scaled(1000.0, unit="millimeters") for part in gearbox.parts}
    draw(parts, PAIRS[0], PAIRS[1], out / "interference.png")
    print(f"picture: {out / 'interference.png'}", file=sys.stderr)
