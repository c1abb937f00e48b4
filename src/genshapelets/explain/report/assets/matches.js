// A shapelet over a piece of a series, with axes: one scale for both.
const LINE = 12; // of letters
const unitOf = (d) => (contents.channelUnits[d] ? ` (${contents.channelUnits[d]})` : "");
const channelTitle = (d) => `${cut(channelNames[d])}${unitOf(d)}`;
const timeTitle = contents.timeUnit ? `time (${contents.timeUnit})` : "time";

// Round numbers from `low` to `high`, no more than about `count`, and what says them.
function rounds([low, high], count) {
  const raw = (high - low) / count,
    size = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((times) => times * size).find((some) => some >= raw * 0.999);
  const first = Math.ceil(low / step - 1e-9),
    last = Math.floor(high / step + 1e-9);
  const at = Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
  return { at, say: writer(step, largestOf([low, high]), true) };
}

// What runs along below: the series' own time, or from its start if that is long to write.
const SIZES = [[86400, "days"], [3600, "hours"], [60, "minutes"], [1, "seconds"], [1e-3, "milliseconds"]];
function timesOf({ series, first, span }) {
  const start = cases[series].first,
    fromStart = dated || Math.abs(start) > 1e4 * span;
  const [size, unit] = dated
    ? (SIZES.find(([some]) => span >= some) ?? SIZES[4])
    : [1, contents.timeUnit || "time"];
  const begin = first / size + (fromStart ? 0 : start);
  return {
    range: [begin, begin + span / size],
    title: fromStart ? `${unit} from the start of the series` : timeTitle,
  };
}

// Values of the shapelet, of the training window that it stands for, and of the series around it.
function curvesOf(one, match, i) {
  const shape = placed(one, i, match.places);
  return {
    shape,
    path: unpack(match.paths[i]),
    source: one.source ? placed(one, i, match.places, one.source.values[i]) : [],
  };
}
const reachOf = (one, matches, i) =>
  range(...matches.flatMap((match) => {
    const { shape, path, source } = curvesOf(one, match, i);
    return [shape, path.y, source];
  }));

function axes([low, high], [from, to], title, width, height, left) {
  const bottom = height - 2.6 * LINE,
    across = (x) => left + ((x - from) / (to - from)) * (width - left - 6),
    up = (y) => bottom - 4 - ((y - low) / (high - low)) * (bottom - 10);
  const side = rounds([low, high], 4),
    below = rounds([from, to], 5);
  const letters = (x, y, anchor, text) => svg("text", { x, y, "text-anchor": anchor }, text);
  return {
    across,
    up,
    bottom,
    lines: svg(
      "g",
      { class: "axes", "aria-hidden": "true" },
      side.at.map((y) => [
        svg("line", { x1: left, x2: width - 6, y1: up(y), y2: up(y) }),
        letters(left - 5, up(y) + 4, "end", side.say(y)),
      ]),
      below.at.map((x) => [
        svg("line", { x1: across(x), x2: across(x), y1: bottom, y2: bottom + 4 }),
        letters(across(x), bottom + 4 + LINE, "middle", below.say(x)),
      ]),
      letters((left + width - 6) / 2, height - 2, "middle", title),
    ),
  };
}

// In the i-th of its channels. `reach`: lowest and highest value of the picture.
function overlay(one, match, i, description, { width = 320, height = 170, reach } = {}) {
  const { shape, path, source } = curvesOf(one, match, i),
    times = timesOf(match),
    ends = reach ?? reachOf(one, [match], i);
  const { at, say } = rounds(ends, 4),
    left = 12 + 6.2 * Math.max(...at.map((y) => say(y).length));
  const { across, up, bottom, lines } = axes(ends, times.range, times.title, width, height, left);
  const place = (share) => across(times.range[0] + share * (times.range[1] - times.range[0]));
  const [begin, end] = match.window.map(place);
  const line = (kind, xs, ys) => svg("polyline", { class: kind, points: points(xs, ys.map(up)) });
  const within = (values) => evenly(values.length, begin, end);
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, class: "overlay", role: "img", "aria-label": description },
    svg("rect", { class: "window", x: begin, y: 2, width: end - begin, height: bottom - 2 }),
    lines,
    seenParts(path, match.seen[i]).map(([held, { x, y }]) =>
      line(held ? "path held" : "path", x.map(place), y),
    ),
    source.length ? line("source", within(source), source) : null,
    svg("polyline", {
      class: "shape",
      "stroke-opacity": opacity(one.strength[i]).toFixed(2),
      points: points(within(shape), shape.map(up)),
    }),
  );
}

// A path where it was observed, and where it is held at its first or last value.
function seenParts(path, seen) {
  if (!seen) return [[true, path]];
  return [[0, seen[0]], seen, [seen[1], 1]]
    .map(([from, to], part) => {
      const x = [from, ...path.x.filter((place) => place > from && place < to), to];
      return [part !== 1, { x, y: x.map((place) => valueAt(path, place)) }];
    })
    .filter(([, { x }]) => x[x.length - 1] - x[0] > 1e-3);
}

// What the lines are.
const sample = (kind) =>
  svg(
    "svg",
    { viewBox: "0 0 26 8", class: "sample", "aria-hidden": "true" },
    svg("line", { class: kind, x1: 1, x2: 25, y1: 4, y2: 4 }),
  );
const keyOf = (kind, ...words) => el("span", {}, sample(kind), " ", words);
function keyOfMatch(one, match) {
  const { name, label: told } = cases[match.series];
  return [
    keyOf("shape", "shapelet"),
    keyOf(
      "path",
      "series ",
      label(name),
      told === null ? "" : [" (", classes ? label(classes[told]) : target(told), ")"],
    ),
    match.seen.some((seen) => !seen || seen[0] > 1e-3 || seen[1] < 0.999)
      ? keyOf("path held", "held: not observed there")
      : null,
    one.source
      ? keyOf("source", "training window (series ", label(one.source.series), `, from ${sourceTime(one)})`)
      : null,
  ];
}
const sourceTime = ({ source: { start } }) =>
  typeof start === "string" ? start : `${number(start)}${contents.timeUnit ? ` ${contents.timeUnit}` : ""}`;

// Several pictures of the same, of which one is chosen; print has all.
function views(name, pictures, first = 0) {
  if (pictures.length === 1) return pictures[0][1];
  const nodes = pictures.map(([title, node], i) =>
    el(
      "div",
      { class: `view${i === first ? " chosen" : ""}` },
      el("p", { class: "channel printed" }, title),
      node,
    ),
  );
  const menu = el(
    "select",
    {
      "aria-label": name,
      onchange: ({ target: { value } }) =>
        nodes.forEach((node, i) => node.classList.toggle("chosen", i === Number(value))),
    },
    pictures.map(([title], i) => el("option", { value: i, selected: i === first }, title)),
  );
  return el("div", { class: "views" }, el("label", { class: "soft chooser" }, "Drawn in ", menu), nodes);
}
const strongestOf = (one) => one.strength.indexOf(Math.max(...one.strength));
const shareTitle = (one, i) => `${channelTitle(one.channels[i])} · ${percent(one.looked[i])}`;
