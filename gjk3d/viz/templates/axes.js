// The separating axis test of two polytopes in doubles: the axes, the projections on them, and the best axis.
// A polytope has points, the outward unit normals of its faces, and edges. An edge has a unit direction, the normals of
// its two faces, and the indices of its corners in `ends`, as in geometry/hulls.py.
const gjk3dAxes = (function () {
  const { dot, sub, scale, norm, cross, carefulCross } = gjk3dVectors;
  const PARALLEL = 1e-12; // the sine below which edges are parallel. A face of A - B that is missed is not wider
  const SURE = 1e-12; // products of unit vectors above this have a certain sign
  const times = (m, v) => [0, 3, 6].map((i) => dot(m.slice(i, i + 3), v)), same = (p, q) => norm(cross(p, q)) < PARALLEL;
  // The matrix of a rotation vector, by rows.
  function rotation(vector) {
    const angle = norm(vector), [x, y, z] = angle > 0 ? scale(1 / angle, vector) : [0, 0, 1], c = Math.cos(angle), s = Math.sin(angle), t = 1 - c;
    return [t * x * x + c, t * x * y - s * z, t * x * z + s * y, t * x * y + s * z, t * y * y + c, t * y * z - s * x, t * x * z - s * y, t * y * z + s * x, t * z * z + c];
  }
  function turned(shape, m) {
    const all = (rows) => rows.map((row) => times(m, row));
    return { ...shape, points: all(shape.points), normals: all(shape.normals), edges: shape.edges.map(all) };
  }
  // Directions that differ by more than their sign, each with the indices of its rows.
  function distinct(rows) {
    return rows.reduce((list, n, i) => {
      const known = list.find((one) => same(one.n, n));
      if (known) known.members.push(i);
      else list.push({ n, members: [i] });
      return list;
    }, []);
  }
  // The normals of a face of A - B made of an edge of A and one of B, at most two, as in narrow/sat.py. The edges are
  // arcs between the normals of their faces, and the arc of A crosses the negative arc of B at such a normal.
  function crossing([ea, a1, a2], edge) {
    const [eb, b1, b2] = edge.map((v) => scale(-1, v)), apart = (u, v) => u * v > 0 && Math.min(Math.abs(u), Math.abs(v)) > SURE;
    const n = carefulCross(ea, eb), length = norm(n);
    if (apart(dot(a1, eb), dot(a2, eb)) || apart(dot(b1, ea), dot(b2, ea)) || length < PARALLEL) return [];
    const unit = scale(1 / length, n), overA = dot(unit, a1) + dot(unit, a2), overB = dot(unit, b1) + dot(unit, b2);
    const clear = Math.min(Math.abs(overA), Math.abs(overB)) > SURE;
    if (clear && overA * overB < 0) return [];
    const first = overA < 0 ? scale(-1, unit) : unit;
    return clear ? [first] : [first, scale(-1, first)];
  }
  // All axes, up to sign. `facets` are the signs with which an axis is the outward normal of a face of A - B.
  function axes(a, b) {
    const out = [], signs = (n, rows) => ({ 1: rows.some((m) => dot(m, n) > 0), "-1": rows.some((m) => dot(m, n) < 0) });
    const put = (axis) => {
      const twin = axis.n && out.find((one) => !one.skipped && same(one.n, axis.n));
      if (twin) {
        const sign = dot(twin.n, axis.n) > 0 ? 1 : -1;
        for (const s of [1, -1]) twin.facets[s * sign] ||= axis.facets[s];
        Object.assign(axis, { skipped: "twin", twin: twin.number });
      }
      out.push(Object.assign(axis, { number: out.length + 1 }));
    };
    [[a, "A", 1], [b, "B", -1]].forEach(([shape, name, sign]) => distinct(shape.normals).forEach(({ n, members }) => {
      put({ kind: `face ${name}`, n, facets: signs(n, members.map((i) => scale(sign, shape.normals[i]))) });
    }));
    const [edgesA, edgesB] = [a, b].map((shape) => distinct(shape.edges.map((edge) => edge[0])));
    for (const p of edgesA) for (const q of edgesB) {
      const n = carefulCross(p.n, q.n), sine = norm(n), pairs = p.members.flatMap((i) => q.members.map((j) => [i, j]));
      const members = [p.members, q.members];
      if (sine < PARALLEL) put({ kind: "edges", n: null, sine, members, skipped: "parallel", facets: {} });
      else put({ kind: "edges", n: scale(1 / sine, n), sine, members, facets: signs(n, pairs.flatMap(([i, j]) => crossing(a.edges[i], b.edges[j]))) });
    }
    return out;
  }
  function interval(points, n, by = 0) {
    const heights = points.map((p) => dot(p, n) + by);
    return [Math.min(...heights), Math.max(...heights)];
  }
  // The projections on an axis and the gap, negative in overlap. The normal is the axis with the sign from A to B.
  // With `only`, a sign counts only if it is the normal of a face of A - B.
  function project(axis, a, b, shift, only) {
    const [lowA, highA] = interval(a.points, axis.n), [lowB, highB] = interval(b.points, axis.n, dot(shift, axis.n));
    const ahead = lowB - highA, behind = lowA - highB, allowed = only ? axis.facets : { 1: true, "-1": true };
    const sign = allowed[1] && (ahead >= behind || !allowed[-1]) ? 1 : -1, flip = ([low, high]) => (sign > 0 ? [low, high] : [-high, -low]);
    return { ...axis, normal: scale(sign, axis.n), gap: sign > 0 ? ahead : behind, a: flip([lowA, highA]), b: flip([lowB, highB]) };
  }
  // Try all axes. A gap that is not larger than the best one by more than `tiny` is not better.
  function test(a, b, shift, { only = false, list = axes(a, b), tiny = 0 } = {}) {
    let best = null;
    const tried = list.map((axis) => {
      if (axis.skipped) return axis;
      if (only && !axis.facets[1] && !axis.facets[-1]) return { ...axis, skipped: "no face" };
      const row = project(axis, a, b, shift, only), before = best;
      if (!best || row.gap > best.gap + tiny) best = row;
      return { ...row, best, before };
    });
    return { tried, best };
  }
  // The corners of the face whose outward normal is n, in order around it; one or two corners if it is none.
  function face(points, n, tiny) {
    const top = Math.max(...points.map((p) => dot(p, n))), corners = points.filter((p) => dot(p, n) > top - tiny);
    const middle = scale(1 / corners.length, corners.reduce((p, q) => p.map((x, i) => x + q[i]))), u = sub(corners[0], middle), v = cross(n, u);
    return corners.map((p) => [Math.atan2(dot(sub(p, middle), v), dot(sub(p, middle), u)), p]).sort((x, y) => x[0] - y[0]).map((one) => one[1]);
  }
  return { axes, test, project, turned, rotation, times, face };
})();
