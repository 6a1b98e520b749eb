// Sliders for the joints of a robot: kinematics as in robot/kinematics.py, and the distance of convex pieces by GJK.
(function () {
  const { data, state, element, dark, numbers, number, vec } = gjk3d, { robot } = data, { dot, sub, add, scale, norm, blend } = gjk3dVectors, { gjk } = gjk3dGjk;
  const picture = gjk3d.picture, start = robot.q, q = [...start], inputs = [...element("joints").querySelectorAll("input")];
  const matrix = (rows) => new THREE.Matrix4().set(...rows), origins = robot.origin.map(matrix), unit = new THREE.Matrix4();

  function planeAxes([x, y, z]) {
    if (z <= -1 + 1e-12) return [[1, 0, 0], [0, -1, 0]];
    const a = 1 / (1 + z), b = -x * y * a;
    return [[1 - x * x * a, b, -x], [b, 1 - y * y * a, -y]];
  }
  // Return the motion of a joint: fixed, turning, sliding, planar or floating.
  function motion(i) {
    const axis = robot.axis[i], column = robot.source[i], value = robot.multiplier[i] * q[column] + robot.offset[i], kind = robot.kind[i];
    const turn = (about, angle) => new THREE.Matrix4().makeRotationAxis(vec(about).normalize(), angle);
    if (kind === 1) return turn(axis, value);
    if (kind === 2) return new THREE.Matrix4().makeTranslation(...scale(value, axis));
    if (kind === 3) {
      const [u, v] = planeAxes(axis);
      return turn(axis, q[column + 2]).setPosition(vec(add(scale(value, u), scale(q[column + 1], v))));
    }
    const w = q.slice(column + 3, column + 6), angle = norm(w);
    return (angle ? turn(w, angle) : new THREE.Matrix4()).setPosition(value, q[column + 1], q[column + 2]);
  }
  function linkPoses() {
    const poses = [];
    robot.parent.forEach((parent, i) => {
      const pose = new THREE.Matrix4().multiplyMatrices(parent < 0 ? unit : poses[parent], origins[i]);
      poses.push(robot.kind[i] ? pose.multiply(motion(i)) : pose);
    });
    return poses;
  }

  // --- distances ------------------------------------------------------------------------------------------------------
  const pieces = robot.pieces.map((piece) => {
    const flat = piece.points ? numbers(piece.points, Float32Array) : [], local = [];
    for (let i = 0; i < flat.length; i += 3) local.push([flat[i], flat[i + 1], flat[i + 2]]);
    const sides = [0, 1, 2].map((k) => local.map((p) => p[k])), middle = sides.map((s) => (Math.min(...s) + Math.max(...s)) / 2);
    return { ...piece, local, center: middle, reach: Math.max(0, ...local.map((p) => norm(sub(p, middle)))) + piece.radius, points: local, middle };
  });
  const named = new Map();
  for (const piece of pieces) named.set(piece.name, [...(named.get(piece.name) || []), piece]);
  const of = (name) => named.get(name) || [];
  const rows = robot.pairs.flatMap(([a, b, margin], pair) => of(a).flatMap((one) => of(b).map((two) => ({ a: one, b: two, pair, margin }))));
  function place(poses) {
    for (const piece of pieces) {
      if (piece.link < 0) continue;
      const e = poses[piece.link].elements, at = ([x, y, z]) => [0, 1, 2].map((k) => e[k] * x + e[k + 4] * y + e[k + 8] * z + e[k + 12]);
      [piece.points, piece.middle] = [piece.local.map(at), at(piece.center)];
    }
  }
  // Return the distance of a plane and a piece.
  function fromPlane(plane, piece) {
    let least = Infinity, end = null;
    for (const p of piece.points) if (dot(plane.plane, p) < least) [least, end] = [dot(plane.plane, p), p];
    const distance = least - plane.offset - piece.radius, foot = sub(end, scale(least - plane.offset, plane.plane));
    return { distance, ends: [foot, sub(end, scale(piece.radius, plane.plane))] };
  }
  function between(a, b) {
    if (a.plane) return fromPlane(a, b);
    if (b.plane) {
      const found = fromPlane(b, a);
      return { ...found, ends: found.ends.reverse() };
    }
    const found = gjk(a, b), [first, second] = ["a", "b"].map((of) => blend(found.weights, found.rows.map((row) => row[of])));
    const along = sub(second, first), gap = found.end.startsWith("origin") ? 0 : norm(found.v), n = scale(1 / (norm(along) || 1), along), radii = a.radius + b.radius;
    return { distance: gap <= radii + found.error ? -1 : gap - radii, ends: [add(first, scale(a.radius, n)), sub(second, scale(b.radius, n))] };
  }
  const least = ({ a, b }) => (a.plane || b.plane ? -Infinity : norm(sub(a.middle, b.middle)) - a.reach - b.reach);
  // Return the pairs that are nearer than their margins, and the closest pair.
  function nearest() {
    const hits = new Map();
    let best = null;
    for (const row of rows.map((row) => ({ ...row, bound: least(row) })).sort((one, two) => one.bound - two.bound)) {
      if (row.bound > Math.max(row.margin, best ? best.distance : Infinity)) continue;
      const found = { ...row, ...between(row.a, row.b) };
      if (found.distance <= row.margin && found.distance < (hits.get(row.pair)?.distance ?? Infinity)) hits.set(row.pair, found);
      if (!best || found.distance < best.distance) best = found;
    }
    return { hits: [...hits.values()].sort((one, two) => one.distance - two.distance), best };
  }

  // --- the picture ----------------------------------------------------------------------------------------------------
  const signs = picture && [0, 1].map(() => new THREE.Mesh(new THREE.SphereGeometry(0.011, 24, 16), new THREE.MeshBasicMaterial(picture.over)));
  const line = picture && new THREE.Line(gjk3d.points(new Float32Array(6)), new THREE.LineBasicMaterial(picture.over));
  if (picture) [line, ...signs].forEach((mark, rank) => picture.view.scene.add(Object.assign(mark, { renderOrder: 1e4 + rank, frustumCulled: false })));
  const shown = (point) => scale(1 / robot.size, sub(point, robot.center));
  function draw(poses, hit, ends) {
    if (!picture) return;
    for (const entry of picture.groups) {
      if (entry.item.link !== undefined) {
        const pose = entry.group.matrix.copy(poses[entry.item.link]), e = pose.elements;
        pose.setPosition(...shown([e[12], e[13], e[14]]));
        entry.group.matrixWorldNeedsUpdate = true;
      }
      picture.color(entry, hit.has(entry.item.name) ? robot.hit : entry.item.color);
    }
    for (const mark of [line, ...signs]) {
      mark.visible = Boolean(ends);
      mark.material.color.copy(hit.size ? gjk3d.tint(robot.hit, 0.6) : picture.tone(robot.ink));
    }
    (ends || []).forEach((end, i) => {
      signs[i].position.set(...end);
      line.geometry.attributes.position.setXYZ(i, ...end);
    });
    line.geometry.attributes.position.needsUpdate = true;
    picture.view.touched = true;
  }
  function words({ hits, best }) {
    if (!best) return "";
    const names = (row) => robot.pairs[row.pair].slice(0, 2);
    if (!hits.length) return `Free: closest are ${names(best).join(" and ")}, ≈ ${number(best.distance, 3)} m apart`;
    const more = hits.length > 1 ? ` and ${hits.length - 1} pair${hits.length > 2 ? "s" : ""} more` : "";
    const gap = hits[0].distance > 0 ? `, gap ≈ ${number(hits[0].distance, 3)} m` : "";
    return `${gap ? "Too close" : "Collision"}: ${names(hits[0]).join(" with ")}${more}${gap}`;
  }
  const live = element("live"), exact = live?.textContent, first = Boolean(live?.classList.contains("hit"));
  function update(moved) {
    const poses = linkPoses();
    place(poses);
    const answer = rows.length ? nearest() : { hits: [], best: null };
    const hit = new Set(answer.hits.flatMap((row) => robot.pairs[row.pair].slice(0, 2)));
    const overlaps = answer.best && answer.best.distance < 0, away = q.some((value, k) => value !== start[k]);
    draw(poses, hit, !away ? robot.ends : answer.best && !overlaps ? answer.best.ends.map(shown) : null);
    if (live) {
      live.textContent = away ? words(answer) : exact;
      live.className = (away ? hit.size : first) ? "hit" : "";
      element("source").textContent = away ? `approximate: this page compares convex pieces${robot.note && `, ${robot.note}`}` : "computed by gjk3d, with proven bounds";
    }
    for (const input of inputs) {
      const value = q[Number(input.dataset.column)], turning = robot.turning.includes(Number(input.dataset.column));
      const text = turning ? `${number(value, 4)} rad, ${number((value * 180) / Math.PI, 4)}°` : number(value, 4);
      input.labels[0].nextElementSibling.textContent = text;
      input.setAttribute("aria-valuetext", text);
    }
    element("q").textContent = `[${q.map((value) => number(value, 5)).join(", ")}]`;
    state.distance = answer.best ? answer.best.distance : "";
    state.hit = [...hit].sort().join(" ");
    if (moved && picture) picture.view.keep(picture.moving);
  }
  for (const input of inputs) input.addEventListener("input", () => {
    q[Number(input.dataset.column)] = Number(input.value);
    update(true);
  });
  function home() {
    start.forEach((value, k) => { q[k] = value; });
    for (const input of inputs) input.value = start[Number(input.dataset.column)];
    update(false);
  }
  element("home").addEventListener("click", home);
  dark.addEventListener("change", () => update(false));
  home();
})();
