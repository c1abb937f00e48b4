// Players of shapelets, of where they were found, and of whole series, if the series are sounds.
const { sounds } = contents;

function player(title, name, [code, seconds]) {
  return el(
    "div",
    { class: "player" },
    el("p", { class: "soft" }, title, `, ${number(seconds)}\u00a0s`),
    el("audio", {
      controls: true,
      preload: "none",
      src: `data:audio/wav;base64,${code}`,
      "aria-label": name,
    }),
  );
}

function playersOf(one) {
  const own = sounds?.shapelets[one.number];
  if (!own) return null;
  const { name } = cases[one.closest[0].series];
  return [
    own[0]
      ? player("Its sound", `Sound of shapelet ${one.number}`, own[0])
      : el("p", { class: "soft" }, "It is too short to be heard."),
    player(
      ["Where it is found in series ", label(name)],
      `Where shapelet ${one.number} is found in series ${cut(name)}`,
      own[1],
    ),
  ];
}

function playerOfSeries(n) {
  const own = sounds?.series[n];
  if (own) return player("The whole series as a sound", `Sound of series ${cut(cases[n].name)}`, own);
  return sounds ? el("p", { class: "soft" }, "This series has no player: the page would be too large.") : "";
}

function fewPlayers() {
  if (!sounds) return null;
  const [some, few] = [sounds.shapelets, sounds.series].map((group) => Object.keys(group).length);
  if (some === shapelets.length && few === cases.length) return null;
  return el(
    "p",
    { class: "soft", id: "few-players" },
    `${whole(some)} of ${plural(shapelets.length, "shapelet")} and ${whole(few)} of `,
    `${plural(cases.length, "series")} have players: a page holds no more than ${sounds.room} MB of sound.`,
  );
}

// One at a time: whoever starts a sound wants to hear that one.
document.addEventListener(
  "play",
  ({ target }) =>
    document.querySelectorAll("audio").forEach((other) => other !== target && other.pause()),
  true,
);
