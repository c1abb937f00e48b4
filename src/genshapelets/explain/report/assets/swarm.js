// One dot for each series and shapelet: what it adds, and how well it fits.
const ROWS = 12;
function beeswarm() {
  const { swarm } = contents;
  if (!swarm || cases.length < 2) return null;
  const above = swarm.above.map(values);
  const place = el("div"),
    first = classes?.length === 2 ? (contents.scores?.two?.sought ?? 1) : (inOrder?.[0] ?? 0);
  let answer = first,
    rows = rowsOf(answer, above),
    drawn;
  const menu = el(
    "select",
    {
      id: "swarm-class",
      onchange: ({ target: { value } }) => {
        answer = Number(value);
        rows = rowsOf(answer, above);
        draw(drawn);
      },
    },
    inOrder?.map((c) => el("option", { value: c, selected: c === first }, cut(classes[c]))) ?? [],
  );
  // It is drawn when it has a width, which it has on the page.
  requestAnimationFrame(() => {
    drawn = chart(
      place,
      () => 90 + 34 * rows.length,
      (colours) => swarmOption(rows, answer, colours),
      () =>
        `Contributions of ${plural(rows.length, "shapelet")} to ${plural(cases.length, "series")}: ` +
        rows.map(({ k, from, to }) => `shapelet ${k} from ${number(from)} to ${number(to)}`).join("; "),
      "canvas",
    );
    drawn.api.on("click", ({ data }) => data && pick(data[3], true));
  });
  return el(
    "div",
    { class: "panel", id: "swarm" },
    el("h3", {}, "What each shapelet adds, over all series"),
    el(
      "p",
      { class: "soft" },
      classes
        ? "Each dot is a series. To the right the shapelet speaks for the class, to the left against it. "
        : "Each dot is a series. To the right the shapelet raises the number, to the left it lowers it. ",
      "The most telling shapelets come first. ",
      el("span", { class: "hint" }, "Choose a dot to see why that series is predicted as it is."),
    ),
    classes ? el("label", { class: "chooser" }, "What is added to the score of ", menu) : null,
    place,
    el(
      "p",
      { class: "soft key-of-maps" },
      "fits best",
      el("span", { style: `background:linear-gradient(to right, ${HEAT.join(",")})` }),
      "fits worst",
    ),
  );
}

function rowsOf(answer, above) {
  const { shapelets: numbers, weights } = contents.swarm;
  return numbers
    .map((k, i) => {
      const parts = above[i].map((value) => weights[answer][i] * value);
      const size = parts.reduce((sum, part) => sum + Math.abs(part), 0);
      return { k, parts, size, above: above[i] };
    })
    .filter(({ size }) => size > 0)
    .sort((one, other) => other.size - one.size)
    .slice(0, ROWS)
    .map((one) => ({ ...one, from: Math.min(...one.parts), to: Math.max(...one.parts) }));
}

// Dots of one row that would lie on each other are spread upwards and downwards.
function spread(parts, [low, high]) {
  const column = parts.map((part) => Math.round((120 * (part - low)) / (high - low))),
    counts = new Map();
  const before = column.map((place) => {
    counts.set(place, (counts.get(place) ?? 0) + 1);
    return counts.get(place) - 1;
  });
  const step = Math.min(0.12, 0.84 / Math.max(...counts.values()));
  return before.map((count) => Math.ceil(count / 2) * step * (count % 2 ? 1 : -1));
}

function swarmOption(rows, answer, colours) {
  const [low, high] = range(...rows.map(({ parts }) => parts), [0]);
  const data = rows.flatMap(({ parts, above }, row) => {
    const offsets = spread(parts, [low, high]),
      sorted = [...above].sort((a, b) => a - b),
      at = (share) => sorted[Math.round(share * (sorted.length - 1))];
    const [best, worst] = [at(0.05), at(0.95)];
    return parts.map((part, n) => {
      const badly = worst > best ? (above[n] - best) / (worst - best) : 0.5;
      return [part, row + offsets[n], Math.min(Math.max(badly, 0), 1), n, row];
    });
  });
  return {
    grid: { left: 92, right: 14, top: 8, bottom: 44 },
    tooltip: {
      ...tooltip(
        colours,
        ({ data: [part, , , n, row] }) =>
          `Series ${plainly(cases[n].name)}\nshapelet ${rows[row].k} adds ${number(part)}`,
      ),
      trigger: "item",
    },
    xAxis: axis(colours, {
      type: "value",
      min: low,
      max: high,
      name: `adds to the ${classes ? `score of ${cut(classes[answer])}` : "number"}`,
      nameLocation: "middle",
      nameGap: 26,
      nameTextStyle: { color: colours.soft, fontSize: 12, align: "center" },
      axisLabel: labels(colours, [low, high], 5, true),
    }),
    yAxis: axis(colours, {
      type: "value",
      inverse: true,
      min: -1,
      max: rows.length,
      interval: 1,
      axisLine: { show: false },
      axisLabel: {
        ...lettering(colours),
        formatter: (row) => (rows[row] ? `shapelet ${rows[row].k}` : ""),
      },
    }),
    series: [
      {
        type: "scatter",
        data,
        progressive: 0, // at once, for print
        symbolSize: 5,
        itemStyle: {
          color: ({ data: [, , badly] }) => HEAT[Math.round(badly * (HEAT.length - 1))],
          borderColor: colours.soft,
          borderWidth: isDark() ? 0.7 : 0,
        },
        markLine: {
          silent: true,
          symbol: "none",
          label: { show: false },
          lineStyle: { color: colours.soft, type: "solid", width: 1 },
          data: [{ xAxis: 0 }],
        },
      },
    ],
  };
}
