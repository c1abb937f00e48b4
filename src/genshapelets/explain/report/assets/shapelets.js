// A card for each shapelet, most important first.
const FIRST = 12; // cards that are there before one asks for all
const onlyMaps = shapelets.every((one) => !one.curves.length); // of cepstra, without curves
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
        : "Each shapelet is drawn as a thick line over the series in which it is found best (thin line). The shaded part is where it was laid. ",
      channelNames.length > 1 && !onlyMaps
        ? "The percentage beside a channel says how much of the comparison is in that channel. Where a line is pale the channel hardly counts, and need not match. "
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
    el("div", { class: "controls" }, sorts),
    grid,
    all,
    channelNames.length > 1 ? aboutChannels() : null,
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
      `. It makes up ${percent(one.weight)} of all contributions.`,
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
  const nearest = cases[one.nearest].name,
    large = one.curves.length === 1;
  const figure = el(
    "figure",
    { class: `pictures${large ? " one" : ""}` },
    one.curves.map((curve) => {
      const name = channelNames[curve.channel],
        path = unpack(curve.path);
      const picture = overlay(
        path,
        values(curve.shape),
        one.window,
        large ? 300 : 150,
        large ? 130 : 76,
        `Shapelet ${one.number} over series ${cut(nearest)} in ${cut(name)}`,
        curve.strength,
      );
      return channelNames.length === 1
        ? picture
        : el(
            "div",
            {},
            el("p", { class: "channel" }, label(name), ` · ${percent(curve.looked)}`),
            picture,
            curve.observed ? null : el("p", { class: "channel" }, UNSEEN),
          );
    }),
  );
  if (one.map) figure.append(el("div", { class: "maps" }, mapsOf(one)), keyOfMaps(one.map));
  else if (one.area) figure.append(areaOf(one));
  else if (channelNames.length === 2) figure.append(inPlane(one));
  const told = cases[one.nearest].label;
  figure.append(
    el(
      "figcaption",
      {},
      "Over series ",
      label(nearest),
      told === null ? "" : [" (", classes ? label(classes[told]) : target(told), ")"],
      one.curves.length && channelNames.length > one.curves.length
        ? `, in ${one.curves.length} of ${channelNames.length} channels`
        : "",
    ),
  );
  return figure;
}

function inPlane(one) {
  const paths = one.curves.map((curve) => unpack(curve.path));
  const places = [...new Set(paths.flatMap((path) => path.x))].sort((a, b) => a - b);
  return el(
    "div",
    { class: "in-plane" },
    axesOfPlane(),
    plane(
      paths.map((path) => places.map((place) => valueAt(path, place))),
      [{ curve: one.curves.map((curve) => values(curve.shape)) }],
      150,
      `Shapelet ${one.number} as a curve in the plane of both channels`,
    ),
  );
}
