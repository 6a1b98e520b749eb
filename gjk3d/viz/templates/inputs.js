// Numbers that are inputs: the place of B and both radii. A field is typed in, or dragged sideways to change it.
const gjk3dInputs = (function () {
  const { element, make, number } = gjk3d;
  const FIELDS = { x: "B's x", y: "B's y", z: "B's z", ra: "A's radius", rb: "B's radius" };
  // Call `change` with the name of a field and its value. `unit` is a length that is large in the picture.
  function start(unit, change) {
    const step = 10 ** Math.floor(Math.log10(unit / 20));
    element("inputs").append(...Object.entries(FIELDS).map(([name, words]) => {
      const field = make("input", { type: "number", id: `in-${name}`, step, min: name.startsWith("r") ? 0 : undefined }), put = (value) => {
        if (!Number.isFinite(value) || Math.abs(value) > 1e3 * unit) return;
        change(name, name.startsWith("r") ? Math.max(0, value) : value);
      };
      let from = null;
      field.addEventListener("input", () => put(field.valueAsNumber));
      const grip = make("span", { class: "grip", title: "drag sideways" }, words);
      grip.addEventListener("pointerdown", (event) => { from = { x: event.clientX, value: field.valueAsNumber || 0 }; grip.setPointerCapture(event.pointerId); event.preventDefault(); });
      grip.addEventListener("pointermove", (event) => { if (from) put(Number((from.value + Math.round((event.clientX - from.x) / 4) * step).toPrecision(9))); });
      for (const end of ["pointerup", "pointercancel"]) grip.addEventListener(end, () => { from = null; });
      return make("label", {}, grip, field);
    }));
  }
  // Show values. A field that has the value already keeps its text, which may be typed at this moment.
  function show(values) {
    for (const [name, value] of Object.entries(values)) if (element(`in-${name}`).valueAsNumber !== value) element(`in-${name}`).value = number(value, 6);
  }
  return { start, show };
})();
