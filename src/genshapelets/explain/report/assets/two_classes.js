// Two classes: every threshold of the probability, and whether probabilities are frequencies.
const weightedNote = () =>
  `Classes were weighted in training (class_weight = ${cut(contents.model.weighted)}), so a probability said here is not how often such series are of the class: it ranks them.`;

function twoClasses(two) {
  const sides = two.sides,
    panel = el("div", { id: "two-classes" });
  byId("good").append(panel);
  show(two.sought);

  function show(sought) {
    const side = sides[sought];
    for (let i = charts.length - 1; i >= 0; i--)
      if (panel.contains(charts[i].node)) charts.splice(i, 1)[0].api.dispose();
    const places = [el("div"), el("div"), el("div")];
    const switching = el(
      "div",
      { class: "controls", role: "group", "aria-label": "Class that is looked for" },
      "Looked for is ",
      classes.map((name, c) =>
        el(
          "button",
          {
            type: "button",
            "aria-pressed": String(c === sought),
            onclick: () => {
              show(c);
              panel.querySelectorAll(".controls button")[c].focus();
            },
          },
          label(name),
        ),
      ),
    );
    panel.replaceChildren(
      el(
        "div",
        { class: "panel" },
        el("h3", {}, "How well it tells the two classes apart"),
        switching,
        el(
          "div",
          { class: "tiles" },
          tile(
            number(side.auroc),
            "AUROC",
            "how often a series of the class is ranked above one of the other; 0.5 is chance",
          ),
          tile(
            number(side.auprc),
            "AUPRC",
            `mean precision; ${number(side.there / (side.there + side.others))} is chance`,
          ),
          tile(number(two.brier), "Brier score", "mean squared error of the probability; 0 is best"),
        ),
        el("div", { class: "columns three" }, places),
        el(
          "p",
          { class: "soft" },
          "Calibration: where dots lie on the dashed line, what the model calls 30 % happens in 30 of 100 series. Bars are 95 % intervals. ",
          contents.model.weighted ? weightedNote() : "",
        ),
      ),
      thresholdPanel(sought, side, () => [roc, precise].forEach(draw)),
    );
    const roc = square(
      places[0],
      ["ROC", "false alarms (1 − specificity)", "sensitivity"],
      rocOf(side),
      side,
    );
    const precise = square(
      places[1],
      ["Precision and recall", "sensitivity (recall)", "precision"],
      recallOf(side),
      side,
    );
    calibration(places[2], two, sought);
  }
}

// Series for each threshold, counted: found and missed, mistaken and rightly left.
function countsAt({ found, mistaken, there, others }, i) {
  return [found[i], there - found[i], mistaken[i], others - mistaken[i]];
}
const ratio = (part, all) => (all ? part / all : null);
const rocOf = (side) => [
  ...side.thresholds.map((_, i) => [
    ratio(side.mistaken[i], side.others),
    ratio(side.found[i], side.there),
  ]),
  [0, 0], // above all probabilities
];
const recallOf = (side) => side.thresholds.map((_, i) => [
  ratio(side.found[i], side.there),
  ratio(side.found[i], side.found[i] + side.mistaken[i]),
]);

function thresholdPanel(sought, side, moved) {
  const start = side.thresholds.indexOf(0.5),
    slider = el("input", {
      type: "range",
      id: "threshold",
      min: 0,
      max: side.thresholds.length - 1,
      value: start,
      oninput: () => update(),
    });
  side.at = start;
  const figures = el("div", { class: "tiles" }),
    matrix = el("div"),
    told = el("output", { for: "threshold" });
  function update() {
    const i = Number(slider.value);
    side.at = i;
    const [right, missed, alarms, left] = countsAt(side, i);
    told.textContent = percent(side.thresholds[i]);
    slider.setAttribute("aria-valuetext", percent(side.thresholds[i]));
    figures.replaceChildren(
      tile(
        percent(ratio(right, side.there)),
        "sensitivity",
        `${whole(right)} of ${whole(side.there)} are found`,
      ),
      tile(
        percent(ratio(left, side.others)),
        "specificity",
        `${whole(left)} of ${whole(side.others)} others are left alone`,
      ),
      tile(
        percent(ratio(right, right + alarms)),
        "precision",
        `of ${plural(right + alarms, "series")} named, ${whole(right)} are right`,
      ),
    );
    const rows = sought ? [[left, alarms], [missed, right]] : [[right, missed], [alarms, left]];
    matrix.replaceChildren(...confusion(rows, [sought, 1 - sought]));
    if (panel.isConnected) moved();
  }
  const panel = el(
    "div",
    { class: "panel" },
    el("h3", {}, "From which probability on?"),
    el(
      "p",
      { class: "soft" },
      "The model says ",
      label(classes[sought]),
      " from a probability of 50 % on. Move the threshold to see what another would give.",
    ),
    el("label", { class: "slider" }, el("span", {}, label(classes[sought]), " from ", told), slider),
    figures,
    matrix,
  );
  update();
  return panel;
}
