// What is in view, kept in the address: dataset, region, trend, week and pins. Whoever gets the link sees the same.

const MOST_PINS = 5;

export function readAddress() {
  const given = new URLSearchParams(location.search);
  return {
    dataset: given.get("dataset"),
    region: given.get("region"),
    trend: given.get("trend"),
    week: given.get("week"),
    by: given.get("by"),
    pins: [...new Set(given.getAll("pin"))].slice(0, MOST_PINS),
    embed: given.get("embed"),
  };
}

// Only what differs from the first view is written, so that the first view has the plain address.
export function addressOf(state, defaults) {
  const given = new URLSearchParams();
  for (const key of ["dataset", "region", "trend", "week", "by"]) {
    if (state[key] && state[key] !== defaults[key]) given.set(key, state[key]);
  }
  for (const pin of state.pins) given.append("pin", pin);
  if (state.embed) given.set("embed", state.embed);
  const text = given.toString().replaceAll("%2F", "/");
  return text ? `?${text}` : location.pathname;
}

// A step that a reader would want to go back from is pushed; moving through the weeks replaces.
export function writeAddress(state, defaults, replace) {
  const address = addressOf(state, defaults);
  if (address === (location.search || location.pathname)) return;
  history[replace ? "replaceState" : "pushState"](null, "", address);
}

export function togglePin(pins, id) {
  if (pins.includes(id)) return pins.filter((pin) => pin !== id);
  return [...pins, id].slice(-MOST_PINS);
}
