(function () {
  const data = JSON.parse(document.getElementById("scene").textContent);
  const element = (id) => document.getElementById(id);
  const slider = element("at"), last = data.states.length - 1;
  const { numbers, points, surface, tint } = gjk3dStage;
  const stage = gjk3dStage.open(data, "", ["reset", "play"]);
  if (!stage) return;
  const { scene } = stage;

  const bodies = data.bodies.map((body) => {
    const geometry = surface(body);
    const glass = body.opacity < 1;
    const face = new THREE.MeshPhongMaterial({
      shininess: 20, specular: 0x111111, side: THREE.DoubleSide, polygonOffset: true, polygonOffsetFactor: 1,
      polygonOffsetUnits: 1, transparent: glass, opacity: body.opacity, depthWrite: !glass,
    });
    const edge = new THREE.LineBasicMaterial();
    const group = new THREE.Group();
    group.add(new THREE.Mesh(geometry, face));
    if (body.edges) group.add(new THREE.LineSegments(points(numbers(body.edges, Float32Array)), edge));
    group.matrixAutoUpdate = false;
    scene.add(group);
    return { ...body, group, face, edge, frames: body.frames && numbers(body.frames, Float32Array) };
  });

  const over = { depthTest: false, depthWrite: false, transparent: true };
  const trail = new THREE.Line(points(numbers(data.trace, Float32Array)), new THREE.LineBasicMaterial(over));
  const sign = new THREE.MeshBasicMaterial(over), joint = new THREE.LineBasicMaterial(over);
  const balls = [0, 1].map(() => new THREE.Mesh(new THREE.SphereGeometry(1, 24, 16), sign));
  const gap = new THREE.Line(points(new Float32Array(6)), joint);
  for (const [rank, mark] of [trail, gap, ...balls].entries()) {
    mark.renderOrder = 10 + rank;
    mark.frustumCulled = false;
    scene.add(mark);
  }

  let running = !window.matchMedia("(prefers-reduced-motion: reduce)").matches, at = 0;
  function put(k) {
    at = k;
    slider.value = k;
    const state = data.states[k], hit = new Set(state.hit);
    for (const body of bodies) {
      if (body.frames) body.group.matrix.fromArray(body.frames, 16 * k);
      body.group.matrixWorldNeedsUpdate = true;
      const now = hit.has(body.name) ? data.colors.hit : body.color;
      body.face.color.copy(tint(now));
      body.edge.color.copy(tint(now, 0.3));
    }
    trail.geometry.setDrawRange(0, k + 1);
    trail.material.color.copy(tint(hit.size ? data.colors.hit : data.colors.free));
    for (const mark of [gap, ...balls]) mark.visible = Boolean(state.ends);
    if (state.ends) {
      state.ends.forEach((end, i) => {
        balls[i].position.set(...end);
        balls[i].scale.setScalar(0.011);
        gap.geometry.attributes.position.setXYZ(i, ...end);
      });
      gap.geometry.attributes.position.needsUpdate = true;
      const ink = tint(hit.size ? data.colors.hit : data.colors.ink, hit.size ? 0.4 : 1);
      sign.color.copy(ink);
      joint.color.copy(ink);
    }
    element("state").textContent = state.words;
    element("state").className = hit.size ? "hit" : "";
    document.documentElement.dataset.at = k;
    stage.touched = true;
  }
  function run(on) {
    running = on;
    element("run").textContent = on ? "pause" : "play";
  }

  element("reset").addEventListener("click", stage.reset);
  element("run").addEventListener("click", () => run(!running));
  slider.addEventListener("input", () => { run(false); put(Number(slider.value)); });
  document.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by || event.target === slider) return;
    run(false);
    put(Math.min(last, Math.max(0, at + by)));
  });

  let before = performance.now();
  function tick(now) {
    // the last one stays for a while, then it begins again
    if (running && now - before >= (at === last ? 1500 : 1000 / data.fps)) {
      before = now;
      put(at === last ? 0 : at + 1);
    }
  }
  const wish = /^#(\d+)$/.exec(location.hash);
  if (wish) run(false);
  else run(running);
  put(wish ? Math.min(last, Number(wish[1])) : 0);
  stage.start({ tick });
})();
