// The table of findings with a filter and an order. Only visible rows are in the page, so that large tables are fast.
const clashTable = (function () {
  const HEAD = 36, MARGIN = 12, PRINTED = 5000;
  const { data, element, make, chip } = gjk3d;
  const scroll = element("scroll"), body = element("rows");
  const unit = data.unit ? " " + data.unit : "";
  const high = () => parseFloat(getComputedStyle(body).getPropertyValue("--row")); // the height of a row in pixels
  let shown = [], selected = -1, passes = () => true, key = "severity", direction = 1, printing = false;
  let onSelect = () => {}, onShow = () => {};

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
  const { inside, brief, volume } = data.widths;
  for (const [name, none] of [["inside", !inside], ["volume", !volume], ["when", !data.columns.time], ["group", !data.groups.length]]) scroll.classList.toggle("no-" + name, none);
  // a column is as wide as its longest text, and the names get the remaining width
  for (const [column, title, most] of [["rank", 28, String(data.rows.length).length], ["inside", 88, inside], ["distance", 108, brief], ["volume", 62, volume]])
    scroll.style.setProperty("--" + column, `max(${title}px, calc(${most}ch + 17px))`);
  if (data.unit) for (const [field, power] of [["penetration", ""], ["distance", ""], ["overlap_volume", "³"]])
    document.querySelector(`[data-sort=${field}]`).append(make("small", {}, data.unit + power));
  const places = (names) => new Map(names.map((name, k) => [name, k])), kindOrder = places(data.kinds), groupOrder = places(data.groups);
  const RANKS = { // parts and groups are numbered in the order of their names
    a: (row) => (row.a < 0 ? undefined : row.a), b: (row) => (row.b < 0 ? undefined : row.b),
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
    make("td", { class: "right soft rank" }, row.severity || index + 1),
    make("td", { class: "sort", title: said ? `${said} comment${said === 1 ? "" : "s"}` : undefined },
      make("span", { class: "kind " + row.kind }, row.kind), make("small", {}, said ? `${row.state} · ${said}` : row.state)),
    make("td", { class: "parts" }, sides(row).map((side) => make("div", {}, chip(side), pathName(data.parts[row[side]].name)))),
    make("td", { class: "right inside" }, told.inside),
    make("td", { class: "right far", ...how }, make("div", {}, told.brief || (row.whole ? "–" : "…")),
      row.kind !== "unchecked" && make("small", {}, row.evidence.replace(/.*, /, ""))),
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
  scroll.addEventListener("scroll", draw); // browsers send it once in each frame
  new ResizeObserver(draw).observe(scroll);
  window.addEventListener("beforeprint", () => { printing = true; draw(); });
  window.addEventListener("afterprint", () => { printing = false; draw(); });

  async function prepare() { // unpacks the rows for a print in advance, because printing does not wait for them
    for (const index of shown.slice(0, PRINTED)) await clashRows.fetchRows([index]);
  }
  setTimeout(prepare, 500);

  function collect() {
    shown = [];
    for (let i = 0; i < data.rows.length; i++) if (passes(data.rows[i], () => words(data.rows[i]))) shown.push(i);
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
    collect();
    begin();
  }
  // A decision can move rows in or out of the table. If the chosen row disappears, the next row is chosen.
  function renew(index) {
    const place = shown.indexOf(index);
    collect();
    if (place >= 0 && index === selected && !shown.includes(index)) select(shown[Math.min(place, shown.length - 1)] ?? -1);
    else draw();
  }
  function reveal() {
    const top = shown.indexOf(selected) * high(), room = scroll.clientHeight - HEAD - high();
    if (top < scroll.scrollTop) scroll.scrollTop = top;
    else if (top > scroll.scrollTop + room) scroll.scrollTop = top - room;
  }
  function select(index) {
    selected = index;
    if (index >= 0) {
      reveal();
      scroll.setAttribute("aria-activedescendant", "row-" + index);
    } else scroll.removeAttribute("aria-activedescendant");
    document.documentElement.dataset.selected = index >= 0 ? data.rows[index].id : "";
    draw();
    const missing = index >= 0 && clashRows.fetchRows([index]);
    if (missing) missing.then(() => { if (selected === index) onSelect(index); });
    else onSelect(index);
  }
  function move(step) {
    if (!shown.length) return;
    const place = shown.indexOf(selected);
    const next = place < 0 && step === -1 ? shown.length - 1 : Math.max(0, Math.min(shown.length - 1, place + step));
    if (shown[next] !== selected) select(shown[next]);
  }
  body.addEventListener("click", (event) => {
    const line = event.target.closest("[data-row]");
    if (line && !String(window.getSelection())) select(Number(line.dataset.row));
  });
  for (const button of document.querySelectorAll("[data-sort]")) button.addEventListener("click", () => {
    direction = button.dataset.sort === key ? -direction : 1;
    key = button.dataset.sort;
    arrange();
    begin();
  });
  return {
    sides, show, renew, select, move, unit, draw, visible,
    get selected() { return selected; },
    get shown() { return shown; },
    page: () => Math.max(1, Math.floor(scroll.clientHeight / high()) - 2),
    on(selecting, showing) { onSelect = selecting; onShow = showing; },
  };
})();
