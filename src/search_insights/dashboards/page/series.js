// Draw the time series of a trend: the selected and the pinned regions with their intervals, gaps where a value is
// missing, and the parent and the children of the selected region as context in grey.

import { h, s } from "./dom.js";
import { formatInterval, formatNumber, formatStep, longDate, shortDate } from "./format.js";
import { say } from "./messages.js";
import { parentMark, periodBand } from "./marks.js";
import { theme } from "./theme.js";
import { dateTicks, monthStarts } from "./ticks.js";

const LEFT = 40;
const RIGHT = 12;
const TOP = 8;
const BOTTOM = 30;
const HOVER_DISTANCE = 6; // pixels
const STRIP = 5; // height of the strip under the axis that marks weeks without a value

const LETTER_ROOM = 13; // pixels between the letters of two breaks

// chart: { title, weeks, week, lines: [{ label, cells, color, dash, missing(week) }], parent,
//   children: [{ label, cells }], breaks: [{ week, alone, label, text }] }
export function drawChart(chart, width, height) {
  const [colors, scale] = [theme(), scales(chart, width, height)];
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img" });
  const weekLine = s("line", { y1: TOP - 4, y2: height - BOTTOM, stroke: colors.ink, "stroke-width": 1 });
  const highlight = s("path", { stroke: colors.muted, "stroke-width": 1.8 });
  const markers = s("g", {});
  const period = periodBand(scale, colors, TOP - 4, height - BOTTOM);
  svg.append(period.element);
  const lines = [...contextLines(chart, scale, colors), highlight, ...regionLines(chart, scale)];
  svg.append(axes(chart, scale, colors, width, height), missingStrip(chart, scale, colors, height));
  svg.append(breakMarks(chart, scale, colors, height), weekLine);
  svg.append(clipped(lines, width, height), markers);
  const markWeek = (week, child = null) => {
    highlight.setAttribute("d", child ? linePath(child.cells, scale) : "");
    drawMarkers(markers, chart, scale, week, colors, height);
  };
  const setWeek = (week) => {
    chart.week = week;
    weekLine.setAttribute("x1", Math.round(scale.x(week)) + 0.5); // aligned to pixels, so that the line stays thin
    weekLine.setAttribute("x2", Math.round(scale.x(week)) + 0.5);
    svg.setAttribute("aria-label", summary(chart));
    markWeek(week);
  };
  setWeek(chart.week);
  return { svg, setWeek, markWeek, setPeriod: period.show, weekAt: scale.week, childAt: (week, y) => nearestChild(chart, scale, week, y) };
}

let clipCount = 0;

// Clip lines to the plot area.
function clipped(lines, width, height) {
  const id = `clip-${++clipCount}`;
  const area = s("rect", { x: LEFT, y: 0, width: Math.max(0, width - LEFT - RIGHT), height: height - BOTTOM + 3 });
  const style = { fill: "none", "stroke-linejoin": "round", "stroke-linecap": "round" };
  return s("g", {}, s("clipPath", { id }, area), s("g", { ...style, "clip-path": `url(#${id})` }, lines));
}

// The context: all children as one path, and the parent.
function contextLines(chart, scale, colors) {
  const children = s("path", {
    d: chart.children.map(({ cells }) => linePath(cells, scale)).join(""),
    stroke: colors.faint,
    "stroke-width": 0.8,
    "stroke-opacity": chart.children.length > 60 ? 0.45 : 0.75,
  });
  if (!chart.parent) return [children];
  const style = { stroke: colors.parent, "stroke-width": 1.4, "stroke-dasharray": "5 3" };
  return [children, s("path", { d: linePath(chart.parent, scale), ...style })];
}

// The selected and the pinned regions: bands below lines, the selected region on top.
function regionLines(chart, scale) {
  const band = (line) => s("path", { d: bandPath(line.cells, scale), fill: line.color, "fill-opacity": 0.18 });
  return [...chart.lines.map(band), ...chart.lines.toReversed().flatMap((line) => strokes(line, scale))];
}

// The child whose line is nearest to a point, or null if none is near.
function nearestChild(chart, scale, week, y) {
  let [nearest, least] = [null, HOVER_DISTANCE];
  for (const child of chart.children) {
    const distance = child.cells[week] ? Math.abs(scale.y(child.cells[week].value) - y) : Infinity;
    if (distance < least) [nearest, least] = [child, distance];
  }
  return nearest;
}

