// What people decide about findings: set here, saved as a file or through gjk3d serve, merged with what others decided.
const clashTriage = (function () {
  const STATES = ["new", "active", "reviewed", "approved", "resolved"];
  const MEANING = {
    new: "nobody has looked at it", active: "somebody is to mend it", reviewed: "looked at, to be decided",
    approved: "may stay as it is: does not count while it is no deeper", resolved: "mended: the next run looks",
  };
  const { data, element, make } = clashTable;
  const issues = new Map(data.triage.map((issue) => [issue.id, issue]));
  let unsaved = 0, onChange = () => {};

  // --- merging, by finding and time: as gjk3d.clash.triage does ---------------------------------------------------------
  const order = (one, two, names) => {
    for (const name of names) {
      const a = one[name] === undefined ? "" : one[name], b = two[name] === undefined ? "" : two[name];
      if (a !== b) return a < b ? -1 : 1;
    }
    return 0;
  };
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
  function check(document) {
    const texts = (row, ...names) => names.every((name) => typeof row[name] === "string");
    const mark = (row) => row === undefined || texts(row, "value", "at");
    const fine = document.command === "triage" && document.schema_version === 1 && document.issues.every((row) =>
      texts(row, "id", "kind", "a", "b") && mark(row.state) && mark(row.assignee) &&
      (!row.state || STATES.includes(row.state.value)) &&
      [...(row.comments || []), ...(row.views || [])].every((item) => texts(item, "id", "at")));
    if (!fine) throw new Error("it is none");
    return document.issues;
  }

  // --- one finding ------------------------------------------------------------------------------------------------------
  function settle(row) {
    const issue = issues.get(row.id);
    row.state = (issue && issue.state && issue.state.value) || row.status;
    row.assignee = (issue && issue.assignee && issue.assignee.value) || "";
    row.said = issue && issue.comments ? issue.comments.length : 0;
  }
  function issueOf(row) {
    if (!issues.has(row.id)) {
      const name = (side) => (row[side] < 0 ? "" : data.parts[row[side]].name);
      issues.set(row.id, { id: row.id, kind: row.kind, a: name("a"), b: name("b") });
    }
    return issues.get(row.id);
  }
  let author = "";
  try { author = localStorage.getItem("gjk3d.author") || ""; } catch (error) { /* a page without a store asks each time */ }
  const stamp = () => ({ at: new Date().toISOString(), by: author });
  const ident = () => { // a GUID; crypto.randomUUID is for https alone
    const hex = [...crypto.getRandomValues(new Uint8Array(16))].map((x, k) => (k === 6 ? (x & 15) | 64 : k === 8 ? (x & 63) | 128 : x));
    return hex.map((x) => x.toString(16).padStart(2, "0")).join("").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  };
  function changed(row) {
    unsaved++;
    settle(row);
    tell();
    onChange(row);
    if (data.served) send();
  }
  function setState(row, value) {
    const more = row.whole && row.distance !== undefined ? { distance: row.distance, unit: data.unit } : {};
    if (row.intervals) more.intervals = row.intervals; // of a moving pair: when
    issueOf(row).state = { value, ...stamp(), ...more };
    changed(row);
  }
  function assign(row, value) {
    if (value === row.assignee) return;
    issueOf(row).assignee = { value, ...stamp() };
    changed(row);
  }
  function comment(row, text) {
    if (!text.trim()) return;
    const issue = issueOf(row);
    issue.comments = joined(issue.comments, [{ id: ident(), ...stamp(), text: text.trim().slice(0, 20000) }]);
    changed(row);
  }
  function saveView(row, view) {
    const issue = issueOf(row);
    issue.views = joined(issue.views, [{ id: ident(), ...stamp(), ...view, unit: data.unit }]);
    changed(row);
  }
  function field(label, value, list) {
    const box = make("label", "field", label + " "), input = make("input");
    input.value = value;
    input.maxLength = 200;
    if (list) input.setAttribute("list", list);
    box.append(input);
    return [box, input];
  }
  const names = make("datalist");
  names.id = "people";
  document.body.append(names);
  function editor(row) {
    const box = make("div", "triage"), states = make("div", "states");
    box.id = "triage";
    states.setAttribute("role", "group");
    states.setAttribute("aria-label", "state");
    STATES.forEach((value, k) => {
      const button = make("button", "", value);
      button.type = "button";
      button.dataset.state = value;
      button.title = `${MEANING[value]} (key ${k + 1})`;
      button.setAttribute("aria-pressed", row.state === value);
      button.addEventListener("click", () => setState(row, value));
      states.append(button);
    });
    const people = new Set([...issues.values()].flatMap((issue) => [issue.state, issue.assignee, ...(issue.comments || [])]
      .filter(Boolean).flatMap((item) => [item.by, item === issue.assignee ? item.value : ""])).concat(author).filter(Boolean));
    names.replaceChildren(...[...people].sort().map((name) => { const made = make("option"); made.value = name; return made; }));
    const [whom, person] = field("assigned to", row.assignee, "people"), [who, name] = field("your name", author, "people");
    person.id = "assignee";
    name.id = "author";
    person.addEventListener("change", () => assign(row, person.value.trim()));
    name.addEventListener("change", () => {
      author = name.value.trim();
      try { localStorage.setItem("gjk3d.author", author); } catch (error) { /* then it is for this visit */ }
    });
    const line = make("div", "line");
    line.append(states, whom);
    box.append(line);
    const issue = issues.get(row.id);
    const when = (item) => `${item.by || "somebody"}, ${item.at.slice(0, 16).replace("T", " ")} UTC`;
    if (issue && issue.state) line.append(make("small", "", when(issue.state)));
    for (const item of (issue && issue.comments) || []) {
      const said = make("p", "said");
      said.append(make("small", "", when(item)), make("bdi", "", item.text || ""));
      box.append(said);
    }
    const words = make("textarea"), add = make("button", "small", "add comment");
    words.id = "comment";
    words.rows = 1;
    words.placeholder = "comment … (Ctrl+Enter adds it)";
    words.setAttribute("aria-label", "comment");
    add.type = "button";
    add.addEventListener("click", () => comment(row, words.value));
    words.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) comment(row, words.value);
    });
    const entry = make("div", "line");
    entry.append(words, add, who);
    box.append(entry);
    return box;
  }
  const viewsOf = (row) => ((issues.get(row.id) || {}).views || []);

  // --- the file -----------------------------------------------------------------------------------------------------------
  const save = element("save"), told = element("saved");
  function tell(words) {
    save.textContent = data.served ? "saved" : unsaved ? `save ${unsaved} change${unsaved === 1 ? "" : "s"}` : "save decisions";
    save.disabled = Boolean(data.served) || !issues.size;
    save.classList.toggle("pending", unsaved > 0);
    told.textContent = words || "";
  }
  const file = () => JSON.stringify({ schema_version: 1, command: "triage", issues: [...issues.values()] }, null, 1) + "\n";
  function download() {
    const link = make("a");
    link.href = URL.createObjectURL(new Blob([file()], { type: "application/json" }));
    link.download = data.stem + ".triage.json";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    unsaved = 0;
    tell(`${link.download} is with your downloads: give it to the next run as --triage`);
  }
  let sending = false;
  async function send() {
    if (sending) return; // what changes meanwhile goes with the next
    sending = true;
    try {
      while (unsaved) {
        const count = unsaved;
        const answer = await fetch("triage", {
          method: "POST", headers: { "Content-Type": "application/json", "X-Gjk3d-Token": data.served }, body: file(),
        });
        if (!answer.ok) throw new Error(await answer.text());
        unsaved -= count;
        if (!unsaved) merge(check(await answer.json()));
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
        merge(check(JSON.parse(await each.text())));
        if (file() !== before) unsaved++;
        tell(`merged with ${each.name}`);
      } catch (error) {
        tell(`${each.name} is no .triage.json of this page`);
      }
    }
    event.target.value = "";
    onChange(null);
    if (data.served && unsaved) send();
  });
  window.addEventListener("beforeunload", (event) => { if (unsaved) event.preventDefault(); });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.target instanceof Element && event.target.closest("input, select, textarea")) return;
    const value = STATES[Number(event.key) - 1], row = data.rows[clashTable.selected];
    if (value && row) setState(row, value);
  });
  data.rows.forEach(settle);
  tell();
  if (data.served) { // what others decided since the page was made
    fetch("triage", { headers: { "X-Gjk3d-Token": data.served } }).then((answer) => answer.json()).then((document) => {
      merge(check(document));
      onChange(null);
    }, (error) => tell(`not up to date: ${error.message}`));
  }
  return { STATES, editor, saveView, viewsOf, file, on(handler) { onChange = handler; } };
})();
