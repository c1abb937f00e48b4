// All that is said about data and model as wholes.
function overview() {
  const { data, scores, model } = contents;
  const what = classes ? `tells ${plural(classes.length, "class").replace("classs", "classes")} of series apart`
    : "predicts a number from a series";
  byId("lead").append(`This model ${what} by ${plural(shapelets.length, "shapelet")}: short shapes that it learnt to look for. `,
    "A series is judged by how closely each of them is found somewhere in it.");
  notes();
  if (!scores) byId("good").append(el("p", { class: "panel" }, "No labels were given, so nothing can be said about how often the model is right."));
  else if (classes) classGood(scores, data);
  else numberGood(scores, data);
  aboutData(data);
  aboutModel(model);
  byId("footer").append(`Written by genshapelets ${contents.version}. Charts by Apache ECharts, licensed under the Apache License 2.0. This page is complete: it fetches nothing.`);
}

function notes() {
  const { data } = contents, said = [];
  if (cases.length < data.series) {
    said.push(`Only ${whole(cases.length)} of the ${whole(data.series)} series, chosen at random${contents.labelled && classes ? " from every class" : ""}, are drawn and explained here. What is said about shapelets comes from these; counts and scores are of all series.`);
  }
  if (data.times[2] > contents.points) said.push(`Long series are drawn by no more than ${whole(contents.points)} of their points, highest and lowest ones among them.`);
  if (channelNames.length > shown.length) said.push(`Series are drawn in the ${shown.length} of ${channelNames.length} channels that the model looks at most, shapelets in the ${shown.length} that say most for each.`);
  byId("notes").append(...said.map((text) => el("li", {}, text)));
  byId("notes").hidden = !said.length;
}

const tile = (figure, what, more) => el("div", { class: "tile" }, el("p", { class: "figure" }, figure), el("p", {}, what), more ? el("p", { class: "soft" }, more) : null);
const caution = () => el("p", { class: "soft" }, "If these are the series that the model was trained on, expect less on new ones.");

function classGood(scores, data) {
  byId("good").append(el("div", { class: "tiles" },
    tile(percent(scores.accuracy), `of ${plural(data.series, "series")} are classified correctly`, `95 % interval: ${percent(scores.interval[0])} to ${percent(scores.interval[1])}`),
    tile(percent(scores.guess), "would be right by always saying the largest class"),
    tile(percent(scores.balanced), "right if every class counted the same", "mean over classes of the share found")), caution());
  if (scores.matrix) byId("good").append(confusion(scores.matrix));
  else byId("good").append(el("div", { class: "panel" }, el("h3", {}, "Classes that are mistaken most often"),
    table("The commonest mistakes", ["Class", "taken for", "series"], scores.pairs.map(([true_, said, count]) => row(label(classes[true_]), label(classes[said]), whole(count))))));
  const some = scores.classes.length < classes.length ? `The ${scores.classes.length} classes that are found least` : "Class by class";
  byId("good").append(el("details", { class: "panel" }, el("summary", {}, some),
    table(some, ["Class", "series", "found", "right when said"], scores.classes.map(([c, there, said, right]) =>
      row(inFull(classes[c]), whole(there), there ? percent(right / there) : "–", said ? percent(right / said) : "–")))));
}

function confusion(matrix) {
  const head = el("tr", {}, el("td", {}), classes.map((name) => el("th", { scope: "col" }, label(name))));
  const rows = matrix.map((counts, i) => {
    const all = counts.reduce((sum, count) => sum + count, 0);
    return el("tr", {}, el("th", { scope: "row" }, label(classes[i])), counts.map((count, j) => {
      const share = all ? count / all : 0;
      return el("td", { class: i === j ? "hit" : count ? "miss" : "none", style: `--share:${(i === j ? share : Math.sqrt(share)).toFixed(3)}`, title: `${percent(share)} of this class` }, whole(count));
    }));
  });
  return el("div", { class: "panel" }, el("h3", {}, "What is taken for what"),
    el("p", { class: "soft" }, "Each row is a true class, each column what the model says. Right answers are on the framed diagonal."),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Confusion of classes" },
      el("table", { class: "confusion" }, el("caption", {}, "Number of series by true class (rows) and predicted class (columns)"), el("thead", {}, head), el("tbody", {}, rows))));
}

function numberGood(scores, data) {
  const place = el("div");
  byId("good").append(el("div", { class: "tiles" },
    tile(number(scores.error), `is the mean error over ${plural(data.series, "series")}`, `root mean square: ${number(scores.rmse)}`),
    tile(number(scores.guess), "would be the mean error of always saying the mean"),
    tile(scores.r2 === null ? "–" : number(scores.r2), "is R²: 1 is perfect, 0 no better than the mean", scores.r2 === null ? "undefined, as all true numbers are the same" : null)),
  caution(), el("div", { class: "panel" }, el("h3", {}, "Predicted against true"),
    el("p", { class: "soft" }, "One dot for each series that is explained below; choose one to see why. On the dashed line a prediction is exact."), place));
  scatter(place);
}

