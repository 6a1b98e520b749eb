// The point of a simplex nearest to the origin, as in geometry/simplex.py. A part of the simplex is a list of indices of
// its points. Each function returns the point and the weight of each corner, 0 for a corner to drop. `note` gets each
// test: the line of the pseudocode, the part, the value, and whether the test holds.
const gjk3dSimplex = (function () {
  const { dot, sub, scale, norm, cross, blend, unit, triangleNormal } = gjk3dVectors;
  const THIN = 1e-4, silent = () => {};
  const weighted = (points, part, weights) => points.map((_, i) => (part.includes(i) ? weights[part.indexOf(i)] : 0));

  function onSegment(points, part, tiny, note = silent) {
    const [a, b] = part.map((i) => points[i]), ab = sub(b, a), long = dot(ab, ab), aa = dot(a, a), bb = dot(b, b);
    const corner = (k) => [[a, b][k], weighted(points, part, k ? [0, 1] : [1, 0])];
    if (!(long > tiny * tiny)) return corner(aa <= bb ? 0 : 1);
    const before = dot(a, ab), after = -dot(b, ab);
    note("segment a", part, before, before >= 0);
    if (before >= 0) return corner(0);
    note("segment b", part, after, after >= 0);
    if (after >= 0) return corner(1);
    const t = before / (before + after), from = aa <= bb ? a : b;
    note("segment ab", part, t, true);
    let v = sub(from, scale(dot(from, ab) / long, ab));
    v = sub(v, scale(dot(v, ab) / long, ab)); // near contact v is all cancellation, and its direction is the axis
    return [v, weighted(points, part, [1 - t, t])];
  }
  // The foot of the origin on the plane of a thin triangle, by iterative refinement.
  function refined(corners) {
    const sides = [0, 1, 2].map((i) => norm(sub(corners[(i + 1) % 3], corners[i]))), first = sides.indexOf(Math.max(...sides));
    const order = [first, (first + 1) % 3, (first + 2) % 3], [p, q, r] = order.map((i) => corners[i]);
    const length = norm(sub(q, p)), e = unit(sub(q, p)), k = sub(r, p), along = dot(k, e);
    let h = sub(k, scale(along, e)), lq = 0, lr = 0, foot = p;
    h = sub(h, scale(dot(h, e), e));
    const height = norm(h);
    if (!(height > 0)) return [p, [1, 0, 0], false];
    h = unit(h);
    for (let turn = 0; turn < 4; turn++) {
      const step = -dot(foot, h) / height;
      lq -= (dot(foot, e) + step * along) / length;
      lr += step;
      foot = blend([1 - lq - lr, lq, lr], [p, q, r]);
    }
    for (let turn = 0; turn < 2; turn++) foot = sub(foot, blend([dot(foot, e), dot(foot, h)], [e, h]));
    const weights = [];
    [1 - lq - lr, lq, lr].forEach((l, i) => { weights[order[i]] = l; });
    return [foot, weights, weights.every((l) => l >= 0)];
  }
  function onTriangle(points, part, tiny, note = silent) {
    const corners = part.map((i) => points[i]), [a, b, c] = corners, n = triangleNormal(a, b, c), area = dot(n, n);
    const long = Math.max(...[[a, b], [a, c], [b, c]].map(([p, q]) => dot(sub(p, q), sub(p, q))));
    const u = dot(n, cross(b, sub(c, b))), v = dot(n, cross(sub(c, a), c)), w = dot(n, cross(a, sub(b, a)));
    let flat = !(area > tiny * tiny * long), thin = !flat && area < THIN * long * long;
    note("triangle inside", part, Math.min(u, v, w), !flat && u > 0 && v > 0 && w > 0);
    if (!flat && u > 0 && v > 0 && w > 0) {
      const weights = [u, v, w].map((x) => x / (u + v + w)), p = scale(dot(n, a) / area, n);
      if (norm(sub(p, blend(weights, corners))) <= tiny) return [p, weighted(points, part, weights)];
      thin = true; // the normal is rounding
    }
    if (thin) {
      const [p, weights, within] = refined(corners);
      if (within) return [p, weighted(points, part, weights)];
      flat = true;
    }
    let best = [a, weighted(points, part, [1, 0, 0])];
    for (const [line, value, edge] of [["triangle ab", w, [0, 1]], ["triangle ac", v, [0, 2]], ["triangle bc", u, [1, 2]]]) {
      const ends = edge.map((k) => part[k]);
      note(line, ends, value, flat || value <= 0);
      if (!flat && value > 0) continue;
      const found = onSegment(points, ends, tiny, note);
      if (dot(found[0], found[0]) < dot(best[0], best[0])) best = found;
    }
    return best;
  }
  // 1: the origin is on the side of the fourth corner, -1: on the other side, 0: undecided
  function side(points, [i, j, k], fourth, tiny) {
    const n = triangleNormal(points[i], points[j], points[k]), sure = tiny * norm(n);
    const origin = -dot(n, points[i]), inner = dot(n, sub(points[fourth], points[i]));
    const value = norm(n) > 0 ? (Math.sign(inner) * origin) / norm(n) : 0; // the height of the origin on the inner side
    if (!(Math.abs(inner) > sure) || !(Math.abs(origin) > sure)) return [0, value];
    return [origin > 0 === inner > 0 ? 1 : -1, value];
  }
  const FACES = [[[0, 1, 3], 2], [[0, 2, 3], 1], [[1, 2, 3], 0], [[0, 1, 2], 3]];
  function onTetrahedron(points, tiny, note = silent) {
    const sides = FACES.map(([face, fourth]) => side(points, face, fourth, tiny)), [a, b, c, d] = points;
    const enclosed = sides.every((x) => x[0] === 1); // all certain, so the origin is inside, also for a flat tetrahedron
    if (enclosed) {
      const volumes = [[b, c, d], [a, c, d], [a, b, d], [a, b, c]].map(([x, y, z]) => Math.abs(dot(x, cross(y, z))));
      const weights = volumes.map((x) => x / (volumes[0] + volumes[1] + volumes[2] + volumes[3]));
      if (norm(blend(weights, points)) <= tiny) {
        FACES.forEach(([face], i) => note("face side", face, sides[i][1], true));
        note("inside", [0, 1, 2, 3], 0, true);
        return [[0, 0, 0], weights, "inside"];
      }
    }
    let best = [d, [0, 0, 0, 1]];
    FACES.forEach(([face], i) => {
      const skipped = !enclosed && sides[i][0] === 1; // uncertain sides are tried too, and all if the weights are rounding
      note("face side", face, sides[i][1], skipped);
      if (skipped) return;
      const found = onTriangle(points, face, tiny, note);
      if (dot(found[0], found[0]) < dot(best[0], best[0])) best = found;
    });
    return [...best, sides.some((x) => x[0] === -1) ? "outside" : "unsure"];
  }
  function nearest(points, tiny, note = silent) {
    if (points.length === 1) return [points[0], [1], "outside"];
    if (points.length === 4) return onTetrahedron(points, tiny, note);
    return [...(points.length === 2 ? onSegment : onTriangle)(points, points.map((_, i) => i), tiny, note), "outside"];
  }
  return { nearest, onTriangle };
})();
