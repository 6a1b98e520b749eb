// The steps of the separating axis test in words.
const gjk3dSatSteps = (function () {
  const { scale } = gjk3dVectors, { size } = gjk3dSupport, { solve } = gjk3dSolve, { test } = gjk3dAxes, { told } = gjk3dWords;
  const ROUNDING = 1e-12; // in sizes of the pair: shorter lengths are reported as 0
  const KINDS = { "face A": "normal of a face of A", "face B": "normal of a face of B", edges: "edge of A × edge of B" };
  const OF = { "face A": "the normal of a face of A", "face B": "the normal of a face of B", edges: "the cross product of an edge of A and an edge of B" };
  const counted = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`, vector = (v) => `(${v.map((x) => gjk3d.number(Math.abs(x) < 1e-12 ? 0 : x, 4)).join(", ")})`;

  // All steps for a list of axes. With `only`, the axes are the normals of faces of A - B.
  function steps(a, b, shift, list, only) {
    const tiny = ROUNDING * size(a, b, shift), run = test(a, b, shift, { list, only, tiny }), facets = only ? run : test(a, b, shift, { list, only: true, tiny });
    const solved = solve(a, b, shift), short = (x) => told(x, x, 4, tiny), words = { short, tiny, count: list.length };
    const rows = grouped(run.tried).map((group) => (group.length > 1 ? several(group, list) : { phase: "axis", axis: group[0], last: group[0].number - 1, title: `Axis ${group[0].number} of ${list.length}: ${KINDS[group[0].kind]}`, sentence: group[0].skipped ? skipped(group[0]) : tried(group[0], words) }));
    return { steps: [start(list, only), ...rows, result(run, facets, solved, words, only)], run, tiny };
  }
  function start(list, only) {
    const [faceA, faceB, edges] = Object.keys(KINDS).map((kind) => list.filter((axis) => axis.kind === kind).length);
    return { phase: "start", title: "Start", sentence:
      "Two convex shapes are apart if and only if their projections on some axis have a gap. For polytopes these axes suffice: the normals of all faces of A, those of B, and the cross product of each edge of A with each edge of B. In 2D there are no pairs of edges. "
      + `Parallel faces share an axis, and so do parallel edges. So there are ${faceA} + ${faceB} normals here and ${counted(edges, "pair")} of edges, ${counted(list.length, "axis").replace("axiss", "axes")}.`
      + (only ? " The switch leaves out the axes that are not the normal of a face of A - B, as the library does." : "") };
  }
  // Axes that are skipped one after another are one step.
  function grouped(tried) {
    return tried.reduce((groups, axis) => {
      const group = groups[groups.length - 1], joins = group && axis.skipped && group[0].skipped && group[0].kind === axis.kind;
      if (joins) group.push(axis);
      else groups.push([axis]);
      return groups;
    }, []);
  }
  function several(group, list) {
    const end = group[group.length - 1].number, of = (why) => group.filter((axis) => axis.skipped === why), [parallel, twins, others] = ["parallel", "twin", "no face"].map(of), words = [];
    const numbers = (axes) => (axes.length === 1 ? `axis ${axes[0].number}` : `${axes.length} of them`);
    if (parallel.length) words.push(`For ${numbers(parallel)} the two edges are parallel: the sine of their angle is ${gjk3d.number(Math.max(...parallel.map((axis) => axis.sine)), 2)}, and the cross product has no direction. No face of A - B is missed, because two edges that make a face are not parallel.`);
    if (twins.length) words.push(`For ${numbers(twins)} a parallel axis has been tried: ${gjk3dWords.listed([...new Set(twins.map((axis) => axis.twin))].sort((x, y) => x - y).map((n) => `axis ${n}`))}.`);
    if (others.length) words.push(`For ${numbers(others)} no face of A - B has this normal, so another axis has less overlap.`);
    return { phase: "axis", axis: group[0], last: end - 1, title: `Axes ${group[0].number} to ${end} of ${list.length} are skipped`, sentence: words.join(" ") };
  }
  function skipped({ skipped: why, sine, twin }) {
    if (why === "parallel") return `The two edges are parallel: the sine of their angle is ${gjk3d.number(sine, 2)}. Their cross product has no direction, and dividing it by its length would only enlarge its rounding error. The pair is skipped. No face of A - B is missed, because two edges that make a face are not parallel.`;
    if (why === "twin") return `This axis is parallel to axis ${twin}, which has been tried. It is skipped.`;
    return "No face of A - B has this normal, so another axis has less overlap. It is skipped.";
  }
  function tried({ a, b, gap, before, best, number }, { short, tiny }) {
    const words = [`On this axis A reaches from ${short(a[0])} to ${short(a[1])}, and B from ${short(b[0])} to ${short(b[1])}.`], now = best.number === number;
    if (gap > tiny) {
      words.push(`The gap is ${short(gap)}${before && before.gap > tiny ? "." : ", so the shapes are apart. A query for yes or no ends here."}`);
      if (before && before.gap > tiny) words.push(now ? `It is larger than all gaps before.` : `The gap of axis ${best.number}, ${short(best.gap)}, is at least as large.`);
      return words.join(" ");
    }
    if (gap >= -tiny) words.push("The projections touch.");
    else words.push(`They overlap by ${short(-gap)}: to end the overlap on this axis, B moves by this length.`);
    const common = Math.min(a[1], b[1]) - Math.max(a[0], b[0]);
    if (-gap > common + tiny) words.push(`One interval is inside the other, so B has to pass its nearer end. The length of the common interval, ${short(common)}, is too short.`);
    if (now) words.push("No axis before has less overlap.");
    else words.push(best.gap > tiny ? `Axis ${best.number} has proven that the shapes are apart.` : `Axis ${best.number} overlaps by ${short(-best.gap)}, which is ${best.gap > gap + tiny ? "less" : "equal"}.`);
    return words.join(" ");
  }
  // The feature of a shape that has its nearest point: corner, edge or face.
  function feature(rows, weights, of) {
    const used = new Set(rows.filter((_, i) => weights[i] > 1e-9).map((row) => row[of].map((x) => x.toFixed(9)).join()));
    return ["corner", "edge", "face"][Math.min(used.size, 3) - 1];
  }
  function result({ best }, facets, solved, { short, tiny }, only) {
    const step = { phase: "result", axis: best, near: [solved.a, solved.b] }, exact = (x) => told(x, x, 9, tiny), where = `axis ${best.number}, ${OF[best.kind]}`;
    if (best.gap > tiny) {
      const equal = solved.distance - best.gap <= 1e-9 * size0(tiny), { rows, weights } = solved.gjk, [p, q] = ["a", "b"].map((of) => feature(rows, weights, of));
      const library = only ? "" : facets.best.gap < best.gap - tiny ? ` gk.separating_axis tries only the normals of faces of A - B. Its greatest gap is ${exact(facets.best.gap)}.` : " gk.separating_axis returns the same gap.";
      return { ...step, title: `Result: apart, gap ${told(best.gap, best.gap, 6)}`, sentence: `The greatest gap is ${exact(best.gap)}, on ${where}. It is a lower bound of the distance. `
        + (equal ? "Here it is the distance itself, because the line between the nearest points is parallel to the axis." : `The distance, by GJK, is ${exact(solved.distance)}. The nearest points are on ${p === "edge" ? "an" : "a"} ${p} of A and ${q === "edge" ? "an" : "a"} ${q} of B, and no axis of the test is parallel to the line between them. The test proves that shapes are apart, but does not measure the distance of corners.`) + library };
    }
    if (best.gap >= -tiny) return { ...step, title: "Result: touching", sentence: `No axis has a gap, and on ${where}, the projections touch. So the shapes touch, and their depth is 0 up to rounding.` };
    const mtv = scale(-best.gap, best.normal);
    return { ...step, mtv, title: `Result: overlapping by ${told(-best.gap, -best.gap, 6)}`, sentence: `All axes overlap, so the shapes do. The least overlap is ${exact(-best.gap)}, on ${where}. The minimum translation vector (MTV) has this length along the axis: ${vector(mtv)}. After this move of B the shapes just touch. All normals of faces of A - B are among the axes, so the length is the depth that EPA finds.` };
  }
  const size0 = (tiny) => tiny / ROUNDING;
  return { steps };
})();
