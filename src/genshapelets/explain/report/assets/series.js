// One series at a time: the windows of its best shapelets, and what they contribute.
const BEST = 3; // windows that are marked at first
const state = { series: 0, answer: 0, marked: [] };
let seriesChart;

function why() {
  const wrong = (one) => classes && one.label !== null && one.label !== one.answers[0].answer;
  const menu = el("select", { id: "series", onchange: (event) => pick(Number(event.target.value)) });
  const search = el("input", { type: "search", id: "search", placeholder: "name or class", oninput: () => list() });
  const only = el("input", { type: "checkbox", id: "wrong", onchange: () => list() });
  const title = (one) => [one.name, one.label === null ? "" : classes ? cut(classes[one.label]) : number(one.label), wrong(one) ? "(mistaken)" : ""].filter(Boolean).join(" · ");
  function list() {
    const wanted = search.value.trim().toLowerCase();
    const options = cases.map((one, n) => [one, n]).filter(([one]) => (!only.checked || wrong(one)) && (!wanted || title(one).toLowerCase().includes(wanted)));
    menu.replaceChildren(...options.map(([one, n]) => el("option", { value: n, selected: n === state.series }, cut(title(one)))));
    byId("found").textContent = options.length === cases.length ? "" : `${plural(options.length, "series")} found`;
    if (options.length && !options.some(([, n]) => n === state.series)) pick(options[0][1]);
  }
  const step = (by) => {
    const next = menu.options[menu.selectedIndex + by];
    if (next) pick(Number(next.value));
  };
  byId("why").append(
    el("p", {}, "Choose a series to see where its most telling shapelets were found, and what each of them adds to the prediction."),
    el("div", { class: "controls" },
      el("label", {}, "Series ", menu),
      el("span", { class: "together" }, el("button", { type: "button", id: "previous", onclick: () => step(-1) }, "Previous"), el("button", { type: "button", id: "next", onclick: () => step(1) }, "Next")),
      el("label", {}, "Search ", search),
      cases.some(wrong) ? el("label", { class: "together" }, only, "only mistaken") : null,
      el("span", { id: "found", class: "soft", role: "status" })),
    el("div", { class: "panel" }, el("div", { id: "verdict", "aria-live": "polite" }), el("div", { id: "legend", class: "legend" }), el("div", { id: "series-chart" }),
      channelNames.length === 2 ? el("div", { id: "in-plane" }) : null),
    el("div", { class: "panel", id: "contributions" }));
  list();
  pick(0);
}

function pick(n, move = false) {
  const one = cases[n];
  Object.assign(state, { series: n, answer: 0, marked: [] });
  const menu = byId("series"), option = [...menu.options].find((choice) => Number(choice.value) === n);
  if (!option) { // it is not among those that were searched for
    byId("search").value = "";
    if (byId("wrong")) byId("wrong").checked = false;
    byId("search").dispatchEvent(new Event("input"));
  }
  menu.value = n;
  byId("previous").disabled = menu.selectedIndex <= 0;
  byId("next").disabled = menu.selectedIndex >= menu.options.length - 1;
  const { answer, score, probability } = one.answers[0];
  const told = one.label === null ? "" : !classes ? [" The true number is ", number(one.label), "."]
    : one.label === answer ? " That is right." : [" In truth it is ", el("strong", {}, label(classes[one.label])), "."];
  byId("verdict").replaceChildren(el("h3", { id: "series-title", tabindex: "-1" }, "Series ", label(one.name)),
    el("p", {}, "The model says ", el("strong", {}, classes ? label(classes[answer]) : number(score)), classes ? `, with a probability of ${percent(probability)}.` : ".", told));
  mark(one.answers[0].parts.map(([k]) => k).filter((k) => one.windows[k][0] < 1).slice(0, BEST));
  if (move) byId("series-title").focus();
}

function mark(marked) {
  state.marked = marked;
  legend();
  if (seriesChart) draw(seriesChart);
  else seriesChart = chart(byId("series-chart"), seriesHeight, seriesOption, seriesInWords);
  if (byId("in-plane")) seriesInPlane();
  contributions();
}
const toggle = (k) => mark(state.marked.includes(k) ? state.marked.filter((other) => other !== k) : [...state.marked, k]);