function scales(chart, width, height) {
  const last = Math.max(1, chart.weeks.length - 1);
  const broken = new Set(chart.breaks.filter(({ alone }) => !alone).map(({ week }) => week));
  const plotWidth = width - LEFT - RIGHT - 12;
  const own = chart.lines.flatMap((line) => line.cells.map((cell) => (cell ? (cell.high ?? cell.value) : 0)));
  const parent = (chart.parent ?? []).map((cell) => cell?.value ?? 0);
  const children = chart.children.flatMap(({ cells }) => cells.filter(Boolean).map((cell) => cell.value));
  children.sort((a, b) => a - b);
  const most95 = children[Math.floor(children.length * 0.95)] ?? 0; // a few extreme children must not flatten the rest
  const empty =
    !children.length &&
    [...chart.lines.map((line) => line.cells), chart.parent ?? []].every((cells) => !cells.some(Boolean));
  const top = Math.max(...own, ...parent, most95) || 1;
  const step = niceStep(top / Math.max(3, Math.round(height / 90)));
  const axisTop = Math.max(step, Math.ceil((top * 1.02) / step) * step);
  return {
    empty,
    step,
    axisTop,
    x: (week) => LEFT + 6 + (plotWidth * week) / last,
    y: (value) => height - BOTTOM - ((height - BOTTOM - TOP) * value) / axisTop,
    week: (x) => Math.min(chart.weeks.length - 1, Math.max(0, Math.round(((x - LEFT - 6) / plotWidth) * last))),
    weekWidth: plotWidth / last,
    broken,
  };
}

// A, B, C, ... and after Z by number.
export const breakLetter = (i) => (i < 26 ? String.fromCharCode(65 + i) : String(i + 1));

// A dashed line before the first week of each break, or in the week that a note is about, with its letter; the list
// below the charts explains it. Where letters would cover each other only the first is shown.
function breakMarks(chart, scale, colors, height) {
  const group = s("g", { class: "break-marks" });
  let free = -Infinity;
  chart.breaks.forEach(({ week, alone }, i) => {
    const x = Math.round(scale.x(week) - (alone ? 0 : scale.weekWidth / 2)) + 0.5;
    const style = { stroke: colors.ink, "stroke-dasharray": alone ? "1 4" : "3 3", "stroke-opacity": 0.7 };
    group.append(s("line", { x1: x, x2: x, y1: TOP - 4, y2: height - BOTTOM, ...style }));
    if (x < free) return;
    free = x + LETTER_ROOM;
    const box = { x: x - 6, y: 0, width: 12, height: 13, rx: 3, fill: colors.surface, stroke: colors.muted };
    const text = { x, y: 10, "text-anchor": "middle", "font-size": 10, "font-weight": 650, fill: colors.ink };
    group.append(s("rect", box), s("text", { ...text, "font-family": "system-ui, sans-serif" }, breakLetter(i)));
  });
  return group;
}

// The smallest round number that is not below `least`.
function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 2.5, 5, 10].map((step) => step * power).find((step) => step >= least * 0.999);
}

// Runs of consecutive weeks with values: no line is drawn through a week without a value, or across a break.
function runs(cells, { broken }) {
  const result = [];
  cells.forEach((cell, week) => {
    if (!cell) return;
    if (week && cells[week - 1] && !broken.has(week)) result.at(-1).push(week);
    else result.push([week]);
  });
  return result;
}

const pointAt = (scale, week, value) => `${scale.x(week).toFixed(1)},${scale.y(value).toFixed(1)}`;

function linePath(cells, scale) {
  return runs(cells, scale)
    .map((run) => {
      const points = run.map((week) => pointAt(scale, week, cells[week].value));
      return `M${points.join("L")}${run.length === 1 ? "h0.01" : ""}`;
    })
    .join("");
}

