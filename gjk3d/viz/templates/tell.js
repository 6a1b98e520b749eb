// The steps of GJK and EPA in this page, in the sentences of explanation/narration.py.
const gjk3dTell = (function () {
  const { dot, sub, add, scale, norm, blend } = gjk3dVectors, { onTriangle } = gjk3dSimplex, { solve } = gjk3dSolve;
  const { outward, long, told, listed, part, bounds } = gjk3dWords;
  const MOST = 40; // steps of EPA that are shown one by one, since some curved pairs take hundreds
  const ON = 1e-9; // up to this distance, relative to the size of the pair, the origin is on a face

  function tell(a, b, shift) {
    const run = solve(a, b, shift), { size, gjk, epa } = run, radii = a.radius + b.radius, what = radii > 0 ? "cores" : "shapes";
    const tiny = 1e-12 * size, proven = Math.max(run.lower, -run.upper), rounding = proven > 0 && proven <= tiny ? 0 : tiny;
    const known = [], short = (x) => told(x, x, 4, rounding);
    const found = (w) => known.findIndex((p) => Math.max(...sub(p, w).map(Math.abs)) <= tiny);
    const knows = (w) => found(w) >= 0;
    const called = new Map(); // so that the many steps of a curved pair do not search again
    const name = (w) => called.get(w) || called.set(w, `w${(knows(w) ? found(w) : known.push(w) - 1) + 1}`).get(w);
    const names = (rows) => rows.map((row) => name(row.w));
    const nearest = (weights, rows) => Object.fromEntries([["nearest", "w"], ["witness_a", "a"], ["witness_b", "b"]].map(([field, of]) => [field, blend(weights, rows.map((row) => row[of]))]));
    const only = (ahead) => (ahead <= rounding ? "no farther (up to rounding)" : `only ${long(outward(ahead, 2, 1))} farther`);
    const grown = [["A", a], ["B", b]].filter((one) => one[1].radius > 0);
    let lower = -Infinity, upper = Infinity;
    const bounded = (low, high) => {
      [lower, upper] = [Math.max(lower, low - radii), Math.min(upper, high - radii)];
      return { lower, upper };
    };
    const query = (direction, row) => ({ direction, point: row.w, point_name: name(row.w), support_a: row.a, support_b: row.b });

    const centers = norm(sub(add(gjk3dSupport.middle(b), shift), gjk3dSupport.middle(a))) > 0, first = name(gjk.start.w);
    const included = grown.map(([who, shape]) => `${who}'s radius ${short(shape.radius)}`);
    const steps = [{
      phase: "start", title: "Start", lower: null, upper: null, joins: true, ...query(gjk.first, gjk.start),
      sentence: "A - B is the set of all points of A minus all points of B. The shapes share a point if it contains the origin. Otherwise their distance is the distance of A - B from the origin. GJK does not build A - B. It computes support points, which are farthest in a direction. "
        + `The first, along ${centers ? "the line from the origin of A's frame to that of B's" : "A's x axis because both frames have one origin"}, is ${first}.`
        + (grown.length ? ` The steps are for the cores, and ${included.join(" and ")} ${grown.length === 1 ? "is" : "are"} included at the end.` : ""),
    }];
    gjk.steps.forEach((step, i) => {
      const last = i + 1 === gjk.steps.length, shared = last && gjk.end.startsWith("origin"), before = names(step.rows), again = knows(step.found.w), mine = name(step.found.w);
      const after = names(last ? gjk.rows : gjk.steps[i + 1].rows), joins = after.includes(mine) && !before.includes(mine);
      const dropped = before.filter((n) => !after.includes(n)), ahead = step.upper - step.bound;
      const words = [i === 0 ? `${before[0]}, the first point of A - B, is ${short(step.upper)} from the origin.` : `The origin is ${short(step.upper)} from ${part(before)}.`];
      if (again && before.includes(mine)) words.push(`The support point towards the origin is ${mine} again, so no point of A - B is farther.`);
      else words.push(`The support point towards the origin is ${mine}, ${joins ? `${short(ahead)} farther` : only(ahead)}.`);
      if (joins && !shared) {
        words.push(`The origin is in the Voronoi region of ${after.length === 1 ? `corner ${mine} itself` : part(after)}, so ${dropped.length ? `GJK drops ${listed(dropped)}` : "no corner is dropped"}.`);
      }
      if (shared) words.push(`${gjk.end === "origin inside" ? `The ${part(after)} contains the origin` : `The origin is on ${part(after)}`}, so the ${what} share a point.${epa.steps.length ? " EPA then computes the depth." : ""}`);
      else if (last) words.push(gjk.end === "converged" ? `The lower bound has reached the upper bound, so ${part(before)} contains the nearest point.` : "The distance decreases by no more than rounding, so GJK ends.");
      steps.push({
        phase: "GJK", title: `GJK, step ${i + 1}`, sentence: words.join(" "), ...bounded(step.lower, step.upper), simplex: step.rows.map((row) => row.w), names: before, after: last ? [] : after,
        ...nearest(step.weights, step.rows), ...query(step.direction, step.found), joins, dropped,
      });
    });

    const vertices = epa && epa.polytope ? epa.polytope.vertices : [];
    function starting(step) {
      if (!gjk.steps.length) return "The first point of A - B, w1, is the origin, so A and B share a point. EPA computes the depth.";
      if (gjk.rows.length === 4 && vertices.slice(0, 4).every((row) => knows(row.w))) return "EPA starts with GJK's tetrahedron.";
      return `EPA starts with four new far points, whose tetrahedron may not contain the origin, because GJK's ${part(names(gjk.rows))} ${gjk.rows.length < 4 ? "has no volume" : "is nearly flat"}.`;
    }
    if (epa) epa.steps.forEach((step, i) => {
      if (i >= MOST && i + 1 < epa.steps.length) return;
      const rows = step.closest.map((k) => vertices[k]), corners = rows.map((row) => row.w), words = i === 0 ? [starting(step)] : [];
      const all = names(vertices.slice(0, step.count)), again = knows(step.found.w), mine = name(step.found.w), on = step.closest.map((k) => all[k]).join(" ");
      const [near, weights] = onTriangle(corners, [0, 1, 2], 0), away = norm(near), n = gjk3dVectors.unit(gjk3dVectors.triangleNormal(...corners));
      const plane = dot(n, corners[0]), inside = plane > ON * size;
      const ahead = step.height - (inside ? plane : Math.max(...corners.map((p) => dot(p, step.direction))));
      if (inside) words.push(`Face ${on} is the nearest to the origin, ${short(plane)} away.`);
      else words.push(away <= ON * size ? `The origin is on face ${on}.` : `The origin is still outside, ${short(away)} from the nearest face, ${on}.`);
      if (step.removed.length) {
        const old = step.removed.length === 1 ? "the face" : `the ${step.removed.length} faces that see it`;
        words.push(`Along its normal, A - B reaches ${mine}, ${short(ahead)} beyond. EPA adds ${mine} and replaces ${old} by ${step.horizon.length} new faces around the horizon.`);
      } else {
        const claim = again ? `A - B reaches no farther than ${mine}` : `${mine} is ${only(ahead)}`, touching = Math.abs(run.distance) <= run.upper - run.lower;
        const end = inside ? "the face is on the surface of A - B, and its distance is the depth" : touching ? "the origin is on the surface of A - B, and the shapes touch" : "this face contains the nearest point of A - B";
        words.push(step.code === "full" ? "This is the last of the steps in this page." : `Along its normal, ${claim}, so ${end}.`);
      }
      const count = epa.steps.length - MOST, many = i >= MOST && count > 1;
      if (many) words.unshift(`${count} steps in one. The last step:`);
      steps.push({
        phase: "EPA", title: many ? `EPA, steps ${MOST + 1} to ${i + 1}` : `EPA, step ${i + 1}`, sentence: words.join(" "), ...bounded(step.lower, step.upper), names: all, vertices: vertices.slice(0, step.count).map((row) => row.w),
        faces: step.faces.map((face) => face.corners), closest: step.closest, removed: step.removed, horizon: step.horizon, ...nearest(weights, rows), ...query(step.direction, step.found), joins: step.removed.length > 0,
      });
    });
    steps.push(answer(run, a, b, steps[steps.length - 1], rounding, grown));
    return fold(steps.map((step) => ({ ...step, rounding, bounds: bounds({ ...step, rounding }) })), short);
  }

  function answer(run, a, b, last, rounding, grown) {
    const radii = a.radius + b.radius, { lower, upper, epa } = run, deep = run.status === "overlapping", words = [];
    const given = grown.map(([who, shape]) => `${shape.name} ${who}'s radius ${told(shape.radius, shape.radius, 4)}`).join(" and "), verb = grown.length === 1 ? "is" : "are";
    if (grown.length && upper + radii < -rounding) words.push(`The cores overlap by ${told(-upper - radii, -lower - radii, 4)}, to which ${given} ${verb} added.`);
    else if (grown.length) words.push(`The cores are apart by ${told(lower + radii, upper + radii, 4, rounding)}, from which ${given} ${verb} subtracted.`);
    const flat = Boolean(epa) && epa.code === "flat" && !deep;
    if (flat) words.push(`A - B is ${["one point", "a line", "flat"][epa.dimension]}, so it has no inside and no depth.`);
    if (run.status === "apart") words.push(`The two points are the nearest, and the shapes are proven to be ${told(lower, upper, 9, rounding)} apart.`);
    else if (run.status === "touching") words.push(`The shapes touch, and their distance is ${told(lower, upper, 9, rounding)}.`);
    else if (!deep) words.push(`The distance is ${told(lower, upper, 9, rounding)}. The bounds contain 0.`);
    else if (run.tight) words.push(`Moving B by ${told(-upper, -lower, 9)} along the normal makes the shapes just touch, and it is proven that no shorter translation does.`);
    else words.push(`The shapes overlap by ${told(-upper, -lower, 9)}. Moving B by this length along the normal separates them.`);
    if (epa && epa.code === "full") words.push("EPA stopped at the page's limit of 600 points, because a whole circle of directions has nearly this depth. The bounds therefore stay apart. The library's bounds are closer, with a closed form for cylinders and cones.");
    const title = { apart: `apart by ${told(lower, upper, 6)}`, touching: "touching", overlapping: `overlapping by ${told(-upper, -lower, 6)}`, undecided: "undecided: the bounds contain 0" }[run.status];
    return {
      ...Object.fromEntries(["simplex", "names", "vertices", "faces", "closest"].filter((field) => last[field]).map((field) => [field, last[field]])),
      phase: "answer", title: `Result: ${title}`, sentence: words.join(" "), lower: last.lower === null ? null : lower, upper: last.lower === null ? null : upper,
      flat, overlap: deep, nearest: sub(run.a, run.b), direction: run.normal, witness_a: run.a, witness_b: run.b,
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
  return { tell, bounds };
})();
