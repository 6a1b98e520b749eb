// The controls of a lesson: its steps with buttons, a slider, a player and keys, its topics, and its state in the address.
const gjk3dStepper = (function () {
  const { state, element, make } = gjk3d;
  // Show the title and the number of a step.
  function write(steps, at) {
    element("title").textContent = steps[at].title;
    element("count").textContent = `${at + 1} of ${steps.length}`;
    element("slide").max = steps.length - 1;
    element("slide").value = at;
    element("slide").setAttribute("aria-valuetext", `step ${at + 1}: ${steps[at].title}`);
    element("back").disabled = at === 0;
    element("next").disabled = at === steps.length - 1;
  }
  // `now` returns the steps and the present one, `go` shows another. `more` are further keys. Return the player.
  function start(now, go, more) {
    const end = ([steps, at]) => at === steps.length - 1, long = ([steps, at]) => 1500 + 250 * steps[at].sentence.split(" ").length;
    const player = gjk3d.player(element("play"), element("slide"), (to) => go(to), (since, moves) => (end(now()) ? null : moves && since < long(now()) ? undefined : now()[1] + 1)); // a reader of the step continues at once
    const by = (to) => player.stopped(() => go(to(now()[1])));
    gjk3d.keys({ ArrowLeft: by((at) => at - 1), ArrowRight: by((at) => at + 1), Home: by(() => 0), End: by(() => Infinity), " ": player.toggle, ...more });
    element("back").addEventListener("click", by((at) => at - 1));
    element("next").addEventListener("click", by((at) => at + 1));
    return player;
  }
  // Fill the list of topics, whose names are those of presets and those in `more`, and call `pick` with a chosen one.
  // Return the present topic, and a function that shows the text of another. A name that is not a preset is none.
  function topics(presets, pick, more = []) {
    const list = element("preset"), about = (name) => {
      shown.topic = Object.hasOwn(presets, name) ? name : "";
      list.value = shown.topic;
      element("topic").hidden = !shown.topic;
      if (shown.topic) element("topic").replaceChildren(make("b", {}, `${name[0].toUpperCase()}${name.slice(1)}. `), presets[name].text);
    }, shown = { topic: "", about };
    list.append(...[["", "choose"], ...more, ...Object.keys(presets).map((name) => [name, name])].map(([value, words]) => make("option", { value }, words)));
    list.addEventListener("input", () => { if (list.value) pick(list.value); });
    return shown;
  }
  // Keep the state in the address, delayed, since browsers limit the changes of an address per second.
  let linking = 0;
  function keep(values) {
    window.clearTimeout(linking);
    state.address = "due";
    linking = window.setTimeout(() => {
      const text = new URLSearchParams(Object.entries(values()).filter(([, value]) => value !== "" && value !== undefined));
      try { window.history.replaceState(null, "", `#${text}`); } catch (error) { /* a frame without an address */ }
      state.address = "kept";
    }, 100);
  }
  const kept = () => new URLSearchParams(window.location.hash.slice(1));
  // The switches that differ from the page's own state, for an address, and the same read from it.
  const switched = (switches) => Object.fromEntries(Object.entries(switches).filter(([, id]) => element(id).checked !== element(id).defaultChecked).map(([name, id]) => [name, Number(element(id).checked)]));
  function switchTo(switches, text) {
    for (const [name, id] of Object.entries(switches)) element(id).checked = text.has(name) ? text.get(name) === "1" : element(id).defaultChecked;
  }
  return { write, start, topics, keep, kept, switched, switchTo };
})();
