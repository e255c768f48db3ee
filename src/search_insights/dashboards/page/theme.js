// Colours of the map and charts. The ramp runs from pale to dark, in dark mode from dark to pale; neither relies on the
// difference between red and green. A region without a value is hatched, never coloured.

const LIGHT = {
  ramp: ["#f7f6cf", "#d9efb6", "#a6dbb8", "#6cc5bd", "#3aa9bf", "#2384b6", "#2460a3", "#253a8b", "#131d58"],
  diverging: ["#4a2a86", "#7b5fb0", "#a99ccf", "#d0cbe6", "#e4e4e6", "#f6d5a8", "#e9a65a", "#c4741c", "#8a4300"],
  lines: ["#1d4e89", "#c2410c", "#0b7a5b", "#9d3f8f", "#8a6100", "#3b6fb5"],
  surface: "#ffffff",
  hatch: "#b9bec6",
  unsure: "#ffffffcc",
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
  ramp: ["#3d4d8f", "#3c63ab", "#387cbc", "#3a95c2", "#4badc0", "#6ec3bb", "#98d5b5", "#c6e6b4", "#f5f7c8"],
  diverging: ["#cdbcff", "#a48fe6", "#7a69b4", "#554d7c", "#3a3f49", "#6f5430", "#a8742a", "#dd9a3c", "#ffc877"],
  lines: ["#7ab8ff", "#ff9d6b", "#5fd3ac", "#e39ad9", "#e0b84c", "#a9c7f5"],
  surface: "#171c24",
  hatch: "#4f5866",
  unsure: "#171c24cc",
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
const STORED = "theme";

// What the reader chose on an earlier visit. A browser may forbid a page to keep anything.
try {
  const chosen = localStorage.getItem(STORED);
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // Then the page begins as the system is.
}

// On paper and in pictures the colours are light.
let onPaper = false;

export const setPaper = (on) => {
  onPaper = on;
};

export function inLight(make) {
  const before = onPaper;
  setPaper(true);
  try {
    return make();
  } finally {
    setPaper(before);
  }
}

function isDark() {
  const selected = document.documentElement.dataset.theme;
  return selected ? selected === "dark" : systemDark.matches;
}

export const theme = () => (isDark() && !onPaper ? DARK : LIGHT);

export function onThemeChange(listener) {
  systemDark.addEventListener("change", listener);
  document.addEventListener("themechange", listener);
}

// Only a choice that differs from the system's is kept, so that the page goes on following the system.
function remember(chosen) {
  try {
    if ((chosen === "dark") === systemDark.matches) localStorage.removeItem(STORED);
    else localStorage.setItem(STORED, chosen);
  } catch {
    // The choice holds until the page is closed.
  }
}

export function toggleTheme() {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  remember(document.documentElement.dataset.theme);
  document.dispatchEvent(new Event("themechange"));
}
