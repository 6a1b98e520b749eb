"""Explain an exact case: the origin is on the first segment of GJK, and the next direction of the 2D loop is 0."""

import argparse
import sys
from pathlib import Path

import gjk3d as gk

A = [(4, 11), (4, 5), (9, 9)]
B = [(4, 12.5), (6, 8.5), (9, 7.5), (11, 12.5)]


def prism(polygon, half_height=2.0):
    """Return the polygon extruded along z, so high that z does not matter."""
    return gk.ConvexHull([(x, y, z) for x, y in polygon for z in (half_height, -half_height)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the picture")
    out = parser.parse_args().out
    result = gk.signed_distance(prism(A), prism(B), depth="epa", trace=True)
    explanation = gk.viz.explain(result, view=(0.15, -0.55, 1.0), up=(0, 1, 0))
    print(explanation)
    print("2D tutorial: overlapping, by 8.5 / √29 = 1.578410")
    print(f"gjk3d:       {result}")
    out.mkdir(parents=True, exist_ok=True)
    explanation.save(out / "explain_exact.png")
    print(f"picture: {out / 'explain_exact.png'}", file=sys.stderr)
