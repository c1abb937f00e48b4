// The series closest to a shapelet, in a dialog.
function closest(one) {
  const dialog = byId("closest");
  const c = one.strength.indexOf(Math.max(...one.strength));
  dialog.replaceChildren(
    el(
      "div",
      { class: "masthead" },
      el("h2", { id: "closest-title" }, `Series closest to shapelet ${one.number}`),
      el("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, "Close"),
    ),
    el("p", { class: "claim" }, claim(one)),
    el(
      "ol",
      { class: "closest" },
      one.closest.map(([n, distance, begin, ...places]) => {
        const series = cases[n],
          curve = unpack(contents.curves[n][c]);
        const window = [begin, begin + one.duration].map((time) =>
          series.span ? time / series.span : 0,
        );
        const shape = placed(one.shape[c], c, places);
        return el(
          "li",
          { "data-series": n },
          el(
            "button",
            {
              type: "button",
              onclick: () => {
                dialog.close();
                pick(n, true);
              },
            },
            "Series ",
            label(series.name),
          ),
          el(
            "span",
            { class: "soft" },
            series.label === null
              ? ""
              : [classes ? label(classes[series.label]) : target(series.label), ", "],
            `distance ${number(distance)}`,
          ),
          overlay(
            zoomed(curve, window, contents.centre[c]),
            shape,
            inside(window),
            220,
            80,
            `The shapelet over series ${cut(series.name)}`,
            one.strength[c],
          ),
          curve.x.length ? null : el("span", { class: "soft" }, UNSEEN),
        );
      }),
    ),
    channelNames.length > 1
      ? el("p", { class: "soft" }, "Drawn in ", label(channelNames[shown[c]]), ".")
      : "",
    pulls(one, one.pulls, true) ?? "",
  );
  dialog.showModal();
}
byId("closest").addEventListener("click", ({ target, currentTarget, clientX, clientY }) => {
  const { left, right, top, bottom } = currentTarget.getBoundingClientRect();
  const outside = clientX < left || clientX > right || clientY < top || clientY > bottom;
  if (target === currentTarget && outside) currentTarget.close();
});
// The window and half its length on both sides, as far as the series goes.
const around = ([begin, end]) => [
  Math.max(0, begin - (end - begin) / 2),
  Math.max(Math.min(1, end + (end - begin) / 2), end),
];
function inside(window) {
  const [first, last] = around(window);
  return window.map((place) => (place - first) / (last - first || 1));
}
function zoomed(curve, window, unseen) {
  const [first, last] = around(window),
    xs = [first, ...curve.x.filter((x) => x > first && x < last), last];
  return {
    x: xs.map((x) => (x - first) / (last - first || 1)),
    y: xs.map((x) => valueAt(curve, x) ?? unseen),
  };
}
