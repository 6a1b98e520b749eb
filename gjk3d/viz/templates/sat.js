// The lesson on separating axes: its steps, its picture, and the test again for a B that is moved.
(function () {
  const { data, state, element, make, dark, calm, vec } = gjk3d;
  const { add, sub, scale, dot } = gjk3dVectors, { middle, size, support } = gjk3dSupport, { axes, rotation, turned } = gjk3dAxes, { local } = gjk3dMarks;
  const GLIDE = 450, SLANT = 0.3, NAMES = Object.keys(data.shapes), FIRST = Object.keys(gjk3dSatPresets)[0];
  let picked = [], turn = [0, 0, 0], spin = 0, shift = [0, 0, 0], shapes = [], list = [], lesson = null, at = 0, panel = null, gliding = null, held = false;

  // --- the steps ---------------------------------------------------------------------------------------------------------
  // A shape about its middle, which stays where it is for all rotations.
  function shape(name, matrix) {
    const one = data.shapes[name], center = scale(1 / one.points.length, one.points.reduce(add));
    const about = turned({ ...one, points: one.points.map((p) => sub(p, center)) }, matrix);
    return { ...about, name, middle: center, points: about.points.map((p) => add(p, center)) };
  }
  function choose(names, given) {
    [picked, turn, spin, shift] = [names, given.turn, given.spin || 0, given.at];
    const spun = rotation([0, 0, (spin * Math.PI) / 180]), tilt = rotation(turn), column = (j) => gjk3dAxes.times(spun, [0, 3, 6].map((i) => tilt[i + j]));
    const columns = [0, 1, 2].map(column), both = [0, 1, 2].flatMap((i) => columns.map((one) => one[i]));
    shapes = [shape(names[0], rotation([0, 0, 0])), shape(names[1], both)];
    list = axes(...shapes);
    ["a", "b"].forEach((side, i) => { element(side).value = names[i]; element(`name-${side}`).textContent = names[i]; });
    element("spin").value = spin;
    element("degrees").textContent = `${spin}°`;
    if (panel) {
      const [a, b] = shapes.map(middle);
      Object.assign(panel.view, { center: a, unit: size(...shapes, sub(a, b)) / 2 }); // for any place of B
      shapes.forEach((one, i) => panel.wear(i, ...panel.shape((d) => local(panel.view, support(one, d)), "ab"[i], 0.4, true)));
      panel.move(shift);
    }
    again();
  }
  function again() {
    lesson = gjk3dSatSteps.steps(...shapes, shift, list.map((axis) => ({ ...axis })), element("only").checked);
    const { steps } = lesson;
    element("verdict").textContent = steps[steps.length - 1].title.replace(/Result: (.)/, (_, first) => first.toUpperCase());
    element("all").replaceChildren(...steps.map((step) => make("li", {}, make("b", {}, `${step.title}.`), ` ${step.sentence}`)));
  }
  function go(to, glides = !calm.matches) {
    at = Math.min(Math.max(Math.trunc(to) || 0, 0), lesson.steps.length - 1);
    gjk3dStepper.write(lesson.steps, at);
    element("sentence").textContent = lesson.steps[at].sentence;
    charts();
    if (panel) draw(lesson.steps[at], glides);
    if (panel && !held) gjk3dSight.look(glides ? GLIDE : 0);
    state.step = at;
    link();
  }
  function charts() {
    const { steps, run, tiny } = lesson, step = steps[at], seen = step.phase === "result" ? run.tried.length : step.axis ? step.last + 1 : 0; // the number of axes tried
    const best = run.tried.slice(0, seen).findLast((axis) => axis.best)?.best;
    gjk3dProjections.project(step.axis, tiny);
    gjk3dProjections.all(run.tried, step.phase === "axis" ? [step.axis.number - 1, step.last] : [], seen, best && best.number);
  }
  // The axis is below the shapes, for the view of the step or for the present one.
  function draw(step, glides) {
    const way = held ? panel.sight() : gjk3dSight.direction(), top = held ? panel.camera.up : gjk3dSight.top();
    const pieces = gjk3dSatDraw.pieces(panel.view, step, shapes, shift, way.toArray(), top.toArray(), lesson.tiny);
    const words = { ...gjk3dMarks.meanings(), gap: step.mtv ? "minimum translation" : step.axis && step.axis.gap <= 0 ? "overlap" : "gap" };
    panel.show(pieces, glides);
    gjk3dMarks.writeLegend(gjk3dMarks.legend(words, new Set(["a", "b", ...pieces.map((one) => one.role)])));
    panel.tips = pieces.filter((one) => one.kind === "rod" || one.kind === "arrow").flatMap((one) => one.points);
    gliding = glides ? performance.now() : null;
    if (glides) state.flight = "moving";
  }
  function tick(now) {
    if (gliding === null) return false;
    const t = Math.min(1, Math.max(0, now - gliding) / GLIDE);
    panel.change(gjk3d.ease(t));
    if (t === 1) gliding = null;
    return t < 1;
  }
  // The axis of a step is seen from its side.
  function lean(way) {
    const axis = lesson && lesson.steps[at].axis, arrow = axis && axis.normal && vec(axis.normal), along = arrow ? arrow.dot(way) : 0;
    return Math.abs(along) <= SLANT ? way : gjk3dSight.leaned(way, arrow, SLANT * Math.sign(along));
  }
  const last = () => at === lesson.steps.length - 1;

  // --- B that is moved -----------------------------------------------------------------------------------------------------
  // Run something while the camera stays.
  function holding(act) {
    held = true;
    act();
    held = false;
  }
  // At the last step the reader stays at the result, whose number depends on the axes.
  function rerun(change) {
    const end = last();
    change();
    go(end ? Infinity : at, false);
  }
  const hold = { body: 1, place: () => shift, heart: () => add(shapes[1].middle, shift), shown: (to) => panel.move(to), put(to) {
    shift = to;
    panel.move(shift);
    rerun(again);
  } };
  function nudge(x, y) {
    if (!panel) return false;
    holding(() => gjk3dDrag.drag(panel, hold, shift, 12 * x, -12 * y));
    return true;
  }

  // --- controls and the address -----------------------------------------------------------------------------------------------
  const SWITCHES = { only: "only" };
  const topics = gjk3dStepper.topics(gjk3dSatPresets, (name) => {
    player.play(false);
    preset(name);
    see(0);
  });
  const link = () => gjk3dStepper.keep(() => ({
    a: picked[0], b: picked[1], at: shift.map((x) => gjk3d.number(x, 9)).join(), turn: turn.join(), spin: spin || "", step: at + 1,
    ...gjk3dStepper.switched(SWITCHES), topic: topics.topic, look: gjk3dSight.text(),
  }));
  function see(step) {
    go(step, false);
    gjk3dSight.reset();
    go(step, false); // the axis is drawn below the shapes of this view
  }
  function preset(name) {
    topics.about(name);
    choose(gjk3dSatPresets[name].pair, gjk3dSatPresets[name]);
  }
  function follow() {
    const text = gjk3dStepper.kept(), names = ["a", "b"].map((side) => text.get(side)), triple = (name) => (text.get(name) || "0,0,0").split(",").map(Number);
    const [where, way, round] = [triple("at"), triple("turn"), Number(text.get("spin"))], known = names.every((name) => NAMES.includes(name)), topic = text.get("topic") || "";
    gjk3dStepper.switchTo(SWITCHES, text);
    const most = known ? 100 * size(...names.map((name) => shape(name, rotation([0, 0, 0]))), [0, 0, 0]) : 0;
    if (known && [where, way].every((v) => v.length === 3 && v.every((x) => Math.abs(x) <= most)) && Math.abs(round) <= 180) {
      topics.about(topic);
      choose(names, { at: where, turn: way, spin: round });
    } else preset(Object.hasOwn(gjk3dSatPresets, topic) ? topic : FIRST);
    see((Number(text.get("step")) || 1) - 1);
    if (gjk3dSight.restore(text.get("look"))) {
      holding(() => go(at, false));
      gjk3dSight.restore(text.get("look")); // fits the axis too
    }
  }

  [panel] = gjk3d.drawn(() => [new gjk3dPanel.Panel(element("left"), { center: [0, 0, 0], unit: 1 })], ". The text and the charts are below", ["left", "reset"]) || [null];
  const panels = panel ? [panel] : [];
  const player = gjk3dStepper.start(() => [lesson.steps, at], go, {
    "Shift+ArrowLeft": () => nudge(-1, 0), "Shift+ArrowRight": () => nudge(1, 0), "Shift+ArrowUp": () => nudge(0, 1), "Shift+ArrowDown": () => nudge(0, -1),
  });
  ["a", "b"].forEach((side, i) => {
    element(side).append(...NAMES.map((name) => make("option", { value: name }, name)));
    element(side).addEventListener("input", () => {
      const names = picked.map((name, k) => (k === i ? element(side).value : name)), far = sub(add(shapes[1].middle, shift), shapes[0].middle);
      const centers = names.map((name) => shape(name, rotation([0, 0, 0])).middle);
      topics.about("");
      choose(names, { turn, spin, at: add(far, sub(centers[0], centers[1])) }); // B stays where it is relative to A
      see(at);
    });
  });
  element("spin").addEventListener("input", () => {
    holding(() => rerun(() => choose(picked, { turn, spin: element("spin").valueAsNumber, at: shift })));
  });
  element("only").addEventListener("input", () => rerun(again));
  element("reset").addEventListener("click", () => see(at));
  dark.addEventListener("change", () => { choose(picked, { turn, spin, at: shift }); go(at, false); });
  window.addEventListener("hashchange", follow);
  new ResizeObserver(() => lesson && charts()).observe(element("below"));
  gjk3dProjections.listen((axis) => player.stopped(() => go(lesson.steps.findIndex((step) => step.last >= axis)))());

  gjk3dSight.start(panels, () => {
    if (panel.controls && lesson && !held) holding(() => draw(lesson.steps[at], false));
    link();
  }, lean);
  follow();
  gjk3dSight.listen();
  if (panel) gjk3dDrag.listen(panel, [1], () => {
    const from = shift;
    player.play(false);
    held = true;
    return (dx, dy) => gjk3dDrag.drag(panel, hold, from, dx, dy);
  }, () => {
    held = false;
    go(at, false);
  });
  gjk3d.start(tick);
})();
