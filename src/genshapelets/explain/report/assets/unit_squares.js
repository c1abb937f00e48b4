// Charts whose axes run from 0 to 100 %: ROC, precision and recall, calibration.
const isThere = (point) => point.every((share) => share !== null);
// A curve in the unit square, with the threshold that is chosen.
const square = (node, [title, below, beside], curve, side) =>
  chart(
    node,
    () => 290,
    (colours, hues) => ({
      ...unitSquare(title, below, beside, colours),
      series: [
        {
          type: "line",
          data: curve.filter(isThere),
          showSymbol: false,
          lineStyle: { width: 2, color: hues[0] },
        },
        {
          type: "scatter",
          data: [curve[side.at]].filter(isThere),
          symbolSize: 11,
          itemStyle: { color: hues[1], borderColor: colours.panel, borderWidth: 2 },
        },
        ...(title === "ROC" ? [diagonal(colours)] : []),
      ],
    }),
    () => {
      const [x, y] = curve[side.at].map(percent);
      return `${title}: at the chosen threshold ${below} ${x}, ${beside} ${y}`;
    },
  );

const diagonal = (colours) => ({
  type: "line",
  data: [
    [0, 0],
    [1, 1],
  ],
  showSymbol: false,
  silent: true,
  lineStyle: { color: colours.soft, type: "dashed", width: 1 },
});
const unitSquare = (title, below, beside, colours) => ({
  title: heading(title, colours),
  grid: { left: 52, right: 14, top: 48, bottom: 44 },
  xAxis: axis(colours, {
    type: "value",
    min: 0,
    max: 1,
    name: below,
    nameLocation: "middle",
    nameGap: 26,
    nameTextStyle: { color: colours.soft, fontSize: 12, align: "center" },
    axisLabel: { ...lettering(colours), formatter: percent },
  }),
  yAxis: axis(colours, {
    type: "value",
    min: 0,
    max: 1,
    name: beside,
    axisLabel: { ...lettering(colours), formatter: percent },
  }),
});

function calibration(node, two, sought) {
  const turn = (share) => (sought ? share : 1 - share);
  const bins = two.calibration.map(([said, share, low, high, count]) => ({
    said: turn(said),
    share: turn(share),
    ends: [turn(low), turn(high)],
    count,
  }));
  chart(
    node,
    () => 290,
    (colours, hues) => ({
      ...unitSquare("Calibration", "probability that the model says", "share of the class", colours),
      tooltip: {
        ...tooltip(colours, ({ dataIndex }) => {
          const { said, share, count } = bins[dataIndex];
          return `${plural(count, "series")}: said ${percent(said)}, in truth ${percent(share)}`;
        }),
        trigger: "item",
      },
      series: [
        {
          type: "scatter",
          data: bins.map(({ said, share }) => [said, share]),
          symbolSize: 8,
          itemStyle: { color: hues[0] },
          z: 3,
        },
        ...bins.map(({ said, ends }) => ({
          type: "line",
          silent: true,
          showSymbol: false,
          data: ends.map((end) => [said, end]),
          lineStyle: { color: hues[0], width: 1.5 },
        })),
        diagonal(colours),
      ],
    }),
    () =>
      `Calibration: ` +
      bins.map(({ said, share }) => `said ${percent(said)}, in truth ${percent(share)}`).join("; "),
  );
}
