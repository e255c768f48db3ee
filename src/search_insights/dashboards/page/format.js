// Numbers, dates and words as people read them.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const small = new Intl.NumberFormat("en", { maximumSignificantDigits: 2 });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
const shortDay = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });

// A value below 1 keeps its digits: it is small, not missing.
export function number(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  return (size >= 1000 ? whole : size >= 1 ? tenths : small).format(value);
}

export const interval = (cell) => `${number(cell.low)} – ${number(cell.high)}`;

export const count = (value) => whole.format(value);

export function bytes(value) {
  if (value >= 1e6) return `${tenths.format(value / 1e6)} MB`;
  return `${whole.format(Math.max(1, value / 1e3))} kB`;
}

const utc = (iso) => new Date(`${iso}T00:00:00Z`);

export const weekName = (iso) => `Week of ${day.format(utc(iso))}`;

export const shortDate = (iso) => shortDay.format(utc(iso));

export const longDate = (iso) => day.format(utc(iso));

export function weekSpan(iso) {
  const first = utc(iso);
  return day.formatRange(first, new Date(first.getTime() + 6 * 86400e3));
}

export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// Case and accents do not matter in a search: Dona Ana finds Doña Ana.
export const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
