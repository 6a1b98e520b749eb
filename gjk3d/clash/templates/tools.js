// Tools: the section box, a single part, the distance between two clicks, and saved views.
let clashTools = null;
gjk3d.later(function () {
  if (!clashView) return;
  const { data, element, make, button, number, css, dark, tint } = gjk3d;
  const { picture, scene, camera, vec, local, pair, ghosts, dirty } = clashStage;
  const world = (p) => p.toArray().map((x, k) => x * data.size + data.center[k]);

  // --- the section box around the finding, or around the center of the assembly -----------------------------------------
  const AXES = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]];
  // a section plane from a point and a normal to the hidden side; the normals of three.js point to the visible side
  const plane = (point, outward) => new THREE.Plane().setFromNormalAndCoplanarPoint(outward.normalize().negate(), point);
  let kept = []; // the section planes of a saved view
  function cut() {
    const on = element("section").checked, box = clashView.frame(), half = box.radius * 10 ** Number(element("section-size").value);
    element("section-size").hidden = !on || kept.length > 0;
    const round = AXES.map(vec).map((axis) => plane(box.center.clone().addScaledVector(axis, half), axis));
    picture.renderer.clippingPlanes = !on ? [] : kept.length ? kept : round;
    dirty();
  }
  element("section").addEventListener("input", () => { kept = []; cut(); });
  element("section-size").addEventListener("input", cut);

  // --- the distance between two clicks, which snap to corners -------------------------------------------------------------
  // The line has the colour of the text, with an edge in the colour of the page, so that it is visible on all parts.
  const ends = [], colours = ["--paper", "--ink"], inks = colours.map(() => new THREE.MeshBasicMaterial({ depthTest: false, transparent: true }));
  const tape = new THREE.Group(), ball = new THREE.SphereGeometry(1, 16, 12), rod = new THREE.CylinderGeometry(1, 1, 1, 12);
  const paint = () => inks.forEach((ink, k) => ink.color.copy(tint(css(colours[k]))));
  paint();
  dark.addEventListener("change", paint);
  scene.add(tape);
  function hit(event) {
    const seen = (item) => item.visible && (!item.parent || seen(item.parent));
    const bodies = [...pair.flatMap((group) => group.children), ghosts].filter((item) => item.isMesh && seen(item) && !item.renderOrder);
    const cuts = picture.renderer.clippingPlanes;
    const found = picture.ray(event).intersectObjects(bodies, false).find((at) => cuts.every((plane) => plane.distanceToPoint(at.point) >= 0));
    if (!found) return null;
    const place = found.object.geometry.attributes.position;
    const corners = [found.face.a, found.face.b, found.face.c].map((k) => found.object.localToWorld(new THREE.Vector3().fromBufferAttribute(place, k)));
    const away = (corner) => picture.distance(corner, event), near = corners.sort((one, two) => away(one) - away(two))[0];
    return away(near) < 10 ? near : found.point;
  }
  function draw() {
    tape.clear();
    inks.forEach((ink, k) => {
      const along = ends.length === 2 && ends[1].clone().sub(ends[0]);
      for (const end of ends) tape.add(Object.assign(new THREE.Mesh(ball, ink), { wide: 6 - 1.5 * k }));
      ends.forEach((end, i) => tape.children.at(i - ends.length).position.copy(end));
      if (!along || !along.length()) return;
      const line = Object.assign(new THREE.Mesh(rod, ink), { wide: 2.5 - 1.25 * k, long: along.length() });
      line.position.copy(ends[0]).addScaledVector(along, 0.5);
      line.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), along.normalize());
      tape.add(line);
    });
    tape.children.forEach((item) => { item.renderOrder = item.material === inks[0] ? 30 : 31; });
    const long = ends.length === 2 ? ends[0].distanceTo(ends[1]) * data.size : 0; // four digits, because the picture is in single precision
    element("measured").textContent = ends.length === 2 ? `measured: about ${number(long, 4)}${clashTable.unit}`
      : element("measure").checked ? (ends.length ? "click the other end" : "click one end, then the other (clicks snap to corners)") : "";
    dirty();
  }
  const before = picture.before;
  picture.before = (far) => { // sizes in pixels
    before(far);
    const pixel = (2 * far * Math.tan((camera.fov * Math.PI) / 360)) / picture.box.clientHeight;
    for (const item of tape.children) item.scale.set(item.wide * pixel, item.long || item.wide * pixel, item.wide * pixel);
  };
  picture.onClick((event) => {
    const point = element("measure").checked && hit(event);
    if (!point) return;
    if (ends.length === 2) ends.length = 0;
    ends.push(point);
    draw();
  });
  function measure() { // start a new measurement
    ends.length = 0;
    draw();
  }
  element("measure").addEventListener("input", measure);

  // --- a single part ----------------------------------------------------------------------------------------------------
  function alone(side) {
    const other = side === "a" ? "b" : "a";
    return button("alone", () => {
      const hide = element("show-rest").checked || element("show-" + other).checked || !element("show-" + side).checked;
      element("show-" + side).checked = true;
      element("show-" + other).checked = element("show-rest").checked = !hide;
      element("show-rest").dispatchEvent(new Event("input"));
    }, { class: "small", title: "hide or show all other parts" });
  }

  // --- saved views ------------------------------------------------------------------------------------------------------
  function views(row) {
    const saved = clashTriage.viewsOf(row), save = () => {
      const planes = picture.renderer.clippingPlanes.map(({ normal, constant }) =>
        [world(normal.clone().multiplyScalar(-constant)), normal.clone().negate().toArray()]);
      const name = `view ${saved.length + 1}`, eye = world(camera.position), target = world(picture.controls.target);
      clashTriage.saveView(row, { name, eye, target, up: camera.up.toArray(), planes });
      line.replaceWith(views(row));
    };
    const line = make("div", { id: "views", class: "line" }, button("save view", save, { class: "small" }), saved.map((view) =>
      button(view.name || "view", () => take(view), { class: "small", title: `${clashTriage.who(view)}, ${view.at.slice(0, 10)}` })));
    return line;
  }
  function take(view) {
    const scale = clashDecisions.metresOf(view.unit || "") / clashDecisions.metresOf(data.unit) || 1; // 1 if a unit is unknown
    const place = (p) => local(p.map((x) => x * scale)), eye = place(view.eye), to = place(view.target).sub(eye).normalize();
    // views of other programs have a direction without a distance
    const far = Math.max(1e-3, clashView.frame().center.sub(eye).dot(to));
    kept = (view.planes || []).map(([point, normal]) => plane(place(point), vec(normal)));
    element("section").checked = kept.length > 0;
    cut();
    picture.fly(eye.clone().addScaledVector(to, far), far, to.negate(), vec(view.up), 0);
  }
  function selected() { // the section box moves to the finding, and other sections and measurements end
    kept = [];
    measure();
    cut();
  }
  cut();
  clashTools = { views, alone, selected };
});
