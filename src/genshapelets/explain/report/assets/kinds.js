// Shapelets of several kinds: their names, and what only some of them are drawn as.
const PLAIN = "L2"; // goes without saying
const meanings = new Map(contents.model.kinds.map(([title, , meaning]) => [title, meaning]));
const nameOf = (one) => `${one.tag} shapelet ${one.number}`.trim();

const onlyPlain = contents.model.kinds.every(([title]) => title === PLAIN);
function tag(one) {
  if (!one.tag) return null;
  const explained = !onlyPlain && one.kind !== PLAIN;
  return explained
    ? el("a", { class: "tag", href: "#kinds", title: meanings.get(one.kind) }, one.tag)
    : el("span", { class: "tag" }, one.tag);
}

// By which discrepancies shapelets are compared, unless it is the usual one.
const aboutKinds = () =>
  onlyPlain
    ? null
    : el(
        "div",
        { id: "kinds", class: "panel" },
        el("h3", {}, contents.model.kinds.length > 1 ? "Kinds of shapelets" : "Its shapelets"),
        el(
          "ul",
          {},
          contents.model.kinds.map(([title, count, meaning]) =>
            el(
              "li",
              {},
              el("strong", {}, title),
              `: ${plural(count, "shapelet")}`,
              meaning ? `. Each ${meaning}.` : "",
            ),
          ),
        ),
      );

// A shapelet and its segment from one start, with the signed area between the shapelet and its chord.
function areaOf(one) {
  const { names, areas, senses } = one.area;
  const size = (area) =>
    area ? `${number(Math.abs(area))} ${senses[area < 0 ? 1 : 0]}` : number(area);
  const said = `Area ${size(areas[0])}; of its segment (dashed) ${size(areas[1])}`;
  return el(
    "div",
    { class: "area" },
    el("p", { class: "channel" }, label(names[0]), " across, ", label(names[1]), " up"),
    areaPicture(one.area, 240, `Shapelet ${one.number} in the plane. ${said}`),
    el("p", { class: "channel" }, said, ". ", keyOfArea(one.area)),
  );
}
const keyOfArea = ({ loops, senses }) =>
  [1, -1]
    .filter((sign) => loops.some((loop) => loop[0] === sign))
    .map((sign) =>
      el(
        "span",
        { class: "key-of-area" },
        svg(
          "svg",
          { viewBox: "0 0 12 12", "aria-hidden": "true" },
          svg("rect", { class: sign > 0 ? "positive" : "negative", width: 12, height: 12 }),
        ),
        senses[sign > 0 ? 0 : 1],
      ),
    );

// All channels of a shapelet, and of where it is found, as heat maps.
function mapsOf(one) {
  const { rows, columns, reach, shape, segment } = one.map;
  return [
    ["Shapelet", shape],
    ["Where it is found", segment],
  ].map(([title, packed]) =>
    el(
      "div",
      {},
      el("p", { class: "channel" }, title),
      heatMap(values(packed), rows, columns, reach, `${title}: ${plural(rows, "coefficient")} over time`),
    ),
  );
}
const keyOfMaps = ({ reach }) =>
  el(
    "div",
    { class: "key-of-maps" },
    `−${reach}`,
    el("span", { style: `background:linear-gradient(to right, ${HEAT.join(",")})` }),
    `+${reach} standard deviations. First coefficient on top, time to the right.`,
  );
