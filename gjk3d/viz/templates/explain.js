(function () {
  const { data, state, element, make, dark, calm, vec } = gjk3d;
  const { sub, add, norm } = gjk3dVectors, { middle, size } = gjk3dSupport, { workspace, differences, legend } = gjk3dPieces, { reset, refit, leaned } = gjk3dSight;
  const GLIDE = 450, SLANT = 0.8;
  const { shape, edited } = gjk3dShapes;
  // the pair of the query, or a pair that was chosen in the page, the translation of B by dragging, and the changed sizes, rotations and radii
  let steps = data.steps, pair = data.given, picked = ["given", "given"], shift = [0, 0, 0], edits = [{}, {}], at = 0, panels = [];
  const own = () => picked.some((name) => name !== "given") || edits.some((edit) => Object.keys(edit).length);

  // --- the view --------------------------------------------------------------------------------------------------------
  let gliding = null, held = false; // the camera stays while B is held
  // The least rotation for which no arrow points at the viewer or away, and EPA's nearest face is not seen edge-on.
  function slanted(way) {
    const step = steps[at], arrow = step && step.direction && vec(step.direction), along = arrow ? arrow.dot(way) : 0;
    const wish = step && step.closest && step.phase !== "answer" && along < 0.3 ? 0.5 : 0.6 * Math.sign(along);
    return !arrow || (wish !== 0.5 && Math.abs(along) <= SLANT) ? way : leaned(way, arrow, wish);
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
    if (!held) gjk3dSight.follow(glides ? GLIDE : 0);
    gliding = glides ? performance.now() : null;
    if (glides) state.flight = "moving";
    state.step = at;
    link();
  }
  const pieces = () => [workspace, differences].map((draw, i) => draw(panels.length ? panels[i].view : data.views[i], shown()));
  function write() {
    const step = steps[at], asked = question(step), hidden = open();
    gjk3dStepper.write(steps, at);
    if (hidden) element("count").textContent = `${at + 1}`;
    element("bounds").textContent = hidden ? "" : step.bounds; // equal bounds, as the number of steps, show that this is the last
    gjk3dMarks.writeLegend(legend(shown(), pieces().flat()));
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
  const player = gjk3dStepper.start(() => [steps, at], go, {
    "Shift+ArrowLeft": () => nudge(-1, 0), "Shift+ArrowRight": () => nudge(1, 0), "Shift+ArrowUp": () => nudge(0, 1), "Shift+ArrowDown": () => nudge(0, -1),
    ArrowUp: () => gjk3dCode.move(-1), ArrowDown: () => gjk3dCode.move(1),
  });
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
      else panel.shift(shift);
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
  // B in the left view.
  const hold = { body: 1, place: () => shift, heart: () => add(middle(pair[1]), shift), shown: (to) => panels[0].shift(to), put(to) {
    shift = to;
    again(false);
    go(at, false);
    if (panels[1].cut(panels[1].extent())) refit(panels[1]);
  } };
  function nudge(x, y) {
    if (!pair || !panels.length) return false;
    gjk3dDrag.drag(panels[0], hold, shift, 12 * x, -12 * y);
    return true;
  }
  function dragging([panel, other]) {
    gjk3dDrag.listen(panel, [1], () => {
      const from = shift;
      player.play(false);
      held = true;
      return (dx, dy) => gjk3dDrag.drag(panel, hold, from, dx, dy);
    }, () => {
      held = false;
      go(at, false);
      refit(other);
    });
  }

  // --- the state in the address -------------------------------------------------------------------------------------------
  const SWITCHES = { ask: "ask", region: "region", planes: "bounds-drawn", code: "show-code", numbers: "show-numbers" };
  const topics = gjk3dStepper.topics(gjk3dPresets, (name) => {
    const preset = gjk3dPresets[name];
    topics.about(name);
    choose(...(preset ? [preset.pair, preset.at] : [["given", "given"], [0, 0, 0]]));
    see(preset ? Math.max(0, steps.findIndex((step) => step.phase === preset.phase)) : 0);
  }, [["given", "the given pair"]]);
  const link = () => gjk3dStepper.keep(() => ({
    a: picked[0], b: picked[1], at: shift.map((x) => gjk3d.number(x, 9)).join(), step: at + 1, ...gjk3dStepper.switched(SWITCHES),
    ...Object.fromEntries(edits.flatMap((edit, i) => Object.entries(edit).map(([name, value]) => [`${name[0]}${"ab"[i]}`, [value].flat().map((x) => gjk3d.number(x, 9)).join()]))),
    topic: topics.topic, look: gjk3dSight.text(),
  }));
  function follow() {
    const text = gjk3dStepper.kept(), wish = ["a", "b"].map((side) => text.get(side) || "given");
    const where = (text.get("at") || "0,0,0").split(",").map(Number);
    gjk3dStepper.switchTo(SWITCHES, text);
    const changes = ["a", "b"].map((side) => Object.fromEntries(["radius", "sizes", "turn"].filter((name) => text.has(name[0] + side)).map((name) => [name, text.get(name[0] + side).split(",").map(Number)])));
    const within = changes.every(({ radius = [0], sizes = [1], turn = [0] }) => [...radius, ...sizes].every((x) => x >= 0 && x < 1e3 * gjk3dShapes.unit + 1e3) && sizes.every((x) => x > 0) && turn.every((x) => Math.abs(x) <= 3600));
    const fit = (edit, i) => within && (!edit.sizes || edit.sizes.length === gjk3dShapes.sizes(shape(i, wish[i]), {}).sizes.length) && (!edit.turn || edit.turn.length === 3);
    changes.forEach((edit) => { if (edit.radius) [edit.radius] = edit.radius; });
    topics.about(text.get("topic") || "");
    if (data.given) {
      const most = 1e3 * size(...data.given, [0, 0, 0]) + 1e3, known = wish.every(gjk3dShapes.known) && changes.every(fit);
      choose(...(known && where.length === 3 && where.every((x) => Math.abs(x) <= most) ? [wish, where, changes] : [["given", "given"], [0, 0, 0]]));
    } else again(true);
    see((Number(text.get("step")) || 1) - 1);
    gjk3dSight.restore(text.get("look"));
  }

  const sides = ["left", "right"];
  panels = gjk3d.drawn(() => sides.map((name, i) => new gjk3dBodies.Sided(element(name), i)), ". The text and the curve are below", [...sides, "reset"]) || [];
  if (data.given) {
    ["a", "b"].forEach((side, i) => {
      element(side).append(...["given", ...gjk3dShapes.names].map((name) => make("option", { value: name }, name === "given" ? data.names[i] : name)));
      element(side).addEventListener("input", () => {
        const wish = [element("a").value, element("b").value];
        topics.about("");
        choose(wish, add(shift, sub(middle(pair[1]), middle(shape(1, wish[1]))))); // B stays where it is
        see(at);
      });
    });
    gjk3dInputs.start(data.views[0].unit, put);
  } else element("make").hidden = true;
  element("inputs").hidden = !data.given;
  dark.addEventListener("change", () => { again(true); go(at, false); });
  window.addEventListener("hashchange", follow);
  new ResizeObserver(curve).observe(element("curve"));
  gjk3dCurve.listen((step) => player.stopped(() => go(step))());

  gjk3dLinks.start(panels);
  gjk3dSight.start(panels, link, slanted);
  follow();
  gjk3dSight.listen();
  if (pair && panels.length) dragging(panels);
  gjk3d.start(tick);
})();
