"use strict";
(function () {
  const data = JSON.parse(document.getElementById("scene").textContent);
  const element = (id) => document.getElementById(id);
  const view = element("view"), slider = element("at"), last = data.states.length - 1;

  function numbers(text, Kind) {
    const raw = atob(text);
    const bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return new Kind(bytes.buffer);
  }

  let renderer;
  try {
    renderer = new THREE.WebGLRenderer({ antialias: true, alpha: true });
  } catch (error) {
    element("trouble").textContent = "This browser cannot draw in 3D here (no WebGL).";
    element("trouble").hidden = false;
    element("reset").hidden = element("play").hidden = true;
    document.documentElement.dataset.state = "no-webgl";
    return;
  }
  renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2));
  renderer.outputEncoding = THREE.sRGBEncoding;
  view.prepend(renderer.domElement);

  const scene = new THREE.Scene();
  const camera = new THREE.PerspectiveCamera(data.angle, 1, 0.01, 1000);
  scene.add(camera);
  scene.add(new THREE.HemisphereLight(0xffffff, 0xb9c2cc, 0.62));
  for (const [x, y, z, power] of [[-0.55, 0.7, 0.6, 0.55], [0.8, 0.15, 0.5, 0.25]]) {
    const light = new THREE.DirectionalLight(0xffffff, power);
    light.position.set(x, y, z);
    camera.add(light);
    camera.add(light.target);
  }
  const tint = (text, by) => new THREE.Color(text).convertSRGBToLinear().multiplyScalar(by);
  function points(array) {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(array, 3));
    return geometry;
  }

  const bodies = data.bodies.map((body) => {
    const geometry = points(numbers(body.positions, Float32Array));
    geometry.setAttribute("normal", new THREE.BufferAttribute(numbers(body.normals, Float32Array), 3));
    geometry.setIndex(new THREE.BufferAttribute(numbers(body.indices, Uint32Array), 1));
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

  let touched = true, running = !window.matchMedia("(prefers-reduced-motion: reduce)").matches, at = 0;
  function put(k) {
    at = k;
    slider.value = k;
    const state = data.states[k], hit = new Set(state.hit);
    for (const body of bodies) {
      if (body.frames) body.group.matrix.fromArray(body.frames, 16 * k);
      body.group.matrixWorldNeedsUpdate = true;
      const now = hit.has(body.name) ? data.colors.hit : body.color;
      body.face.color.copy(tint(now, 1));
      body.edge.color.copy(tint(now, 0.3));
    }
    trail.geometry.setDrawRange(0, k + 1);
    trail.material.color.copy(tint(hit.size ? data.colors.hit : data.colors.free, 1));
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
    touched = true;
  }
  function run(on) {
    running = on;
    element("run").textContent = on ? "pause" : "play";
  }

  let controls;
  function reset() {
    if (controls) controls.dispose();
    camera.position.set(...data.eye);
    camera.up.set(...data.up);
    controls = new THREE.TrackballControls(camera, renderer.domElement);
    controls.target.set(...data.center);
    controls.rotateSpeed = 2.6;
    controls.zoomSpeed = 1.3;
    controls.panSpeed = 0.6;
    controls.addEventListener("change", () => { touched = true; });
    resize();
  }
  function resize() {
    const width = view.clientWidth, height = view.clientHeight;
    renderer.setSize(width, height);
    camera.aspect = width / Math.max(height, 1);
    // the picture was laid out for 4:3; a narrower window sees it from farther off
    const half = Math.tan((data.angle * Math.PI) / 360) * Math.max(1, 4 / 3 / camera.aspect);
    camera.fov = (Math.atan(half) * 360) / Math.PI;
    camera.updateProjectionMatrix();
    if (controls) controls.handleResize();
    touched = true;
  }

  element("reset").addEventListener("click", reset);
  element("run").addEventListener("click", () => run(!running));
  slider.addEventListener("input", () => { run(false); put(Number(slider.value)); });
  document.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by || event.target === slider) return;
    run(false);
    put(Math.min(last, Math.max(0, at + by)));
  });
  new ResizeObserver(resize).observe(view);

  let before = performance.now();
  function frame(now) {
    requestAnimationFrame(frame);
    // the last one stays for a while, then it begins again
    if (running && now - before >= (at === last ? 1500 : 1000 / data.fps)) {
      before = now;
      put(at === last ? 0 : at + 1);
    }
    controls.update();
    if (!touched) return;
    touched = false;
    const distance = camera.position.distanceTo(controls.target);
    camera.near = Math.max(distance / 1000, distance - data.reach);
    camera.far = distance + 4 * data.reach;
    camera.updateProjectionMatrix();
    renderer.render(scene, camera);
    document.documentElement.dataset.state = "drawn";
  }
  const wish = /^#(\d+)$/.exec(location.hash);
  if (wish) run(false);
  else run(running);
  put(wish ? Math.min(last, Number(wish[1])) : 0);
  reset();
  frame(before);
})();
