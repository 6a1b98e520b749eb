// The camera, the marks of a finding, and clicks in the picture.
let clashView = null;
gjk3d.later(function () {
  if (!clashStage) return;
  const { data, element, state: root, css, dark, tint } = gjk3d;
  const { picture, view, scene, camera, vec, local, pair, looks, rest, ghostly, setPair, dirty } = clashStage, { near, placeOf } = clashDots;
  const up = vec(data.up), right = vec(data.up[0] ? [0, 1, 0] : [1, 0, 0]);
  const iso = right.clone().addScaledVector(up, 0.75).addScaledVector(right.clone().cross(up), 1.3).normalize();
  const half = (box) => 0.5 * vec(box[1]).distanceTo(vec(box[0]));
  const middle = (box) => vec(box[0]).add(vec(box[1])).multiplyScalar(0.5);
  let current = -1, stretched = false;

  // --- marks of a fixed size on the screen ----------------------------------------------------------------------------
  // materials by the names of their colours in the style
  const inks = Object.fromEntries(["on-a", "on-b", "out", "ink", "n"].map((name) => [name, new THREE.MeshLambertMaterial({ transparent: true, depthTest: false, depthWrite: false })]));
  function paint() {
    for (const [name, material] of Object.entries(inks)) material.color.copy(tint(css("--" + name)));
    ghostly.uniforms.color.value.set(css("--ghost"));
    dirty();
  }
  const marks = new THREE.Group();
  const balls = ["on-a", "on-b"].map((name) => new THREE.Mesh(new THREE.SphereGeometry(1, 24, 16), inks[name]));
  const shaft = new THREE.Mesh(new THREE.CylinderGeometry(1, 1, 1, 16).translate(0, 0.5, 0), inks.out);
  const head = new THREE.Mesh(new THREE.ConeGeometry(1, 1, 24).translate(0, -0.5, 0), inks.out);
  marks.add(...balls, shaft, head);
  shaft.renderOrder = head.renderOrder = 10;
  balls.forEach((ball) => { ball.renderOrder = 11; });
  scene.add(marks);
  let arrow = null, note = null; // the note is the number at the tip of the arrow
  const tail = document.createElement("span"); // an empty label at the tail of the arrow, which keeps the note away from it

  // A normal has no length, so its arrow has a fixed size on the screen.
  function arrowOf(row, a, b, at) {
    const from = b || at || a;
    if (row.mtv && from) return { from, way: vec(row.mtv).divideScalar(data.size), ink: "out", number: row.told.depth && `depth ${row.told.depth}${clashTable.unit}`, words: `arrow: separating translation of B, ${row.told.way}` };
    if (a && b && row.distance > 0 && a.distanceTo(b) > 0) return { from: a, way: b.clone().sub(a), ink: "ink", number: `gap ${row.told.gap}${clashTable.unit}`, words: `arrow: gap from A to B, ${row.told.gap}${clashTable.unit}` };
    return a && row.normal ? { from: a, way: vec(row.normal), ink: "n", words: "arrow: normal from A to B", fixed: true } : null;
  }
  function setMarks(row) {
    const [a, b, at] = ["point_a", "point_b", "point"].map((name) => row[name] && local(row[name]));
    [a || at, b].forEach((point, side) => {
      balls[side].visible = Boolean(point);
      if (point) balls[side].position.copy(point);
    });
    arrow = arrowOf(row, a, b, at);
    note?.remove();
    picture.labels.length = 0;
    note = arrow?.number ? picture.label(arrow.number, arrow.from.toArray()) : null;
    if (note) picture.labels.push([tail, arrow.from]);
    if (arrow) shaft.material = head.material = inks[arrow.ink];
  }
  function sizeMarks(pixel) {
    for (const ball of balls) ball.scale.setScalar(5.5 * pixel);
    shaft.visible = head.visible = Boolean(arrow);
    if (!arrow) return;
    const size = arrow.fixed ? 0 : arrow.way.length(), least = (arrow.fixed ? 56 : 34) * pixel;
    const long = Math.max(size, least), tip = Math.min(13 * pixel, 0.5 * long);
    stretched = size < least && !arrow.fixed;
    const way = arrow.way.clone().normalize();
    for (const mesh of [shaft, head]) mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), way);
    shaft.position.copy(arrow.from);
    shaft.scale.set(2 * pixel, long - tip, 2 * pixel);
    head.position.copy(arrow.from).addScaledVector(way, long);
    head.scale.set(5.5 * pixel, tip, 5.5 * pixel);
    if (note) picture.labels[0][1].copy(head.position);
  }

  let pick = () => {};
  picture.onClick((event) => {
    const index = current < 0 && !element("measure").checked ? near(event) : -1;
    if (index >= 0) pick(index);
  });

  // --- the camera -----------------------------------------------------------------------------------------------------
  picture.reach = 2;
  picture.aim(iso.clone(), new THREE.Vector3(), up);
  const { controls } = picture;
  function fly(target, radius, way, time) {
    picture.fly(target, (1.08 * radius) / Math.sin((picture.angle * Math.PI) / 360), way, up, time);
  }
  // the number of intersections of a ray from the camera to a point with the surface of a part
  const look = new THREE.Raycaster();
  function crossings(side, point, way) {
    const [body] = pair[side].children;
    if (!body || !body.isMesh || body.geometry.attributes.position.count > 60000) return 0;
    look.set(point, way);
    look.near = 1e-4;
    return look.intersectObject(body).length;
  }
  function bestWay(row, point) {
    const [small, large] = bySize(row), heart = small >= 0 && data.parts[small].box ? middle(data.parts[small].box) : point;
    const sides = clashTable.sides(row).map((side) => "ab".indexOf(side)), larger = row.a === large ? 0 : 1;
    for (const group of pair) group.updateMatrixWorld(true);
    const normal = row.normal ? vec(row.normal) : row.mtv ? vec(row.mtv).normalize() : new THREE.Vector3();
    const side = new THREE.Vector3().copy(iso).addScaledVector(up, -iso.dot(up)).normalize();
    let best = iso, least = Infinity;
    for (const [height, turns] of [[0.45, 8], [0.95, 4], [-0.4, 4]]) {
      for (let k = 0; k < turns; k++) {
        const way = side.clone().applyAxisAngle(up, (2 * Math.PI * k) / turns).multiplyScalar(Math.cos(height)).addScaledVector(up, Math.sin(height));
        const met = sides.reduce((sum, side) => sum + Math.min(4, crossings(side, point, way)), 0);
        const behind = large >= 0 && crossings(larger, heart, way) > 0; // the larger part would hide the smaller one
        const hidden = (met ? 0.6 + 0.2 * met : 0) + (behind ? 0.6 : 0);
        const cost = hidden + way.dot(normal) ** 2 + 0.25 * (1 - way.dot(iso)) + (height < 0 ? 0.2 : 0);
        if (cost < least - 1e-9) [best, least] = [way, cost];
      }
    }
    return best;
  }
  function bySize(row) {
    const size = (index) => (data.parts[index].box ? half(data.parts[index].box) : 0);
    const [one, two] = clashTable.sides(row).map((side) => row[side]).sort((i, j) => size(i) - size(j));
    return [one, two === undefined ? -1 : two];
  }
  // the point that the camera looks at, and the visible radius around it
  function frame() {
    const row = data.rows[current];
    if (!row) return { center: new THREE.Vector3(), radius: 1 };
    const box = data.parts[bySize(row)[0]]?.box, least = box ? half(box) : 0.3; // the size of the smaller part
    const long = (row.mtv ? vec(row.mtv).length() : Math.abs(row.distance || 0)) / data.size;
    let radius = row.reach ? Math.min(1.3 * least, Math.max(0.4 * least, (6 * row.reach) / data.size)) : 1.2 * least;
    if (row.kind === "clearance" && long > 0) radius = Math.min(radius, Math.max(0.06 * least, 30 * long)); // the gap is visible
    if (row.kind === "contained") radius = Math.max(radius, Math.min(20 * least, 1.1 * long + 0.2 * least)); // the arrow is visible
    return { center: placeOf(current), radius: Math.max(1e-6, radius) };
  }
  function show(index) {
    current = index;
    const row = data.rows[index], { center, radius } = frame();
    root.view = row ? "finding" : "assembly";
    element("slide").value = 0;
    element("label-slide").hidden = !(row && row.mtv);
    setPair(row ? [row.a, row.a === row.b ? -1 : row.b] : [-1, -1]);
    clashMotion?.follow(row);
    clashCommon.show(row);
    if (row) setMarks(row);
    fly(center, radius, row ? bestWay(row, center) : iso, 650);
    toggle();
  }
  function missing(row) {
    const out = clashTable.sides(row).filter((side) => !(data.parts[row[side]].shape >= 0));
    return out.map((side) => `${side.toUpperCase()} is ${data.parts[row[side]].box ? "drawn as its box" : "not drawn"}.`).join(" ");
  }
  function toggle() {
    const row = data.rows[current], on = Boolean(row), large = on ? bySize(row)[1] : -1;
    ["show-a", "show-b"].forEach((id, side) => { pair[side].visible = element(id).checked; });
    rest.visible = element("show-rest").checked || !on;
    const opaque = !on && !element("glass").checked; // opaque parts would hide a finding
    Object.assign(ghostly, { transparent: !opaque, depthWrite: opaque });
    ghostly.uniforms.opaque.value = Number(opaque);
    marks.visible = on && element("show-marks").checked && (!clashMotion || clashMotion.holds(row));
    clashCommon.group.visible = marks.visible && Number(element("slide").value) === 0;
    if (note) note.hidden = !marks.visible;
    clashDots.show(!on && element("show-marks").checked);
    ghostly.uniforms.strength.value = on ? 0.16 : 0.42;
    ghostly.uniforms.coloured.value = !on && element("show-colours").checked ? 1 : 0; // a finding uses the colours of A and B
    looks.forEach(({ solid, through }, side) => {
      const larger = on && row[side ? "b" : "a"] === large, glassy = element("glass").checked || (larger && row.kind === "contained");
      // faces are behind their edges, and coplanar faces of both parts do not flicker, because the smaller part is in front
      Object.assign(solid, { polygonOffsetFactor: larger ? 2 : 1, polygonOffsetUnits: larger ? 8 : 1 });
      Object.assign(solid, { transparent: glassy, opacity: glassy ? 0.22 : 1, depthWrite: !glassy, needsUpdate: true });
      through.uniforms.strength.value = larger ? 0.12 : 0.4; // hidden faces are visible through the larger part
    });
    const out = Number(element("slide").value);
    if (on && row.mtv) pair[1].position.copy(vec(row.mtv)).multiplyScalar(out / data.size);
    if (out > 0 && !picture.flight) picture.keep(pair[1]);
    dirty();
  }
  for (const id of ["show-a", "show-b", "show-rest", "show-colours", "show-marks", "glass", "slide"]) element(id).addEventListener("input", toggle);
  dark.addEventListener("change", paint);

  picture.before = (far) => {
    clashDots.thin();
    sizeMarks((2 * far * Math.tan((camera.fov * Math.PI) / 360)) / view.clientHeight);
    const words = marks.visible && arrow ? [arrow.words + (stretched ? " (not to scale)" : "")] : [], common = clashCommon.group.visible ? clashCommon.words : [];
    const legend = [...words, ...common].join(" · ");
    if (legend === element("legend").textContent) return;
    element("legend").replaceChildren(words.join(""), ...common.flatMap((text, k) => [words.length || k ? " · " : "", /curve$|^dot/.test(text) ? "" : gjk3d.chip("common"), text]));
  };
  picture.after = () => {
    if (!picture.flight) root.eye = camera.position.toArray().concat(controls.target.toArray()).map((x) => x.toFixed(5)).join(" ");
  };
  paint();
  root.view = "assembly";
  fly(new THREE.Vector3(), 1, iso, 0);
  toggle();
  if (clashMotion) clashMotion.onMove(toggle);
  // a finding that was selected before the shapes were unpacked is shown now
  clashStage.fill().then((places) => {
    clashDots.fill(places);
    if (clashMotion) clashMotion.begin();
    if (current >= 0) show(current);
    dirty();
  }).catch(clashRows.complain).finally(gjk3d.start);
  clashView = { show, missing, frame, onPick(handler) { pick = handler; } };
});
