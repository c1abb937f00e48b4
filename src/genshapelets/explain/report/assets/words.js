// Numbers, names and times as words.
const minus = (text) => text.replaceAll("-", "−");
const order = (size) => Math.floor(Math.log10(size) + 1e-9); // of magnitude
const writers = new Map();
// Says numbers up to `largest` finely enough to tell those apart that differ by `step`.
function writer(step, largest, trim = false) {
  const fine = Math.max(step, largest * 1e-14) || 1;
  const digits = Math.max(order(largest || 1) - order(fine), 0),
    decimals = Math.min(Math.max(-order(fine), 0), 20);
  const key = `${digits} ${decimals} ${trim}`;
  if (largest && (largest < 1e-3 || largest >= 1e15 || (largest >= 1e7 && digits < 4)))
    return (value) => {
      const text = value ? minus(value.toExponential(digits)) : "0";
      return trim ? text.replace(/\.?0+e/, "e") : text;
    };
  if (!writers.has(key))
    writers.set(
      key,
      new Intl.NumberFormat("en", {
        minimumFractionDigits: trim ? 0 : decimals,
        maximumFractionDigits: decimals,
        useGrouping: "min2",
      }),
    );
  return (value) => minus(writers.get(key).format(value)).replace(/^−(0(\.0*)?)$/, "$1");
}
const largestOf = (numbers) => Math.max(...numbers.map(Math.abs));
// Of an axis from `low` to `high` that has about so many labels.
const ticks = (low, high, parts, trim) =>
  writer((high - low) / parts || Math.abs(high) / 100, largestOf([low, high]), trim);

const whole = (value) => new Intl.NumberFormat("en").format(value);
const number = (value) =>
  value === null ? "–" : writer(10 ** (order(Math.abs(value) || 1) - 3), Math.abs(value), true)(value);
// Shares that are not whole are never said to be 0 or 100 %.
function percent(share) {
  if (share === null) return "–";
  const extreme = share < 0.01 || (share >= 0.9995 && share < 1),
    figure = Number((100 * share).toFixed(extreme ? 2 : 1));
  if (figure === 100 && share < 1) return "over 99.99 %";
  return figure === 0 && share > 0 ? "under 0.01 %" : `${figure} %`;
}
const probable = (share) =>
  share > 0.9995 ? "over 99.9 %" : share < 0.0005 ? "under 0.1 %" : percent(share);
const plural = (count, noun) =>
  `${whole(count)} ${noun}${count === 1 || noun === "series" ? "" : "s"}`;
const signed = (value, say) => (value > 0 && Number(say(value)) !== 0 ? "+" : "") + say(value);
// To three digits of the largest of these, which are added up to something as large as `total`.
const amounts = (parts, total = 0) => {
  const largest = largestOf(parts) || Math.abs(total) || 1;
  return writer(10 ** (order(largest) - 2), Math.max(largest, Math.abs(total)));
};
// A regressor's numbers, finely enough to tell one series' from another's.
const target = classes
  ? null
  : (() => {
      const [low, high] = extent(
        cases.flatMap(({ label, answers: [{ score }] }) => [score, label ?? score]),
      );
      const size = largestOf([low, high]);
      return writer((high - low || size) / 1000, size, true);
    })();

const LONG = 36; // characters of a label that are shown
const flat = (text) => text.replace(/\s+/g, " ").trim() || "(blank)";
const cut = (text) => {
  const letters = [...flat(text)];
  return letters.length > LONG ? letters.slice(0, LONG - 1).join("") + "…" : flat(text);
};
// Names that differ at their ends can still be told apart.
const cutInside = (text) => {
  const letters = [...flat(text)];
  return letters.length > 24
    ? `${letters.slice(0, 11).join("")}…${letters.slice(-12).join("")}`
    : flat(text);
};
const label = (text) =>
  el("bdi", { class: "label", title: cut(text) === text ? null : text }, cut(text));
const inFull = (text) =>
  cut(text) === text.trim()
    ? label(text)
    : el(
        "details",
        { class: "long" },
        el("summary", {}, label(text)),
        el("bdi", { class: "full" }, text),
      );
// Positions of the classes, 2 before 10.
const alphabet = new Intl.Collator("en", { numeric: true });
const inOrder = classes
  ?.map((_, c) => c)
  .sort((a, b) => classes[a] - classes[b] || alphabet.compare(classes[a], classes[b]));

// Times: numbers, or milliseconds since 1970; `length` is from the first time of a series, in seconds
// if these are dates.
const timeAfter = (one, length) => one.first + length * (dated ? 1000 : 1);
const timeAt = (one, place) => timeAfter(one, place * one.span);
const brief = (one) => dated && one.span < 1; // then dates are counted in milliseconds from here
const since = (one) => Math.floor(one.first);
const sinceInWords = (one) => `ms since ${partsOfDate(since(one), one.span).join(" ")}`;
// Dates are said as finely as suits the length of the series.
const partsOfDate = (time, span) => {
  const unit = span > 7200 ? 60000 : span > 120 ? 1000 : 1;
  const [day, clock] = new Date(Math.round(time / unit) * unit).toISOString().split("T");
  return [day, clock.slice(0, { 60000: 5, 1000: 8, 1: 12 }[unit])];
};
const figureOf = (one) => {
  const from = brief(one) ? since(one) : 0,
    ends = [one.first - from, timeAt(one, 1) - from];
  const say = writer((ends[1] - ends[0] || largestOf(ends)) / 1000, largestOf(ends), true);
  return (time) => say(time - from);
};
const sayTime = (one, time) =>
  brief(one)
    ? `${figureOf(one)(time)} ${sinceInWords(one)}`
    : dated
      ? partsOfDate(time, one.span).join(" ")
      : figureOf(one)(time);
function saySpan(one, begin, end) {
  if (brief(one)) return `${figureOf(one)(begin)} to ${sayTime(one, end)}`;
  if (!dated || partsOfDate(begin, one.span)[0] !== partsOfDate(end, one.span)[0])
    return `${sayTime(one, begin)} to ${sayTime(one, end)}`;
  return `${sayTime(one, begin)} to ${partsOfDate(end, one.span)[1]}`;
}
