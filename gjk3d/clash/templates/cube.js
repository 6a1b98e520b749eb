// The view cube with the axes of the assembly. A click on a face shows the assembly from this side.
gjk3d.later(function () {
  if (!clashView) return;
  const { data, element, make, vec } = gjk3d, { picture, camera } = clashStage, SIDE = 10, SCALE = 1.6;
  const up = vec(data.up), right = data.up[0] ? vec([0, 1, 0]) : vec([1, 0, 0]), back = up.clone().cross(right), minus = (v) => v.clone().negate();
  // each face: its normal, and its directions to the right and up
  const faces = [["front", minus(back), right, up], ["back", back, minus(right), up], ["right", right, back, up], ["left", minus(right), minus(back), up],
    ["top", up, right, back], ["bottom", minus(up), right, minus(back)]];
  const axes = ["x", "y", "z"].map((name, k) => ({ ends: [-1, 1.9, 2.25].map((at) => vec([0, 1, 2].map((i) => (i === k ? at : -1)))),
    line: make("line", { class: "axis-" + name }), text: make("text", { class: "axis-" + name }, name) }));
  const made = faces.map(([name, normal, along, tall]) => {
    const look = () => picture.fly(picture.controls.target.clone(), camera.position.distanceTo(picture.controls.target), normal, tall, 400);
    const face = make("g", { role: "button", tabindex: 0, "aria-label": `view from the ${name}`, click: look,
      keydown: (event) => { if (/^( |Enter)$/.test(event.key)) { look(); event.preventDefault(); event.stopPropagation(); } } },
    make("rect", { x: -SIDE, y: -SIDE, width: 2 * SIDE, height: 2 * SIDE }), make("text", { y: 2 }, name));
    return { face, normal, along, tall };
  });
  const box = element("view").appendChild(make("svg", { id: "cube", viewBox: "-50 -50 100 100", "aria-label": "view cube" },
    axes.map(({ line }) => line), made.map(({ face }) => face), axes.map(({ text }) => text)));
  let was = "";
  function place() {
    const turn = camera.quaternion.toArray().map((x) => x.toFixed(4)).join(" ");
    if (turn === was) return;
    was = turn;
    const inverse = camera.quaternion.clone().invert(), seen = (v) => v.clone().applyQuaternion(inverse).multiplyScalar(SCALE);
    for (const { face, normal, along, tall } of made) {
      const [n, u, v] = [normal, along, tall].map(seen);
      face.setAttribute("class", n.z > 0.02 ? "" : "behind"); // it can still get the focus
      face.setAttribute("transform", `matrix(${[u.x, -u.y, -v.x, v.y, SIDE * n.x, -SIDE * n.y].map((x) => x.toFixed(4)).join(" ")})`);
    }
    for (const { ends, line, text } of axes) {
      const [from, to, at] = ends.map((end) => seen(end).multiplyScalar(SIDE));
      for (const [name, value] of [["x1", from.x], ["y1", -from.y], ["x2", to.x], ["y2", -to.y]]) line.setAttribute(name, value.toFixed(2));
      text.setAttribute("x", at.x.toFixed(2));
      text.setAttribute("y", (3 - at.y).toFixed(2));
    }
  }
  const after = picture.after;
  picture.after = () => { after(); place(); };
  box.addEventListener("pointerdown", (event) => event.stopPropagation());
});
