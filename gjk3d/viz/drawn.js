"use strict";
(function () {
  const data = JSON.parse(document.getElementById("scene").textContent);
  const element = (id) => document.getElementById(id);
  const view = element("view");

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
    element("reset").hidden = true;
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

  const groups = [];
  const shown = new Set(data.keys);
  let touched = true;

  function at(mesh, name, kind) {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(numbers(mesh[name], Float32Array), 3));
    if (kind === "solid") {
      geometry.setAttribute("normal", new THREE.BufferAttribute(numbers(mesh.normals, Float32Array), 3));
      geometry.setIndex(new THREE.BufferAttribute(numbers(mesh.indices, Uint32Array), 1));
    }
    return geometry;
  }
  function color(text, by) {
    return new THREE.Color(text).convertSRGBToLinear().multiplyScalar(by);
  }

  function parts(item) {
    const glass = item.opacity < 1;
    const paint = { color: color(item.color, 1), shininess: 20, specular: 0x111111 };
    if (item.look === "lines") {
      const material = new THREE.LineBasicMaterial({ color: color(item.color, 1), transparent: glass, opacity: item.opacity });
      return [new THREE.LineSegments(at(item, "positions"), material)];
    }
    if (item.look === "dots") {
      const size = item.width, sizeAttenuation = false;
      const material = new THREE.PointsMaterial({ color: color(item.color, 1), size, sizeAttenuation });
      return [new THREE.Points(at(item, "positions"), material)];
    }
    const geometry = at(item, "positions", "solid");
    if (item.look === "mark") {
      const material = new THREE.MeshLambertMaterial({ color: color(item.color, 1), transparent: true, depthTest: false, depthWrite: false });
      return [new THREE.Mesh(geometry, material)];
    }
    const meshes = [];
    if (glass) {
      // the far side first and the near side over it: a convex body then blends in the right order
      for (const side of [THREE.BackSide, THREE.FrontSide])
        meshes.push(new THREE.Mesh(geometry, new THREE.MeshPhongMaterial({ ...paint, side, opacity: item.opacity, transparent: true, depthWrite: false })));
    } else {
      const offset = { polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 };
      meshes.push(new THREE.Mesh(geometry, new THREE.MeshPhongMaterial({ ...paint, ...offset, side: THREE.DoubleSide })));
    }
    if (item.edges) {
      const opacity = item.opacity < 0.4 ? Math.max(item.opacity, 0.25) : 1;
      const material = new THREE.LineBasicMaterial({ color: color(item.color, 0.3), transparent: glass, opacity });
      meshes.push(new THREE.LineSegments(at(item, "edges"), material));
    }
    return meshes;
  }

  for (const item of data.items) {
    const group = new THREE.Group();
    const meshes = parts(item);
    group.add(...meshes);
    scene.add(group);
    groups.push({ item, group, meshes, middle: new THREE.Vector3(...item.middle) });
  }
  const labels = data.labels.map((label) => {
    const span = document.createElement("span");
    span.textContent = label.text;
    element("labels").appendChild(span);
    return { span, point: new THREE.Vector3(...label.point) };
  });

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
  function toggle(event) {
    const tint = event.target.value;
    if (event.target.checked) shown.add(tint);
    else shown.delete(tint);
    for (const { item, group } of groups) group.visible = !data.keys.includes(item.color) || shown.has(item.color);
    touched = true;
  }
  for (const box of element("keys").querySelectorAll("input")) box.addEventListener("input", toggle);
  element("reset").addEventListener("click", () => {
    for (const box of element("keys").querySelectorAll("input")) if (!box.checked) box.click();
    reset();
  });
  new ResizeObserver(resize).observe(view);

  // a half-space first, for the rest stands on it; then from far to near; signs over all
  function order(entry) {
    if (entry.item.look === "mark") return 1e9;
    if (!entry.item.framed) return -1e9;
    return -camera.position.distanceTo(entry.middle);
  }
  const place = new THREE.Vector3();
  function frame() {
    requestAnimationFrame(frame);
    controls.update();
    if (!touched) return;
    touched = false;
    const distance = camera.position.distanceTo(controls.target);
    camera.near = Math.max(distance / 1000, distance - data.reach);
    camera.far = distance + 4 * data.reach;
    camera.updateProjectionMatrix();
    const sorted = data.sorted ? groups : [...groups].sort((a, b) => order(a) - order(b));
    let rank = 0;
    for (const look of ["", "mark"])
      for (const entry of sorted)
        if ((entry.item.look === "mark") === (look === "mark"))
          for (const mesh of entry.meshes) mesh.renderOrder = rank++;
    renderer.render(scene, camera);
    const width = view.clientWidth, height = view.clientHeight;
    for (const { span, point } of labels) {
      place.copy(point).project(camera);
      span.hidden = place.z > 1;
      span.style.transform = `translate(${(place.x + 1) * 0.5 * width}px, ${(1 - place.y) * 0.5 * height}px) translate(-50%, -110%)`;
    }
    document.documentElement.dataset.state = "drawn";
  }
  reset();
  frame();
})();
