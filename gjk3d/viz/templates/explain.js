(function () {
  const { data, state, element, make, dark, calm, vec } = gjk3d;
  const { sub, add, scale, dot, norm, middle, size } = gjk3dLoop, { local, workspace, differences, legend } = gjk3dPieces, { paint, grown } = gjk3dPanel;
  const GLIDE = 450, SLANT = 0.8, MARGIN = 16; // margin for perspective
  // the pair of the query, or a pair that was chosen in the page, and the translation of B by dragging
  let steps = data.steps, pair = data.given, picked = ["given", "given"], shift = [0, 0, 0], at = 0, panels = [];

  // --- shapes of the page: those of the list, and the polygons of 2D tutorials on GJK as prisms -------------------------
  const R = data.views[0].unit / 2, SQUARE = [-1, 1].flatMap((x) => [-1, 1].map((y) => [x, y]));
  const prism = (polygon) => ({ points: polygon.flatMap(([x, y]) => [-2, 2].map((z) => [x, y, z])) });
  const curved = (kind, ...sizes) => ({ kind, sizes: sizes.map((x) => x * R), turn: [1, 0, 0, 0, 0.8, -0.6, 0, 0.6, 0.8], at: [0, 0, 0] });
  const corners = (list) => ({ points: list.map((p) => scale(R, p)) });
  const SHAPES = {
    box: () => corners(SQUARE.flatMap(([x, y]) => [[x, y, -0.8], [x, y, 0.8]])),
    tetrahedron: () => corners([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]),
    octahedron: () => corners([1.3, -1.3].flatMap((x) => [[x, 0, 0], [0, x, 0], [0, 0, x]])),
    point: () => corners([[0, 0, 0]]),
    sphere: () => ({ ...corners([[0, 0, 0]]), radius: R }),
    capsule: () => ({ ...corners([[0.5, 0.3, 0.8], [-0.5, -0.3, -0.8]]), radius: 0.5 * R }),
    cylinder: () => curved("cylinder", 0.8, 1),
    cone: () => curved("cone", 0.9, 1.1),
    ellipsoid: () => curved("ellipsoid", 1.2, 0.8, 0.5),
    "triangular prism": () => prism([[4, 11], [4, 5], [9, 9]]),
    "four-sided prism": () => prism([[5, 7], [7, 3], [10, 2], [12, 7]]),
  };
  const TEXT = ["triangular prism", "four-sided prism"];
  const PRESETS = { "two prisms that overlap": [0, 0, 0], "two prisms apart": [3, -1, 0], "two prisms that touch": [4, 2, 0] };
  const own = () => picked.some((name) => name !== "given");
  function shape(side, name) {
    if (name === "given") return data.given[side];
    const made = { name, radius: 0, ...SHAPES[name]() };
    if (made.points) made.middle = scale(1 / made.points.length, made.points.reduce(add));
    return made;
  }

  // --- the view --------------------------------------------------------------------------------------------------------
  // `home` is the view set by `reset` or by the mouse. Each step is seen from it, or from a direction near it.
  let gliding = null, home = null, placed = null, hand = false;
  // The least rotation for which no arrow points at the viewer or away, and EPA's nearest face is not seen edge-on.
  function slanted({ way }) {
    const step = steps[at], arrow = step && step.direction && vec(step.direction), along = arrow ? arrow.dot(way) : 0;
    const wish = step && step.closest && step.phase !== "answer" && along < 0.3 ? 0.5 : 0.6 * Math.sign(along);
    if (!arrow || (wish !== 0.5 && Math.abs(along) <= SLANT)) return way;
    const across = way.clone().addScaledVector(arrow, -along);
    if (across.lengthSq() < 1e-6) across.set(...data.up).cross(arrow);
    return across.normalize().multiplyScalar(Math.sqrt(1 - wish * wish)).addScaledVector(arrow, wish);
  }
  function look(time, zoom) {
    placed = slanted(home);
    panels.forEach((panel) => panel.fit(placed, home.top, time, zoom));
  }
  function reset() {
    home = { way: vec(data.view), top: vec(data.up) };
    hand = false;
    look(0, 1);
    link();
  }
  function see(step) {
    go(step, false);
    reset();
  }
  function tick(now) {
    if (gliding === null) return false;
    const t = Math.min(1, Math.max(0, now - gliding) / GLIDE);
    panels.forEach((panel) => panel.change(gjk3d.ease(t)));
    if (t === 1) gliding = null;
    return t < 1;
  }

  // --- the steps ---------------------------------------------------------------------------------------------------------
  const question = () => element("ask").checked && steps[at + 1] && steps[at].phase === "GJK" && steps[at].joins && (steps[at].after || []).length > 0;
  let asked = -1;
  const open = () => question() && asked !== at; // the answer of an open question is not shown
  const shown = () => (open() ? { ...steps[at], dropped: [], after: [] } : steps[at]);
  function go(to, glides = !calm.matches) {
    const before = at;
    at = Math.min(Math.max(to, 0), steps.length - 1);
    if (before !== at) asked = -1;
    write();
    panels.forEach((panel, i) => panel.show(pieces()[i], glides));
    if (home && panels.length && panels[0].sight().distanceTo(slanted(home)) > 1e-6) look(glides ? GLIDE : 0);
    gliding = glides ? performance.now() : null;
    if (glides) state.flight = "moving";
    state.step = at;
    link();
  }
  const pieces = () => [workspace, differences].map((draw, i) => draw(panels.length ? panels[i].view : data.views[i], shown()));
  function write() {
    const step = steps[at];
    element("title").textContent = step.title;
    element("sentence").textContent = open() ? step.sentence.replace(/ The origin is in the Voronoi region.*$/, " Which corners does GJK keep?") : step.sentence;
    element("count").textContent = `${at + 1} of ${steps.length}`;
    element("bounds").textContent = step.bounds;
    element("slide").max = steps.length - 1;
    element("slide").value = at;
    element("slide").setAttribute("aria-valuetext", `step ${at + 1}: ${step.title}`);
    element("back").disabled = at === 0;
    element("next").disabled = at === steps.length - 1;
    element("legend").replaceChildren(...legend(step, pieces().flat()).map(([role, words]) => {
      const chip = make("span", { class: "chip" });
      chip.style.background = paint(role);
      return make("li", {}, chip, words);
    }));
    curve();
    element("quiz").hidden = !question();
    if (!open()) return;
    const rest = step.names, sets = [0, 1, 2, 3, 4, 5, 6, 7].slice(0, 2 ** rest.length).map((bits) => [...rest.filter((_, i) => (bits >> i) & 1), step.point_name]).filter((set) => set.length < 4);
    element("quiz").replaceChildren(...sets.map((set) => gjk3d.button(set.join(" "), () => {
      const right = set.length === step.after.length && set.every((name) => step.after.includes(name));
      asked = at;
      go(at);
      element("quiz").replaceChildren(make("p", { role: "status" }, right ? `Yes: ${set.join(" ")}.` : `Not ${set.join(" ")}. The origin is nearest to ${step.after.join(" ")}.`));
    })));
  }
  const long = () => 1500 + 250 * steps[at].sentence.split(" ").length, end = () => at === steps.length - 1;
  const player = gjk3d.player(element("play"), element("slide"), (to) => go(to), (since, moves) => (end() ? null : moves && since < long() ? undefined : at + 1)); // a reader of the step continues at once
  const by = (to) => player.stopped(() => go(to()));
  gjk3d.keys({
    ArrowLeft: by(() => at - 1), ArrowRight: by(() => at + 1), Home: by(() => 0), End: by(() => steps.length - 1), " ": player.toggle,
    "Shift+ArrowLeft": () => nudge(-1, 0), "Shift+ArrowRight": () => nudge(1, 0), "Shift+ArrowUp": () => nudge(0, 1), "Shift+ArrowDown": () => nudge(0, -1),
  });
  element("back").addEventListener("click", by(() => at - 1));
  element("next").addEventListener("click", by(() => at + 1));
  element("reset").addEventListener("click", reset);
  for (const id of ["ask", "region"]) element(id).addEventListener("input", () => { asked = -1; go(at); });

  // --- the curve of both bounds -----------------------------------------------------------------------------------------
  const svg = element("curve").appendChild(make("svg", { preserveAspectRatio: "none", role: "img", "aria-label": "Bounds of the distance, step by step. The text of each step has its numbers" }));
  let frame = null;
  function curve() {
    const known = steps.map((step, i) => [i, step.lower, step.upper]).filter((row) => row[1] !== null && row[2] !== null);
    element("curve").hidden = !known.length;
    const width = Math.max(300, element("curve").clientWidth), [low, high] = gjk3dTell.limits(steps), ticks = gjk3dTell.ticks([low, high]);
    const left = Math.max(70, 22 + 8 * Math.max(...ticks.map((tick) => tick[1].length))), count = steps.length;
    const x = (i) => left + ((width - 20 - left) * (i + 0.5)) / count, y = (v) => 142 - (134 * (v - low)) / (high - low);
    const put = (...given) => svg.append(make(...given)), join = (list) => list.map((p) => p.join()).join(" ");
    frame = { width, left, count };
    svg.setAttribute("viewBox", `0 0 ${width} 170`);
    svg.replaceChildren();
    for (const [value, words] of ticks) {
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
  svg.addEventListener("click", (event) => {
    const box = svg.getBoundingClientRect(), { width, left, count } = frame;
    player.play(false);
    go(Math.round((((event.clientX - box.left) / box.width) * width - left) / ((width - 20 - left) / count) - 0.5));
  });

  // --- GJK in this page ------------------------------------------------------------------------------------------------
  // The steps of the given pair are those of the kernels. For all other pairs this page runs GJK.
  function again(refit) {
    const live = own() || norm(shift) > 0;
    steps = live ? gjk3dTell.tell(...pair, shift) : data.steps;
    state.live = live ? "own" : "given";
    element("verdict").textContent = live ? steps[steps.length - 1].title.replace(/Result: (.)/, (_, first) => first.toUpperCase()) : data.verdict;
    element("all").replaceChildren(...steps.map((step) => make("li", {}, make("b", {}, `${step.title}.`), ` ${step.sentence}`)));
    panels.forEach((panel, i) => {
      if (refit) panel.dress(pair, own(), shift);
      else panel.move(shift);
      panel.tips = steps.flatMap((step) => [workspace, differences][i](panel.view, step).flatMap((one) => (one.kind === "arrow" ? one.points : [])));
    });
  }
  function choose(names, where) {
    picked = names;
    pair = [0, 1].map((side) => shape(side, names[side]));
    shift = where;
    ["a", "b"].forEach((side, i) => { element(side).value = names[i]; element(`name-${side}`).textContent = names[i] === "given" ? data.names[i] : names[i]; });
    // the middle and the unit of each view for the present pair
    const [a, b] = pair.map(middle), unit = size(...pair, shift) / 2 || 1;
    const views = own() ? [{ center: a, unit }, { center: sub(a, add(b, shift)), unit }] : data.views;
    panels.forEach((panel, i) => Object.assign(panel.view, views[i]));
    again(true);
    asked = -1;
  }
  // the position of B on the screen and in the world. B stays on its canvas, or its middle if B is larger.
  function drag(panel, from, dx, dy) {
    const scaleOf = (2 * panel.camera.position.distanceTo(panel.controls.target) * Math.tan((panel.camera.fov * Math.PI) / 360)) / panel.box.clientHeight;
    const right = new THREE.Vector3(), top = new THREE.Vector3(), out = new THREE.Vector3();
    panel.camera.matrixWorld.extractBasis(right, top, out);
    const pixel = panel.view.unit * scaleOf, heart = middle(pair[1]), reach = (way) => dot(sub(grown(pair[1], way), heart), way) / pixel;
    const within = (x, axis, long) => Math.min(Math.max(x, Math.min(reach(axis.clone().negate().toArray()) + MARGIN, long / 2)), Math.max(long - reach(axis.toArray()) - MARGIN, long / 2));
    const [px, py] = panel.pixel(vec(local(panel.view, add(heart, from))));
    const mx = within(px + dx, right, panel.box.clientWidth) - px, my = within(py + dy, top.negate(), panel.box.clientHeight) - py;
    shift = add(from, scale(pixel, right.multiplyScalar(mx).addScaledVector(top, my).toArray()));
    again(false);
    go(at, false);
  }
  function nudge(x, y) {
    if (!pair || !panels.length) return false;
    drag(panels[0], shift, 12 * x, -12 * y);
    return true;
  }
  function dragging([panel, other]) {
    const hear = (name, act) => panel.box.addEventListener(name, act, true); // before the camera controls
    const hits = (event) => {
      const [met] = panel.ray(event).intersectObjects(panel.bodies, true).filter((one) => one.object.isMesh);
      return Boolean(met) && met.object.parent === panel.bodies[1];
    };
    let from = null;
    hear("pointerdown", (event) => {
      if (event.button || !hits(event)) return;
      event.preventDefault();
      player.play(false);
      panel.controls.enabled = false; // dragging B does not rotate the view
      panel.canvas.setPointerCapture(event.pointerId);
      from = { shift, x: event.clientX, y: event.clientY };
    });
    hear("pointermove", (event) => {
      if (from) drag(panel, from.shift, event.clientX - from.x, event.clientY - from.y);
      else if (!event.buttons) panel.canvas.style.cursor = hits(event) ? "move" : "";
    });
    hear("lostpointercapture", () => {
      if (!from) return;
      from = null;
      panel.controls.enabled = true;
      link();
      other.fit(other.sight(), other.camera.up.clone(), 0, 1);
    });
  }
  function together(panel, other) { // rotating one view rotates the other
    panel.turned = () => {
      const way = panel.sight(), away = other.away();
      if (panel.flight) return;
      link();
      if (way.distanceTo(placed) < 1e-6) return;
      hand = true;
      placed = way;
      home = { way, top: panel.camera.up.clone() };
      other.camera.position.copy(other.controls.target).addScaledVector(way, away);
      other.camera.up.copy(home.top);
      other.touched = true;
    };
  }

  // --- the state in the address -------------------------------------------------------------------------------------------
  // delayed, since browsers limit the changes of an address per second
  let linking = 0;
  function link() {
    window.clearTimeout(linking);
    state.address = "due";
    linking = window.setTimeout(() => {
      const text = new URLSearchParams({ a: picked[0], b: picked[1], at: shift.map((x) => gjk3d.number(x, 9)).join(), step: at + 1 });
      if (element("ask").checked) text.set("ask", 1);
      if (!element("region").checked) text.set("region", 0);
      const gone = panels.map((panel) => panel.gone(placed, home.top));
      if (hand || gone.flat().some((x, i) => Math.abs(x - (i % 4 === 3)) > 1e-3)) text.set("look", [placed.toArray(), home.top.toArray(), gone].flat(2).map((x) => Number(x.toFixed(5))).join());
      try { window.history.replaceState(null, "", `#${text}`); } catch (error) { /* a frame without an address */ }
      state.address = "kept";
    }, 100);
  }
  function follow() {
    const text = new URLSearchParams(window.location.hash.slice(1)), wish = ["a", "b"].map((side) => text.get(side) || "given");
    const where = (text.get("at") || "0,0,0").split(",").map(Number);
    element("ask").checked = text.get("ask") === "1";
    element("region").checked = text.get("region") !== "0";
    if (data.given) {
      const most = 1e3 * size(...data.given, [0, 0, 0]) + 1e3, known = wish.every((name) => name === "given" || Object.hasOwn(SHAPES, name));
      choose(...(known && where.length === 3 && where.every((x) => Math.abs(x) <= most) ? [wish, where] : [["given", "given"], [0, 0, 0]]));
    } else again(true);
    see((Number(text.get("step")) || 1) - 1);
    const sight = (text.get("look") || "").split(",").map(Number), [way, top] = [0, 3].map((i) => vec(sight.slice(i, i + 3)).normalize());
    if (sight.length !== 14 || !sight.every((x) => Math.abs(x) < 100) || !(way.clone().cross(top).length() > 0.1 && sight[9] > 0.01 && sight[13] > 0.01)) return;
    [home, placed, hand] = [{ way, top }, way, true];
    panels.forEach((panel, i) => panel.fit(way, top, 0, sight[9 + 4 * i], sight.slice(6 + 4 * i, 9 + 4 * i)));
  }

  const sides = ["left", "right"];
  panels = gjk3d.drawn(() => sides.map((name, i) => new gjk3dPanel.Panel(element(name), i)), ". The text and the curve are below", [...sides, "reset"]) || [];
  if (data.given) {
    ["a", "b"].forEach((side, i) => {
      element(side).append(...["given", ...Object.keys(SHAPES)].map((name) => make("option", { value: name }, name === "given" ? data.names[i] : name)));
      element(side).addEventListener("input", () => {
        const wish = [element("a").value, element("b").value];
        choose(wish, add(shift, sub(middle(pair[1]), middle(shape(1, wish[1]))))); // B stays where it is
        see(at);
      });
    });
    element("preset").append(make("option", { value: "" }, "examples"), make("option", { value: "given" }, "the given pair"), ...Object.keys(PRESETS).map((name) => make("option", { value: name }, name)));
    element("preset").addEventListener("input", () => {
      const name = element("preset").value;
      if (name) choose(name === "given" ? ["given", "given"] : TEXT, PRESETS[name] || [0, 0, 0]);
      see(0);
      element("preset").value = "";
    });
  } else element("make").hidden = true;
  dark.addEventListener("change", () => { again(true); go(at, false); });
  window.addEventListener("hashchange", follow);
  new ResizeObserver(curve).observe(element("curve"));

  follow();
  panels.forEach((panel, i) => together(panel, panels[1 - i]));
  if (pair && panels.length) dragging(panels);
  gjk3d.start(tick);
})();