// Where shapelet k was found in a series: begin and end, then its values in each channel shown.
function windowOf(one, k) {
  const [, begin, ...levels] = one.windows[k], { duration, shape } = cardOf.get(k);
  return { begin, end: begin + duration, shape: shape.map((packed, c) => values(packed).map((value) => value + (levels[c] ?? 0))) };
}

const dashes = ["none", "8 4", "2 4", "9 3 2 3"];
const swatch = (i) => svg("svg", { viewBox: "0 0 34 10", class: "swatch", "aria-hidden": "true" },
  svg("line", { x1: 1, x2: 33, y1: 5, y2: 5, stroke: palette()[i % 6], "stroke-width": 4, "stroke-dasharray": dashes[i % 4] }));
function legend() {
  byId("legend").replaceChildren(...state.marked.map((k, i) => el("span", {},
swatch(i), `shapelet ${k}`)),
  state.marked.length ? "" : el("span", { class: "soft" }, "No shapelet that counts here fits better than usual; mark any of them below."));
}

const seriesHeight = () => shown.length === 1 ? 320 : 70 + 130 * shown.length;
const seriesInWords = () => {
  const one = cases[state.series];
  return `Series ${cut(one.name)} against time. ` + state.marked.map((k) => {
    const { begin, end } = windowOf(one, k);
    return `Shapelet ${k} from ${saySpan(timeAfter(one, begin), timeAfter(one, end), one.span)}.`;
  }).join(" ");
};

function seriesOption(colours, hues) {
  const one = cases[state.series], curves = contents.curves[state.series].map(unpack);
  const each = seriesHeight() - 70, height = each / shown.length;
  const windows = state.marked.map((k) => windowOf(one, k));
  const ends = windows.map(({ end }) => timeAfter(one, end)), last = Math.max(timeAt(one, 1), ...ends);
  const series = [];
  curves.forEach(({ x, y }, c) => {
    series.push({
      type: "line", xAxisIndex: c, yAxisIndex: c, name: plainly(channelNames[shown[c]]), data: x.map((place, i) => [timeAt(one, place), y[i]]),
      symbol: "circle", symbolSize: 4, showSymbol: x.length <= 150, lineStyle: { color: colours.path, width: 1.5 }, itemStyle: { color: colours.path },
      markArea: { silent: true, data: windows.map(({ begin, end }, i) => [
        { xAxis: timeAfter(one, begin), itemStyle: { color: hues[i % 6], opacity: 0.12 }, label: { show: c === 0, formatter: String(state.marked[i]), position: "insideTopLeft", offset: [0, 13 * i], color: colours.text, fontSize: 11, fontWeight: 600 } },
        { xAxis: timeAfter(one, end) }]) },
    });
    windows.forEach(({ begin, end, shape }, i) => series.push({
      type: "line", xAxisIndex: c, yAxisIndex: c, name: `shapelet ${state.marked[i]}`, silent: true, showSymbol: false, tooltip: { show: false }, z: 5,
      data: evenly(shape[c].length, timeAfter(one, begin), timeAfter(one, end)).map((time, j) => [time, shape[c][j]]),
      lineStyle: { color: hues[i % 6], width: 4, type: STYLES[i % 4] }, itemStyle: { color: hues[i % 6] },
    }));
  });
  const bottom = (c) => c === shown.length - 1;
  return {
    grid: shown.map((_, c) => ({ left: 52, right: 18, top: 26 + c * height, height: height - 30 })),
    tooltip: tooltip(colours, (items) => [sayTime(items[0].data[0], one.span), ...items.filter((item) => !item.seriesName.startsWith("shapelet ")).map((item) => `${item.seriesName}: ${number(item.data[1])}`)].join("\n")),
    axisPointer: { link: [{ xAxisIndex: "all" }] },
    xAxis: shown.map((_, c) => axis(colours, { gridIndex: c, type: dated ? "time" : "value", min: one.first, max: last, splitLine: { show: false }, axisLabel: { show: bottom(c), color: colours.soft, fontSize: 11, hideOverlap: true, formatter: dated ? undefined : number },
      name: bottom(c) ? "time" : "", nameLocation: "middle", nameGap: 26 })),
    yAxis: shown.map((d, c) => axis(colours, { gridIndex: c, type: "value", scale: true, splitNumber: 3, axisLine: { show: false }, name: channelNames.length > 1 ? cut(channelNames[d]) : "", nameGap: 8,
      axisLabel: { color: colours.soft, fontSize: 11, hideOverlap: true, formatter: number } })),
    series,
  };
}

