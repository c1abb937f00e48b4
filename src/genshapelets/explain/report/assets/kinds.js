// Shapelets of several kinds: their names, and what only some of them are drawn as.
const PLAIN = "L2"; // goes without saying
const meanings = new Map(contents.model.kinds.map(([title, , meaning]) => [title, meaning]));
const nameOf = (one) => `${one.tag} shapelet ${one.number}`.trim();

const tag = (one) => (one.tag ? el("span", { class: "tag" }, one.tag) : null);
const inWords = (one) => {
  const meaning = one.kind === PLAIN ? null : meanings.get(one.kind);
  return meaning ? `It ${meaning}. ` : "";
};

function aboutKinds() {
  const { kinds } = contents.model;
  if (kinds.length === 1 && kinds[0][0] === PLAIN) return null;
  return el(
    "ul",
    { id: "kinds", class: "panel" },
    kinds.map(([title, count, meaning]) =>
      el(
        "li",
        {},
        el("strong", {}, title),
        `: ${plural(count, "shapelet")}`,
        meaning ? `. Each ${meaning}.` : "",
      ),
    ),
  );
}

// A shapelet and its segment from one start, with the signed area between the shapelet and its chord.
function areaOf(one) {
  const { names, areas, senses } = one.area;
  const size = (area) =>
    area ? `${number(Math.abs(area))} ${senses[area < 0 ? 1 : 0]}` : number(area);
  const said = `Area ${size(areas[0])}; of its segment (dashed) ${size(areas[1])}`;
  return el(
    "div",
    { class: channelNames.length === 2 ? "in-plane" : "area" },
    el("p", { class: "channel" }, label(names[0]), " across, ", label(names[1]), " up"),
    areaPicture(one.area, 150, `Shapelet ${one.number} in the plane. ${said}`),
    el("p", { class: "channel" }, said),
  );
}

// All channels of a shapelet, and of where it is found, as heat maps.
function mapsOf(one) {
  const { columns, reach, shape, segment } = one.map,
    rows = channelNames.length;
  return [
    ["Shapelet", shape],
    ["Where it is found", segment],
  ].map(([title, packed]) =>
    el(
      "div",
      {},
      el("p", { class: "channel" }, title),
      heatMap(values(packed), rows, columns, reach, `${title}: ${plural(rows, "channel")} over time`),
    ),
  );
}
const keyOfMaps = ({ reach }) =>
  el(
    "div",
    { class: "key" },
    `−${reach}`,
    el("span", { style: `background:linear-gradient(to right, ${HEAT.join(",")})` }),
    `+${reach} standard deviations. First channel on top, time to the right.`,
  );
