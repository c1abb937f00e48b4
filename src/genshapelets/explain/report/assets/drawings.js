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
  const [left, right] = range(path[0], ...shapes.map((shape) => shape.curve[0]));
  const [low, high] = range(path[1], ...shapes.map((shape) => shape.curve[1]));
  const room = width - 24;
  let units = [room / (right - left), (0.8 * room) / (high - low)];
  if (contents.sameScale) units = units.fill(Math.min(units[0], (1.2 * room) / (high - low)));
  const height = Math.max(24 + (high - low) * units[1], 0.4 * width);
  const across = (x) => width / 2 + (x - (left + right) / 2) * units[0];
  const up = (y) => height / 2 - (y - (low + high) / 2) * units[1];
  const picture = svg(
    "svg",
    {
      viewBox: `0 0 ${width} ${height.toFixed(0)}`,
      class: "plane",
      role: "img",
      "aria-label": description,
    },
    svg("polyline", { class: "path", points: points(path[0].map(across), path[1].map(up)) }),
  );
  for (const { curve, style = "" } of shapes) {
    const xs = curve[0].map(across),
      ys = curve[1].map(up);
    const group = svg(
      "g",
      { class: "drawn", style },
      svg("polyline", { class: "shape", points: points(xs, ys) }),
      svg("circle", { class: "start", cx: xs[0].toFixed(1), cy: ys[0].toFixed(1), r: 4 }),
    );
    for (const share of [0.35, 0.7, 1]) group.append(arrow(xs, ys, share) ?? "");
    picture.append(group);
  }
  return picture;
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
