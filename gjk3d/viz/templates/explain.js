(function () {
  const data = JSON.parse(document.getElementById("scene").textContent);
  const element = (id) => document.getElementById(id);
  const { numbers, points, surface, tint, canvasIn, withoutWebGL, light } = gjk3dStage;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const count = data.steps.length;
  let at = 0, timer = 0;

  function make(tag, where, attributes, text) {
    const node = tag === "span" || tag === "li" ? document.createElement(tag) : document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const name in attributes || {}) node.setAttribute(name, attributes[name]);
    if (text !== undefined) node.textContent = text;
    where.appendChild(node);
    return node;
  }
  function paint(role, part) {
    const color = data.colors[role];
    return dark.matches ? color.dark : part ? color[part] : color.light;
  }

  // --- the curve of both bounds ---------------------------------------------------------------------------------

  const svg = make("svg", element("curve"), { viewBox: "0 0 800 170", preserveAspectRatio: "none" });
  const known = data.steps.map((step, i) => [i, step.lower, step.upper]).filter((row) => row[1] !== null && row[2] !== null);
  const [low, high] = data.limits;
  const left = Math.max(70, 22 + 8 * Math.max(...data.ticks.map((tick) => tick[1].length)));
  let width = 800;
  const x = (i) => left + ((width - 20 - left) * (i + 0.5)) / count;
  const y = (v) => 142 - (134 * (v - low)) / (high - low);
  function line(points, color, thick) {
    if (points.length) make("polyline", svg, { points: points.map((p) => p.join()).join(" "), fill: "none", stroke: color, "stroke-width": thick });
  }
  function curve() {
    width = Math.max(300, element("curve").clientWidth);
    svg.setAttribute("viewBox", `0 0 ${width} 170`);
    svg.replaceChildren();
    for (const [value, label] of data.ticks) {
      make("line", svg, { x1: left, x2: width - 20, y1: y(value), y2: y(value), stroke: Math.abs(value) < 1e-12 * (high - low) ? "var(--soft)" : "var(--line)" });
      make("text", svg, { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, label);
    }
    const seen = known.filter((row) => row[0] <= at), later = known.slice(Math.max(0, seen.length - 1));
    if (seen.length > 1) {
      const band = [...seen.map((row) => [x(row[0]), y(row[1])]), ...seen.slice().reverse().map((row) => [x(row[0]), y(row[2])])];
      make("polygon", svg, { points: band.map((p) => p.join()).join(" "), fill: "var(--band)" });
    }
    for (const side of [1, 2]) {
      line(later.map((row) => [x(row[0]), y(row[side])]), "var(--later)", 1.2);
      line(seen.map((row) => [x(row[0]), y(row[side])]), "var(--ink)", 2);
      const every = Math.max(1, Math.floor(known.length / 60));
      known.forEach((row, k) => {
        if (k % every && row[0] !== at) return;
        const r = row[0] === at ? 5.5 : 3.8, s = side === 1 ? 1 : -1, px = x(row[0]), py = y(row[side]);
        const corners = [[px - r, py + s * r * 0.8], [px + r, py + s * r * 0.8], [px, py - s * r]];
        make("polygon", svg, { points: corners.map((p) => p.join()).join(" "), fill: row[0] <= at ? "var(--ink)" : "var(--later)" });
      });
    }
    make("line", svg, { x1: x(at), x2: x(at), y1: 4, y2: 142, stroke: "var(--now)", "stroke-width": 2 });
    const every = Math.max(1, Math.ceil((count * 26) / width));
    for (let i = 0; i < count; i++) {
      if (i !== at && (i % every || Math.abs(i - at) < every)) continue;
      make("text", svg, { x: x(i), y: 160, "text-anchor": "middle", class: i === at ? "now" : "" }, String(i + 1));
    }
  }
  svg.addEventListener("click", (event) => {
    const box = svg.getBoundingClientRect();
    go(Math.round((((event.clientX - box.left) / box.width) * width - left) / ((width - 20 - left) / count) - 0.5));
  });

  // --- the two views --------------------------------------------------------------------------------------------

  const ANGLE = 16;
  function Panel(where, view) {
    const renderer = canvasIn(where);
    const scene = new THREE.Scene(), camera = new THREE.PerspectiveCamera(ANGLE, 1, 0.1, 1000);
    light(scene, camera, 0.66, [0.45, 0.2]);
    const still = new THREE.Group(), moving = new THREE.Group();
    scene.add(still);
    scene.add(moving);
    const focus = new THREE.Vector3(...view.focus);
    let names = [], controls, distance = 1;

    const color = (role, part) => tint(paint(role, part));
    function place(mesh, order) {
      mesh.renderOrder = order;
      return mesh;
    }
    function glass(piece, group) {
      if (!piece.positions) return solid({ ...piece, kind: piece.points.length > 1 ? "rod" : "ball" }, group);
      const geometry = surface(piece);
      [THREE.BackSide, THREE.FrontSide].forEach((side, pass) => {
        const Kind = piece.kind === "ghost" ? THREE.MeshBasicMaterial : THREE.MeshLambertMaterial;
        const material = new Kind({ color: color(piece.role), side, opacity: piece.opacity * (piece.kind === "ghost" ? 0.7 : 1), transparent: true, depthWrite: false });
        group.add(place(new THREE.Mesh(geometry, material), pass));
      });
      const ends = numbers(piece.edges, Float32Array);
      if (ends.length) {
        const material = new THREE.LineBasicMaterial({ color: color(piece.role, "line"), transparent: true, opacity: Math.min(1, 0.35 + piece.opacity) });
        group.add(place(new THREE.LineSegments(points(ends), material), 2));
      }
    }
    function faces(piece, group) {
      const geometry = points(new Float32Array(piece.faces.flat().flatMap((i) => piece.points[i])));
      geometry.computeVertexNormals();
      const flat = piece.role === "closest" || piece.role === "removed";
      const Kind = flat ? THREE.MeshBasicMaterial : THREE.MeshLambertMaterial;
      const material = new Kind({ color: color(piece.role), side: THREE.DoubleSide, opacity: piece.opacity, transparent: true, depthWrite: false });
      group.add(place(new THREE.Mesh(geometry, material), flat ? 4 : 3));
    }
    function between(start, end, geometry, material, group, order) {
      const along = end.clone().sub(start);
      const mesh = place(new THREE.Mesh(geometry(along.length() || 1e-9), material), order);
      mesh.position.copy(start).addScaledVector(along, 0.5);
      mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), along.normalize());
      group.add(mesh);
    }
    function solid(piece, group) {
      const over = data.colors[piece.role].over, order = over ? 8 : 6, size = piece.size;
      const material = new THREE.MeshLambertMaterial({ color: color(piece.role, "rod"), emissive: color(piece.role, "rod").multiplyScalar(0.25), transparent: over, depthTest: !over });
      const [start, end] = piece.points.map((p) => new THREE.Vector3(...p));
      if (piece.kind === "ball") {
        const mesh = place(new THREE.Mesh(new THREE.SphereGeometry(size, 28, 18), material), order + 1);
        mesh.position.copy(start);
        group.add(mesh);
      } else if (piece.kind === "rod") {
        between(start, end, (length) => new THREE.CylinderGeometry(size, size, length, 16), material, group, order);
      } else {
        const head = Math.min(6 * size, 0.5 * start.distanceTo(end));
        const neck = end.clone().addScaledVector(end.clone().sub(start).normalize(), -head);
        between(start, neck, (length) => new THREE.CylinderGeometry(size, size, length, 16), material, group, order);
        between(neck, end, (length) => new THREE.CylinderGeometry(0, 2.4 * size, length, 24), material, group, order);
      }
    }
    function add(piece, group) {
      if (piece.kind === "glass" || piece.kind === "ghost") glass(piece, group);
      else if (piece.kind === "faces") faces(piece, group);
      else if (piece.kind === "label") {
        const node = make("span", where, { class: "name" }, piece.text);
        node.style.color = paint(piece.role, piece.role === "ink" || piece.role === "new" ? "light" : "line");
        names.push([node, new THREE.Vector3(...piece.points[0])]);
      } else solid(piece, group);
    }
    function clear(group) {
      for (const mesh of [...group.children]) {
        group.remove(mesh);
        mesh.geometry.dispose();
        mesh.material.dispose();
      }
    }
    this.camera = camera;
    this.focus = focus;
    this.touched = true;
    this.canvas = renderer.domElement;
    this.repaint = () => {
      clear(still);
      for (const piece of view.still) add(piece, still);
    };
    this.show = (pieces) => {
      clear(moving);
      for (const [node] of names) node.remove();
      names = [];
      for (const piece of pieces) add(piece, moving);
      this.touched = true;
    };
    this.reset = () => {
      if (controls) controls.dispose();
      camera.up.set(...data.up);
      camera.position.copy(focus).addScaledVector(new THREE.Vector3(...data.view), distance);
      controls = new THREE.TrackballControls(camera, renderer.domElement);
      controls.target.copy(focus);
      controls.rotateSpeed = 2.6;
      controls.addEventListener("change", () => {
        this.touched = true;
        if (this.turned) this.turned();
      });
      this.controls = controls;
    };
    this.resize = () => {
      const w = where.clientWidth, h = Math.max(where.clientHeight, 1);
      renderer.setSize(w, h);
      camera.aspect = w / h;
      const half = Math.tan((ANGLE * Math.PI) / 360), before = distance;
      distance = (1.2 * Math.max(view.height + 0.06, view.width / camera.aspect)) / half;
      if (controls) {
        camera.position.sub(controls.target).multiplyScalar(distance / before).add(controls.target);
        controls.handleResize();
      }
      camera.near = distance / 20;
      camera.far = distance * 20;
      camera.updateProjectionMatrix();
      this.touched = true;
    };
    this.draw = () => {
      controls.update();
      if (!this.touched) return false;
      this.touched = false;
      renderer.render(scene, camera);
      label(where, camera, names);
      return true;
    };
  }

  // beside its point, away from the middle of all and off the others
  function label(where, camera, names) {
    const w = where.clientWidth, h = where.clientHeight, taken = [];
    const spots = names.map(([, point]) => {
      const p = point.clone().project(camera);
      return [((p.x + 1) * w) / 2, ((1 - p.y) * h) / 2];
    });
    const middle = [0, 1].map((i) => spots.reduce((sum, p) => sum + p[i], 0) / Math.max(1, spots.length));
    names.forEach(([node], k) => {
      const [sx, sy] = spots[k], nw = node.offsetWidth, nh = node.offsetHeight;
      const angle = Math.atan2(sy - middle[1], sx - middle[0]);
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

  let panels = [];
  try {
    panels = ["left", "right"].map((name, i) => new Panel(element(name), data.views[i]));
  } catch (error) {
    withoutWebGL("; the words and the curve are here", ["left", "right", "reset"]);
    panels = [];
  }
  if (panels.length) document.documentElement.dataset.state = "drawn";
  function align(from, to) {
    const eye = from.camera.position.clone().sub(from.controls.target);
    const away = to.camera.position.distanceTo(to.controls.target);
    to.camera.position.copy(to.controls.target).addScaledVector(eye.normalize(), away);
    to.camera.up.copy(from.camera.up);
    to.touched = true;
  }
  function reset() {
    for (const panel of panels) {
      panel.reset();
      panel.resize();
    }
    panels.forEach((panel, i) => {
      // turned by hand, the other turns along
      let held = false;
      panel.canvas.onpointerdown = panel.canvas.onwheel = () => { held = true; panels[1 - i].release(); };
      panel.release = () => { held = false; };
      panel.turned = () => { if (held) align(panel, panels[1 - i]); };
    });
  }

  // --- from step to step ----------------------------------------------------------------------------------------

  function go(to) {
    at = Math.min(Math.max(to, 0), count - 1);
    const step = data.steps[at];
    element("title").textContent = step.title;
    element("sentence").textContent = step.sentence;
    element("count").textContent = `step ${at + 1} of ${count}`;
    element("bounds").textContent = step.bounds;
    element("slide").value = at;
    element("back").disabled = at === 0;
    element("next").disabled = at === count - 1;
    element("legend").replaceChildren();
    for (const [role, words] of step.legend) {
      const row = make("li", element("legend"));
      make("span", row, { class: "chip" }).style.background = paint(role);
      make("span", row, {}, words);
    }
    panels.forEach((panel, i) => panel.show(step.pieces[i]));
    curve();
    document.documentElement.dataset.step = at;
    if (at === count - 1) play(false);
  }
  function play(on) {
    window.clearTimeout(timer);
    timer = 0;
    element("play").textContent = on ? "pause" : "play";
    if (!on) return;
    const words = data.steps[at].sentence.split(" ").length;
    timer = window.setTimeout(() => {
      go(at + 1);
      if (at < count - 1) play(true);
    }, 1500 + 250 * words);
  }
  function toggle() {
    if (timer) return play(false);
    if (at === count - 1) go(0);
    play(true);
  }
  const keys = { ArrowLeft: () => go(at - 1), ArrowRight: () => go(at + 1), Home: () => go(0), End: () => go(count - 1), " ": toggle };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
    if (event.key === " " && event.target.tagName === "BUTTON") return;
    event.preventDefault();
    if (event.key !== " ") play(false);
    keys[event.key]();
  });
  element("back").addEventListener("click", () => { play(false); go(at - 1); });
  element("next").addEventListener("click", () => { play(false); go(at + 1); });
  element("slide").addEventListener("input", () => { play(false); go(Number(element("slide").value)); });
  element("play").addEventListener("click", toggle);
  element("reset").addEventListener("click", reset);
  dark.addEventListener("change", () => {
    for (const panel of panels) panel.repaint();
    go(at);
  });
  new ResizeObserver(() => {
    for (const panel of panels) panel.resize();
    curve();
  }).observe(element("views"));

  for (const panel of panels) panel.repaint();
  reset();
  go(0);
  if (panels.length) {
    (function frame() {
      requestAnimationFrame(frame);
      const moved = panels.map((panel) => panel.draw());
      document.documentElement.dataset.flight = moved.includes(true) ? "moving" : "done";
    })();
  }
})();