function bandPath(cells, scale) {
  return runs(
    cells.map((cell) => (cell && cell.low !== null && cell.high !== null ? cell : null)),
    scale,
  )
    .map((run) => {
      if (run.length === 1) return whisker(scale, run[0], cells[run[0]]);
      const upper = run.map((week) => pointAt(scale, week, cells[week].high));
      const lower = run.toReversed().map((week) => pointAt(scale, week, cells[week].low));
      return `M${[...upper, ...lower].join("L")}Z`;
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
  const single = runs(line.cells, scale).filter((run) => run.length === 1);
  const dots = single.map(([week]) =>
    s("circle", { cx: scale.x(week), cy: scale.y(line.cells[week].value), r: 2.2, fill: line.color }),
  );
  return [path, ...dots];
}

function axes(chart, scale, colors, width, height) {
  const text = { fill: colors.muted, "font-size": 11, "font-family": "system-ui, sans-serif" };
  const group = s("g", {});
  if (scale.empty) {
    const middle = { x: (LEFT + width - RIGHT) / 2, y: (TOP + height - BOTTOM) / 2, "text-anchor": "middle" };
    group.append(s("text", { ...text, "font-size": 13, ...middle }, say("no_values")));
  }
  for (let value = 0; value <= (scale.empty ? 0 : scale.axisTop * 1.0001); value += scale.step) {
    const y = scale.y(value);
    group.append(s("line", { x1: LEFT, x2: width - RIGHT, y1: y, y2: y, stroke: value ? colors.grid : colors.faint }));
    group.append(s("text", { ...text, x: LEFT - 6, y: y + 3.5, "text-anchor": "end" }, formatStep(value)));
  }
  const months = monthStarts(chart.weeks);
  const small = months.map((week) => `M${scale.x(week).toFixed(1)},${height - BOTTOM + STRIP + 5}v2`);
  if (months.length < width / 4) group.append(s("path", { d: small.join(""), stroke: colors.faint }));
  for (const { week, label } of dateTicks(chart.weeks, width)) {
    group.append(s("text", { ...text, x: scale.x(week), y: height - 6, "text-anchor": "middle" }, label));
    group.append(
      s("line", {
        x1: scale.x(week),
        x2: scale.x(week),
        y1: height - BOTTOM + STRIP + 5,
        y2: height - BOTTOM + STRIP + 9,
        stroke: colors.faint,
      }),
    );
  }
  return group;
}

// A hatched strip under the weeks without a value of the selected region, so that a gap is not taken for a low value.
function missingStrip(chart, scale, colors, height) {
  const group = s("g", { stroke: colors.muted, "stroke-width": 1, "stroke-opacity": 0.75 });
  const size = Math.max(2, scale.weekWidth);
  chart.lines[0].cells.forEach((cell, week) => {
    if (cell) return;
    const x = scale.x(week);
    const y = height - BOTTOM + 3;
    const d = [];
    const [from, to] = [
      Math.max(scale.x(0) - 4, x - size / 2),
      Math.min(scale.x(chart.weeks.length - 1) + 4, x + size / 2),
    ];
    for (let i = from; i < to; i += 4) d.push(`M${i.toFixed(1)},${y + STRIP}l${STRIP - 1},${-STRIP}`);
    group.append(s("path", { d: d.join(""), fill: "none" }));
  });
  return group;
}

function drawMarkers(group, chart, scale, week, colors, height) {
  group.replaceChildren();
  const x = scale.x(week);
  if (week !== chart.week)
    group.append(
      s("line", { x1: x, x2: x, y1: TOP, y2: height - BOTTOM, stroke: colors.muted, "stroke-dasharray": "2 2" }),
    );
  group.append(...parentMark(chart, scale, week, colors));
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

// The chart in words, for screen readers.
function summary({ title, weeks, week, lines, breaks }) {
  const sentences = [say("chart_span", { title, first: shortDate(weeks[0]), last: shortDate(weeks.at(-1)) })];
  sentences.push(...lines.map((line) => lineSummary(line, weeks, week)));
  const marks = breaks.map(({ week: at, alone, label }) =>
    say(alone ? "chart_note" : "chart_break", { label, date: shortDate(weeks[at]) }),
  );
  if (marks.length) sentences.push(say("chart_breaks", { breaks: marks.join("; ") }));
  return sentences.join(" ");
}

function lineSummary({ label, cells, missing }, weeks, week) {
  const present = cells.filter(Boolean);
  if (!present.length) return say("chart_line_empty", { region: label, why: missing(week) });
  const top = present.reduce((a, b) => (b.value > a.value ? b : a));
  const gaps = cells.length - present.length;
  return say("chart_line", {
    region: label,
    now: cells[week] ? formatNumber(cells[week].value) : missing(week),
    highest: formatNumber(top.value),
    date: shortDate(weeks[cells.indexOf(top)]),
    gaps: gaps ? say("chart_gaps", { gaps, count: cells.length }) : say("chart_no_gaps"),
  });
}

// The values of one week, shown beside the title of a chart.
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
    const missing = () => h("span", { class: "missing" }, line.missing(week));
    const value = cell ? h("strong", {}, formatNumber(cell.value)) : missing();
    const range = cell && cell.low !== null ? h("span", { class: "range" }, formatInterval(cell)) : null;
    const name = chart.lines.length > 1 ? h("span", { class: "name" }, line.label) : null;
    return h("span", { class: i ? "reading" : "reading first" }, swatch, name, value, range);
  });
}

export function seriesTable(charts) {
  const [first] = charts;
  const columns = charts.flatMap((chart) => chart.lines.map((line) => ({ chart, line })));
  const head = columns.map(({ chart, line }) =>
    h("th", { scope: "col" }, first.lines.length > 1 ? say("topic_of_region", { topic: chart.title, region: line.label }) : chart.title),
  );
  const rows = first.weeks.map((iso, week) => {
    const cells = columns.map(({ line }) => {
      const cell = line.cells[week];
      return h(
        "td",
        { class: cell ? "number" : "missing" },
        cell ? formatNumber(cell.value) : line.missing(week),
        cell && cell.low !== null ? h("span", { class: "range" }, ` ${formatInterval(cell)}`) : null,
      );
    });
    const marks = first.breaks
      .filter((found) => found.week === week)
      .map(({ alone, label }) => ` ${say(alone ? "table_note" : "table_break", { label })}`);
    return h("tr", {}, h("th", { scope: "row" }, longDate(iso), marks), cells);
  });
  return h(
    "table",
    {},
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, say("week_of_head")), head)),
    h("tbody", {}, rows.toReversed()),
  );
}
