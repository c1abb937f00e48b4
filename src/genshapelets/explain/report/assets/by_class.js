// Class by class, the shapelets that speak most for it.
const FEW_THUMBS = 3,
  MANY_CLASSES = 20;
function byClass() {
  if (!classes || contents.refusal || classes.length > MANY_CLASSES || onlyMaps) return null;
  return el(
    "div",
    { class: `panel by-class${inPlane ? "" : " wide"}`, id: "by-class" },
    el("h3", {}, "What makes each class"),
    el(
      "p",
      { class: "soft" },
      "The shapelets that speak most for a class, each over the series of that class in which it is found best",
      inPlane ? "; a ring marks where it starts, arrows where it goes. " : ". ",
      el("span", { class: "hint" }, "Choose one to see more of it."),
    ),
    el("dl", {}, inOrder.map(ofClass)),
  );
}

function ofClass(c) {
  const raised = shapelets
    .filter((one) => one.claim && one.pulls[0][0] === c && one.pulls[0][1] > SLIGHT)
    .sort((one, other) => other.pulls[0][1] - one.pulls[0][1]);
  const speaks = (one) => one.claim[1] > 0;
  const some = [...raised.filter(speaks), ...raised.filter((one) => !speaks(one))].slice(0, FEW_THUMBS);
  return el(
    "div",
    {},
    el("dt", {}, label(classes[c])),
    el(
      "dd",
      {},
      some.length
        ? some.map((one) =>
            el(
              "button",
              { type: "button", class: "thumb", "aria-haspopup": "dialog", onclick: () => closest(one) },
              thumb(one),
              el("span", {}, `Shapelet ${one.number}`),
              speaks(one)
                ? null
                : el("span", { class: "soft" }, "even more against ", label(classes[one.claim[0]])),
            ),
          )
        : el("span", { class: "soft" }, "No shapelet speaks for it: it is known by what is absent."),
    ),
  );
}

function thumb(one) {
  const match = one.own ?? one.closest[0],
    i = strongestOf(one);
  if (inPlane) return planeOf(one, match, 130, true);
  return [
    channelNames.length > 1 ? el("span", { class: "channel" }, channelTitle(one.channels[i])) : null,
    overlay(one, match, i, `Shapelet ${one.number}`, { width: 200, height: 130 }),
  ];
}
