// What the series are like, and the model.
function aboutData(data) {
  const [few, usual, most] = data.times,
    [low, middle, high] = data.steps;
  const times =
    few === most
      ? `${whole(most)} each`
      : `${whole(few)} to ${whole(most)}, usually ${whole(usual)}`;
  const evenly =
    data.evenly === 1
      ? "all series are sampled evenly"
      : data.evenly === 0
        ? "no series is sampled evenly"
        : `${percent(data.evenly)} of the series are sampled evenly`;
  const between =
    low === high
      ? `one every ${middle}`
      : `usually one every ${middle} (nine of ten gaps: ${low} to ${high})`;
  const span =
    data.spans[0] === data.spans[2]
      ? data.spans[1]
      : `usually ${data.spans[1]} (nine of ten: ${data.spans[0]} to ${data.spans[2]})`;
  const facts = [
    ["Series", whole(data.series)],
    ["Channels", whole(data.channels)],
    ["Times in a series", times],
    ["Length of a series", span],
    ["Sampling", most === 1 ? "one time each" : `${between}; ${evenly}`],
    ["Missing values", percent(data.missing)],
  ];
  const panel = el(
    "div",
    { class: "panel" },
    el(
      "dl",
      { class: "facts" },
      facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))),
    ),
  );
  byId("data").append(panel);
  if (data.counts) {
    const order = data.counts
        .map((count, c) => [c, count])
        .sort((one, other) => other[1] - one[1])
        .slice(0, 40),
      largest = Math.max(...data.counts);
    const title =
      order.length < classes.length
        ? `The ${order.length} largest of ${whole(classes.length)} classes`
        : "Balance of the classes";
    byId("data").append(
      el(
        "div",
        { class: "panel" },
        el("h3", {}, title),
        table(
          title,
          ["Class", "series", ""],
          order.map(([c, count]) =>
            row(
              inFull(classes[c]),
              `${whole(count)} (${percent(count / data.series)})`,
              bar(count / largest),
            ),
          ),
        ),
      ),
    );
  }
}

function aboutChannels() {
  const sizes = contents.channels.map(({ importance }) => importance),
    most = largestOf(sizes) || 1,
    say = amounts(sizes);
  const some =
    contents.channels.length < channelNames.length
      ? `The ${contents.channels.length} of ${whole(channelNames.length)} channels that count most`
      : "How much each channel counts";
  return el(
    "div",
    { class: "panel", id: "channels" },
    el("h3", {}, some),
    el(
      "p",
      { class: "soft" },
      `How much worse predictions become if a series had this channel of another series: the rise of the ${classes ? "log loss" : "squared error"}. `,
      "About 0, above or below: the channel says nothing, or what others say too. ",
      contents.scores ? "" : "As no labels were given, what the model says is taken as true. ",
    ),
    table(
      "Importance of the channels",
      ["Channel", "importance", "", "missing"],
      contents.channels.map((channel) =>
        row(
          inFull(channel.name),
          signed(channel.importance, say),
          bar(Math.max(channel.importance, 0) / most),
          percent(channel.missing),
        ),
      ),
    ),
  );
}

function aboutBeside() {
  if (!contents.beside.length) return null;
  const column = (place) => contents.beside.map((one) => one[place]),
    [most, mostLost] = [1, 2].map((place) => largestOf(column(place)) || 1),
    [say, sayLost] = [1, 2].map((place) => amounts(column(place)));
  return el(
    "div",
    { class: "panel", id: "beside" },
    el("h3", {}, "What else counts"),
    el(
      "p",
      { class: "soft" },
      "Facts about a series as a whole, weighed beside its shapelets: by how much each raises or lowers ",
      classes ? "the score of a class" : "the number",
      ", on average over the series, against a usual training series. The importance is that of ",
      "channels above: how much worse predictions become with the covariate of another series.",
    ),
    table(
      "Weight of the covariates",
      ["Covariate", "adds or takes", "", "importance", ""],
      contents.beside.map(([name, size, lost]) =>
        row(
          inFull(name),
          say(size),
          bar(size / most),
          signed(lost, sayLost),
          bar(Math.max(lost, 0) / mostLost),
        ),
      ),
    ),
  );
}

function aboutModel(model) {
  const section = byId("model");
  fill(section, {}, [sizesPanel(model.sizes), readability()]);
  const { history, epochs } = model;
  if (epochs.length) {
    const score = history.accuracy ? "accuracy" : "r2",
      places = [el("div"), el("div")];
    const pick_ = (names) =>
      names.filter(([key]) => history[key]).map(([key, name]) => [name, history[key]]);
    section.append(
      el(
        "div",
        { class: "panel" },
        el("h3", {}, "How training went"),
        el("div", { class: "columns" }, places),
        el(
          "details",
          {},
          el("summary", {}, "As a table"),
          table(
            "Training by epoch",
            ["Epoch", ...Object.keys(history).map((name) => name.replace("_", " "))],
            epochs.map((epoch, i) =>
              row(whole(epoch), ...Object.values(history).map((figures) => number(figures[i]))),
            ),
          ),
        ),
      ),
    );
    lines(
      places[0],
      "Loss",
      epochs,
      pick_([
        ["loss", "training"],
        ["validation_loss", "held out"],
      ]),
      false,
    );
    lines(
      places[1],
      score === "r2" ? "R²" : "Accuracy",
      epochs,
      pick_([
        [score, "training"],
        [`validation_${score}`, "held out"],
      ]),
      score === "accuracy",
    );
  }
  section.append(
    el(
      "details",
      { class: "panel" },
      el("summary", {}, "Parameters"),
      table(
        "Parameters of the model",
        ["Parameter", "value"],
        [
          row("estimator", model.estimator),
          row("genshapelets", contents.version),
          ...model.parameters.map(([name, value]) => row(name, value)),
        ],
      ),
    ),
  );
}

function readability() {
  const panel = el("div", { class: "panel" }, el("h3", {}, "How readable is it?")),
    found = contents.measures;
  if (!found) {
    panel.append(el("p", {}, `Not measured: ${contents.refusal}`));
    return panel;
  }
  const said = [],
    facts = found.n_covariates ? [plural(found.n_covariates, "covariate")] : [];
  if (found.unique !== null)
    said.push([
      percent(found.unique),
      "of the classes have a top shapelet that is no other class's",
    ]);
  if (found.own !== null)
    said.push([
      percent(found.own),
      "of the classes have a top shapelet whose nearest series is of that class",
    ]);
  said.push([
    number(Number(found.closeness.toPrecision(2))),
    "is how far a shapelet is from the nearest piece of these series, as a share of how far it is from a random piece: 0 is a copy, 1 is no better than chance",
  ]);
  said.push([
    number(Number(found.sparsity.toPrecision(3))),
    `of ${[plural(found.n_shapelets, "shapelet"), ...facts].join(" and ")} carry 90 % of a prediction, on average`,
  ]);
  if (channelNames.length > 1)
    said.push([
      number(Number(found.channels.toPrecision(2))),
      `of ${plural(channelNames.length, "channel")} hold 90 % of what a shapelet looks at, on average`,
    ]);
  said.push([
    percent(found.outside),
    "of the points of shapelets are outside the range that these series have in their channel",
  ]);
  panel.append(
    el(
      "div",
      { class: "tiles" },
      said.map(([figure, what]) => tile(figure, what)),
    ),
  );
  return panel;
}
