// The charts over time: each trend of the selected region with its interval, gaps where there is no value, the parent
// and the children behind it in grey, and the pinned regions beside it.

import { h, s } from "./dom.js";
import { interval, number, shortDate, weekName } from "./format.js";
import { theme } from "./theme.js";

const LEFT = 40;
const RIGHT = 12;
const TOP = 8;
const BOTTOM = 30;
const NEAR = 6; // pixels
const RUG = 5; // the strip under the axis that shows weeks without a value

// chart: { title, weeks, week, lines: [{ label, cells, color, dash, why }], parent, children: [{ label, cells }] }
export function drawChart(chart, width, height) {
  const [colors, scale] = [theme(), scales(chart, width, height)];
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img" });
  const now = s("line", { y1: TOP - 4, y2: height - BOTTOM, stroke: colors.ink, "stroke-width": 1 });
  const glow = s("path", { stroke: colors.muted, "stroke-width": 1.8 });
  const marker = s("g", {});
  const lines = [...behind(chart, scale, colors), glow, ...ahead(chart, scale)];
  svg.append(axes(chart, scale, colors, width, height), rug(chart, scale, colors, height), now);
  svg.append(clipped(lines, width, height), marker);
  const point = (week, child = null) => {
    glow.setAttribute("d", child ? linePath(child.cells, scale) : "");
    mark(marker, chart, scale, week, colors, height);
  };
  const setWeek = (week) => {
    chart.week = week;
    now.setAttribute("x1", Math.round(scale.x(week)) + 0.5); // on the pixels, so that it stays thin
    now.setAttribute("x2", Math.round(scale.x(week)) + 0.5);
    svg.setAttribute("aria-label", summary(chart));
    point(week);
  };
  setWeek(chart.week);
  return { svg, setWeek, point, weekAt: scale.week, childAt: (week, y) => nearest(chart, scale, week, y) };
}

// No line leaves the chart's own room.
function clipped(lines, width, height) {
  const id = `clip-${++made}`;
  const room = s("rect", { x: LEFT, y: 0, width: Math.max(0, width - LEFT - RIGHT), height: height - BOTTOM + 3 });
  const look = { fill: "none", "stroke-linejoin": "round", "stroke-linecap": "round" };
  return s("g", {}, s("clipPath", { id }, room), s("g", { ...look, "clip-path": `url(#${id})` }, lines));
}

// The context: all children in one path, and the parent.
function behind(chart, scale, colors) {
  const children = s("path", {
    d: chart.children.map(({ cells }) => linePath(cells, scale)).join(""),
    stroke: colors.faint,
    "stroke-width": 0.8,
    "stroke-opacity": chart.children.length > 60 ? 0.45 : 0.75,
  });
  if (!chart.parent) return [children];
  const look = { stroke: colors.parent, "stroke-width": 1.4, "stroke-dasharray": "5 3" };
  return [children, s("path", { d: linePath(chart.parent, scale), ...look })];
}

// The selected and the pinned regions: bands first, the selected line on top.
function ahead(chart, scale) {
  const band = (line) => s("path", { d: bandPath(line.cells, scale), fill: line.color, "fill-opacity": 0.18 });
  return [...chart.lines.map(band), ...chart.lines.toReversed().flatMap((line) => strokes(line, scale))];
}

// The child whose line passes closest to a point, if it is close.
function nearest(chart, scale, week, y) {
  let [best, least] = [null, NEAR];
  for (const child of chart.children) {
    const far = child.cells[week] ? Math.abs(scale.y(child.cells[week].value) - y) : Infinity;
    if (far < least) [best, least] = [child, far];
  }
  return best;
}

let made = 0;

function scales(chart, width, height) {
  const last = Math.max(1, chart.weeks.length - 1);
  const room = width - LEFT - RIGHT - 12;
  const own = chart.lines.flatMap((line) => line.cells.map((cell) => (cell ? (cell.high ?? cell.value) : 0)));
  const above = (chart.parent ?? []).map((cell) => cell?.value ?? 0);
  const below = chart.children.flatMap(({ cells }) => cells.filter(Boolean).map((cell) => cell.value));
  below.sort((a, b) => a - b);
  const most95 = below[Math.floor(below.length * 0.95)] ?? 0; // a few extreme children do not press the rest flat
  const empty =
    !below.length &&
    [...chart.lines.map((line) => line.cells), chart.parent ?? []].every((cells) => !cells.some(Boolean));
  const top = Math.max(...own, ...above, most95) || 1;
  const step = niceStep(top / 3);
  const most = Math.max(step, Math.ceil((top * 1.02) / step) * step);
  return {
    empty,
    step,
    most,
    x: (week) => LEFT + 6 + (room * week) / last,
    y: (value) => height - BOTTOM - ((height - BOTTOM - TOP) * value) / most,
    week: (x) => Math.min(chart.weeks.length - 1, Math.max(0, Math.round(((x - LEFT - 6) / room) * last))),
    gap: room / last,
  };
}

