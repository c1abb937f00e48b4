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
  if (!one.claim) return "Says next to nothing";
  const [answer, side] = one.claim;
  if (!classes) return side > 0 ? "Raises the number" : "Lowers the number";
  return [`Speaks ${side > 0 ? "for" : "against"} `, el("strong", {}, label(classes[answer]))];
}

function pulls(one, some, weights = false) {
  if (!some?.length) return null;
  const onWhat = `weight on the ${contents.model.log ? "log " : ""}distance`;
  const effects = one.pulls.map(([, effect]) => effect),
    largest = largestOf(effects) || 1,
    say = amounts(effects);
  const clearly = "When it fits clearly better (by one standard deviation), ";
  const against = classes?.length > 2 ? ", beside the mean of all classes," : "";
  const said = `${clearly}${classes ? "the score of a class" : "the number"}${against} moves by`;
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
