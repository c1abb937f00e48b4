// What it is, and how good.
function overview() {
  const { data, scores, model } = contents;
  const what = classes
    ? `tells ${plural(classes.length, "class").replace("classs", "classes")} of series apart`
    : "predicts a number from a series";
  byId("lead").append(
    `This model ${what} by ${plural(shapelets.length, "shapelet")}: short shapes that it learnt to look for. `,
    "A series is judged by how closely each of them is found somewhere in it.",
    model.covariates
      ? ` Beside them it weighs ${plural(model.covariates, "covariate")}, facts about a series as a whole${examples()}.`
      : "",
  );
  notes();
  if (!scores)
    byId("good").append(
      el(
        "p",
        { class: "panel" },
        "No labels were given, so nothing can be said about how often the model is right.",
      ),
    );
  else if (classes) classGood(scores, data);
  else numberGood(scores, data);
  aboutData(data);
  aboutModel(model);
  byId("footer").append(
    `Written by genshapelets ${contents.version}. Charts by Apache ECharts, licensed under the Apache License 2.0. This page is complete: it fetches nothing.`,
  );
}

function examples() {
  const names = contents.beside.slice(0, 3).map(([name]) => cut(name));
  if (!names.length) return "";
  return `${contents.model.covariates > names.length ? ", such as" : ":"} ${names.join(", ")}`;
}

function notes() {
  const { data } = contents,
    said = [];
  if (cases.length < data.series) {
    said.push(
      `Only ${whole(cases.length)} of the ${whole(data.series)} series, chosen at random${data.counts?.filter(Boolean).length <= cases.length ? " from every class" : ""}, are drawn and explained here. What is said about shapelets comes from these; counts and scores are of all series.`,
    );
  }
  if (data.times[2] > contents.points)
    said.push(
      `Long series are drawn by no more than ${whole(contents.points)} of their points, highest and lowest ones among them.`,
    );
  const few = cases[0].channels.length;
  if (channelNames.length > few)
    said.push(
      `Each series is drawn in the ${few} of ${channelNames.length} channels that count most for what is predicted; a shapelet in no more than ${few} of those that it looks at.`,
    );
  if (contents.model.weighted) said.push(weightedNote());
  byId("notes").append(...said.map((text) => el("li", {}, text)));
  byId("notes").hidden = !said.length;
}

const tile = (figure, what, more) =>
  el(
    "div",
    { class: "tile" },
    el("p", { class: "figure" }, figure),
    el("p", {}, what),
    more ? el("p", { class: "soft" }, more) : null,
  );
const caution = () =>
  el(
    "p",
    { class: "soft" },
    "If these are the series that the model was trained on, expect less on new ones.",
  );

function classGood(scores, data) {
  byId("good").append(
    el(
      "div",
      { class: "tiles" },
      tile(
        percent(scores.accuracy),
        `of ${plural(data.series, "series")} are classified correctly`,
        `95 % interval: ${percent(scores.interval[0])} to ${percent(scores.interval[1])}`,
      ),
      tile(percent(scores.guess), "would be right by always saying the largest class"),
      tile(
        percent(scores.balanced),
        "right if every class counted the same",
        "mean over classes of the share found",
      ),
    ),
    caution(),
  );
  if (scores.two) twoClasses(scores.two);
  else if (scores.matrix)
    byId("good").append(
      el("div", { class: "panel" }, el("h3", {}, "What is taken for what"), confusion(scores.matrix)),
    );
  else
    byId("good").append(
      el(
        "div",
        { class: "panel" },
        el("h3", {}, "Classes that are mistaken most often"),
        table(
          "The commonest mistakes",
          ["Class", "taken for", "series"],
          scores.pairs.map(([true_, said, count]) =>
            row(label(classes[true_]), label(classes[said]), whole(count)),
          ),
        ),
      ),
    );
  const some = scores.cut
    ? `The ${scores.classes.length} classes that are found least`
    : "Class by class";
  const listed = scores.cut
    ? scores.classes
    : [...scores.classes].sort(([one], [other]) => inOrder.indexOf(one) - inOrder.indexOf(other));
  byId("good").append(
    el(
      "details",
      { class: "panel" },
      el("summary", {}, some),
      table(
        some,
        ["Class", "series", "found", "right when said"],
        listed.map(([c, there, said, right]) =>
          row(
            inFull(classes[c]),
            whole(there),
            there ? percent(right / there) : "–",
            said ? percent(right / said) : "–",
          ),
        ),
      ),
    ),
  );
}

// Rows and columns in this order of the classes.
function confusion(matrix, order = inOrder) {
  const head = el(
    "tr",
    {},
    el("td", {}),
    order.map((c) => el("th", { scope: "col" }, label(classes[c]))),
  );
  const rows = order.map((i) => {
    const counts = matrix[i],
      all = counts.reduce((sum, count) => sum + count, 0);
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, label(classes[i])),
      order.map((j) => {
        const count = counts[j],
          share = all ? count / all : 0;
        return el(
          "td",
          {
            class: i === j ? "hit" : count ? "miss" : "none",
            style: `--share:${(i === j ? share : Math.sqrt(share)).toFixed(3)}`,
            title: `${percent(share)} of this class`,
          },
          whole(count),
        );
      }),
    );
  });
  return [
    el(
      "p",
      { class: "soft" },
      "Each row is a true class, each column what the model says. Right answers are on the framed diagonal.",
    ),
    scrolling(
      "Confusion of classes",
      el(
        "table",
        { class: "confusion" },
        el("caption", {}, "Number of series by true class (rows) and predicted class (columns)"),
        el("thead", {}, head),
        el("tbody", {}, rows),
      ),
    ),
  ];
}

function numberGood(scores, data) {
  const place = el("div");
  byId("good").append(
    el(
      "div",
      { class: "tiles" },
      tile(
        number(scores.error),
        `is the mean error over ${plural(data.series, "series")}`,
        `root mean square: ${number(scores.rmse)}`,
      ),
      tile(number(scores.guess), "would be the mean error of always saying the mean"),
      tile(
        scores.r2 === null ? "–" : number(scores.r2),
        "is R²: 1 is perfect, 0 no better than the mean",
        scores.r2 === null ? "undefined, as all true numbers are the same" : null,
      ),
    ),
    caution(),
    el(
      "div",
      { class: "panel" },
      el("h3", {}, "Predicted against true"),
      el(
        "p",
        { class: "soft" },
        "One dot for each series that is explained below. On the dashed line a prediction is exact. ",
        el(
          "span",
          { class: "hint" },
          "Choose a dot to see why; the menu under “Why this prediction?” does the same.",
        ),
      ),
      place,
    ),
  );
  scatter(place);
}
