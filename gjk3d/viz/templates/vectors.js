// Vectors as arrays of three numbers, with the functions of geometry/vec3.py.
const gjk3dVectors = (function () {
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
  const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
  const scale = (s, a) => [s * a[0], s * a[1], s * a[2]];
  const norm = (a) => Math.sqrt(dot(a, a));
  const unit = (a) => (norm(a) > 0 ? scale(1 / norm(a), a) : [1, 0, 0]);
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const blend = (weights, points) => points.reduce((sum, p, i) => add(sum, scale(weights[i], p)), [0, 0, 0]);
  function perpendicular(a) {
    const [x, y, z] = a.map(Math.abs);
    if (x <= y && x <= z) return unit([0, -a[2], a[1]]);
    return unit(y <= z ? [a[2], 0, -a[0]] : [-a[1], a[0], 0]);
  }

  // --- the normal of a triangle, exact enough for thin triangles ------------------------------------------------------
  const NEARLY_PARALLEL = 1e-8;
  function exactProduct(a, b) { // a b, and its error (Dekker 1971)
    const p = a * b, s = 134217729 * a, t = 134217729 * b, a1 = s - (s - a), b1 = t - (t - b), a2 = a - a1, b2 = b - b1;
    return [p, a1 * b1 - p + a1 * b2 + a2 * b1 + a2 * b2];
  }
  function productDifference(a, b, c, d) {
    const p = exactProduct(a, b), q = exactProduct(c, d);
    return p[0] - q[0] + (p[1] - q[1]);
  }
  function carefulCross(p, q) {
    const n = cross(p, q);
    if (!(dot(n, n) < NEARLY_PARALLEL * dot(p, p) * dot(q, q))) return n;
    return [[1, 2], [2, 0], [0, 1]].map(([i, j]) => productDifference(p[i], q[j], p[j], q[i]));
  }
  // (b - a) x (c - a), from the two shortest edges
  function triangleNormal(a, b, c) {
    const ab = sub(b, a), ac = sub(c, a), bc = sub(c, b), [x, y, z] = [dot(ab, ab), dot(ac, ac), dot(bc, bc)];
    if (y >= x && y >= z) return carefulCross(ab, bc);
    return x >= y && x >= z ? carefulCross(ac, bc) : carefulCross(ab, ac);
  }
  return { dot, sub, add, scale, norm, unit, cross, carefulCross, blend, perpendicular, triangleNormal };
})();
