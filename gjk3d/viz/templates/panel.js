// One of the two views: bodies, and the pieces of a step, which are removed, added and moved.
const gjk3dPanel = (function () {
  const { data, dark, vec, tint, points, between } = gjk3d;
  const { add, scale, unit } = gjk3dVectors, { support } = gjk3dSupport;
  const paint = (role, part) => (dark.matches ? data.colors[role].dark : data.colors[role][part || "light"]);

  // A mesh of support points, whose normals are the support directions, so that the shading is exact for any shape.
  const ball = new THREE.IcosahedronGeometry(1, 16).attributes.position;
  function spanned(mapping) {
    const geometry = points(new Float32Array(3 * ball.count)), kept = new Map();
    for (let i = 0; i < ball.count; i++) {
      const d = unit([ball.getX(i), ball.getY(i), ball.getZ(i)]), key = d.map((x) => x.toFixed(5)).join();
      if (!kept.has(key)) kept.set(key, mapping(d));
      geometry.attributes.position.setXYZ(i, ...kept.get(key));
    }
    geometry.setAttribute("normal", ball.clone());
    return geometry;
  }
  const grown = (one, d) => add(support(one, d), scale(one.radius, d));

  const lerp = (p, q, t) => p.map((x, k) => x + t * (q[k] - x));
  // a piece at t from nothing (0), or from its previous state, to its state (1)
  function part(one, t, from) {
    if (t >= 1) return one;
    if (from) return { ...one, points: one.points.map((p, i) => lerp(from.points[i], p, t)) };
    const middle = scale(1 / one.points.length, one.points.reduce(add)), grow = { ...one, opacity: one.opacity * t };
    if (one.kind === "face") return { ...grow, points: one.points.map((p) => lerp(middle, p, 0.4 + 0.6 * t)) };
    if (one.kind === "rod" || one.kind === "arrow") return { ...grow, points: [one.points[0], lerp(one.points[0], one.points[1], Math.max(t, 0.02))] };
    return { ...grow, size: one.size * t };
  }
  const MARGIN = 1.1; // free space around the bodies
  // `view` has the middle and the unit of the picture.
  class Panel extends gjk3d.View {
    constructor(box, view, count = 2) {
      super(box, 16, 0.66, [0.45, 0.2]);
      Object.assign(this, { view: { ...view }, bodies: Array.from({ length: count }, () => new THREE.Group()), items: new Map(), changes: [], tips: [], reach: 40, head: box.querySelector("figcaption") });
      this.scene.add(...this.bodies);
    }
    color(role, shade) { return tint(paint(role, shade)); }
    // a transparent body whose outline is darker and denser
    glass(geometry, role, opacity, edges) {
      const made = [THREE.BackSide, THREE.FrontSide].map((side, pass) => {
        const material = new THREE.MeshLambertMaterial({ color: this.color(role), side, opacity, transparent: true, depthWrite: false });
        material.onBeforeCompile = (shader) => {
          shader.vertexShader = shader.vertexShader.replace("void main() {", "varying vec3 gAt; varying vec3 gUp; void main() {").replace("#include <project_vertex>", "#include <project_vertex>\ngAt = -mvPosition.xyz; gUp = normalMatrix * normal;");
          shader.fragmentShader = shader.fragmentShader.replace("void main() {", "varying vec3 gAt; varying vec3 gUp; void main() {").replace("#include <output_fragment>",
            `float rim = ${edges ? "0.0" : "pow(1.0 - abs(dot(normalize(gAt), normalize(gUp))), 5.0)"}; outgoingLight *= 1.0 - 0.55 * rim; diffuseColor.a = mix(diffuseColor.a, 0.85, rim);\n#include <output_fragment>`);
        };
        return Object.assign(new THREE.Mesh(geometry, material), { renderOrder: pass });
      });
      if (edges) {
        const material = new THREE.LineBasicMaterial({ color: this.color(role, "line"), transparent: true, opacity: Math.min(1, 0.35 + opacity) });
        made.push(Object.assign(new THREE.LineSegments(edges, material), { renderOrder: 2 }));
      }
      return made;
    }
    // Replace the items of a body.
    wear(i, ...made) {
      clear(this.bodies[i]);
      if (made.length) this.bodies[i].add(...made);
      this.touched = true;
    }
    // A shape whose support points are those of `mapping` in units of the view. Few corners have edges.
    shape(mapping, role, opacity, few) {
      const geometry = spanned(mapping);
      return this.glass(geometry, role, opacity, few && new THREE.EdgesGeometry(geometry, 1));
    }
    // Move a body by a translation in the world.
    move(shift, i = 1) {
      this.bodies[i].position.set(...scale(1 / this.view.unit, shift));
      this.touched = true;
    }
    solid(one) {
      const over = data.colors[one.role].over, order = over ? 8 : 6, size = Math.max(one.size, 1e-6);
      const material = new THREE.MeshLambertMaterial({ color: this.color(one.role, "rod"), emissive: this.color(one.role, "rod").multiplyScalar(0.25), transparent: over || one.opacity < 1, opacity: one.opacity === undefined ? 1 : one.opacity, depthTest: !over });
      const [start, end] = one.points.map(vec), rank = (mesh, more = 0) => Object.assign(mesh, { renderOrder: order + more });
      if (one.kind === "ball") {
        const mesh = rank(new THREE.Mesh(new THREE.SphereGeometry(size, 28, 18), material), 1);
        mesh.position.copy(start);
        return [mesh];
      }
      if (one.kind === "rod") return [rank(between(start, end, size, size, material))];
      const head = Math.min(6 * size, 0.5 * start.distanceTo(end)), neck = end.clone().addScaledVector(end.clone().sub(start).normalize(), -head);
      return [rank(between(start, neck, size, size, material)), rank(between(neck, end, 2.4 * size, 0, material))];
    }
    build(one) {
      if (one.kind !== "face" && one.kind !== "region") return this.solid(one);
      const corners = one.kind === "face" ? one.points : one.polygons.flatMap((face) => face.slice(2).flatMap((p, i) => [face[0], face[i + 1], p]));
      const geometry = points(new Float32Array(corners.flat())), flat = one.role !== "simplex" && one.role !== "polytope";
      geometry.computeVertexNormals();
      const material = new (flat ? THREE.MeshBasicMaterial : THREE.MeshLambertMaterial)({ color: this.color(one.role), side: THREE.DoubleSide, opacity: one.opacity, transparent: true, depthWrite: false });
      const made = [Object.assign(new THREE.Mesh(geometry, material), { renderOrder: one.kind === "region" ? 1.5 : flat ? 4 : 3 })];
      if (one.kind === "region") {
        const line = new THREE.LineBasicMaterial({ color: this.color(one.role, "line"), transparent: true, opacity: 4 * one.opacity });
        made.push(new THREE.LineSegments(points(new Float32Array(one.polygons.flatMap((face) => face.flatMap((p, i) => [...p, ...face[(i + 1) % face.length]])))), line));
      }
      return made;
    }
    // Equal pieces stay. Others are removed, added or moved until `change` reaches 1.
    show(pieces, glides) {
      this.change(1);
      this.labels.forEach(([node]) => node.remove());
      this.labels = [];
      const next = new Map();
      for (const one of pieces) {
        if (one.kind !== "label") next.set(one.key, one);
        else {
          const node = this.label(one.text, one.points[0]);
          node.dataset.mark = one.mark;
          if (one.minor) node.dataset.minor = "yes";
          node.ariaHidden = "true"; // the sentence has the names
          node.style.color = paint(one.role, "text");
        }
      }
      for (const [key, item] of this.items) if (!next.has(key)) this.changes.push({ item, way: -1 });
      for (const [key, one] of next) {
        const item = this.items.get(key), was = item && item.piece;
        if (was && JSON.stringify(was) === JSON.stringify(one)) continue;
        const made = item || { group: this.scene.add(new THREE.Group()).children[this.scene.children.length - 1] };
        made.piece = one;
        this.items.set(key, made);
        this.changes.push({ item: made, way: 1, from: was && was.points.length === one.points.length && one.kind !== "region" ? was : null });
      }
      this.change(glides && this.changes.length < 160 ? 0 : 1);
    }
    change(t) {
      for (const { item, way, from } of this.changes) {
        clear(item.group);
        if (way > 0 || t < 1) item.group.add(...this.build(part(item.piece, way > 0 ? t : 1 - t, way > 0 ? from : null)));
      }
      if (t >= 1) for (const { item, way } of this.changes) if (way < 0) { this.scene.remove(item.group); this.items.delete(item.piece.key); }
      if (t >= 1) this.changes = [];
      this.touched = true;
    }
    // The marks of the pieces in this view.
    marks() { return [...this.items.values()].map(({ piece }) => piece.mark); }
    // Fade all pieces except those with a mark. Without a mark of this view, show all.
    light(mark) {
      const here = this.marks().includes(mark);
      for (const { group, piece } of this.items.values()) group.traverse(({ material }) => {
        if (!material) return;
        if (!material.userData.full) material.userData.full = { opacity: material.opacity, transparent: material.transparent };
        const { full } = material.userData, faded = here && piece.mark !== mark;
        Object.assign(material, { opacity: faded ? 0.12 * full.opacity : full.opacity, transparent: faded || full.transparent });
      });
      this.touched = true;
    }
    // The mark under a pointer: of a label or point first, then of a face. Null if there is none.
    nearest(event) {
      const over = this.labels.find(([node]) => { const box = node.getBoundingClientRect(); return event.clientX >= box.left && event.clientX <= box.right && event.clientY >= box.top && event.clientY <= box.bottom; });
      if (over) return over[0].dataset.mark;
      const all = [...this.items.values()], points = all.filter(({ piece }) => piece.kind === "ball" && /^(w\d+|origin)$/.test(piece.mark));
      const close = points.map(({ piece }) => [this.distance(vec(piece.points[0]), event), piece.mark]).sort((a, b) => a[0] - b[0])[0];
      if (close && close[0] < 14) return close[1];
      const faces = all.filter(({ piece }) => ["closest", "removed", "fan"].includes(piece.role) && piece.kind === "face");
      const [hit] = this.ray(event).intersectObjects(faces.map(({ group }) => group), true);
      return hit ? faces.find(({ group }) => group === hit.object.parent).piece.mark : null;
    }
    // points of some bodies
    spread(groups) {
      const out = [];
      this.scene.updateMatrixWorld(true);
      for (const group of groups) group.traverse((mesh) => {
        const place = mesh.geometry && mesh.geometry.attributes.position, every = place && Math.ceil(place.count / 400);
        for (let i = 0; place && i < place.count; i += every) out.push(new THREE.Vector3().fromBufferAttribute(place, i).applyMatrix4(mesh.matrixWorld));
      });
      return out;
    }
    // points that this view has to show: the bodies, and the tips of the arrows of all steps
    extent() { return [...this.spread(this.bodies), ...this.tips.map(vec)]; }
    // target and distance of a camera in the direction `way` that shows all of them
    frame(way, top) {
      const right = top.clone().cross(way).normalize(), over = way.clone().cross(right), all = this.extent();
      const span = [right, over, way].map((axis) => { const x = all.map((p) => p.dot(axis)); return [Math.min(...x), Math.max(...x)]; });
      const center = new THREE.Vector3();
      [right, over, way].forEach((axis, i) => center.addScaledVector(axis, (span[i][0] + span[i][1]) / 2));
      const aspect = Math.max(this.box.clientWidth, 1) / Math.max(this.box.clientHeight, 1), tall = Math.tan((this.angle * Math.PI) / 360) * Math.max(1, 1 / aspect); // a view that is higher than wide has a wider angle
      // a point nearer to the camera looks larger
      const away = all.map((p) => p.clone().sub(center)).map((p) => p.dot(way) + Math.max(Math.abs(p.dot(over)) + 0.06, Math.abs(p.dot(right)) / aspect) * (MARGIN / tall));
      return [center, Math.max(...away, (0.1 * MARGIN) / tall)];
    }
    // Whether one of some points is outside of the picture.
    cut(points) {
      const { camera, controls } = this;
      camera.lookAt(controls.target);
      camera.updateMatrixWorld(true);
      return points.some((p) => { const at = p.clone().project(camera); return Math.max(Math.abs(at.x), Math.abs(at.y)) > 0.98; });
    }
    away() { return this.camera.position.distanceTo(this.controls.target); }
    // shift and relative distance of the present camera from that camera
    gone(way, top) {
      const [center, far] = this.frame(way, top);
      return [...this.controls.target.clone().sub(center).toArray(), this.away() / far];
    }
    // move the camera so that it shows everything, with the relative distance and the shift of the reader
    fit(way, top, time = 0, zoom = this.controls ? (this.flight?.far || this.away()) / this.far : 1, aside = [0, 0, 0]) {
      const [center, far] = this.frame(way, top);
      center.add(vec(aside));
      this.far = far;
      this.reach = 3 * this.far;
      if (this.controls) this.fly(center, zoom * this.far, way, top, time);
      else this.aim(center.clone().addScaledVector(way, this.far), center, top);
    }
    sight() { return this.camera.position.clone().sub(this.controls.target).normalize(); }
    resized() {
      const way = this.sight(), { up } = this.camera;
      if (!this.flight && this.box.clientWidth) this.fit(way, up.clone(), 0, undefined, this.gone(way, up).slice(0, 3));
    }
  }
  // Materials are not disposed, since the last one of a kind would remove its compiled program, which costs 0.2 s a frame.
  function clear(group) {
    for (const mesh of [...group.children]) {
      group.remove(mesh);
      mesh.geometry.dispose();
    }
  }
  return { Panel, paint, spanned, grown, clear };
})();
