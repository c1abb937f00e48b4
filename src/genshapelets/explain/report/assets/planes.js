// Two channels as curves in the plane; a ring marks the start of a shapelet, arrows its direction.
// A unit is as long across as up, unless one channel varies much more than the other.
// `paths` are thin lines, each [its two curves, its class]; `bare`: without axes.
function plane(paths, shapes, width, description, bare = false) {
  const curves = [...paths.map(([curve]) => curve), ...shapes.map(({ curve }) => curve)];
  const room = bare ? [4, 4] : [46, 34];
  const { across, up, height, ends } = fitted(curves, width, contents.sameScale, room);
  return svg(
    "svg",
    {
      viewBox: `0 0 ${width} ${height.toFixed(0)}`,
      class: "plane",
      role: "img",
      "aria-label": description,
    },
    bare ? null : axesOfPlane(ends, across, up, width, height),
    paths.map(([[xs, ys], kind]) =>
      svg("polyline", { class: kind, points: points(xs.map(across), ys.map(up)) }),
    ),
    shapes.map(({ curve, style }) => drawn(curve[0].map(across), curve[1].map(up), style)),
  );
}
function axesOfPlane([xs, ys], across, up, width, height) {
  const letters = (x, y, anchor, text) => svg("text", { x, y, "text-anchor": anchor }, text);
  const below = rounds(xs, 4),
    side = rounds(ys, 4);
  return svg(
    "g",
    { class: "axes", "aria-hidden": "true" },
    below.at.flatMap((x) => [
      svg("line", { x1: across(x), x2: across(x), y1: height - 30, y2: height - 26 }),
      letters(across(x), height - 15, "middle", below.say(x)),
    ]),
    side.at.flatMap((y) => [
      svg("line", { x1: 40, x2: 44, y1: up(y), y2: up(y) }),
      letters(37, up(y) + 4, "end", side.say(y)),
    ]),
    letters(width / 2, height - 2, "middle", channelTitle(0)),
    svg(
      "text",
      { "text-anchor": "middle", transform: `translate(10 ${height / 2 - 14}) rotate(-90)` },
      channelTitle(1),
    ),
  );
}
// Where values are drawn, so that all curves fit; `room` on the left and below.
function fitted(curves, width, sameScale, [before, below] = [0, 0]) {
  const ends = [0, 1].map((i) => range(...curves.map((curve) => curve[i])));
  const [[left, right], [low, high]] = ends,
    room = width - before - 24;
  let units = [room / (right - left), (0.8 * room) / (high - low)];
  if (sameScale) units = units.fill(Math.min(units[0], (1.2 * room) / (high - low)));
  const tall = Math.max(24 + (high - low) * units[1], 0.4 * width);
  return {
    ends,
    height: tall + below,
    across: (x) => (width + before) / 2 + (x - (left + right) / 2) * units[0],
    up: (y) => tall / 2 - (y - (low + high) / 2) * units[1],
  };
}
// A whole series of two channels, as far as both were observed or are held.
function seriesPlane(n) {
  const curves = contents.curves[n].map(unpack),
    places = [...new Set(curves.flatMap(({ x }) => x))].sort((a, b) => a - b);
  return curves.map((curve, d) => places.map((place) => valueAt(curve, place) ?? contents.centre[d]));
}
// A shapelet in the plane over series n. A channel that does not count is drawn as the series has it.
const WEAK = 0.05; // of the channel that counts most
const counts = (one, d) => (one.strength[one.channels.indexOf(d)] ?? 0) >= WEAK;
function shapePlane(one, n, begin, places, packed = one.shape) {
  const { span } = cases[n],
    times = evenly(values(one.shape[0]).length, begin, begin + one.duration);
  return [0, 1].map((d) => {
    const i = one.channels.indexOf(d);
    if (counts(one, d)) return placed(one, i, places, packed[i]);
    const curve = unpack(contents.curves[n][d]);
    return times.map((time) => valueAt(curve, span ? time / span : 0) ?? contents.centre[d]);
  });
}
const inPlane = channelNames.length === 2 && !contents.hears;
function planeOf(one, match, width, bare = false) {
  const { series, begin, places } = match,
    source = bare ? null : one.source;
  return plane(
    [
      [seriesPlane(series), "path"],
      ...(source ? [[shapePlane(one, series, begin, places, source.values), "source"]] : []),
    ],
    [{ curve: shapePlane(one, series, begin, places) }],
    width,
    `Shapelet ${one.number} in the plane of both channels, over series ${cut(cases[series].name)}`,
    bare,
  );
}
const weakChannels = (one) => [0, 1].filter((d) => !counts(one, d));
function drawn(xs, ys, style = "") {
  return svg(
    "g",
    { class: "drawn", style },
    svg("polyline", { class: "shape", points: points(xs, ys) }),
    svg("circle", { class: "start", cx: xs[0].toFixed(1), cy: ys[0].toFixed(1), r: 4 }),
    [0.35, 0.7, 1].map((share) => arrow(xs, ys, share)),
  );
}

// Curves that start at one point; loops that run against the clock, and others.
function areaPicture({ shape, segment, loops, sameScale }, width, description) {
  const [own, its] = [shape, segment].map((curve) => curve.map(values));
  const { across, up, height } = fitted([own, its], width, sameScale);
  const at = ([xs, ys]) => points(xs.map(across), ys.map(up));
  const ends = ([xs, ys]) => [xs, ys].map((list) => [list[0], list[list.length - 1]]);
  return svg(
    "svg",
    {
      viewBox: `0 0 ${width} ${height.toFixed(0)}`,
      class: "plane",
      role: "img",
      "aria-label": description,
    },
    loops.map(([sign, loop]) =>
      svg("polygon", { class: sign > 0 ? "positive" : "negative", points: at(loop.map(values)) }),
    ),
    svg("polyline", { class: "chord", points: at(ends(own)) }),
    svg("polyline", { class: "path segment", points: at(its) }),
    drawn(own[0].map(across), own[1].map(up)),
  );
}

function arrow(xs, ys, share) {
  const along = [0];
  for (let i = 1; i < xs.length; i++)
    along.push(along[i - 1] + Math.hypot(xs[i] - xs[i - 1], ys[i] - ys[i - 1]));
  const total = along[along.length - 1];
  if (!total) return null;
  const spot = (length) => [
    valueAt({ x: along, y: xs }, length),
    valueAt({ x: along, y: ys }, length),
  ];
  const [x, y] = spot(share * total),
    [fromX, fromY] = spot(Math.max(share * total - 4, 0));
  const turn = (Math.atan2(y - fromY, x - fromX) * 180) / Math.PI;
  return svg("path", {
    class: "arrow",
    d: "M4 0L-5 4.5L-5 -4.5Z",
    transform: `translate(${x.toFixed(1)} ${y.toFixed(1)}) rotate(${turn.toFixed(0)})`,
  });
}

