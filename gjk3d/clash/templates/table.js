// The table of findings with a filter and an order. Only visible rows are in the page, so that large tables are fast.
const clashTable = (function () {
  const HEAD = 36, MARGIN = 12, PRINTED = 5000;
  const { data, element, make, chip } = gjk3d;
  const scroll = element("scroll"), body = element("rows");
  const unit = data.unit ? " " + data.unit : "";
  const high = () => parseFloat(getComputedStyle(body).getPropertyValue("--row")); // the height of a row in pixels
  const marked = new Set(), held = new Set(); // rows that are decided together, and rows that stay until the filter changes
  let anchor = -1; // the row at which a range of marked rows begins
  let shown = [], selected = -1, passes = () => true, key = "severity", direction = 1, printing = false;
  let onSelect = () => {}, onShow = () => {}, onMark = () => {};

  // control characters are replaced by their code points, because they could hide or reorder the text
  const visible = (name) => name.replace(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`).trim() || "(no name)";
  // The last step of a path is shown first, and the path before it in small letters. The middle of a long name is left
  // out, because names such as "bolt_M6x20_left" and "bolt_M6x20_right" differ at their ends.
  function pathName(given) {
    const name = visible(given), cut = name.replace(/\/+$/, "").lastIndexOf("/"), last = [...(cut < 0 ? name : name.slice(cut + 1))], end = last.length > 12 ? 7 : 0;
    const head = make("span", { class: "head" }, last.slice(0, last.length - end).join("")), tail = make("span", { class: "tail" }, last.slice(last.length - end).join(""));
    return make("bdi", { class: "name", title: name }, make("span", { class: "whole" }, head, end && tail), cut > 0 && make("small", {}, name.slice(0, cut)));
  }
  const sides = (row) => ["a", "b"].filter((side) => row[side] >= 0);
  const words = (row) =>
    [row.id, row.kind, row.state, row.assignee, ...sides(row).map((side) => data.parts[row[side]].name), row.group, row.note].join("\n").toLowerCase();
  const { inside, volume } = data.widths, far = Math.max(data.widths.depth, data.widths.gap);
  for (const [name, none] of [["inside", !inside], ["volume", !volume], ["when", !data.columns.time], ["group", !data.groups.length]]) scroll.classList.toggle("no-" + name, none);
  // a column is as wide as its longest text, and the names get the remaining width
  for (const [column, title, most] of [["rank", 34, String(data.rows.length).length], ["inside", 88, inside], ["far", 100, far], ["volume", 62, volume]])
    scroll.style.setProperty("--" + column, `max(${title}px, calc(${most}ch + 17px))`);
  if (data.unit) for (const [field, power] of [["penetration", ""], ["depth", ""], ["gap", ""], ["overlap_volume", "³"]])
    document.querySelector(`[data-sort=${field}]`).append(make("small", {}, data.unit + power));
  const places = (names) => new Map(names.map((name, k) => [name, k])), kindOrder = places(data.kinds), groupOrder = places(data.groups);
  const RANKS = { // parts and groups are numbered in the order of their names
    a: (row) => (row.a < 0 ? undefined : row.a), b: (row) => (row.b < 0 ? undefined : row.b),
    depth: (row) => (row.distance < 0 ? -row.distance : undefined), gap: (row) => (row.distance >= 0 ? row.distance : undefined),
    kind: (row) => kindOrder.get(row.kind), group: (row) => groupOrder.get(row.group), severity: (row) => row.index,
  };

  function arranged(indices) {
    const value = RANKS[key] || ((row) => row[key] && Math.fround(row[key]));
    return indices.sort((i, j) => {
      const one = value(data.rows[i]), two = value(data.rows[j]);
      if (one === two) return i - j;
      if (one === undefined) return 1; // unknown values are last in both directions
      if (two === undefined) return -1;
      return direction * (one - two) || i - j;
    });
  }

  function makeRow(place) {
    const index = shown[place], row = data.rows[index], { told, said } = row;
    const how = { title: row.whole ? `${row.evidence}. ${data.decided[row.decided]}` : undefined };
    return make("tr", {
      id: "row-" + index, class: row.kind + (index === selected ? " selected" : ""), "data-row": index, "aria-rowindex": place + 2, "aria-selected": index === selected,
    },
    make("td", { class: "right soft rank" }, row.severity || index + 1,
      make("input", { type: "checkbox", class: "mark", tabindex: -1, checked: marked.has(index) || undefined, "aria-label": `mark rank ${row.severity || index + 1}` })),
    make("td", { class: "sort", title: said ? `${said} comment${said === 1 ? "" : "s"}` : undefined },
      make("span", { class: "kind " + row.kind }, row.kind), make("small", {}, said ? `${row.state} · ${said}` : row.state)),
    make("td", { class: "parts" }, sides(row).map((side) => make("div", {}, chip(side), pathName(data.parts[row[side]].name)))),
    make("td", { class: "right inside" }, told.inside),
    make("td", { class: "right far", ...how }, make("div", {}, told.depth || told.gap || (row.whole ? "–" : "…")),
      row.kind !== "unchecked" && make("small", {}, told.depth ? "depth" : told.gap && "gap", make("span", {}, row.evidence.match(/, (exact|range)$/)?.[0]))),
    make("td", { class: "right volume" }, told.volume),
    make("td", { class: "when", title: told.when }, make("small", {}, told.when || (row.whole && "–"))),
    make("td", { class: "group" }, row.group && pathName(row.group)));
  }
  function spacer(rows) {
    const line = make("tr", { class: "spacer", "aria-hidden": true });
    line.style.height = rows * high() + "px";
    return line;
  }
  function draw() {
    let first = Math.max(0, Math.floor((scroll.scrollTop - HEAD) / high()) - MARGIN);
    let last = Math.min(shown.length, Math.ceil((scroll.scrollTop + scroll.clientHeight) / high()) + MARGIN);
    if (printing) [first, last] = [0, Math.min(shown.length, PRINTED)];
    const missing = clashRows.fetchRows(shown.slice(first, last));
    if (missing) missing.then(draw);
    const lines = [spacer(first)];
    for (let place = first; place < last; place++) lines.push(makeRow(place));
    lines.push(spacer(printing ? 0 : shown.length - last));
    body.replaceChildren(...lines);
  }
  scroll.addEventListener("scroll", draw); // browsers send this event once in each frame
  new ResizeObserver(draw).observe(scroll);
  window.addEventListener("beforeprint", () => { printing = true; draw(); });
  window.addEventListener("afterprint", () => { printing = false; draw(); });

  async function prepare() { // unpacks the rows for a print in advance, because printing does not wait for them
    for (const index of shown.slice(0, PRINTED)) await clashRows.fetchRows([index]);
  }
  setTimeout(prepare, 500);

  function collect() {
    shown = [];
    for (let i = 0; i < data.rows.length; i++) if (held.has(i) || passes(data.rows[i], () => words(data.rows[i]))) shown.push(i);
    arrange();
  }
  function arrange() {
    shown = arranged(shown);
    scroll.querySelector("table").setAttribute("aria-rowcount", shown.length + 1);
    for (const button of document.querySelectorAll("[data-sort]")) {
      const on = button.dataset.sort === key;
      button.dataset.way = on ? (direction > 0 ? "up" : "down") : "";
      if (on) button.closest("th").setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
      else if (!button.closest("th").querySelector(`[data-sort="${key}"]`)) button.closest("th").removeAttribute("aria-sort");
    }
    onShow(shown);
  }
  function begin() {
    if (selected >= 0 && shown.includes(selected)) reveal();
    else scroll.scrollTop = 0;
    draw();
  }
  function show(test) {
    passes = test;
    held.clear();
    collect();
    if (marked.size) {
      const listed = new Set(shown);
      mark([...marked].filter((index) => !listed.has(index)), false);
    }
    begin();
  }
  // Decided rows and the selected row stay in the table until the filter changes, so that no row moves under the pointer.
  function renew(indices) {
    for (const index of [...indices, selected, ...marked]) if (index >= 0 && shown.includes(index)) held.add(index);
    collect();
    draw();
  }
  function mark(indices, on) { // rows that are marked are decided together
    for (const index of indices) marked[on ? "add" : "delete"](index);
    element("mark-all").checked = marked.size > 0;
    element("mark-all").indeterminate = marked.size > 0 && marked.size < shown.length;
    onMark([...marked].sort((one, two) => one - two));
    draw();
  }
  function range(index) { // mark the rows from the anchor to a row
    const from = shown.includes(anchor) ? anchor : index; // a filter may have removed the anchor
    const [first, last] = [shown.indexOf(from), shown.indexOf(index)].sort((one, two) => one - two);
    if (first >= 0) mark(shown.slice(first, last + 1), true);
  }
  element("mark-all").addEventListener("change", ({ target }) => mark(target.checked ? shown : [...marked], target.checked));
  function reveal() {
    const top = shown.indexOf(selected) * high(), room = scroll.clientHeight - HEAD - high();
    if (top < scroll.scrollTop) scroll.scrollTop = top;
    else if (top > scroll.scrollTop + room) scroll.scrollTop = top - room;
  }
  function select(index, look = true) { // on a phone, `look` scrolls to the picture
    selected = anchor = index;
    if (index >= 0) {
      reveal();
      scroll.setAttribute("aria-activedescendant", "row-" + index);
    } else scroll.removeAttribute("aria-activedescendant");
    document.documentElement.dataset.selected = index >= 0 ? data.rows[index].id : "";
    draw();
    const missing = index >= 0 && clashRows.fetchRows([index]);
    if (missing) missing.then(() => { if (selected === index) onSelect(index, look); });
    else onSelect(index, look);
  }
  function nextOpen() { // select the next open row
    const place = shown.indexOf(selected), next = [...shown.slice(place + 1), ...shown.slice(0, place + 1)].find((index) => data.rows[index].open);
    if (next !== undefined && next !== selected) select(next);
  }
  function extend(step) { // select the next row, and mark all rows from the anchor to this row
    const from = anchor < 0 ? selected : anchor;
    move(step);
    if (from >= 0) anchor = from;
    if (selected >= 0) range(selected);
  }
  function move(step) {
    if (!shown.length) return;
    const place = shown.indexOf(selected);
    const next = place < 0 && step === -1 ? shown.length - 1 : Math.max(0, Math.min(shown.length - 1, place + step));
    if (shown[next] !== selected) select(shown[next]);
  }
  body.addEventListener("click", (event) => {
    const line = event.target.closest("[data-row]");
    if (!line) return;
    const index = Number(line.dataset.row), box = event.target.closest(".mark");
    if (event.shiftKey) range(index);
    else if (box || event.ctrlKey || event.metaKey) { mark([index], !marked.has(index)); anchor = index; }
    else if (!String(window.getSelection())) select(index);
  });
  body.addEventListener("mousedown", (event) => { if (event.shiftKey) event.preventDefault(); }); // no selection of text
  for (const button of document.querySelectorAll("[data-sort]")) button.addEventListener("click", () => {
    direction = button.dataset.sort === key ? -direction : 1;
    key = button.dataset.sort;
    arrange();
    begin();
  });
  return {
    sides, show, renew, select, move, mark, nextOpen, extend, unit, draw, visible,
    get marked() { return marked; },
    get selected() { return selected; },
    get shown() { return shown; },
    page: () => Math.max(1, Math.floor(scroll.clientHeight / high()) - 2),
    on(selecting, showing, marking) { onSelect = selecting; onShow = showing; onMark = marking; },
  };
})();