function aboutData(data) {
  const [few, usual, most] = data.times, [low, middle, high] = data.steps;
  const times = few === most ? `${whole(most)} each` : `${whole(few)} to ${whole(most)}, usually ${whole(usual)}`;
  const evenly = data.evenly === 1 ? "all series are sampled evenly" : data.evenly === 0 ? "no series is sampled evenly" : `${percent(data.evenly)} of the series are sampled evenly`;
  const between = low === high ? `one every ${middle}` : `usually one every ${middle} (nine of ten gaps: ${low} to ${high})`;
  const span = data.spans[0] === data.spans[2] ? data.spans[1] : `usually ${data.spans[1]} (nine of ten: ${data.spans[0]} to ${data.spans[2]})`;
  const facts = [["Series", whole(data.series)], ["Channels", whole(data.channels)], ["Times in a series", times], ["Length of a series", span],
    ["Sampling", `${between}; ${evenly}`], ["Missing values", percent(data.missing)]];
  const panel = el("div", { class: "panel" }, el("dl", { class: "facts" }, facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))));
  byId("data").append(panel);
  if (data.counts) {
    const order = data.counts.map((count, c) => [c, count]).sort((one, other) => other[1] - one[1]).slice(0, 40), largest = Math.max(...data.counts);
    const title = order.length < classes.length ? `The ${order.length} largest of ${whole(classes.length)} classes` : "Balance of the classes";
    byId("data").append(el("div", { class: "panel" }, el("h3", {}, title), table(title, ["Class", "series", ""],
      order.map(([c, count]) => row(inFull(classes[c]), `${whole(count)} (${percent(count / data.series)})`, bar(count / largest))))));
  }
}

function aboutChannels() {
  const most = Math.max(...contents.channels.map((channel) => channel.looked), 1e-12);
  const some = contents.channels.length < channelNames.length ? `The ${contents.channels.length} of ${whole(channelNames.length)} channels that it looks at most` : "Channels that it looks at";
  return el("div", { class: "panel" }, el("h3", {}, some),
    el("p", { class: "soft" }, "How much of what the model looks at is in each channel, and how often the channel was not observed."),
    table("Importance of the channels", ["Channel", "importance", "", "missing"], contents.channels.map((channel) => row(inFull(channel.name), percent(channel.looked), bar(channel.looked / most), percent(channel.missing)))));
}

function aboutModel(model) {
  const section = byId("model");
  section.append(readability());
  const { history, epochs } = model;
  if (epochs.length) {
    const score = history.accuracy ? "accuracy" : "r2", places = [el("div"), el("div")];
    const pick_ = (names) => names.filter(([key]) => history[key]).map(([key, name]) => [name, history[key]]);
    section.append(el("div", { class: "panel" }, el("h3", {}, "How training went"), el("div", { class: "columns" }, places),
      el("details", {}, el("summary", {}, "As a table"), table("Training by epoch", ["Epoch", ...Object.keys(history).map((name) => name.replace("_", " "))],
        epochs.map((epoch, i) => row(whole(epoch), ...Object.values(history).map((figures) => number(figures[i]))))))));
    lines(places[0], "Loss", epochs, pick_([["loss", "training"], ["validation_loss", "held out"]]), false);
    lines(places[1], score === "r2" ? "R²" : "Accuracy", epochs, pick_([[score, "training"], [`validation_${score}`, "held out"]]), score === "accuracy");
  }
  section.append(el("details", { class: "panel" }, el("summary", {}, "Parameters"),
    table("Parameters of the model", ["Parameter", "value"], [row("estimator", model.estimator), row("genshapelets", contents.version), ...model.parameters.map(([name, value]) => row(name, value))])));
}

function readability() {
  const panel = el("div", { class: "panel" }, el("h3", {}, "How readable is it?")), found = contents.measures;
  if (!found) {
    panel.append(el("p", {}, `Not measured: ${contents.refusal}`));
    return panel;
  }
  const said = [];
  if (found.unique !== null) said.push([percent(found.unique), "of the classes have a top shapelet that is no other class's"]);
  if (found.own !== null) said.push([percent(found.own), "of the classes have a top shapelet whose nearest series is of that class"]);
  said.push([number(Number(found.closeness.toPrecision(2))), "is how far a shapelet is from the nearest piece of these series, as a share of how far it is from a random piece: 0 is a copy, 1 is no better than chance"]);
  said.push([number(Number(found.sparsity.toPrecision(3))), `of ${plural(found.n_shapelets, "shapelet")} carry 90 % of a prediction, on average`]);
  panel.append(el("div", { class: "tiles" }, said.map(([figure, what]) => tile(figure, what))));
  return panel;
}