export function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 2.5, 5, 10].map((step) => step * power).find((step) => step >= least * 0.999);
}

// The runs of weeks that have values: no line is drawn through a week without one.
function runs(cells) {
  const found = [];
  cells.forEach((cell, week) => {
    if (!cell) return;
    if (week && cells[week - 1]) found.at(-1).push(week);
    else found.push([week]);
  });
  return found;
}

const at = (scale, week, value) => `${scale.x(week).toFixed(1)},${scale.y(value).toFixed(1)}`;

function linePath(cells, scale) {
  return runs(cells)
    .map(
      (run) => `M${run.map((week) => at(scale, week, cells[week].value)).join("L")}${run.length === 1 ? "h0.01" : ""}`,
    )
    .join("");
}

function bandPath(cells, scale) {
  return runs(cells.map((cell) => (cell && cell.low !== null && cell.high !== null ? cell : null)))
    .map((run) => {
      const alone = run.length === 1;
      const up = run.map((week) => at(scale, week, cells[week].high));
      const down = run.toReversed().map((week) => at(scale, week, cells[week].low));
      return alone ? whisker(scale, run[0], cells[run[0]]) : `M${[...up, ...down].join("L")}Z`;
    })
    .join("");
}

function whisker(scale, week, cell) {
  const x = scale.x(week);
  return `M${x - 2},${scale.y(cell.high)}h4V${scale.y(cell.low)}h-4Z`;
}

function strokes(line, scale) {
  const path = s("path", {
    d: linePath(line.cells, scale),
    stroke: line.color,
    "stroke-width": 2,
    "stroke-dasharray": line.dash,
  });
  const alone = runs(line.cells).filter((run) => run.length === 1);
  const dots = alone.map(([week]) =>
    s("circle", { cx: scale.x(week), cy: scale.y(line.cells[week].value), r: 2.2, fill: line.color }),
  );
  return [path, ...dots];
}

function axes(chart, scale, colors, width, height) {
  const text = { fill: colors.muted, "font-size": 11, "font-family": "system-ui, sans-serif" };
  const group = s("g", {});
  if (scale.empty) {
    const middle = { x: (LEFT + width - RIGHT) / 2, y: (TOP + height - BOTTOM) / 2, "text-anchor": "middle" };
    group.append(s("text", { ...text, "font-size": 13, ...middle }, "no values"));
  }
  for (let value = 0; value <= (scale.empty ? 0 : scale.most * 1.0001); value += scale.step) {
    const y = scale.y(value);
    group.append(s("line", { x1: LEFT, x2: width - RIGHT, y1: y, y2: y, stroke: value ? colors.grid : colors.faint }));
    group.append(s("text", { ...text, x: LEFT - 6, y: y + 3.5, "text-anchor": "end" }, short(value)));
  }
  for (const { week, label } of dateTicks(chart.weeks, width)) {
    group.append(s("text", { ...text, x: scale.x(week), y: height - 6, "text-anchor": "middle" }, label));
    group.append(
      s("line", {
        x1: scale.x(week),
        x2: scale.x(week),
        y1: height - BOTTOM + RUG + 5,
        y2: height - BOTTOM + RUG + 9,
        stroke: colors.faint,
      }),
    );
  }
  return group;
}

const short = (value) => String(Number(value.toPrecision(3)));

// A label where a month begins, as many as there is room for; Januaries, and the first one, name the year. Where there
// are few weeks, some of them are labelled by their day.
function dateTicks(weeks, width) {
  const room = Math.max(2, Math.floor(width / 70));
  if (weeks.length <= 2 * FEW_WEEKS) {
    const every = Math.ceil(weeks.length / Math.min(room, FEW_WEEKS));
    return weeks
      .map((iso, week) => ({ week, label: dayMonth.format(utc(iso)) }))
      .filter(({ week }) => week % every === 0);
  }
  const starts = weeks.flatMap((iso, week) => (week && iso.slice(0, 7) !== weeks[week - 1].slice(0, 7) ? [week] : []));
  const months = (week) => utc(weeks[week]).getUTCFullYear() * 12 + utc(weeks[week]).getUTCMonth();
  const every = [1, 2, 3, 6, 12, 24, 48].find((n) => starts.length / n <= room) ?? 48;
  const ticks = starts.filter((week) => months(week) % every === 0);
  return ticks.map((week, i) => {
    const date = utc(weeks[week]);
    if (date.getUTCMonth() === 0) return { week, label: String(date.getUTCFullYear()) };
    return { week, label: (i ? month : monthYear).format(date) };
  });
}

