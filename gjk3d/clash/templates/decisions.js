// Reads decisions from a file that may be damaged, with the rules of gjk3d.clash.triage.
const clashDecisions = (function () {
  const STATES = ["new", "active", "reviewed", "approved", "resolved"], DAY = 86400000, { metres } = gjk3d.data;
  const metresOf = (unit) => metres[unit] ?? metres[unit.trim().toLowerCase()];
  function refuse(words) { throw new Error(words); }

  // --- times ----------------------------------------------------------------------------------------------------------
  const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(?:Z|([+-]\d\d):?(\d\d))?$/;
  // A time in the format of triage files, in which the order of texts is the order of times. Without a zone it is in UTC.
  function timeOf(given) {
    const [, wall, part = "", hours = "+00", minutes = "00"] = TIME.exec(given.trim()) || [];
    const time = new Date(`${wall}${part && (part + "00").slice(0, 4)}${hours}:${minutes}`);
    const known = new Date(wall + "Z").toJSON()?.slice(0, 19) === wall; // browsers read the 30th of February as a day of March
    if (!known || !(time.getUTCFullYear() > 0)) refuse(`has the time "${given}", expected for example 2026-05-04T03:02:01.000Z`);
    if (time - Date.now() > DAY)
      refuse(`has the time "${given}", which is more than a day ahead of this machine's clock and would override later decisions. Correct the time in the file, or this clock.`);
    return time.toISOString();
  }

  // --- values -----------------------------------------------------------------------------------------------------------
  const text = (most) => (value) => typeof value === "string" && [...value].length <= most;
  const number = (value) => typeof value === "number" && Math.abs(value) < 1e150;
  const list = (test, least = 0, most = Infinity) => (value) => Array.isArray(value) && value.length >= least && value.length <= most && value.every(test);
  const object = (fields) => (value) => value?.constructor === Object && Object.entries(fields).every(([name, test]) => test(value[name]));
  const maybe = (test, none) => (value) => value === undefined || value === none || test(value);
  const name = text(1000), point = list(number, 3, 3), unit = maybe((value) => value === "" || (text(20)(value) && metresOf(value) > 0)), stamp = { at: text(60), by: maybe(name) };
  const mark = { ...stamp, distance: maybe(number, null), penetration: maybe(number, null), unit, intervals: maybe(list(list(number, 4, 4))) };
  const comment = { ...stamp, id: name, text: maybe(text(20000)) };
  const view = { ...stamp, id: name, name: maybe(name), eye: point, target: point, up: point, unit, planes: maybe(list(list(point, 2, 2), 0, 64)) };
  const document = object({
    command: (value) => value === "triage",
    schema_version: (value) => value === 1,
    issues: list(object({
      id: name, kind: name, a: name, b: name,
      state: maybe(object({ ...mark, value: (value) => STATES.includes(value) }), null),
      assignee: maybe(object({ ...mark, value: name }), null),
      comments: maybe(list(object(comment)), null),
      views: maybe(list(object(view)), null),
    })),
  });

  function parsed(given) {
    try { return JSON.parse(given); } catch (error) { return null; }
  }
  // Return the issues in the text of a triage file.
  function read(given) {
    const found = parsed(given);
    if (!document(found)) refuse("is not a .triage.json file of this page");
    for (const { state, assignee, comments, views } of found.issues)
      for (const item of [state, assignee, ...(comments || []), ...(views || [])]) if (item) item.at = timeOf(item.at);
    return found.issues;
  }
  return { STATES, read, metresOf };
})();
