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
