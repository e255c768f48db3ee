// What a link asks for and what the dataset has of it. A region may also be given by its bare code, such as a FIPS code
// or a ZIP, and a week by any of its days. What is not there is announced, and something near is shown instead.

import { longDate } from "./format.js";
import { MAX_PINS, NEWEST } from "./state.js";

const DAY = 86400e3; // milliseconds

export const datasetOf = (site, state) => (site.datasets.find((d) => d.key === state.dataset) ?? site.datasets[0]).key;

// The view that an address asks for: the numbers of region, trend, week and pins; the address that shows the same; and
// notices, each the key of a message with its values.
export async function followLink(r, state) {
  const notices = [];
  const note = (key, values) => notices.push([key, values]);
  if (state.dataset && state.dataset !== r.entry.key) note("unknown_dataset", { id: state.dataset, title: r.title });
  const n = await regionOf(r, state.region ?? r.ids[0], note);
  const trend = trendOf(r, state.trend, note);
  const week = weekOf(r, state.week, note);
  const pins = await pinsOf(r, state.pins, note);
  const address = {
    dataset: r.entry.key,
    region: r.ids[n],
    trend: r.trends[trend].name,
    week: state.week === NEWEST ? NEWEST : r.weeks[week],
    pins: pins.map((pin) => r.ids[pin]),
  };
  return { n, trend, week, pins, address, notices };
}

async function regionOf(r, id, note) {
  const found = await regionsOf(r, id);
  const [n = 0, other] = found;
  if (!found.length) note("unknown_region", { id, region: r.label(n) });
  else if (other !== undefined) note("same_code", { id, region: r.label(n), other });
  return n;
}

// The region with a place_id, else those with a code, or whose place_id or code ends in it: geoId/06075, US-CA.
async function regionsOf(r, id) {
  const found = await r.find(id);
  if (found !== undefined) return [found];
  const wanted = id.toLowerCase();
  const endsIn = (text, sign) => text.slice(text.lastIndexOf(sign) + 1).toLowerCase() === wanted;
  return r.ids.flatMap((place, n) =>
    endsIn(place, "/") || endsIn(r.codes[n], "-") || r.codes[n].toLowerCase() === wanted ? [n] : [],
  );
}

function trendOf(r, name, note) {
  const trend = r.trends.findIndex((t) => t.name === name);
  if (name && trend < 0) note("unknown_trend", { id: name, trend: r.trends[0].title });
  return Math.max(0, trend);
}

function weekOf(r, day, note) {
  const last = r.weeks.length - 1;
  if (!day || day === NEWEST) return last;
  const week = weekWith(r.weeks, day);
  if (week === null) note("unknown_week", { id: day, date: longDate(r.weeks[last]) });
  return week ?? last;
}

// The number of the week that a day is in; null if there is none.
export function weekWith(weeks, day) {
  const time = Date.parse(`${day}T00:00:00Z`);
  const week = weeks.findIndex((iso) => Math.floor((time - Date.parse(`${iso}T00:00:00Z`)) / (7 * DAY)) === 0);
  return week < 0 ? null : week;
}

async function pinsOf(r, ids, note) {
  const found = await Promise.all(ids.map(async (id) => [id, (await regionsOf(r, id))[0]]));
  for (const [id] of found.filter(([, n]) => n === undefined)) note("unknown_pin", { id });
  const pins = [...new Set(found.flatMap(([, n]) => (n === undefined ? [] : [n])))];
  if (pins.length > MAX_PINS) note("too_many_pins", { count: pins.length, most: MAX_PINS });
  return pins.slice(0, MAX_PINS);
}
