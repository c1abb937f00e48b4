// What shapelets speak for, and what against.
const allPulls = shapelets.flatMap((one) => one.pulls ?? []);
// Effects below this are as good as none.
const SLIGHT = 1e-3 * Math.max(...allPulls.map(([, effect]) => Math.abs(effect)));
const strongest = (pulls) => [
  ...pulls.filter(([, effect]) => effect > SLIGHT).slice(0, 3),
  ...pulls.filter(([, effect]) => effect < -SLIGHT).slice(-3),
];

function claim(one) {
  if (!one.pulls) return "";
  const spokenFor = one.pulls.filter(([, effect]) => effect > SLIGHT),
    against = one.pulls.filter(([, effect]) => effect < -SLIGHT).reverse();
  if (!classes)
    return spokenFor.length
      ? "Raises the number"
      : against.length
        ? "Lowers the number"
        : "Hardly matters";
  const name = ([answer]) => el("strong", {}, label(classes[answer]));
  if (spokenFor.length)
    return [spokenFor.length > 1 ? "Speaks most for " : "Speaks for ", name(spokenFor[0])];
  const worst = against.slice(0, 2).flatMap((pull, i) => [i ? " and " : "", name(pull)]);
  if (against.length > 2) return ["Speaks for no class, most against ", ...worst];
  return against.length ? ["Speaks against ", ...worst] : "Speaks for no class";
}

function pulls(one, some, weights = false) {
  if (!some?.length) return null;
  const onWhat = `weight on the ${contents.model.log ? "log " : ""}distance`;
  const effects = one.pulls.map(([, effect]) => effect),
    largest = largestOf(effects) || 1,
    say = amounts(effects);
  const clearly = "When it fits clearly better (by one standard deviation), ";
  const said = clearly + (classes ? "the score of a class moves by" : "the number moves by");
  const most =
    some.length < (classes?.length ?? 1) ? ` (strongest of ${whole(classes.length)} classes)` : "";
  return el(
    "div",
    { class: "pulls" },
    table(
      `What shapelet ${one.number} speaks for`,
      [classes ? "class" : "", "", "moves by", ...(weights ? [onWhat] : [])],
      some.map(([answer, effect, weight]) =>
        row(
          classes ? label(classes[answer]) : "number",
          tilt(effect / largest),
          signed(effect, say),
          ...(weights ? [number(weight)] : []),
        ),
      ),
      { caption: said + most },
    ),
  );
}
// A bar to the right of the middle for what speaks for, to the left for what speaks against.
const tilt = (share) =>
  el(
    "span",
    { class: `tilt ${share < 0 ? "against" : "for"}`, "aria-hidden": "true" },
    el("span", { style: `--share:${Math.abs(share).toFixed(3)}` }),
  );