const FEW_WEEKS = 8;
const utc = (iso) => new Date(`${iso}T00:00:00Z`);
const format = (parts) => new Intl.DateTimeFormat("en-GB", { ...parts, timeZone: "UTC" });
const [month, monthYear, dayMonth] = [
  format({ month: "short" }),
  format({ month: "short", year: "numeric" }),
  format({ day: "numeric", month: "short" }),
];

// Weeks without a value of the selected region: a hatched strip, so that a gap is not taken for a low value.
function rug(chart, scale, colors, height) {
  const group = s("g", { stroke: colors.muted, "stroke-width": 1, "stroke-opacity": 0.75 });
  const size = Math.max(2, scale.gap);
  chart.lines[0].cells.forEach((cell, week) => {
    if (cell) return;
    const x = scale.x(week);
    const y = height - BOTTOM + 3;
    const d = [];
    const [from, to] = [
      Math.max(scale.x(0) - 4, x - size / 2),
      Math.min(scale.x(chart.weeks.length - 1) + 4, x + size / 2),
    ];
    for (let i = from; i < to; i += 4) d.push(`M${i.toFixed(1)},${y + RUG}l${RUG - 1},${-RUG}`);
    group.append(s("path", { d: d.join(""), fill: "none" }));
  });
  return group;
}

function mark(group, chart, scale, week, colors, height) {
  group.replaceChildren();
  const x = scale.x(week);
  if (week !== chart.week)
    group.append(
      s("line", { x1: x, x2: x, y1: TOP, y2: height - BOTTOM, stroke: colors.muted, "stroke-dasharray": "2 2" }),
    );
  for (const line of chart.lines) {
    const cell = line.cells[week];
    if (cell)
      group.append(
        s("circle", {
          cx: x,
          cy: scale.y(cell.value),
          r: 4,
          fill: line.color,
          stroke: colors.surface,
          "stroke-width": 1.5,
        }),
      );
  }
}

function summary({ title, weeks, week, lines }) {
  const parts = lines.map(({ label, cells, why }) => {
    const given = cells.filter(Boolean);
    if (!given.length) return `${label}: ${why} in any week.`;
    const top = given.reduce((a, b) => (b.value > a.value ? b : a));
    const here = cells[week] ? `${number(cells[week].value)} in the chosen week` : `${why} in the chosen week`;
    const gaps = cells.length - given.length;
    return `${label}: ${here}; highest ${number(top.value)} in the week of ${shortDate(weeks[cells.indexOf(top)])}; ${gaps ? `${gaps} of ${cells.length} weeks without a value` : "a value in every week"}.`;
  });
  return `${title}, ${shortDate(weeks[0])} to ${shortDate(weeks.at(-1))}. ${parts.join(" ")}`;
}

// The values of one week beside a chart's title.
export function readout(chart, week) {
  return chart.lines.map((line, i) => {
    const cell = line.cells[week];
    const swatch =
      chart.lines.length > 1
        ? s(
            "svg",
            { width: 18, height: 10, "aria-hidden": "true" },
            s("line", {
              x1: 1,
              x2: 17,
              y1: 5,
              y2: 5,
              stroke: line.color,
              "stroke-width": 3,
              "stroke-dasharray": line.dash,
            }),
          )
        : null;
    const value = cell ? h("strong", {}, number(cell.value)) : h("span", { class: "none" }, line.why);
    const range = cell && cell.low !== null ? h("span", { class: "range" }, interval(cell)) : null;
    const name = chart.lines.length > 1 ? h("span", { class: "who" }, line.label) : null;
    return h("span", { class: i ? "read" : "read first" }, swatch, name, value, range);
  });
}

export function seriesTable(charts) {
  const [first] = charts;
  const columns = charts.flatMap((chart) => chart.lines.map((line) => ({ chart, line })));
  const head = columns.map(({ chart, line }) =>
    h("th", { scope: "col" }, first.lines.length > 1 ? `${chart.title}: ${line.label}` : chart.title),
  );
  const rows = first.weeks.map((iso, week) => {
    const cells = columns.map(({ line }) => {
      const cell = line.cells[week];
      return h(
        "td",
        { class: cell ? "number" : "none" },
        cell ? number(cell.value) : line.why,
        cell && cell.low !== null ? h("span", { class: "range" }, ` ${interval(cell)}`) : null,
      );
    });
    return h("tr", {}, h("th", { scope: "row" }, weekName(iso).replace("Week of ", "")), cells);
  });
  return h(
    "table",
    {},
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Week of"), head)),
    h("tbody", {}, rows.toReversed()),
  );
}
