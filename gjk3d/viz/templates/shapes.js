// Shapes of the page, about the middle of the given pair: a list, and the polygons of 2D tutorials on GJK as prisms.
const gjk3dShapes = (function () {
  const { data } = gjk3d, { add, sub, scale } = gjk3dVectors;
  const R = Number((data.views[0].unit / 2).toPrecision(1)), SQUARE = [-1, 1].flatMap((x) => [-1, 1].map((y) => [x, y])), TURN = [1, 0, 0, 0, 0.8, -0.6, 0, 0.6, 0.8], UPRIGHT = [1, 0, 0, 0, 1, 0, 0, 0, 1];
  const prism = (polygon) => ({ points: polygon.flatMap(([x, y]) => [-2, 2].map((z) => [x, y, z])) });
  const curved = (kind, turn, ...sizes) => ({ kind, sizes: sizes.map((x) => x * R), turn, at: [0, 0, 0] });
  const corners = (list, radius = 0) => ({ points: list.map((p) => scale(R, p)), radius: radius * R });
  const SHAPES = {
    box: () => corners(SQUARE.flatMap(([x, y]) => [[x, y, -0.8], [x, y, 0.8]])),
    tetrahedron: () => corners([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]),
    octahedron: () => corners([1.3, -1.3].flatMap((x) => [[x, 0, 0], [0, x, 0], [0, 0, x]])),
    point: () => corners([[0, 0, 0]]),
    triangle: () => corners([[-1, -0.8, 0], [1, -0.8, 0], [0, 1, 0]]),
    plate: () => corners([-1.2, 1.2].flatMap((x) => [-0.9, 0.9].flatMap((y) => [-1e-4, 1e-4].map((z) => [x, y, z + 0.3 * x + 0.2 * y])))),
    sphere: () => corners([[0, 0, 0]], 1),
    capsule: () => corners([[0.5, 0.3, 0.8], [-0.5, -0.3, -0.8]], 0.5),
    "box with a radius": () => corners(SQUARE.flatMap(([x, y]) => [[0.7 * x, 0.7 * y, -0.5], [0.7 * x, 0.7 * y, 0.5]]), 0.3),
    cylinder: () => curved("cylinder", TURN, 0.8, 1),
    "upright cylinder": () => curved("cylinder", UPRIGHT, 0.55, 1),
    cone: () => curved("cone", TURN, 0.9, 1.1),
    ellipsoid: () => curved("ellipsoid", TURN, 1.2, 0.8, 0.5),
    "triangular prism": () => prism([[4, 11], [4, 5], [9, 9]]),
    "four-sided prism": () => prism([[5, 7], [7, 3], [10, 2], [12, 7]]),
  };
  // `side` is 0 for A and 1 for B. The name "given" stands for the shape of the page.
  function shape(side, name) {
    if (name === "given") return data.given[side];
    const made = { name, radius: 0, ...SHAPES[name]() };
    if (made.points) made.middle = scale(1 / made.points.length, made.points.reduce(add));
    return made;
  }
  // The numbers that determine the size of a shape, and their names. Corners have one factor.
  const WORDS = { cylinder: ["base radius", "half height"], cone: ["base radius", "half height"], ellipsoid: ["radius along x", "radius along y", "radius along z"] };
  function sizes(one, edit) {
    return one.points ? { sizes: edit.sizes || [1], words: ["scale"] } : { sizes: one.sizes, words: WORDS[one.kind] };
  }
  // A shape with other sizes, radius and rotation. The rotation is about its middle: x first, then y, then z, in degrees.
  function edited(one, { sizes: size, radius = one.radius, turn = [0, 0, 0] }) {
    const rotated = (p) => turn.reduce((q, angle, axis) => {
      const [i, j] = [(axis + 1) % 3, (axis + 2) % 3], [c, s] = [Math.cos((angle * Math.PI) / 180), Math.sin((angle * Math.PI) / 180)], out = [...q];
      [out[i], out[j]] = [c * q[i] - s * q[j], s * q[i] + c * q[j]];
      return out;
    }, p);
    if (!size && !turn.some((angle) => angle)) return { ...one, radius };
    const heart = gjk3dSupport.middle(one);
    if (one.points) return { ...one, radius, middle: heart, points: one.points.map((p) => add(heart, rotated(scale(size ? size[0] : 1, sub(p, heart))))) };
    const columns = [0, 1, 2].map((k) => rotated([0, 3, 6].map((row) => one.turn[row + k])));
    return { ...one, radius, sizes: size || one.sizes, turn: [0, 1, 2].flatMap((row) => columns.map((column) => column[row])) };
  }
  const names = Object.keys(SHAPES), known = (name) => name === "given" || names.includes(name);
  return { shape, sizes, edited, names, known, unit: R };
})();
