// The interference of a finding: the common volume, the intersection curve, and the contact patches of parts that touch.
let clashCommon = null;
gjk3d.later(function () {
  if (!clashStage) return;
  const { data, css, tint, points: at } = gjk3d, { scene, matrixOf, shapeOf, dirty } = clashStage, MOST = 4e6;
  const volume = new THREE.MeshPhongMaterial({ side: THREE.DoubleSide, transparent: true, opacity: 0.9, flatShading: true, shininess: 20, specular: 0x111111 });
  const patch = new THREE.MeshBasicMaterial({ side: THREE.DoubleSide, transparent: true, opacity: 0.85, depthTest: false, depthWrite: false });
  const line = new THREE.LineBasicMaterial({ transparent: true, depthTest: false });
  const group = new THREE.Group();
  scene.add(group);
  let row = null, words = [];
  function paint() {
    for (const material of [volume, patch]) material.color.copy(tint(css("--common")));
    line.color.copy(tint(css("--ink")));
  }

  // --- contact patches: the common parts of opposite triangles on one plane ---------------------------------------------
  function trianglesIn(part, box) {
    const { points, indices } = shapeOf(part), matrix = matrixOf(part), made = [];
    for (let i = 0; i < indices.length; i += 3) {
      const corners = [0, 1, 2].map((k) => new THREE.Vector3().fromArray(points, 3 * indices[i + k]).applyMatrix4(matrix));
      if (!box.intersectsBox(new THREE.Box3().setFromPoints(corners))) continue;
      const normal = corners[1].clone().sub(corners[0]).cross(corners[2].clone().sub(corners[0]));
      if (normal.lengthSq() > 0) made.push({ corners, normal: normal.normalize() });
    }
    return made;
  }
  function clipped(corners, { corners: edges, normal }) { // Sutherland and Hodgman: cut by the planes through the edges
    return edges.reduce((kept, from, k) => {
      const inward = normal.clone().cross(edges[(k + 1) % 3].clone().sub(from)), side = (p) => inward.dot(p.clone().sub(from)), made = [];
      kept.forEach((p, i) => {
        const q = kept[(i + 1) % kept.length], s = side(p), t = side(q);
        if (s >= 0) made.push(p);
        if (s * t < 0) made.push(p.clone().lerp(q, s / (s - t)));
      });
      return made;
    }, corners);
  }
  function patches(a, b, slack) {
    const box = (part) => new THREE.Box3(...part.box.map((corner) => new THREE.Vector3(...corner))).expandByScalar(slack);
    const both = box(a).intersect(box(b)), [ours, theirs] = [a, b].map((part) => trianglesIn(part, both)), made = [];
    if (ours.length * theirs.length > MOST) return made;
    for (const one of ours) for (const two of theirs) {
      if (one.normal.dot(two.normal) > -0.9995 || two.corners.some((p) => Math.abs(one.normal.dot(p) - one.normal.dot(one.corners[0])) > slack)) continue;
      const cut = clipped(two.corners, one);
      for (let k = 2; k < cut.length; k++) made.push(...cut[0].toArray(), ...cut[k - 1].toArray(), ...cut[k].toArray());
    }
    return made;
  }

  // --- the finding ------------------------------------------------------------------------------------------------------
  function add(item, order) {
    item.renderOrder = order;
    group.add(item);
  }
  async function show(chosen) {
    row = chosen;
    words = [];
    for (const { geometry } of group.children) geometry.dispose();
    group.clear();
    const both = row ? [row.a, row.b].map((index) => data.parts[index]) : [];
    if (row?.kind === "touch" && both.every((part) => part?.shape >= 0)) {
      const made = patches(...both, 3e-6 + 1.5 * Math.abs(row.distance || 0) / data.size); // the positions are in single precision
      if (made.length && words.push("contact patch")) add(new THREE.Mesh(at(Float32Array.from(made)), patch), 6);
    }
    const common = row && (await clashRows.fetchCommon(row.index).catch(clashRows.complain));
    if (!common || row !== chosen) return dirty();
    if (common.indices.length && words.push("overlap volume")) {
      const solid = new THREE.Mesh(at(common.points).setIndex(new THREE.BufferAttribute(common.indices, 1)), volume);
      solid.onBeforeRender = (renderer) => { // it is inside of both parts, so it is drawn over them
        renderer.state.buffers.depth.setMask(true);
        renderer.clearDepth();
      };
      add(solid, 6);
    }
    if (common.curve.length && words.push("intersection curve")) add(new THREE.LineSegments(at(common.curve), line), 7);
    dirty();
  }
  paint();
  gjk3d.dark.addEventListener("change", paint);
  clashCommon = { show, group, get words() { return words; } };
});
