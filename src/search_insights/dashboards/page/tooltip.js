// The tooltip of a region on the map: its value with the interval, the change since the week before, the last weeks as a
// line, and the values of the other topics. What is not loaded yet is added when it is.

import { difference } from "./differences.js";
import { h, s } from "./dom.js";
import { formatInterval, formatNumber, formatSigned } from "./format.js";
import { mean, quantile } from "./intervals.js";
import { weekFrom } from "./measures.js";
import { say } from "./messages.js";
import { theme } from "./theme.js";

const SPARK_WEEKS = 16;
const [WIDTH, HEIGHT] = [150, 30];

// read(trend) resolves to a function of region and week, or to null. Fills `element` with all that there is to say.
export async function showContext(element, view, n, read) {
  const { release: r, trend, week } = view;
  const readers = await Promise.all(r.trends.map((_, t) => read(t).catch(() => null)));
  const own = readers[trend];
  const cells = own ? recentWeeks(r, week).map((at) => (at === null ? null : own(n, at))) : [];
  element.replaceChildren(
    ...[sparkline(cells, r, trend), changeText(r, own, n, week), otherTopics(r, readers, n, week, trend)].filter(Boolean),
  );
}

// The weeks up to the shown one, in steps of a week; null where the dataset lacks one.
export function recentWeeks(release, week) {
  return Array.from({ length: SPARK_WEEKS }, (_, i) => weekFrom(release, week, i + 1 - SPARK_WEEKS)).map((at) =>
    at < 0 ? null : at,
  );
}

function changeText(release, read, n, week) {
  const before = weekFrom(release, week, -1);
  const z = quantile(release.confidence ?? NaN);
  const [a, b] = [read?.(n, week), before < 0 ? null : read?.(n, before)];
  const crossed = release.breaks.some((found) => found.newScale && found.week === week);
  if (!a || !b || crossed) return null;
  const found = difference(mean([a], z), mean([b], z));
  const key = found.p <= 0.05 ? "tip_change" : "tip_change_unsure";
  return h("span", { class: "change" }, say(key, { change: formatSigned(found.value) }));
}

// A gap where a week has no value; a dot in the shown week, and in a week alone.
function sparkline(cells, release, trend) {
  const values = cells.filter(Boolean).map((cell) => cell.value);
  if (values.length < 2) return null;
  cells = cells.slice(cells.findIndex(Boolean));
  const top = Math.max(...values, release.trends[trend].step);
  const x = (i) => 4 + ((WIDTH - 8) * i) / (cells.length - 1);
  const y = (value) => HEIGHT - 4 - ((HEIGHT - 8) * value) / top;
  const move = (i) => (i && cells[i - 1] ? "L" : "M");
  const path = cells.map((cell, i) => (cell ? `${move(i)}${x(i).toFixed(1)},${y(cell.value).toFixed(1)}` : "")).join("");
  const colors = theme();
  const alone = cells.flatMap((cell, i) => (cell && !cells[i - 1] && !cells[i + 1] ? [i] : []));
  const shown = cells.at(-1) ? [cells.length - 1] : [];
  return s(
    "svg",
    { class: "spark", width: WIDTH, height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" },
    s("line", { x1: 4, x2: WIDTH - 4, y1: HEIGHT - 4, y2: HEIGHT - 4, stroke: colors.grid }),
    s("path", { d: path, fill: "none", stroke: colors.lines[0], "stroke-width": 1.6, "stroke-linejoin": "round" }),
    [...alone, ...shown].map((i) => s("circle", { cx: x(i), cy: y(cells[i].value), r: 2.6, fill: colors.lines[0] })),
  );
}

function otherTopics(release, readers, n, week, trend) {
  const rows = release.trends.flatMap((t, i) => (i === trend || !readers[i] ? [] : [[t.title, readers[i](n, week)]]));
  if (!rows.length) return null;
  const value = (cell) =>
    cell
      ? [h("strong", {}, formatNumber(cell.value)), cell.low === null ? null : h("span", { class: "range" }, formatInterval(cell))]
      : h("span", { class: "missing" }, release.missingText);
  return h(
    "span",
    { class: "others" },
    rows.map(([title, cell]) => h("span", { class: "other-topic" }, h("span", {}, title), h("span", { class: "number" }, value(cell)))),
  );
}
