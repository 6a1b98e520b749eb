// A picture of items that can be hidden, with labels, and optionally a slider that moves B, or a motion.
(function () {
  const { data, state, element, dark, calm, vec, tint, numbers, points, surface } = gjk3d;
  const view = gjk3d.drawn(() => new gjk3d.View(element("view"), data.angle), data.table ? ". The numbers are in the table" : "", ["reset", "keys"]);
  if (!view) return;
  Object.assign(view, { wide: 4 / 3, reach: data.reach, foot: element("foot") });
  if (data.background) element("view").style.background = data.background;
  const over = { transparent: true, depthTest: false, depthWrite: false }, time = data.states;

  // nearly black items are nearly white on a dark background
  const tone = (color, by = 1) => tint(dark.matches && !data.background && /^#[0-3].[0-3].[0-3].$/.test(color) ? "#e8eaed" : color, by);
  const at = (item, name) => points(numbers(item[name], Float32Array));
  // Set the colours of vertices, which three.js expects to be linear.
  function colored(geometry, item, material) {
    if (!item.colors) return geometry;
    const linear = Float32Array.from(numbers(item.colors, Uint8Array), (value) => (value / 255) ** 2.2);
    geometry.setAttribute("color", new THREE.BufferAttribute(linear, 3));
    material.vertexColors = true;
    return geometry;
  }
  function parts(item) {
    const glass = item.opacity < 1, shine = { shininess: 20, specular: 0x111111 };
    if (item.look === "lines") return [new THREE.LineSegments(at(item, "positions"), new THREE.LineBasicMaterial({ transparent: glass, opacity: item.opacity }))];
    if (item.look === "dots") {
      const dots = new THREE.PointsMaterial({ size: item.width, sizeAttenuation: false });
      return [new THREE.Points(colored(at(item, "positions"), item, dots), dots)];
    }
    if (item.look === "field") {
      const plain = new THREE.MeshBasicMaterial({ side: THREE.DoubleSide, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 });
      return [new THREE.Mesh(colored(surface(item), item, plain), plain)];
    }
    const geometry = surface(item), meshes = [];
    if (item.look === "mark") return [new THREE.Mesh(geometry, new THREE.MeshLambertMaterial(over))];
    // the far side first and the near side over it, so that a convex body blends in the right order
    if (glass) for (const side of [THREE.BackSide, THREE.FrontSide]) meshes.push(new THREE.Mesh(geometry, new THREE.MeshPhongMaterial({ ...shine, side, opacity: item.opacity, transparent: true, depthWrite: false })));
    else meshes.push(new THREE.Mesh(geometry, new THREE.MeshPhongMaterial({ ...shine, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1, side: THREE.DoubleSide })));
    if (item.edges) {
      const opacity = item.opacity < 0.4 ? Math.max(item.opacity, 0.25) : 1;
      meshes.push(Object.assign(new THREE.LineSegments(at(item, "edges"), new THREE.LineBasicMaterial({ transparent: glass, opacity })), { userData: { edge: true } }));
    }
    return meshes;
  }
  const moving = new THREE.Group();
  view.scene.add(moving);
  const groups = data.items.map((item) => {
    const group = new THREE.Group(), meshes = parts(item);
    group.add(...meshes);
    group.matrixAutoUpdate = !item.frames && item.link === undefined;
    (item.moves ? moving : view.scene).add(group);
    return { item, group, meshes, middle: vec(item.middle || [0, 0, 0]), frames: item.frames && numbers(item.frames, Float32Array) };
  });
  function color(entry, text) {
    if (!entry.item.colors) for (const mesh of entry.meshes) mesh.material.color.copy(mesh.userData.edge ? tone(text, 0.3) : tone(text));
  }
  function paint() {
    groups.forEach((entry) => color(entry, entry.item.color));
    if (time) put(now, now > 0 || Boolean(window.location.hash)); // a page begins with the view of everything
    view.touched = true;
  }
  for (const { text, point } of data.labels || []) view.label(text, point);

  const FIRST = new Set(["overlap volume", "intersection curve", "separation_vector", "separation_vector head", "gap"]);
  const boxes = [...element("keys").querySelectorAll("input")];
  function toggle() {
    const off = new Set(boxes.filter((box) => !box.checked).map((box) => box.value));
    const away = data.slide && Number(element("slide").value) > 0; // items of the first position of B
    for (const { item, group } of groups) group.visible = !off.has(item.color) && !off.has(item.layer) && !(away && FIRST.has(item.name));
    for (const [node] of view.labels) node.hidden = Boolean(away);
    view.touched = true;
  }
  for (const box of boxes) box.addEventListener("input", toggle);
  element("slide")?.addEventListener("input", ({ target }) => {
    moving.position.copy(vec(data.slide)).multiplyScalar(Number(target.value));
    read(Number(target.value));
    toggle();
    view.keep(moving);
  });
  // Show the result for a position of B, which Python computed.
  function read(share) {
    const answer = document.querySelector("#answer"), [head, status, rows] = data.readings[Math.round(share * (data.readings.length - 1))];
    Object.assign(answer.querySelector("h1"), { textContent: head, className: status });
    answer.querySelector("table").replaceChildren(...rows.map(([name, value]) => gjk3d.make("tr", {}, gjk3d.make("th", {}, name), gjk3d.make("td", {}, value))));
    element("slide").setAttribute("aria-valuetext", head);
  }
  element("reset").addEventListener("click", () => {
    for (const box of boxes) if (!box.checked) box.click();
    if (data.slide) element("slide").value = 0, moving.position.set(0, 0, 0), read(0), toggle();
    aim();
  });
  const aim = () => view.aim(vec(data.eye), vec(data.center), vec(data.up));

  // half-spaces first, since other bodies are above them, then bodies from far to near if sorted, then markers
  function far(entry) {
    if (entry.item.framed === false) return -1e9;
    if (!data.apart) return data.sorted ? 0 : -view.camera.position.distanceTo(entry.middle);
    const { a, b, normal } = data.apart, between = vec(a).add(vec(b)).add(moving.position).multiplyScalar(0.5);
    return Boolean(entry.item.moves) === vec(normal).dot(between.sub(view.camera.position)) <= 0 ? 1 : 0;
  }
  view.before = () => {
    const mark = (entry) => Number(entry.item.look === "mark");
    let rank = 0;
    for (const entry of [...groups].sort((one, two) => mark(one) - mark(two) || far(one) - far(two))) for (const mesh of entry.meshes) mesh.renderOrder = rank++;
  };

  // --- a motion -------------------------------------------------------------------------------------------------------
  let now = 0, put = () => {};
  const last = time ? time.length - 1 : 0;
  if (time) {
    const trail = new THREE.Line(points(numbers(data.trace, Float32Array)), new THREE.LineBasicMaterial(over)), sign = new THREE.MeshBasicMaterial(over);
    const balls = [0, 1].map(() => new THREE.Mesh(new THREE.SphereGeometry(0.011, 24, 16), sign)), gap = new THREE.Line(points(new Float32Array(6)), new THREE.LineBasicMaterial(over));
    [trail, gap, ...balls].forEach((mark, rank) => view.scene.add(Object.assign(mark, { renderOrder: 1e4 + rank, frustumCulled: false })));
    // with views of moments, the camera flies to the pair of a moment, and the others are faint
    const looks = time.some((told) => told.look);
    let seen = -1;
    function look(k) {
      const told = time[k], eye = vec(data.eye).sub(vec(data.center)), to = told.look || { center: data.center, far: eye.length(), direction: eye.normalize().toArray() };
      for (const { item, meshes } of groups) for (const { material, userData } of meshes) {
        const faint = Boolean(told.look) && !told.hit.includes(item.name);
        Object.assign(material, { transparent: faint || item.opacity < 1, opacity: faint ? (userData.edge ? 0.2 : 0.3) : item.opacity, depthWrite: !faint && item.opacity === 1 });
        material.needsUpdate = true;
      }
      if (k !== seen) view.fly(vec(to.center), to.far, vec(to.direction), vec(data.up), 500);
      seen = k;
    }
    put = (k, flies = true) => {
      now = k;
      element("at").value = k;
      const told = time[k], hit = new Set(told.hit);
      for (const entry of groups) {
        if (entry.frames) entry.group.matrix.fromArray(entry.frames, 16 * k);
        entry.group.matrixWorldNeedsUpdate = true;
        entry.group.visible = !entry.item.last || k === last;
        color(entry, hit.has(entry.item.name) ? data.colors.hit : entry.item.color);
      }
      trail.geometry.setDrawRange(0, k + 1);
      trail.material.color.copy(tint(data.colors.trail, dark.matches ? 2 : 1));
      for (const mark of [gap, ...balls]) mark.visible = Boolean(told.ends);
      (told.ends || []).forEach((end, i) => {
        balls[i].position.set(...end);
        gap.geometry.attributes.position.setXYZ(i, ...end);
      });
      gap.geometry.attributes.position.needsUpdate = true;
      for (const material of [sign, gap.material]) material.color.copy(hit.size ? tint(data.colors.hit, 0.4) : tone(data.colors.ink));
      element("state").textContent = told.words;
      element("state").className = hit.size ? "hit" : "";
      if (looks && view.controls && flies) look(k);
      state.at = k;
      view.touched = true;
    };
    // the last picture stays for a while before the loop restarts
    const player = gjk3d.player(element("run"), element("at"), put, (since) => (since < (now === last ? 1500 : 1000 / data.fps) ? undefined : now === last ? 0 : now + 1));
    const step = (by) => player.stopped(() => put(Math.min(last, Math.max(0, now + by))));
    gjk3d.keys({ ArrowRight: step(1), ArrowLeft: step(-1), Home: step(-Infinity), End: step(Infinity), " ": player.toggle });
    const wish = () => {
      const found = /^#(\d+)$/.exec(window.location.hash);
      if (found) player.stopped(() => put(Math.min(last, Number(found[1]))))();
    };
    window.addEventListener("hashchange", wish);
    put(0);
    player.play(data.running && !calm.matches);
    wish();
  }
  dark.addEventListener("change", paint);
  gjk3d.picture = { view, groups, moving, color, tone, over };
  aim();
  toggle();
  paint();
  gjk3d.start();
})();
