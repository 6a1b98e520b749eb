// Support points of shapes. A shape is { points } or { kind, sizes, turn, at }, with a radius that the loops leave out.
const gjk3dSupport = (function () {
  const { dot, sub, add, scale, norm, blend } = gjk3dVectors;
  const round = (r, z, d) => (Math.hypot(d[0], d[1]) > 0 ? [...scale(r / Math.hypot(d[0], d[1]), d).slice(0, 2), z] : [0, 0, z]);
  const CURVED = {
    cylinder: ([r, h], d) => round(r, d[2] >= 0 ? h : -h, d),
    cone: ([r, h], d) => (2 * h * d[2] >= r * Math.hypot(d[0], d[1]) ? [0, 0, h] : round(r, -h, d)),
    ellipsoid(f, d) {
      const n = Math.hypot(f[0] * d[0], f[1] * d[1], f[2] * d[2]);
      return n > 0 ? f.map((r, i) => r * ((r * d[i]) / n)) : [f[0], 0, 0];
    },
  };
  function support(shape, d) {
    if (!shape.points) {
      const [x, y, z] = [0, 3, 6].map((k) => shape.turn.slice(k, k + 3)), own = CURVED[shape.kind](shape.sizes, blend(d, [x, y, z]));
      return add([dot(x, own), dot(y, own), dot(z, own)], shape.at);
    }
    let best = shape.points[0], most = dot(best, d);
    for (const p of shape.points) if (dot(p, d) > most) [best, most] = [p, dot(p, d)];
    return best;
  }
  // the support point w of A - B, and its points of A and B. B is moved from its given position by `shift`.
  function difference(a, b, shift, d) {
    const p = support(a, d), q = add(support(b, scale(-1, d)), shift);
    return { w: sub(p, q), a: p, b: q };
  }
  function middle(shape) {
    if (!shape.points) return shape.at;
    if (shape.middle) return shape.middle;
    const sides = [0, 1, 2].map((k) => [Math.min(...shape.points.map((p) => p[k])), Math.max(...shape.points.map((p) => p[k]))]);
    return sides.map(([low, high]) => (low + high) / 2);
  }
  const reach = (shape) => (shape.points ? Math.max(...shape.points.map((p) => norm(sub(p, middle(shape))))) : Math.hypot(...shape.sizes, shape.sizes[0]));
  function size(a, b, shift) {
    return reach(a) + reach(b) + a.radius + b.radius + norm(sub(add(middle(b), shift), middle(a)));
  }
  return { support, difference, middle, size };
})();
