// Pairs for the lesson on bounding volumes: the rotation of A about the vertical in degrees, its tilt before as a rotation
// vector, the place of B, and the volumes that are shown.
const gjk3dBoundsPresets = (function () {
  const make = (a, b, angle, tilt, at, shown, text) => ({ pair: [a, b], angle, tilt, at, shown, text });
  return {
    "a rod that rotates": make("rod", "box", 35, [0.5, 0, 0.2], [2.8, 1.2, 0.4], ["aabb", "obb"], "The AABB is small while the rod is parallel to an axis, and many times larger at an angle, so it is fitted again at each pose. The OBB rotates with the rod and keeps its size. The chart shows the volumes for a full turn. Press play."),
    "boxes overlap, shapes do not": make("rod", "cylinder", 80, [-0.4, 0.8, 0.5], [-0.4, -1, -1.9], ["aabb", "obb"], "The AABBs overlap although the shapes are far apart: most of the AABB of a tilted rod is empty. A test of boxes is conservative. It may report pairs that do not touch, but it never misses a pair that does. The OBBs are apart."),
    "fitted again, or the box rotated": make("cone", "rod", 55, [0.6, -0.6, -0.4], [-0.6, -1.1, 1.2], ["aabb", "moved"], "The cheap AABB goes around the rotated corners of the box in A's own frame. The cone does not reach these corners, so the box that is fitted again is smaller. Here only the larger box overlaps B's."),
    "spheres decide": make("capsule", "cone", 5, [0, -0.7, -0.2], [1.5, -1, -1.8], ["sphere", "aabb", "obb"], "The spheres are apart, and all boxes overlap. A sphere has no corners, which helps if two shapes approach each other diagonally. Its test is also the cheapest: one distance."),
    "AABBs decide, OBBs do not": make("wedge", "ellipsoid", 70, [0, -0.5, -0.2], [0, 0.2, 1.6], ["aabb", "obb"], "The OBB of the wedge is smaller than its AABB, but it reaches towards B. The AABBs are apart along the vertical. No kind of volume is the best for all pairs."),
    "all volumes overlap": make("ellipsoid", "wedge", 20, [-0.6, 0.6, -0.4], [-2, 0.5, -1.1], ["sphere", "aabb", "obb"], "All four tests report an overlap, and the shapes are apart by more than half of A's size. Only a query of the shapes decides, for example GJK or separating axes."),
    "all volumes are apart": make("plate", "box", 55, [0.1, 0.3, 0.2], [-2, 2, -2], ["sphere", "aabb", "obb"], "Each test alone proves that the shapes are apart. Of many objects most pairs are like this, and the cheapest test removes them."),
    "shapes that overlap": make("wedge", "tetrahedron", 0, [0.5, -0.1, 0.3], [-0.5, -0.1, 0.1], ["sphere", "aabb", "obb"], "The shapes overlap, and all their volumes do, because each contains its shape. Move B or rotate A: no volume is ever apart while the shapes overlap."),
  };
})();
