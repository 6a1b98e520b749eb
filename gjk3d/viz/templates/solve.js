// The result of one pair, as in narrow/solve.py: GJK on the cores, EPA if they share a point, and the radii at the end.
const gjk3dSolve = (function () {
  const { add, sub, scale, norm, blend } = gjk3dVectors, { gjk, scales } = gjk3dGjk, { epa } = gjk3dEpa, { onTriangle } = gjk3dSimplex;
  const TIGHT = { polytopes: 1e-12, curved: 4e-10 }; // widths of a decided result, relative to the pair's size
  const witnesses = (rows, weights) => Object.fromEntries(["a", "b"].map((of) => [of, blend(weights, rows.map((row) => row[of]))]));

  function solve(a, b, shift = [0, 0, 0]) {
    const lengths = scales(a, b, shift), { size, tiny, error } = lengths, radii = a.radius + b.radius, run = gjk(a, b, shift);
    const core = witnesses(run.rows, run.weights);
    let { a: p, b: q } = core, distance = run.upper, lower = run.lower - error, upper = run.upper + error, normal = run.axis, depth = null;
    let proven = run.end === "origin inside";
    if (!(lower > 0)) {
      depth = epa(a, b, shift, run, lengths);
      [lower, normal] = [Math.max(lower, -depth.least - error), depth.best];
      upper = Math.min(upper, depth.outer + error);
      if (depth.inside) {
        const hit = depth.polytope.pierced(normal), way = blend(hit.weights, hit.rows.map((row) => row.w));
        ({ a: p, b: q } = witnesses(hit.rows, hit.weights));
        distance = depth.code === "full" ? -depth.least : -norm(way); // the faces are not at the surface yet
        proven = true;
      } else if (depth.face) {
        const rows = depth.face.corners.map((i) => depth.polytope.vertices[i]), [point, weights] = onTriangle(rows.map((row) => row.w), [0, 1, 2], tiny);
        if (norm(point) < distance) {
          distance = norm(point);
          ({ a: p, b: q } = witnesses(rows, weights));
        }
      }
      if (proven) upper = Math.min(upper, 0);
    }
    const gap = norm(sub(q, p));
    if (!proven && gap > 4 * tiny) normal = scale(1 / gap, sub(q, p));
    [lower, upper, distance] = [lower, upper, distance].map((x) => x - radii);
    distance = Math.min(Math.max(distance, lower), upper);
    const from = add(p, scale(a.radius, normal)), promised = (a.points && b.points ? TIGHT.polytopes : TIGHT.curved) * size + 2 * error;
    const status = lower > 0 ? "apart" : upper < 0 || (proven && radii === 0) ? "overlapping" : upper - lower <= promised ? "touching" : "undecided";
    return { gjk: run, epa: depth, core, normal, status, lower, upper, distance, a: from, b: add(from, scale(distance, normal)), tight: upper - lower <= promised, ...lengths };
  }
  return { solve };
})();
