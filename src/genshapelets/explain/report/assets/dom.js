// Reading the contents, and making elements. Text from data only ever becomes text nodes.
const contents = JSON.parse(document.getElementById("contents").textContent);
const { classes, cases, shapelets, channelNames, shown } = contents;
const dated = contents.data.dated;
const LONG = 36; // characters of a label that are shown

const byId = (id) => document.getElementById(id);

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}
const el = (tag, attributes = {}, ...children) =>
  fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

// Words and numbers
const inWords = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const whole = (value) => new Intl.NumberFormat("en").format(value);
const number = (value) =>
  value === null
    ? "–"
    : value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e7)
      ? value.toExponential(2)
      : inWords.format(value).replace("-", "−");
const percent = (share) =>
  share === null
    ? "–"
    : `${Number((100 * share).toFixed(share >= 0.01 && share < 0.9995 ? 1 : 2))} %`;
const plural = (count, noun) =>
  `${whole(count)} ${noun}${count === 1 || noun === "series" ? "" : "s"}`;
function signed(value, digits) {
  const text = Math.abs(value).toFixed(digits);
  return (Number(text) === 0 ? "" : value > 0 ? "+" : "−") + text;
}
// As many decimals as make numbers of this size readable.
const decimals = (size) => Math.min(Math.max(2 - Math.floor(Math.log10(size || 1)), 0), 8);

const cut = (text) => {
  const flat = text.replace(/\s+/g, " ").trim() || "(blank)";
  const letters = [...flat];
  return letters.length > LONG ? letters.slice(0, LONG - 1).join("") + "…" : flat;
};
const label = (text) =>
  el("bdi", { class: "label", title: cut(text) === text ? null : text }, cut(text));
const inFull = (text) =>
  cut(text) === text.trim()
    ? label(text)
    : el(
        "details",
        { class: "long" },
        el("summary", {}, label(text)),
        el("bdi", { class: "full" }, text),
      );

// Times: numbers, or milliseconds since 1970
const timeAt = (one, place) => one.first + place * one.span * (dated ? 1000 : 1);
const timeAfter = (one, length) => one.first + length * (dated ? 1000 : 1);
// Dates are said as finely as suits the length of the series, in seconds.
const partsOfDate = (time, span) => {
  const unit = span > 7200 ? 60000 : span > 120 ? 1000 : 1;
  const [day, clock] = new Date(Math.round(time / unit) * unit).toISOString().split("T");
  return [day, clock.slice(0, { 60000: 5, 1000: 8, 1: 12 }[unit])];
};
const sayTime = (time, span) => (dated ? partsOfDate(time, span).join(" ") : number(time));
function saySpan(begin, end, span) {
  if (!dated || partsOfDate(begin, span)[0] !== partsOfDate(end, span)[0])
    return `${sayTime(begin, span)} to ${sayTime(end, span)}`;
  return `${sayTime(begin, span)} to ${partsOfDate(end, span)[1]}`;
}

// Values come as the lowest, the highest, and heights between in 16 bits; curves have places too.
function shares(code) {
  const bytes = Uint8Array.from(atob(code), (letter) => letter.charCodeAt(0)),
    view = new DataView(bytes.buffer);
  return Array.from({ length: bytes.length / 2 }, (_, i) => view.getUint16(2 * i, true) / 65535);
}
const values = ([low, high, heights]) =>
  shares(heights).map((height) => low + height * (high - low));
const unpack = (curve) => ({ x: shares(curve[3]), y: values(curve) });
function valueAt({ x, y }, place) {
  if (!x.length) return null;
  let i = x.findIndex((other) => other >= place);
  if (i === 0) return y[0];
  if (i < 0) return y[y.length - 1];
  return y[i - 1] + ((y[i] - y[i - 1]) * (place - x[i - 1])) / (x[i] - x[i - 1] || 1);
}

function table(caption, head, rows, attributes = {}) {
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el(
      "table",
      attributes,
      el("caption", {}, caption),
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          head.map((cell) => el("th", { scope: "col" }, cell)),
        ),
      ),
      el("tbody", {}, rows),
    ),
  );
}
const row = (first, ...cells) =>
  el(
    "tr",
    {},
    el("th", { scope: "row" }, first),
    cells.map((cell) => el("td", {}, cell)),
  );
const bar = (share, kind = "") =>
  el(
    "span",
    { class: `bar ${kind}`, "aria-hidden": "true" },
    el("span", { style: `width:${(100 * share).toFixed(1)}%` }),
  );
