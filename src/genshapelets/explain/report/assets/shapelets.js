// A card for each shapelet, most important first.
const FIRST = 12; // cards that are there before one asks for all
const onlyMaps = contents.hears; // of cepstra, without curves
const cardOf = new Map(shapelets.map((one) => [one.number, one]));

function looks() {
  const section = byId("looks"),
    grid = el("div", { class: "cards" }),
    all = el("button", { type: "button" });
  const sorts =
    classes && !contents.refusal
      ? el(
          "label",
          {},
          "Show first those that speak for ",
          el(
            "select",
            { id: "order", onchange: (event) => order(event.target.value) },
            el("option", { value: "" }, "anything (most important first)"),
            inOrder.slice(0, 500).map((c) => el("option", { value: c }, cut(classes[c]))),
          ),
        )
      : null;
  fill(section, {}, [
    el(
      "p",
      {},
      onlyMaps
        ? "Each shapelet is a piece of sound, drawn as a heat map of its cepstrum beside the piece of a series that it is most similar to. "
        : "Each shapelet is drawn as a thick line over the series in which it is found best (thin line). ",
      channelNames.length === 2 && !onlyMaps
        ? "In the plane of both channels the thin line is the whole series; a ring marks where the shapelet starts, arrows where it goes. "
        : "",
      onlyMaps ? "" : "Against time, the shaded part is where it was laid. ",
      channelNames.length > 1 && !onlyMaps
        ? "Only channels that a shapelet looks at are drawn; the percentage says how much of the comparison is in each. Where its line is pale, the channel hardly counts and need not match. "
        : "",
      el("span", { class: "hint" }, "Choose one to see the series that come closest to it."),
    ),
    contents.refusal
      ? el(
          "p",
          { class: "panel" },
          `What the shapelets speak for cannot be read off this model: ${contents.refusal} Single predictions are explained below all the same.`,
        )
      : null,
    aboutKinds(),
    fewPlayers(),
    byClass(),
    beeswarm(),
    el("h3", { class: "apart" }, "Shapelet by shapelet"),
    el("div", { class: "controls" }, sorts),
    grid,
    all,
    channelNames.length > 1 ? aboutChannels() : null,
    aboutBeside(),
  ]);
  const made = new Map(shapelets.map((one) => [one, card(one)]));
  function order(answer) {
    const pull = (one) => one.pulls.find(([c]) => c === Number(answer))?.[1] ?? 0;
    const sorted =
      answer === "" ? shapelets : [...shapelets].sort((one, other) => pull(other) - pull(one));
    grid.replaceChildren(...sorted.map((one) => made.get(one)));
    grid.querySelectorAll(".card").forEach((node, i) => node.classList.toggle("later", i >= FIRST));
  }
  order("");
  all.textContent = `Show all ${shapelets.length} shapelets`;
  all.hidden = shapelets.length <= FIRST;
  all.addEventListener("click", () => {
    grid.classList.add("all");
    all.hidden = true;
    grid.children[FIRST].querySelector("button").focus();
  });
}

function card(one) {
  const title = `Shapelet ${one.number}`;
  return el(
    "article",
    { class: "card", "aria-label": title, id: `shapelet-${one.number}` },
    el(
      "h3",
      {},
      el(
        "button",
        { type: "button", class: "open", "aria-haspopup": "dialog", onclick: () => closest(one) },
        title,
      ),
      tag(one),
    ),
    el("p", { class: "claim" }, claim(one)),
    pictures(one),
    playersOf(one),
    el(
      "p",
      { class: "soft" },
      `${one.length} long, ${percent(one.share)} of a usual series`,
      unseen(one),
      `. It makes up ${percent(one.weight)} of all contributions${contents.model.covariates ? " of shapelets" : ""}.`,
    ),
    pulls(one, one.pulls?.length > 7 ? strongest(one.pulls) : one.pulls),
    occurrences(one),
  );
}

function unseen({ levelFree, scaleFree }) {
  if (scaleFree) return "; its level and its scale do not count";
  return levelFree ? "; its level does not count" : "";
}

function occurrences({ alike, mostly, where }) {
  if (!alike) return el("p", { class: "soft where" }, "No series here has it better than usual.");
  const [low, high] = mostly.map((share) => Math.round(100 * share));
  return [
    el(
      "p",
      { class: "soft where" },
      `${plural(alike, "series")} here ${alike === 1 ? "has" : "have"} it better than usual. `,
      "There the middle of its window is ",
      low === high ? `mostly at ${low} %` : `mostly between ${low} and ${high} %`,
      " of the way.",
    ),
    histogram(
      where,
      `Where in a series it is found, from start to end: ${where.join(", ")} series`,
    ),
    el(
      "p",
      { class: "ends", "aria-hidden": "true" },
      el("span", {}, "start of the series"),
      el("span", {}, "end"),
    ),
  ];
}

function pictures(one) {
  const [nearest] = one.closest,
    { name } = cases[nearest.series];
  const figure = el("figure", { class: "pictures" });
  const flatly = inPlane && !one.area;
  if (!onlyMaps)
    figure.append(
      views(
        `Channel in which shapelet ${one.number} is drawn`,
        [...(flatly ? [planeView(one)] : []), ...one.channels.map((_, i) => channelView(one, i))],
        flatly ? 0 : strongestOf(one),
      ),
    );
  if (one.map) figure.append(el("div", { class: "maps" }, mapsOf(one)), keyOfMaps(one.map));
  else if (one.area) figure.append(areaOf(one));
  figure.append(
    onlyMaps
      ? el("figcaption", {}, "Over series ", label(name))
      : el("figcaption", { class: "key" }, keyOfMatch(one, nearest)),
  );
  return figure;
}

const planeView = (one) => [
  "the plane of both channels",
  el(
    "div",
    {},
    planeOf(one, one.closest[0], 320),
    weakChannels(one).map((d) =>
      el(
        "p",
        { class: "channel" },
        channelTitle(d),
        " does not count for it: there it is drawn as the series is.",
      ),
    ),
  ),
];
function channelView(one, i) {
  const [nearest] = one.closest,
    over = `over series ${cut(cases[nearest.series].name)} in ${cut(channelNames[one.channels[i]])}`;
  return [
    shareTitle(one, i),
    el(
      "div",
      {},
      channelNames.length > 1 && one.channels.length === 1
        ? el("p", { class: "channel" }, shareTitle(one, i))
        : null,
      overlay(one, nearest, i, `Shapelet ${one.number} ${over}`),
      nearest.seen[i] ? null : el("p", { class: "channel" }, UNSEEN),
    ),
  ];
}
