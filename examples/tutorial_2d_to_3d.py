"""Compare the worked numbers of 2D texts on GJK and EPA with the results of the library in 3D.

Polygons become prisms over z in [-20, 20], so high that z does not matter. Then the 3D results are the 2D results.
"""

import argparse
import sys
from math import hypot, sqrt
from pathlib import Path

import numpy as np

import gjk3d as gk

A = np.array([(4, 11), (4, 5), (9, 9)])
B = np.array([(5, 7), (7, 3), (10, 2), (12, 7)])
ABOVE = (0.1, -0.55, 1.0)  #: direction of the view


def prism(polygon, half_height=20.0):
    """Return the polygon extruded along z."""
    return gk.ConvexHull([(x, y, z) for x, y in polygon for z in (half_height, -half_height)])


def flat(polygon):
    """Return the polygon as a hull in z = 0."""
    return gk.ConvexHull([(x, y, 0) for x, y in polygon])


def at(x=0.0, y=0.0, z=0.0):
    """Return the pose shifted by x, y, z."""
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def show(value):
    """Return a number, a vector or a word as text."""
    if np.ndim(value) == 0:
        return str(value) if isinstance(value, (bool, str)) else f"{round(value, 12) + 0.0:.9g}"
    return "(" + ", ".join(f"{x + 0.0:.6g}" for x in np.round(value, 12)) + ")"


def compare(what, text, ours):
    """Print a number of the text and that of gjk3d, and exit if they differ."""
    agree = text == ours if isinstance(text, (bool, str)) else np.allclose(text, ours, rtol=0, atol=1e-9)
    print(f"   {what:<48} {show(text):<24} {show(ours)}")
    if not agree:
        raise SystemExit(f"{what}: the text has {show(text)}, gjk3d {show(ours)}")


def heading(number, title, left="closed form"):
    """Print a title and the names of the columns."""
    print(f"\n{number}. {title}\n   {'':<48} {left:<24} gjk3d")


def overlap():
    """Repeat the loop of the text with support functions, then compute the boolean and the depth."""
    heading(1, "Overlap: do two convex polygons share a point?", "text")
    a, b = prism(A), prism(B)
    # the directions of the text's loop; the support of A - B along d is A's along d minus B's along -d
    steps = [((1, -1), (4, 2)), ((-1, 1), (-6, 9)), ((-336, -480), (-8, -2)), ((32, -96), (-1, -2))]
    for d, w in steps:
        direction = np.array([*d, 0.0])
        compare(f"A - B, farthest along {d}", w, (a.support(direction) - b.support(-direction))[:2])
    compare("origin in (4, 2), (-8, -2), (-6, 9)", False, flat([(4, 2), (-8, -2), (-6, 9)]).contains((0, 0, 0)))
    compare("origin in (4, 2), (-8, -2), (-1, -2)", True, flat([(4, 2), (-8, -2), (-1, -2)]).contains((0, 0, 0)))
    compare("collide", True, gk.collide(a, b))
    r = gk.signed_distance(a, b)
    print("   Not in the text: the depth by EPA, and the translation that separates the polygons.")
    print(f"   {r}\n   moving B by {show(r.separation_vector)} makes them just touch")


def distance():
    """Compare the distance, and print the trace next to the loop of the text."""
    heading(2, "Distance: B moved by (3, -1)", "text")
    r = gk.signed_distance(prism(A), prism(B + (3, -1)), trace=True)
    compare("distance 11/√41", 11 / sqrt(41), r.distance)
    compare("nearest point of A - B", (-44 / 41, 55 / 41), (r.point_a - r.point_b)[:2])
    compare("point on A (in a figure of the text: 6.75, 7.25)", (284 / 41, 301 / 41), r.point_a[:2])
    compare("point on B", (8, 6), r.point_b[:2])
    order = np.argsort(-r.trace.simplex[:, 0])
    compare("edge of this nearest point: first end", (1, 3), r.trace.simplex[order[0], :2])
    compare("its weight 24/41", 24 / 41, r.trace.simplex_weights[order[0]])
    compare("second end", (-4, -1), r.trace.simplex[order[1], :2])
    compare("its weight 17/41", 17 / 41, r.trace.simplex_weights[order[1]])
    print(f"   proven: {r.lower!r} <= true distance <= {r.upper!r}")

    # The text's loop starts with the points (1, 3) and (-9, 10), then finds (-11, -1), (-4, -1), (-4, -1), with
    # differences 24, 5.6, 0. A difference is how much farther the new point lies along d than the simplex does.
    print("\n   The loop of the text has the new points (-11, -1), (-4, -1), (-4, -1) and the differences 24, 5.6, 0.")
    print("   The trace of gjk3d, with x and y of each point:")
    for number, step in enumerate(r.trace.gjk, 1):
        nearest = step.weights @ step.simplex
        new = step.support_a - step.support_b
        print(f"   step {number}  simplex      {'  '.join(show(p[:2]) for p in step.simplex)}")
        print(f"           direction    {show(-nearest[:2])}")
        print(f"           support      {show(step.support_a[:2])} of A, {show(step.support_b[:2])} of B")
        print(f"           new point    {show(new[:2])}   difference {show((nearest - new) @ nearest)}")
        print(f"           bounds       {show(max(step.lower, 0.0))} <= distance <= {show(step.upper)}")
    print(f"   end: {r.trace.gjk_end}")
    return r


