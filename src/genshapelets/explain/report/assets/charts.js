// Charts by ECharts, drawn anew when the theme changes and for print.
const charts = [];
const STYLES = ["solid", "dashed", "dotted", [9, 3, 2, 3]];
const PRINTED_WIDTH = 660;
let printing = false;

// Colours are the style sheet's.
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const isDark = () => style("color-scheme") === "dark";
const palette = () => style("--hues").split(" ");
const ink = () => ({
  text: style("--ink"),
  soft: style("--soft"),
  line: style("--line"),
  path: style("--path"),
  panel: style("--panel"),
});

// `option` makes the option anew each time, `describe` says it in words.
function chart(node, height, option, describe, renderer = "svg") {
  node.classList.add("chart");
  const one = { node, height, option, describe };
  one.api = echarts.init(node, null, { renderer, height: height() });
  charts.push(one);
  draw(one);
  return one;
}

function draw({ node, api, height, option, describe }) {
  const colours = ink();
  node.style.height = `${height()}px`;
  api.resize({ height: height(), width: printing ? PRINTED_WIDTH : "auto" });
  api.setOption(
    {
      animation: false,
      useUTC: true,
      textStyle: { fontFamily: "system-ui, sans-serif", color: colours.text },
      aria: { enabled: true, label: { description: describe() } },
      ...option(colours, palette()),
    },
    { notMerge: true },
  );
  node.setAttribute("role", "img");
  node.setAttribute("aria-label", describe());
}

const redraw = () => charts.forEach(draw);
const lettering = (colours) => ({ color: colours.soft, fontSize: 11, hideOverlap: true });
const labels = (colours, [low, high], parts, trim) => ({
  ...lettering(colours),
  formatter: ticks(low, high, parts, trim),
});
const axis = (colours, more = {}) => ({
  axisLine: { lineStyle: { color: colours.line } },
  axisTick: { show: false },
  axisLabel: lettering(colours),
  splitLine: { lineStyle: { color: colours.line } },
  nameTextStyle: { color: colours.soft, fontSize: 12, align: "left" },
  ...more,
});
const heading = (text, colours) => ({
  text,
  textStyle: { fontSize: 13, fontWeight: 600, color: colours.text },
  left: 0,
  top: 0,
});
const roomFor = (say, numbers) =>
  Math.max(48, 16 + 6.5 * Math.max(...numbers.map((value) => say(value).length)));
const tooltip = (colours, formatter) => ({
  trigger: "axis",
  renderMode: "richText",
  confine: true,
  formatter,
  backgroundColor: colours.panel,
  borderColor: colours.line,
  textStyle: { color: colours.text, fontSize: 12 },
  axisPointer: { lineStyle: { color: colours.soft } },
});
const plainly = (text) => cut(text).replace(/[{}|]/g, " "); // which mean something in a rich text

function lines(node, title, xs, curves, percentages) {
  const [low, high] = range(curves.flatMap(([, ys]) => ys.filter((y) => y !== null)));
  chart(
    node,
    () => 240,
    (colours, hues) => ({
      title: heading(title, colours),
      legend: {
        show: curves.length > 1,
        right: 0,
        top: 0,
        icon: "none",
        itemWidth: 0,
        textStyle: { color: colours.soft },
      },
      grid: {
        left: percentages ? 48 : roomFor(ticks(low, high, 5), [low, high]),
        right: 70,
        top: 40,
        bottom: 40,
      },
      tooltip: tooltip(colours, (items) =>
        [
          `epoch ${items[0].axisValue}`,
          ...items.map(
            (item) =>
              `${item.seriesName}: ${percentages ? percent(item.data[1]) : number(item.data[1])}`,
          ),
        ].join("\n"),
      ),
      xAxis: axis(colours, {
        type: "value",
        min: 1,
        max: Math.max(xs[xs.length - 1], 2),
        splitLine: { show: false },
        name: "epoch",
        nameLocation: "middle",
        nameGap: 24,
        minInterval: 1,
      }),
      yAxis: axis(colours, {
        type: "value",
        scale: true,
        axisLine: { show: false },
        axisLabel: percentages
          ? { ...lettering(colours), formatter: percent }
          : labels(colours, [low, high], 5),
      }),
      series: curves.map(([name, ys], i) => ({
        type: "line",
        name,
        showSymbol: xs.length === 1,
        data: xs.map((x, j) => [x, ys[j]]),
        lineStyle: { width: 2, color: hues[i], type: STYLES[i % 4] },
        itemStyle: { color: hues[i] },
        endLabel: { show: true, formatter: name, color: colours.soft, fontSize: 11 },
      })),
    }),
    () =>
      `${title} by epoch: ` +
      curves
        .map(([name, ys]) => `${name} from ${number(ys[0])} to ${number(ys[ys.length - 1])}`)
        .join("; "),
  );
}

function scatter(node) {
  const known = cases.map((one) => [one.label, one.answers[0].score]);
  const [low, high] = range(known.flat());
  chart(
    node,
    () => 380,
    (colours, hues) => ({
      grid: { left: roomFor(ticks(low, high, 5), [low, high]), right: 20, top: 30, bottom: 48 },
      tooltip: {
        ...tooltip(
          colours,
          (item) =>
            `${plainly(cases[item.dataIndex].name)}\ntrue ${target(item.data[0])}, predicted ${target(item.data[1])}`,
        ),
        trigger: "item",
      },
      xAxis: axis(colours, {
        type: "value",
        scale: true,
        name: "true",
        nameLocation: "middle",
        nameGap: 28,
        axisLabel: labels(colours, range(known.map(([true_]) => true_)), 5),
      }),
      yAxis: axis(colours, {
        type: "value",
        scale: true,
        name: "predicted",
        axisLabel: labels(colours, range(known.map(([, predicted]) => predicted)), 5),
      }),
      series: [
        {
          type: "scatter",
          data: known,
          symbolSize: 7,
          itemStyle: { color: hues[0], opacity: 0.55 },
        },
        {
          type: "line",
          data: [
            [low, low],
            [high, high],
          ],
          showSymbol: false,
          silent: true,
          lineStyle: { color: colours.soft, type: "dashed", width: 1 },
        },
      ],
    }),
    () =>
      `Predicted against true numbers of ${plural(known.length, "series")}; on the dashed line both are equal.`,
  ).api.on("click", ({ dataIndex, seriesType }) => seriesType === "scatter" && pick(dataIndex, true));
}
