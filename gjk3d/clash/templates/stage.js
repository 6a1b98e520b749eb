// The assembly in 3D: all parts as one mesh, shaded or transparent, and the two parts of a finding in their colours.
let clashStage = null;
gjk3d.later(function () {
  const { data, element, css, vec, tint, points: at } = gjk3d;
  const CREASE = Math.cos((30 * Math.PI) / 180), SMOOTH = 150000, PROBED = 60000;

  const picture = gjk3d.drawn(() => new gjk3d.View(element("view"), 32), ". The table has all values", ["controls", "foot"]);
  if (!picture) return;
  const { scene, camera, box: view } = picture;
  const local = (p) => vec(p.map((x, k) => (x - data.center[k]) / data.size));

  // --- the transparent mesh: silhouettes are brighter, so that shapes are visible through each other -------------------
  function ghost(color, strength, depthTest) {
    return new THREE.ShaderMaterial({
      transparent: true, depthWrite: false, depthTest, side: THREE.DoubleSide, extensions: { derivatives: true }, clipping: true,
      uniforms: { color: { value: new THREE.Color(color) }, strength: { value: strength }, coloured: { value: 0 }, opaque: { value: 0 } },
      vertexShader: `attribute vec3 own; varying vec3 at, of;
        #include <clipping_planes_pars_vertex>
        void main() {
          vec4 mvPosition = modelViewMatrix * vec4(position, 1.0);
          #include <clipping_planes_vertex>
          at = mvPosition.xyz;
          of = own;
          gl_Position = projectionMatrix * mvPosition;
        }`,
      fragmentShader: `uniform vec3 color; uniform float strength, coloured, opaque; varying vec3 at, of;
        #include <clipping_planes_pars_fragment>
        void main() {
          #include <clipping_planes_fragment>
          vec3 n = normalize(cross(dFdx(at), dFdy(at)));
          float edge = 1.0 - abs(dot(n, normalize(at)));
          if (opaque > 0.5) gl_FragColor = vec4(mix(color, of, coloured) * (1.0 - 0.62 * edge * edge), 1.0);
          else gl_FragColor = vec4(mix(color, of * (1.0 - 0.75 * edge), coloured), strength * (mix(0.18, 0.5, coloured) + mix(0.82, 0.9, coloured) * edge * edge));
        }`,
    });
  }
  const rest = new THREE.Group(), ghostly = ghost("#7d8894", 0.3, true);
  const whole = at(new Float32Array()), ghosts = new THREE.Mesh(whole, [ghostly]);
  const boxed = new THREE.LineSegments(at(new Float32Array()), new THREE.LineBasicMaterial({ color: 0x7d8894, transparent: true, opacity: 0.6 }));
  ghosts.frustumCulled = boxed.frustumCulled = ghosts.visible = boxed.visible = false;
  rest.add(ghosts, boxed);
  scene.add(rest);
  const BOX = [0, 1, 1, 3, 3, 2, 2, 0, 4, 5, 5, 7, 7, 6, 6, 4, 0, 4, 1, 5, 2, 6, 3, 7];
  const frameOf = (box) => BOX.flatMap((corner) => [0, 1, 2].map((k) => box[(corner >> k) & 1][k]));
  let shapes = [], indices = new Uint32Array();

  // --- poses of parts ---------------------------------------------------------------------------------------------------
  const where = new THREE.Vector3();
  function move(points, from, count, matrix, into, to) {
    for (let i = 0; i < 3 * count; i += 3) where.fromArray(points, from + i).applyMatrix4(matrix).toArray(into, to + i);
  }
  // Move a part by a displacement from its drawn pose.
  function put(part, matrix) {
    part.now = matrix;
    const [low, high] = part.drawn, middle = vec(low).add(vec(high)).multiplyScalar(0.5), shift = middle.clone().applyMatrix4(matrix).sub(middle).toArray();
    part.box = part.drawn.map((corner) => corner.map((x, k) => x + shift[k]));
    if (part.range) move(shapes[part.shape].points, 0, part.range[1], matrixOf(part), whole.attributes.position.array, 3 * part.range[0]);
    else move(frameOf(part.drawn), 0, BOX.length, matrix, boxed.geometry.attributes.position.array, 3 * part.frame);
    whole.boundingSphere = null;
    whole.attributes.position.needsUpdate = boxed.geometry.attributes.position.needsUpdate = true;
  }
  function matrixOf(part) { // the pose of its shape
    const [x, y, z, w, ...at] = part.pose, matrix = new THREE.Matrix4().compose(vec(at), new THREE.Quaternion(x, y, z, w), new THREE.Vector3(1, 1, 1));
    return part.now ? matrix.premultiply(part.now) : matrix;
  }
  function hideInGhost(ranges) {
    whole.clearGroups();
    let from = 0;
    for (const [start, count] of [...ranges.sort((one, two) => one[0] - two[0]), [indices.length, 0]]) {
      if (start > from) whole.addGroup(from, start - from, 0);
      from = Math.max(from, start + count);
    }
  }
  // The colour of each vertex, which is the colour of the part in its file, or a colour that differs from A and B.
  const PALETTE = ["#56B4E9", "#F0E442", "#8C8C8C", "#CC79A7"];
  function coloursOf(vertices) {
    const colours = new Uint8Array(3 * vertices);
    let turn = 0;
    for (const { range, colour } of data.parts) if (range) {
      const rgb = new THREE.Color(colour || PALETTE[turn++ % PALETTE.length]).toArray().map((x) => Math.round(255 * x));
      for (let i = range[0]; i < range[0] + range[1]; i++) colours.set(rgb, 3 * i);
    }
    return new THREE.BufferAttribute(colours, 3, true);
  }
  // Unpack the shapes and place the parts.
  async function fill() {
    const got = await clashRows.fetchShapes(), frames = [];
    shapes = got.shapes;
    let vertices = 0, count = 0;
    for (const part of data.parts) {
      part.drawn = part.box;
      if (part.seen) {
        const { points, indices } = shapes[part.shape];
        part.range = [vertices, points.length / 3, count, indices.length];
        vertices += points.length / 3;
        count += indices.length;
      } else if (part.box) {
        part.frame = frames.length / 3;
        frames.push(...frameOf(part.box));
      }
    }
    const placed = new Float32Array(3 * vertices);
    indices = new Uint32Array(count);
    for (const part of data.parts) if (part.range) {
      const [first, many, start, corners] = part.range, own = shapes[part.shape].indices;
      move(shapes[part.shape].points, 0, many, matrixOf(part), placed, 3 * first);
      for (let i = 0; i < corners; i++) indices[start + i] = own[i] + first;
    }
    whole.setAttribute("position", new THREE.BufferAttribute(placed, 3));
    whole.setAttribute("own", coloursOf(vertices));
    whole.setIndex(new THREE.BufferAttribute(indices, 1));
    boxed.geometry.setAttribute("position", new THREE.BufferAttribute(Float32Array.from(frames), 3));
    ghosts.visible = count > 0;
    boxed.visible = frames.length > 0;
    hideInGhost([]);
    return got.places;
  }

  // --- opaque parts ---------------------------------------------------------------------------------------------------
  function solidGeometry({ points, indices }) {
    const geometry = at(points).setIndex(new THREE.BufferAttribute(indices, 1)).toNonIndexed();
    geometry.computeVertexNormals(); // the normals of the triangles, because no vertices are shared
    if (indices.length <= 3 * SMOOTH) smooth(geometry, points.length / 3, indices);
    return geometry;
  }
  // Around a vertex, triangles without a crease between them share a normal, which is weighted by their areas.
  function smooth({ attributes: { position, normal } }, vertices, of) {
    const count = of.length, first = new Int32Array(vertices + 1), corners = new Int32Array(count), flat = normal.array.slice(), triangle = new THREE.Triangle();
    const weight = Float32Array.from({ length: count / 3 }, (_, k) => triangle.setFromAttributeAndIndices(position, 3 * k, 3 * k + 1, 3 * k + 2).getArea());
    for (let i = 0; i < count; i++) first[of[i] + 1]++;
    for (let v = 0; v < vertices; v++) first[v + 1] += first[v];
    const fill = first.slice();
    for (let i = 0; i < count; i++) corners[fill[of[i]]++] = i;
    for (let i = 0; i < count; i++) {
      const v = of[i], x = flat[3 * i], y = flat[3 * i + 1], z = flat[3 * i + 2];
      let sx = 0, sy = 0, sz = 0;
      const end = Math.min(first[v + 1], first[v] + 64); // a vertex with many triangles is flat or the tip of a cone, so a few of them are enough
      for (let j = first[v]; j < end; j++) {
        const n = 3 * corners[j], area = weight[Math.floor(corners[j] / 3)];
        if (flat[n] * x + flat[n + 1] * y + flat[n + 2] * z < CREASE) continue;
        sx += flat[n] * area; sy += flat[n + 1] * area; sz += flat[n + 2] * area;
      }
      const size = Math.hypot(sx, sy, sz);
      if (size > 0) normal.setXYZ(i, sx / size, sy / size, sz / size);
    }
  }
  const kept = new Map(); // a cache of the last shapes, so that a change between two findings is fast
  function geometryOf(index) {
    if (!kept.has(index)) {
      const solid = solidGeometry(shapes[index]);
      kept.set(index, [solid, solid.attributes.position.count <= 3 * PROBED ? new THREE.EdgesGeometry(solid, 30) : null]);
    }
    const made = kept.get(index), [oldest, old] = kept.entries().next().value;
    kept.delete(index);
    kept.set(index, made);
    if (kept.size > 16 && kept.delete(oldest)) for (const geometry of old) if (geometry) geometry.dispose();
    return made;
  }
  const looks = ["--a", "--b"].map(css).map((text) => ({
    solid: new THREE.MeshPhongMaterial({ color: tint(text), side: THREE.DoubleSide, shininess: 20, specular: 0x111111, polygonOffset: true }),
    edge: new THREE.LineBasicMaterial({ color: tint(text, 0.3) }),
    line: new THREE.LineBasicMaterial({ color: tint(text) }),
    through: ghost(text, 0.34, false),
  }));
  const pair = [new THREE.Group(), new THREE.Group()];
  scene.add(...pair);
  function setPair(ids) {
    const hidden = [];
    pair.forEach((group, side) => {
      group.clear();
      group.position.set(0, 0, 0);
      const part = data.parts[ids[side]], look = looks[side];
      group.part = part;
      if (!part) return;
      if (part.shape >= 0) {
        const [solid, edges] = geometryOf(part.shape);
        const through = new THREE.Mesh(solid, look.through);
        through.renderOrder = 5;
        group.add(new THREE.Mesh(solid, look.solid), through);
        if (edges) group.add(new THREE.LineSegments(edges, look.edge));
        if (part.range) hidden.push([part.range[2], part.range[3]]);
      } else if (part.drawn) group.add(new THREE.LineSegments(at(Float32Array.from(frameOf(part.drawn))), look.line));
    });
    hideInGhost(hidden);
    placePair();
  }
  function placePair() {
    for (const { part, children } of pair) for (const child of children) {
      child.matrixAutoUpdate = false;
      child.matrix.copy(part.shape >= 0 ? matrixOf(part) : part.now || new THREE.Matrix4());
      child.matrixWorldNeedsUpdate = true;
    }
  }

  clashStage = { picture, view, scene, camera, vec, local, pair, looks, rest, ghosts, ghostly, matrixOf, shapeOf: (part) => shapes[part.shape], fill, put, placePair, setPair, dirty() { picture.touched = true; } };
});
