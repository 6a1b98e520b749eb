// Words and marks: a name or a role in a text has the colour of its mark, and pointing at one shows the other.
const gjk3dLinks = (function () {
  const { make } = gjk3d, { paint } = gjk3dPanel;
  const ROLES = { "horizon": "rim", "new faces": "fan", "faces that see it": "removed", "Voronoi region": "region", "support point": "new", "nearest face": "closest", "origin": "origin" };
  const PATTERN = new RegExp(`\\b(w\\d+|A - B|${Object.keys(ROLES).join("|")})\\b`);
  let panels = [], lit = null;

  // the colour of each name in the figure
  const colors = () => Object.fromEntries(panels.flatMap((panel) => panel.labels.map(([node]) => [node.dataset.mark, node.style.color])));
  // Return a text as nodes, whose names and roles are linked. `tab` makes them reachable by keyboard.
  function linked(text, tab = false) {
    const known = colors(), drawn = new Set(panels.flatMap((panel) => panel.marks()));
    return text.split(PATTERN).map((part) => {
      if (part === "A - B") return make("span", { class: "set" }, part); // one word, also at the end of a line
      const mark = /^w\d+$/.test(part) ? part : ROLES[part];
      if (!mark || !drawn.has(mark)) return document.createTextNode(part);
      const node = make("span", { class: "word", "data-mark": mark, tabindex: tab ? 0 : undefined }, part), color = known[mark] || (ROLES[part] && ROLES[part] !== "origin" && tint(ROLES[part]));
      if (color) node.style.color = color;
      return node;
    });
  }
  const tint = (mark) => paint(mark === "rim" ? "new" : mark, "text");
  function light(mark) {
    if (mark === lit) return;
    lit = mark;
    panels.forEach((panel) => panel.light(mark));
    for (const node of document.querySelectorAll("[data-mark]")) node.classList.toggle("lit", node.dataset.mark === mark);
  }
  function start(all) {
    panels = all;
    const over = (event) => {
      const node = event.target instanceof Element && event.target.closest(".word");
      if (node) light(node.dataset.mark);
    };
    for (const name of ["pointerover", "focusin"]) document.addEventListener(name, over);
    for (const name of ["pointerout", "focusout"]) document.addEventListener(name, (event) => { if (event.target instanceof Element && event.target.closest(".word")) light(null); });
    for (const panel of panels) {
      panel.canvas.addEventListener("pointermove", (event) => { if (!event.buttons) light(panel.nearest(event)); });
      panel.canvas.addEventListener("pointerleave", () => light(null));
    }
  }
  return { start, linked, reset: () => { lit = null; } };
})();
