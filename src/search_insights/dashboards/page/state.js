// The state of the view, kept in the address: dataset, region, trend, week and pins. A link reproduces the view.

export const MAX_PINS = 5;
export const NEWEST = "newest"; // as a week: whichever is the newest when the link is opened

export function readAddress() {
  const parameters = new URLSearchParams(location.search);
  return {
    dataset: parameters.get("dataset"),
    region: parameters.get("region"),
    trend: parameters.get("trend"),
    week: parameters.get("week"),
    by: parameters.get("by"),
    since: parameters.get("since"), // the week or the number of weeks before, to compare with
    from: parameters.get("from"), // the first and the last week of an average
    to: parameters.get("to"),
    scale: parameters.get("scale"), // "week": colours fitted to the regions shown
    pins: [...new Set(parameters.getAll("pin"))],
    embed: parameters.get("embed"),
    lang: parameters.get("lang"),
  };
}

// The week is always written, so that a link shows the same numbers after the next release. Of the rest, only what
// differs from the defaults.
export function addressOf(state, defaults) {
  const parameters = new URLSearchParams();
  for (const key of ["dataset", "region", "trend", "week", "by", "since", "from", "to", "scale"]) {
    if (state[key] && (key === "week" || state[key] !== defaults[key])) parameters.set(key, state[key]);
  }
  for (const pin of state.pins) parameters.append("pin", pin);
  for (const key of ["embed", "lang"]) if (state[key]) parameters.set(key, state[key]);
  const text = parameters.toString().replaceAll("%2F", "/");
  return text ? `?${text}` : location.pathname;
}

// A change adds a history entry, so that Back undoes it, unless `replace` is set.
export function writeAddress(state, defaults, replace) {
  const address = addressOf(state, defaults);
  if (address === (location.search || location.pathname)) return;
  history[replace ? "replaceState" : "pushState"](null, "", replace ? address + location.hash : address);
}

export function togglePin(pins, id) {
  return pins.includes(id) ? pins.filter((pin) => pin !== id) : [...pins, id];
}
