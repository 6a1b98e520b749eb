// The pieces of a step of the separating axis test: the axis next to the shapes, both projections, and the features.
const gjk3dSatDraw = (function () {
  const { dot, sub, add, scale, norm, cross, unit } = gjk3dVectors, { middle } = gjk3dSupport, { face } = gjk3dAxes;
  const { BALL, ROD, ARROW, local, piece, far } = gjk3dMarks;
  const LANE = 0.085, OUT = 0.16; // distances of the two bars from each other and from the shapes, in units of the view

  // The place of the axis: below the shapes for a viewer in the direction `way`.
  function lane(view, a, b, n, way, top) {
    const across = norm(cross(n, way)) > 1e-6 ? unit(cross(n, way)) : gjk3dVectors.perpendicular(n);
    const down = scale(dot(across, top) > 1e-3 ? -1 : 1, across), reach = Math.max(...[...a, ...b].map((p) => dot(p, down)));
    const center = scale(0.5, add(...[a, b].map((points) => middle({ points }))));
    // a point of the bar of side 0 or 1 at a height along the axis
    return (height, side) => {
      const base = sub(center, add(scale(dot(center, n), n), scale(dot(center, down), down)));
      return local(view, add(base, add(scale(height, n), scale(reach + view.unit * (OUT + LANE * side), down))));
    };
  }
  const extreme = (points, n, height) => points.reduce((p, q) => (Math.abs(dot(q, n) - height) < Math.abs(dot(p, n) - height) ? q : p));

  // The bars of both projections with lines from the extreme points, and the gap or the overlap between them.
  function bars(view, a, b, { normal, a: A, b: B, gap }, at) {
    const out = [], ends = [Math.min(A[0], B[0]), Math.max(A[1], B[1])], rest = 0.07 * view.unit * (1 + (ends[1] - ends[0]) / view.unit);
    out.push(piece("arrow", "axis", "line", [at(ends[0] - rest, 0.5), at(ends[1] + rest, 0.5)], { size: 0.55 * ARROW }));
    [[a, A, "a", 0], [b, B, "b", 1]].forEach(([points, span, role, side]) => {
      out.push(piece("rod", role, "bar", span.map((h) => at(h, side)), { size: 2.1 * ROD }));
      span.forEach((h, i) => {
        const from = local(view, extreme(points, normal, h)), foot = at(h, side);
        if (far([from, foot], ROD)) out.push(piece("rod", role, `drop${i}`, [from, foot], { size: 0.32 * ROD, opacity: 0.6 }));
      });
    });
    const between = [A[1], B[0]].map((h) => at(h, 0.5));
    if (far(between, ROD)) out.push(piece("rod", "gap", "between", between, { size: 1.5 * ROD }), piece("label", "gap", "between", [scale(0.5, add(...[A[1], B[0]].map((h) => at(h, 2.1))))], { text: `${gap > 0 ? "gap" : "overlap"} ${gjk3d.number(Math.abs(gap), 4)}` }));
    return out;
  }
  // The face or the two edges of an axis. Of parallel edges, those are shown that are farthest along the axis.
  function features(view, a, b, { kind, normal, n, members }, shapes, shift, tiny) {
    if (kind === "edges") return [[shapes[0], [0, 0, 0], 1], [shapes[1], shift, -1]].map(([shape, by, sign], i) => {
      const height = (k) => (normal ? sign * dot(shape.points[shape.ends[k][0]], normal) : 0), best = members[i].reduce((p, q) => (height(q) > height(p) + tiny ? q : p));
      return piece("rod", "feature", `edge${i}`, shape.ends[best].map((k) => local(view, add(shape.points[k], by))), { size: 1.5 * ROD });
    });
    const points = kind === "face A" ? a : b, ways = [1, -1].map((s) => scale(s * (kind === "face A" ? 1 : -1), normal || n));
    const corners = ways.map((way) => face(points, way, tiny)).find((list) => list.length > 2);
    if (!corners) return [];
    return corners.slice(2).map((p, i) => piece("face", "feature", `face${i}`, [corners[0], corners[i + 1], p].map((q) => local(view, q)), { opacity: 0.55 }))
      .concat(corners.map((p, i) => piece("rod", "feature", `side${i}`, [p, corners[(i + 1) % corners.length]].map((q) => local(view, q)), { size: 0.8 * ROD })));
  }
  function result(view, b, { axis, near, mtv }, shapes, tiny) {
    const out = [];
    if (mtv) {
      shapes[1].ends.forEach((pair, i) => out.push(piece("rod", "moved", `edge${i}`, pair.map((k) => local(view, add(b[k], mtv))), { size: 0.5 * ROD })));
      const heart = middle({ points: b }), from = local(view, heart), to = local(view, add(heart, mtv));
      if (far([from, to], ROD)) out.push(piece("arrow", "gap", "mtv", [from, to], { size: 1.3 * ARROW }), piece("label", "gap", "mtv", [scale(0.5, add(from, to))], { text: `MTV ${gjk3d.number(norm(mtv), 4)}` }));
      return out;
    }
    if (!(axis.gap > tiny)) return out;
    const ends = near.map((p) => local(view, p)), n = axis.normal, height = (axis.a[1] + axis.b[0]) / 2, center = scale(0.5, add(...near));
    const foot = add(center, scale(height - dot(center, n), n)), e1 = gjk3dVectors.perpendicular(n), e2 = cross(n, e1), half = 0.55 * view.unit;
    const square = [[1, 1], [1, -1], [-1, -1], [-1, 1]].map(([x, y]) => local(view, add(foot, add(scale(half * x, e1), scale(half * y, e2)))));
    out.push(piece("region", "plane", "plane", [local(view, foot)], { polygons: [square], opacity: 0.18 }));
    if (far(ends, ROD)) out.push(piece("rod", "ink", "near", ends, { size: 0.8 * ROD }));
    ends.forEach((p, i) => out.push(piece("ball", "ink", `near${i}`, [p], { size: 0.7 * BALL })));
    return out;
  }
  // `shapes` are A and B, B without its translation.
  function pieces(view, step, shapes, shift, way, top, tiny) {
    const a = shapes[0].points, b = shapes[1].points.map((p) => add(p, shift)), { axis } = step;
    if (!axis || !axis.n) return axis && axis.members ? features(view, a, b, axis, shapes, shift, tiny) : [];
    const out = features(view, a, b, axis, shapes, shift, 1e3 * tiny);
    if (axis.normal) out.push(...bars(view, a, b, axis, lane(view, a, b, axis.normal, way, top)));
    return step.phase === "result" ? [...out, ...result(view, b, step, shapes, tiny)] : out;
  }
  return { pieces };
})();
