// GJK and EPA in about forty lines each, and the lines that run in a step, with their values.
const gjk3dPseudocode = (function () {
  const { dot, sub, add, scale, norm, unit, triangleNormal } = gjk3dVectors, { nearest } = gjk3dSimplex;
  const GJK = `
|gjk(A, B):
first|  d = centre of B - centre of A
first|  w = support(A, d) - support(B, -d)
first|  simplex = [w],  v = w
|  repeat:
origin|    if |v| ≈ 0: return overlap
direction|    d = -v / |v|
support|    w = support(A, d) - support(B, -d)
bounds|    lower = max(lower, -d·w),  upper = |v|
stop|    if lower ≈ upper or w in simplex: return upper
closest|    v, weights = closest(simplex + [w])
inside|    if the tetrahedron contains the origin: return overlap
progress|    if |v| did not decrease: return upper
drop|    simplex = the corners with weight > 0
|
|closest(a, b):
segment a|  if a·(b - a) ≥ 0: return a
segment b|  if b·(a - b) ≥ 0: return b
segment ab|  t = a·(a - b) / |b - a|²,  return a + t (b - a)
|
|closest(a, b, c):
triangle|  n = (b - a) × (c - a)
triangle|  u = n·(b × c),  v = n·(c × a),  w = n·(a × b)
triangle inside|  if u, v, w > 0: return n (n·a) / (n·n)
triangle ab|  if w ≤ 0: try closest(a, b)
triangle ac|  if v ≤ 0: try closest(a, c)
triangle bc|  if u ≤ 0: try closest(b, c)
triangle best|  return the nearest of the points tried
|
|closest(a, b, c, d):
faces|  for each face p q r, and s the other corner:
faces|    n = (q - p) × (r - p)
face side|    if -n·p and n·(s - p) have one sign: skip it
face try|    else: try closest(p, q, r)
all inside|  if all four faces are skipped: return inside
faces best|  return the nearest of the points tried`;
  const EPA = `
|epa(A, B, simplex):
seeded|  if simplex is a tetrahedron, not nearly flat: take it
fresh|  else: p0 p1 = farthest two of 6 along ±x ±y ±z
fresh|        p2 = farthest from line p0 p1, of 8 around it
fresh|        p3 = farthest from plane p0 p1 p2, of 2
flat|        if p3 is in that plane: return a flat A - B
wind|  centre = their mean, wind the 4 faces outward
|  repeat:
near|    face = the face with the least key, the oldest of ties
inside|    if key > 0: d = n, r = key
outside|    else: q = the faces' point nearest to the origin
outside|          d = -q / |q|, r = -|q|  (d = n if q ≈ 0)
support|    w = support(A, d) - support(B, -d)
lower|    lower = max(lower, -d·w)
upper|    upper = min(upper, -r)
stop|    if d·w - r ≈ 0 or w is a corner: stop
grow|    grow(face, w)
ray|  weights where the ray along the best d hits a face
|
|grow(face, w):
threshold|  for threshold in tiny, 0, -tiny:
visible|    visible = [face], rim = []
visible|    for each f in visible, for each edge i j of f:
visible|      g = the face behind it, skip if in visible
see|      if n_g·(w - p_g) > threshold: add g to visible
rim|      else: add i j to rim
cycle|    if rim is not one cycle: try the next threshold
fan|    for each edge i j of rim: new face i j w
flip|      if its n·(w - centre) ≤ 0: try the next threshold
sew|    remove visible, link the neighbours, return
|
|new face i j k:
normal|  n = (pj - pi) × (pk - pi) / length
normal|  key = the least of n·pi, n·pj, n·pk`;
  const lines = (text) => text.trim().split("\n").map((line) => { const cut = line.indexOf("|"); return { id: line.slice(0, cut), text: line.slice(cut + 1) }; });
  const CODE = { GJK: lines(GJK), EPA: lines(EPA) };
  // for each noted line, its test in words, with the names of the corners
  const TESTS = {
    "segment a": ([a, b]) => `${a}·(${b} - ${a}) ≥ 0`, "segment b": ([a, b]) => `${b}·(${a} - ${b}) ≥ 0`, "segment ab": ([a, b]) => `t of ${a} ${b}`,
    "triangle inside": (part) => `least of u, v, w of ${part.join(" ")} > 0`, "triangle ab": ([a, b]) => `n·(${a} × ${b}) ≤ 0`, "triangle ac": ([a, b]) => `n·(${b} × ${a}) ≤ 0`,
    "triangle bc": ([a, b]) => `n·(${a} × ${b}) ≤ 0`, "face side": (part) => `origin on the inner side of ${part.join(" ")}`, inside: (part) => `all of ${part.join(" ")} inside`,
  };
  const REGIONS = { "segment a": "corner", "segment b": "corner", "segment ab": "edge", "triangle inside": "triangle", "triangle ab": "edge", "triangle ac": "edge", "triangle bc": "edge", "face side": "face" };

  // The events of a step: { line, value, text, holds, test }. `tiny` is the length below which a vector is rounding.
  function events(step, steps, tiny) {
    if (step.phase === "start") return [{ line: "first", text: `${step.point_name} is the first point` }];
    if (step.phase === "GJK") return ofGjk(step, tiny);
    if (step.phase === "EPA") return ofEpa(step, steps, tiny);
    return [{ line: step.flat ? "flat" : step.faces ? "ray" : "stop", text: step.title.replace("Result: ", "") }];
  }
  function ofGjk(step, tiny) {
    const { direction: d, point: w, point_name: name, simplex, names } = step, length = norm(step.nearest), bound = -dot(d, w), same = names.includes(name);
    const out = [
      { line: "origin", text: "|v|", value: length, holds: false }, { line: "direction", text: "d points from v to the origin" },
      { line: "support", text: `w is ${name}` }, { line: "bounds", text: `-d·w, with |v| =`, value: bound },
      { line: "stop", text: same ? `${name} is in the simplex` : "upper - lower", value: same ? undefined : length - bound, holds: same || (!step.joins && length - bound <= 600 * tiny) },
    ];
    if (out[4].holds) return out;
    const corners = [...names, name], points = [...simplex, w], notes = [], named = (part) => part.map((i) => corners[i]);
    const [p, weights, where] = nearest(points, tiny, (line, part, value, holds) => notes.push({ line, part: named(part), value, holds }));
    out.push({ line: "closest", text: corners.join(" ") });
    for (const { line, part, value, holds } of notes) {
      if (line === "inside") { out.push({ line: "all inside", text: "all four are skipped", holds: true }); continue; }
      out.push({ line, test: TESTS[line](part), region: `${REGIONS[line]} ${(line === "segment a" ? part.slice(0, 1) : line === "segment b" ? part.slice(1) : part).join(" ")}`, value, holds, names: part });
      if (line === "face side" && !holds) out.push({ line: "face try", text: part.join(" ") });
    }
    out.push({ line: "inside", text: where === "inside" ? "all sides hold" : "not inside", holds: where === "inside" });
    if (where !== "inside") {
      const stays = !(norm(p) < length) && step.dropped.length === 0 && !step.joins;
      out.push({ line: "progress", text: "|v| of the next simplex", value: norm(p), holds: stays });
      if (!stays) out.push({ line: "drop", text: `without ${corners.filter((_, i) => !(weights[i] > 0)).join(" and ") || "a change"}` });
      if (!stays && norm(p) <= 4 * tiny) out.push({ line: "origin", text: "|v| of the next simplex", value: norm(p), holds: true });
    }
    return out;
  }
  const edges = (face) => face.map((i, e) => [i, face[(e + 1) % 3]]), key = (i, j) => `${i},${j}`, same = (f, g) => f.every((i) => g.includes(i));
  function ofEpa(step, steps, tiny) {
    const { vertices, faces, closest, removed = [], horizon = [], names, direction: d, point: w, point_name: name } = step, called = (face) => face.map((i) => names[i]).join(" ");
    const plane = (face) => { const [a, b, c] = face.map((i) => vertices[i]), n = unit(triangleNormal(a, b, c)); return { n, least: Math.min(dot(n, a), dot(n, b), dot(n, c)), at: a }; };
    const { least } = plane(closest), inside = least > 4 * tiny, r = inside ? least : -norm(step.nearest), out = [];
    const first = steps.find((one) => one.phase === "EPA") === step;
    if (first) out.push({ line: vertices.slice(0, 4).every((p) => steps.some((one) => one.phase !== "EPA" && one.point && norm(sub(one.point, p)) <= tiny)) ? "seeded" : "fresh", text: names.slice(0, 4).join(" ") }, { line: "wind", text: "4 faces" });
    out.push({ line: "near", text: `face ${called(closest)}, key`, value: least }, { line: "inside", test: `key of ${called(closest)} > 0`, region: `face ${called(closest)}`, value: least, holds: inside });
    if (!inside) out.push({ line: "outside", text: "|q|", value: norm(step.nearest) });
    out.push({ line: "support", text: `w is ${name}` }, { line: "lower", text: "-d·w", value: -dot(d, w) }, { line: "upper", text: "-r", value: -r });
    const ends = !removed.length, again = names.includes(name);
    out.push({ line: "stop", text: ends && again ? `${name} is a corner` : "d·w - r", value: ends && again ? undefined : dot(d, w) - r, holds: ends });
    if (ends) return inside ? [...out, { line: "ray", text: "the points of A and B" }] : out;
    out.push({ line: "grow", text: `${name} joins` }, { line: "visible", text: `face ${called(removed[0])}` });
    const behind = new Map(faces.flatMap((face) => edges(face).map(([i, j]) => [key(j, i), face]))), told = new Set([removed[0]]), gone = (g) => removed.find((f) => same(f, g));
    for (const face of removed) for (const [i, j] of edges(face)) {
      const g = behind.get(key(i, j)), visible = gone(g);
      if (visible && told.has(visible)) continue;
      const { n, at } = plane(g), height = dot(n, sub(w, at));
      if (visible) told.add(visible);
      out.push({ line: visible ? "see" : "rim", test: `n·(${name} - p) > 0, face ${called(g)}`, region: `face ${called(g)}`, value: height, holds: Boolean(visible), names: g.map((k) => names[k]) });
    }
    const centre = scale(0.25, vertices.slice(0, 4).reduce(add)), fans = horizon.map(([i, j]) => dot(unit(triangleNormal(vertices[i], vertices[j], w)), sub(w, centre)));
    out.push({ line: "cycle", text: `${horizon.length} edges in one cycle`, holds: false }, { line: "fan", text: `${horizon.length} new faces` });
    out.push({ line: "flip", text: "least n·(w - centre)", value: Math.min(...fans), holds: false }, { line: "sew", text: `${removed.length} removed` });
    return out;
  }
  const algorithm = (step) => (step.phase === "EPA" || step.flat || (step.phase === "answer" && step.faces) ? "EPA" : "GJK");
  return { CODE, events, algorithm };
})();
