// The table of findings: filtered, sorted, and only the rows in sight are in the page, so that any number stays quick.
const clashTable = (function () {
  const HEIGHT = 46, MARGIN = 12;
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
  // points that were found on the hulls need not be those of the distance: then only the place is shown
  function consistent(row) {
    if (!row.point_a || !row.point_b || row.distance === undefined) return false;
    const apart = Math.hypot(...row.point_a.map((x, k) => row.point_b[k] - x));
    return Math.abs(apart - Math.abs(row.distance)) <= 0.01 * apart + 1e-6 * data.size;
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
  for (const [name, field] of [["inside", "penetration"], ["volume", "overlap_volume"], ["group", "group"]])
    scroll.classList.toggle("no-" + name, data.rows.every((row) => row[field] === undefined));
  // a column is as wide as its longest number, so that names have the rest
  function fit(column, title, texts) {
    const longest = texts.reduce((most, text) => Math.max(most, text.length), 0);
    document.querySelector(".c-" + column).style.width = `max(${title}px, calc(${longest}ch + 18px))`;
  }
  fit("inside", 122, data.rows.map((row) => row.told.inside || ""));
  fit("distance", 104, data.rows.map((row) => row.told.brief || ""));
  fit("volume", 100, data.rows.map((row) => (row.overlap_volume === undefined ? "" : number(row.overlap_volume, 5))));
  if (data.unit) for (const [field, power] of [["penetration", ""], ["distance", ""], ["overlap_volume", "³"]])
    document.querySelector(`[data-sort=${field}]`).append(make("small", "", unit + power));
  const kindOrder = Object.keys(data.meaning);
  const names = data.parts.map((part) => part.name);
  const collator = new Intl.Collator(undefined, { numeric: true });
  const rank = new Uint32Array(names.length);
  names.map((_, i) => i).sort((i, j) => collator.compare(names[i], names[j])).forEach((i, place) => { rank[i] = place; });

  function value(row) {
    if (key === "a" || key === "b") return row[key] < 0 ? undefined : rank[row[key]];
    if (key === "kind") return kindOrder.indexOf(row.kind);
    return row[key];
  }
  function compare(i, j) {
    const one = value(data.rows[i]), two = value(data.rows[j]);
    if (one === two) return i - j;
    if (one === undefined) return 1; // what is not known comes last, either way
    if (two === undefined) return -1;
    return direction * (typeof one === "string" ? collator.compare(one, two) : one - two);
  }

  function makeRow(place) {
    const index = shown[place], row = data.rows[index];
    const line = make("tr", row.kind + (index === selected ? " selected" : ""));
    line.id = "row-" + index;
    line.dataset.row = index;
    line.setAttribute("aria-rowindex", place + 2);
    line.setAttribute("aria-selected", index === selected);
    line.append(make("td", "rank", row.severity));
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
    distance.append(make("div", "", row.told.brief || "–"));
    if (row.kind !== "unchecked") distance.append(make("small", "", row.evidence.replace(/.*, (depth )?/, "")));
    distance.title = `${row.evidence}. ${data.decided[row.decided]}`;
    const inside = make("td", "right wide inside", row.told.inside || "");
    const volume = make("td", "right wide volume", row.overlap_volume === undefined ? "" : number(row.overlap_volume, 5));
    const group = make("td", "wide group");
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
    const head = 30;
    let first = Math.max(0, Math.floor((scroll.scrollTop - head) / HEIGHT) - MARGIN);
    let last = Math.min(shown.length, Math.ceil((scroll.scrollTop + scroll.clientHeight) / HEIGHT) + MARGIN);
    if (printing) [first, last] = [0, Math.min(shown.length, 5000)];
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

  function show(test) {
    shown = [];
    for (let i = 0; i < data.rows.length; i++) if (test(data.rows[i], () => words(data.rows[i]))) shown.push(i);
    arrange();
  }
  function arrange() {
    shown.sort(compare);
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
    const place = shown.indexOf(selected), top = place * HEIGHT, high = scroll.clientHeight - 30 - HEIGHT;
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
    onSelect(index);
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
    data, element, make, number, length, sides, consistent, show, select, move, unit, draw,
    get selected() { return selected; },
    page: () => Math.max(1, Math.floor(scroll.clientHeight / HEIGHT) - 2),
    on(selecting, showing) { onSelect = selecting; onShow = showing; },
  };
})();
