// Colours of the map and charts. The ramp runs from pale to dark, in dark mode from dark to pale; neither relies on the
// difference between red and green. A region without a value is hatched, never coloured.

const LIGHT = {
  ramp: ["#f7f6cf", "#d9efb6", "#a6dbb8", "#6cc5bd", "#3aa9bf", "#2384b6", "#2460a3", "#253a8b", "#131d58"],
  lines: ["#1d4e89", "#c2410c", "#0b7a5b", "#9d3f8f", "#8a6100", "#3b6fb5"],
  surface: "#ffffff",
  hatch: "#b9bec6",
  blank: "#f3f4f5",
  border: "#ffffff",
  strong: "#3c4450",
  ink: "#1c2330",
  muted: "#5d6675",
  faint: "#c3c8d0",
  grid: "#e8eaee",
  parent: "#6b7280",
  outline: "#111827",
};

const DARK = {
  ramp: ["#27315e", "#28437f", "#255c9c", "#2279ad", "#2f97b8", "#50b3b8", "#83cbb3", "#bce0b0", "#f4f6c6"],
  lines: ["#7ab8ff", "#ff9d6b", "#5fd3ac", "#e39ad9", "#e0b84c", "#a9c7f5"],
  surface: "#171c24",
  hatch: "#4f5866",
  blank: "#1d232c",
  border: "#171c24",
  strong: "#aab3c0",
  ink: "#eef1f6",
  muted: "#a4adbb",
  faint: "#414956",
  grid: "#2a313c",
  parent: "#98a1af",
  outline: "#ffffff",
};

const systemDark = matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  const selected = document.documentElement.dataset.theme;
  return selected ? selected === "dark" : systemDark.matches;
}

export const theme = () => (isDark() ? DARK : LIGHT);

export function onThemeChange(listener) {
  systemDark.addEventListener("change", listener);
  document.addEventListener("themechange", listener);
}

export function toggleTheme() {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  document.dispatchEvent(new Event("themechange"));
}

// The colour class of a value. A trend's classes are the same in all weeks; the last one is open-ended.
export const classOf = (value, trend, classes) => Math.min(classes - 1, Math.max(0, Math.floor(value / trend.step)));

export const colorOf = (value, trend, classes) => theme().ramp[classOf(value, trend, classes)];
