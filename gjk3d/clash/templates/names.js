// The name of the part under the pointer. A click shows the name below the picture, with a button for its findings.
gjk3d.later(function () {
  if (!clashView) return;
  const { data, element, make, button, points: at } = gjk3d, { visible } = clashTable, { picture, pair, rest, shapeOf, matrixOf, view } = clashStage;
  const geometries = new Map(), box = new THREE.Box3(), where = new THREE.Vector3(), WAIT = 60; // milliseconds without a move
  function bodyOf(part) {
    if (!geometries.has(part.shape)) {
      const { points, indices } = shapeOf(part);
      geometries.set(part.shape, at(points).setIndex(new THREE.BufferAttribute(indices, 1)));
    }
    const body = new THREE.Mesh(geometries.get(part.shape), new THREE.MeshBasicMaterial({ side: THREE.DoubleSide }));
    body.matrixWorld.copy(matrixOf(part));
    return body;
  }
  function first(parts, caster) { // the part that a ray hits first (the boxes exclude most parts)
    let best = null, least = Infinity;
    const cuts = picture.renderer.clippingPlanes, origin = caster.ray.origin;
    const candidates = parts.filter((part) => part.shape >= 0 && part.box).flatMap((part) => {
      box.min.fromArray(part.box[0]); box.max.fromArray(part.box[1]);
      const enter = box.containsPoint(origin) ? origin : caster.ray.intersectBox(box, where);
      return enter ? [[enter.distanceTo(origin), part]] : [];
    }).sort((one, two) => one[0] - two[0]);
    for (const [near, part] of candidates) {
      if (near > least) break;
      const hit = caster.intersectObject(bodyOf(part)).find((item) => cuts.every((plane) => plane.distanceToPoint(item.point) >= 0));
      if (hit && hit.distance < least) [best, least] = [part, hit.distance];
    }
    return best;
  }
  function partAt(event) {
    const caster = picture.ray(event), shown = pair.filter(({ visible: on, part }) => on && part).map(({ part }) => part);
    return first(shown, caster) || (rest.visible ? first(data.parts, caster) : null);
  }
  const tip = view.appendChild(make("span", { id: "tip", class: "label" })), pinned = element("part-name");
  tip.hidden = true;
  let waiting = 0;
  function leave() {
    clearTimeout(waiting);
    tip.hidden = true;
  }
  picture.canvas.addEventListener("pointermove", (event) => {
    leave();
    if (event.buttons || event.pointerType === "touch") return;
    waiting = setTimeout(() => {
      const part = partAt(event);
      if (!part) return;
      tip.replaceChildren(make("bdi", {}, visible(part.name)));
      tip.hidden = false;
      [tip.style.left, tip.style.top] = [`${Math.max(2, Math.min(event.offsetX + 12, view.clientWidth - tip.offsetWidth - 4))}px`, `${Math.max(2, event.offsetY - 26)}px`];
    }, WAIT);
  });
  picture.canvas.addEventListener("pointerleave", leave);
  picture.onClick((event) => {
    if (element("measure").checked) return;
    const part = partAt(event);
    pinned.replaceChildren(...(part ? ["part: ", make("bdi", {}, visible(part.name)), " ", button("its findings", () => clashTree.pick(part.name), { class: "small" })] : []));
  });
});
