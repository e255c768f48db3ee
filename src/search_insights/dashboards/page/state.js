// The state of the view, kept in the address: dataset, region, trend, week and pins. A link reproduces the view.

export const MAX_PINS = 5;

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
    pins: [...new Set(parameters.getAll("pin"))].slice(0, MAX_PINS),
    embed: parameters.get("embed"),
    lang: parameters.get("lang"),
  };
}

// Only what differs from the defaults is written, so that the first view has a plain address.
export function addressOf(state, defaults) {
  const parameters = new URLSearchParams();
  for (const key of ["dataset", "region", "trend", "week", "by", "since", "from", "to", "scale"]) {
    if (state[key] && state[key] !== defaults[key]) parameters.set(key, state[key]);
  }
  for (const pin of state.pins) parameters.append("pin", pin);
  if (state.embed) parameters.set("embed", state.embed);
  if (state.lang) parameters.set("lang", state.lang);
  const text = parameters.toString().replaceAll("%2F", "/");
  return text ? `?${text}` : location.pathname;
}

// A change adds a history entry, so that Back undoes it, unless `replace` is set.
export function writeAddress(state, defaults, replace) {
  const address = addressOf(state, defaults);
  if (address === (location.search || location.pathname)) return;
  history[replace ? "replaceState" : "pushState"](null, "", address);
}

export function togglePin(pins, id) {
  if (pins.includes(id)) return pins.filter((pin) => pin !== id);
  return [...pins, id].slice(-MAX_PINS);
}
