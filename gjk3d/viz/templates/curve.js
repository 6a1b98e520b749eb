// The curve of both bounds, step by step.
const gjk3dCurve = (function () {
  const { element, make } = gjk3d, { norm } = gjk3dVectors, { ticks } = gjk3dWords;
  const svg = element("curve").appendChild(make("svg", { preserveAspectRatio: "none", role: "img", "aria-label": "Bounds of the distance, step by step. The text of each step has its numbers" }));
  let frame = null;

  function limits(steps) {
    const values = steps.flatMap((s) => [s.lower, s.upper]).filter((x) => x !== null && Number.isFinite(x));
    if (!values.length) values.push(0);
    const low = Math.min(...values), high = Math.max(...values), most = Math.max(Math.abs(low), Math.abs(high));
    const size = Math.max(most, ...steps.filter((s) => s.point).map((s) => norm(s.point)));
    const room = high - low <= 1e-6 * size ? Math.max(0.5 * most, 0.05 * size, 1e-300) : 0.08 * (high - low);
    return [low - room, high + room];
  }
  // Bounds of steps after `at` are faint.
  function draw(steps, at) {
    const known = steps.map((step, i) => [i, step.lower, step.upper]).filter((row) => row[1] !== null && row[2] !== null);
    element("curve").hidden = !known.length;
    const width = Math.max(300, element("curve").clientWidth), [low, high] = limits(steps), marks = ticks([low, high]);
    const left = Math.max(70, 22 + 8 * Math.max(...marks.map((tick) => tick[1].length))), count = steps.length;
    const x = (i) => left + ((width - 20 - left) * (i + 0.5)) / count, y = (v) => 142 - (134 * (v - low)) / (high - low);
    const put = (...given) => svg.append(make(...given)), join = (list) => list.map((p) => p.join()).join(" ");
    frame = { width, left, count };
    svg.setAttribute("viewBox", `0 0 ${width} 170`);
    svg.replaceChildren();
    for (const [value, words] of marks) {
      put("line", { x1: left, x2: width - 20, y1: y(value), y2: y(value), stroke: words === "0" ? "var(--soft)" : "var(--line)" });
      put("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, words);
    }
    const seen = known.filter((row) => row[0] <= at), later = known.slice(Math.max(0, seen.length - 1));
    if (seen.length > 1) put("polygon", { points: join([...seen.map((row) => [x(row[0]), y(row[1])]), ...seen.slice().reverse().map((row) => [x(row[0]), y(row[2])])]), fill: "var(--band)" });
    for (const side of [1, 2]) {
      for (const [rows, color, thick] of [[later, "var(--later)", 1.2], [seen, "var(--ink)", 2]])
        if (rows.length) put("polyline", { points: join(rows.map((row) => [x(row[0]), y(row[side])])), fill: "none", stroke: color, "stroke-width": thick });
      const every = Math.max(1, Math.floor(known.length / 60));
      known.forEach((row, k) => {
        if (k % every && row[0] !== at) return;
        const r = row[0] === at ? 5.5 : 3.8, s = side === 1 ? 1 : -1, px = x(row[0]), py = y(row[side]);
        put("polygon", { points: join([[px - r, py + s * r * 0.8], [px + r, py + s * r * 0.8], [px, py - s * r]]), fill: row[0] <= at ? "var(--ink)" : "var(--later)" });
      });
    }
    put("line", { x1: x(at), x2: x(at), y1: 4, y2: 142, stroke: "var(--now)", "stroke-width": 2 });
    const every = Math.max(1, Math.ceil((count * 26) / width));
    for (let i = 0; i < count; i++) if (i === at || (i % every === 0 && Math.abs(i - at) >= every)) put("text", { x: x(i), y: 160, "text-anchor": "middle", class: i === at ? "now" : "" }, String(i + 1));
  }
  // Call `go` with the step at a click.
  function listen(go) {
    svg.addEventListener("click", (event) => {
      const box = svg.getBoundingClientRect(), { width, left, count } = frame;
      go(Math.round((((event.clientX - box.left) / box.width) * width - left) / ((width - 20 - left) / count) - 0.5));
    });
  }
  return { draw, listen };
})();
