// A view of the lesson on GJK and EPA: side 0 shows the two shapes, side 1 shows their difference.
const gjk3dBodies = (function () {
  const { data, vec, numbers, points, surface } = gjk3d, { sub, scale } = gjk3dVectors, { support } = gjk3dSupport;
  const { local } = gjk3dMarks, { origin } = gjk3dPieces, { Panel, grown } = gjk3dPanel;
  class Sided extends Panel {
    constructor(box, side) {
      super(box, data.views[side]);
      this.side = side;
    }
    // the bodies of every step: the two shapes, or their difference. `own` is a pair of the page.
    dress(pair, own, shift) {
      this.bodies.forEach((group, i) => { this.wear(i); group.position.set(0, 0, 0); });
      this.items.forEach((item) => this.scene.remove(item.group));
      this.items.clear();
      const shown = (mapping, ...look) => this.shape((d) => local(this.view, mapping(d)), ...look), stills = data.still[this.side];
      if (this.side === 0) stills.forEach((still, i) => {
        const one = own && pair[i], few = one && one.points && !one.radius && one.points.length <= 16; // with more points, edges are only shaded
        this.wear(i, ...(one ? shown((d) => grown(one, d), "ab"[i], 0.4, few) : this.still(still)));
      });
      else if (!own && !(pair && data.sampled)) this.wear(0, ...stills.flatMap((still) => this.still(still)));
      else {
        const [a, b] = pair, round = a.radius + b.radius > 0;
        this.wear(0, ...(round ? shown((d) => sub(grown(a, d), grown(b, scale(-1, d))), "difference", 0.12) : []), ...shown((d) => sub(support(a, d), support(b, scale(-1, d))), "difference", 0.24));
      }
      this.shift(shift);
    }
    still(one) {
      if (!one.positions) return this.solid({ ...one, kind: one.points.length > 1 ? "rod" : "ball" });
      const edges = one.edges && numbers(one.edges, Float32Array);
      return this.glass(surface(one), one.role, one.opacity, edges && edges.length ? points(edges) : null);
    }
    // Move B, or the difference by the opposite translation.
    shift(by) { this.move(this.side === 0 ? by : scale(-1, by), this.side === 0 ? 1 : 0); }
    extent() { return [...(this.side ? [vec(origin(this.view))] : []), ...super.extent()]; }
  }
  return { Sided };
})();
