// The pseudocode next to the figure: the lines that ran in a step, the running line with its value, the branch taken.
const gjk3dCode = (function () {
  const { data, element, make, number } = gjk3d, { CODE } = gjk3dPseudocode;
  let kernel = false, events = [], at = 0, kind = "GJK";
  const shownValue = (event) => {
    const value = event.value === undefined ? "" : ` = ${number(event.value, 4)}`;
    return `${event.test || event.text || ""}${value}${event.holds === undefined ? "" : event.holds ? ": yes" : ": no"}`;
  };
  // Show the lines of a step. `open` hides what ran, for a question whose answer this would show.
  function show(algorithm, ran, open) {
    kind = algorithm;
    events = open ? ran.slice(0, ran.findIndex((event) => event.line === "support") + 1) : ran;
    at = Math.max(0, events.length - 1);
    draw();
    const lines = element("lines"), now = lines.querySelector(".now");
    if (now) lines.scrollTop = now.offsetTop - (lines.clientHeight - now.offsetHeight) / 2; // without scrolling the page
  }
  function move(by) {
    if (kernel || element("code").hidden) return false;
    at = Math.min(Math.max(at + by, 0), events.length - 1);
    draw();
    const now = element("lines").querySelector(".now");
    if (now) now.scrollIntoView({ block: "nearest" });
    return true;
  }
  function draw() {
    element("code-title").textContent = kernel ? `gjk3d's kernel for ${kind}` : `${kind} in pseudocode`;
    const source = data.kernels && data.kernels[kind];
    element("kernel").hidden = !source;
    element("kernel").setAttribute("aria-pressed", String(kernel));
    for (const id of ["up", "down"]) element(id).hidden = kernel;
    if (kernel && source) return void element("lines").replaceChildren(make("code", { class: "kernel" }, source));
    const now = events[at] || {}, ran = new Map(events.map((event) => [event.line, event]));
    const where = CODE[kind].map((line) => line.id).lastIndexOf(now.line);
    element("lines").replaceChildren(...CODE[kind].map(({ id, text }, i) => {
      const event = ran.get(id), taken = event && events.some((one) => one.line === id && one.holds), classes = ["line", event && "ran", taken && "taken", i === where && "now"];
      const words = make("span", { class: "words" }, text.trim() || " "), node = make("span", { class: classes.filter(Boolean).join(" "), "aria-current": i === where ? "step" : undefined }, words);
      words.style.paddingLeft = `${text.search(/\S|$/) + 2}ch`; // a long line wraps below its own start
      if (i === where) node.append(make("span", { class: "value" }, ...gjk3dLinks.linked(shownValue(now))));
      return node;
    }));
    element("line").textContent = events.length ? `line ${at + 1} of ${events.length}` : "";
    element("up").disabled = at === 0;
    element("down").disabled = at >= events.length - 1;
  }
  element("kernel").addEventListener("click", () => { kernel = !kernel; draw(); });
  element("up").addEventListener("click", () => move(-1));
  element("down").addEventListener("click", () => move(1));
  return { show, move, shownValue };
})();