function seriesInPlane() {
  const one = cases[state.series], curves = contents.curves[state.series].map(unpack);
  const places = [...new Set(curves.flatMap(({ x }) => x))].sort((a, b) => a - b);
  const shapes = state.marked.map((k, i) => ({ curve: windowOf(one, k).shape, style: `--hue:${palette()[i % 6]};--dash:${dashes[i % 4]}` }));
  byId("in-plane").replaceChildren(el("p", { class: "channel" }, "The same in the plane of both channels"),
    plane(curves.map((curve) => places.map((place) => valueAt(curve, place) ?? 0)), shapes, 320, `Series ${cut(one.name)} in the plane, with the shapelets marked`));
}

function contributions() {
  const one = cases[state.series], asked = one.answers[state.answer], answer = asked.answer;
  const focused = document.activeElement?.dataset?.key, bias = contents.bias[answer];
  const sizes = [...asked.parts.map(([, part]) => part), asked.rest ?? 0], largest = Math.max(...sizes.map(Math.abs), 1e-12);
  const digits = decimals(largest);
  const rows = asked.parts.map(([k, part]) => {
    const { begin, end } = windowOf(one, k), [near] = one.windows[k], from = timeAfter(one, begin), to = timeAfter(one, end);
    return el("tr", { "data-shapelet": k, "data-begin": from, "data-end": to, "data-part": part },
      el("th", { scope: "row" }, el("button", { type: "button", class: "mark", "data-key": `mark-${k}`, "aria-pressed": String(state.marked.includes(k)), "aria-label": `Mark shapelet ${k} in the series`, onclick: () => toggle(k) }, String(k)), state.marked.includes(k) ? swatch(state.marked.indexOf(k)) : null),
      el("td", { class: "match" }, near < 1 ? "fits better than usual" : "fits worse than usual", el("span", { class: "soft" }, `${number(near)} × the usual distance, at ${saySpan(from, to, one.span)}`)),
      el("td", {}, tilt(part / largest)), el("td", { class: "amount" }, signed(part, digits)));
  });
  const line = (name, cells, kind) => el("tr", { class: kind }, el("th", { scope: "row", colspan: 2 }, name), cells);
  const others = shapelets.length - asked.parts.length;
  rows.unshift(line("Starting point: a usual training series", [el("td"), el("td", { class: "amount", "data-part": bias }, signed(bias, digits))], "start"));
  if (asked.rest !== null) rows.push(line(`All ${others} other shapelets together`, [el("td", {}, tilt(asked.rest / largest)), el("td", { class: "amount", "data-part": asked.rest }, signed(asked.rest, digits))], "rest"));
  rows.push(line(classes ? "Score of the class (logit)" : "Predicted number", [el("td"), el("td", { class: "amount", id: "score", "data-score": asked.score }, signed(asked.score, digits))], "sum"));
  byId("contributions").replaceChildren(
    el("h3", {}, classes ? ["What speaks for ", label(classes[answer]), ", and what against"] : "What raises the number, and what lowers it"),
    one.answers.length > 1 ? el("div", { class: "controls", role: "group", "aria-label": "Class that is explained" }, one.answers.map((other, i) =>
      el("button", { type: "button", "data-key": `answer-${i}`, "aria-pressed": String(i === state.answer), onclick: () => { state.answer = i; contributions(); } }, label(classes[other.answer]), ` ${percent(other.probability)}`))) : "",
    el("p", { class: "soft" }, classes ? "Bars to the right speak for it, bars to the left against it, " : "Bars to the right raise it, bars to the left lower it, ", "counted from a usual training series. A shapelet that fits worse than usual counts too: by its absence. Press a number to mark its window above."),
    table(classes ? "Contributions to the score" : "Contributions to the number", ["Shapelet", "match", "", "adds"], rows, { class: "parts" }));
  if (focused) byId("contributions").querySelector(`[data-key="${focused}"]`)?.focus();
}
