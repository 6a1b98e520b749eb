// The lesson on bounding volumes: a shape that the reader rotates, and a second one that the reader moves.
(function () {
  const { data, state, element, make, dark, number } = gjk3d;
  const { scale, add, norm } = gjk3dVectors, { size } = gjk3dSupport, { placed, volumes, content, corners, gap } = gjk3dVolumes, { local, piece, ROD } = gjk3dMarks, { ticks, told, listed } = gjk3dWords;
  const KINDS = ["sphere", "aabb", "moved", "obb"], NAMES = Object.keys(data.shapes), FIRST = Object.keys(gjk3dBoundsPresets)[0], UNTURNED = [1, 0, 0, 0, 1, 0, 0, 0, 1];
  const PLURAL = { sphere: "spheres", aabb: "AABBs", moved: "AABBs of the rotated boxes", obb: "OBBs" }, QUADS = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]];
  const svg = element("sizes").appendChild(make("svg", { role: "img", "aria-label": "Volume of the sphere and the boxes for a full turn. The table has the present numbers" }));
  let picked = [], angle = 0, tilt = new THREE.Quaternion(), shift = [0, 0, 0], pair = [], curves = null, frame = null, panel = null;

  // --- the volumes -----------------------------------------------------------------------------------------------------------
  const upright = (degrees) => new THREE.Quaternion().setFromAxisAngle(new THREE.Vector3(0, 0, 1), (degrees * Math.PI) / 180);
  const rotation = (degrees = angle) => upright(degrees).multiply(tilt), shape = (i) => data.shapes[picked[i]];
  function matrix(quaternion) {
    const m = new THREE.Matrix4().makeRotationFromQuaternion(quaternion).elements;
    return [m[0], m[4], m[8], m[1], m[5], m[9], m[2], m[6], m[10]];
  }
  function choose(names, given) {
    [picked, angle, tilt, shift] = [names, given.angle, given.tilt, given.at];
    ["a", "b"].forEach((side, i) => { element(side).value = names[i]; element(`name-${side}`).textContent = names[i]; });
    curves = null;
    if (!panel) return;
    Object.assign(panel.view, { center: [0, 0, 0], unit: size(placed(shape(0), UNTURNED), placed(shape(1), UNTURNED), [0, 0, 0]) / 2 });
    const { unit } = panel.view;
    [0, 1].forEach((i) => {
      const one = placed(shape(i), UNTURNED), few = one.points && !one.radius;
      panel.wear(i, ...panel.shape((d) => scale(1 / unit, gjk3dPanel.grown(one, d)), "ab"[i], 0.45, few));
      panel.wear(2 + i, ...panel.shape((d) => scale(one.sphere.radius / unit, d), "sphere", 0.1, false));
    });
  }
  function show() {
    pair = [placed(shape(0), matrix(rotation())), placed(shape(1), UNTURNED, shift)];
    const all = pair.map((one, i) => volumes(one, placed(shape(i), UNTURNED))), gaps = Object.fromEntries(KINDS.map((kind) => [kind, gap(all[0][kind], all[1][kind])])), result = gjk3dSolve.solve(...pair);
    write(all[0], gaps, result);
    chart(all[0]);
    if (panel) {
      draw(all, result);
      extent(all);
    }
    state.angle = angle;
    link();
  }
  function write(around, gaps, result) {
    const tiny = 1e-9 * result.size, apart = KINDS.filter((kind) => gaps[kind] > tiny), over = KINDS.filter((kind) => !apart.includes(kind)), free = result.lower > tiny, names = (kinds) => listed(kinds.map((kind) => PLURAL[kind]));
    const deep = result.upper < -tiny, verdict = free ? "apart" : deep ? "overlap" : "touch";
    const told5 = (low, high) => ` by ${told(low, high, 5)}`, kinds = over.length === 4 ? "all volumes overlap" : over.length === 1 ? `the ${PLURAL[over[0]]} overlap` : `${over.length} of 4 kinds of volumes overlap`;
    element("verdict").textContent = `Shapes ${verdict}${free ? told5(result.distance, result.distance) : deep ? told5(-result.upper, -result.lower) : ""}`;
    element("title").textContent = !free ? `The shapes ${verdict}, and no kind of volume is apart` : over.length ? `The shapes are apart, but ${kinds}` : "All volumes are apart, and so are the shapes";
    const proof = apart.length ? `The ${names(apart)} are apart, which proves that the shapes are apart. ` : "";
    element("sentence").textContent = !free ? "A volume contains its shape. So where the shapes share a point, the volumes do: a test of volumes never misses an overlap."
      : `${proof}${over.length ? `The ${names(over)} overlap, which decides nothing: a query of the shapes has to follow.` : ""}`;
    element("count").textContent = `${angle}°`;
    element("slide").value = angle;
    element("slide").setAttribute("aria-valuetext", `${angle} degrees`);
    document.querySelector("#volumes tbody").replaceChildren(...[null, ...KINDS].map((kind) => {
      const chip = make("span", { class: "chip" }), own = shape(0).volume, amount = kind ? content(around[kind]) : own;
      chip.style.background = gjk3dPanel.paint(kind || "a");
      const words = !kind ? verdict : apart.includes(kind) ? "apart" : free ? "false alarm" : "overlap";
      return make("tr", { "data-kind": kind || "shape" }, make("td", {}, chip, kind ? data.colors[kind].meaning : "the shape itself"), make("td", {}, number(amount, 4)), make("td", {}, number(amount / own, 4)), make("td", {}, words));
    }));
  }
  const on = (kind) => element(`show-${kind}`).checked;
  function draw(all, { a, b, lower }) {
    const { view } = panel, pieces = [], both = on("b") ? all : all.slice(0, 1);
    panel.bodies[0].quaternion.copy(rotation());
    panel.move(shift);
    all.forEach((one, i) => {
      panel.bodies[2 + i].visible = on("sphere") && (i === 0 || on("b"));
      panel.bodies[2 + i].position.set(...local(view, one.sphere.center));
    });
    both.forEach((one, i) => KINDS.slice(1).filter(on).forEach((kind) => {
      const ends = corners(one[kind]).map((p) => local(view, p));
      pieces.push(piece("region", kind, `${i}`, [ends[0]], { polygons: QUADS.map((quad) => quad.map((k) => ends[k])), opacity: 0.07 }));
      [0, 1, 2, 3, 4, 5, 6, 7].forEach((k) => [1, 2, 4].filter((bit) => !(k & bit)).forEach((bit) => pieces.push(piece("rod", kind, `${i},${k},${bit}`, [ends[k], ends[k | bit]], { size: 0.55 * ROD }))));
    }));
    if (lower > 0) pieces.push(piece("rod", "ink", "near", [a, b].map((p) => local(view, p)), { size: 0.6 * ROD }));
    panel.show(pieces, false);
    const drawn = new Set(["a", "b", ...KINDS.filter(on), ...pieces.map((one) => one.role)]);
    gjk3dMarks.writeLegend(gjk3dMarks.legend(gjk3dMarks.meanings(), drawn));
  }
  // All that the view has to show for any angle: the spheres, and the corners of the boxes.
  const AROUND = [-1, 0, 1].flatMap((x) => [-1, 0, 1].flatMap((y) => [-1, 0, 1].map((z) => [x, y, z]))).filter(norm).map(gjk3dVectors.unit);
  function extent(all) {
    const balls = [[[0, 0, 0], 0], [shift, 1]].flatMap(([middle, i]) => AROUND.map((d) => add(middle, scale(shape(i).sphere.radius + norm(shape(i).sphere.center), d))));
    const boxes = [...curves, all[1]].flatMap((one) => KINDS.slice(1).filter(on).flatMap((kind) => corners(one[kind])));
    panel.tips = [...balls, ...boxes].map((p) => local(panel.view, p));
  }
  // The volumes for a full turn, in volumes of A, with a line at the present angle.
  function chart(around) {
    const own = shape(0).volume, width = Math.max(280, element("sizes").clientWidth), put = (...given) => svg.append(make(...given));
    curves ||= Array.from({ length: 73 }, (_, k) => volumes(placed(shape(0), matrix(rotation(5 * k))), placed(shape(0), UNTURNED)));
    const shown = KINDS.filter(on), most = 1.08 * Math.max(1, ...curves.flatMap((one) => shown.map((kind) => content(one[kind]) / own))), left = 52, x = (degrees) => left + ((width - 14 - left) * degrees) / 360, y = (v) => 8 + 128 * (1 - v / most);
    frame = { width, left };
    svg.setAttribute("viewBox", `0 0 ${width} 170`);
    svg.replaceChildren();
    for (const [value, words] of ticks([0, most])) {
      put("line", { x1: left, x2: width - 14, y1: y(value), y2: y(value), stroke: words === "0" ? "var(--soft)" : "var(--line)" });
      put("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, words);
    }
    for (const degrees of [0, 90, 180, 270, 360]) put("text", { x: x(degrees), y: 160, "text-anchor": degrees ? degrees === 360 ? "end" : "middle" : "start" }, `${degrees}°`);
    for (const kind of shown) {
      const line = make("polyline", { points: curves.map((one, k) => `${x(5 * k)},${y(content(one[kind]) / own)}`).join(" "), fill: "none", "stroke-width": 2.5, "stroke-dasharray": { moved: "8 4" }[kind] });
      const spot = make("rect", { x: x(angle) - 4, y: y(content(around[kind]) / own) - 4, width: 8, height: 8 });
      [line.style.stroke, spot.style.fill] = [gjk3dPanel.paint(kind), gjk3dPanel.paint(kind)];
      svg.append(line, spot);
    }
    put("line", { x1: x(angle), x2: x(angle), y1: 4, y2: 138, stroke: "var(--now)", "stroke-width": 2 });
  }

  // --- rotation of A, and B that is moved ---------------------------------------------------------------------------------------
  function spin(to) {
    angle = ((Math.round(to) % 360) + 360) % 360;
    show();
  }
  // Rotate A about the horizontal direction to the right of the view.
  function lean(by) {
    const right = new THREE.Vector3().setFromMatrixColumn(panel ? panel.camera.matrixWorld : new THREE.Matrix4(), 0), turn = new THREE.Quaternion().setFromAxisAngle(right, by), up = upright(angle);
    tilt = up.clone().invert().multiply(turn).multiply(up).multiply(tilt).normalize();
    curves = null;
    show();
  }
  const hold = { body: 1, place: () => shift, heart: () => shift, shown: (to) => panel.move(to), put(to) {
    shift = to;
    show();
  } };
  function nudge(x, y) {
    if (!panel) return false;
    gjk3dDrag.drag(panel, hold, shift, 12 * x, -12 * y);
    return true;
  }
  function rotating() {
    const from = { angle, tilt: tilt.clone() };
    return (dx, dy) => {
      [angle, tilt] = [(((Math.round(from.angle + dx / 2) % 360) + 360) % 360), from.tilt.clone()];
      lean(dy * 0.009);
    };
  }

  // --- controls and the address ----------------------------------------------------------------------------------------------------
  const SWITCHES = Object.fromEntries([...KINDS, "b"].map((name) => [`show${name}`, `show-${name}`]));
  const topics = gjk3dStepper.topics(gjk3dBoundsPresets, (name) => {
    player.play(false);
    preset(name);
    see();
  });
  const link = () => gjk3dStepper.keep(() => ({
    a: picked[0], b: picked[1], at: shift.map((x) => number(x, 9)).join(), angle, tilt: tilt.toArray().map((x) => number(x, 9)).join(),
    ...gjk3dStepper.switched(SWITCHES), topic: topics.topic, look: gjk3dSight.text(),
  }));
  function preset(name) {
    const given = gjk3dBoundsPresets[name], long = norm(given.tilt), axis = new THREE.Vector3(...(long ? scale(1 / long, given.tilt) : [0, 0, 1]));
    topics.about(name);
    for (const kind of KINDS) element(`show-${kind}`).checked = given.shown.includes(kind);
    choose(given.pair, { ...given, tilt: new THREE.Quaternion().setFromAxisAngle(axis, long) });
  }
  function see() {
    show();
    gjk3dSight.reset();
  }
  function follow() {
    const text = gjk3dStepper.kept(), names = ["a", "b"].map((side) => text.get(side)), list = (name) => (text.get(name) || "").split(",").map(Number), topic = text.get("topic") || "";
    const [at, turn, degrees] = [list("at"), list("tilt"), Number(text.get("angle"))], wise = at.length === 3 && at.every((x) => Math.abs(x) < 100) && turn.length === 4 && turn.every((x) => Math.abs(x) <= 1) && Math.hypot(...turn) > 0.1 && degrees >= 0 && degrees < 360;
    if (wise && names.every((name) => NAMES.includes(name))) {
      gjk3dStepper.switchTo(SWITCHES, text);
      topics.about(topic);
      choose(names, { at, angle: Math.round(degrees), tilt: new THREE.Quaternion(...turn).normalize() });
    } else preset(Object.hasOwn(gjk3dBoundsPresets, topic) ? topic : FIRST);
    see();
    gjk3dSight.restore(text.get("look"));
  }

  [panel] = gjk3d.drawn(() => [new gjk3dPanel.Panel(element("left"), { center: [0, 0, 0], unit: 1 }, 4)], ". The table and the chart are below", ["left", "reset"]) || [null];
  const panels = panel ? [panel] : [];
  if (panel) panel.extent = () => panel.tips.map((p) => new THREE.Vector3(...p));
  const player = gjk3d.player(element("play"), element("slide"), spin, (since) => (since < 40 ? undefined : angle + 1)), stopped = (act) => player.stopped(act);
  gjk3d.keys({
    ArrowLeft: stopped(() => spin(angle - 5)), ArrowRight: stopped(() => spin(angle + 5)), ArrowUp: stopped(() => lean(-0.087)), ArrowDown: stopped(() => lean(0.087)), " ": player.toggle,
    "Shift+ArrowLeft": () => nudge(-1, 0), "Shift+ArrowRight": () => nudge(1, 0), "Shift+ArrowUp": () => nudge(0, 1), "Shift+ArrowDown": () => nudge(0, -1),
  });
  element("back").addEventListener("click", stopped(() => spin(angle - 15)));
  element("next").addEventListener("click", stopped(() => spin(angle + 15)));
  element("reset").addEventListener("click", see);
  element("slide").max = 359;
  ["a", "b"].forEach((side, i) => {
    element(side).append(...NAMES.map((name) => make("option", { value: name }, name)));
    element(side).addEventListener("input", () => {
      topics.about("");
      choose(picked.map((name, k) => (k === i ? element(side).value : name)), { angle, tilt, at: shift });
      see();
    });
  });
  for (const id of Object.values(SWITCHES)) element(id).addEventListener("input", () => {
    show();
    gjk3dSight.look(0);
  });
  dark.addEventListener("change", () => { choose(picked, { angle, tilt, at: shift }); show(); });
  window.addEventListener("hashchange", follow);
  new ResizeObserver(() => pair.length && show()).observe(element("below"));
  svg.addEventListener("click", (event) => {
    const box = svg.getBoundingClientRect(), { width, left } = frame;
    stopped(() => spin(Math.min(Math.max(((((event.clientX - box.left) / box.width) * width - left) / (width - 14 - left)) * 360, 0), 359)))();
  });

  gjk3dSight.start(panels, link);
  follow();
  gjk3dSight.listen();
  if (panel) gjk3dDrag.listen(panel, [0, 1], (hit) => {
    const from = shift;
    player.play(false);
    return hit === 0 ? rotating() : (dx, dy) => gjk3dDrag.drag(panel, hold, from, dx, dy);
  }, () => {});
  gjk3d.start();
})();
