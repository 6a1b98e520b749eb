// Pairs for the lesson on axes. `turn` is the rotation vector of B about its middle, `at` its translation.
const gjk3dSatPresets = (function () {
  const make = (a, b, turn, at, text) => ({ pair: [a, b], turn, at, text }), PRISMS = ["triangular prism", "four-sided prism"], still = [0, 0, 0];
  return {
    "two prisms that overlap": make(...PRISMS, still, still, "The two polygons of many 2D tutorials, as prisms. The first normals are those of the tutorials, and that of the tops is new. All products of edges are parallel to other axes: prisms with parallel sides need no more axes than polygons. The MTV is that of the tutorials, 6 / √41 long."),
    "two prisms apart": make(...PRISMS, still, [3, -1, 0], "The same prisms, with B moved. One normal of A has a gap, 11 / √41. A query for yes or no ends at this axis. The other axes are tried to find the greatest gap."),
    "apart by a face": make("box", "cube", [0.3, -0.1, -0.6], [0.7, 0, 2], "A face of A and a corner of B are nearest. The normal of this face is the best axis, and its gap is the distance."),
    "apart by two edges only": make("wedge", "wedge", [0.3, 0.3, 0.6], [0.2, -1.7, -1.1], "All normals of faces overlap. Only the cross product of two edges has a gap. A test with the normals alone, as in 2D, would report an overlap of shapes that are apart. The two pink edges cross each other at a distance, and the axis is at right angles to both."),
    "MTV of a face": make("box", "tetrahedron", [0.5, 0.4, -0.5], [1.7, 1.2, -0.9], "A corner of B is below a face of A. The minimum translation is along the normal of this face."),
    "MTV of two edges": make("box", "wedge", [0.7, 0.2, 0.7], [-0.2, -1.7, -0.8], "An edge of A and an edge of B overlap a little. Their cross product has less overlap than all normals of faces. With normals alone the MTV would be almost five times longer."),
    "one inside the other": make("cube", "small box", [0.4, 0.2, 0.1], [0.15, 0.1, -0.2], "B is inside A, and its intervals are inside those of A. The length of the common interval is then B's own, and too short: B has to pass the nearer end of A's interval. The overlap is the highest point of A minus the lowest of B, along the axis from A to B."),
    "touching": make("box", "octahedron", still, [2.3, 0.2, 0.1], "A corner of B is on a face of A. The greatest gap is 0 up to rounding. No test in floating-point numbers decides more than that."),
    "gap below the distance": make("cube", "cube", still, [2.6, 2.6, 2.6], "A corner of A and a corner of B are nearest, along the diagonal. No axis is a diagonal, so the greatest gap, 1, is less than the distance, √3. The test answers whether shapes are apart. For their distance use GJK."),
    "nearly parallel edges": make("cube", "cube", [0, 0, 0.01], [1.3, 0.3, 0.2], "B is rotated by 0.6° about the vertical. The vertical edges are parallel, so their product is 0 and is skipped. For the other edges the sine is 0.01. Their product is accurate after the division by its length, but it is parallel to the vertical normal. The limit for parallel edges is a sine of 1e-12, where rounding would determine the direction."),
  };
})();
