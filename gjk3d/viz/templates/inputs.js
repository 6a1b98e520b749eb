// Numbers that are inputs: the place of B, and the sizes, the rotation and the radius of both shapes. A field is typed in,
// or dragged sideways to change it.
const gjk3dInputs = (function () {
  const { element, make, number } = gjk3d;
  const SIDES = ["a", "b"], NAMES = ["x", "y", "z", ...SIDES.flatMap((side) => [...[0, 1, 2].map((k) => `s${side}${k}`), ...[0, 1, 2].map((k) => `t${side}${k}`), `r${side}`])];
  // Call `change` with the name of a field and its value. `unit` is a length that is large in the picture.
  function start(unit, change) {
    const length = 10 ** Math.floor(Math.log10(unit / 20));
    element("inputs").append(...NAMES.map((name) => {
      const turn = name[0] === "t", step = turn ? 5 : length, least = { s: length / 10, r: 0 }[name[0]], most = turn ? 3600 : 1e3 * unit;
      const field = make("input", { type: "number", id: `in-${name}`, step, min: name[0] === "r" ? 0 : undefined }), put = (value) => {
        if (Number.isFinite(value) && Math.abs(value) <= most) change(name, least === undefined ? value : Math.max(least, value));
      };
      let from = null;
      field.addEventListener("input", () => put(field.valueAsNumber));
      const grip = make("span", { class: "grip", title: "drag sideways" });
      grip.addEventListener("pointerdown", (event) => { from = { x: event.clientX, value: field.valueAsNumber || 0 }; grip.setPointerCapture(event.pointerId); event.preventDefault(); });
      grip.addEventListener("pointermove", (event) => { if (from) put(Number((from.value + Math.round((event.clientX - from.x) / 4) * step).toPrecision(9))); });
      for (const end of ["pointerup", "pointercancel"]) grip.addEventListener(end, () => { from = null; });
      return make("label", {}, grip, field);
    }));
  }
  // Show the numbers of a pair. A field that has the value already keeps its text, which may be typed at this moment.
  function show(pair, shift, edits) {
    const values = Object.fromEntries(["x", "y", "z"].map((name, i) => [name, [shift[i], `B's ${name}`]]));
    SIDES.forEach((side, i) => {
      const who = "AB"[i], { sizes, words } = gjk3dShapes.sizes(pair[i], edits[i]);
      sizes.forEach((size, k) => { values[`s${side}${k}`] = [size, `${who}'s ${words[k]}`]; });
      (edits[i].turn || [0, 0, 0]).forEach((angle, k) => { values[`t${side}${k}`] = [angle, `${who}'s rotation ${"xyz"[k]}, °`]; });
      values[`r${side}`] = [pair[i].radius, `${who}'s ${pair[i].points ? "radius" : "outer radius"}`];
    });
    for (const name of NAMES) {
      const field = element(`in-${name}`), [value, words] = values[name] || [0, ""];
      field.parentNode.hidden = !words;
      field.previousSibling.textContent = words;
      if (field.valueAsNumber !== value) field.value = number(value, 6);
    }
  }
  return { start, show };
})();
