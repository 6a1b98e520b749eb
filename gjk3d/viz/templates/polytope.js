// EPA's polytope, as in narrow/epa.py: a closed surface of triangles, each with its three neighbours.
const gjk3dPolytope = (function () {
  const { dot, sub, add, scale, norm, triangleNormal } = gjk3dVectors;
  const FLAT = 1e-140; // a shorter normal has no direction
  class Polytope {
    // The first tetrahedron. Its centre orients all later faces by their winding, wherever the origin is.
    constructor(rows, tiny) {
      Object.assign(this, { vertices: rows.slice(0, 4), faces: [], live: [], tiny });
      const [p0, p1, p2, p3] = this.vertices.map((row) => row.w);
      this.inner = scale(0.25, [p0, p1, p2, p3].reduce(add));
      if (dot(triangleNormal(p0, p1, p2), sub(p3, p0)) > 0) this.vertices = [1, 2].reduce((list, i) => Object.assign(list, { [i]: rows[3 - i] }), this.vertices);
      [[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]].forEach((corners, f) => {
        this.faces.push(Object.assign(this.face(corners) || { corners, n: [0, 0, 0], key: Infinity, alive: true }, { beyond: [[1, 2, 3], [3, 2, 0], [1, 3, 0], [2, 1, 0]][f] }));
      });
      this.live = this.faces.slice(); // never changed, only replaced, so that a step can keep it
    }
    at(i) { return this.vertices[i].w; }
    // A face with its unit normal. Its key is the least height of its corners along the normal, a valid bound for an
    // inaccurate normal too. Null for a face without a normal.
    face(corners) {
      const points = corners.map((i) => this.at(i)), normal = triangleNormal(...points), length = norm(normal);
      if (!(length > FLAT)) return null;
      const n = scale(1 / length, normal);
      return { corners, n, key: Math.min(...points.map((p) => dot(n, p))), alive: true };
    }
    // The live face with the least key, the oldest of ties.
    lowest() {
      return this.live.reduce((found, face) => (face.key < found.key ? face : found));
    }
    above(face, w) { return dot(face.n, sub(w, this.at(face.corners[0]))); }
    // The live face above which a point is highest; null if it is above no face.
    highest(w) {
      let found = null, most = this.tiny;
      for (const face of this.live) if (this.above(face, w) > most) [found, most] = [face, this.above(face, w)];
      return found;
    }
    // The faces that w sees, starting at `seed`, and the edges around them, each with the face behind it.
    horizon(seed, w, threshold) {
      const visible = [seed], seen = new Set(visible), rim = [];
      for (const face of visible) face.beyond.forEach((g, e) => {
        const other = this.faces[g];
        if (seen.has(other)) return;
        if (this.above(other, w) > threshold) {
          seen.add(other);
          visible.push(other);
        } else rim.push({ from: face.corners[e], to: face.corners[(e + 1) % 3], behind: g });
      });
      return { visible, rim };
    }
    // The faces between the rim and the last vertex; null if the rim is not one cycle, or if a face is too thin or is
    // wound inward, which rounding can cause.
    fan(rim) {
      const start = new Map(rim.map((edge) => [edge.from, edge])), last = this.vertices.length - 1, up = sub(this.at(last), this.inner), out = [];
      if (rim.length < 3 || start.size < rim.length) return null;
      let edge = rim[0];
      for (let k = 0; k < rim.length; k++) {
        const face = this.face([edge.from, edge.to, last]), first = this.faces.length;
        if (!face || !(dot(face.n, up) > 0)) return null;
        const before = first + ((k + rim.length - 1) % rim.length), after = first + ((k + 1) % rim.length);
        out.push(Object.assign(face, { beyond: [edge.behind, after, before] }));
        edge = start.get(edge.to);
        if (!edge || (edge === rim[0]) !== (k === rim.length - 1)) return null;
      }
      return out;
    }
    // Replace the faces that a new vertex sees by a fan. Coplanar faces are kept; if this fails they are split, and then
    // removed. Null, with nothing changed, if all three fail.
    grow(seed, row) {
      if (!seed) return null;
      this.vertices.push(row);
      for (const threshold of [this.tiny, 0, -this.tiny]) {
        const { visible, rim } = this.horizon(seed, row.w, threshold), fan = this.fan(rim);
        if (!fan) continue;
        visible.forEach((face) => { face.alive = false; });
        for (const face of fan) {
          const g = this.faces[face.beyond[0]], e = g.corners.indexOf(face.corners[1]);
          this.faces.push(face);
          g.beyond[e] = this.faces.length - 1;
        }
        this.live = [...this.live.filter((face) => face.alive), ...fan];
        return { visible, fan, threshold };
      }
      this.vertices.pop();
      return null;
    }
    // The face that the ray from an inner origin along n hits, and the weights of its corners.
    pierced(n) {
      const e1 = gjk3dVectors.perpendicular(n), e2 = gjk3dVectors.cross(n, e1);
      let found = null, most = -Infinity;
      for (const face of this.live) {
        const [a, b, c] = face.corners.map((i) => [dot(e1, this.at(i)), dot(e2, this.at(i))]), turn = (p, q) => p[0] * q[1] - p[1] * q[0];
        const areas = [turn(b, c), turn(c, a), turn(a, b)], total = areas[0] + areas[1] + areas[2], least = Math.min(...areas) / total;
        if (total > 0 && least > most) [most, found] = [least, { face, weights: areas.map((x) => Math.max(x, 0)) }];
      }
      const sum = found.weights.reduce((x, y) => x + y);
      return { face: found.face, rows: found.face.corners.map((i) => this.vertices[i]), weights: found.weights.map((x) => x / sum) };
    }
  }
  return { Polytope };
})();
