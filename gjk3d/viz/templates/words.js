// Numbers and bounds as text, as in gjk3d/wording.py: bounds are rounded outward.
const gjk3dWords = (function () {
  const { data, number } = gjk3d;
  function outward(x, digits, way) {
    const [exact, power] = x.toExponential(100).split("e"), kept = exact.slice(0, digits + (x < 0 ? 2 : 1));
    const cut = /[1-9]/.test(exact.slice(kept.length)) && x < 0 === way < 0; // whether it was rounded towards zero
    return number(Number(`${kept}e${power}`) + (cut ? way * 10 ** (Number(power) + 1 - digits) : 0), digits);
  }
  const long = (text) => (data.unit ? `${text} ${data.unit}` : text);
  function told(low, high, digits, rounding = 0) {
    const round = (x) => (Math.abs(x) <= rounding ? 0 : x);
    return bare(round(low), round(high), digits) + ([low, high].some((x) => x !== round(x)) ? " (up to rounding)" : "");
  }
  function bare(low, high, digits) {
    if (number(low, digits) === number(high, digits)) return long(number(low, digits));
    if (low === -Infinity) return long(`≤ ${outward(high, digits, 1)}`);
    const kept = low < 0 && high > 0 ? Math.min(digits, 3) : digits;
    return long(`${outward(low, kept, -1)} to ${outward(high, kept, 1)}`);
  }
  // Round values in a range with their text, for the axis of a chart.
  function ticks([low, high]) {
    const rough = (high - low) / 3, power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].reduce((x, y) => (Math.abs(y * power - rough) < Math.abs(x * power - rough) ? y : x)), values = [];
    for (let k = Math.ceil(low / step); k <= Math.floor(high / step); k++) values.push(k * step);
    const digits = Math.max(4, Math.ceil(Math.log10(Math.max(Math.abs(low), Math.abs(high)) / step)) + 1);
    return values.map((x) => [x, Math.abs(x) < 1e-9 * step ? "0" : number(x, digits)]);
  }
  const listed = (names) => (names.length < 2 ? names[0] || "nothing" : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`);
  const part = (names) => `${["", "corner", "edge", "triangle", "tetrahedron"][names.length]} ${names.join(" ")}`;
  // The bounds of a signed distance. A depth is positive, and both are named if the bounds contain 0.
  function bounds({ lower, upper, rounding = 0 }) {
    if (lower === null || upper === null) return "";
    if (lower >= -rounding) return `distance ${told(lower, upper, 5, rounding)}`;
    if (upper > rounding) return `depth ≤ ${long(outward(-lower, 3, 1))} or distance ≤ ${long(outward(upper, 3, 1))}`;
    return `depth ${upper < -rounding ? told(-upper, -lower, 5) : `≤ ${long(outward(-lower, 5, 1))}`}`;
  }
  return { outward, long, told, listed, part, bounds, ticks };
})();
