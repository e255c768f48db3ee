// What the map and the table show of each region: its value in the week, how far that differs from another week, or its
// mean over a period. A measure says which weeks it needs and makes one cell of a region's cells in these weeks.

import { difference, qValues } from "./differences.js";
import { REGION_COLUMNS, regionFields } from "./download.js";
import { formatNumber, longDate, shortDate } from "./format.js";
import { interval, mean, quantile } from "./intervals.js";
import { say } from "./messages.js";

const DAY = 86400e3; // milliseconds

// The number of the week so many weeks before or after another; -1 if the dataset does not have it.
export function weekFrom(release, week, weeks) {
  const day = new Date(Date.parse(release.weeks[week]) + 7 * DAY * weeks);
  return release.weeks.indexOf(day.toISOString().slice(0, 10));
}

// The breaks between two weeks, and the notes on either: values may differ although nobody searched differently.
export function breaksBetween(release, a, b) {
  const [first, last] = [Math.min(a, b), Math.max(a, b)];
  return release.breaks.filter(({ week, alone }) =>
    alone ? week === first || week === last : first < week && week <= last,
  );
}

export const isNewScale = (breaks) => breaks.find(({ newScale }) => newScale);

// The measure that the state of the view asks for. If it cannot be had, `problem` says why, and the week is shown.
export function measureOf(release, state, week) {
  if (state.since) return changeMeasure(release, state.since, week);
  if (state.from || state.to) return averageMeasure(release, state, week);
  return weekMeasure(release, week);
}

function weekMeasure(release, week, problem = "") {
  return { kind: "week", weeks: [week], week, problem, why: (n) => release.whyMissing(n, week) };
}

// `since` is a number of weeks or the first day of a week.
export function weekOfSince(release, since, week) {
  return /^\d{1,3}$/.test(since) ? weekFrom(release, week, -Number(since)) : release.weeks.indexOf(since);
}

function changeMeasure(release, since, week) {
  const other = weekOfSince(release, since, week);
  if (other < 0) return weekMeasure(release, week, say("change_none", { week: longDate(release.weeks[week]) }));
  if (other === week) return weekMeasure(release, week, say("change_same"));
  const breaks = breaksBetween(release, other, week);
  const scaled = isNewScale(breaks);
  if (scaled) return weekMeasure(release, week, say("scale_new", { week: longDate(release.weeks[scaled.week]) }));
  const z = quantile(release.confidence ?? NaN);
  return {
    kind: "change",
    weeks: [week, other],
    ...{ week, other, breaks, problem: "" },
    // A region that lacks one of the two values is not compared.
    cell(at) {
      const [now, before] = [mean([at(week)], z), mean([at(other)], z)];
      return now && before && difference(now, before);
    },
    why: (n, at) => (at(week) ? lacking(release, n, other) : release.whyMissing(n, week)),
  };
}

// Why there is no difference, although the shown week has a value.
function lacking(release, n, week) {
  const why = release.whyMissing(n, week);
  const text = say("change_missing", { why: why.text, week: longDate(release.weeks[week]) });
  return { ...why, text };
}

function averageMeasure(release, { from, to }, week) {
  const [first, last] = [release.weeks.indexOf(from), release.weeks.indexOf(to)];
  if (first < 0 || last < first) return weekMeasure(release, week, say("average_none"));
  const breaks = release.breaks.filter((found) => !found.alone && first < found.week && found.week <= last);
  const scaled = isNewScale(breaks);
  if (scaled) return weekMeasure(release, week, say("scale_new", { week: longDate(release.weeks[scaled.week]) }));
  const weeks = Array.from({ length: last - first + 1 }, (_, i) => first + i);
  const z = quantile(release.confidence ?? NaN);
  return {
    kind: "average",
    ...{ weeks, first, last, breaks, problem: "" },
    cell(at) {
      const found = mean(weeks.map(at), z);
      return found && { ...found, ...interval(found, z) };
    },
    why: (n) => release.whyMissing(n, last),
  };
}

// Load the map's values of a trend in some weeks; returns a function of region and week.
export async function loadMapValues(release, trend, weeks) {
  const numberOf = (week) => Math.floor(week / release.blockWeeks);
  const blocks = new Map();
  const load = async (number) => blocks.set(number, await release.block(trend, number * release.blockWeeks));
  await Promise.all([...new Set(weeks.map(numberOf))].map(load));
  return (n, week) => blocks.get(numberOf(week))?.at(n, week) ?? null;
}

// The cells of a measure, each made once: at(n) returns a region's cells by week.
export function measured(measure, at) {
  if (measure.kind === "week") return (n) => at(n)(measure.week);
  const cells = new Map();
  return (n) => {
    if (!cells.has(n)) cells.set(n, measure.cell(at(n)));
    return cells.get(n);
  };
}

// The measure in words; empty for the values of a week.
export function describe(release, { kind, weeks, week, other, first, last }) {
  const date = (number) => shortDate(release.weeks[number]);
  if (kind === "change") return say("change_status", { week: date(week), other: date(other) });
  if (kind === "average") return say("average_status", { count: weeks.length, from: date(first), to: date(last) });
  return "";
}

// What a reader must know of one cell beside its value.
export function detailOf({ kind }, cell, unsure) {
  if (kind === "average") return say("average_weeks", { weeks: cell.weeks, count: cell.of });
  const values = { before: formatNumber(cell.before), now: formatNumber(cell.now) };
  return say(unsure ? "change_unsure" : "change_sure", values);
}

// The rows of a download, with the columns that the Python functions `change` and `average` return.
export function measureRows(release, trend, measure, regions, cellOf) {
  const { name } = release.trends[trend];
  const found = regions.filter((n) => cellOf(n));
  const number = (value) => (value === null ? "" : Number(value.toPrecision(7)));
  const date = (week) => release.weeks[week];
  if (measure.kind === "average") {
    const head = ["from", "to", "trend", ...REGION_COLUMNS, "value", "low", "high", "weeks", "of_weeks"];
    const period = [date(measure.first), date(measure.last), name];
    const row = ({ value, low, high, weeks, of }) => [...[value, low, high].map(number), weeks, of];
    return [head, ...found.map((n) => [...period, ...regionFields(release, n), ...row(cellOf(n))])];
  }
  const columns = ["before", "value", "difference", "low", "high", "p_value", "q_value"];
  const q = qValues(found.map((n) => cellOf(n).p));
  const row = ({ before, now, value, low, high, p }, i) => [before, now, value, low, high, p, q[i]].map(number);
  const weeks = [date(measure.week), date(measure.other), name];
  const head = ["date", "compared_with", "trend", ...REGION_COLUMNS, ...columns];
  return [head, ...found.map((n, i) => [...weeks, ...regionFields(release, n), ...row(cellOf(n), i)])];
}
