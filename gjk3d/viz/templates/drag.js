// A body that is moved in the plane of a view by the pointer or by keys.
// `hold` has the moved body's index, its `place` and `heart` (its middle) in the world, `shown(to)` which draws it at a
// place, and `put(to)` which also computes the results.
const gjk3dDrag = (function () {
  const { vec } = gjk3d, { dot, sub, add, scale } = gjk3dVectors, { local } = gjk3dMarks;
  // Move from a place by pixels. The body stays in the picture, or its middle if it was not all in it.
  function drag(panel, hold, from, dx, dy) {
    const scaleOf = (2 * panel.camera.position.distanceTo(panel.controls.target) * Math.tan((panel.camera.fov * Math.PI) / 360)) / panel.box.clientHeight;
    const axes = [0, 1, 2].map(() => new THREE.Vector3()), pixel = panel.view.unit * scaleOf, heart = sub(hold.heart(), hold.place());
    panel.camera.matrixWorld.extractBasis(...axes);
    const [right, top] = axes.map((axis) => axis.toArray()), place = ([x, y]) => add(from, scale(pixel, add(scale(x, right), scale(-y, top))));
    const body = [panel.bodies[hold.body]], whole = !panel.cut(panel.spread(body)), before = sub(hold.place(), from);
    const fits = (to) => {
      hold.shown(to);
      return !panel.cut(whole ? panel.spread(body) : [vec(local(panel.view, add(heart, to)))]);
    };
    let moved = [dot(before, right) / pixel, -dot(before, top) / pixel];
    [dx, dy].forEach((wish, k) => { // along one axis after the other, so that it slides along the rim of the picture
      const part = (t) => moved.map((x, i) => (i === k ? x + t * (wish - x) : x));
      let [low, high] = fits(place(part(1))) ? [1, 1] : [0, 1];
      while (high - low > 0.01) {
        const t = (low + high) / 2;
        [low, high] = fits(place(part(t))) ? [t, high] : [low, t];
      }
      moved = part(low);
    });
    hold.put(place(moved));
  }
  // Call `begin(hit)` for a press on one of some bodies, and the function that it returns for each move in pixels. The
  // first two bodies of a panel are the shapes A and B, and either may hide the other.
  function listen(panel, bodies, begin, end) {
    const hear = (name, act) => panel.box.addEventListener(name, act, true); // before the camera controls
    const hits = (event) => {
      const [met] = panel.ray(event).intersectObjects(panel.bodies.slice(0, 2), true).filter((one) => one.object.isMesh);
      return met ? bodies.find((i) => panel.bodies[i] === met.object.parent) : undefined;
    };
    let from = null;
    hear("pointerdown", (event) => {
      const hit = event.button ? undefined : hits(event);
      if (hit === undefined) return;
      event.preventDefault();
      panel.controls.enabled = false; // dragging a body does not rotate the view
      panel.canvas.setPointerCapture(event.pointerId);
      from = { move: begin(hit), x: event.clientX, y: event.clientY };
    });
    hear("pointermove", (event) => {
      if (from) from.move(event.clientX - from.x, event.clientY - from.y);
      else if (!event.buttons) panel.canvas.style.cursor = hits(event) === undefined ? "" : "move";
    });
    hear("lostpointercapture", () => {
      if (!from) return;
      from = null;
      panel.controls.enabled = true;
      end();
    });
  }
  return { drag, listen };
})();
