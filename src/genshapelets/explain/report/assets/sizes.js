// How good models of fewer and of more shapelets were, which training tried on its way.
function sizesPanel(sizes) {
  if (!sizes) return null;
  const { n_shapelets: counts, loss, loss_error: errors, score, scoreName } = sizes;
  const best = loss.indexOf(Math.min(...loss)),
    own = counts.indexOf(shapelets.length),
    figure = scoreName.includes("accuracy") ? percent : number;
  const places = [el("div"), el("div")],
    near = own >= 0 && loss[own] <= loss[best] + errors[best];
  const fewest = near && counts.every((_, i) => i >= own || loss[i] > loss[best] + errors[best]);
  const panel = el(
    "div",
    { class: "panel", id: "sizes" },
    el("h3", {}, "How many shapelets does it need?"),
    el(
      "p",
      {},
      `Training tried models of ${whole(counts[0])} to ${whole(counts[counts.length - 1])} shapelets. `,
      `On series held out, the loss was lowest with ${whole(counts[best])} `,
      `(${number(loss[best])} ± ${number(errors[best])}). `,
      own < 0 ? "" : `This model has ${whole(shapelets.length)}: its loss was ${number(loss[own])}, `,
      own < 0 ? "" : `its ${scoreName} ${figure(score[own])}. `,
      fewest && own !== best
        ? "It is the smallest that is as good as the best, within one standard error."
        : "",
    ),
    el("div", { class: "columns" }, places),
    el(
      "details",
      {},
      el("summary", {}, "As a table"),
      table(
        "Loss and score by number of shapelets",
        ["Shapelets", "loss", "± standard error", scoreName],
        counts.map((count, i) =>
          row(whole(count), number(loss[i]), number(errors[i]), figure(score[i])),
        ),
      ),
    ),
  );
  const title = scoreName[0].toUpperCase() + scoreName.slice(1);
  requestAnimationFrame(() => {
    sizeChart(places[0], "Loss on series held out", counts, loss, errors, own, number);
    sizeChart(places[1], `${title} on series held out`, counts, score, null, own, figure);
  });
  return panel;
}

function sizeChart(node, title, counts, ys, errors, own, say) {
  const ends = errors ? ys.flatMap((y, i) => [y - errors[i], y + errors[i]]) : ys,
    [low, high] = range(ends),
    points_ = counts.map((count, i) => [count, ys[i]]);
  chart(
    node,
    () => 240,
    (colours, hues) => ({
      title: heading(title, colours),
      grid: { left: 62, right: 20, top: 40, bottom: 44 },
      tooltip: tooltip(colours, ([{ data }]) => `${plural(data[0], "shapelet")}: ${say(data[1])}`),
      xAxis: axis(colours, {
        type: "log",
        min: counts[0],
        max: Math.max(counts[counts.length - 1], counts[0] + 1),
        splitLine: { show: false },
        name: "shapelets",
        nameLocation: "middle",
        nameGap: 26,
        axisLabel: { ...lettering(colours), formatter: whole },
      }),
      yAxis: axis(colours, {
        type: "value",
        scale: true,
        axisLine: { show: false },
        axisLabel:
          say === percent
            ? { ...lettering(colours), formatter: percent }
            : labels(colours, [low, high], 5),
      }),
      series: [
        {
          type: "line",
          data: points_,
          symbol: "circle",
          symbolSize: 6,
          showSymbol: true,
          lineStyle: { width: 2, color: hues[0] },
          itemStyle: { color: hues[0] },
        },
        ...(errors ?? []).map((error, i) => ({
          type: "line",
          silent: true,
          showSymbol: false,
          tooltip: { show: false },
          data: [
            [counts[i], ys[i] - error],
            [counts[i], ys[i] + error],
          ],
          lineStyle: { width: 1.5, color: hues[0] },
        })),
        {
          type: "scatter",
          silent: true,
          tooltip: { show: false },
          data: own < 0 ? [] : [points_[own]],
          symbolSize: 14,
          itemStyle: { color: "transparent", borderColor: hues[1], borderWidth: 3 },
          label: {
            show: true,
            formatter: "this model",
            position: "top",
            color: colours.text,
            fontSize: 11,
          },
        },
      ],
    }),
    () =>
      `${title} by number of shapelets: ` +
      points_.map(([count, y]) => `${whole(count)}: ${say(y)}`).join("; "),
  );
}