def exact_cases():
    """Compare cases with results that a rounding error could change."""
    heading(3, "Exact cases: B of item 1 moved by ...", "text")
    cases = [
        ((1.5, 0), "a vertex on the middle of an edge", "touching", 0.0),
        ((4, 2), "vertex on vertex", "touching", 0.0),
        ((-1, 5.5), "the origin on the first segment", "overlapping", -8.5 / sqrt(29)),
        ((7, 0), "vertex to vertex, √13", "separated", sqrt(13)),
    ]
    for move, what, status, value in cases:
        r = gk.signed_distance(prism(A), prism(B + move))
        compare(f"{move} {what}", status, r.status.name.lower())
        compare("   signed distance", value, r.distance)


def flat_input():
    """Compare shapes without volume."""
    heading(4, "Flat input: the same polygons, with no height")
    compare("item 1, collide", True, gk.collide(flat(A), flat(B)))
    compare("item 1, depth: a shift along z separates them", 0.0, gk.signed_distance(flat(A), flat(B)).distance)
    compare("item 2, distance", 11 / sqrt(41), gk.distance(flat(A), flat(B + (3, -1))).distance)


def curved():
    """Compare shapes without vertices."""
    heading(5, "Curved shapes")
    ball, box, can = gk.Sphere(1.0), gk.Box((2, 2, 2)), gk.Cylinder(1.0, 2.0)
    compare("sphere and sphere, centres 5 apart", 3.0, gk.distance(ball, ball, None, at(3, 4)).distance)
    compare("sphere and sphere, centres 0.5 apart", -1.5, gk.signed_distance(ball, ball, None, at(0.3, 0.4)).distance)
    compare("box and sphere off its corner", sqrt(3) - 1, gk.distance(box, ball, None, at(2, 2, 2)).distance)
    compare("cylinders side by side", 3.0, gk.distance(can, can, None, at(3, 4)).distance)
    compare("cylinders, rim to rim", hypot(3, 4), gk.distance(can, can, None, at(3, 4, 6)).distance)


def epa():
    """Compare depths for bad starts of EPA, with the origin on a vertex, an edge or a face."""
    heading(6, "EPA: the origin on a vertex, an edge or a face of the first simplex")
    box = gk.Box((2, 2, 2))
    cases = [
        ("boxes with one centre", box, box, None, -2.0),
        ("a box shifted by exactly its extent", box, box, at(2), 0.0),
        ("the identical prism twice", prism(A), prism(A), None, -30 / sqrt(41)),
        ("a small box inside a large one", box, gk.Box((0.5, 0.5, 0.5)), at(0.5), -0.75),
    ]
    for what, a, b, pose, value in cases:
        compare(what, value, gk.signed_distance(a, b, None, pose, depth="epa").distance)
    r = gk.signed_distance(prism(A), prism(B), depth="epa", trace=True)
    print("   item 1 again: the polytope grows until its nearest face is on the surface of A - B")
    for number, step in enumerate(r.trace.epa, 1):
        print(
            f"   step {number}: {len(step.faces):>2} faces, new point {show(step.point[:2]):<10}"
            f" {show(step.lower)} <= signed distance <= {show(step.upper)}"
        )
    compare("minus the depth 6/√41", -6 / sqrt(41), r.distance)


def draw(path):
    """Draw item 2 twice: the two prisms, and their Minkowski difference next to the origin."""
    low = 1.0  # lower prisms make the picture easier to read, and have the same distance
    moved = B + (3, -1)
    a, b = prism(A, low), prism(moved, low)
    r = gk.distance(a, b)
    plotter = gk.viz.plotter((1, 2), (1200, 560), off_screen=True)
    gk.viz.plot(r, plotter, title="Two prisms", names=("prism", "prism"), view=ABOVE)
    label(plotter, [*A, *moved], low)

    plotter.subplot(0, 1)
    difference = gk.ConvexHull((a.vertices[:, None] - b.vertices[None]).reshape(-1, 3))
    gk.viz.plot(
        [
            [gk.Segment((0, 0, 0), r.point_a - r.point_b), gk.Point((0, 0, 0))],
            prism([(1, 3), (-4, -1)], 2 * low),
            difference,
        ],
        plotter,
        colors=("#0072B2", "#F0E442", "#56B4E9"),
        opacity=(1.0, 1.0, 0.4),
        names=(
            "the origin, and from it to the nearest face",
            "edge (4, 5) (9, 9) of A less vertex (8, 6) of B",
            "A - B",
        ),
        title=f"All their differences, A - B\nthe origin is {r.distance:.6f} from them, as B is from A",
        view=ABOVE,
    )
    corners = difference.vertices[difference.vertices[:, 2] > 0, :2]
    label(plotter, [*np.round(corners).astype(int), np.zeros(2, dtype=int)], 2 * low)
    plotter.screenshot(path)
    plotter.close()


def label(plotter, corners, z):
    """Write x and y next to the upper corners."""
    plotter.add_point_labels(
        [(x, y, z) for x, y in corners],
        [f"({x}, {y})" for x, y in corners],
        font_size=15,
        shape=None,
        shadow=True,
        show_points=False,
        always_visible=True,
        reset_camera=False,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the picture")
    out = parser.parse_args().out
    overlap()
    distance()
    exact_cases()
    flat_input()
    curved()
    epa()
    out.mkdir(parents=True, exist_ok=True)
    draw(out / "tutorial_2d_to_3d.png")
    print(f"picture: {out / 'tutorial_2d_to_3d.png'}", file=sys.stderr)
