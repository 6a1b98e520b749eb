// A dot for every finding of the table. The worst finding is on top.
let clashDots = null;
gjk3d.later(function () {
  if (!clashStage) return;
  const { data, css, dark } = gjk3d, { picture, view, scene, camera, dirty } = clashStage;
  const CELL = 2, BEYOND = 8; // pixels: the size of a cell with at most one visible dot, and a margin outside of which no dot is visible
  const dots = new THREE.Points(new THREE.BufferGeometry(), new THREE.ShaderMaterial({
    transparent: true, depthTest: false, depthWrite: false, uniforms: { size: { value: 13 } },
    vertexShader: "attribute vec3 color; varying vec3 ink; uniform float size; void main() { ink = color; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); gl_PointSize = size; }",
    fragmentShader: "varying vec3 ink; void main() { float r = length(gl_PointCoord - 0.5); if (r > 0.5) discard; gl_FragColor = vec4(r > 0.4 ? 0.35 * ink : ink, 0.92); }",
  }));
  Object.assign(dots, { frustumCulled: false, renderOrder: 20 });
  scene.add(dots);
  let places = [], listed = [], shown = []; // places: three numbers for each finding
  const known = (index) => places[3 * index] <= Infinity;
  const placeOf = (index) => (known(index) ? new THREE.Vector3().fromArray(places, 3 * index) : new THREE.Vector3());

  function mark(rows) {
    listed = rows;
    shown = rows.filter(known).sort((one, two) => two - one); // the worst on top
    const at = new Float32Array(3 * shown.length), inks = new Float32Array(3 * shown.length);
    // the colours of the table, but brighter on a white background
    const tints = new Map(data.kinds.map((kind) => [kind, new THREE.Color(css("--" + kind)).offsetHSL(0, 0, dark.matches ? 0 : 0.15).toArray()]));
    shown.forEach((index, k) => {
      at.set(places.subarray(3 * index, 3 * index + 3), 3 * k);
      inks.set(tints.get(data.rows[index].kind), 3 * k);
    });
    const wide = Math.sqrt((4 * view.clientWidth * view.clientHeight) / Math.max(1, shown.length)); // many findings have smaller dots, because hidden dots only take time
    dots.material.uniforms.size.value = Math.min(13, Math.max(4, wide)) * picture.renderer.getPixelRatio();
    for (const [name, values] of [["position", at], ["color", inks]]) dots.geometry.setAttribute(name, new THREE.BufferAttribute(values, 3));
    dots.geometry.setIndex(new THREE.BufferAttribute(new Uint32Array(shown.length), 1));
    dirty();
  }
  // Leave out dots that worse findings hide. Without a GPU, a hundred thousand dots are the slowest part of the picture.
  function thin() {
    const { geometry } = dots, { index, attributes } = geometry;
    if (!index || !dots.visible) return;
    camera.updateMatrixWorld();
    const m = new THREE.Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse).elements, at = attributes.position.array, order = index.array;
    const wide = view.clientWidth, high = view.clientHeight, cells = Math.ceil((wide + 2 * BEYOND) / CELL), taken = new Uint8Array(cells * Math.ceil((high + 2 * BEYOND) / CELL));
    let first = shown.length;
    for (let k = shown.length - 1; k >= 0; k--) {
      const x = at[3 * k], y = at[3 * k + 1], z = at[3 * k + 2], w = m[3] * x + m[7] * y + m[11] * z + m[15];
      if (!(Math.abs(m[2] * x + m[6] * y + m[10] * z + m[14]) <= w)) continue; // outside of the depth range of the camera
      const left = BEYOND + (((m[0] * x + m[4] * y + m[8] * z + m[12]) / w + 1) * wide) / 2, top = BEYOND + ((1 - (m[1] * x + m[5] * y + m[9] * z + m[13]) / w) * high) / 2;
      if (!(left >= 0 && left < wide + 2 * BEYOND && top >= 0 && top < high + 2 * BEYOND)) continue;
      const cell = Math.floor(top / CELL) * cells + Math.floor(left / CELL);
      if (taken[cell]) continue;
      taken[cell] = 1;
      order[--first] = k;
    }
    geometry.setDrawRange(first, shown.length - first);
    index.needsUpdate = true;
  }
  function near(event) { // return the nearest finding at the pointer, the worst of equally near findings, or -1
    const away = (index) => picture.distance(placeOf(index), event), within = shown.filter((index) => away(index) <= 14);
    return within.length ? within.reduce((one, two) => (away(two) <= away(one) ? two : one)) : -1;
  }
  function fill(got) {
    places = got;
    mark(listed);
  }
  dark.addEventListener("change", () => mark(listed));
  clashDots = { mark, fill, thin, near, placeOf, show(on) { dots.visible = on; } };
});
