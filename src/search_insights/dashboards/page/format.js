// Format numbers, dates and names as the visitor writes them.

import { locale, say } from "./messages.js";

const numbers = (options) => new Intl.NumberFormat(locale, options);
const dates = (options) => new Intl.DateTimeFormat(locale, { ...options, timeZone: "UTC" });

const whole = numbers({ maximumFractionDigits: 0 });
const tenths = numbers({ minimumFractionDigits: 1, maximumFractionDigits: 1 });
const hundredths = numbers({ minimumFractionDigits: 2, maximumFractionDigits: 2 });
const small = numbers({ maximumSignificantDigits: 2 });
const round = numbers({ maximumSignificantDigits: 4, useGrouping: false });
const exact = numbers({ maximumSignificantDigits: 6 });
const megabytes = numbers({ style: "unit", unit: "megabyte", minimumFractionDigits: 1, maximumFractionDigits: 1 });
const kilobytes = numbers({ style: "unit", unit: "kilobyte", maximumFractionDigits: 0 });
const day = dates({ day: "numeric", month: "long", year: "numeric" });
const shortDay = dates({ day: "numeric", month: "short", year: "numeric" });
const dayMonth = dates({ day: "numeric", month: "short" });
const month = dates({ month: "short" });
const monthYear = dates({ month: "short", year: "numeric" });

// A value below 1 keeps its digits: it is small, not missing.
export function formatNumber(value) {
  if (value === 0) return whole.format(0);
  const size = Math.abs(value);
  return (size >= 1000 ? whole : size >= 1 ? tenths : small).format(value);
}

export const formatHundredths = (value) => hundredths.format(value);

export const formatInterval = (cell) => say("interval", { low: formatNumber(cell.low), high: formatNumber(cell.high) });

export const formatCount = (value) => whole.format(value);

// A round number: the step of an axis or of the colours.
export const formatStep = (value) => round.format(value);

// A number of a statement, whatever its size: 2.19, 0.00001.
export const formatExact = (value) => exact.format(value);

// A share of 1 as a whole number of percent.
export const formatPercent = (share) => say("percent", { value: whole.format(100 * share) });

export const formatBytes = (value) =>
  value >= 1e6 ? megabytes.format(value / 1e6) : kilobytes.format(Math.max(1, value / 1e3));

const utcDate = (iso) => new Date(`${iso}T00:00:00Z`);

export const weekLabel = (iso) => say("week_of", { date: longDate(iso) });

export const shortDate = (iso) => shortDay.format(utcDate(iso));

export const longDate = (iso) => day.format(utcDate(iso));

// For the axis of a chart.
export const dayLabel = (iso) => dayMonth.format(utcDate(iso));
export const monthLabel = (iso) => month.format(utcDate(iso));
export const monthYearLabel = (iso) => monthYear.format(utcDate(iso));

export function weekDates(iso) {
  const first = utcDate(iso);
  return day.formatRange(first, new Date(first.getTime() + 6 * 86400e3));
}

export const capitalize = (text) => text.charAt(0).toLocaleUpperCase(locale) + text.slice(1);

// Names in the order of the visitor's alphabet, numbers in names by size.
export const { compare: compareNames } = new Intl.Collator(locale, { numeric: true });

// The country's name as the visitor knows it, if its name and code are the usual ones.
export function countryName(name, code) {
  const known = (tag) => new Intl.DisplayNames(tag, { type: "region" }).of(code);
  return /^[A-Z]{2}$/.test(code) && known("en") === name ? known(locale) : name;
}

// Names or links as one enumeration: an array, so that an element may be one of them.
const enumeration = new Intl.ListFormat(locale, { type: "conjunction" });

export function listParts(items) {
  const places = items.map((_, i) => String(i));
  return enumeration
    .formatToParts(places)
    .map(({ type, value }) => (type === "element" ? items[Number(value)] : value));
}

// Search ignores case and accents: Dona Ana finds Doña Ana.
export const foldText = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

// A difference: with its sign.
export const formatSigned = (value, format = formatNumber) =>
  value > 0 ? `+${format(value)}` : value < 0 ? `−${format(-value)}` : format(0);
