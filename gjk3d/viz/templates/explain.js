(function () {
  const { data, state, element, make, dark, calm, vec, tint, numbers, points, surface, between } = gjk3d;
  const { sub, add, scale, dot, norm, cross, unit, support } = gjk3dLoop;
  const BALL = 0.026, ROD = 0.008, ARROW = 0.011, ASKED = 0.26, TOWARDS = 0.36, GLIDE = 450, SLANT = 0.8;
  const paint = (role, part) => (dark.matches ? data.colors[role].dark : data.colors[role][part || "light"]);
  // what is looked at: the pair given, or one that was made here, and where B was dragged to
  let steps = data.steps, pair = data.given, picked = ["given", "given"], shift = [0, 0, 0], at = 0, timer = 0, panels = [];

  // --- shapes made here: those of the list, and of the 2D texts as prisms ---------------------------------------------

  const R = data.views[0].unit / 2, SQUARE = [-1, 1].flatMap((x) => [-1, 1].map((y) => [x, y]));
  const prism = (polygon) => ({ points: polygon.flatMap(([x, y]) => [-2, 2].map((z) => [x, y, z])) });
  const curved = (kind, ...sizes) => ({ kind, sizes: sizes.map((x) => x * R), turn: [1, 0, 0, 0, 0.8, -0.6, 0, 0.6, 0.8], at: [0, 0, 0] });
  const corners = (list) => ({ points: list.map((p) => scale(R, p)) });
  const SHAPES = {
    box: () => corners(SQUARE.flatMap(([x, y]) => [[x, y, -0.8], [x, y, 0.8]])),
    tetrahedron: () => corners([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]),
    octahedron: () => corners([1.3, -1.3].flatMap((x) => [[x, 0, 0], [0, x, 0], [0, 0, x]])),
    point: () => corners([[0, 0, 0]]),
    sphere: () => ({ ...corners([[0, 0, 0]]), radius: R }),
    capsule: () => ({ ...corners([[0.5, 0.3, 0.8], [-0.5, -0.3, -0.8]]), radius: 0.5 * R }),
    cylinder: () => curved("cylinder", 0.8, 1),
    cone: () => curved("cone", 0.9, 1.1),
    ellipsoid: () => curved("ellipsoid", 1.2, 0.8, 0.5),
    "the text's triangle": () => prism([[4, 11], [4, 5], [9, 9]]),
    "the text's quadrangle": () => prism([[5, 7], [7, 3], [10, 2], [12, 7]]),
  };
  const TEXT = ["the text's triangle", "the text's quadrangle"];
  const PRESETS = { "2D text: they overlap": [0, 0, 0], "2D text: apart by 11/√41": [3, -1, 0], "2D text: just touching": [4, 2, 0] };
  function shape(side, name) {
    if (name === "given") return data.given[side];
    const made = { name, radius: 0, ...SHAPES[name]() };
    if (made.points) made.middle = scale(1 / made.points.length, made.points.reduce(add));
    return made;
  }

  // A mesh of what a support mapping spans: its normals are the directions asked, so that any shape is shaded as it is.
  const ball = new THREE.IcosahedronGeometry(1, 24).attributes.position;
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

  // --- pieces of a step, in units of their view ------------------------------------------------------------------------

  const local = (view, p) => scale(1 / view.unit, sub(p, view.center));
  const piece = (kind, role, key, points, more) => ({ kind, role, key: kind + role + key, points, size: ROD, opacity: 1, ...more });
  const far = (points, least) => norm(sub(points[1], points[0])) > least;

  function workspace(view, step) {
    const out = [];
    if (step.witnessA && step.witnessB) {
      const ends = [step.witnessA, step.witnessB].map((p) => local(view, p)), normal = step.direction;
      if (step.phase === "answer" && step.upper !== null && step.upper < 0 && far(ends, 2 * ARROW)) out.push(piece("arrow", "new", "out", [ends[1], ends[0]], { size: ARROW }));
      else {
        if (far(ends, ROD)) out.push(piece("rod", "ink", "gap", ends));
        const middle = scale(0.5, add(...ends));
        if (step.phase === "answer" && !step.overlap) out.push(piece("arrow", "direction", "normal", [-0.15, 0.15].map((t) => add(middle, scale(t, normal))), { size: ARROW }));
      }
      ["a", "b"].forEach((role, i) => out.push(piece("ball", role, "near", [ends[i]], { size: BALL })));
    }
    if (step.supportA && step.direction) {
      [[step.supportA, 1], [step.supportB, -1]].forEach(([p, way], i) => {
        const from = local(view, p);
        out.push(piece("arrow", "direction", `ask${i}`, [from, add(from, scale(way * ASKED, step.direction))], { size: ARROW }));
        out.push(piece("ball", "new", `found${i}`, [from], { size: 1.25 * BALL }));
      });
    }
    return out;
  }
  function differences(view, step) {
    const origin = local(view, [0, 0, 0]), out = step.faces ? polytope(view, step) : simplex(view, step);
    out.push(piece("ball", "ink", "origin", [origin], { size: BALL }), piece("label", "ink", "origin", [origin], { text: "origin" }));
    const near = step.nearest && local(view, step.nearest);
    if (near && far([origin, near], ROD)) out.push(piece("rod", "ink", "away", [origin, near], { size: 0.75 * ROD }));
    if (near) out.push(piece("ball", "ink", "near", [near], { size: 0.7 * BALL }));
    if (step.phase === "answer") return out;
    if (near && step.direction) out.push(piece("arrow", "direction", "towards", [near, add(near, scale(TOWARDS, step.direction))], { size: ARROW }));
    if (step.point) {
      const p = local(view, step.point);
      out.push(piece("ball", "new", step.pointName, [p], { size: 1.25 * BALL }), piece("label", "new", step.pointName, [p], { text: step.pointName }));
    }
    return out;
  }
  function triangles(role, names, places, faces, opacity) {
    return faces.map((face) => piece("face", role, face.map((i) => names[i]).sort().join(), face.map((i) => places[i]), { opacity }));
  }
  function simplex(view, step) {
    const places = (step.simplex || []).map((p) => local(view, p)), names = step.names || [], dropped = step.dropped || [], out = [];
    if (places.length > 2) out.push(...triangles("simplex", names, places, places.length > 3 ? [[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]] : [[0, 1, 2]], 0.45));
    places.forEach((p, i) => {
      for (let j = 0; j < i; j++) out.push(piece("rod", "simplex", [names[i], names[j]].sort().join(), [places[j], p], { size: 1.4 * ROD }));
      if (step.joins && !dropped.includes(names[i])) out.push(piece("rod", "simplex", [names[i], step.pointName].sort().join(), [p, local(view, step.point)], { size: 0.5 * ROD }));
      const role = dropped.includes(names[i]) ? "dropped" : "simplex";
      out.push(piece("ball", role, names[i], [p], { size: 1.1 * BALL }));
      if (names[i] !== step.pointName) out.push(piece("label", role, names[i], [p], { text: names[i] + (role === "dropped" ? " (drop)" : "") }));
    });
    if (step.joins && step.after && step.after.length && element("region").checked) {
      const all = [...names.map((name, i) => [name, places[i]]), [step.pointName, local(view, step.point)]];
      const region = voronoi(all.filter((one) => step.after.includes(one[0])).map((one) => one[1]), all.filter((one) => !step.after.includes(one[0])).map((one) => one[1]), Math.max(1.1, 1.15 * norm(origin(view))));
      if (region.length) out.push(piece("region", "region", step.after.join(), [origin(view)], { polygons: region, opacity: 0.13 }));
    }
    return out;
  }
  const origin = (view) => local(view, [0, 0, 0]);
  function polytope(view, step) {
    const places = step.vertices.map((p) => local(view, p)), same = (f, g) => f.every((i) => g.includes(i)), { names } = step;
    const gone = step.removed.filter((f) => !same(f, step.closest)), kept = step.faces.filter((f) => !same(f, step.closest) && !gone.some((g) => same(f, g)));
    const out = [...triangles("polytope", names, places, kept, 0.3), ...triangles("removed", names, places, gone, 0.6), ...triangles("closest", names, places, [step.closest], 0.9)];
    const edge = (i, j) => (i < j ? `${i},${j}` : `${j},${i}`), rim = new Set(step.horizon.map(([i, j]) => edge(i, j)));
    const edges = new Set(step.faces.flatMap(([i, j, k]) => [edge(i, j), edge(j, k), edge(k, i)])), thin = step.faces.length < 60 ? 0.6 * ROD : 0.3 * ROD;
    for (const text of new Set([...edges, ...rim])) {
      const [i, j] = text.split(",").map(Number), role = rim.has(text) ? "new" : "polytope";
      out.push(piece("rod", role, [names[i], names[j]].sort().join(), [places[i], places[j]], { size: rim.has(text) ? 1.2 * ROD : thin }));
    }
    const used = [...new Set(step.faces.flat())], named = used.length <= 9 ? used : step.closest;
    for (const i of used.length <= 40 ? used : named) out.push(piece("ball", "polytope", names[i], [places[i]], { size: 0.7 * BALL }));
    for (const i of named) if (names[i] !== step.pointName || step.phase === "answer") out.push(piece("label", "polytope", names[i], [places[i]], { text: names[i] }));
    return out;
  }
  // The points to which a feature is the nearest of its simplex: half-spaces cut from a cube, whose faces are returned.
  function voronoi(feature, others, least) {
    const away = (p, flat) => flat.slice(1).map((q) => sub(q, flat[0])).reduce((basis, v) => {
      const w = basis.reduce((x, e) => sub(x, scale(dot(x, e), e)), v);
      return norm(w) > 1e-9 ? [...basis, unit(w)] : basis;
    }, []).reduce((x, e) => sub(x, scale(dot(x, e), e)), sub(p, flat[0]));
    const cuts = others.map((p) => [away(p, feature), feature[0]]);
    if (feature.length > 1) feature.forEach((p, i) => { const rest = feature.filter((_, j) => j !== i); cuts.push([scale(-1, away(p, rest)), rest[0]]); });
    const C = Math.max(least, ...feature.flat().map((x) => 1.1 * Math.abs(x))), cube = [0, 1, 2].flatMap((axis) => [-C, C].map((x) => [[-C, -C], [-C, C], [C, C], [C, -C]].map((uv) => { const p = [...uv]; p.splice(axis, 0, x); return p; })));
    return cuts.reduce((faces, [n, from]) => {
      const rim = [], height = (p) => dot(n, sub(p, from));
      const cut = faces.map((face) => face.flatMap((p, i) => {
        const q = face[(i + 1) % face.length], [x, y] = [height(p), height(q)], out = x <= 0 ? [p] : [];
        if (x <= 0 !== y <= 0) { const m = add(p, scale(x / (x - y), sub(q, p))); out.push(m); rim.push(m); }
        return out;
      })).filter((face) => face.length > 2);
      if (rim.length < 3) return cut;
      const middle = scale(1 / rim.length, rim.reduce(add)), u = unit(sub(rim[0], middle)), v = cross(unit(n), u);
      const turn = (p) => Math.atan2(dot(sub(p, middle), v), dot(sub(p, middle), u));
      return [...cut, rim.sort((p, q) => turn(p) - turn(q))];
    }, cube);
  }
  function legend(step) {
    const words = { ...data.words }, roles = ["a", "b", "difference"];
    if (step.phase === "answer") {
      if (step.upper !== null && step.upper < 0) roles.push("new");
      else roles.push(...(step.overlap ? [] : ["direction"]), "ink");
      Object.assign(words, { new: "way out, for B", ink: "nearest points", direction: "normal, from A to B" });
    } else if (step.faces) {
      roles.push("polytope", "closest", ...(step.removed.length > 1 ? ["removed"] : []), "new", "direction", "ink");
      if (!step.horizon.length) words.new = "point found";
    } else {
      roles.push(...((step.simplex || []).length ? ["simplex"] : []), ...((step.dropped || []).length ? ["dropped"] : []), "new", "direction", ...(step.nearest ? ["ink"] : []));
      words.new = step.joins ? "new point" : "point found";
      if (step.after && step.after.length && step.joins && element("region").checked) { roles.push("region"); words.region = `nearest to ${step.after.join(" ")}: its Voronoi region`; }
    }
    return roles.map((role) => [role, words[role]]);
  }

  // --- a view of them --------------------------------------------------------------------------------------------------

  const lerp = (p, q, t) => p.map((x, k) => x + t * (q[k] - x));
  // a piece on its way from nothing (0) to itself (1), or from what it was
  function part(one, t, from) {
    if (t >= 1) return one;
    if (from) return { ...one, points: one.points.map((p, i) => lerp(from.points[i], p, t)) };
    const middle = scale(1 / one.points.length, one.points.reduce(add)), grow = { ...one, opacity: one.opacity * t };
    if (one.kind === "face") return { ...grow, points: one.points.map((p) => lerp(middle, p, 0.4 + 0.6 * t)) };
    if (one.kind === "rod" || one.kind === "arrow") return { ...grow, points: [one.points[0], lerp(one.points[0], one.points[1], Math.max(t, 0.02))] };
    return { ...grow, size: one.size * t };
  }
  class Panel extends gjk3d.View {
    constructor(box, side) {
      super(box, 16, 0.66, [0.45, 0.2]);
      Object.assign(this, { side, view: { ...data.views[side] }, bodies: [new THREE.Group(), new THREE.Group()], items: new Map(), names: [], reach: 40 });
      this.scene.add(...this.bodies);
    }
    color(role, shade) { return tint(paint(role, shade)); }
    // shaded glass, darker and denser where it turns away: its outline
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
    // what is there in every step: the two shapes, or their difference, in the units of the view
    dress() {
      this.bodies.forEach((group) => { clear(group); group.position.set(0, 0, 0); });
      const { view } = this, own = picked.some((name) => name !== "given"), put = (group, ...made) => made.length && group.add(...made);
      const shown = (mapping, role, opacity) => this.glass(spanned((d) => local(view, mapping(d))), role, opacity);
      if (this.side === 0) pair_or(data.given).forEach((one, i) => {
        const role = "ab"[i], still = data.still[0][i];
        if (!own || !one) put(this.bodies[i], ...this.still(still));
        else put(this.bodies[i], ...shown((d) => grown(one, d), role, 0.4));
      });
      else if (!own && !(pair && data.sampled)) data.still[1].forEach((still) => put(this.bodies[0], ...this.still(still)));
      else {
        const [a, b] = pair;
        if (a.radius + b.radius > 0) put(this.bodies[0], ...shown((d) => sub(grown(a, d), grown(b, scale(-1, d))), "difference", 0.12));
        put(this.bodies[0], ...shown((d) => sub(support(a, d), support(b, scale(-1, d))), "difference", 0.24));
      }
      this.move();
    }
    still(one) {
      if (!one.positions) return this.solid({ ...one, kind: one.points.length > 1 ? "rod" : "ball" });
      const edges = one.edges && numbers(one.edges, Float32Array);
      return this.glass(surface(one), one.role, one.opacity, edges && edges.length ? points(edges) : null);
    }
    move() {
      const group = this.bodies[this.side === 0 ? 1 : 0];
      group.position.set(...scale((this.side === 0 ? 1 : -1) / this.view.unit, shift));
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
    // Pieces that stay stay; the others vanish, grow or move until `advance` has come to 1.
    show(pieces, glides) {
      this.names.forEach(([node]) => node.remove());
      this.names = [];
      const next = new Map();
      for (const one of pieces) {
        if (one.kind !== "label") { next.set(one.key, one); continue; }
        const node = make("span", { class: "name", "aria-hidden": "true" }, one.text);
        node.style.color = paint(one.role, one.role === "ink" || one.role === "new" ? "light" : "line");
        this.box.append(node);
        this.names.push([node, vec(one.points[0])]);
      }
      this.changes = [];
      for (const [key, item] of this.items) if (!next.has(key)) this.changes.push({ item, way: -1 });
      for (const [key, one] of next) {
        const item = this.items.get(key), was = item && item.piece;
        if (was && JSON.stringify(was) === JSON.stringify(one)) continue;
        const made = item || { group: this.scene.add(new THREE.Group()).children[this.scene.children.length - 1] };
        made.piece = one;
        this.items.set(key, made);
        this.changes.push({ item: made, way: 1, from: was && was.points.length === one.points.length && one.kind !== "region" ? was : null });
      }
      this.advance(glides && this.changes.length < 160 ? 0 : 1);
    }
    advance(t) {
      for (const { item, way, from } of this.changes) {
        clear(item.group);
        if (way > 0 || t < 1) item.group.add(...this.build(part(item.piece, way > 0 ? t : 1 - t, way > 0 ? from : null)));
      }
      if (t >= 1) for (const { item, way } of this.changes) if (way < 0) { this.scene.remove(item.group); this.items.delete(item.piece.key); }
      if (t >= 1) this.changes = [];
      this.touched = true;
    }
    // what must be in sight, in this view: the bodies, the origin, and the tips of a step's arrows
    extent() {
      const out = [[-1, -1, -1], [1, 1, 1]].map(() => origin(this.view)).slice(0, this.side);
      this.scene.updateMatrixWorld(true);
      for (const group of this.bodies) group.traverse((mesh) => {
        const place = mesh.geometry && mesh.geometry.attributes.position, every = place && Math.ceil(place.count / 400);
        for (let i = 0; place && i < place.count; i += every) out.push(new THREE.Vector3().fromBufferAttribute(place, i).applyMatrix4(mesh.matrixWorld).toArray());
      });
      for (const { piece: one } of this.items.values()) if (one.kind === "arrow") out.push(...one.points);
      return out.map(vec);
    }
    fit(way, top) {
      const right = top.clone().cross(way).normalize(), over = way.clone().cross(right), all = this.extent();
      const span = [right, over, way].map((axis) => { const x = all.map((p) => p.dot(axis)); return [Math.min(...x), Math.max(...x)]; });
      const center = new THREE.Vector3();
      [right, over, way].forEach((axis, i) => center.addScaledVector(axis, (span[i][0] + span[i][1]) / 2));
      this.half = span.slice(0, 2).map(([low, high]) => Math.max(high - low, 0.2) / 2);
      this.far = this.away();
      this.reach = 3 * this.far;
      this.aim(center.clone().addScaledVector(way, this.far), center, top);
    }
    away() {
      return (1.2 * Math.max(this.half[1] + 0.06, this.half[0] / (this.box.clientWidth / Math.max(this.box.clientHeight, 1)))) / Math.tan((this.angle * Math.PI) / 360);
    }
    resized() {
      if (!this.half || !this.controls) return;
      const before = this.far;
      this.far = this.away();
      this.camera.position.sub(this.controls.target).multiplyScalar(this.far / before).add(this.controls.target);
    }
    after() { label(this, this.names); }
  }
  const pair_or = (given) => pair || given || [null, null];
  function clear(group) {
    for (const mesh of [...group.children]) {
      group.remove(mesh);
      mesh.geometry.dispose();
      mesh.material.dispose();
    }
  }
  // beside its point, away from the middle of all and off the others
  function label(panel, names) {
    const w = panel.box.clientWidth, h = panel.box.clientHeight, taken = [], spots = names.map(([, point]) => panel.pixel(point));
    const middle = [0, 1].map((i) => spots.reduce((sum, p) => sum + p[i], 0) / Math.max(1, spots.length));
    names.forEach(([node], k) => {
      const [sx, sy] = spots[k], nw = node.offsetWidth, nh = node.offsetHeight, angle = Math.atan2(sy - middle[1], sx - middle[0]);
      let best = null, least = Infinity;
      for (const turn of [0, 0.6, -0.6, 1.2, -1.2, 2, -2, 3.1]) {
        const c = Math.cos(angle + turn), s = Math.sin(angle + turn);
        const left = Math.min(Math.max(sx + (11 + (nw / 2) * Math.abs(c)) * Math.sign(c) * Math.min(1, Math.abs(c) + 0.25) - nw / 2, 2), w - nw - 2);
        const top = Math.min(Math.max(sy + 19 * s - nh / 2, 2), h - nh - 2);
        let cost = 0.15 * Math.abs(turn);
        for (const [l, t, r, b] of taken) if (left < r && left + nw > l && top < b && top + nh > t) cost += 5;
        for (const [px, py] of spots) if (px > left - 5 && px < left + nw + 5 && py > top - 2 && py < top + nh + 2) cost += 2;
        if (cost < least) [best, least] = [[left, top], cost];
      }
      taken.push([best[0], best[1], best[0] + nw, best[1] + nh]);
      node.style.transform = `translate(${best[0]}px, ${best[1]}px)`;
    });
  }

  // --- from where ------------------------------------------------------------------------------------------------------

  let turning = null, gliding = null, held = -1;
  const sight = (panel) => panel.camera.position.clone().sub(panel.controls.target).normalize();
  function look(way, top) {
    for (const panel of panels) {
      const away = panel.camera.position.distanceTo(panel.controls.target);
      panel.camera.position.copy(panel.controls.target).addScaledVector(way, away);
      panel.camera.up.copy(top);
      panel.touched = true;
    }
  }
  // No arrow points at the viewer, or away, and EPA's nearest face is not seen edge on: the least turn from here.
  function slanted(way) {
    const step = steps[at], arrow = step && step.direction && vec(step.direction), along = arrow ? arrow.dot(way) : 0;
    const wish = step && step.closest && step.phase !== "answer" && along < 0.3 ? 0.5 : 0.6 * Math.sign(along);
    if (!arrow || (wish !== 0.5 && Math.abs(along) <= SLANT)) return way;
    const across = way.clone().addScaledVector(arrow, -along);
    if (across.lengthSq() < 1e-6) across.set(...data.up).cross(arrow);
    return across.normalize().multiplyScalar(Math.sqrt(1 - wish * wish)).addScaledVector(arrow, wish);
  }
  function arrive() {
    if (gliding !== null) panels.forEach((panel) => panel.advance(1));
    gliding = turning = null;
  }
  function reset() {
    arrive();  // what vanishes is in sight still, and is not what to look at
    panels.forEach((panel) => panel.fit(slanted(vec(data.view)), vec(data.up)));
  }
  function tick(now) {
    if (gliding !== null) {
      const t = Math.min(1, (now - gliding) / GLIDE), eased = t * t * (3 - 2 * t);
      panels.forEach((panel) => panel.advance(eased));
      if (turning) look(turning.from.clone().lerp(turning.to, eased).normalize(), turning.top);
      if (t >= 1) gliding = turning = null;
    }
    return gliding !== null;
  }

  // --- from step to step ------------------------------------------------------------------------------------------------

  const question = () => element("ask").checked && steps[at + 1] && steps[at].phase === "GJK" && steps[at].joins && (steps[at].after || []).length > 0;
  let asked = -1;
  function go(to, glides = !calm.matches) {
    const before = at;
    at = Math.min(Math.max(to, 0), steps.length - 1);
    if (before !== at) asked = -1;
    write();
    arrive();
    panels.forEach((panel, i) => panel.show([workspace, differences][i](panel.view, steps[at]), glides));
    if (panels.length && panels[0].controls) {
      const from = sight(panels[0]), way = slanted(from);
      if (glides) state.flight = "moving";
      if (glides) [gliding, turning] = [performance.now(), way === from ? null : { from, to: way, top: panels[0].camera.up.clone() }];
      else if (way !== from) look(way, panels[0].camera.up.clone());
    }
    state.step = at;
    if (at === steps.length - 1) play(false);
    link();
  }
  function write() {
    const step = steps[at], open = question() && asked !== at;
    element("title").textContent = step.title;
    // what is asked is not told
    element("sentence").textContent = open ? step.sentence.replace(/ (The origin lies|It joins).*$/, " What would you take next: which corners are kept?") : step.sentence;
    element("count").textContent = `step ${at + 1} of ${steps.length}`;
    element("bounds").textContent = step.bounds === undefined ? gjk3dTell.bounds(step) : step.bounds;
    element("slide").max = steps.length - 1;
    element("slide").value = at;
    element("slide").setAttribute("aria-valuetext", `step ${at + 1}: ${step.title}`);
    element("back").disabled = at === 0;
    element("next").disabled = at === steps.length - 1;
    element("legend").replaceChildren(...legend(step).map(([role, words]) => {
      const row = make("li"), chip = row.appendChild(make("span", { class: "chip" }));
      chip.style.background = paint(role);
      row.append(words);
      return row;
    }));
    curve();
    element("quiz").hidden = !question();
    if (!open) return;
    const rest = step.names, sets = [0, 1, 2, 3, 4, 5, 6, 7].slice(0, 2 ** rest.length).map((bits) => [...rest.filter((_, i) => (bits >> i) & 1), step.pointName]).filter((set) => set.length < 4);
    element("quiz").replaceChildren(...sets.map((set) => {
      const button = make("button", { type: "button" }, set.join(" ")), right = set.length === step.after.length && set.every((name) => step.after.includes(name));
      button.addEventListener("click", () => {
        asked = at;
        write();
        element("quiz").replaceChildren(make("p", { role: "status" }, right ? `Yes: ${set.join(" ")}.` : `Not ${set.join(" ")}: the origin is nearest to ${step.after.join(" ")}.`));
      });
      return button;
    }));
  }
  function play(on) {
    window.clearTimeout(timer);
    timer = 0;
    element("play").textContent = on ? "pause" : "play";
    if (on) timer = window.setTimeout(() => { go(at + 1); if (at < steps.length - 1) play(true); }, 1500 + 250 * steps[at].sentence.split(" ").length);
  }
  function toggle() {
    if (timer) return play(false);
    if (at === steps.length - 1) go(0);
    play(true);
  }
  const by = (to) => () => { play(false); go(to()); };
  gjk3d.keys({
    ArrowLeft: by(() => at - 1), ArrowRight: by(() => at + 1), Home: by(() => 0), End: by(() => steps.length - 1), " ": toggle,
    "Shift+ArrowLeft": () => nudge(-1, 0), "Shift+ArrowRight": () => nudge(1, 0), "Shift+ArrowUp": () => nudge(0, 1), "Shift+ArrowDown": () => nudge(0, -1),
  });
  element("back").addEventListener("click", by(() => at - 1));
  element("next").addEventListener("click", by(() => at + 1));
  element("slide").addEventListener("input", by(() => Number(element("slide").value)));
  element("play").addEventListener("click", toggle);
  element("reset").addEventListener("click", reset);
  for (const id of ["ask", "region"]) element(id).addEventListener("input", () => { asked = -1; go(at); });

  // --- the curve of both bounds -----------------------------------------------------------------------------------------

  const svg = element("curve").appendChild(make("svg", { preserveAspectRatio: "none", role: "img", "aria-label": "Bounds of the distance, step by step; the words tell each" }));
  let frame = null;
  function curve() {
    const width = Math.max(300, element("curve").clientWidth), [low, high] = gjk3dTell.limits(steps), ticks = gjk3dTell.ticks([low, high]);
    const left = Math.max(70, 22 + 8 * Math.max(...ticks.map((tick) => tick[1].length))), count = steps.length;
    const x = (i) => left + ((width - 20 - left) * (i + 0.5)) / count, y = (v) => 142 - (134 * (v - low)) / (high - low);
    const put = (tag, attributes, text) => svg.append(make(tag, attributes, text)), join = (list) => list.map((p) => p.join()).join(" ");
    frame = { width, left, count };
    svg.setAttribute("viewBox", `0 0 ${width} 170`);
    svg.replaceChildren();
    for (const [value, words] of ticks) {
      put("line", { x1: left, x2: width - 20, y1: y(value), y2: y(value), stroke: words === "0" ? "var(--soft)" : "var(--line)" });
      put("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, words);
    }
    const known = steps.map((step, i) => [i, step.lower, step.upper]).filter((row) => row[1] !== null && row[2] !== null);
    const seen = known.filter((row) => row[0] <= at), later = known.slice(Math.max(0, seen.length - 1));
    if (seen.length > 1) put("polygon", { points: join([...seen.map((row) => [x(row[0]), y(row[1])]), ...seen.slice().reverse().map((row) => [x(row[0]), y(row[2])])]), fill: "var(--band)" });
    for (const side of [1, 2]) {
      for (const [rows, color, thick] of [[later, "var(--later)", 1.2], [seen, "var(--ink)", 2]])
        if (rows.length) put("polyline", { points: join(rows.map((row) => [x(row[0]), y(row[side])])), fill: "none", stroke: color, "stroke-width": thick });
      const every = Math.max(1, Math.floor(known.length / 60));
      known.forEach((row, k) => {
        if (k % every && row[0] !== at) return;
        const r = row[0] === at ? 5.5 : 3.8, s = side === 1 ? 1 : -1, px = x(row[0]), py = y(row[side]);
        put("polygon", { points: join([[px - r, py + s * r * 0.8], [px + r, py + s * r * 0.8], [px, py - s * r]]), fill: row[0] <= at ? "var(--ink)" : "var(--later)" });
      });
    }
    put("line", { x1: x(at), x2: x(at), y1: 4, y2: 142, stroke: "var(--now)", "stroke-width": 2 });
    const every = Math.max(1, Math.ceil((count * 26) / width));
    for (let i = 0; i < count; i++) if (i === at || (i % every === 0 && Math.abs(i - at) >= every)) put("text", { x: x(i), y: 160, "text-anchor": "middle", class: i === at ? "now" : "" }, String(i + 1));
  }
  svg.addEventListener("click", (event) => {
    const box = svg.getBoundingClientRect(), { width, left, count } = frame;
    play(false);
    go(Math.round((((event.clientX - box.left) / box.width) * width - left) / ((width - 20 - left) / count) - 0.5));
  });

  // --- GJK again, in this page -----------------------------------------------------------------------------------------

  // Of the pair as it was given, the steps are those of the kernels; else of this page's own GJK.
  function again(refit) {
    const own = picked.some((name) => name !== "given") || norm(shift) > 0;
    steps = own ? gjk3dTell.tell(...pair, shift) : data.steps;
    state.live = own ? "own" : "given";
    element("verdict").textContent = own ? steps[steps.length - 1].title.replace("Answer: ", "") : data.verdict;
    element("all").replaceChildren(...steps.map((step) => { const row = make("li"); row.append(make("b", {}, `${step.title}.`), ` ${step.sentence}`); return row; }));
    if (refit) panels.forEach((panel) => panel.dress());
    else panels.forEach((panel) => panel.move());
  }
  function choose(names, where) {
    picked = names;
    pair = [0, 1].map((side) => shape(side, names[side]));
    shift = where;
    ["a", "b"].forEach((side, i) => { element(side).value = names[i]; element(`name-${side}`).textContent = names[i] === "given" ? data.names[i] : names[i]; });
    frames();
    again(true);
    asked = -1;
    if (panels.length && panels[0].controls) { go(Math.min(at, steps.length - 1), false); reset(); }
  }
  // the middle and the unit of each view, of what is shown now
  function frames() {
    if (picked.every((name) => name === "given")) return panels.forEach((panel, i) => Object.assign(panel.view, data.views[i]));
    const [a, b] = pair, axes = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    const box = (mapping) => axes.map((axis, k) => [mapping(scale(-1, axis))[k], mapping(axis)[k]]);
    const views = [
      box((d) => [grown(a, d), add(grown(b, d), shift)].reduce((p, q) => (dot(p, d) >= dot(q, d) ? p : q))),
      box((d) => sub(grown(a, d), add(grown(b, scale(-1, d)), shift))),
    ];
    panels.forEach((panel, i) => Object.assign(panel.view, { center: views[i].map(([low, high]) => (low + high) / 2), unit: Math.hypot(...views[i].map(([low, high]) => (high - low) / 2)) || 1 }));
  }
  // B's place on the screen and in the world; it stays on its canvas
  function drag(panel, from, dx, dy) {
    const scaleOf = (2 * panel.camera.position.distanceTo(panel.controls.target) * Math.tan((panel.camera.fov * Math.PI) / 360)) / panel.box.clientHeight;
    const right = new THREE.Vector3(), top = new THREE.Vector3(), out = new THREE.Vector3();
    panel.camera.matrixWorld.extractBasis(right, top, out);
    const middle = (s) => vec(local(panel.view, add(gjk3dLoop.middle(pair[1]), s)));
    const [px, py] = panel.pixel(middle(from)), w = panel.box.clientWidth, h = panel.box.clientHeight, edge = 24;
    const mx = Math.min(Math.max(px + dx, edge), w - edge) - px, my = Math.min(Math.max(py + dy, edge), h - edge) - py;
    shift = add(from, scale(panel.view.unit * scaleOf, right.multiplyScalar(mx).addScaledVector(top, -my).toArray()));
    again(false);
    go(at, false);
  }
  function nudge(x, y) {
    if (!pair || !panels.length) return false;
    drag(panels[0], shift, 12 * x, -12 * y);
    return true;
  }
  function dragging(panel) {
    const ray = new THREE.Raycaster(), hits = (event) => {
      const frame = panel.canvas.getBoundingClientRect();
      ray.setFromCamera({ x: ((event.clientX - frame.left) / frame.width) * 2 - 1, y: 1 - ((event.clientY - frame.top) / frame.height) * 2 }, panel.camera);
      const met = ray.intersectObjects(panel.bodies, true).filter((one) => one.object.isMesh);
      return met.some((one) => one.object.parent === panel.bodies[1]) && met[0].object.parent === panel.bodies[1];
    };
    let from = null;
    // before the controls hear of it: what takes hold of B does not turn the view
    panel.box.addEventListener("pointerdown", (event) => {
      held = panels.indexOf(panel);
      if (!pair || panel.side || event.button || !hits(event)) return;
      event.stopPropagation();
      event.preventDefault();
      play(false);
      panel.canvas.setPointerCapture(event.pointerId);
      from = { shift, x: event.clientX, y: event.clientY };
    }, true);
    panel.box.addEventListener("wheel", () => { held = panels.indexOf(panel); }, true);
    panel.box.addEventListener("pointermove", (event) => {
      if (!from) { if (pair && !panel.side && !event.buttons) panel.canvas.style.cursor = hits(event) ? "move" : ""; return; }
      event.stopPropagation();
      drag(panel, from.shift, event.clientX - from.x, event.clientY - from.y);
    }, true);
    for (const name of ["pointerup", "pointercancel"]) panel.box.addEventListener(name, (event) => {
      if (!from) return;
      event.stopPropagation();
      from = null;
      link();
      panels[1].fit(sight(panels[1]), panels[1].camera.up.clone());
    }, true);
    panel.turned = () => { // by hand: the other turns along
      if (held !== panels.indexOf(panel) || turning) return;
      const other = panels[1 - held], eye = sight(panel), away = other.camera.position.distanceTo(other.controls.target);
      other.camera.position.copy(other.controls.target).addScaledVector(eye, away);
      other.camera.up.copy(panel.camera.up);
      other.touched = true;
    };
  }

  // --- a link that keeps what is seen -------------------------------------------------------------------------------------

  function link() {
    const text = new URLSearchParams({ a: picked[0], b: picked[1], at: shift.map((x) => gjk3dTell.number(x, 9)).join(), step: at + 1, ...(element("ask").checked ? { ask: 1 } : {}) });
    try { window.history.replaceState(null, "", `#${text}`); } catch (error) { /* a frame without an address of its own */ }
  }
  function follow() {
    const text = new URLSearchParams(window.location.hash.slice(1)), wish = [0, 1].map((i) => text.get("ab"[i]) || "given");
    const where = (text.get("at") || "0,0,0").split(",").map(Number), to = Number(text.get("step"));
    element("ask").checked = text.get("ask") === "1";
    if (!data.given || !wish.every((name) => name === "given" || Object.hasOwn(SHAPES, name)) || where.length !== 3 || !where.every((x) => Number.isFinite(x) && Math.abs(x) <= 1e3 * gjk3dLoop.size(...data.given, [0, 0, 0]) + 1e3)) return [["given", "given"], [0, 0, 0], to];
    return [wish, where, to];
  }

  try {
    panels = ["left", "right"].map((name, i) => new Panel(element(name), i));
  } catch (error) {
    gjk3d.withoutWebGL("; the words and the curve are here", ["left", "right", "reset"]);
    panels = [];
  }
  if (data.given) {
    ["a", "b"].forEach((side, i) => {
      element(side).append(...["given", ...Object.keys(SHAPES)].map((name) => make("option", { value: name }, name === "given" ? data.names[i] : name)));
      element(side).addEventListener("input", () => {
        const wish = [element("a").value, element("b").value], middle = gjk3dLoop.middle(pair[1]);
        choose(wish, add(shift, sub(middle, gjk3dLoop.middle(shape(1, wish[1]))))); // B stays where it is
      });
    });
    element("preset").append(make("option", { value: "" }, "examples"), make("option", { value: "given" }, "the pair given"), ...Object.keys(PRESETS).map((name) => make("option", { value: name }, name)));
    element("preset").addEventListener("input", () => {
      const name = element("preset").value;
      if (name) choose(name === "given" ? ["given", "given"] : TEXT, PRESETS[name] || [0, 0, 0]);
      go(0);
      element("preset").value = "";
    });
  } else element("make").hidden = true;
  dark.addEventListener("change", () => {
    for (const panel of panels) {
      panel.dress();
      panel.items.forEach((item) => panel.scene.remove(item.group));
      panel.items.clear();
    }
    go(at, false);
  });
  window.addEventListener("hashchange", () => { const [names, where, to] = follow(); choose(names, where); if (to) go(to - 1); });
  new ResizeObserver(curve).observe(element("curve"));

  const [names, where, to] = follow();
  if (data.given) choose(names, where);
  else panels.forEach((panel) => panel.dress());
  at = Math.min(Math.max((to || 1) - 1, 0), steps.length - 1);
  go(at, false);
  reset();
  go(at, false);
  panels.forEach(dragging);
  gjk3d.start(tick);
})();
