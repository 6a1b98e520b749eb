"""Depth of bodies that overlap, between proven bounds: the least translation that separates them, and `penetration`.

No method computes the least translation for non-convex bodies in acceptable time, so it is bounded from both sides.

Upper bound: each translation that was tested and leaves the bodies apart. The search for a short one is a cutting-plane
method. An obstacle, which is a pair of overlapping parts or faces, has planes that B has to pass. The least translation
past all planes so far (`partings.past_all`) is tested. If an obstacle remains, its plane is added. The sources of
translations and planes are:

1. The translations of the hulls, or of the boxes, always separate the bodies.
2. The translation of the deepest pair of parts is the least one if it separates the bodies.
3. For a mesh and a polytope, the alternatives of each obstacle are searched by branch and bound.
4. Candidate directions are normals of overlapping parts and faces, the axes, and the exits of the deepest points. Along
   a direction, B moves to the first free interval beyond the lower bound. The last obstacle there is the next plane.

Lower bounds: two overlapping parts have to be separated, a deep point in a closed surface has to leave the surface, and
two balls about a point, one inside each of two solids, have to be separated.

`fast` runs the same search with a few starts, one query per step, and limited work. `depth` runs the search until the
bounds agree or all candidates were tried. `points` has the lower bounds by points and balls, `inside` bounds the depth
of a surface by branch and bound, and `pushes` has the depths of contacts.
"""
