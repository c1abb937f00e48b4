// One series at a time: the windows of its best shapelets, and what they contribute.
const BEST = 3; // windows that are marked at first
const state = { series: 0, answer: 0, marked: [] };
let seriesChart;

function why() {
  const wrong = (one) => classes && one.label !== null && one.label !== one.answers[0].answer;
  const menu = el("select", {
    id: "series",
    onchange: (event) => pick(Number(event.target.value)),
  });
  const search = el("input", {
    type: "search",
    id: "search",
    placeholder: "name or class",
    oninput: () => list(),
  });
  const only = el("input", { type: "checkbox", id: "wrong", onchange: () => list() });
  const title = (one, say) =>
    [
      say(one.name),
      one.label === null ? "" : classes ? cut(classes[one.label]) : target(one.label),
      wrong(one) ? "(mistaken)" : "",
    ]
      .filter(Boolean)
      .join(" · ");
  function list() {
    const wanted = search.value.trim().toLowerCase();
    const options = cases
      .map((one, n) => [one, n])
      .filter(
        ([one]) =>
          (!only.checked || wrong(one)) && (!wanted || title(one, flat).toLowerCase().includes(wanted)),
      );
    menu.replaceChildren(
      ...options.map(([one, n]) =>
        el("option", { value: n, selected: n === state.series }, title(one, cutInside)),
      ),
    );
    byId("found").textContent =
      options.length === cases.length ? "" : `${plural(options.length, "series")} found`;
    if (options.length && !options.some(([, n]) => n === state.series)) pick(options[0][1]);
    showSteps();
  }
  const step = (by) => {
    const next = menu.options[menu.selectedIndex + by];
    if (next) pick(Number(next.value));
  };
  byId("why").append(
    el(
      "p",
      {},
      el("span", { class: "hint" }, "Choose a series to see "),
      el("span", { class: "printed" }, "For one series: "),
      "where its most telling shapelets were found, and what each of them ",
      contents.model.covariates ? "and each covariate " : "",
      "adds to the prediction.",
    ),
    el(
      "div",
      { class: "controls" },
      el("label", {}, "Series ", menu),
      el(
        "span",
        { class: "together" },
        el("button", { type: "button", id: "previous", onclick: () => step(-1) }, "Previous"),
        el("button", { type: "button", id: "next", onclick: () => step(1) }, "Next"),
      ),
      el("label", {}, "Search ", search),
      cases.some(wrong) ? el("label", { class: "together" }, only, "only mistaken") : null,
      el("span", { id: "found", class: "soft", role: "status" }),
    ),
    el(
      "div",
      { class: "panel" },
      el("div", { id: "verdict", "aria-live": "polite" }),
      el("div", { id: "sound" }),
      el("div", { id: "legend", class: "legend" }),
      el("div", { id: "series-chart" }),
      channelNames.length === 2 ? el("div", { id: "in-plane" }) : null,
    ),
    el("div", { class: "panel", id: "contributions" }),
  );
  list();
  pick(0);
}

function pick(n, move = false) {
  const one = cases[n];
  Object.assign(state, { series: n, answer: 0, marked: [] });
  const menu = byId("series"),
    option = [...menu.options].find((choice) => Number(choice.value) === n);
  if (!option) {
    // it is not among those that were searched for
    byId("search").value = "";
    if (byId("wrong")) byId("wrong").checked = false;
    byId("search").dispatchEvent(new Event("input"));
  }
  menu.value = n;
  showSteps();
  const { answer, score, probability } = one.answers[0];
  const told =
    one.label === null
      ? ""
      : !classes
        ? [" The true number is ", target(one.label), "."]
        : one.label === answer
          ? " That is right."
          : [" In truth it is ", el("strong", {}, label(classes[one.label])), "."];
  byId("verdict").replaceChildren(
    el("h3", { id: "series-title", tabindex: "-1" }, "Series ", label(one.name)),
    el(
      "p",
      {},
      "The model says ",
      el("strong", {}, classes ? label(classes[answer]) : target(score)),
      classes ? `, with a probability of ${probable(probability)}.` : ".",
      told,
    ),
  );
  byId("sound").replaceChildren(playerOfSeries(n));
  mark(
    one.answers[0].parts
      .map(([k]) => k)
      .filter((k) => one.windows[k][1])
      .slice(0, BEST),
  );
  if (move) byId("series-title").focus();
}

// A button that does nothing now stays in reach, so that focus is not lost.
function showSteps() {
  const { selectedIndex, options } = byId("series");
  byId("previous").setAttribute("aria-disabled", selectedIndex <= 0);
  byId("next").setAttribute("aria-disabled", selectedIndex >= options.length - 1);
}

function mark(marked) {
  state.marked = marked;
  legend();
  if (seriesChart) draw(seriesChart);
  else seriesChart = chart(byId("series-chart"), seriesHeight, seriesOption, seriesInWords);
  if (byId("in-plane")) seriesInPlane();
  contributions();
}
const toggle = (k) =>
  mark(
    state.marked.includes(k) ? state.marked.filter((other) => other !== k) : [...state.marked, k],
  );

// Where shapelet k was found in a series: begin and end, and its values by channel, with their weight.
function windowOf(one, k) {
  const [, , begin, ...places] = one.windows[k],
    card = cardOf.get(k);
  return {
    begin,
    end: begin + card.duration,
    shape: new Map(card.channels.map((d, i) => [d, placed(card, i, places)])),
    strength: new Map(card.channels.map((d, i) => [d, card.strength[i]])),
  };
}

const dashes = ["none", "8 4", "2 4", "9 3 2 3"];
const swatch = (i) =>
  svg(
    "svg",
    { viewBox: "0 0 34 10", class: "swatch", "aria-hidden": "true" },
    svg("line", {
      x1: 1,
      x2: 33,
      y1: 5,
      y2: 5,
      stroke: palette()[i % 6],
      "stroke-width": 4,
      "stroke-dasharray": dashes[i % 4],
    }),
  );
function legend() {
  const { parts } = cases[state.series].answers[state.answer],
    say = amounts(parts.map(([, part]) => part));
  byId("legend").replaceChildren(
    ...state.marked.map((k, i) => {
      const part = parts.find(([other]) => other === k)?.[1];
      const amount = part === undefined ? "" : ` (${signed(part, say)})`;
      return el("span", {}, swatch(i), `${nameOf(cardOf.get(k))}${amount}`);
    }),
    state.marked.length
      ? ""
      : el(
          "span",
          { class: "soft" },
          "No shapelet that counts here fits better than usual",
          el("span", { class: "hint" }, "; mark any of them below"),
          ".",
        ),
  );
}
