// The decisions about findings. They are saved as a file or by gjk3d serve, and merged with the decisions of others.
const clashTriage = (function () {
  const MEANING = {
    new: "not examined yet", active: "to be repaired", reviewed: "examined, not decided",
    approved: "accepted, and ignored until it becomes deeper or occurs at other times", resolved: "repaired, to be verified by the next run",
  };
  const { data, element, make, button } = gjk3d, { STATES, read } = clashDecisions;
  const issues = new Map(data.triage.map((issue) => [issue.id, issue]));
  const OPEN = ["new", "active", "reviewed"], drafts = new Map(); // comments that are being written, by finding
  // the numbers of changes on this page, of changes that the server has, and of saved files
  let edits = 0, sent = 0, downloads = 0, onChange = () => {};

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
  function take(text) { // merge the decisions of the server, and draw the page again after a change
    const before = file();
    merge(read(text));
    if (file() !== before) onChange([]);
    offer();
  }

  // --- the decisions about a finding ------------------------------------------------------------------------------------
  const commentsOf = (issue) => (issue?.comments || []).filter(({ text }) => text); // a deleted comment has no text
  function settle(row) {
    const issue = issues.get(row.id);
    row.state = issue?.state?.value || row.status;
    row.open = OPEN.includes(row.state) && (row.kind !== "touch" || Boolean(issue?.state)); // a touch is open only if a person opened it
    row.assignee = issue?.assignee?.value || "";
    row.said = commentsOf(issue).length;
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
  // a GUID, from the end of an object URL, because crypto.randomUUID requires https
  const ident = () => URL.createObjectURL(new Blob()).slice(-36);
  // The decisions and comments of an issue as texts, to count the differences from the last saved file.
  const texts = ({ state, assignee, comments = [], views = [] }) => [state, assignee, ...comments, ...views].filter(Boolean).map((item) => JSON.stringify(item));
  let stored = new Map([...issues].map(([id, issue]) => [id, new Set(texts(issue))]));
  const differing = new Map();
  function count(ids) {
    for (const id of ids) {
      const many = issues.has(id) ? texts(issues.get(id)).filter((text) => !stored.get(id)?.has(text)).length : 0;
      if (many) differing.set(id, many);
      else differing.delete(id);
    }
  }
  const unsaved = () => (data.served ? edits - sent : [...differing.values()].reduce((sum, many) => sum + many, 0));
  function changed(rows, written) { // `written` is the changed field or mark
    edits += rows.length;
    count(rows.map(({ id }) => id));
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
    return issue[list].at(-1);
  }
  // The decisions and comments on this page in order. Each entry has findings with times and previous states, the number
  // of files that were saved before it, and whether its findings were marked.
  const decided = [];
  const called = (rows) => (rows.length === 1 ? `rank ${rows[0].severity || rows[0].index + 1}` : `${rows.length} findings`);
  async function setState(rows, value) {
    const missing = clashRows.fetchRows(rows.map((row) => row.index));
    if (missing) await missing; // an approval contains the exact depth
    const before = new Map(rows.map((row) => [row, { value: row.state, ...issues.get(row.id)?.state }])), together = clashTable.marked.size > 0;
    mark(rows, "state", (row) => ({ value, ...measures(row) }));
    decided.push({ downloads, together, each: rows.map((row) => ({ row, at: issueOf(row).state.at, before: before.get(row) })) });
    offer();
    say(`${called(rows)}: ${value}`);
  }
  let fading = 0;
  function say(words) { // show what was decided, for some seconds
    element("toast").textContent = words;
    element("last").classList.add("fresh");
    clearTimeout(fading);
    fading = setTimeout(() => { element("toast").textContent = ""; element("last").classList.remove("fresh"); }, 8000);
  }
  function measures(row) {
    const inside = row.penetration === undefined ? {} : { penetration: Number(row.penetration.toPrecision(7)) }; // single precision
    const measured = row.whole && row.distance !== undefined ? { distance: row.distance, ...inside, unit: data.unit } : {};
    return { ...measured, intervals: row.intervals }; // only moving pairs have intervals
  }
  const undo = element("undo");
  function offer() { // offer to undo the last change that is still current
    const stands = ({ row, at, before, said }) => (said ? commentsOf(issues.get(row.id)).some(({ id, at: now }) => id === said.id && now === at)
      : issues.get(row.id)?.state?.at === at && STATES.includes(before.value));
    while (decided.length && !decided.at(-1).each.some(stands)) decided.pop();
    const last = decided.at(-1), each = last?.each.filter(stands);
    undo.hidden = !last;
    if (last) undo.textContent = `undo: ${each[0].said ? "comment" : each[0].row.state}, ${called(each.map(({ row }) => row))}`;
    return last && { ...last, each };
  }
  // Remove a comment, or set previous states. A change that is in no file and on no server is deleted. Other changes have
  // copies, so a later change replaces them.
  function revert({ each, downloads: then }) {
    const rows = each.map(({ row }) => row), restored = new Map(each.map(({ row, before }) => [row, before]));
    if (each[0].said) return erase(rows[0], each[0].said, then);
    if (then !== downloads || data.served) mark(rows, "state", (row) => {
      const { value, at, by, ...old } = restored.get(row);
      return { value, ...(at ? old : measures(row)) };
    });
    else {
      for (const [row, before] of restored) keep(row, "state", before.at ? before : undefined);
      changed(rows, "state");
    }
    for (const [row, { at }] of restored) {
      const earlier = decided.flatMap((one) => one.each).findLast((one) => one.row === row && !one.said);
      if (earlier && earlier.at === at) earlier.at = issues.get(row.id).state.at;
    }
  }
  function keep(row, name, value) { // set a field, or delete it, and delete an issue without fields
    const issue = issues.get(row.id);
    if (value) issue[name] = value;
    else delete issue[name];
    if (!texts(issue).length) issues.delete(row.id);
  }
  function erase(row, said, then) {
    const others = issueOf(row).comments.filter(({ id }) => id !== said.id);
    if (then === downloads && !data.served) keep(row, "comments", others.length ? others : undefined);
    else issueOf(row).comments = joined(others, [{ ...said, ...stamp(), text: "" }]);
    changed([row], "comment");
  }
  function takeBack() {
    const last = offer();
    if (!last) return;
    const rows = last.each.map(({ row }) => row);
    decided.pop();
    revert(last);
    const focused = document.activeElement === undo;
    offer();
    say(last.each[0].said ? `${called(rows)}: comment deleted` : `${called(rows)}: ${rows[0].state} again`);
    if (focused && undo.hidden) element("scroll").focus();
    if (last.together) clashTable.mark(rows.map(({ index }) => index), true); // the next decision is for the same findings
    else if (clashTable.selected !== rows[0].index) clashTable.select(rows[0].index, false);
  }
  undo.addEventListener("click", takeBack);
  function comment(row, text) {
    if (!text.trim()) return;
    drafts.delete(row.id);
    const said = add(row, "comments", { text: text.trim().slice(0, 20000) });
    decided.push({ downloads, each: [{ row, said, at: said.at }] });
    offer();
    say(`${called([row])}: comment added`);
    element("scroll").focus({ preventScroll: true });
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
    const earlier = decided.flatMap(({ each }) => each.flatMap(({ before }) => (before?.at ? [before] : [])));
    const mine = author ? [...items(), ...earlier].filter(({ at, by }) => !by && unsigned.has(at)) : [];
    if (!mine.length) return;
    unsigned.clear();
    for (const item of mine) { // changed in place, because a click outside of the field must reach its target
      item.by = author;
      document.querySelector(`#triage [data-at="${item.at}"]`)?.replaceChildren(stamped(item));
    }
    document.querySelector("#ask span")?.replaceChildren("was added to your decisions and is stored in this browser");
    edits++;
    count([...issues.keys()]);
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
      input: () => drafts.set(row.id, words.value), // each finding has its own unfinished text
      keydown: (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) comment(row, words.value);
        if (event.key === "Escape") element("scroll").focus({ preventScroll: true });
      },
    }, drafts.get(row.id));
    return make("div", { id: "triage", class: "triage" },
      make("div", { class: "line" },
        states(() => [row], row.state), field("assigned to", "assignee", row.assignee, (value) => assign([row], value)),
        button("next", clashTable.nextOpen, { title: "show the next open finding (key n)" }), issue.state && when(issue.state)),
      asked && make("p", { id: "ask", class: "note line" }, name, make("span", {}, "is stored with your decisions")),
      commentsOf(issue).map((item) => make("p", { class: "said" }, when(item), make("bdi", {}, item.text),
        (!item.by || item.by === author) && button("delete", () => { erase(row, item, madeAfter(item)); offer(); say(`${called([row])}: comment deleted`); }, { class: "erase", "aria-label": "delete this comment" }))),
      make("div", { class: "line" }, words, button("add comment", () => comment(row, words.value), { class: "small" }), !asked && name));
  }
  // The number of files that were saved before a comment of this page, or -1 for all other comments.
  const madeAfter = (item) => decided.find(({ each }) => each[0].said?.id === item.id)?.downloads ?? -1;
  const viewsOf = (row) => ((issues.get(row.id) || {}).views || []);

  // --- the file -----------------------------------------------------------------------------------------------------------
  const save = element("save"), told = element("saved");
  function tell(words) {
    const many = unsaved();
    save.textContent = data.served ? (many ? "not saved yet" : "saved") : many ? `save ${many} change${many === 1 ? "" : "s"}` : "save decisions";
    save.disabled = Boolean(data.served) || !issues.size;
    save.classList.toggle("pending", many > 0);
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
    downloads++;
    stored = new Map([...issues].map(([id, issue]) => [id, new Set(texts(issue))]));
    differing.clear();
    tell([`${link.download} was downloaded. Pass it to the next run with --triage.`, nameless()].filter(Boolean).join(" "));
  }
  let sending = false;
  async function send() {
    if (sending) return; // later changes are sent with the next request
    sending = true;
    try {
      while (edits > sent) {
        const now = edits;
        const answer = await fetch("triage", {
          method: "POST", headers: { "Content-Type": "application/json", "X-Gjk3d-Token": data.served }, body: file(),
        });
        if (!answer.ok) throw new Error(await answer.text());
        sent = now;
        if (edits === sent) take(await answer.text());
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
        if (file() !== before) edits++;
        count([...issues.keys()]);
        tell(`merged with ${each.name}`);
      } catch (error) {
        tell(`${each.name} ${error.message}`);
      }
    }
    event.target.value = "";
    onChange([]);
    if (data.served && unsaved()) send();
  });
  window.addEventListener("beforeunload", (event) => { if (unsaved() || [...drafts.values()].some((text) => text.trim())) event.preventDefault(); });
  const chosen = () => [...(clashTable.marked.size ? clashTable.marked : [clashTable.selected])].filter((index) => index >= 0).map((index) => data.rows[index]);
  const unmark = () => clashTable.mark([...clashTable.marked], false);
  function bulk(indices) { // the bar that decides all marked findings
    const box = element("bulk"), many = indices.length;
    box.hidden = !many;
    if (!many) return;
    const person = field("", "assignees", "", (value) => assign(chosen(), value));
    Object.assign(person.querySelector("input"), { placeholder: "assigned to", ariaLabel: "assigned to" });
    box.replaceChildren(make("b", {}, `${many} marked`), person, button("unmark", unmark, { class: "small", title: "mark no finding (Esc)" }), states(chosen, "", unmark));
  }
  // a repeated key is not another decision
  const keys = Object.fromEntries(STATES.map((value, k) => [k + 1, ({ repeat }) => {
    const rows = chosen(), hidden = rows.find(({ index }) => !clashTable.shown.includes(index));
    if (!rows.length || repeat) return false;
    if (hidden) return say(`The filter hides ${called([hidden])}, so its state was not set. Use the buttons of the finding.`);
    setState(rows, value).then(unmark); // the next key applies to the selected finding again
  }]));
  keys.u = ({ repeat }) => (repeat ? false : takeBack());
  keys.c = () => element("comment")?.focus(); // Escape and Ctrl+Enter return to the rows
  data.rows.forEach(settle);
  tell();
  async function update() { // get the decisions of other people from the server
    if (document.hidden || unsaved() || sending) return;
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
