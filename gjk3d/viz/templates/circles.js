// The least height of A - B if a whole circle of directions nearly ties, as the normals of a cylinder's side do around a
// small shape. EPA would need a face for each of these directions. The circles themselves are searched instead.
const gjk3dCircles = (function () {
  const { dot, sub, add, scale, norm, unit, cross } = gjk3dVectors;
  const SAMPLES = 128, STEP = (2 * Math.PI) / SAMPLES, LOWEST = 4, PASSES = 8; // the lowest samples begin a search
  const GOLDEN = (Math.sqrt(5) - 1) / 2, SECTIONS = 48; // which reduce an interval to 1e-10 of its length

  // The axes of a core about which directions may tie.
  function axes(shape) {
    if (shape.points) return [];
    const columns = [0, 1, 2].map((k) => [0, 3, 6].map((row) => shape.turn[row + k]));
    return shape.kind === "ellipsoid" ? columns : columns.slice(2);
  }
  // Query the directions that n has when it turns about an axis, and those around the lowest by golden section search
  // (Kiefer, Sequential Minimax Search for a Maximum, 1953).
  function turn(query, axis, n) {
    const up = scale(dot(axis, n), axis), side = sub(n, up), other = cross(axis, side);
    if (!(norm(side) > 1e-6)) return;
    const height = (angle) => {
      const d = unit(add(up, add(scale(Math.cos(angle), side), scale(Math.sin(angle), other))));
      return dot(d, query(d).w);
    };
    const heights = Array.from({ length: SAMPLES }, (_, i) => height(i * STEP)), at = (i) => heights[(i + SAMPLES) % SAMPLES];
    const lowest = heights.map((_, i) => i).filter((i) => at(i) <= at(i - 1) && at(i) <= at(i + 1)).sort((i, j) => at(i) - at(j)).slice(0, LOWEST);
    for (const i of lowest) {
      let [low, high] = [(i - 1) * STEP, (i + 1) * STEP];
      for (let k = 0; k < SECTIONS; k++) {
        const left = high - GOLDEN * (high - low), right = low + GOLDEN * (high - low);
        if (height(left) < height(right)) high = right;
        else low = left;
      }
    }
  }
  // Turn the best direction about each axis, and towards it, until its height decreases by no more than the width.
  // `query` keeps the best direction, and `best` returns it with its height.
  function search(a, b, query, best, width) {
    for (let pass = 0; pass < PASSES; pass++) {
      const before = best().height;
      for (const axis of [...axes(a), ...axes(b)]) {
        turn(query, axis, best().direction);
        turn(query, unit(cross(axis, best().direction)), best().direction);
      }
      if (!(best().height < before - width)) return;
    }
  }
  return { search };
})();
