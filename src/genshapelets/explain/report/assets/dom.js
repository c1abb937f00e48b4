// Reading the contents, and making elements. Text from data only ever becomes text nodes.
const contents = JSON.parse(document.getElementById("contents").textContent);
const { classes, cases, shapelets, channelNames } = contents;
const dated = contents.data.dated;
const UNSEEN = "not observed; taken as its mean";

const byId = (id) => document.getElementById(id);

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null) node.setAttribute(name, value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}
const el = (tag, attributes = {}, ...children) =>
  fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

// Values come as the lowest, the highest, and heights between in 16 bits; curves have places too.
function shares(code) {
  const bytes = Uint8Array.from(atob(code), (letter) => letter.charCodeAt(0)),
    view = new DataView(bytes.buffer);
  return Array.from({ length: bytes.length / 2 }, (_, i) => view.getUint16(2 * i, true) / 65535);
}
const values = ([low, high, heights]) =>
  shares(heights).map((height) => low + height * (high - low));
// A shapelet's values in the i-th of its channels, enlarged and lifted if scale and level do not count.
function placed(one, i, places, packed = one.shape[i]) {
  const [base] = values(one.shape[i]),
    [lift, scale] = [places[i] ?? 0, places[one.shape.length + i] ?? 1];
  return values(packed).map((value) => base + lift + scale * (value - base));
}
const unpack = (curve) => ({ x: shares(curve[3]), y: values(curve) });
function valueAt({ x, y }, place) {
  if (!x.length) return null;
  let i = x.findIndex((other) => other >= place);
  if (i === 0) return y[0];
  if (i < 0) return y[y.length - 1];
  return y[i - 1] + ((y[i] - y[i - 1]) * (place - x[i - 1])) / (x[i] - x[i - 1] || 1);
}

// A wide part of the page, which the keyboard can scroll while there is something to scroll.
const watching = new ResizeObserver((entries) =>
  entries.forEach(({ target }) => {
    const node = target.closest(".scroll");
    const wide = node.scrollWidth > node.clientWidth;
    for (const [name, value] of [
      ["tabindex", "0"],
      ["role", "region"],
      ["aria-label", node.dataset.name],
    ])
      wide ? node.setAttribute(name, value) : node.removeAttribute(name);
  }),
);
function scrolling(name, content) {
  const node = el("div", { class: "scroll", "data-name": name }, content);
  watching.observe(node);
  watching.observe(content);
  return node;
}
function table(name, head, rows, { caption = name, ...attributes } = {}) {
  return scrolling(
    name,
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
          head.map((cell) => el("th", { scope: "col" }, el("span", {}, cell))),
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
