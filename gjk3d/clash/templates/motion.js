// The motion: the poses of parts at a time, the player, and the chart of the clearance of a finding.
let clashMotion = null;
gjk3d.later(function () {
  if (!clashStage || !gjk3d.data.motion) return;
  const { data, element, state: root, make, number, numbers } = gjk3d, { picture, put, placePair } = clashStage;
  const { begin, end, frames, unit, bodies, courses } = data.motion, MARGIN = 6;
  const slider = element("time"), moving = bodies.flatMap(({ parts, poses }) => {
    const rows = numbers(poses, Float32Array);
    return parts.map((index) => ({ part: data.parts[index], rows }));
  });
  let now = begin, row = null, moved = () => {};

  // --- poses ------------------------------------------------------------------------------------------------------------
  function matrixAt(rows, time) {
    const at = ((time - begin) / (end - begin)) * (frames - 1), k = Math.min(frames - 2, Math.floor(at)), s = at - k;
    const [a, b, c, x, d, e, f, y, g, h, i, z] = Array.from({ length: 12 }, (_, j) => rows[12 * k + j] * (1 - s) + rows[12 * k + 12 + j] * s);
    return new THREE.Matrix4().set(a, b, c, x, d, e, f, y, g, h, i, z, 0, 0, 0, 1);
  }
  function to(time) {
    now = Math.min(end, Math.max(begin, time));
    slider.value = now;
    element("now").textContent = `${number(now, 5)}${unit && " " + unit}`;
    root.time = now;
    for (const { part, rows } of moving) if (part.drawn) put(part, matrixAt(rows, now));
    placePair();
    cursor();
    moved();
    picture.touched = true;
  }

  // --- the chart ------------------------------------------------------------------------------------------------------
  const WIDE = 1000, HIGH = 100, ROOM = 0.2; // ROOM is the least height on each side of zero, as a share of the other side
  const across = (time) => ((time - begin) / (end - begin)) * WIDE;
  const value = ([, , upper, inside]) => (inside > 0 ? -inside : upper);
  function chart() {
    const box = element("chart"), course = row && courses[row.course];
    if (!course || !course.series.length) {
      box.replaceChildren(make("span", { class: "soft" }, row ? "These parts do not move relative to each other." : "Select a finding to see the clearance of its parts over time."));
      return;
    }
    const values = course.series.map(value), least = Math.min(...values), most = Math.max(...values);
    const low = least < 0 ? Math.min(least, -ROOM * most) : 0, high = Math.max(most > 0 ? Math.max(most, -ROOM * least) : 0, low + 1e-12);
    const up = (x) => MARGIN + ((high - x) / (high - low)) * (HIGH - 2 * MARGIN);
    const svg = make("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: "none" });
    const band = (look, first, last) => svg.append(make("polygon", { class: look, points: `${across(first)},0 ${across(last)},0 ${across(last)},${HIGH} ${across(first)},${HIGH}` }));
    for (const [after, first, last, before] of course.intervals) {
      band("perhaps", after, before); // not certified to be free
      band("clash", first, last);
    }
    svg.append(make("line", { class: "zero", x1: 0, x2: WIDE, y1: up(0), y2: up(0) }),
      make("polyline", { class: "gap", points: course.series.map((look) => `${across(look[0]).toFixed(2)},${up(value(look)).toFixed(2)}`).join(" ") }),
      make("line", { class: "cursor", x1: 0, x2: 0, y1: 0, y2: HIGH }));
    const words = `${[span("gap", least, most), span("penetration", -most, -least)].filter(Boolean).join(", ") || "no gap"}; ${course.told}`;
    const side = Math.abs(values[0]) < Math.abs(values.at(-1)) ? " late" : ""; // the side on which the curve is far from zero
    const plot = make("div", { class: "plot soft" }, svg, scale(least, most), most > 0 && label("above" + side, "gap"), least < 0 && label("below" + side, "penetration"));
    plot.style.setProperty("--zero", up(0) / HIGH);
    box.setAttribute("aria-label", `clearance over time: ${words}`);
    box.replaceChildren(make("span", { class: "soft" }, words), plot);
    cursor();
  }
  const span = (name, least, most) => most > 0 && `${name} ${least > 0 ? `from ${number(least, 4)}` : "up"} to ${number(most, 4)}${clashTable.unit}`;
  const label = (name, words) => make("span", { class: name }, words);
  // The labels of the largest gap, the largest penetration and the first and last time.
  function scale(least, most) {
    const long = (x) => number(x, 3) + clashTable.unit, times = (x) => number(x, 3) + (unit && " " + unit);
    return [most > 0 && label("high", long(most)), label("level", "0"), least < 0 && label("low", long(-least)), label("first", times(begin)), label("last", times(end))];
  }
  function cursor() {
    const line = element("chart").querySelector(".cursor");
    if (line) for (const end of ["x1", "x2"]) line.setAttribute(end, across(now));
  }
  element("chart").addEventListener("click", (event) => {
    const frame = element("chart").querySelector("svg")?.getBoundingClientRect();
    if (!frame) return;
    player.play(false);
    to(begin + ((event.clientX - frame.left) / frame.width) * (end - begin));
  });

  // --- playing ------------------------------------------------------------------------------------------------------
  const LONG = 8000; // milliseconds for the whole motion
  Object.assign(slider, { min: begin, max: end });
  const player = gjk3d.player(element("play"), slider, to, (since) => (now < end ? now + (since / LONG) * (end - begin) : null));

  element("motion").hidden = false;
  chart();
  clashMotion = {
    begin() { to(begin); },
    // Show the chart of a finding, at the time of its values.
    follow(chosen) {
      row = chosen;
      chart();
      if (row?.time !== undefined) player.stopped(() => to(row.time))();
    },
    // Whether the current time is the time of the values of a finding, at which its marks are correct.
    holds: (one) => !one || one.time === undefined || Math.abs(one.time - now) <= 1e-9 * (end - begin),
    onMove(handler) { moved = handler; },
  };
});
