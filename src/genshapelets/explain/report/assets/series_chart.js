// A series against time, and in the plane if it has two channels, with the marked windows.
const seriesHeight = () => {
  const { channels } = cases[state.series];
  return channels.length === 1 ? 320 : 70 + 130 * channels.length;
};
const seriesInWords = () => {
  const one = cases[state.series];
  return (
    `Series ${cut(one.name)} against time. ` +
    state.marked
      .map((k) => {
        const { begin, end } = windowOf(one, k);
        return `Shapelet ${k} from ${saySpan(one, timeAfter(one, begin), timeAfter(one, end))}.`;
      })
      .join(" ")
  );
};

function seriesOption(colours, hues) {
  const one = cases[state.series],
    shown = one.channels,
    curves = contents.curves[state.series].map(unpack);
  const each = seriesHeight() - 70,
    height = each / shown.length;
  const from = brief(one) ? since(one) : 0;
  const after = (length) => timeAfter(one, length) - from;
  const windows = state.marked.map((k) => windowOf(one, k));
  const last = after(Math.max(one.span, ...windows.map(({ end }) => end)));
  const series = [];
  curves.forEach(({ x, y }, c) => {
    const unseen = !x.length;
    series.push({
      id: `channel ${c}`,
      type: "line",
      xAxisIndex: c,
      yAxisIndex: c,
      name: plainly(channelNames[shown[c]]),
      data: unseen
        ? [after(0), last].map((time) => [time, contents.centre[shown[c]]])
        : x.map((place, i) => [after(place * one.span), y[i]]),
      symbol: "circle",
      symbolSize: 4,
      showSymbol: x.length <= 150 && !unseen,
      lineStyle: { color: colours.path, width: 1.5, type: unseen ? "dotted" : "solid" },
      itemStyle: { color: colours.path },
      markArea: {
        silent: true,
        data: windows.map(({ begin, end }, i) => [
          {
            xAxis: after(begin),
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
          { xAxis: after(end) },
        ]),
      },
    });
    const times = x.map((place) => after(place * one.span));
    if (!unseen) series.push(...heldParts(c, [after(0), last], times, y, colours));
    windows.forEach(({ begin, end, shape, strength }, i) => {
      const own = shape.get(shown[c]);
      if (!own) return;
      series.push({
        type: "line",
        xAxisIndex: c,
        yAxisIndex: c,
        silent: true,
        showSymbol: false,
        tooltip: { show: false },
        z: 5,
        data: evenly(own.length, after(begin), after(end)).map((time, j) => [time, own[j]]),
        lineStyle: {
          color: hues[i % 6],
          width: 4,
          type: STYLES[i % 4],
          opacity: opacity(strength.get(shown[c])),
        },
        itemStyle: { color: hues[i % 6] },
      });
    });
  });
  const inDates = dated && !brief(one);
  const bottom = (c) => c === shown.length - 1;
  const reach = curves.map(({ x, y }, c) =>
    range(
      x.length ? y : [contents.centre[shown[c]]],
      ...windows.map(({ shape }) => shape.get(shown[c]) ?? []),
    ),
  );
  const left = Math.max(...reach.map((ends) => roomFor(ticks(...ends, 3), ends)));
  return {
    grid: shown.map((_, c) => ({ left, right: 18, top: 26 + c * height, height: height - 30 })),
    tooltip: tooltip(colours, (items) =>
      [
        sayTime(one, items[0].data[0] + from),
        ...curves.flatMap(({ x }, c) =>
          items
            .filter((item) => item.seriesId === `channel ${c}`)
            .map(({ seriesName, data }) => {
              const value = x.length ? ticks(...reach[c], 100)(data[1]) : UNSEEN;
              return `${seriesName}: ${value}`;
            }),
        ),
      ].join("\n"),
    ),
    axisPointer: { link: [{ xAxisIndex: "all" }] },
    xAxis: shown.map((_, c) =>
      axis(colours, {
        gridIndex: c,
        type: inDates ? "time" : "value",
        min: after(0),
        max: last,
        splitLine: { show: false },
        axisLabel: {
          // Finer than its steps, as the last label is wherever the series ends.
          ...(inDates ? lettering(colours) : labels(colours, [after(0), last], 50, true)),
          show: bottom(c),
        },
        name: !bottom(c) ? "" : brief(one) ? sinceInWords(one) : timeTitle,
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
        name:
          (channelNames.length > 1 ? channelTitle(d) : unitOf(d).trim()) +
          (curves[c].x.length ? "" : ` (${UNSEEN})`),
        nameGap: 8,
        axisLabel: labels(colours, reach[c], 3),
      }),
    ),
    series,
  };
}

// Before its first and after its last observation a channel is held at that value.
const heldParts = (c, [first, last], times, ys, colours) =>
  [
    [first, times[0], ys[0]],
    [times[times.length - 1], last, ys[ys.length - 1]],
  ]
    .filter(([from, to]) => to - from > 1e-3 * (last - first))
    .map(([from, to, value]) => ({
      type: "line",
      xAxisIndex: c,
      yAxisIndex: c,
      silent: true,
      showSymbol: false,
      tooltip: { show: false },
      data: [
        [from, value],
        [to, value],
      ],
      lineStyle: { color: colours.path, width: 1.5, type: "dashed" },
    }));

function seriesInPlane() {
  const one = cases[state.series];
  const shapes = state.marked.map((k, i) => {
    const [, , begin, ...places] = one.windows[k];
    return {
      curve: shapePlane(cardOf.get(k), state.series, begin, places),
      style: `--hue:${palette()[i % 6]};--dash:${dashes[i % 4]}`,
    };
  });
  const both = `${cut(channelNames[0])} across and ${cut(channelNames[1])} up`;
  byId("in-plane").replaceChildren(
    el("p", { class: "channel" }, "The same in the plane of both channels"),
    plane(
      [[seriesPlane(state.series), "path"]],
      shapes,
      320,
      `Series ${cut(one.name)} in the plane of ${both}, with the shapelets marked`,
    ),
  );
}
