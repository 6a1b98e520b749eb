(function () {
  const data = JSON.parse(document.getElementById("scene").textContent);
  const element = (id) => document.getElementById(id);
  const { numbers, points, surface, tint } = gjk3dStage;
  const stage = gjk3dStage.open(data, "; the numbers are beside", ["controls"]);
  if (!stage) return;
  const { scene, camera } = stage;

  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const inks = [];
  function ink(light, night) {
    const material = new THREE.MeshLambertMaterial({ transparent: true, depthTest: false, depthWrite: false });
    inks.push([material, light, night]);
    return material;
  }
  function paint() {
    for (const [material, light, night] of inks) material.color.set(dark.matches ? night : light).convertSRGBToLinear();
    stage.touched = true;
  }

  const groups = [new THREE.Group(), new THREE.Group()];
  const hulls = [[], []], models = [[], []];

  function outline(mesh, color, opacity) {
    const material = new THREE.LineBasicMaterial({ color: tint(color, 0.3), transparent: opacity < 1, opacity });
    return new THREE.LineSegments(points(numbers(mesh.edges, Float32Array)), material);
  }
  function rod(from, to, radius, material) {
    const along = to.clone().sub(from);
    const mesh = new THREE.Mesh(new THREE.CylinderGeometry(radius, radius, along.length() || 1e-9, 24), material);
    mesh.position.copy(from).addScaledVector(along, 0.5);
    mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), along.normalize());
    return mesh;
  }
  function ball(at, radius, material) {
    const mesh = new THREE.Mesh(new THREE.SphereGeometry(radius, 32, 20), material);
    mesh.position.copy(at);
    return mesh;
  }

  data.bodies.forEach((body, which) => {
    const color = tint(body.color);
    if (body.hull.indices) {
      const geometry = surface(body.hull);
      const wrapped = Boolean(body.model);
      const opacity = wrapped ? 0.22 : body.plate ? 0.3 : 0.55;
      // the far side first and the near side over it: a convex body then blends in the right order
      [THREE.BackSide, THREE.FrontSide].forEach((side, pass) => {
        const material = new THREE.MeshPhongMaterial({
          color, side, opacity, transparent: true, depthWrite: false, shininess: 20, specular: 0x111111,
        });
        const mesh = new THREE.Mesh(geometry, material);
        mesh.userData.pass = pass;
        hulls[which].push(mesh);
      });
      hulls[which].push(outline(body.hull, body.color, wrapped ? 0.45 : 0.9));
    } else {
      const ends = numbers(body.hull.positions, Float32Array);
      const corners = [0, ends.length - 3].map((i) => new THREE.Vector3(ends[i], ends[i + 1], ends[i + 2]));
      const material = new THREE.MeshPhongMaterial({ color });
      hulls[which].push(ends.length > 3 ? rod(corners[0], corners[1], 0.012, material) : ball(corners[0], 0.018, material));
    }
    if (body.model) {
      const material = new THREE.MeshPhongMaterial({
        color, side: THREE.DoubleSide, shininess: 20, specular: 0x111111, polygonOffset: true, polygonOffsetFactor: 1,
        polygonOffsetUnits: 1,
      });
      models[which].push(new THREE.Mesh(surface(body.model), material));
      models[which].push(outline(body.model, body.color, 0.9));
    }
    groups[which].add(...hulls[which], ...models[which]);
    scene.add(groups[which]);
  });

  const marks = new THREE.Group();
  const moving = new THREE.Group();
  const a = new THREE.Vector3(...data.a), b = new THREE.Vector3(...data.b), normal = new THREE.Vector3(...data.normal);
  const gap = a.distanceTo(b);
  function arrow(from, length, thickness, material) {
    const group = new THREE.Group();
    const head = Math.min(6 * thickness, 0.5 * length);
    const neck = from.clone().addScaledVector(normal, length - head);
    group.add(rod(from, neck, thickness, material));
    const tip = new THREE.Mesh(new THREE.ConeGeometry(2.3 * thickness, head, 32), material);
    tip.position.copy(neck).addScaledVector(normal, head / 2);
    tip.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), normal);
    group.add(tip);
    return group;
  }
  const radius = Math.min(0.022, Math.max(0.2 * gap, 0.012));
  const start = data.distance <= 0 || gap < 0.6 ? a.clone() : a.clone().add(b).multiplyScalar(0.5).addScaledVector(normal, -0.17);
  marks.add(arrow(start, 0.34, 0.009, ink("#0072b2", "#56b4e9")));
  if (data.distance < 0) marks.add(arrow(b, -data.distance, Math.min(0.014, 0.2 * -data.distance), ink("#d55e00", "#ff8a3d")));
  marks.add(ball(a, radius, ink("#734f00", "#ffd37a")));
  moving.add(ball(b, radius, ink("#004f39", "#7fe3c4")));
  marks.traverse((mesh) => { mesh.renderOrder = 10; });
  if (data.distance > 0 && gap > 0) {
    const line = rod(a, b, 0.005, ink("#202124", "#e8eaed"));
    line.renderOrder = 9;
    marks.add(line);
  }
  moving.traverse((mesh) => { mesh.renderOrder = 11; });
  groups[1].add(moving);
  scene.add(marks);

  function toggle() {
    groups[0].visible = element("show-a").checked;
    groups[1].visible = element("show-b").checked;
    for (const which of [0, 1]) {
      for (const mesh of hulls[which]) mesh.visible = element("show-hulls").checked;
      for (const mesh of models[which]) mesh.visible = element("show-models").checked;
    }
    marks.visible = moving.visible = element("show-marks").checked;
    groups[1].position.copy(normal).multiplyScalar(-data.distance * Number(element("slide").value));
    stage.touched = true;
  }
  const hasModels = data.bodies.some((body) => body.model);
  element("label-hulls").hidden = element("label-models").hidden = !hasModels;
  element("label-slide").hidden = data.distance === 0;
  for (const id of ["show-a", "show-b", "show-hulls", "show-models", "show-marks", "slide"])
    element(id).addEventListener("input", toggle);
  element("reset").addEventListener("click", () => {
    element("slide").value = 0;
    toggle();
    stage.reset();
  });
  dark.addEventListener("change", paint);

  const between = new THREE.Vector3();
  function before() {
    // from far to near: the plane between the two, across the normal, has the farther one behind it
    between.copy(a).add(b).add(groups[1].position).multiplyScalar(0.5);
    const first = normal.dot(between.sub(camera.position)) <= 0 ? 0 : 1;
    hulls.forEach((meshes, which) => {
      const order = which === first ? 0 : 2;
      for (const mesh of meshes) mesh.renderOrder = order + (mesh.userData.pass || 0);
    });
  }
  paint();
  toggle();
  stage.start({ before });
})();
