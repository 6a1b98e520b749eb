// The table of findings: filtered, sorted, and only the rows in sight are in the page, so that any number stays quick.
const clashTable = (function () {
  const HEIGHT = 46, HEAD = 36, MARGIN = 12, PRINTED = 5000;
  const { data, element } = gjk3d;
  const scroll = element("scroll"), body = element("rows");
  const unit = data.unit ? " " + data.unit : "";
  let shown = [], selected = -1, key = "severity", direction = 1, printing = false;
  let onSelect = () => {}, onShow = () => {};

  function make(tag, name, text) {
    const made = document.createElement(tag);
    if (name) made.className = name;
    if (text !== undefined) made.textContent = text;
    return made;
  }
  function number(value, digits = 6) {
    const short = Number(value.toPrecision(digits)), size = Math.abs(short);
    return size > 0 && size < 1e-3 ? short.toExponential() : String(short);
  }
  function length(value, digits) {
    return value === undefined ? "" : number(value, digits) + unit;
  }
  // A part is known by the end of its path; the way there is set smaller behind it. A name that is too long lacks its
  // middle, for "bolt_M6x20_left" and "bolt_M6x20_right" differ at their ends.
  function pathName(name) {
    const cut = name.replace(/\/+$/, "").lastIndexOf("/"), last = [...(cut < 0 ? name : name.slice(cut + 1))];
    const label = make("bdi", "name"), end = last.length > 12 ? 7 : 0;
    const whole = make("span", "whole");
    whole.append(make("span", "head", last.slice(0, last.length - end).join("")));
    if (end) whole.append(make("span", "tail", last.slice(-end).join("")));
    label.append(whole);
    if (cut > 0) label.append(make("small", "", name.slice(0, cut)));
    label.title = name;
    return label;
  }
  const sides = (row) => ["a", "b"].filter((side) => row[side] >= 0);
  const words = (row) =>
    [row.id, row.kind, row.state, row.assignee, ...sides(row).map((side) => data.parts[row[side]].name), row.group, row.note].join("\n").toLowerCase();
  const { inside, brief, volume } = data.widths;
  for (const [name, none] of [["inside", !inside], ["volume", !volume], ["group", !data.groups.length]]) scroll.classList.toggle("no-" + name, none);
  // a column is as wide as its longest text, so that names have the rest
  for (const [column, title, most] of [["rank", 28, String(data.rows.length).length], ["inside", 88, inside], ["distance", 92, brief], ["volume", 62, volume]])
    document.querySelector(".c-" + column).style.width = `max(${title}px, calc(${most}ch + 17px))`;
  if (data.unit) for (const [field, power] of [["penetration", ""], ["distance", ""], ["overlap_volume", "³"]])
    document.querySelector(`[data-sort=${field}]`).append(make("small", "", data.unit + power));
  const kindOrder = new Map(data.kinds.map((kind, k) => [kind, k])), groupOrder = new Map(data.groups.map((name, k) => [name, k]));
  const RANKS = { // parts and groups come in the order of their names
    a: (row) => (row.a < 0 ? undefined : row.a), b: (row) => (row.b < 0 ? undefined : row.b),
    kind: (row) => kindOrder.get(row.kind), group: (row) => groupOrder.get(row.group), severity: (row) => row.index,
  };

  function arranged(indices) {
    const value = RANKS[key] || ((row) => row[key] && Math.fround(row[key])), of = indices.map((index) => [index, value(data.rows[index])]);
    of.sort(([i, one], [j, two]) => {
      if (one === two) return i - j;
      if (one === undefined) return 1; // what is not known comes last, either way
      if (two === undefined) return -1;
      return direction * (one - two) || i - j;
    });
    return of.map(([index]) => index);
  }

  function makeRow(place) {
    const index = shown[place], row = data.rows[index];
    const line = make("tr", row.kind + (index === selected ? " selected" : ""));
    line.id = "row-" + index;
    line.dataset.row = index;
    line.setAttribute("aria-rowindex", place + 2);
    line.setAttribute("aria-selected", index === selected);
    line.append(make("td", "rank", row.severity || row.index + 1));
    const kind = make("td");
    kind.append(make("span", "kind " + row.kind, row.kind));
    kind.append(make("small", "", row.said ? `${row.state} · ${row.said}` : row.state));
    if (row.said) kind.title = `${row.said} comment${row.said === 1 ? "" : "s"}`;
    const parts = make("td", "parts");
    for (const side of sides(row)) {
      const part = make("div");
      part.append(make("span", "chip " + side), pathName(data.parts[row[side]].name));
      parts.append(part);
    }
    const distance = make("td", "right");
    distance.append(make("div", "", row.told.brief || (row.whole ? "–" : "…")));
    if (row.kind !== "unchecked") distance.append(make("small", "", row.evidence.replace(/.*, (depth )?/, "")));
    if (row.whole) distance.title = `${row.evidence}. ${data.decided[row.decided]}`;
    const inside = make("td", "right inside", row.told.inside || "");
    const volume = make("td", "right volume", row.told.volume || "");
    const group = make("td", "group");
    group.append(pathName(row.group || ""));
    line.append(kind, parts, inside, distance, volume, group);
    return line;
  }
  function spacer(rows) {
    const line = make("tr", "spacer");
    line.setAttribute("aria-hidden", "true");
    line.style.height = rows * HEIGHT + "px";
    return line;
  }
  function draw() {
    let first = Math.max(0, Math.floor((scroll.scrollTop - HEAD) / HEIGHT) - MARGIN);
    let last = Math.min(shown.length, Math.ceil((scroll.scrollTop + scroll.clientHeight) / HEIGHT) + MARGIN);
    if (printing) [first, last] = [0, Math.min(shown.length, PRINTED)];
    const missing = clashRows.fetchRows(shown.slice(first, last));
    if (missing) missing.then(draw);
    const lines = [spacer(first)];
    for (let place = first; place < last; place++) lines.push(makeRow(place));
    lines.push(spacer(printing ? 0 : shown.length - last));
    body.replaceChildren(...lines);
  }
  let waiting = false;
  scroll.addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(); });
  });
  new ResizeObserver(draw).observe(scroll);
  window.addEventListener("beforeprint", () => { printing = true; draw(); });
  window.addEventListener("afterprint", () => { printing = false; draw(); });

  function prepare() { // block by block, what the printer will want: it does not wait
    for (const index of shown.slice(0, PRINTED)) {
      const missing = clashRows.fetchRows([index]);
      if (missing) return void missing.then(() => setTimeout(prepare, 30));
    }
  }
  setTimeout(prepare, 500);

  function show(test) {
    shown = [];
    for (let i = 0; i < data.rows.length; i++) if (test(data.rows[i], () => words(data.rows[i]))) shown.push(i);
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
    if (selected >= 0 && shown.includes(selected)) reveal();
    else scroll.scrollTop = 0;
    draw();
    onShow(shown);
  }
  function reveal() {
    const place = shown.indexOf(selected), top = place * HEIGHT, high = scroll.clientHeight - HEAD - HEIGHT;
    if (top < scroll.scrollTop) scroll.scrollTop = top;
    else if (top > scroll.scrollTop + high) scroll.scrollTop = top - high;
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
  for (const button of document.querySelectorAll("[data-sort]")) {
    button.addEventListener("click", () => {
      direction = button.dataset.sort === key ? -direction : 1;
      key = button.dataset.sort;
      arrange();
    });
  }
  return {
    data, element, make, number, length, sides, show, select, move, unit, draw,
    get selected() { return selected; },
    page: () => Math.max(1, Math.floor(scroll.clientHeight / HEIGHT) - 2),
    on(selecting, showing) { onSelect = selecting; onShow = showing; },
  };
})();
