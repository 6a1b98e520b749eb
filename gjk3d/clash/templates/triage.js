// The decisions about findings. They are saved as a file or by gjk3d serve, and merged with the decisions of others.
const clashTriage = (function () {
  const MEANING = {
    new: "not examined yet", active: "to be repaired", reviewed: "examined, not decided",
    approved: "accepted, and ignored until it becomes deeper or occurs at other times", resolved: "repaired, to be verified by the next run",
  };
  const { data, element, make, button } = gjk3d, { STATES, read } = clashDecisions;
  const issues = new Map(data.triage.map((issue) => [issue.id, issue]));
  const OPEN = ["new", "active", "reviewed"], drafts = new Map(); // comments that are being written, by finding
  let unsaved = 0, onChange = () => {};

  // --- merging, by finding and time, as in gjk3d.clash.triage ---------------------------------------------------
  function order(one, two, names) {
    const text = (item, name) => item[name] ?? "", first = names.find((name) => text(one, name) !== text(two, name));
    return first === undefined ? 0 : text(one, first) < text(two, first) ? -1 : 1;
  }
  const later = (one, two) => (!one || (two && order(one, two, ["at", "by", "value"]) < 0) ? two : one);
  function joined(one = [], two = []) {
    const names = ["at", "by", "text", "name"], byId = new Map();
    for (const item of [...one, ...two].sort((a, b) => order(a, b, names))) byId.set(item.id, item);
    return [...byId.values()].sort((a, b) => order(a, b, [...names, "id"]));
  }
  function merge(others) {
    for (const theirs of others) {
      const ours = issues.get(theirs.id) || { id: theirs.id, kind: theirs.kind, a: theirs.a, b: theirs.b };
      for (const mark of ["state", "assignee"]) if (theirs[mark]) ours[mark] = later(ours[mark], theirs[mark]);
      for (const list of ["comments", "views"]) if (theirs[list]) ours[list] = joined(ours[list], theirs[list]);
      issues.set(ours.id, ours);
    }
    data.rows.forEach(settle);
  }
  function take(text) { // from the server; the page is drawn again only after a change
    const before = file();
    merge(read(text));
    if (file() !== before) onChange([]);
    offer();
  }

  // --- the decisions about a finding ------------------------------------------------------------------------------------
  function settle(row) {
    const issue = issues.get(row.id);
    row.state = issue?.state?.value || row.status;
    row.open = OPEN.includes(row.state) && (row.kind !== "touch" || Boolean(issue?.state)); // a touch is open only if a person opened it
    row.assignee = issue?.assignee?.value || "";
    row.said = issue?.comments?.length || 0;
  }
  function issueOf(row) {
    if (!issues.has(row.id)) {
      const name = (side) => (row[side] < 0 ? "" : data.parts[row[side]].name);
      issues.set(row.id, { id: row.id, kind: row.kind, a: name("a"), b: name("b") });
    }
    return issues.get(row.id);
  }
  let author = "";
  try { author = localStorage.getItem("gjk3d.author") || ""; } catch (error) { /* without a store, the name is required on each visit */ }
  const unsigned = new Set(); // the times of decisions on this page without a name
  function stamp() {
    const at = new Date().toISOString();
    if (!author) unsigned.add(at);
    return { at, by: author };
  }
  const items = () => [...issues.values()].flatMap(({ state, assignee, comments = [], views = [] }) => [state, assignee, ...comments, ...views].filter(Boolean));
  const who = ({ by }) => by || "no name given", stamped = (item) => `${who(item)}, ${item.at.slice(0, 16).replace("T", " ")} UTC`;
  // a GUID, which is the end of the address of an object; crypto.randomUUID requires https
  const ident = () => URL.createObjectURL(new Blob()).slice(-36);
  function changed(rows, written) { // `written` is the changed field or mark
    unsaved += rows.length;
    rows.forEach(settle);
    tell();
    onChange(rows, written);
    if (data.served) send();
  }
  function mark(rows, name, valueOf) {
    const made = stamp();
    for (const row of rows) issueOf(row)[name] = { ...made, ...valueOf(row) };
    changed(rows, name);
  }
  const assign = (rows, value) => mark(rows.filter((row) => row.assignee !== value), "assignee", () => ({ value }));
  function add(row, list, item) {
    const issue = issueOf(row);
    issue[list] = joined(issue[list], [{ id: ident(), ...stamp(), ...item }]);
    changed([row], list === "comments" ? "comment" : list);
  }
  const decided = []; // the decisions on this page in order; each has findings, their times and their previous states
  const called = (rows) => (rows.length === 1 ? `rank ${rows[0].severity || rows[0].index + 1}` : `${rows.length} findings`);
  async function setState(rows, value) {
    const missing = clashRows.fetchRows(rows.map((row) => row.index));
    if (missing) await missing; // an approval is valid for the exact depth
    const before = new Map(rows.map((row) => [row, { value: row.state, ...issues.get(row.id)?.state }]));
    mark(rows, "state", (row) => ({ value, ...measures(row) }));
    decided.push(rows.map((row) => ({ row, at: issueOf(row).state.at, before: before.get(row) })));
    offer();
    say(`${called(rows)}: ${value}`);
  }
  let fading = 0;
  function say(words) { // show what was decided, for some seconds
    element("toast").textContent = words;
    clearTimeout(fading);
    fading = setTimeout(() => { element("toast").textContent = ""; }, 8000);
  }
  function measures(row) {
    const inside = row.penetration === undefined ? {} : { penetration: Number(row.penetration.toPrecision(7)) }; // single precision
    const measured = row.whole && row.distance !== undefined ? { distance: row.distance, ...inside, unit: data.unit } : {};
    return { ...measured, intervals: row.intervals }; // only moving pairs have intervals
  }
  const undo = element("undo");
  function offer() { // offer to undo the last decision that is still the current state
    const stands = ({ row, at, before }) => issues.get(row.id).state.at === at && STATES.includes(before.value);
    while (decided.length && !decided.at(-1).some(stands)) decided.pop();
    const last = decided.at(-1)?.filter(stands);
    undo.hidden = !last;
    if (last) undo.textContent = `undo: ${last[0].row.state}, ${called(last.map(({ row }) => row))}`;
    return last;
  }
  function takeBack() { // undo by a new decision, which also replaces the old one in all copies
    const last = offer(), before = new Map(last?.map((each) => [each.row, each.before]));
    if (!last) return;
    decided.pop();
    mark([...before.keys()], "state", (row) => {
      const { value, at, by, ...old } = before.get(row);
      return { value, ...(at ? old : measures(row)) };
    });
    for (const [row, { at }] of before) {
      const earlier = decided.flat().findLast((each) => each.row === row);
      if (earlier && earlier.at === at) earlier.at = issueOf(row).state.at;
    }
    const focused = document.activeElement === undo;
    offer();
    say(`${called([...before.keys()])}: ${last[0].row.state} again`);
    if (focused && undo.hidden) element("scroll").focus();
    clashTable.select(last[0].row.index);
  }
  undo.addEventListener("click", takeBack);
  function comment(row, text) {
    if (!text.trim()) return;
    drafts.delete(row.id);
    add(row, "comments", { text: text.trim().slice(0, 20000) });
  }
  const states = (rows, current, then = () => {}) => make("div", { class: "states", role: "group", "aria-label": "state" }, STATES.map((value, k) =>
    button(value, ({ detail }) => { if (detail < 2) setState(rows(), value).then(then); }, { "data-state": value, title: `${MEANING[value]} (key ${k + 1})`, "aria-pressed": value === current })));
  const saveView = (row, view) => add(row, "views", { ...view, unit: data.unit });
  const people = document.body.appendChild(make("datalist", { id: "people" }));
  function field(label, id, value, change) {
    const taken = ({ target }) => { target.defaultValue = target.value.trim(); change(target.defaultValue); };
    return make("label", { class: "field" }, label + " ", make("input", { id, value, maxlength: 200, list: "people", change: taken }));
  }
  function sign(name) { // add the name to earlier decisions on this page
    author = name;
    try { localStorage.setItem("gjk3d.author", author); } catch (error) { /* then the name is stored until the page is closed */ }
    const mine = author ? items().filter(({ at, by }) => !by && unsigned.has(at)) : [];
    if (!mine.length) return;
    unsigned.clear();
    for (const item of mine) { // changed in place, because a click outside of the field must reach its target
      item.by = author;
      document.querySelector(`#triage [data-at="${item.at}"]`)?.replaceChildren(stamped(item));
    }
    document.querySelector("#ask span")?.replaceChildren("was added to your decisions and is stored in this browser");
    unsaved++;
    tell();
    if (data.served) send();
  }
  function editor(row) {
    const issue = issues.get(row.id) || {}, when = (item) => make("small", { "data-at": item.at }, stamped(item));
    const known = [...items().map(({ by }) => by), ...[...issues.values()].map(({ assignee }) => assignee?.value)];
    const name = field("your name", "author", author, sign), asked = !author && unsigned.size > 0;
    people.replaceChildren(...[...new Set([...known, author])].filter(Boolean).sort().map((value) => make("option", { value })));
    const words = make("textarea", {
      id: "comment", rows: 1, placeholder: `comment on ${called([row])} … (Ctrl+Enter adds it)`, "aria-label": `comment on ${called([row])}`,
      input: () => drafts.set(row.id, words.value), // another row has its own text
      keydown: (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) comment(row, words.value); },
    }, drafts.get(row.id));
    return make("div", { id: "triage", class: "triage" },
      make("div", { class: "line" },
        states(() => [row], row.state), field("assigned to", "assignee", row.assignee, (value) => assign([row], value)),
        button("next", clashTable.nextOpen, { title: "show the next open finding (key n)" }), issue.state && when(issue.state)),
      asked && make("p", { id: "ask", class: "note line" }, name, make("span", {}, "is stored with your decisions")),
      (issue.comments || []).map((item) => make("p", { class: "said" }, when(item), make("bdi", {}, item.text))),
      make("div", { class: "line" }, words, button("add comment", () => comment(row, words.value), { class: "small" }), !asked && name));
  }
  const viewsOf = (row) => ((issues.get(row.id) || {}).views || []);

  // --- the file -----------------------------------------------------------------------------------------------------------
  const save = element("save"), told = element("saved");
  function tell(words) {
    save.textContent = data.served ? (unsaved ? "not saved yet" : "saved") : unsaved ? `save ${unsaved} change${unsaved === 1 ? "" : "s"}` : "save decisions";
    save.disabled = Boolean(data.served) || !issues.size;
    save.classList.toggle("pending", unsaved > 0);
    told.textContent = words || "";
  }
  function nameless() {
    const count = items().filter(({ by }) => !by).length;
    return count ? `${count} ${count === 1 ? "entry lacks" : "entries lack"} the name of an author` : undefined;
  }
  const file = () => JSON.stringify({ schema_version: 1, command: "triage", note: nameless(), issues: [...issues.values()] }, null, 1) + "\n";
  function download() {
    const href = URL.createObjectURL(new Blob([file()], { type: "application/json" })), link = make("a", { href, download: data.stem + ".triage.json" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(href), 60000);
    unsaved = 0;
    tell([`${link.download} was downloaded: pass it to the next run with --triage`, nameless()].filter(Boolean).join("; "));
  }
  let sending = false;
  async function send() {
    if (sending) return; // later changes are sent with the next request
    sending = true;
    try {
      while (unsaved) {
        const count = unsaved;
        const answer = await fetch("triage", {
          method: "POST", headers: { "Content-Type": "application/json", "X-Gjk3d-Token": data.served }, body: file(),
        });
        if (!answer.ok) throw new Error(await answer.text());
        unsaved -= count;
        if (!unsaved) take(await answer.text());
      }
      tell();
    } catch (error) {
      tell(`not saved: ${error.message}`);
    }
    sending = false;
  }
  save.addEventListener("click", download);
  element("merge").addEventListener("click", () => element("merge-file").click());
  element("merge-file").addEventListener("change", async (event) => {
    for (const each of event.target.files) {
      try {
        const before = file();
        merge(read(await each.text()));
        if (file() !== before) unsaved++;
        tell(`merged with ${each.name}`);
      } catch (error) {
        tell(`${each.name} ${error.message}`);
      }
    }
    event.target.value = "";
    onChange([]);
    if (data.served && unsaved) send();
  });
  window.addEventListener("beforeunload", (event) => { if (unsaved || [...drafts.values()].some((text) => text.trim())) event.preventDefault(); });
  const chosen = () => [...(clashTable.marked.size ? clashTable.marked : [clashTable.selected])].filter((index) => index >= 0).map((index) => data.rows[index]);
  const unmark = () => clashTable.mark([...clashTable.marked], false);
  function bulk(indices) { // the bar that decides all marked findings
    const box = element("bulk"), many = indices.length;
    box.hidden = !many;
    if (many) box.replaceChildren(make("b", {}, `${many} marked`), states(chosen, "", unmark), field("assigned to", "assignees", "", (value) => assign(chosen(), value)),
      button("unmark", unmark, { class: "small", title: "mark no finding (Esc)" }));
  }
  // a repeated key, or the second click of a double click, is not another decision
  const keys = Object.fromEntries(STATES.map((value, k) => [k + 1, ({ repeat }) => {
    const rows = chosen();
    if (!rows.length || repeat) return false;
    setState(rows, value).then(unmark); // the next key decides the chosen finding again
  }]));
  keys.u = ({ repeat }) => (repeat ? false : takeBack());
  data.rows.forEach(settle);
  tell();
  async function update() { // get the decisions of others
    if (document.hidden || unsaved || sending) return;
    try {
      const answer = await fetch("triage", { headers: { "X-Gjk3d-Token": data.served } });
      if (!answer.ok) throw new Error(await answer.text());
      take(await answer.text());
      if (told.textContent.startsWith("not up")) tell();
    } catch (error) {
      tell(`not up to date: ${error.message}`);
    }
  }
  if (data.served) {
    update();
    setInterval(update, 3000);
    window.addEventListener("focus", update);
  }
  return { keys, editor, bulk, OPEN, saveView, viewsOf, who, file, on(handler) { onChange = handler; } };
})();
