// The dates along a time axis, of the charts and of the slider.

import { dayLabel, monthLabel, monthYearLabel } from "./format.js";

const FEW_WEEKS = 8;
const LABEL_WIDTH = 70; // pixels

const utc = (iso) => new Date(`${iso}T00:00:00Z`);

// The weeks in which a month begins, but the first.
export const monthStarts = (weeks) =>
  weeks.flatMap((iso, week) => (week && iso.slice(0, 7) !== weeks[week - 1].slice(0, 7) ? [week] : []));

// Labels at the start of months, as many as fit; January and the first label show the year. With few weeks, the labels
// are days.
export function dateTicks(weeks, width) {
  const maxLabels = Math.max(2, Math.floor(width / LABEL_WIDTH));
  if (weeks.length <= 2 * FEW_WEEKS) {
    const every = Math.ceil(weeks.length / Math.min(maxLabels, FEW_WEEKS));
    return weeks.map((iso, week) => ({ week, label: dayLabel(iso) })).filter(({ week }) => week % every === 0);
  }
  const starts = monthStarts(weeks);
  const months = (week) => utc(weeks[week]).getUTCFullYear() * 12 + utc(weeks[week]).getUTCMonth();
  const every = [1, 2, 3, 6, 12, 24, 48].find((n) => starts.length / n <= maxLabels) ?? 48;
  const ticks = starts.filter((week) => months(week) % every === 0);
  return ticks.map((week, i) => {
    const date = utc(weeks[week]);
    if (date.getUTCMonth() === 0) return { week, label: String(date.getUTCFullYear()) };
    return { week, label: (i ? monthLabel : monthYearLabel)(weeks[week]) };
  });
}
