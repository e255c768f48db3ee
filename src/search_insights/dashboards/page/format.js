// Format numbers, dates and names for readers.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const hundredths = new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const small = new Intl.NumberFormat("en", { maximumSignificantDigits: 2 });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
const shortDay = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });

// A value below 1 keeps its digits: it is small, not missing.
export function formatNumber(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  return (size >= 1000 ? whole : size >= 1 ? tenths : small).format(value);
}

export const formatHundredths = (value) => hundredths.format(value);

export const formatInterval = (cell) => `${formatNumber(cell.low)} – ${formatNumber(cell.high)}`;

export const formatCount = (value) => whole.format(value);

export function formatBytes(value) {
  if (value >= 1e6) return `${tenths.format(value / 1e6)} MB`;
  return `${whole.format(Math.max(1, value / 1e3))} kB`;
}

const utcDate = (iso) => new Date(`${iso}T00:00:00Z`);

export const weekLabel = (iso) => `Week of ${day.format(utcDate(iso))}`;

export const shortDate = (iso) => shortDay.format(utcDate(iso));

export const longDate = (iso) => day.format(utcDate(iso));

export function weekDates(iso) {
  const first = utcDate(iso);
  return day.formatRange(first, new Date(first.getTime() + 6 * 86400e3));
}

export const capitalize = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// Search ignores case and accents: Dona Ana finds Doña Ana.
export const foldText = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
