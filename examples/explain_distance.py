"""Explain a distance: each step of GJK on the way to the nearest edge of A - B, for a worked 2D example."""

import argparse
import sys
from pathlib import Path

import gjk3d as gk

A = [(4, 11), (4, 5), (9, 9)]
B = [(8, 6), (10, 2), (13, 1), (15, 6)]


def prism(polygon, half_height=2.0):
    """Return the polygon extruded along z, so high that z does not matter."""
    return gk.ConvexHull([(x, y, z) for x, y in polygon for z in (half_height, -half_height)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the picture")
    out = parser.parse_args().out
    result = gk.distance(prism(A), prism(B), trace=True)
    explanation = gk.viz.explain(result, view=(0.15, -0.55, 1.0), up=(0, 1, 0))
    print(explanation)
    print("2D tutorial: 11 / √41 = 1.717911, from (284/41, 301/41) on A to (8, 6) on B")
    print(f"gjk3d:       {result}")
    out.mkdir(parents=True, exist_ok=True)
    explanation.save(out / "explain_distance.png")
    print(f"picture: {out / 'explain_distance.png'}", file=sys.stderr)
