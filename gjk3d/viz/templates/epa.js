// The loop of narrow/epa.py in doubles, with every step in full.
const gjk3dEpa = (function () {
  const { dot, sub, scale, norm, unit, cross, perpendicular, triangleNormal } = gjk3dVectors;
  const { difference } = gjk3dSupport, { onTriangle } = gjk3dSimplex, { Polytope } = gjk3dPolytope, { isVertex, TOUCHING, AS_GOOD } = gjk3dGjk, { search } = gjk3dCircles;
  const MOST = 600; // vertices, so that a drag of B stays smooth
  const SLIVER = 1e-3, DIAGONAL = Math.SQRT1_2, NARROW = 1e-12; // as in narrow/epa.py, and the width for curved shapes
  const EIGHT = [[1, 0], [DIAGONAL, DIAGONAL], [0, 1], [-DIAGONAL, DIAGONAL], [-1, 0], [-DIAGONAL, -DIAGONAL], [0, -1], [DIAGONAL, -DIAGONAL]];

  // --- the first tetrahedron ------------------------------------------------------------------------------------------
  // whether a tetrahedron is too flat for a start
  function isSliver(rows, tiny) {
    const [p0, p1, p2, p3] = rows.map((row) => row.w), n = triangleNormal(p0, p1, p2), height = Math.abs(dot(unit(n), sub(p3, p0)));
    const longest = Math.max(norm(sub(p0, p1)), norm(sub(p0, p2)), norm(sub(p1, p2)));
    return !(height > SLIVER * longest && norm(n) > SLIVER * longest * longest && height > tiny);
  }
  // Four distant support points, or as many as A - B has dimensions and one more, with a normal of a flat A - B.
  function farPoints(query, tiny) {
    const six = [1, -1].flatMap((s) => [0, 1, 2].map((k) => query([0, 1, 2].map((i) => (i === k ? s : 0)))));
    let pair = null, far = 0;
    six.forEach((p, i) => six.slice(i + 1).forEach((q) => {
      const e = sub(p.w, q.w);
      if (dot(e, e) > far) [pair, far] = [[p, q], dot(e, e)];
    }));
    if (!(Math.sqrt(far) > tiny)) return { rows: six.slice(0, 1), normal: null };
    const [p0, p1] = pair.map((row) => row.w), line = unit(sub(p1, p0)), u1 = perpendicular(line), u2 = cross(line, u1);
    const farthest = (directions, height) => directions.map(query).reduce((best, row) => (height(row.w) > best.height ? { row, height: height(row.w) } : best), { height: 0 });
    const third = farthest(EIGHT.map(([x, y]) => [0, 1, 2].map((i) => x * u1[i] + y * u2[i])), (w) => norm(cross(line, sub(w, p0))));
    if (!(third.height > tiny)) return { rows: pair, normal: u1 };
    const n = unit(triangleNormal(p0, p1, third.row.w)), fourth = farthest([n, scale(-1, n)], (w) => Math.abs(dot(n, sub(w, p0))));
    return { rows: [...pair, third.row, ...(fourth.height > tiny ? [fourth.row] : [])], normal: n };
  }

  // --- the loop -------------------------------------------------------------------------------------------------------
  // The face nearest to an origin outside or on the polytope, the direction, and its distance. The direction is that of
  // the nearest point, as in GJK, if `astray`. Of faces that touch the origin the newest is returned.
  function nearestFace(polytope, top, { tiny, error }) {
    let found = top, point = [0, 0, 0], least = Infinity;
    for (const face of polytope.live.slice().reverse()) {
      if (!(face.key <= error)) continue;
      const [q] = onTriangle(face.corners.map((i) => polytope.at(i)), [0, 1, 2], tiny);
      if (dot(q, q) < least) [least, point, found] = [dot(q, q), q, face];
      if (least <= (TOUCHING * tiny) ** 2) break;
    }
    const length = norm(point), astray = found.key < 0 && length > TOUCHING * tiny;
    return { face: found, direction: astray ? scale(-1 / length, point) : found.n, length, astray };
  }
  // EPA around its best direction alone, so that the nearest points are on both surfaces, although EPA did not end. `query`
  // returns a support point and keeps the best direction.
  function refine(polytope, query, best, width) {
    for (let step = 0; step < 200; step++) {
      const { face } = polytope.pierced(best()), found = query(face.n);
      if (dot(face.n, found.w) - face.key <= width || !polytope.grow(face, found)) return;
    }
  }
  // `run` is the end of GJK: its simplex is the start, if it is a tetrahedron with the origin inside that is not nearly
  // flat. Its best direction is the first bound.
  function epa(a, b, shift, run, scales) {
    const { size, tiny, error } = scales, width = a.points && b.points ? tiny : NARROW * size;
    let least = -run.lower, best = run.axis, outer = Infinity, code = "full", inside = false, face = null;
    const bounded = (d) => { // a support query, whose bound is kept if it is the best
      const row = difference(a, b, shift, d), h = dot(d, row.w);
      if (h < least) [least, best] = [h, d];
      return row;
    };
    let { rows } = run;
    const seeded = run.end === "origin inside" && !isSliver(rows, tiny);
    if (!seeded) {
      const found = farPoints(bounded, tiny);
      ({ rows } = found);
      if (rows.length < 4) {
        for (const d of found.normal ? [found.normal, scale(-1, found.normal)] : [unit(scale(-1, rows[0].w))]) bounded(d);
        return { code: "flat", steps: [], seeded, dimension: rows.length - 1, least, best, outer, inside };
      }
    }
    const polytope = new Polytope(rows, tiny), steps = [];
    while (code === "full" && polytope.vertices.length < MOST) {
      const top = polytope.lowest();
      inside = top.key > error;
      const near = inside ? { face: top, direction: top.n, length: -top.key, astray: false } : nearestFace(polytope, top, scales);
      ({ face } = near);
      const { direction, length, astray } = near, count = polytope.vertices.length, faces = polytope.live;
      outer = Math.min(outer, length);
      const found = bounded(direction), h = dot(direction, found.w);
      // if the support point is a vertex, the face is final, in spite of its rounded plane
      const clear = inside && h + length > AS_GOOD * tiny;
      if (!clear && isVertex(polytope.vertices, found.w)) code = "stuck";
      if (inside && h + length <= width) code = "closed";
      else if (!inside && h + (astray ? length : -face.key) <= (astray ? width : Math.max(width, tiny))) code = "outside";
      let grown = null;
      if (code === "full") {
        grown = polytope.grow(astray ? polytope.highest(found.w) : face, found);
        if (!grown) code = "stuck";
      }
      steps.push({
        direction, found, inside, length, height: h, closest: face.corners, faces, count, lower: -least, upper: outer,
        removed: grown ? grown.visible.map((one) => one.corners) : [], horizon: grown ? grown.fan.map((one) => one.corners.slice(0, 2)) : [], code,
      });
    }
    if (code === "full" && inside) {
      search(a, b, bounded, () => ({ direction: best, height: least }), tiny);
      refine(polytope, bounded, () => best, tiny);
    }
    return { code, steps, seeded, dimension: 3, least, best, outer, inside, polytope, face };
  }
  return { epa, isSliver };
})();
