// Shapes of the page, about the middle of the given pair: a list, and the polygons of 2D tutorials on GJK as prisms.
const gjk3dShapes = (function () {
  const { data } = gjk3d, { add, scale } = gjk3dVectors;
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
  const names = Object.keys(SHAPES), known = (name) => name === "given" || names.includes(name);
  return { shape, names, known, unit: R };
})();
