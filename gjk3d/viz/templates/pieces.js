// The pieces of a step in units of their view, with the roles of explanation/stage.py, and the legend.
const gjk3dPieces = (function () {
  const { data, element } = gjk3d;
  const { sub, add, scale, dot, norm, cross, unit } = gjk3dVectors;
  const { BALL, ROD, ARROW, local, piece, far } = gjk3dMarks, ASKED = 0.26, TOWARDS = 0.36;

  function workspace(view, step) {
    const out = [];
    if (step.witness_a && step.witness_b) {
      const ends = [step.witness_a, step.witness_b].map((p) => local(view, p)), normal = step.direction;
      if (step.phase === "answer" && step.upper !== null && step.upper < 0 && far(ends, 2 * ARROW)) out.push(piece("arrow", "new", "out", [ends[1], ends[0]], { size: ARROW }));
      else {
        if (far(ends, ROD)) out.push(piece("rod", "ink", "gap", ends));
        const middle = scale(0.5, add(...ends));
        if (step.phase === "answer" && !step.overlap) out.push(piece("arrow", "direction", "normal", [-0.15, 0.15].map((t) => add(middle, scale(t, normal))), { size: ARROW }));
      }
      ["a", "b"].forEach((role, i) => out.push(piece("ball", role, "near", [ends[i]], { size: BALL })));
    }
    if (step.support_a && step.direction) {
      [[step.support_a, 1], [step.support_b, -1]].forEach(([p, way], i) => {
        const from = local(view, p);
        out.push(piece("arrow", "direction", `ask${i}`, [from, add(from, scale(way * ASKED, step.direction))], { size: ARROW }));
        out.push(piece("ball", "new", `found${i}`, [from], { size: 1.25 * BALL }));
      });
    }
    return out;
  }
  function differences(view, step) {
    const origin = local(view, [0, 0, 0]), out = step.faces ? polytope(view, step) : simplex(view, step);
    out.push(piece("ball", "ink", "origin", [origin], { size: BALL, mark: "origin" }), piece("label", "ink", "origin", [origin], { text: "origin", mark: "origin" }));
    const near = step.nearest && local(view, step.nearest);
    if (near && far([origin, near], ROD)) out.push(piece("rod", "ink", "away", [origin, near], { size: 0.75 * ROD }));
    if (near) out.push(piece("ball", "ink", "near", [near], { size: 0.7 * BALL }));
    if (step.phase === "answer") return out;
    if (near && step.direction) out.push(piece("arrow", "direction", "towards", [near, add(near, scale(TOWARDS, step.direction))], { size: ARROW }));
    if (step.point) {
      const p = local(view, step.point);
      out.push(piece("ball", "new", step.point_name, [p], { size: 1.25 * BALL, mark: step.point_name }), piece("label", "new", step.point_name, [p], { text: step.point_name, mark: step.point_name }));
      if (near && element("bounds-drawn").checked) out.push(...planes(view, step, near, p));
    }
    return out;
  }
  // Both bounds: the plane at the support point, beyond which no point of A - B is, and the line to the nearest point.
  function planes(view, step, near, p) {
    const d = step.direction, from = origin(view), height = dot(d, sub(p, from)), foot = add(from, scale(height, d)), e1 = gjk3dVectors.perpendicular(d), e2 = cross(d, e1);
    const half = Math.min(0.9, Math.max(0.3, 1.1 * norm(sub(p, foot)))), square = [[1, 1], [1, -1], [-1, -1], [-1, 1]].map(([x, y]) => add(foot, add(scale(half * x, e1), scale(half * y, e2))));
    const out = [piece("region", "bound", step.point_name, [foot], { polygons: [square], opacity: 0.16 })];
    if (Math.abs(height) > 3 * BALL) out.push(piece("rod", "bound", "lower", [from, foot], { size: 0.5 * ROD }), piece("label", "bound", "lower", [foot], { text: "lower", minor: true }));
    if (far([from, near], 3 * BALL)) out.push(piece("label", "ink", "upper", [scale(0.5, add(from, near))], { text: "upper", mark: "upper", minor: true }));
    return out;
  }
  function triangles(role, names, places, faces, opacity) {
    return faces.map((face) => piece("face", role, face.map((i) => names[i]).sort().join(), face.map((i) => places[i]), { opacity }));
  }
  function simplex(view, step) {
    const places = (step.simplex || []).map((p) => local(view, p)), names = step.names || [], dropped = step.dropped || [], out = [];
    if (places.length > 2) out.push(...triangles("simplex", names, places, places.length > 3 ? [[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]] : [[0, 1, 2]], 0.45));
    places.forEach((p, i) => {
      for (let j = 0; j < i; j++) out.push(piece("rod", "simplex", [names[i], names[j]].sort().join(), [places[j], p], { size: 1.4 * ROD }));
      if (step.joins && !dropped.includes(names[i])) out.push(piece("rod", "simplex", [names[i], step.point_name].sort().join(), [p, local(view, step.point)], { size: 0.5 * ROD }));
      const role = dropped.includes(names[i]) ? "dropped" : "simplex";
      out.push(piece("ball", role, names[i], [p], { size: 1.1 * BALL, mark: names[i] }));
      if (names[i] !== step.point_name) out.push(piece("label", role, names[i], [p], { text: names[i] + (role === "dropped" ? " (drop)" : ""), mark: names[i] }));
    });
    if (step.joins && step.after && step.after.length && element("region").checked) {
      const all = [...names.map((name, i) => [name, places[i]]), [step.point_name, local(view, step.point)]];
      const region = voronoi(all.filter((one) => step.after.includes(one[0])).map((one) => one[1]), all.filter((one) => !step.after.includes(one[0])).map((one) => one[1]), Math.max(1.1, 1.15 * norm(origin(view))));
      if (region.length) out.push(piece("region", "region", step.after.join(), [origin(view)], { polygons: region, opacity: 0.13 }));
    }
    return out;
  }
  const origin = (view) => local(view, [0, 0, 0]);
  function polytope(view, step) {
    const places = step.vertices.map((p) => local(view, p)), same = (f, g) => f.every((i) => g.includes(i)), { names, removed = [], horizon = [] } = step;
    const gone = removed.filter((f) => !same(f, step.closest)), kept = step.faces.filter((f) => !same(f, step.closest) && !gone.some((g) => same(f, g)));
    const top = local(view, step.point || [0, 0, 0]), more = [...places, top], called = [...names, step.point_name];
    const fan = horizon.map(([i, j]) => [i, j, places.length]);
    const out = [...triangles("fan", called, more, fan, 0.22), ...triangles("polytope", names, places, kept, 0.3), ...triangles("removed", names, places, gone, 0.6), ...triangles("closest", names, places, [step.closest], 0.9)];
    const edge = (i, j) => (i < j ? `${i},${j}` : `${j},${i}`), rim = new Set(horizon.map(([i, j]) => edge(i, j)));
    const edges = new Set(step.faces.flatMap(([i, j, k]) => [edge(i, j), edge(j, k), edge(k, i)])), thin = step.faces.length < 60 ? 0.6 * ROD : 0.3 * ROD;
    for (const text of new Set([...edges, ...rim])) {
      const [i, j] = text.split(",").map(Number), role = rim.has(text) ? "new" : "polytope";
      out.push(piece("rod", role, [names[i], names[j]].sort().join(), [places[i], places[j]], { size: rim.has(text) ? 1.2 * ROD : thin, mark: rim.has(text) ? "rim" : role }));
    }
    for (const [i] of horizon) out.push(piece("rod", "fan", names[i], [places[i], top], { size: 0.5 * ROD }));
    const used = [...new Set(step.faces.flat())], named = used.length <= 9 ? used : step.closest;
    for (const i of used.length <= 40 ? used : named) out.push(piece("ball", "polytope", names[i], [places[i]], { size: 0.7 * BALL, mark: names[i] }));
    for (const i of named) if (names[i] !== step.point_name || step.phase === "answer") out.push(piece("label", "polytope", names[i], [places[i]], { text: names[i], mark: names[i] }));
    return out;
  }
  // The faces of the Voronoi region of a feature of a simplex: a cube cut by half-spaces.
  function voronoi(feature, others, least) {
    const away = (p, flat) => flat.slice(1).map((q) => sub(q, flat[0])).reduce((basis, v) => {
      const w = basis.reduce((x, e) => sub(x, scale(dot(x, e), e)), v);
      return norm(w) > 1e-9 ? [...basis, unit(w)] : basis;
    }, []).reduce((x, e) => sub(x, scale(dot(x, e), e)), sub(p, flat[0]));
    const cuts = others.map((p) => [away(p, feature), feature[0]]);
    if (feature.length > 1) feature.forEach((p, i) => { const rest = feature.filter((_, j) => j !== i); cuts.push([scale(-1, away(p, rest)), rest[0]]); });
    const C = Math.max(least, ...feature.flat().map((x) => 1.1 * Math.abs(x))), cube = [0, 1, 2].flatMap((axis) => [-C, C].map((x) => [[-C, -C], [-C, C], [C, C], [C, -C]].map((uv) => { const p = [...uv]; p.splice(axis, 0, x); return p; })));
    return cuts.reduce((faces, [n, from]) => {
      const rim = [], height = (p) => dot(n, sub(p, from));
      const cut = faces.map((face) => face.flatMap((p, i) => {
        const q = face[(i + 1) % face.length], [x, y] = [height(p), height(q)], out = x <= 0 ? [p] : [];
        if (x <= 0 !== y <= 0) { const m = add(p, scale(x / (x - y), sub(q, p))); out.push(m); rim.push(m); }
        return out;
      })).filter((face) => face.length > 2);
      if (rim.length < 3) return cut;
      const middle = scale(1 / rim.length, rim.reduce(add)), u = unit(sub(rim[0], middle)), v = cross(unit(n), u);
      const turn = (p) => Math.atan2(dot(sub(p, middle), v), dot(sub(p, middle), u));
      return [...cut, rim.sort((p, q) => turn(p) - turn(q))];
    }, cube);
  }
  function legend(step, pieces) {
    const drawn = new Set(["a", "b", "difference", ...pieces.map((one) => one.role)]), words = gjk3dMarks.meanings();
    if (!step.nearest) drawn.delete("ink"); // the origin has a label
    if (step.phase === "answer") Object.assign(words, data.answered[step.upper !== null && step.upper < 0 ? "deep" : "apart"]);
    else if (!(step.horizon || []).length) words.new = step.joins ? "new point" : "support point";
    if (drawn.has("region")) words.region = `Voronoi region of ${step.after.join(" ")}`;
    return gjk3dMarks.legend(words, drawn);
  }
  return { origin, workspace, differences, legend };
})();
