"use strict";
// What the pages of pictures have in common, before the script of each: arrays out of text, light, and a view to turn.
const gjk3dStage = (function () {
  function numbers(text, Kind) {
    const raw = atob(text);
    const bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return new Kind(bytes.buffer);
  }
  function points(array) {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(array, 3));
    return geometry;
  }
  function surface(mesh) {
    const geometry = points(numbers(mesh.positions, Float32Array));
    geometry.setAttribute("normal", new THREE.BufferAttribute(numbers(mesh.normals, Float32Array), 3));
    geometry.setIndex(new THREE.BufferAttribute(numbers(mesh.indices, Uint32Array), 1));
    return geometry;
  }
  const tint = (text, by = 1) => new THREE.Color(text).convertSRGBToLinear().multiplyScalar(by);

  // throws where there is no WebGL
  function canvasIn(view) {
    const renderer = new THREE.WebGLRenderer({ antialias: true, alpha: true });
    renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2));
    renderer.outputEncoding = THREE.sRGBEncoding;
    view.prepend(renderer.domElement);
    return renderer;
  }
  function withoutWebGL(more, hidden) {
    const trouble = document.getElementById("trouble");
    trouble.textContent = `This browser cannot draw in 3D here (no WebGL)${more}.`;
    trouble.hidden = false;
    for (const id of hidden) document.getElementById(id).hidden = true;
    document.documentElement.dataset.state = "no-webgl";
  }
  // the sky, and two lights that go with the camera
  function light(scene, camera, sky, powers) {
    scene.add(camera);
    scene.add(new THREE.HemisphereLight(0xffffff, 0xb9c2cc, sky));
    [[-0.55, 0.7, 0.6], [0.8, 0.15, 0.5]].forEach((at, i) => {
      const lamp = new THREE.DirectionalLight(0xffffff, powers[i]);
      lamp.position.set(...at);
      camera.add(lamp);
      camera.add(lamp.target);
    });
  }

  // One view of what `data` says where to see from; null without WebGL, which the page then says, and hides what is of
  // no use. Set `touched` to have it drawn again.
  function open(data, more, hidden) {
    const view = document.getElementById("view");
    let renderer;
    try {
      renderer = canvasIn(view);
    } catch (error) {
      withoutWebGL(more, hidden);
      return null;
    }
    const scene = new THREE.Scene(), camera = new THREE.PerspectiveCamera(data.angle, 1, 0.01, 1000);
    light(scene, camera, 0.62, [0.55, 0.25]);

    let controls;
    const stage = { view, scene, camera, touched: true, reset, start };
    function reset() {
      if (controls) controls.dispose();
      camera.position.set(...data.eye);
      camera.up.set(...data.up);
      controls = new THREE.TrackballControls(camera, renderer.domElement);
      controls.target.set(...data.center);
      controls.rotateSpeed = 2.6;
      controls.zoomSpeed = 1.3;
      controls.panSpeed = 0.6;
      controls.addEventListener("change", () => { stage.touched = true; });
      resize();
    }
    function resize() {
      const width = view.clientWidth, height = view.clientHeight;
      renderer.setSize(width, height);
      camera.aspect = width / Math.max(height, 1);
      // the picture was laid out for 4:3; a narrower window sees it from farther off
      const half = Math.tan((data.angle * Math.PI) / 360) * Math.max(1, 4 / 3 / camera.aspect);
      camera.fov = (Math.atan(half) * 360) / Math.PI;
      camera.updateProjectionMatrix();
      controls.handleResize();
      stage.touched = true;
    }
    // Each frame `tick` is told the time; where something changed, `before` and `after` stand around the drawing.
    function start({ tick, before, after }) {
      function frame(now) {
        requestAnimationFrame(frame);
        if (tick) tick(now);
        controls.update();
        if (!stage.touched) return;
        stage.touched = false;
        const distance = camera.position.distanceTo(controls.target);
        camera.near = Math.max(distance / 1000, distance - data.reach);
        camera.far = distance + 4 * data.reach;
        camera.updateProjectionMatrix();
        if (before) before();
        renderer.render(scene, camera);
        if (after) after();
        document.documentElement.dataset.state = "drawn";
      }
      reset();
      new ResizeObserver(resize).observe(view);
      frame(0);
    }
    return stage;
  }
  return { numbers, points, surface, tint, canvasIn, withoutWebGL, light, open };
})();
