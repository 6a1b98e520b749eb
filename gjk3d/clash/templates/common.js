// The interference of a finding: the common volume, the intersection curve, and the contact patches and lines of a touch.
let clashCommon = null;
gjk3d.later(function () {
  if (!clashStage) return;
  const { data, css, tint, points: at } = gjk3d, { scene, matrixOf, shapeOf, dirty } = clashStage, MOST = 2e7;
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

  // --- contact: the common parts of opposite triangles on one plane, and the pieces of edges on the other surface --------
  function trianglesIn(part, box) {
    const { points, indices } = shapeOf(part), matrix = matrixOf(part), made = [];
    for (let i = 0; i < indices.length; i += 3) {
      const corners = [0, 1, 2].map((k) => new THREE.Vector3().fromArray(points, 3 * indices[i + k]).applyMatrix4(matrix));
      const own = new THREE.Box3().setFromPoints(corners);
      if (!box.intersectsBox(own)) continue;
      const normal = corners[1].clone().sub(corners[0]).cross(corners[2].clone().sub(corners[0]));
      if (normal.lengthSq() > 0) made.push({ corners, normal: normal.normalize(), box: own });
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
  // The pieces of the edges of a triangle that are on another triangle, within the slack.
  function edgesOn({ corners }, { corners: base, normal }, slack) {
    const planes = [[normal, slack], [normal.clone().negate(), slack], ...base.map((from, k) => [base[(k + 1) % 3].clone().sub(from).cross(normal).normalize(), slack, from])];
    return corners.flatMap((p, k) => {
      const q = corners[(k + 1) % 3];
      let first = 0, last = 1;
      for (const [out, room, from = base[0]] of planes) {
        const s = out.dot(p.clone().sub(from)) - room, t = out.dot(q.clone().sub(from)) - room;
        if (s > 0 && t > 0) return [];
        if (s > 0) first = Math.max(first, s / (s - t));
        if (t > 0) last = Math.min(last, s / (s - t));
      }
      return first < last ? [[p.clone().lerp(q, first), p.clone().lerp(q, last)]] : [];
    });
  }
  // The pairs of triangles whose boxes are closer than the slack, found by a sweep along the longest axis.
  function * nearPairs(ours, theirs, both, slack) {
    const size = both.getSize(new THREE.Vector3()), axis = ["x", "y", "z"].reduce((i, j) => (size[j] > size[i] ? j : i)), sorted = theirs.sort((i, j) => i.box.min[axis] - j.box.min[axis]);
    const longest = sorted.reduce((most, { box }) => Math.max(most, box.max[axis] - box.min[axis]), 0);
    let left = MOST;
    for (const one of ours) {
      const box = one.box.clone().expandByScalar(slack);
      let low = 0, high = sorted.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (sorted[middle].box.min[axis] < box.min[axis] - longest) low = middle + 1;
        else high = middle;
      }
      for (let k = low; k < sorted.length && sorted[k].box.min[axis] <= box.max[axis]; k++) {
        if (left-- === 0) return;
        if (box.intersectsBox(sorted[k].box)) yield [one, sorted[k]];
      }
    }
  }
  function contact(a, b, slack, least) {
    const box = (part) => new THREE.Box3(...part.box.map((corner) => new THREE.Vector3(...corner))).expandByScalar(slack);
    const both = box(a).intersect(box(b)), patches = [], lines = [], covered = new Set();
    for (const [one, two] of nearPairs(trianglesIn(a, both), trianglesIn(b, both), both, slack)) {
      const opposite = one.normal.dot(two.normal) < -0.9995 && two.corners.every((p) => Math.abs(one.normal.dot(p) - one.normal.dot(one.corners[0])) <= slack);
      const cut = opposite ? clipped(two.corners, one) : [], fan = cut.slice(2).map((p, k) => new THREE.Triangle(cut[0], cut[k + 1], p));
      if (fan.reduce((sum, triangle) => sum + triangle.getArea(), 0) > slack * least) {
        for (const { a, b, c } of fan) patches.push(...a.toArray(), ...b.toArray(), ...c.toArray());
        covered.add(one).add(two);
      } else for (const [p, q] of [...edgesOn(one, two, slack), ...edgesOn(two, one, slack)]) if (p.distanceTo(q) > least) lines.push([p, q, one, two]);
    }
    return { patches, lines: lines.filter(([, , one, two]) => !(covered.has(one) && covered.has(two))) }; // not inside of a patch
  }
  // Lines are drawn as rods, because browsers draw lines with a width of one pixel.
  function rods(lines, radius) {
    const up = new THREE.Vector3(0, 1, 0), rod = new THREE.InstancedMesh(new THREE.CylinderGeometry(1, 1, 1, 6), patch, lines.length);
    lines.forEach(([p, q], k) => {
      const way = q.clone().sub(p), turn = new THREE.Quaternion().setFromUnitVectors(up, way.clone().normalize());
      rod.setMatrixAt(k, new THREE.Matrix4().compose(p.clone().add(q).multiplyScalar(0.5), turn, new THREE.Vector3(radius, way.length(), radius)));
    });
    rod.frustumCulled = false;
    return rod;
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
      const slack = 3e-6 + (1.5 * Math.abs(row.distance || 0)) / data.size, { radius } = clashView.frame(); // the positions are in single precision
      const { patches, lines } = contact(...both, slack, Math.max(20 * slack, 0.02 * radius)); // shorter lines are points
      if (patches.length) add(new THREE.Mesh(at(Float32Array.from(patches)), patch), 6);
      if (lines.length) add(rods(lines, 0.006 * radius), 6);
      words.push(patches.length ? "contact patch" : lines.length ? "contact line" : "dot: contact point");
    }
    const common = row && (await clashRows.fetchCommon(row.index).catch(clashRows.complain));
    if (!common || row !== chosen) return dirty();
    if (common.indices.length && words.push("overlap volume")) {
      const solid = new THREE.Mesh(at(common.points).setIndex(new THREE.BufferAttribute(common.indices, 1)), volume);
      solid.onBeforeRender = (renderer) => { // the volume is inside of both parts, so it is drawn over them
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
