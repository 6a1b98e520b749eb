// Pieces of a picture: balls, rods, arrows, faces, regions and labels, in units of their view, each with a role.
const gjk3dMarks = (function () {
  const { data, element, make } = gjk3d, { sub, scale, norm } = gjk3dVectors;
  const BALL = 0.026, ROD = 0.008, ARROW = 0.011;

  const local = (view, p) => scale(1 / view.unit, sub(p, view.center));
  // `mark` is the name or role by which words of the text are linked to the piece.
  const piece = (kind, role, key, points, more) => ({ kind, role, key: kind + role + key, mark: role, points, size: ROD, opacity: 1, ...more });
  const far = (points, least) => norm(sub(points[1], points[0])) > least;
  const meanings = () => Object.fromEntries(Object.entries(data.colors).map(([role, one]) => [role, one.meaning]));
  // The drawn roles with their words, in the order of the legend.
  const legend = (words, drawn) => Object.keys(words).filter((role) => drawn.has(role)).map((role) => [role, words[role]]);
  function writeLegend(rows) {
    element("legend").replaceChildren(...rows.map(([role, words]) => {
      const chip = make("span", { class: "chip" });
      chip.style.background = gjk3dPanel.paint(role);
      return make("li", { class: "word", "data-mark": role }, chip, words);
    }));
  }
  return { BALL, ROD, ARROW, local, piece, far, meanings, legend, writeLegend };
})();
