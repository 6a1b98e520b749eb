(function () {
  const { data, element, state: root, make, button, chip, number } = gjk3d, { sides, unit, visible } = clashTable;
  const tiles = [...document.querySelectorAll("[data-kind]")];

  // --- filters -------------------------------------------------------------------------------------------------------
  const option = (value, text) => make("option", { value }, text), section = (label, options) => make("optgroup", { label }, options);
  function tally(values) {
    const counts = new Map();
    for (const value of values) counts.set(value, (counts.get(value) || 0) + 1);
    return [...counts].sort((one, two) => two[1] - one[1]);
  }
  const MOST = 500, groups = tally(data.rows.filter((row) => row.group).map((row) => row.group));
  element("group").append(option("", "any group"));
  if (data.causes.length) element("group").append(section("explained by a part",
    data.causes.map(([part, count], k) => option("cause " + k, `${visible(data.parts[part].name)} (${count})`))));
  const near = groups.length > MOST ? `near each other: the ${MOST} largest of ${groups.length} groups (use the search for other names)` : "near each other";
  element("group").append(section(near, groups.slice(0, MOST).map(([name, count]) => option("group " + name, `${name} (${count})`))));
  element("group").hidden = groups.length < 2 && !data.causes.length;
  function countStates() {
    const was = element("status").value || "open", counts = new Map(tally(data.rows.map((row) => row.state)));
    element("status").replaceChildren(option("open", `open (${data.rows.filter((row) => row.open).length})`),
      ...[...clashDecisions.STATES, "ignored"].filter((name) => counts.has(name) || name === was).map((name) => option(name, `${name} (${counts.get(name) || 0})`)),
      option("all", `all (${data.rows.length})`));
    element("status").value = was;
  }
  countStates();

  function filter() {
    const kinds = new Set(tiles.filter((tile) => tile.ariaPressed === "true").map((tile) => tile.dataset.kind));
    const wanted = element("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const group = element("group").value, status = element("status").value;
    // touches are not open, so they are listed only if their kind is selected
    const open = (row) => row.open || (kinds.has(row.kind) && clashTriage.OPEN.includes(row.state));
    clashTable.show((row, words) =>
      (!kinds.size || kinds.has(row.kind)) && clashTree.holds(row) &&
      (!group || group === "group " + row.group || group === "cause " + row.cause) && (status === "all" || (status === "open" ? open(row) : row.state === status)) &&
      (!wanted.length || wanted.every(((text) => (word) => text.includes(word))(words()))));
  }
  element("clear").addEventListener("click", () => {
    for (const tile of tiles) tile.ariaPressed = "false";
    for (const id of ["search", "group"]) element(id).value = "";
    clashTree.choose("");
    element("status").value = "open";
    filter();
  });
  for (const tile of tiles) tile.addEventListener("click", () => {
    tile.ariaPressed = tile.ariaPressed !== "true";
    filter();
  });
  for (const id of ["search", "group", "status"]) element(id).addEventListener("input", filter);
  clashTree.on(filter);

  // --- the details of a finding --------------------------------------------------------------------------------------
  function copier(name, text) { // pages over http can copy only a selection, so the text of the element is selected
    return button("copy", async ({ target }) => {
      window.getSelection().selectAllChildren(name);
      try { await navigator.clipboard.writeText(text); } catch (error) { document.execCommand("copy"); }
      target.textContent = "copied";
      setTimeout(() => { target.textContent = "copy"; }, 1200);
    }, { class: "small" });
  }
  function vector(values) {
    const least = 1e-13 * Math.max(...values.map(Math.abs)); // smaller values are rounding errors
    return `(${values.map((x) => (Math.abs(x) > least ? number(x) : "0")).join(", ")})`;
  }
  function partLine(side, index) {
    const part = data.parts[index], about = [part.file !== part.name && part.file, part.triangles && `${part.triangles} triangles`];
    const name = make("bdi", { class: "full" }, visible(part.name));
    return make("p", { class: "part" }, chip(side), make("b", {}, side.toUpperCase()), name, copier(name, part.name),
      button("all of its findings", () => clashTree.pick(part.name), { class: "small" }), clashTools?.alone(side),
      make("small", {}, about.filter(Boolean).join(", ")));
  }
  function facts(row) {
    const { told } = row, [part, count] = data.causes[row.cause] || [];
    return [
      ["penetration", told.inside && `${told.inside}${unit} at the deepest known point`],
      ["depth", told.depth && `${told.depth}${unit}`],
      ["gap", told.gap && `${told.gap}${unit}`],
      ["separation of B", row.mtv && `${vector(row.mtv)}, length ${told.way}`],
      ["overlap volume", told.volume && `${told.volume}${unit && unit + "³"}`],
      ["overlap size", told.extent],
      ["when", told.when],
      ["place", row.point && vector(row.point)],
      ["point on A", row.point_a && vector(row.point_a)],
      ["point on B", row.point_b && vector(row.point_b)],
      ["normal", row.normal && `${vector(row.normal)}, from A to B`],
      ["error", told.error && `≤ ${told.error}`],
      ["hulls", told.hulls && `${told.hulls} closer than the parts`],
      ["group", row.group],
      ["cause", count && `${visible(data.parts[part].name)} is in ${count} findings`],
    ].filter(([, text]) => text);
  }
  function describe(index) {
    const box = element("detail");
    box.classList.toggle("on", index >= 0);
    if (index < 0) {
      const how = ["Select a row, or a point in the picture", make("span", { class: "keys" }, ", or press ↓"), ". The points are the places of the findings in the table."];
      box.replaceChildren(make("p", { class: "soft" }, data.rows.length ? how : "This report has no findings."));
      return;
    }
    const row = data.rows[index];
    box.replaceChildren(
      make("h2", {}, make("span", { class: "kind " + row.kind }, row.kind), make("span", { class: "meaning" }, data.meaning[row.kind]),
        make("span", { class: "soft" }, `rank ${row.severity || index + 1} · `, make("code", {}, row.id))),
      ...sides(row).map((side) => partLine(side, row[side])), row.note ? make("p", { class: "note" }, row.note) : "", clashTriage.editor(row), clashTools ? clashTools.views(row) : "",
      make("dl", {}, facts(row).map(([label, text]) => make("div", {}, make("dt", {}, label), make("dd", {}, text)))),
      make("p", { id: "how" }, data.decided[row.decided]),
      make("p", { class: "soft" }, clashView?.missing(row)));
    box.scrollTop = 0;
  }

  // --- the help under the picture, which can be closed ---------------------------------------------------------------
  function help(on) {
    element("help").hidden = !on;
    element("ask-help").ariaExpanded = on;
    try { localStorage.setItem("gjk3d.help", on ? "" : "closed"); } catch (error) { /* without a store, the help is shown on each visit */ }
    window.dispatchEvent(new Event("resize"));
  }
  element("ask-help").addEventListener("click", () => help(element("help").hidden));
  element("close-help").addEventListener("click", () => help(false));
  try { if (localStorage.getItem("gjk3d.help")) help(false); } catch (error) { /* the help is shown */ }

  // --- events --------------------------------------------------------------------------------------------------------
  clashTable.on(
    (index, look) => {
      clashView?.show(index);
      clashTools?.selected();
      describe(index);
      // on a phone the picture is above the table
      if (look && index >= 0 && window.matchMedia("(max-width: 820px)").matches) element("view").scrollIntoView();
    },
    (shown) => {
      const all = data.rows.length, of = shown.length === all ? "" : `${shown.length} of `;
      element("count").textContent = `${of}${all} finding${all === 1 ? "" : "s"}`;
      root.shown = shown.length;
      element("empty").hidden = shown.length > 0;
      element("empty").textContent = data.rows.length ? "No finding matches the filter." : "There are no findings.";
      for (const id of ["before", "next"]) element(id).disabled = !shown.length;
      clashDots?.mark(shown);
    },
    clashTriage.bulk,
  );
  clashTriage.on((rows, written) => {
    const at = document.activeElement && (document.activeElement.id || document.activeElement.dataset.state), old = element("triage");
    countStates();
    clashTable.renew(rows.map((row) => row.index));
    const now = data.rows[clashTable.selected];
    // a name is stored when its field loses the focus to another field, which must keep the focus
    if (!old || !now || written === "assignee") return;
    if (old.isConnected && (!rows.length || rows.includes(now))) {
      const fields = [...old.querySelectorAll("input, textarea")].filter((field) => field.id !== written && field.value !== field.defaultValue);
      old.replaceWith(clashTriage.editor(now));
      for (const { id, value } of fields) element(id).value = value; // unfinished input
    }
    const focus = at && (document.getElementById(at) || document.querySelector(`#triage [data-state="${at}"]`));
    if (focus) focus.focus();
  });
  gjk3d.later(() => { // apply the filter and the selection from the time before the picture was ready
    clashView?.onPick((index) => clashTable.select(index));
    clashDots?.mark(clashTable.shown);
    if (clashTable.selected >= 0) clashTable.select(clashTable.selected);
  });
  element("whole").addEventListener("click", () => clashTable.select(-1));
  for (const [id, way] of [["before", -1], ["next", 1]]) element(id).addEventListener("click", () => clashTable.move(way));
  const step = (by) => () => clashTable.move(by());
  gjk3d.keys({
    ArrowDown: step(() => 1), ArrowUp: step(() => -1), PageDown: step(clashTable.page), PageUp: step(() => -clashTable.page()), Home: step(() => -Infinity), End: step(() => Infinity),
    Escape: () => (clashTable.marked.size ? clashTable.mark([...clashTable.marked], false) : clashTable.select(-1)), n: clashTable.nextOpen,
    " ": () => (clashTable.shown.includes(clashTable.selected) ? clashTable.mark([clashTable.selected], !clashTable.marked.has(clashTable.selected)) : false),
    "Shift+ArrowDown": () => clashTable.extend(1), "Shift+ArrowUp": () => clashTable.extend(-1), "/": () => element("search").focus(), ...clashTriage.keys,
  });
  filter();
  describe(-1);
  const asked = data.ids.indexOf(location.hash.slice(1));
  if (asked >= 0) clashTable.select(asked);
})();
