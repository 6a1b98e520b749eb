// Show the name of the object under the mouse, and the line about it. A click, a tap or the list selects an object.
(function () {
  const { data, element, make } = gjk3d, picture = gjk3d.picture, pick = element("pick"), fact = element("fact");
  const tell = (name) => (name ? `${name}: ${data.facts[name] || "free"}` : "");
  let view = null, mark = () => {};
  function select(name) {
    if ([...pick.options].some((option) => option.value === name)) pick.value = name;
    fact.textContent = tell(name);
    gjk3d.state.picked = name;
    mark(name);
  }
  pick.addEventListener("change", () => select(pick.value));
  if (!picture) return;
  view = picture.view;
  const tip = view.box.appendChild(make("div", { id: "name", hidden: "" }));
  const named = picture.groups.filter(({ item }) => item.name in data.facts || item.parts);
  const meshes = named.flatMap((entry) => entry.meshes.filter((mesh) => mesh.isMesh).map((mesh) => Object.assign(mesh, { entry })));
  // Return the name of the object at a triangle of an item.
  function nameOf({ item }, face) {
    if (!item.parts) return item.name;
    let first = 0;
    for (const [name, count] of item.parts) if (face < (first += count)) return name;
    return "";
  }
  function under(event) {
    const hit = view.ray(event).intersectObjects(meshes.filter((mesh) => mesh.parent.visible))[0];
    return hit ? nameOf(hit.object.entry, hit.faceIndex) : "";
  }
  // Outline the selected object in its box.
  const box = new THREE.Box3Helper(new THREE.Box3(), "#0072B2");
  Object.assign(box.material, { depthTest: false, transparent: true });
  view.scene.add(Object.assign(box, { renderOrder: 2e4, frustumCulled: false }));
  mark = (name) => {
    box.box.makeEmpty();
    for (const { item, meshes: [mesh] } of named) {
      const index = mesh.geometry.index.array, place = mesh.geometry.attributes.position, at = new THREE.Vector3();
      let first = 0;
      for (const [part, count] of item.parts || [[item.name, index.length / 3]]) {
        if (part === name) for (let i = 3 * first; i < 3 * (first + count); i++) box.box.expandByPoint(at.fromBufferAttribute(place, index[i]));
        first += count;
      }
    }
    box.visible = Boolean(name);
    view.touched = true;
  };
  mark("");
  let last = null;
  view.canvas.addEventListener("pointermove", (event) => {
    if (!last) requestAnimationFrame(() => {
      const name = last.buttons ? "" : under(last), { left, top, width } = view.box.getBoundingClientRect();
      tip.textContent = tell(name);
      tip.hidden = !name;
      tip.style.left = `${Math.min(last.clientX - left + 14, Math.max(0, width - tip.offsetWidth - 4))}px`;
      tip.style.top = `${last.clientY - top + 16}px`;
      last = null;
    });
    last = event;
  });
  view.canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
  view.onClick((event) => select(under(event)));
})();
