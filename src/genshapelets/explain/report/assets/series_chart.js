// A series against time, and in the plane if it has two channels, with the marked windows.
const seriesHeight = () => (shown.length === 1 ? 320 : 70 + 130 * shown.length);
const seriesInWords = () => {
  const one = cases[state.series];
  return (
    `Series ${cut(one.name)} against time. ` +
    state.marked
      .map((k) => {
        const { begin, end } = windowOf(one, k);
        return `Shapelet ${k} from ${saySpan(timeAfter(one, begin), timeAfter(one, end), one.span)}.`;
      })
      .join(" ")
  );
};

function seriesOption(colours, hues) {
  const one = cases[state.series],
    curves = contents.curves[state.series].map(unpack);
  const each = seriesHeight() - 70,
    height = each / shown.length;
  const windows = state.marked.map((k) => windowOf(one, k));
  const ends = windows.map(({ end }) => timeAfter(one, end)),
    last = Math.max(timeAt(one, 1), ...ends);
  const series = [];
  curves.forEach(({ x, y }, c) => {
    series.push({
      type: "line",
      xAxisIndex: c,
      yAxisIndex: c,
      name: plainly(channelNames[shown[c]]),
      data: x.map((place, i) => [timeAt(one, place), y[i]]),
      symbol: "circle",
      symbolSize: 4,
      showSymbol: x.length <= 150,
      lineStyle: { color: colours.path, width: 1.5 },
      itemStyle: { color: colours.path },
      markArea: {
        silent: true,
        data: windows.map(({ begin, end }, i) => [
          {
            xAxis: timeAfter(one, begin),
            itemStyle: { color: hues[i % 6], opacity: 0.12 },
            label: {
              show: c === 0,
              formatter: String(state.marked[i]),
              position: "insideTopLeft",
              offset: [0, 13 * i],
              color: colours.text,
              fontSize: 11,
              fontWeight: 600,
            },
          },
          { xAxis: timeAfter(one, end) },
        ]),
      },
    });
    windows.forEach(({ begin, end, shape }, i) =>
      series.push({
        type: "line",
        xAxisIndex: c,
        yAxisIndex: c,
        name: `shapelet ${state.marked[i]}`,
        silent: true,
        showSymbol: false,
        tooltip: { show: false },
        z: 5,
        data: evenly(shape[c].length, timeAfter(one, begin), timeAfter(one, end)).map((time, j) => [
          time,
          shape[c][j],
        ]),
        lineStyle: { color: hues[i % 6], width: 4, type: STYLES[i % 4] },
        itemStyle: { color: hues[i % 6] },
      }),
    );
  });
  const bottom = (c) => c === shown.length - 1;
  return {
    grid: shown.map((_, c) => ({ left: 52, right: 18, top: 26 + c * height, height: height - 30 })),
    tooltip: tooltip(colours, (items) =>
      [
        sayTime(items[0].data[0], one.span),
        ...items
          .filter((item) => !item.seriesName.startsWith("shapelet "))
          .map((item) => `${item.seriesName}: ${number(item.data[1])}`),
      ].join("\n"),
    ),
    axisPointer: { link: [{ xAxisIndex: "all" }] },
    xAxis: shown.map((_, c) =>
      axis(colours, {
        gridIndex: c,
        type: dated ? "time" : "value",
        min: one.first,
        max: last,
        splitLine: { show: false },
        axisLabel: {
          show: bottom(c),
          color: colours.soft,
          fontSize: 11,
          hideOverlap: true,
          formatter: dated ? undefined : number,
        },
        name: bottom(c) ? "time" : "",
        nameLocation: "middle",
        nameGap: 26,
      }),
    ),
    yAxis: shown.map((d, c) =>
      axis(colours, {
        gridIndex: c,
        type: "value",
        scale: true,
        splitNumber: 3,
        axisLine: { show: false },
        name: channelNames.length > 1 ? cut(channelNames[d]) : "",
        nameGap: 8,
        axisLabel: { color: colours.soft, fontSize: 11, hideOverlap: true, formatter: number },
      }),
    ),
    series,
  };
}

function seriesInPlane() {
  const one = cases[state.series],
    curves = contents.curves[state.series].map(unpack);
  const places = [...new Set(curves.flatMap(({ x }) => x))].sort((a, b) => a - b);
  const shapes = state.marked.map((k, i) => ({
    curve: windowOf(one, k).shape,
    style: `--hue:${palette()[i % 6]};--dash:${dashes[i % 4]}`,
  }));
  byId("in-plane").replaceChildren(
    el("p", { class: "channel" }, "The same in the plane of both channels"),
    plane(
      curves.map((curve) => places.map((place) => valueAt(curve, place) ?? 0)),
      shapes,
      320,
      `Series ${cut(one.name)} in the plane, with the shapelets marked`,
    ),
  );
}
