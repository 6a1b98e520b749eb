(function () {
  const { data, state, element, make, dark, calm, vec } = gjk3d;
  const { sub, add, scale, dot, norm } = gjk3dVectors, { middle, size } = gjk3dSupport, { local, workspace, differences, legend } = gjk3dPieces, { paint } = gjk3dPanel;
  const GLIDE = 450, SLANT = 0.8;
  const { shape, edited } = gjk3dShapes;
  // the pair of the query, or a pair that was chosen in the page, the translation of B by dragging, and the changed sizes, rotations and radii
  let steps = data.steps, pair = data.given, picked = ["given", "given"], shift = [0, 0, 0], edits = [{}, {}], at = 0, panels = [];
  const own = () => picked.some((name) => name !== "given") || edits.some((edit) => Object.keys(edit).length);

  // --- the view --------------------------------------------------------------------------------------------------------
  // `home` is the view set by `reset` or by the mouse. Each step is seen from it, or from a direction near it.
  let gliding = null, home = null, placed = null, hand = false, held = false; // the camera stays while B is held
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
  // A question about a step, whose answer is not shown before it is given: which corners GJK keeps, how many faces w sees.
  // The last steps have the same questions, so that a question does not show whether the algorithm goes on.
  function question(step) {
    if (!element("ask").checked || !steps[at + 1] || !["GJK", "EPA"].includes(step.phase)) return null;
    return step.phase === "GJK" ? whichCorners(step) : howManyFaces(step);
  }
  const ENDS = ["GJK stops: apart", "GJK stops: a shared point"], SURFACE = "none: EPA stops";
  function whichCorners(step) {
    const { names, after = [], point_name: name } = step, rest = names.filter((one) => one !== name), shared = / share a point/.test(step.sentence);
    const sets = [0, 1, 2, 3, 4, 5, 6, 7].slice(0, 2 ** rest.length).map((bits) => [...rest.filter((_, i) => (bits >> i) & 1), name]);
    const next = sets.find((set) => after.length === set.length && set.every((one) => after.includes(one))), right = next ? next.join(" ") : ENDS[Number(shared)];
    const why = next ? `The origin is nearest to ${right}.` : shared ? "The origin is in the new simplex, or on it." : "The new point brings v no nearer to the origin.";
    const cut = [/ The support point towards the origin is.*$/, ` The support point towards the origin is ${name}.`];
    return { words: "Which corners does GJK keep?", cut, choices: [...sets.filter((set) => set.length < 4).map((set) => set.join(" ")), ...ENDS], right, why };
  }
  function howManyFaces(step) {
    const count = (step.removed || []).length, name = step.point_name, counts = [1, 2, 3, 4, 5, 6].filter((n) => n <= Math.max(4, count + 1)).concat(count > 6 ? [count] : []);
    const cut = [/ Along its normal.*$/, ` The support point along its normal is ${name}.`], why = count ? `${name} sees ${count}.` : `${name} is not beyond the face, so the face is on the surface of A - B.`;
    return { words: `How many faces does ${name} see?`, cut, choices: [...counts.map(String), SURFACE], right: count ? String(count) : SURFACE, why };
  }
  let answered = -1;
  const open = () => answered !== at && Boolean(question(steps[at]));
  const shown = () => (open() ? { ...steps[at], joins: false, dropped: [], after: [], removed: [], horizon: [] } : steps[at]);
  function go(to, glides = !calm.matches) {
    const before = at;
    at = Math.min(Math.max(Math.trunc(to) || 0, 0), steps.length - 1);
    if (before !== at) answered = -1;
    write();
    gjk3dLinks.reset();
    panels.forEach((panel, i) => panel.show(pieces()[i], glides));
    study();
    if (!held && home && panels.length && panels[0].sight().distanceTo(slanted(home)) > 1e-6) look(glides ? GLIDE : 0);
    gliding = glides ? performance.now() : null;
    if (glides) state.flight = "moving";
    state.step = at;
    link();
  }
  const pieces = () => [workspace, differences].map((draw, i) => draw(panels.length ? panels[i].view : data.views[i], shown()));
  function write() {
    const step = steps[at], asked = question(step), hidden = open();
    element("title").textContent = step.title;
    element("count").textContent = hidden ? `${at + 1}` : `${at + 1} of ${steps.length}`;
    element("bounds").textContent = hidden ? "" : step.bounds; // equal bounds, as the number of steps, show that this is the last
    element("slide").max = steps.length - 1;
    element("slide").value = at;
    element("slide").setAttribute("aria-valuetext", `step ${at + 1}: ${step.title}`);
    element("back").disabled = at === 0;
    element("next").disabled = at === steps.length - 1;
    element("legend").replaceChildren(...legend(shown(), pieces().flat()).map(([role, words]) => {
      const chip = make("span", { class: "chip" });
      chip.style.background = paint(role);
      return make("li", { class: "word", "data-mark": role }, chip, words);
    }));
    element("steps").hidden = hidden; // it has the answer, as the verdict
    element("verdict").hidden = element("ask").checked && step.phase !== "answer";
    curve();
    element("quiz").hidden = !asked;
    if (hidden) element("quiz").replaceChildren(...asked.choices.map((choice) => gjk3d.button(choice, () => {
      answered = at;
      go(at);
      element("quiz").replaceChildren(make("p", { role: "status" }, choice === asked.right ? `Yes: ${choice}.` : `Not ${choice}. ${asked.why}`));
    })));
  }
  const curve = () => (open() ? gjk3dCurve.draw(steps.slice(0, at), at - 1) : gjk3dCurve.draw(steps, at));
  // The texts whose words are linked to marks, after the marks are drawn.
  function study() {
    const step = steps[at], hidden = open(), long = pair ? size(...pair, shift) : data.size, events = gjk3dPseudocode.events(step, steps, 16 * 2 ** -53 * long);
    const asked = question(step), sentence = hidden ? `${step.sentence.replace(...asked.cut)} ${asked.words}` : step.sentence;
    element("sentence").replaceChildren(...gjk3dLinks.linked(sentence, true));
    for (const id of ["code", "numbers"]) element(id).hidden = !element(`show-${id}`).checked;
    element("stage").classList.toggle("split", element("show-code").checked);
    if (element("show-code").checked) gjk3dCode.show(gjk3dPseudocode.algorithm(step), events, hidden);
    if (element("show-numbers").checked) gjk3dNumbers.show(step, events, pair ? pair[0].radius + pair[1].radius : data.radii, long, hidden);
  }
  const long = () => 1500 + 250 * steps[at].sentence.split(" ").length, end = () => at === steps.length - 1;
  const player = gjk3d.player(element("play"), element("slide"), (to) => go(to), (since, moves) => (end() ? null : moves && since < long() ? undefined : at + 1)); // a reader of the step continues at once
  const by = (to) => player.stopped(() => go(to()));
  gjk3d.keys({
    ArrowLeft: by(() => at - 1), ArrowRight: by(() => at + 1), Home: by(() => 0), End: by(() => steps.length - 1), " ": player.toggle,
    "Shift+ArrowLeft": () => nudge(-1, 0), "Shift+ArrowRight": () => nudge(1, 0), "Shift+ArrowUp": () => nudge(0, 1), "Shift+ArrowDown": () => nudge(0, -1),
    ArrowUp: () => gjk3dCode.move(-1), ArrowDown: () => gjk3dCode.move(1),
  });
  element("back").addEventListener("click", by(() => at - 1));
  element("next").addEventListener("click", by(() => at + 1));
  element("reset").addEventListener("click", reset);
  for (const id of ["ask", "region", "bounds-drawn", "show-code", "show-numbers"]) element(id).addEventListener("input", () => { answered = -1; go(at); });

  // --- GJK and EPA in this page ------------------------------------------------------------------------------------------------
  // The steps of the given pair are those of the kernels. For all other pairs this page runs GJK and EPA.
  function again(refit) {
    const live = own() || norm(shift) > 0;
    steps = live ? gjk3dTell.tell(...pair, shift) : data.steps;
    state.live = live ? "own" : "given";
    element("verdict").textContent = live ? steps[steps.length - 1].title.replace(/Result: (.)/, (_, first) => first.toUpperCase()) : data.verdict;
    if (pair) gjk3dInputs.show(pair, shift, edits);
    element("all").replaceChildren(...steps.map((step) => make("li", {}, make("b", {}, `${step.title}.`), ` ${step.sentence}`)));
    panels.forEach((panel, i) => {
      if (refit) panel.dress(pair, own(), shift);
      else panel.move(shift);
      panel.tips = steps.flatMap((step) => [workspace, differences][i](panel.view, step).flatMap((one) => (one.kind === "arrow" ? one.points : [])));
    });
  }
  function choose(names, where, changes = [{}, {}]) {
    picked = names;
    edits = changes;
    pair = [0, 1].map((side) => edited(shape(side, names[side]), edits[side]));
    shift = where;
    ["a", "b"].forEach((side, i) => { element(side).value = names[i]; element(`name-${side}`).textContent = names[i] === "given" ? data.names[i] : names[i]; });
    // the middle and the unit of each view for the present pair
    const [a, b] = pair.map(middle), unit = size(...pair, shift) / 2 || 1;
    const views = own() ? [{ center: a, unit }, { center: sub(a, add(b, shift)), unit }] : data.views;
    panels.forEach((panel, i) => Object.assign(panel.view, views[i]));
    again(true);
    answered = -1;
  }
  // Set a number that is an input.
  function put(name, value) {
    const side = "ab".indexOf(name[1]), set = (list) => list.map((x, i) => (i === Number(name[2]) ? value : x));
    if (side >= 0) {
      const edit = edits[side], change = name[0] === "r" ? { radius: value } : name[0] === "s" ? { sizes: set(gjk3dShapes.sizes(pair[side], edit).sizes) } : { turn: set(edit.turn || [0, 0, 0]) };
      choose(picked, shift, edits.map((one, i) => (i === side ? { ...one, ...change } : one)));
    } else {
      shift = shift.map((x, i) => ("xyz"[i] === name ? value : x));
      again(false);
    }
    go(at, false);
    panels.forEach(refit);
  }
  // Move B in the plane of a view, from a place by pixels. B stays in the picture, or its middle if B was not all in it.
  function drag(panel, from, dx, dy) {
    const scaleOf = (2 * panel.camera.position.distanceTo(panel.controls.target) * Math.tan((panel.camera.fov * Math.PI) / 360)) / panel.box.clientHeight;
    const axes = [0, 1, 2].map(() => new THREE.Vector3()), pixel = panel.view.unit * scaleOf, heart = middle(pair[1]);
    panel.camera.matrixWorld.extractBasis(...axes);
    const [right, top] = axes.map((axis) => axis.toArray()), place = ([x, y]) => add(from, scale(pixel, add(scale(x, right), scale(-y, top))));
    const whole = !panel.cut(panel.spread([panel.bodies[1]])), before = sub(shift, from);
    const fits = (to) => {
      panel.move(to);
      return !panel.cut(whole ? panel.spread([panel.bodies[1]]) : [vec(local(panel.view, add(heart, to)))]);
    };
    let moved = [dot(before, right) / pixel, -dot(before, top) / pixel];
    [dx, dy].forEach((wish, k) => { // along one axis after the other, so that B slides along the rim of the picture
      const part = (t) => moved.map((x, i) => (i === k ? x + t * (wish - x) : x));
      let [low, high] = fits(place(part(1))) ? [1, 1] : [0, 1];
      while (high - low > 0.01) {
        const t = (low + high) / 2;
        [low, high] = fits(place(part(t))) ? [t, high] : [low, t];
      }
      moved = part(low);
    });
    shift = place(moved);
    again(false);
    go(at, false);
    const other = panels[1 - panel.side];
    if (other.cut(other.extent())) refit(other);
  }
  const refit = (panel) => panel.fit(panel.sight(), panel.camera.up.clone(), 0, 1);
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
      held = true;
    });
    hear("pointermove", (event) => {
      if (from) drag(panel, from.shift, event.clientX - from.x, event.clientY - from.y);
      else if (!event.buttons) panel.canvas.style.cursor = hits(event) ? "move" : "";
    });
    hear("lostpointercapture", () => {
      if (!from) return;
      from = null;
      held = false;
      panel.controls.enabled = true;
      go(at, false);
      refit(other);
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
  const SWITCHES = { ask: "ask", region: "region", planes: "bounds-drawn", code: "show-code", numbers: "show-numbers" };
  let linking = 0, topic = "";
  function link() {
    window.clearTimeout(linking);
    state.address = "due";
    linking = window.setTimeout(() => {
      const text = new URLSearchParams({ a: picked[0], b: picked[1], at: shift.map((x) => gjk3d.number(x, 9)).join(), step: at + 1 });
      for (const [name, id] of Object.entries(SWITCHES)) if (element(id).checked !== element(id).defaultChecked) text.set(name, Number(element(id).checked));
      edits.forEach((edit, i) => Object.entries(edit).forEach(([name, value]) => text.set(`${name[0]}${"ab"[i]}`, [value].flat().map((x) => gjk3d.number(x, 9)).join())));
      if (topic) text.set("topic", topic);
      const gone = panels.map((panel) => panel.gone(placed, home.top));
      if (hand || gone.flat().some((x, i) => Math.abs(x - (i % 4 === 3)) > 1e-3)) text.set("look", [placed.toArray(), home.top.toArray(), gone].flat(2).map((x) => Number(x.toFixed(5))).join());
      try { window.history.replaceState(null, "", `#${text}`); } catch (error) { /* a frame without an address */ }
      state.address = "kept";
    }, 100);
  }
  // Show the text of a preset.
  function about(name) {
    topic = name;
    element("preset").value = name;
    element("topic").hidden = !name;
    if (name) element("topic").replaceChildren(make("b", {}, `${name[0].toUpperCase()}${name.slice(1)}. `), gjk3dPresets[name].text);
  }
  function follow() {
    const text = new URLSearchParams(window.location.hash.slice(1)), wish = ["a", "b"].map((side) => text.get(side) || "given");
    const where = (text.get("at") || "0,0,0").split(",").map(Number);
    for (const [name, id] of Object.entries(SWITCHES)) element(id).checked = text.has(name) ? text.get(name) === "1" : element(id).defaultChecked;
    const changes = ["a", "b"].map((side) => Object.fromEntries(["radius", "sizes", "turn"].filter((name) => text.has(name[0] + side)).map((name) => [name, text.get(name[0] + side).split(",").map(Number)])));
    const within = changes.every(({ radius = [0], sizes = [1], turn = [0] }) => [...radius, ...sizes].every((x) => x >= 0 && x < 1e3 * gjk3dShapes.unit + 1e3) && sizes.every((x) => x > 0) && turn.every((x) => Math.abs(x) <= 3600));
    const fit = (edit, i) => within && (!edit.sizes || edit.sizes.length === gjk3dShapes.sizes(shape(i, wish[i]), {}).sizes.length) && (!edit.turn || edit.turn.length === 3);
    changes.forEach((edit) => { if (edit.radius) [edit.radius] = edit.radius; });
    about(Object.hasOwn(gjk3dPresets, text.get("topic") || "") ? text.get("topic") : "");
    if (data.given) {
      const most = 1e3 * size(...data.given, [0, 0, 0]) + 1e3, known = wish.every(gjk3dShapes.known) && changes.every(fit);
      choose(...(known && where.length === 3 && where.every((x) => Math.abs(x) <= most) ? [wish, where, changes] : [["given", "given"], [0, 0, 0]]));
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
      element(side).append(...["given", ...gjk3dShapes.names].map((name) => make("option", { value: name }, name === "given" ? data.names[i] : name)));
      element(side).addEventListener("input", () => {
        const wish = [element("a").value, element("b").value];
        about("");
        choose(wish, add(shift, sub(middle(pair[1]), middle(shape(1, wish[1]))))); // B stays where it is
        see(at);
      });
    });
    element("preset").append(make("option", { value: "" }, "choose"), make("option", { value: "given" }, "the given pair"), ...Object.keys(gjk3dPresets).map((name) => make("option", { value: name }, name)));
    element("preset").addEventListener("input", () => {
      const name = element("preset").value, preset = gjk3dPresets[name];
      if (!name) return;
      about(preset ? name : "");
      choose(...(preset ? [preset.pair, preset.at] : [["given", "given"], [0, 0, 0]]));
      see(preset ? Math.max(0, steps.findIndex((step) => step.phase === preset.phase)) : 0);
    });
    gjk3dInputs.start(data.views[0].unit, put);
  } else element("make").hidden = true;
  element("inputs").hidden = !data.given;
  dark.addEventListener("change", () => { again(true); go(at, false); });
  window.addEventListener("hashchange", follow);
  new ResizeObserver(curve).observe(element("curve"));
  gjk3dCurve.listen((step) => player.stopped(() => go(step))());

  gjk3dLinks.start(panels);
  follow();
  panels.forEach((panel, i) => together(panel, panels[1 - i]));
  if (pair && panels.length) dragging(panels);
  gjk3d.start(tick);
})();
