// The numbers of a step: support query, region tests, weights and points, bounds with their formulas, the stop rule.
const gjk3dNumbers = (function () {
  const { data, element, make, number } = gjk3d, { dot, norm } = gjk3dVectors;
  let size = 1;
  const short = (x) => number(Math.abs(x) <= 1e-12 * size ? 0 : x, 6), triple = (p) => `(${p.map(short).join(", ")})`;
  const card = (title, ...within) => make("section", { class: "numbers" }, make("h3", {}, title), ...within);
  const row = (...cells) => make("tr", {}, cells.map((cell, i) => make(i ? "td" : "th", i ? {} : { scope: "row" }, ...(typeof cell === "string" ? gjk3dLinks.linked(cell) : [cell]))));
  const table = (head, rows) => make("table", {}, head && make("thead", {}, make("tr", {}, head.map((text) => make("th", { scope: "col" }, text)))), make("tbody", {}, rows));

  // `radii` is the sum of both radii, which both bounds include.
  function show(step, events, radii, long, open) {
    size = long;
    const cards = [];
    if (step.support_a) cards.push(query(step));
    if (!open && events.some((event) => event.test)) cards.push(tests(events));
    if (step.nearest && step.phase !== "start") cards.push(points(step));
    if (!open && step.phase !== "start" && step.phase !== "answer") cards.push(bounds(step, radii), stop(events));
    element("number-cards").replaceChildren(...cards);
  }
  function query(step) {
    const sides = step.direction.map((x) => number(x, 6)), d = `(${sides.join(", ")})`;
    return card("Support query", table(null, [
      row("direction d", d), row("A's point along d", triple(step.support_a)), row("B's point along −d", triple(step.support_b)), row(`${step.point_name} = A's - B's`, triple(step.point)), row("d·w", short(dot(step.direction, step.point))),
    ]));
  }
  function tests(events) {
    const rows = events.filter((event) => event.test).map((event) => {
      const node = row(event.region, event.test, short(event.value), event.holds ? "yes" : "no");
      if (!event.holds) node.className = "failed";
      return node;
    });
    return card("Tests of regions and faces", table(["part", "test", "value", "holds"], rows), make("p", { class: "hint" }, "Tests that failed are grey. Values of u, v, w are not divided by lengths; only their signs count."));
  }
  function points(step) {
    const corners = step.closest && step.vertices ? step.closest.map((i) => [step.names[i], step.vertices[i]]) : (step.simplex || []).map((p, i) => [step.names[i], p]);
    const weights = corners.length && step.phase !== "answer" ? gjk3dSimplex.nearest(corners.map((one) => one[1]), 0)[1] : [];
    const rows = weights.map((weight, i) => row(corners[i][0], triple(corners[i][1]), number(weight, 6)));
    return card(step.phase === "answer" ? "Points of the result" : "Weights and points", weights.length ? table(["corner", "point of A - B", "weight"], rows) : "", table(null, [
      row(step.phase === "answer" ? "point of A - point of B" : "v, nearest to the origin", triple(step.nearest)), row("its length", short(norm(step.nearest))), row("point of A", triple(step.witness_a)), row("point of B", triple(step.witness_b)),
    ]));
  }
  function bounds(step, radii) {
    const bound = -dot(step.direction, step.point), epa = step.phase === "EPA", minus = radii > 0 ? ` - ${short(radii)}` : "", radius = radii > 0 ? " - radii" : "";
    const corners = epa ? step.closest.map((i) => step.vertices[i]) : [], n = epa && gjk3dVectors.unit(gjk3dVectors.triangleNormal(...corners)), plane = epa ? dot(n, corners[0]) : 0, inside = plane > 1e-12 * size;
    const upper = epa && inside ? -plane : norm(step.nearest), formula = epa ? (inside ? "-r, r the face's distance" : "|q|") : "|v|";
    const meaning = step.lower < -1e-12 * size
      ? "A lower bound below 0 does not exclude an overlap. It says how deep an overlap can be: a move of B by its length along d separates the shapes, since no point of A - B is beyond the plane at d·w."
      : step.lower <= 1e-12 * size ? "A lower bound of 0 excludes an overlap, but not a contact: the plane at d·w contains the origin." : "A lower bound above 0 proves that the shapes are apart: the plane at d·w separates A - B from the origin.";
    return card(`Bounds of the distance${data.unit ? ` in ${data.unit}` : ""}`, table(["bound", "formula", "this step", "best so far"], [
      row("lower", `-d·w${radius}`, `${short(bound)}${minus} = ${short(bound - radii)}`, step.lower === null ? "" : short(step.lower)),
      row("upper", `${formula}${radius}`, `${short(upper)}${minus} = ${short(upper - radii)}`, step.upper === null ? "" : short(step.upper)),
    ]), make("p", { class: "hint" }, meaning));
  }
  function stop(events) {
    const rules = events.filter((event) => ["origin", "stop", "inside", "progress"].includes(event.line) && !event.test);
    return card("Stop rules, as evaluated", table(["rule", "value", "holds"], rules.map((event) => {
      const node = row(event.text, event.value === undefined ? "" : short(event.value), event.holds ? "yes: stop" : "no");
      if (!event.holds) node.className = "failed";
      return node;
    })));
  }
  return { show };
})();
