// Steps of the GJK in this page, in the sentences of explanation/narration.py, and the numbers of the curve of bounds.
const gjk3dTell = (function () {
  const { data, number } = gjk3d, { gjk, sub, add, scale, norm } = gjk3dLoop;

  // --- numbers as in gjk3d/wording.py, with bounds rounded outward -----------------------------------------------------
  function outward(x, digits, way) {
    const [exact, power] = x.toExponential(100).split("e"), kept = exact.slice(0, digits + (x < 0 ? 2 : 1));
    const cut = /[1-9]/.test(exact.slice(kept.length)) && x < 0 === way < 0; // whether it was rounded towards zero
    return number(Number(`${kept}e${power}`) + (cut ? way * 10 ** (Number(power) + 1 - digits) : 0), digits);
  }
  const long = (text) => (data.unit ? `${text} ${data.unit}` : text);
  function told(low, high, digits, rounding = 0) {
    const round = (x) => (Math.abs(x) <= rounding ? 0 : x);
    return bare(round(low), round(high), digits) + ([low, high].some((x) => x !== round(x)) ? " (up to rounding)" : "");
  }
  function bare(low, high, digits) {
    if (number(low, digits) === number(high, digits)) return long(number(low, digits));
    if (low === -Infinity) return long(`≤ ${outward(high, digits, 1)}`);
    const kept = low < 0 && high > 0 ? Math.min(digits, 3) : digits;
    return long(`${outward(low, kept, -1)} to ${outward(high, kept, 1)}`);
  }
  const listed = (names) => (names.length < 2 ? names[0] || "nothing" : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`);
  const part = (names) => `${["", "corner", "edge", "triangle", "tetrahedron"][names.length]} ${names.join(" ")}`;
  const bounds = ({ lower, upper, rounding }) => (lower === null || upper === null ? "" : `distance ${told(lower, upper, 5, rounding)}`);

  // --- the steps ------------------------------------------------------------------------------------------------------
  function tell(a, b, shift) {
    const run = gjk(a, b, shift), { size } = run, radii = a.radius + b.radius, what = radii > 0 ? "cores" : "shapes";
    const tiny = 1e-12 * size, proven = Math.max(run.lower, -run.upper), rounding = proven > 0 && proven <= tiny ? 0 : tiny;
    const known = [], short = (x) => told(x, x, 4, rounding);
    const found = (w) => known.findIndex((p) => Math.max(...sub(p, w).map(Math.abs)) <= tiny);
    const knows = (w) => found(w) >= 0;
    const name = (w) => `w${(knows(w) ? found(w) : known.push(w) - 1) + 1}`;
    const names = (rows) => rows.map((row) => name(row.w));
    const sum = (weights, rows, of) => rows.reduce((p, row, i) => add(p, scale(weights[i], row[of])), [0, 0, 0]);
    const grown = [["A", a.radius], ["B", b.radius]].filter((one) => one[1] > 0).map(([who, r]) => `${who}'s radius ${short(r)}`);
    const centers = norm(sub(add(gjk3dLoop.middle(b), shift), gjk3dLoop.middle(a))) > 0;
    const first = name(run.start.w), shared = run.end.startsWith("origin"), onward = shared ? " EPA would compute the depth, but this page runs only GJK." : "";
    const steps = [{
      phase: "start", title: "Start", lower: null, upper: null, direction: run.first, point: run.start.w, point_name: first, joins: true,
      support_a: run.start.a, support_b: run.start.b,
      sentence: "A - B is the set of all points of A minus all points of B. The shapes share a point if it contains the origin. Otherwise their distance is the distance of A - B from the origin. GJK does not build A - B. It computes support points, which are farthest in a direction. "
        + `The first, along ${centers ? "the line from A's reference point to B's" : "A's x axis, as the two have one reference point"}, is ${first}.`
        + (grown.length ? ` The steps are for the cores, and ${grown.join(" and ")} ${grown.length === 1 ? "is" : "are"} included at the end.` : ""),
    }];
    let lower = -Infinity, upper = Infinity;
    run.steps.forEach((step, i) => {
      const last = i + 1 === run.steps.length, before = names(step.rows), w = step.found.w, again = knows(w), mine = name(w);
      const after = names(last ? run.rows : run.steps[i + 1].rows), joins = after.includes(mine) && !before.includes(mine);
      const dropped = before.filter((n) => !after.includes(n)), ahead = step.upper - step.bound;
      lower = Math.max(lower, step.lower - radii);
      upper = Math.min(upper, step.upper - radii);
      const words = [i === 0 ? `${before[0]}, the first point of A - B, is ${short(step.upper)} from the origin.` : `The origin is ${short(step.upper)} from ${part(before)}.`];
      if (again && before.includes(mine)) words.push(`The support point towards the origin is ${mine} again, so no point of A - B is farther.`);
      else if (!joins) words.push(`The support point towards the origin is ${mine}, ${ahead <= rounding ? "no farther (up to rounding)" : `only ${long(outward(ahead, 2, 1))} farther`}.`);
      else words.push(`The support point towards the origin is ${mine}, ${short(ahead)} farther.`);
      if (joins && !(shared && last)) {
        words.push(`The origin is in the Voronoi region of ${after.length === 1 ? `corner ${mine} itself` : part(after)}, so ${dropped.length ? `GJK drops ${listed(dropped)}` : "no corner is dropped"}.`);
      }
      if (last && shared) words.push(`${run.end === "origin inside" ? `The ${part(after)} contains the origin` : `The origin is on ${part(after)}`}, so the ${what} share a point.${onward}`);
      else if (last) words.push(run.end === "converged" ? `The lower bound has reached the upper bound, so ${part(before)} contains the nearest point.` : "The distance decreases by no more than rounding, so GJK ends.");
      steps.push({
        phase: "GJK", title: `GJK, step ${i + 1}`, sentence: words.join(" "), lower, upper, simplex: step.rows.map((row) => row.w), names: before, after: shared && last ? [] : after,
        nearest: sum(step.weights, step.rows, "w"), direction: step.direction, point: w, point_name: mine, joins, dropped,
        support_a: step.found.a, support_b: step.found.b, witness_a: sum(step.weights, step.rows, "a"), witness_b: sum(step.weights, step.rows, "b"),
      });
    });
    steps.push(answer(run, a, b, steps[steps.length - 1], rounding));
    return fold(steps.map((step) => ({ ...step, rounding, bounds: bounds({ ...step, rounding }) })), short);
  }

  function answer(run, a, b, last, rounding) {
    const radii = a.radius + b.radius, low = Math.min(run.lower, run.upper), { upper } = run, { a: p, b: q } = run.core;
    const gap = norm(sub(q, p)), normal = gap > 0 ? scale(1 / gap, sub(q, p)) : run.axis;
    const apart = low > 0, touching = !apart && upper >= 0 && (!run.end.startsWith("origin") || low >= -2 * run.error);
    const sure = run.within || upper < -run.error;
    const grown = [["A", a], ["B", b]].filter((one) => one[1].radius > 0).map(([who, shape]) => `${shape.name} ${who}'s radius ${told(shape.radius, shape.radius, 4)}`);
    const words = grown.length && !run.end.startsWith("origin") ? [`The cores are apart by ${told(low + radii, upper + radii, 4, rounding)}, from which ${grown.join(" and ")} ${grown.length === 1 ? "is" : "are"} subtracted.`] : [];
    if (!run.steps.length) words.push(`The first point of A - B, w1, is the origin, so the ${radii > 0 ? "cores" : "shapes"} share a point.`);
    if (apart) words.push(`The two points are the nearest, and the shapes are proven to be ${told(low, upper, 9, rounding)} apart.`);
    else if (touching) words.push(`The shapes touch, and their distance is ${told(low, upper, 9, rounding)}.`);
    else words.push(`${sure ? "The shapes overlap. The depth is" : "The shapes share a point. Whether they overlap, and the depth, are"} computed by EPA, whose steps are in the explanation of gjk3d.signed_distance.`);
    return {
      phase: "answer", title: `Result: ${apart ? `apart by ${told(low, upper, 6)}` : touching ? "touching" : sure ? "overlapping" : "touching or overlapping"}`, sentence: words.join(" "),
      lower: last.lower === null ? null : low, upper: last.lower === null ? null : upper, overlap: !apart && !touching, simplex: last.simplex, names: last.names,
      nearest: add(sub(p, q), scale(radii, normal)), direction: normal, witness_a: add(p, scale(a.radius, normal)), witness_b: sub(q, scale(b.radius, normal)),
    };
  }

  // Last steps with equal texts of bounds become one step.
  function fold(steps, short) {
    const end = steps.length - 2, kind = steps[end].phase, read = ({ phase, lower, upper }) => [phase, short(lower), short(upper)].join();
    let first = end;
    while (first > 1 && read(steps[first - 1]) === read(steps[end])) first--;
    if (end - first < 2) return steps;
    const one = { ...steps[end], title: `${kind}, steps ${steps[first].title.split(" ").pop()} to ${steps[end].title.split(" ").pop()}` };
    one.sentence = `${end - first + 1} steps in one, because their bounds are equal in four digits. The last step: ${one.sentence}`;
    return [...steps.slice(0, first), one, steps[end + 1]];
  }

  // --- the curve ------------------------------------------------------------------------------------------------------
  function limits(steps) {
    const values = steps.flatMap((s) => [s.lower, s.upper]).filter((x) => x !== null && Number.isFinite(x));
    if (!values.length) values.push(0);
    const low = Math.min(...values), high = Math.max(...values), most = Math.max(Math.abs(low), Math.abs(high));
    const size = Math.max(most, ...steps.filter((s) => s.point).map((s) => norm(s.point)));
    const room = high - low <= 1e-6 * size ? Math.max(0.5 * most, 0.05 * size, 1e-300) : 0.08 * (high - low);
    return [low - room, high + room];
  }
  function ticks([low, high]) {
    const rough = (high - low) / 3, power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].reduce((x, y) => (Math.abs(y * power - rough) < Math.abs(x * power - rough) ? y : x)), values = [];
    for (let k = Math.ceil(low / step); k <= Math.floor(high / step); k++) values.push(k * step);
    const digits = Math.max(4, Math.ceil(Math.log10(Math.max(Math.abs(low), Math.abs(high)) / step)) + 1);
    return values.map((x) => [x, Math.abs(x) < 1e-9 * step ? "0" : number(x, digits)]);
  }
  return { tell, bounds, limits, ticks };
})();
