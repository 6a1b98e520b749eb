(function () {
  const data = JSON.parse(document.getElementById("scene").textContent);
  const element = (id) => document.getElementById(id);
  const { numbers, points, surface, tint } = gjk3dStage;
  const stage = gjk3dStage.open(data, "", ["reset"]);
  if (!stage) return;
  const { view, scene, camera } = stage;

  const groups = [];
  const shown = new Set(data.keys);

  const at = (item, name) => points(numbers(item[name], Float32Array));
  function parts(item) {
    const glass = item.opacity < 1;
    const paint = { color: tint(item.color), shininess: 20, specular: 0x111111 };
    if (item.look === "lines") {
      const material = new THREE.LineBasicMaterial({ color: tint(item.color), transparent: glass, opacity: item.opacity });
      return [new THREE.LineSegments(at(item, "positions"), material)];
    }
    if (item.look === "dots") {
      const size = item.width, sizeAttenuation = false;
      const material = new THREE.PointsMaterial({ color: tint(item.color), size, sizeAttenuation });
      return [new THREE.Points(at(item, "positions"), material)];
    }
    const geometry = surface(item);
    if (item.look === "mark") {
      const material = new THREE.MeshLambertMaterial({ color: tint(item.color), transparent: true, depthTest: false, depthWrite: false });
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
      const material = new THREE.LineBasicMaterial({ color: tint(item.color, 0.3), transparent: glass, opacity });
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

  function toggle(event) {
    const color = event.target.value;
    if (event.target.checked) shown.add(color);
    else shown.delete(color);
    for (const { item, group } of groups) group.visible = !data.keys.includes(item.color) || shown.has(item.color);
    stage.touched = true;
  }
  for (const box of element("keys").querySelectorAll("input")) box.addEventListener("input", toggle);
  element("reset").addEventListener("click", () => {
    for (const box of element("keys").querySelectorAll("input")) if (!box.checked) box.click();
    stage.reset();
  });

  // a half-space first, for the rest stands on it; then from far to near; signs over all
  function order(entry) {
    if (entry.item.look === "mark") return 1e9;
    if (!entry.item.framed) return -1e9;
    return -camera.position.distanceTo(entry.middle);
  }
  const place = new THREE.Vector3();
  function before() {
    const sorted = data.sorted ? groups : [...groups].sort((a, b) => order(a) - order(b));
    let rank = 0;
    for (const look of ["", "mark"])
      for (const entry of sorted)
        if ((entry.item.look === "mark") === (look === "mark"))
          for (const mesh of entry.meshes) mesh.renderOrder = rank++;
  }
  function after() {
    const width = view.clientWidth, height = view.clientHeight;
    for (const { span, point } of labels) {
      place.copy(point).project(camera);
      span.hidden = place.z > 1;
      span.style.transform = `translate(${(place.x + 1) * 0.5 * width}px, ${(1 - place.y) * 0.5 * height}px) translate(-50%, -110%)`;
    }
  }
  stage.start({ before, after });
})();
