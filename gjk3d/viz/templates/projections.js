// Two charts of the separating axis test: the projections on the axis of a step, and the gaps of all axes.
const gjk3dProjections = (function () {
  const { element, make, number } = gjk3d, { ticks } = gjk3dWords;
  const svg = (id, label) => element(id).appendChild(make("svg", { role: "img", "aria-label": label }));
  const line = svg("projection", "The projections of A and B on the axis. The sentence above has the numbers"), chart = svg("tried", "Gap or overlap of each axis. The list of all steps has the numbers");
  let frame = null;

  function cleared(node, id, high) {
    const width = Math.max(280, element(id).clientWidth);
    node.setAttribute("viewBox", `0 0 ${width} ${high}`);
    node.replaceChildren();
    return [width, (...given) => node.append(make(...given))];
  }
  // The intervals of A and B as bars above one number line. A gap up to `tiny` is rounding.
  function project(axis, tiny) {
    const [width, put] = cleared(line, "projection", 118), shown = axis && axis.normal;
    if (!shown) return put("text", { x: 8, y: 60 }, axis ? "no projection: this axis is skipped" : "no axis yet");
    const { a, b, gap } = axis, ends = [Math.min(a[0], b[0]), Math.max(a[1], b[1])], room = 0.06 * (ends[1] - ends[0]), [low, high] = [ends[0] - room, ends[1] + room];
    const x = (v) => 12 + ((width - 24) * (v - low)) / (high - low), between = [a[1], b[0]].map(x), middle = (between[0] + between[1]) / 2;
    for (const [value, words] of ticks([low, high])) {
      put("line", { x1: x(value), x2: x(value), y1: 92, y2: 97, stroke: "var(--soft)" });
      put("text", { x: Math.min(Math.max(x(value), 14), width - 14), y: 112, "text-anchor": "middle" }, words);
    }
    put("line", { x1: 4, x2: width - 4, y1: 92, y2: 92, stroke: "var(--soft)" });
    put("rect", { x: Math.min(...between), width: Math.abs(between[1] - between[0]), y: 26, height: 66, fill: gap > 0 ? "none" : "var(--band)" });
    [["A", a, 44, "var(--a)"], ["B", b, 68, "var(--b)"]].forEach(([name, [from, to], y, fill]) => {
      put("rect", { x: x(from), width: Math.max(2, x(to) - x(from)), y, height: 16, rx: 3, fill });
      put("text", { x: (x(from) + x(to)) / 2, y: y + 12.5, "text-anchor": "middle", class: "bar" }, name);
    });
    put("line", { x1: between[0], x2: between[1], y1: 30, y2: 30, stroke: "var(--s)", "stroke-width": 3 });
    for (const end of between) put("line", { x1: end, x2: end, y1: 25, y2: 92, stroke: "var(--s)", "stroke-width": 1.2 });
    const words = Math.abs(gap) <= tiny ? "touching" : `${gap > 0 ? "gap" : "overlap"} ${number(Math.abs(gap), 5)}`, half = 4 * words.length;
    put("text", { x: Math.min(Math.max(middle, half), width - half), y: 18, "text-anchor": "middle", class: "now" }, words);
  }
  // One bar for each axis: gaps above the line, overlaps below it. `now` is the range of axes of the step, `tried` counts
  // the axes so far, and `best` is the number of the best one.
  function all(rows, now, tried, best) {
    const [width, put] = cleared(chart, "tried", 170), values = rows.map((row) => (row.skipped ? 0 : row.gap)), least = Math.min(0, ...values), most = Math.max(0, ...values);
    const room = 0.1 * (most - least || 1), [low, high] = [least - room, most + room], marks = ticks([low, high]), left = Math.max(54, 22 + 8 * Math.max(...marks.map((one) => one[1].length)));
    const each = (width - 10 - left) / rows.length, x = (i) => left + each * (i + 0.5), y = (v) => 8 + (128 * (high - v)) / (high - low), wide = Math.min(0.7 * each, 26);
    frame = { width, left, each, count: rows.length };
    rows.forEach((row, i) => { if (i && row.kind !== rows[i - 1].kind) put("line", { x1: left + each * i, x2: left + each * i, y1: 6, y2: 140, stroke: "var(--line)", "stroke-dasharray": "3 3" }); });
    for (const [value, words] of marks) {
      put("line", { x1: left, x2: width - 10, y1: y(value), y2: y(value), stroke: words === "0" ? "var(--soft)" : "var(--line)" });
      put("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, words);
    }
    rows.forEach((row, i) => {
      const seen = i < tried, color = !seen ? "var(--later)" : row.number === best ? "var(--s)" : "var(--soft)";
      if (row.skipped) put("line", { x1: x(i) - wide / 2, x2: x(i) + wide / 2, y1: y(0), y2: y(0), stroke: color, "stroke-width": 4 });
      else put("rect", { x: x(i) - wide / 2, width: wide, y: Math.min(y(0), y(row.gap)), height: Math.max(1.5, Math.abs(y(row.gap) - y(0))), fill: color });
    });
    if (now.length) put("rect", { x: left + each * now[0] + 0.5, width: Math.max(3, each * (now[1] - now[0] + 1) - 1), y: 4, height: 138, fill: "none", stroke: "var(--now)", "stroke-width": 2, rx: 3 });
    const every = Math.max(1, Math.ceil(24 / each)), [at] = now;
    rows.forEach((row, i) => { if (i === at || (i % every === 0 && !(Math.abs(i - at) < every))) put("text", { x: x(i), y: 160, "text-anchor": "middle", class: i === at ? "now" : "" }, String(i + 1)); });
  }
  // Call `go` with the index of an axis at a click.
  function listen(go) {
    chart.addEventListener("click", (event) => {
      const box = chart.getBoundingClientRect(), { width, left, each, count } = frame;
      go(Math.min(Math.max(Math.floor((((event.clientX - box.left) / box.width) * width - left) / each), 0), count - 1));
    });
  }
  return { project, all, listen };
})();
