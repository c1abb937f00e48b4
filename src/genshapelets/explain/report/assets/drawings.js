// Small still pictures, whose colours and lines the style sheet decides.
const points = (xs, ys) => xs.map((x, i) => `${x.toFixed(1)},${ys[i].toFixed(1)}`).join(" ");

function extent(...lists) {
  let low = Infinity,
    high = -Infinity;
  for (const list of lists)
    for (const value of list) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  return [low, high];
}
function range(...lists) {
  const [low, high] = extent(...lists);
  return high > low ? [low, high] : [low - 0.5, high + 0.5];
}

const evenly = (count, begin, end) =>
  Array.from(
    { length: count },
    (_, i) => begin + (end - begin) * (count > 1 ? i / (count - 1) : 0.5),
  );

// Of a shapelet's line: pale in channels that hardly count.
const opacity = (strength) => 0.25 + 0.75 * strength;

// A shapelet over a piece of a series: both against time, which runs from 0 to 1.
function overlay(path, shape, window, width, height, description, strength) {
  const [low, high] = range(path.y, shape);
  const across = (x) => 3 + x * (width - 6);
  const up = (y) => height - 5 - ((height - 10) * (y - low)) / (high - low);
  const begin = across(window[0]),
    end = across(window[1]);
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, class: "overlay", role: "img", "aria-label": description },
    svg("rect", {
      class: "window",
      x: begin.toFixed(1),
      y: 0,
      width: (end - begin).toFixed(1),
      height,
    }),
    svg("polyline", { class: "path", points: points(path.x.map(across), path.y.map(up)) }),
    svg("polyline", {
      class: "shape",
      "stroke-opacity": opacity(strength).toFixed(2),
      points: points(evenly(shape.length, begin, end), shape.map(up)),
    }),
  );
}

// Two channels as curves in the plane; a ring marks the start of a shapelet, arrows its direction.
// A unit is as long across as up, unless one channel varies much more than the other.
function plane(path, shapes, width, description) {
  const { across, up, height } = fitted(
    [path, ...shapes.map((shape) => shape.curve)],
    width,
    contents.sameScale,
  );
  return svg(
    "svg",
    {
      viewBox: `0 0 ${width} ${height.toFixed(0)}`,
      class: "plane",
      role: "img",
      "aria-label": description,
    },
    svg("polyline", { class: "path", points: points(path[0].map(across), path[1].map(up)) }),
    shapes.map(({ curve, style }) => drawn(curve[0].map(across), curve[1].map(up), style)),
  );
}
// Where values are drawn, so that all curves fit.
function fitted(curves, width, sameScale) {
  const [left, right] = range(...curves.map(([xs]) => xs));
  const [low, high] = range(...curves.map(([, ys]) => ys));
  const room = width - 24;
  let units = [room / (right - left), (0.8 * room) / (high - low)];
  if (sameScale) units = units.fill(Math.min(units[0], (1.2 * room) / (high - low)));
  const height = Math.max(24 + (high - low) * units[1], 0.4 * width);
  return {
    height,
    across: (x) => width / 2 + (x - (left + right) / 2) * units[0],
    up: (y) => height / 2 - (y - (low + high) / 2) * units[1],
  };
}
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

// Matplotlib's cividis, whose lightness rises for everybody's eyes.
const HEAT = "#00224e #123570 #3b496c #575d6d #707173 #8a8678 #a59c74 #c3b369 #e1cc55 #fee838".split(" ");
const HEATS = HEAT.map((hue) => [1, 3, 5].map((i) => parseInt(hue.slice(i, i + 2), 16)));
function heatMap(heights, rows, columns, reach, description) {
  const node = el("canvas", { width: columns, height: rows, role: "img", "aria-label": description });
  const pen = node.getContext("2d"),
    image = pen.createImageData(columns, rows);
  heights.forEach((height, i) => {
    const place = ((height + reach) / (2 * reach)) * (HEATS.length - 1),
      low = Math.min(Math.max(Math.floor(place), 0), HEATS.length - 2);
    const hue = HEATS[low].map((part, j) => part + (place - low) * (HEATS[low + 1][j] - part));
    image.data.set([...hue, 255], 4 * i);
  });
  pen.putImageData(image, 0, 0);
  return node;
}

const axesOfPlane = () =>
  el("p", { class: "channel" }, label(channelNames[0]), " across, ", label(channelNames[1]), " up");

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

function histogram(counts, description) {
  const most = Math.max(...counts, 1),
    step = 240 / counts.length;
  return svg(
    "svg",
    { viewBox: "0 0 240 34", class: "histogram", role: "img", "aria-label": description },
    counts.map((count, i) =>
      svg("rect", {
        x: (i * step + 1).toFixed(1),
        width: (step - 2).toFixed(1),
        y: (32 - (30 * count) / most).toFixed(1),
        height: ((30 * count) / most).toFixed(1),
      }),
    ),
    svg("line", { x1: 0, x2: 240, y1: 33, y2: 33 }),
  );
}
