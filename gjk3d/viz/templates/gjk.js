// The loop of narrow/gjk.py in doubles, with the sub-simplices of a simplex searched one by one.
// A shape is { points } or { kind, sizes, turn, at }, with a radius. B is moved from its given position by `shift`.
const gjk3dLoop = (function () {
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
  const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
  const scale = (s, a) => [s * a[0], s * a[1], s * a[2]];
  const norm = (a) => Math.sqrt(dot(a, a));
  const unit = (a) => (norm(a) > 0 ? scale(1 / norm(a), a) : [1, 0, 0]);
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const blend = (weights, points) => points.reduce((sum, p, i) => add(sum, scale(weights[i], p)), [0, 0, 0]);
  const MAX_STEPS = 256, ROUNDING = 2 ** -53, TOUCHING = 4, PATIENCE = 8;

  // --- support points ------------------------------------------------------------------------------------------------
  const round = (r, z, d) => (Math.hypot(d[0], d[1]) > 0 ? [...scale(r / Math.hypot(d[0], d[1]), d).slice(0, 2), z] : [0, 0, z]);
  const CURVED = {
    cylinder: ([r, h], d) => round(r, d[2] >= 0 ? h : -h, d),
    cone: ([r, h], d) => (2 * h * d[2] >= r * Math.hypot(d[0], d[1]) ? [0, 0, h] : round(r, -h, d)),
    ellipsoid(f, d) {
      const n = Math.hypot(f[0] * d[0], f[1] * d[1], f[2] * d[2]);
      return n > 0 ? f.map((r, i) => r * ((r * d[i]) / n)) : [f[0], 0, 0];
    },
  };
  function support(shape, d) {
    if (!shape.points) {
      const [x, y, z] = [0, 3, 6].map((k) => shape.turn.slice(k, k + 3)), own = CURVED[shape.kind](shape.sizes, blend(d, [x, y, z]));
      return add([dot(x, own), dot(y, own), dot(z, own)], shape.at);
    }
    let best = shape.points[0], most = dot(best, d);
    for (const p of shape.points) if (dot(p, d) > most) [best, most] = [p, dot(p, d)];
    return best;
  }
  function difference(a, b, shift, d) {
    const p = support(a, d), q = add(support(b, scale(-1, d)), shift);
    return { w: sub(p, q), a: p, b: q };
  }
  function middle(shape) {
    if (!shape.points) return shape.at;
    if (shape.middle) return shape.middle;
    const sides = [0, 1, 2].map((k) => [Math.min(...shape.points.map((p) => p[k])), Math.max(...shape.points.map((p) => p[k]))]);
    return sides.map(([low, high]) => (low + high) / 2);
  }
  const reach = (shape) => (shape.points ? Math.max(...shape.points.map((p) => norm(sub(p, middle(shape))))) : Math.hypot(...shape.sizes, shape.sizes[0]));
  function size(a, b, shift) {
    return reach(a) + reach(b) + a.radius + b.radius + norm(sub(add(middle(b), shift), middle(a)));
  }

  // --- the point of a simplex nearest to the origin, and its coordinates, zero for a corner to drop -------------------
  function onSegment([a, b], tiny) {
    const ab = sub(b, a), long = dot(ab, ab), aa = dot(a, a), bb = dot(b, b);
    if (!(long > tiny * tiny)) return aa <= bb ? [a, [1, 0]] : [b, [0, 1]];
    const before = dot(a, ab), after = -dot(b, ab);
    if (before >= 0) return [a, [1, 0]];
    if (after >= 0) return [b, [0, 1]];
    const t = before / (before + after), from = aa <= bb ? a : b;
    let v = sub(from, scale(dot(from, ab) / long, ab));
    v = sub(v, scale(dot(v, ab) / long, ab));
    return [v, [1 - t, t]];
  }
  function normalOf(a, b, c) { // from the two shortest edges, which is accurate for thin triangles too
    const ab = sub(b, a), ac = sub(c, a), bc = sub(c, b), [x, y, z] = [dot(ab, ab), dot(ac, ac), dot(bc, bc)];
    return y >= x && y >= z ? cross(ab, bc) : x >= y && x >= z ? cross(ac, bc) : cross(ab, ac);
  }
  // the best of some sub-simplices, each given by the indices of its corners
  function best(corners, parts, tiny, start) {
    let found = [corners[start], corners.map((_, i) => Number(i === start))];
    for (const part of parts) {
      const [p, weights] = part.length === 2 ? onSegment(part.map((i) => corners[i]), tiny) : onTriangle(part.map((i) => corners[i]), tiny);
      if (dot(p, p) < dot(found[0], found[0])) found = [p, corners.map((_, i) => (part.includes(i) ? weights[part.indexOf(i)] : 0))];
    }
    return found;
  }
  // the foot on its plane, by iterative refinement: the residual along the longest edge and across it is removed
  function onTriangle(corners, tiny) {
    const sides = [0, 1, 2].map((i) => norm(sub(corners[(i + 1) % 3], corners[i]))), first = sides.indexOf(Math.max(...sides));
    const order = [first, (first + 1) % 3, (first + 2) % 3], [p, q, r] = order.map((i) => corners[i]);
    const length = norm(sub(q, p)), e = unit(sub(q, p)), k = sub(r, p), along = dot(k, e);
    let h = sub(k, scale(along, e)), lq = 0, lr = 0, foot = p;
    h = sub(h, scale(dot(h, e), e));
    const height = norm(h);
    h = unit(h);
    for (let turn = 0; turn < 4 && height > tiny; turn++) {
      const step = -dot(foot, h) / height;
      lq -= (dot(foot, e) + step * along) / length;
      lr += step;
      foot = blend([1 - lq - lr, lq, lr], [p, q, r]);
    }
    const weights = [];
    [1 - lq - lr, lq, lr].forEach((l, i) => { weights[order[i]] = l; });
    if (!(height > tiny && weights.every((l) => l >= 0))) return best(corners, [[0, 1], [0, 2], [1, 2]], tiny, 0);
    for (let turn = 0; turn < 2; turn++) foot = sub(foot, add(scale(dot(foot, e), e), scale(dot(foot, h), h)));
    return [foot, weights];
  }
  // 1: the origin is on the side of the fourth corner, -1: on the other side, 0: undecided
  function side([a, b, c], d, tiny) {
    const n = normalOf(a, b, c), sure = tiny * norm(n), origin = -dot(n, a), fourth = dot(n, sub(d, a));
    if (!(Math.abs(fourth) > sure) || !(Math.abs(origin) > sure)) return 0;
    return origin > 0 === fourth > 0 ? 1 : -1;
  }
  function onTetrahedron(corners, tiny) {
    const faces = [[0, 1, 3, 2], [0, 2, 3, 1], [1, 2, 3, 0], [0, 1, 2, 3]];
    const where = faces.map((f) => side(f.slice(0, 3).map((i) => corners[i]), corners[f[3]], tiny));
    if (where.every((x) => x === 1)) { // all certain, so the origin is inside, also for a flat tetrahedron
      const [a, b, c, d] = corners;
      const volumes = [[b, c, d], [a, c, d], [a, b, d], [a, b, c]].map(([x, y, z]) => Math.abs(dot(x, cross(y, z))));
      return [[0, 0, 0], volumes.map((x) => x / (volumes[0] + volumes[1] + volumes[2] + volumes[3])), "inside"];
    }
    const [p, weights] = best(corners, faces.map((f) => f.slice(0, 3)).filter((_, i) => where[i] !== 1), tiny, 3);
    return [p, weights, where.includes(-1) ? "outside" : "unsure"];
  }
  function nearest(corners, tiny) {
    if (corners.length === 1) return [corners[0], [1], "outside"];
    if (corners.length === 4) return onTetrahedron(corners, tiny);
    return [...(corners.length === 2 ? onSegment : onTriangle)(corners, tiny), "outside"];
  }

  // directions orthogonal to a simplex, one of which may prove that the shapes only touch
  function across(corners, asked) {
    if (corners.length === 1) return asked;
    const n = unit(normalOf(...corners.slice(0, 3), corners[0])), e = unit(sub(corners[1], corners[0]));
    if (corners.length > 2) return [n, scale(-1, n)];
    return asked.flatMap((d) => [1, -1].map((way) => unit(scale(way, sub(d, scale(dot(d, e), e))))));
  }

  // --- the loop -------------------------------------------------------------------------------------------------------
  // `boolean` ends the loop at the first separating direction, before the distance is known.
  function gjk(a, b, shift = [0, 0, 0], { boolean = false } = {}) {
    const long = size(a, b, shift), tiny = 16 * ROUNDING * long, error = 64 * ROUNDING * long, radii = a.radius + b.radius;
    const first = unit(sub(add(middle(b), shift), middle(a))), start = difference(a, b, shift, first);
    let rows = [start], weights = [1], v = start.w, lower = -dot(first, start.w), axis = first, level = 0, end = "limit";
    const steps = [];
    while (steps.length < MAX_STEPS && !(boolean && lower - error > radii)) {
      const square = dot(v, v), length = Math.sqrt(square);
      if (length <= TOUCHING * tiny) { end = "origin on the simplex"; break; }
      const d = scale(-1 / length, v), found = difference(a, b, shift, d), bound = -dot(d, found.w);
      if (bound > lower - tiny) [lower, axis] = [Math.max(lower, bound), d];
      steps.push({ direction: d, found, bound, lower, upper: length, rows, weights });
      if (length - bound <= error / 16 || rows.some(({ w }) => w.every((x, k) => x === found.w[k]))) { end = "converged"; break; }
      const grown = [...rows, found], [p, l, where] = nearest(grown.map((row) => row.w), tiny);
      if (where === "inside" || (where === "unsure" && norm(p) <= TOUCHING * tiny)) {
        [rows, weights, v, end] = [grown, l, p, where === "inside" ? "origin inside" : "origin on the simplex"];
        break;
      }
      if (!(dot(p, p) < square)) { // near the origin v is exact only to `tiny`, so a new v that is longer by this is accepted
        level += 1;
        if (level > PATIENCE || !(l[rows.length] > 0) || !(norm(p) <= length + tiny)) { end = "no progress"; break; }
      }
      rows = grown.filter((_, i) => l[i] > 0);
      weights = l.filter((x) => x > 0);
      v = p;
    }
    let within = end === "origin inside"; // certain, also in a triangle beyond which A - B reaches on both sides
    if (end === "origin on the simplex") {
      const ways = across(rows.map((row) => row.w), [first, ...steps.map((step) => step.direction)]);
      const bounds = ways.map((d) => -dot(d, difference(a, b, shift, d).w)), most = Math.max(lower, ...bounds);
      if (most > lower) [lower, axis] = [most, ways[bounds.indexOf(most)]];
      within = rows.length === 3 && Math.min(...weights) > 1e-9 && most < -1e-9 * long;
    }
    const shared = end.startsWith("origin"), apart = shared ? 0 : norm(v);
    const witness = (of) => blend(weights, rows.map((row) => row[of])), overlap = shared || apart + error < radii;
    return {
      steps, rows, weights, end, start, first, axis, size: long, error, overlap, within, core: { a: witness("a"), b: witness("b") },
      lower: lower - error - radii, upper: apart + error - radii, distance: Math.max(0, apart - radii),
    };
  }
  return { gjk, support, size, middle, unit, dot, sub, add, scale, norm, cross };
})();
