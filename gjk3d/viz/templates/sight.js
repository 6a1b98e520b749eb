// The direction from which all views of a page are seen: set by `reset`, by the mouse or by a link.
const gjk3dSight = (function () {
  const { data, vec } = gjk3d;
  let panels = [], home = null, placed = null, hand = false, adapt = null, changed = null;

  const seen = () => home || { way: vec(data.view), top: vec(data.up) };
  const direction = () => (adapt ? adapt(seen().way) : seen().way), top = () => seen().top;
  function look(time, zoom) {
    if (!home) return;
    placed = direction();
    panels.forEach((panel) => panel.fit(placed, home.top, time, zoom));
  }
  // Look again if the step has another direction.
  function follow(time) {
    if (home && panels.length && panels[0].sight().distanceTo(direction()) > 1e-6) look(time);
  }
  function reset() {
    home = { way: vec(data.view), top: vec(data.up) };
    hand = false;
    look(0, 1);
    changed();
  }
  const refit = (panel) => panel.fit(panel.sight(), panel.camera.up.clone(), 0, 1);
  // Return a direction near `way` that has a given cosine with the unit vector `arrow`.
  function leaned(way, arrow, cosine) {
    const across = way.clone().addScaledVector(arrow, -way.dot(arrow));
    if (across.lengthSq() < 1e-6) across.set(...data.up).cross(arrow);
    return across.normalize().multiplyScalar(Math.sqrt(1 - cosine * cosine)).addScaledVector(arrow, cosine);
  }
  // Rotating one view rotates the others.
  function turned(panel) {
    const way = panel.sight(), others = panels.filter((one) => one !== panel), away = others.map((one) => one.away());
    if (panel.flight) return;
    changed();
    if (way.distanceTo(placed) < 1e-6) return;
    hand = true;
    placed = way;
    home = { way, top: panel.camera.up.clone() };
    others.forEach((other, i) => {
      other.camera.position.copy(other.controls.target).addScaledVector(way, away[i]);
      other.camera.up.copy(home.top);
      other.touched = true;
    });
  }
  // The view as text of an address; empty for that of `reset`.
  function text() {
    const gone = panels.map((panel) => panel.gone(placed, home.top));
    if (!hand && !gone.flat().some((x, i) => Math.abs(x - (i % 4 === 3)) > 1e-3)) return "";
    return [placed.toArray(), home.top.toArray(), gone].flat(2).map((x) => Number(x.toFixed(5))).join();
  }
  // Restore such a view, and return whether the text is one.
  function restore(words) {
    const sight = (words || "").split(",").map(Number), [way, top] = [0, 3].map((i) => vec(sight.slice(i, i + 3)).normalize());
    if (sight.length !== 6 + 4 * panels.length || !sight.every((x) => Math.abs(x) < 100)) return false;
    if (!(way.clone().cross(top).length() > 0.1 && panels.every((_, i) => sight[9 + 4 * i] > 0.01))) return false;
    [home, placed, hand] = [{ way, top }, way, true];
    panels.forEach((panel, i) => panel.fit(way, top, 0, sight[9 + 4 * i], sight.slice(6 + 4 * i, 9 + 4 * i)));
    return true;
  }
  // `change` is called after the reader changed the view. `lean` returns the direction of a step from that of the reader.
  function start(all, change, lean) {
    [panels, changed, adapt] = [all, change, lean];
  }
  const listen = () => panels.forEach((panel) => { panel.turned = () => turned(panel); });
  return { start, listen, panels: () => panels, direction, top, look, follow, reset, refit, leaned, text, restore };
})();
