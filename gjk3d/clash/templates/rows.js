// The findings and the parts. Values for sorting and filtering are unpacked at the start. Other values are unpacked when
// they are shown.
const clashRows = (function () {
  const { data, element, numbers } = gjk3d;
  const lines = (id) => {
    const text = element(id).textContent.trim();
    element(id).remove();
    return text ? text.split("\n") : [];
  };
  async function unpacked(text) {
    if (!window.DecompressionStream)
      throw new Error("This browser has no DecompressionStream, so the numbers and the 3D view are missing. Use a browser of 2023 or later.");
    const stream = new Blob([numbers(text, Uint8Array)]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).arrayBuffer();
  }
  function complain(error) {
    element("packed").textContent = error.message;
    element("packed").hidden = false;
  }

  // --- the index ------------------------------------------------------------------------------------------------------
  const KINDS = { kind: Uint8Array, status: Uint8Array, distance: Float32Array, penetration: Float32Array, overlap_volume: Float32Array, time: Float32Array };
  const columns = Object.fromEntries(Object.entries(data.columns).map(([name, text]) => [name, numbers(text, KINDS[name] || Int32Array)]));
  const from = (name, least) => (k) => (columns[name]?.[k] >= least ? columns[name][k] : undefined); // undefined for nan
  const [a, b, course, cause] = [from("a", 0), from("b", 0), from("course", -1), from("cause", 0)];
  const [kind, status, group, note] = [["kind", data.kinds], ["status", data.statuses], ["group", data.groups], ["note", data.notes]]
    .map(([name, words]) => (k) => words[columns[name]?.[k]]);
  const [distance, penetration, volume, time] = ["distance", "penetration", "overlap_volume", "time"].map((name) => from(name, -Infinity));
  // all fields are set at once, because browsers are several times slower for objects that grow
  const UNTOLD = Object.freeze({});
  const rows = data.ids.map((id, k) => ({
    id, index: k, a: a(k) ?? -1, b: b(k) ?? -1, kind: kind(k), status: status(k), group: group(k), note: note(k), course: course(k), cause: cause(k),
    distance: distance(k), penetration: penetration(k), overlap_volume: volume(k), time: time(k),
    told: UNTOLD, evidence: "", whole: false, state: "", open: false, assignee: "", said: 0,
  }));
  const files = numbers(data.file, Int32Array), triangles = numbers(data.triangles, Float64Array), colours = numbers(data.colour, Int32Array);
  const parts = data.names.map((name, k) => ({ name, file: data.files[files[k]], triangles: triangles[k], colour: data.colours[colours[k]] }));
  Object.assign(data, { rows, parts });

  // --- the blocks -----------------------------------------------------------------------------------------------------
  const packed = lines("findings"), arriving = new Map(), lost = new Set();
  async function open(block) {
    const columns = JSON.parse(new TextDecoder().decode(await unpacked(packed[block]))), first = block * data.block;
    packed[block] = "";
    const fill = (into, from) => Object.entries(from).forEach(([name, values]) =>
      values.forEach((value, k) => { if (value !== null) into(rows[first + k])[name] = value; }));
    const told = columns.told;
    delete columns.told;
    for (const row of rows.slice(first, first + data.block)) Object.assign(row, { told: {}, whole: true });
    fill((row) => row, columns);
    fill((row) => row.told, told);
  }
  // Unpack the missing values of rows. Return a promise, or null if no value can be unpacked.
  function fetchRows(indices) {
    const wanted = new Set(indices.filter((k) => !rows[k].whole).map((k) => Math.floor(k / data.block)).filter((block) => !lost.has(block)));
    if (!wanted.size) return null;
    for (const block of wanted) if (!arriving.has(block)) arriving.set(block, open(block).catch((error) => { lost.add(block); complain(error); }));
    return Promise.all([...wanted].map((block) => arriving.get(block)));
  }

  // --- poses and shapes -------------------------------------------------------------------------------------------------
  async function fetchShapes() {
    const [where, ...chunks] = lines("shapes"), buffer = await unpacked(where), n = parts.length;
    let from = 0;
    const take = (Kind, count) => {
      const made = new Kind(buffer, from, count);
      from += made.byteLength;
      return made;
    };
    const boxes = take(Float32Array, 6 * n), poses = take(Float32Array, 7 * n), places = take(Float32Array, 3 * rows.length);
    const which = take(Int32Array, n), seen = take(Uint8Array, n), shapes = [];
    for (let k = 0; k < chunks.length; k++) {
      const bytes = await unpacked(chunks[k]), sizes = data.shapes.slice(shapes.length, shapes.length + data.chunks[k]);
      chunks[k] = "";
      let at = 0;
      const points = sizes.map(([count]) => { at += 12 * count; return new Float32Array(bytes, at - 12 * count, 3 * count); });
      sizes.forEach(([, count], i) => { at += 4 * count; shapes.push({ points: points[i], indices: new Uint32Array(bytes, at - 4 * count, count) }); });
    }
    parts.forEach((part, k) => {
      const [low, high] = [boxes.slice(6 * k, 6 * k + 3), boxes.slice(6 * k + 3, 6 * k + 6)].map((corner) => Array.from(corner));
      Object.assign(part, { box: Number.isNaN(low[0]) ? null : [low, high], pose: poses.subarray(7 * k, 7 * k + 7), shape: which[k], seen: seen[k] > 0 });
    });
    return { shapes, places };
  }
  // --- common volumes and intersection curves -----------------------------------------------------------------------------
  const volumes = lines("common"), volumeOf = new Map(Object.keys(data.common).map((index, k) => [Number(index), k]));
  async function fetchCommon(index) { // return the common volume and the curve of a finding, or null
    if (!volumeOf.has(index)) return null;
    const buffer = await unpacked(volumes[volumeOf.get(index)]), [vertices, corners, ends] = data.common[index];
    return {
      points: new Float32Array(buffer, 0, 3 * vertices), curve: new Float32Array(buffer, 12 * vertices, 3 * ends),
      indices: new Uint32Array(buffer, 12 * (vertices + ends), corners),
    };
  }
  return { fetchRows, fetchShapes, fetchCommon, complain };
})();
