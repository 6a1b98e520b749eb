// The findings and the parts: what sorts and filters is there at once, the rest is unpacked when it is looked at.
const clashRows = (function () {
  const { data, element, numbers } = gjk3d;
  const lines = (id) => {
    const text = element(id).textContent.trim();
    element(id).remove();
    return text ? text.split("\n") : [];
  };
  async function unpacked(text) {
    if (!window.DecompressionStream)
      throw new Error("This browser cannot unpack what this page holds (it has no DecompressionStream): use one of 2023 or later. Names, kinds and the order of the findings are right; numbers and the picture are missing.");
    const stream = new Blob([numbers(text, Uint8Array)]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).arrayBuffer();
  }
  function complain(error) {
    element("packed").textContent = error.message;
    element("packed").hidden = false;
  }

  // --- the index ------------------------------------------------------------------------------------------------------
  const KINDS = { kind: Uint8Array, status: Uint8Array, distance: Float32Array, penetration: Float32Array, overlap_volume: Float32Array, time: Float32Array };
  const columns = Object.entries(data.columns).map(([name, text]) => [name, numbers(text, KINDS[name] || Int32Array)]);
  const WORDS = { kind: data.kinds, status: data.statuses, group: data.groups, note: data.notes };
  const rows = data.ids.map((id, k) => {
    const row = { id, index: k, a: -1, b: -1, told: {}, evidence: "" };
    for (const [name, column] of columns) {
      const value = column[k];
      if (WORDS[name]) row[name] = value < 0 ? undefined : WORDS[name][value];
      else if (name === "a" || name === "b" || (name === "course" ? value >= -1 : name === "cause" ? value >= 0 : !Number.isNaN(value))) row[name] = value;
    }
    return row;
  });
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
    fill((row) => row, columns);
    fill((row) => row.told, told);
    for (let k = first; k < Math.min(rows.length, first + data.block); k++) rows[k].whole = true;
  }
  // Unpack what these rows lack: null where nothing is missing that can be had, else a promise.
  function fetchRows(indices) {
    const wanted = new Set(indices.filter((k) => !rows[k].whole).map((k) => Math.floor(k / data.block)).filter((block) => !lost.has(block)));
    if (!wanted.size) return null;
    for (const block of wanted) if (!arriving.has(block)) arriving.set(block, open(block).catch((error) => { lost.add(block); complain(error); }));
    return Promise.all([...wanted].map((block) => arriving.get(block)));
  }

  // --- where parts are, and the shapes ----------------------------------------------------------------------------------
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
  return { fetchRows, fetchShapes, complain };
})();
