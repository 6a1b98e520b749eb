// The assembly in 3D: everything as a ghost in one mesh, the two parts of a finding solid in their colours.
const clashStage = (function () {
  const { data, element, vec, numbers, points: at } = gjk3d;
  const COLORS = ["#E69F00", "#009E73"]; // orange and bluish green, told apart by everybody
  const KINDS = { hard: "#d55e00", contained: "#cc79a7", duplicate: "#8b5cf6", unchecked: "#808890", touch: "#e8b500", clearance: "#3b9be0" };
  const ANGLE = 32, CREASE = Math.cos((30 * Math.PI) / 180), SMOOTH = 150000, PROBED = 60000;

  function block(id, Kind) {
    const text = element(id).textContent.trim();
    element(id).remove();
    return numbers(text, Kind);
  }
  let picture;
  try {
    picture = new gjk3d.View(element("view"), ANGLE);
  } catch (error) {
    gjk3d.withoutWebGL("; the table has every number", ["controls", "foot"]);
    return null;
  }
  const positions = block("positions", Float32Array), indices = block("indices", Uint32Array);
  const { scene, camera, box: view } = picture;
  const local = (p) => vec(p.map((x, k) => (x - data.center[k]) / data.size));

  // --- the ghost: brighter where a surface turns away, so that shapes are seen through one another ---------------------
  function ghost(color, strength, depthTest) {
    return new THREE.ShaderMaterial({
      transparent: true, depthWrite: false, depthTest, side: THREE.DoubleSide, extensions: { derivatives: true }, clipping: true,
      uniforms: { color: { value: new THREE.Color(color) }, strength: { value: strength } },
      vertexShader: `varying vec3 at;
        #include <clipping_planes_pars_vertex>
        void main() {
          vec4 mvPosition = modelViewMatrix * vec4(position, 1.0);
          #include <clipping_planes_vertex>
          at = mvPosition.xyz;
          gl_Position = projectionMatrix * mvPosition;
        }`,
      fragmentShader: `uniform vec3 color; uniform float strength; varying vec3 at;
        #include <clipping_planes_pars_fragment>
        void main() {
          #include <clipping_planes_fragment>
          vec3 n = normalize(cross(dFdx(at), dFdy(at)));
          float edge = 1.0 - abs(dot(n, normalize(at)));
          gl_FragColor = vec4(color, strength * (0.18 + 0.82 * edge * edge));
        }`,
    });
  }
  const rest = new THREE.Group();
  const ghostly = ghost("#7d8894", 0.3, true);
  const drawn = data.motion ? positions.slice() : positions; // where the parts are; `positions` is where they were drawn
  const whole = at(drawn);
  whole.setIndex(new THREE.BufferAttribute(indices, 1));
  const ghosts = new THREE.Mesh(whole, [ghostly]);
  ghosts.frustumCulled = false;
  if (indices.length) rest.add(ghosts);
  const BOX = [0, 1, 1, 3, 3, 2, 2, 0, 4, 5, 5, 7, 7, 6, 6, 4, 0, 4, 1, 5, 2, 6, 3, 7];
  function frameOf(part) {
    return BOX.flatMap((corner) => [0, 1, 2].map((k) => part.box[(corner >> k) & 1][k]));
  }
  const lines = (ends, material) => new THREE.LineSegments(at(Float32Array.from(ends)), material);
  const boxed = data.parts.filter((part) => part.box && !part.range);
  if (boxed.length) {
    const frames = lines(boxed.flatMap(frameOf), new THREE.LineBasicMaterial({ color: 0x7d8894, transparent: true, opacity: 0.6 }));
    frames.frustumCulled = false;
    rest.add(frames);
  }
  scene.add(rest);
  function hideInGhost(ranges) {
    whole.clearGroups();
    let from = 0;
    for (const [start, count] of [...ranges.sort((one, two) => one[0] - two[0]), [indices.length, 0]]) {
      if (start > from) whole.addGroup(from, start - from, 0);
      from = Math.max(from, start + count);
    }
  }
  hideInGhost([]);

  // --- one part, solid ------------------------------------------------------------------------------------------------
  function solidGeometry(range) {
    const [base, , start, count] = range, points = new Float32Array(3 * count), sides = new Float32Array(count);
    for (let i = 0; i < count; i++) for (let k = 0; k < 3; k++) points[3 * i + k] = positions[3 * indices[start + i] + k];
    const normals = new Float32Array(3 * count), a = new THREE.Vector3(), b = new THREE.Vector3(), c = new THREE.Vector3();
    for (let i = 0; i < count; i += 3) {
      a.fromArray(points, 3 * i);
      b.fromArray(points, 3 * i + 3).sub(a);
      b.cross(c.fromArray(points, 3 * i + 6).sub(a));
      sides[i] = sides[i + 1] = sides[i + 2] = b.length();
      b.normalize();
      for (let corner = i; corner < i + 3; corner++) b.toArray(normals, 3 * corner);
    }
    const geometry = at(points);
    geometry.setAttribute("normal", new THREE.BufferAttribute(count <= 3 * SMOOTH ? smooth(base, range[1], start, count, normals, sides) : normals, 3));
    return geometry;
  }
  function smooth(base, vertices, start, count, flat, weight) {
    const first = new Int32Array(vertices + 1), corners = new Int32Array(count), result = new Float32Array(flat.length);
    for (let i = 0; i < count; i++) first[indices[start + i] - base + 1]++;
    for (let v = 0; v < vertices; v++) first[v + 1] += first[v];
    const fill = first.slice();
    for (let i = 0; i < count; i++) corners[fill[indices[start + i] - base]++] = i;
    for (let i = 0; i < count; i++) {
      const v = indices[start + i] - base, x = flat[3 * i], y = flat[3 * i + 1], z = flat[3 * i + 2];
      let sx = 0, sy = 0, sz = 0;
      const end = Math.min(first[v + 1], first[v] + 64); // the hub of a fan is flat, or is a cone's tip: a few tell
      for (let j = first[v]; j < end; j++) {
        const n = 3 * corners[j];
        if (flat[n] * x + flat[n + 1] * y + flat[n + 2] * z < CREASE) continue;
        sx += flat[n] * weight[corners[j]]; sy += flat[n + 1] * weight[corners[j]]; sz += flat[n + 2] * weight[corners[j]];
      }
      const size = Math.hypot(sx, sy, sz);
      result.set(size > 0 ? [sx / size, sy / size, sz / size] : [x, y, z], 3 * i);
    }
    return result;
  }
  const kept = new Map(); // the last few parts, so that going up and down is quick
  function geometryOf(index) {
    let made = kept.get(index);
    if (!made) {
      const solid = solidGeometry(data.parts[index].range);
      made = { solid, edges: solid.attributes.position.count <= 3 * PROBED ? new THREE.EdgesGeometry(solid, 30) : null };
      if (kept.size >= 16) {
        const [oldest, old] = kept.entries().next().value;
        old.solid.dispose();
        if (old.edges) old.edges.dispose();
        kept.delete(oldest);
      }
    } else kept.delete(index);
    kept.set(index, made);
    return made;
  }
  const looks = COLORS.map((text) => {
    const color = new THREE.Color(text).convertSRGBToLinear();
    return {
      text,
      solid: new THREE.MeshPhongMaterial({ color, side: THREE.DoubleSide, shininess: 20, specular: 0x111111, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 }),
      edge: new THREE.LineBasicMaterial({ color: color.clone().multiplyScalar(0.3) }),
      line: new THREE.LineBasicMaterial({ color }),
      through: ghost(text, 0.34, false),
    };
  });
  const pair = [new THREE.Group(), new THREE.Group()];
  scene.add(...pair);
  function setPair(ids) {
    const hidden = [];
    pair.forEach((group, side) => {
      group.clear();
      group.position.set(0, 0, 0);
      const part = data.parts[ids[side]];
      if (!part) return;
      const look = looks[side];
      if (part.range) {
        const { solid, edges } = geometryOf(ids[side]);
        const through = new THREE.Mesh(solid, look.through);
        through.renderOrder = 5;
        group.add(new THREE.Mesh(solid, look.solid), through);
        if (edges) group.add(new THREE.LineSegments(edges, look.edge));
        hidden.push([part.range[2], part.range[3]]);
      } else if (part.box) group.add(lines(frameOf(part), look.line));
    });
    hideInGhost(hidden);
  }

  return { picture, view, scene, camera, vec, local, pair, looks, rest, ghosts, ghostly, positions, drawn, whole, indices, setPair, ANGLE, KINDS, dirty() { picture.touched = true; } };
})();
