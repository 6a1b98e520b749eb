// The tree of parts, by the paths in their names. A click filters the findings of a part, or of all parts of a branch.
const clashTree = (function () {
  const { data, element, make, button } = gjk3d, { sides, visible } = clashTable, MOST = 300;
  const root = { name: "", path: "", count: 0, below: new Map() };
  let among = null, onChoose = () => {};
  function grow() { // only parts with findings; called when the tree is opened
    const ways = new Map(data.rows.flatMap((row) => sides(row).map((side) => [row[side], []])));
    for (const part of [...ways.keys()].sort((one, two) => one - two)) {
      let node = root;
      for (const piece of data.parts[part].name.split(/(?<=\/)/)) {
        if (!node.below.has(piece)) node.below.set(piece, { name: piece, path: node.path + piece, count: 0, below: new Map() });
        node = node.below.get(piece);
        ways.get(part).push(node);
      }
    }
    for (const row of data.rows) for (const node of new Set(sides(row).flatMap((side) => ways.get(row[side])))) node.count++;
  }
  function branch(node) {
    const below = [...node.below.values()], close = (path) => { choose(path); element("tree").open = false; element("part").focus(); onChoose(); };
    return make("ul", {}, !node.path && make("li", {}, button("any part", () => close(""), { class: "node" })), below.slice(0, MOST).map((one) => {
      const item = make("li"), twist = button(one.below.size ? "▸" : "", () => {
        const old = item.querySelector("ul");
        old ? old.remove() : item.append(branch(one));
        twist.textContent = old ? "▸" : "▾";
        twist.setAttribute("aria-expanded", !old);
      }, { class: "twist", "aria-label": `open ${visible(one.name)}`, "aria-expanded": false });
      twist.disabled = !one.below.size;
      item.append(twist, button([make("bdi", {}, visible(one.name)), make("small", {}, ` ${one.count}`)], () => close(one.path), { class: "node", "data-path": one.path }));
      if (below.length === 1 && one.below.size) twist.click();
      return item;
    }), below.length > MOST && make("li", { class: "soft" }, `… and ${below.length - MOST} more: use the search`));
  }
  // Filter the findings of the part of this name, or of a branch, which ends in a slash. An empty path selects all.
  function choose(path) {
    among = path && Uint8Array.from(data.parts, ({ name }) => name === path || (path.endsWith("/") && name.startsWith(path)));
    element("part").replaceChildren(make("bdi", {}, path || "any part"));
    element("part").title = path;
  }
  element("tree").addEventListener("toggle", () => {
    if (!element("tree").open) return;
    if (!root.below.size) grow();
    element("twigs").replaceChildren(branch(root));
  });
  document.addEventListener("pointerdown", (event) => { if (!element("tree").contains(event.target)) element("tree").open = false; });
  element("tree").addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !element("tree").open) return;
    element("tree").open = false;
    element("part").focus();
    event.stopPropagation();
  });
  return { choose, pick(path) { choose(path); onChoose(); }, holds: (row) => !among || (row.a >= 0 && among[row.a] > 0) || (row.b >= 0 && among[row.b] > 0), on(handler) { onChoose = handler; } };
})();
