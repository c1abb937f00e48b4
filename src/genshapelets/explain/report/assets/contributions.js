// What each shapelet adds to an answer, as a table with bars.
// What would change the answer: another fit of the shapelet that counts most, all else the same.
function whatIf({ whatIf: asked, answers: [{ answer }] }) {
  if (!asked) return "";
  const { shapelet, closer, further, never } = asked;
  const turns = [
    [closer, "better", "or less"],
    [further, "worse", "or more"],
  ].filter(([turn]) => turn);
  const name = (c) => el("strong", {}, label(classes[c]));
  const usual = (times) => `${number(times)} × the usual distance`;
  if (turns.length)
    return turns.map(([[times, c], how, bound]) => [
      `If shapelet ${shapelet} alone fitted ${how} (${usual(times)} ${bound}), the model would say `,
      name(c),
      ". ",
    ]);
  const needed = never.map(([times, c]) => [
    " For ",
    name(c),
    times < 0
      ? " it would have to fit better than perfectly."
      : ` it would have to be ${usual(times)} away, further than any series is.`,
  ]);
  const none = `No fit of shapelet ${shapelet} alone can change that the model says `;
  return [none, name(answer), ".", needed];
}

// One that fits worse than usual counts too: by its absence.
function said(alike, part) {
  const there = alike ? "is there" : "is absent";
  if (!classes) return `${there}, which ${part > 0 ? "raises" : "lowers"} the number`;
  return `${there}, which speaks ${part > 0 ? "for" : "against"} it`;
}

function contributions() {
  const one = cases[state.series],
    asked = one.answers[state.answer],
    answer = asked.answer;
  const focused = document.activeElement?.dataset?.key,
    bias = contents.bias[answer];
  const sizes = [...asked.parts, ...asked.beside].map((cells) => cells.at(-1)).concat(asked.rest ?? 0),
    largest = largestOf(sizes) || 1;
  const say = amounts(sizes, largestOf([bias, asked.score]));
  const rows = asked.parts.map(([k, part]) => {
    const { begin, end } = windowOf(one, k),
      [near, alike] = one.windows[k],
      from = timeAfter(one, begin),
      to = timeAfter(one, end);
    return el(
      "tr",
      { "data-shapelet": k, "data-begin": from, "data-end": to, "data-part": part },
      el(
        "th",
        { scope: "row" },
        el(
          "button",
          {
            type: "button",
            class: "mark",
            "data-key": `mark-${k}`,
            "aria-pressed": String(state.marked.includes(k)),
            "aria-label": `Mark shapelet ${k} in the series`,
            onclick: () => toggle(k),
          },
          String(k),
        ),
        state.marked.includes(k) ? swatch(state.marked.indexOf(k)) : null,
      ),
      el(
        "td",
        { class: "match" },
        said(alike, part),
        el(
          "span",
          { class: "soft" },
          cardOf.get(k).tag ? `${cardOf.get(k).tag}: ` : "",
          `${number(near)} × the usual distance, ${alike ? "at" : "at best at"} `,
          `${saySpan(one, from, to)} ${contents.timeUnit}`.trim(),
        ),
      ),
      el("td", {}, tilt(part / largest)),
      el("td", { class: "amount" }, signed(part, say)),
    );
  });
  const line = (name, cells, kind) =>
    el("tr", { class: kind }, el("th", { scope: "row", colspan: 2 }, name), cells);
  for (const [name, value, part] of asked.beside)
    rows.push(
      line(
        [label(name), ` = ${/^-[\d.]/.test(value) ? minus(value) : value}`],
        [
          el("td", {}, tilt(part / largest)),
          el("td", { class: "amount", "data-part": part }, signed(part, say)),
        ],
        "beside",
      ),
    );
  const left = shapelets.length - asked.parts.length,
    others = [
      [left, "shapelet"],
      [asked.others - left, "covariate"],
    ].filter(([count]) => count);
  rows.unshift(
    line(
      "Starting point: a usual training series",
      [el("td"), el("td", { class: "amount", "data-part": bias }, signed(bias, say))],
      "start",
    ),
  );
  if (asked.rest !== null)
    rows.push(
      line(
        asked.others === 1
          ? `The other ${others[0][1]}`
          : `${others.length > 1 ? "" : "All "}${others.map(([count, what]) => plural(count, `other ${what}`)).join(" and ")} together`,
        [
          el("td", {}, tilt(asked.rest / largest)),
          el("td", { class: "amount", "data-part": asked.rest }, signed(asked.rest, say)),
        ],
        "rest",
      ),
    );
  rows.push(
    line(
      classes ? "Score of the class (logit): the higher, the more probable" : "Predicted number",
      [
        el("td"),
        el(
          "td",
          { class: "amount", id: "score", "data-score": asked.score },
          signed(asked.score, say),
        ),
      ],
      "sum",
    ),
  );
  byId("contributions").replaceChildren(
    el(
      "h3",
      {},
      classes
        ? ["What speaks for ", label(classes[answer]), ", and what against"]
        : "What raises the number, and what lowers it",
    ),
    one.answers.length > 1
      ? el(
          "div",
          { class: "controls", role: "group", "aria-label": "Class that is explained" },
          one.answers.map((other, i) =>
            el(
              "button",
              {
                type: "button",
                "data-key": `answer-${i}`,
                "aria-pressed": String(i === state.answer),
                onclick: () => {
                  state.answer = i;
                  legend();
                  contributions();
                },
              },
              label(classes[other.answer]),
              ` · ${probable(other.probability)}`,
            ),
          ),
        )
      : "",
    el(
      "p",
      { class: "soft" },
      classes
        ? "Bars to the right speak for it, bars to the left against it, "
        : "Bars to the right raise it, bars to the left lower it, ",
      "counted from a usual training series. ",
      `${whole(asked.parts.length)} of ${plural(shapelets.length, "shapelet")} `,
      asked.beside.length
        ? `and ${whole(asked.beside.length)} of ${plural(contents.model.covariates, "covariate")} `
        : "",
      asked.parts.length + asked.beside.length === 1 ? "carries " : "carry ",
      `${percent(asked.carried)} of all that is added and taken away. `,
      el("span", { class: "hint" }, "Press a number to mark its window above."),
    ),
    table(
      classes ? "Contributions to the score" : "Contributions to the number",
      [asked.beside.length ? "Shapelet, covariate" : "Shapelet", "match", "", "adds"],
      rows,
      { class: "parts" },
    ),
    el("p", { class: "soft", id: "what-if" }, state.answer === 0 ? whatIf(one) : ""),
  );
  if (focused) byId("contributions").querySelector(`[data-key="${focused}"]`)?.focus();
}
