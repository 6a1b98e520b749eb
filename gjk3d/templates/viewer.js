"use strict";
// Functions of all pages: arrays from text, light and dark colours, keys, and 3D views.
const gjk3d = (function () {
  const state = document.documentElement.dataset, element = (id) => document.getElementById(id);
  const dark = window.matchMedia("(prefers-color-scheme: dark)"), calm = window.matchMedia("(prefers-reduced-motion: reduce)");
  const data = JSON.parse(element("scene").textContent);
  const SVG = ["svg", "g", "rect", "line", "text", "polyline", "polygon"];
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  // Return a number with a number of significant digits, in the format of gjk3d/wording.py.
  function number(x, digits = 6) {
    if (!x) return "0";
    const [head, power] = x.toExponential(digits - 1).split("e");
    if (power >= -4 && power < digits) return String(Number(x.toPrecision(digits)));
    return `${Number(head)}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  }
  const vec = (p) => new THREE.Vector3(...p);
  const tint = (text, by = 1) => new THREE.Color(text).convertSRGBToLinear().multiplyScalar(by);

  // Return an element with attributes, event handlers (functions) and children. False children are left out.
  function make(tag, given = {}, ...within) {
    const node = SVG.includes(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(given)) {
      if (typeof value === "function") node.addEventListener(name, value);
      else if (value !== undefined) node.setAttribute(name, value);
    }
    node.append(...within.flat().filter(Boolean));
    return node;
  }
  const button = (words, click, given = {}) => make("button", { type: "button", click, ...given }, words);
  const chip = (side) => make("span", { class: "chip " + side });
  function numbers(text, Kind) {
    if (Uint8Array.fromBase64) return new Kind(Uint8Array.fromBase64(text).buffer);
    const raw = atob(text), bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return new Kind(bytes.buffer);
  }
  function points(array) {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(array, 3));
    return geometry;
  }
  function surface(mesh) {
    const geometry = points(numbers(mesh.positions, Float32Array));
    geometry.setIndex(new THREE.BufferAttribute(numbers(mesh.indices, geometry.attributes.position.count < 65536 ? Uint16Array : Uint32Array), 1));
    geometry.computeVertexNormals(); // vertices are doubled along sharp edges
    return geometry;
  }
  // Return a cylinder or a cone (tip 0) between two points.
  function between(start, end, foot, tip, material) {
    const along = end.clone().sub(start), length = along.length() || 1e-9;
    const mesh = new THREE.Mesh(new THREE.CylinderGeometry(tip, foot, length, 20), material);
    mesh.position.copy(start).addScaledVector(along, 0.5);
    mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), along.divideScalar(length));
    return mesh;
  }

  // Handle keys of the page, except keys that the focused control uses. Escape leaves a field.
  function keys(actions) {
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const at = event.target instanceof Element ? event.target : document.body, field = at.closest("select, textarea, input:not([type=range], [type=checkbox])");
      const name = (event.shiftKey && event.key.length > 1 ? "Shift+" : "") + event.key; // on some keyboards, a sign needs Shift
      if (field && event.key === "Escape") field.blur();
      if (!(name in actions) || (field && !(field.type === "search" && /^Arrow(Up|Down)$/.test(event.key)))) return;
      if (/^( |Enter)$/.test(event.key) && at.closest("button, summary, input, a")) return;
      if (/^(Arrow|Home|End|Page)/.test(event.key) && at.closest("[type=range]")) return;
      if (actions[name](event) !== false) event.preventDefault();
    });
  }
  // A player with a button and a slider. `next` gets the time since the last step and the number of steps. It returns
  // the next value, undefined to wait, or null at the end. After the end, the player starts from the beginning.
  function player(press, slider, put, next) {
    let since = null, moves = 0;
    function play(on) {
      moves = 0;
      since = on ? performance.now() : null;
      press.textContent = on ? "pause" : "play";
    }
    press.addEventListener("click", () => {
      const over = since === null && next(0, 0) === null;
      if (over) put(Number(slider.min));
      play(since === null);
      moves = Number(over);
    });
    slider.addEventListener("input", () => { play(false); put(Number(slider.value)); });
    movers.push((now) => {
      const to = since === null ? undefined : next(now - since, moves);
      if (to === undefined) return false;
      if (to === null) play(false);
      else {
        since = now;
        moves += 1;
        put(to);
      }
      return true;
    });
    return { play, toggle: () => press.click(), stopped: (act) => () => { play(false); act(); } };
  }

  // Return the result of `draw`. Without WebGL, return null, show a message, and hide the controls of the picture.
  function drawn(draw, more, controls) {
    try {
      return draw();
    } catch (error) {
      element("trouble").textContent = `This browser cannot draw the 3D view, because it has no WebGL${more}.`;
      element("trouble").hidden = false;
      for (const id of controls) element(id).hidden = true;
      state.state = "no-webgl";
      return null;
    }
  }
  // A 3D view in a box. It is drawn again if `touched` is set. Without WebGL, the constructor throws.
  const views = [], movers = [];
  function View(box, angle, sky = 0.62, powers = [0.55, 0.25]) {
    this.box = box;
    this.angle = angle;
    this.touched = true;
    this.labels = []; // texts at points
    // the drawing buffer is preserved for printing
    this.renderer = new THREE.WebGLRenderer({ antialias: true, alpha: true, preserveDrawingBuffer: true });
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2));
    this.renderer.outputEncoding = THREE.sRGBEncoding;
    this.canvas = this.renderer.domElement;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", box.dataset.label || document.title);
    box.prepend(this.canvas);
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(angle, 1, 0.01, 1000);
    this.scene.add(this.camera, new THREE.HemisphereLight(0xffffff, 0xb9c2cc, sky));
    [[-0.55, 0.7, 0.6], [0.8, 0.15, 0.5]].forEach((at, i) => {
      const lamp = new THREE.DirectionalLight(0xffffff, powers[i]);
      lamp.position.set(...at);
      this.camera.add(lamp, lamp.target);
    });
    views.push(this);
  }
  // Place the camera at `eye`, with the target `center`.
  View.prototype.aim = function (eye, center, up) {
    if (this.controls) this.controls.dispose();
    this.camera.position.copy(eye);
    this.camera.up.copy(up);
    this.controls = new THREE.TrackballControls(this.camera, this.canvas);
    this.controls.target.copy(center);
    Object.assign(this.controls, { rotateSpeed: 2.6, zoomSpeed: 1.3, panSpeed: 0.6, dynamicDampingFactor: 0.35 });
    this.controls.addEventListener("change", () => {
      this.touched = true;
      if (this.turned) this.turned();
    });
    this.resize();
  };
  const ease = (t) => t * t * (3 - 2 * t);
  // Move the camera in `time` milliseconds to the distance `far` from `target`, in the direction `way`.
  View.prototype.fly = function (target, far, way, up, time) {
    const { camera, controls } = this, from = camera.position.clone().sub(controls.target), near = from.length() || far;
    const turn = new THREE.Quaternion().setFromUnitVectors(from.normalize(), way), start = performance.now(), long = calm.matches ? 0 : time;
    const begin = { target: controls.target.clone(), up: camera.up.clone() };
    const advance = (now) => {
      const t = long ? Math.min(1, Math.max(0, now - start) / long) : 1, s = ease(t);
      controls.target.copy(begin.target).lerp(target, s);
      camera.position.copy(from).applyQuaternion(new THREE.Quaternion().slerp(turn, s)).multiplyScalar(near ** (1 - s) * far ** s).add(controls.target);
      camera.up.copy(begin.up).lerp(up, s).normalize();
      if (t === 1) this.flight = null;
      this.touched = true;
    };
    this.flight = { far, advance };
    state.flight = "moving";
    if (!long) advance(Infinity);
  };
  // Fit the view to its box, above its `foot`. In a narrow box, the field of view is wider.
  View.prototype.resize = function () {
    if (window.matchMedia("print").matches) return; // print the picture of the screen
    const width = this.box.clientWidth, height = Math.max(this.box.clientHeight, 1), wide = this.wide || 1;
    const room = height - (this.foot ? Math.min(this.foot.offsetHeight, 0.4 * height) : 0);
    if (!this.fits()) this.renderer.setSize(width, height); // a new size is slow without a GPU
    this.camera.aspect = width / room;
    this.camera.setViewOffset(width, room, 0, 0, width, height);
    this.camera.fov = (Math.atan(Math.tan((this.angle * Math.PI) / 360) * Math.max(1, wide / this.camera.aspect)) * 360) / Math.PI;
    this.camera.updateProjectionMatrix();
    if (this.controls) this.controls.handleResize();
    if (this.resized) this.resized();
    this.touched = true;
  };
  View.prototype.fits = function () {
    return this.canvas.style.width === `${this.box.clientWidth}px` && this.canvas.style.height === `${Math.max(this.box.clientHeight, 1)}px`;
  };
  // Return the ray through a pointer.
  View.prototype.ray = function (event) {
    const frame = this.canvas.getBoundingClientRect(), ray = new THREE.Raycaster();
    ray.setFromCamera({ x: (2 * (event.clientX - frame.left)) / frame.width - 1, y: 1 - (2 * (event.clientY - frame.top)) / frame.height }, this.camera);
    return ray;
  };
  // Return the distance in pixels between a point and a pointer.
  View.prototype.distance = function (point, event) {
    const [x, y] = this.pixel(point);
    return Math.hypot(x - event.offsetX, y - event.offsetY);
  };
  // Call a handler for a click without a drag.
  View.prototype.onClick = function (handler) {
    let pressed = [NaN, NaN];
    this.canvas.addEventListener("pointerdown", (event) => { pressed = [event.clientX, event.clientY]; });
    this.canvas.addEventListener("pointerup", (event) => {
      if (Math.hypot(event.clientX - pressed[0], event.clientY - pressed[1]) <= 4) handler(event);
    });
  };
  View.prototype.pixel = function (point) {
    const at = point.clone().project(this.camera);
    return [((at.x + 1) * this.box.clientWidth) / 2, ((1 - at.y) * this.box.clientHeight) / 2, at.z];
  };
  // Draw the view, and call `before` and `after`.
  View.prototype.draw = function () {
    const far = this.camera.position.distanceTo(this.controls.target), reach = this.reach || 1;
    this.touched = false;
    this.camera.near = Math.max(far / 100, far - reach);
    this.camera.far = far + 4 * reach;
    this.camera.updateProjectionMatrix();
    if (this.before) this.before(far);
    this.renderer.render(this.scene, this.camera);
    this.write();
    if (this.after) this.after();
  };
  View.prototype.label = function (text, point) {
    const node = this.box.appendChild(make("span", { class: "label" }, text));
    this.labels.push([node, vec(point)]);
    return node;
  };
  // Place labels next to their points, away from the center of all points, without overlaps, between head and foot. A minor
  // label without room is hidden. The positions are relative, so that they are also correct in print.
  const TURNS = [0, 0.6, -0.6, 1.2, -1.2, 2, -2, 3.1], FAR = [1, 1.4, 1.9];
  View.prototype.write = function () {
    const { labels } = this, w = this.box.clientWidth, low = this.box.clientHeight - (this.foot?.offsetHeight || 0), above = this.head ? this.head.offsetTop + this.head.offsetHeight : 2;
    const rows = labels.map(([node, point]) => ({ node, spot: this.pixel(point), nw: node.offsetWidth, nh: node.offsetHeight })), spots = rows.map((row) => row.spot), taken = [];
    const middle = [0, 1].map((i) => spots.reduce((sum, p) => sum + p[i], 0) / Math.max(1, spots.length));
    // the position of a label's corner, and its cost: far from its point, over another label or over a point
    function place({ spot: [sx, sy], nw, nh }, turn, far) {
      const angle = Math.atan2(sy - middle[1], sx - middle[0]) + turn, [c, s] = [Math.cos(angle), Math.sin(angle)];
      const x = sx + far * (11 + (nw / 2) * Math.abs(c)) * Math.sign(c) * Math.min(1, Math.abs(c) + 0.25), y = sy + far * 19 * s;
      const left = Math.min(Math.max(x - nw / 2, 2), w - nw - 2), top = Math.min(Math.max(y - nh / 2, above), low - nh - 2);
      let cost = 0.15 * Math.abs(turn) + 2 * (far - 1);
      for (const [l, t, r, b] of taken) if (left < r && left + nw > l && top < b && top + nh > t) cost += 5;
      for (const [px, py] of spots) if (px > left - 5 && px < left + nw + 5 && py > top - 2 && py < top + nh + 2) cost += 2;
      return { left, top, cost };
    }
    for (const row of [false, true].flatMap((minor) => rows.filter(({ node }) => Boolean(node.dataset.minor) === minor))) {
      const { node, nw, nh, spot } = row, all = FAR.flatMap((far) => TURNS.map((turn) => place(row, turn, far)));
      const { left, top, cost } = all.reduce((best, one) => (one.cost < best.cost ? one : best)), crowded = node.dataset.minor && cost >= 5;
      if (!crowded) taken.push([left, top, left + nw, top + nh]);
      node.style.visibility = spot[2] > 1 || crowded ? "hidden" : "";
      [node.style.left, node.style.top] = [`${(100 * left) / w}%`, `${(100 * top) / this.box.clientHeight}%`];
    }
  };
  // Move the camera back until an object is in the picture.
  View.prototype.keep = function (object) {
    const { camera, controls: { target } } = this, tall = 0.94 * Math.tan((camera.fov * Math.PI) / 360);
    object.updateMatrixWorld(true);
    camera.lookAt(target);
    camera.updateMatrixWorld(true);
    const hull = new THREE.Box3().setFromObject(object), ends = [hull.min, hull.max];
    const corners = [0, 1, 2, 3, 4, 5, 6, 7].map((k) => camera.worldToLocal(vec(["x", "y", "z"].map((axis, i) => ends[(k >> i) & 1][axis]))));
    const short = hull.isEmpty() ? 0 : Math.max(0, ...corners.map((p) => p.z + Math.max(Math.abs(p.x) / camera.aspect, Math.abs(p.y)) / tall));
    camera.position.addScaledVector(camera.position.clone().sub(target).normalize(), short);
    this.touched = true;
  };
  // Call functions in order after the page is loaded and its text is visible, because a picture takes long to start.
  const awaited = [];
  window.addEventListener("load", () => requestAnimationFrame(() => setTimeout(() => awaited.forEach((act) => act()))));
  const later = (act) => awaited.push(act);
  // Start the frames. In each frame, `tick` gets the time and returns whether something moves.
  function start(tick) {
    if (tick) movers.push(tick);
    views.forEach((view) => view.resize()); // the foot has its final height now
    // a new size clears the canvas after the frame was drawn, so it is drawn again at once
    const observer = new ResizeObserver(() => views.filter((view) => !view.fits()).forEach((view) => { view.resize(); view.draw(); }));
    views.forEach((view) => observer.observe(view.box));
    function frame(now) {
      requestAnimationFrame(frame);
      let moving = movers.filter((move) => move(now)).length > 0;
      for (const view of views) {
        if (view.flight) view.flight.advance(now);
        view.controls.update();
        if (!view.touched) continue;
        moving = true;
        view.draw();
      }
      if (views.length) state.state = "drawn";
      state.flight = moving ? "moving" : "done";
    }
    frame(performance.now());
  }
  return { data, state, element, make, button, chip, css, number, dark, calm, player, vec, tint, numbers, points, surface, between, keys, ease, View, drawn, later, start };
})();
