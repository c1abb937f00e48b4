// The series closest to a shapelet, in a dialog.
function closest(one) {
  const dialog = byId("closest"),
    list = el("ol", { class: "closest" });
  const show = (i) => list.replaceChildren(...closestIn(one, i, dialog));
  const chooser = el(
    "label",
    { class: "soft chooser" },
    "Drawn in ",
    el(
      "select",
      { onchange: ({ target: { value } }) => show(Number(value)) },
      one.channels.map((_, i) =>
        el("option", { value: i, selected: i === strongestOf(one) }, shareTitle(one, i)),
      ),
    ),
  );
  dialog.replaceChildren(
    el(
      "div",
      { class: "masthead" },
      el("h2", { id: "closest-title" }, `Series closest to shapelet ${one.number}`),
      el("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, "Close"),
    ),
    el("p", { class: "claim" }, claim(one)),
    one.channels.length > 1 ? chooser : el("p", { class: "soft" }, onlyChannel(one)),
    el(
      "p",
      { class: "soft key" },
      keyOf("shape", "shapelet"),
      keyOf("path", "series"),
      keyOf("path held", "held: not observed there"),
      one.source ? keyOf("source", "training window, series ", label(one.source.series)) : null,
    ),
    list,
    pulls(one, one.pulls, true) ?? "",
  );
  show(strongestOf(one));
  dialog.showModal();
}

const onlyChannel = (one) =>
  channelNames.length > 1 ? `Drawn in ${channelTitle(one.channels[0])}.` : "";

// All on one scale, unless the level of the shapelet is that of each series.
function closestIn(one, i, dialog) {
  const reach = one.levelFree ? undefined : reachOf(one, one.closest, i);
  return one.closest.map((match) => {
    const { name, label: told } = cases[match.series];
    const go = () => {
      dialog.close();
      pick(match.series, true);
    };
    return el(
      "li",
      { "data-series": match.series },
      el("button", { type: "button", onclick: go }, "Series ", label(name)),
      el(
        "span",
        { class: "soft" },
        told === null ? "" : [classes ? label(classes[told]) : target(told), ", "],
        `distance ${number(match.distance)}`,
      ),
      overlay(one, match, i, `The shapelet over series ${cut(name)}`, { width: 260, height: 150, reach }),
      match.seen[i] ? null : el("span", { class: "soft" }, UNSEEN),
    );
  });
}
byId("closest").addEventListener("click", ({ target, currentTarget, clientX, clientY }) => {
  const { left, right, top, bottom } = currentTarget.getBoundingClientRect();
  const outside = clientX < left || clientX > right || clientY < top || clientY > bottom;
  if (target === currentTarget && outside) currentTarget.close();
});
