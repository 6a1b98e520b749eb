// Bounding volumes of a shape at a pose. The sphere and the OBB are fitted once, by gjk3d, and move with the shape. The
// AABB is fitted again from support points, or cheaply around the rotated box of the shape's own frame.
const gjk3dVolumes = (function () {
  const { sub, add, scale, norm, dot } = gjk3dVectors, { support } = gjk3dSupport, { times, test } = gjk3dAxes;
  const AXES = [[1, 0, 0], [0, 1, 0], [0, 0, 1]], SIGNS = [0, 1, 2, 3, 4, 5, 6, 7].map((k) => [0, 1, 2].map((i) => ((k >> i) & 1 ? 1 : -1)));
  const product = (m, n) => [0, 1, 2].flatMap((i) => [0, 1, 2].map((j) => dot(m.slice(3 * i, 3 * i + 3), [n[j], n[3 + j], n[6 + j]])));

  // A shape of the page, rotated by a matrix about its middle and moved.
  function placed(one, matrix, at = [0, 0, 0]) {
    const put = (p) => add(times(matrix, p), at), out = { ...one, matrix, shift: at, middle: at };
    return one.points ? { ...out, points: one.points.map(put) } : { ...out, turn: product(matrix, one.turn), at: put(one.at) };
  }
  // The lowest and the highest coordinates of a shape.
  function fitted(shape) {
    const height = (d) => dot(support(shape, d), d) + shape.radius;
    return { low: AXES.map((d) => -height(scale(-1, d))), high: AXES.map(height) };
  }
  const box = (low, high) => ({ center: scale(0.5, add(low, high)), half: scale(0.5, sub(high, low)), axes: AXES });
  // All volumes of a placed shape, by name. `still` is the shape before it was rotated.
  function volumes(shape, still) {
    const { low, high } = fitted(shape), before = fitted(still), own = box(before.low, before.high), put = (p) => add(times(shape.matrix, p), shape.shift);
    // a box with half extents e, rotated by R, has an AABB with half extents |R| e
    const half = [0, 3, 6].map((i) => dot(shape.matrix.slice(i, i + 3).map(Math.abs), own.half)), middle = put(own.center);
    const rows = shape.obb.pose, axis = (j) => times(shape.matrix, [0, 1, 2].map((i) => rows[i][j]));
    return {
      sphere: { center: put(shape.sphere.center), radius: shape.sphere.radius },
      aabb: box(low, high),
      moved: { center: middle, half, axes: AXES },
      obb: { center: put([0, 1, 2].map((i) => rows[i][3])), half: shape.obb.half, axes: [0, 1, 2].map(axis) },
    };
  }
  const content = (v) => (v.radius === undefined ? 8 * v.half[0] * v.half[1] * v.half[2] : (4 / 3) * Math.PI * v.radius ** 3);
  const corners = ({ center, half, axes }) => SIGNS.map((signs) => signs.reduce((p, s, i) => add(p, scale(s * half[i], axes[i])), center));
  // A box with its normals and edges, for the test of axes. The normals next to an edge are not used for a gap alone.
  const solid = (one) => ({ points: corners(one), radius: 0, normals: one.axes.flatMap((n) => [n, scale(-1, n)]), edges: one.axes.map((d) => [d, d, d]) });
  // The gap of two volumes of one kind, negative in overlap. For oriented boxes it is that of the best of 15 axes.
  function gap(v, w) {
    if (v.radius !== undefined) return norm(sub(w.center, v.center)) - v.radius - w.radius;
    if (v.axes === AXES) return Math.max(...[0, 1, 2].map((i) => Math.abs(w.center[i] - v.center[i]) - v.half[i] - w.half[i]));
    return test(solid(v), solid(w), [0, 0, 0]).best.gap;
  }
  return { placed, fitted, volumes, content, corners, gap, product };
})();
