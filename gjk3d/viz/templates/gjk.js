// The loop of narrow/gjk.py in doubles.
const gjk3dGjk = (function () {
  const { dot, sub, add, scale, norm, unit } = gjk3dVectors, { difference, middle, size } = gjk3dSupport, { nearest } = gjk3dSimplex;
  const MAX_STEPS = 256, ROUNDING = 2 ** -53, TOUCHING = 4, AS_GOOD = 64, PATIENCE = 8, LONGER = 1 + 1e-15, WIDTH = 1e-13; // the width at which a curved pair ends

  // the length that errors are relative to, the length below which a vector is rounding, and the error of any result
  function scales(a, b, shift) {
    const long = size(a, b, shift);
    return { size: long, tiny: 16 * ROUNDING * long, error: 64 * ROUNDING * long };
  }
  const isVertex = (rows, w) => rows.some((row) => row.w.every((x, k) => x === w[k]));
  // `boolean` ends the loop at the first separating direction, before the distance is known.
  function gjk(a, b, shift = [0, 0, 0], { boolean = false } = {}) {
    const { tiny, error } = scales(a, b, shift), radii = a.radius + b.radius, width = a.points && b.points ? 0 : WIDTH * size(a, b, shift);
    const first = unit(sub(add(middle(b), shift), middle(a))), start = difference(a, b, shift, first);
    let rows = [start], weights = [1], v = start.w, lower = -dot(first, start.w), axis = first, level = 0, end = "limit";
    const steps = [];
    while (steps.length < MAX_STEPS && !(boolean && lower - error > radii)) {
      const square = dot(v, v), length = Math.sqrt(square);
      if (length <= TOUCHING * tiny) { end = "origin on the simplex"; break; }
      const d = scale(-1 / length, v), found = difference(a, b, shift, d), bound = -dot(d, found.w);
      if (bound > lower - tiny) [lower, axis] = [Math.max(lower, bound), d];
      steps.push({ direction: d, found, bound, lower, upper: length, rows, weights });
      if (length - bound <= width || isVertex(rows, found.w)) {
        if (bound > lower - AS_GOOD * tiny) axis = d;
        end = "converged";
        break;
      }
      const grown = [...rows, found], [p, l, where] = nearest(grown.map((row) => row.w), tiny);
      if (where === "inside" || (where === "unsure" && norm(p) <= TOUCHING * tiny)) {
        [rows, weights, v, end] = [grown, l, p, where === "inside" ? "origin inside" : "origin on the simplex"];
        break;
      }
      if (!(dot(p, p) < square)) { // a new corner may improve the direction by more than the length shows
        level += 1;
        if (level > PATIENCE || !(l[rows.length] > 0) || !(dot(p, p) <= LONGER * square)) { end = "no progress"; break; }
      }
      rows = grown.filter((_, i) => l[i] > 0);
      weights = l.filter((x) => x > 0);
      v = p;
    }
    return { steps, rows, weights, v, end, start, first, axis, lower, upper: end.startsWith("origin") ? 0 : norm(v), error };
  }
  return { gjk, scales, isVertex, TOUCHING, AS_GOOD };
})();
