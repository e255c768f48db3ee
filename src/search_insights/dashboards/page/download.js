// Downloads of the current view: values as CSV, images as SVG and PNG.

import { h } from "./dom.js";
import { say } from "./messages.js";
import { pngOf, svgText } from "./picture.js";

// Quote a field where CSV requires it: names may contain commas and quotes.
const csvField = (value) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);

const csvText = (rows) =>
  rows.map((row) => row.map((value) => csvField(value == null ? "" : String(value))).join(",")).join("\n") + "\n";

// One row per region and week, in the dataset's own columns. A missing value is empty, never 0.
export function valueColumns(release, trends) {
  return trends.flatMap((t) => ["", "_low", "_high"].map((suffix) => release.trends[t].column + suffix));
}

export function valueFields(release, cell) {
  const text = (value) => (value == null ? "" : value.toFixed(release.decimals));
  return cell ? [text(cell.value), text(cell.low), text(cell.high)] : ["", "", ""];
}

export function regionFields(release, n) {
  return [release.ids[n], release.level(n).name, release.codes[n], release.names[n]];
}

export const REGION_COLUMNS = ["place_id", "level", "code", "name"];

function save(name, blob) {
  const url = URL.createObjectURL(blob);
  const link = h("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

// The label is the accessible name. csv() returns rows, picture() an SVG element, name() the file name without its
// extension, and note() what readers should know of what they download.
export function downloadMenu(label, { csv, picture, name, note }) {
  const item = (key, download) =>
    h(
      "button",
      {
        type: "button",
        onclick: async () => {
          menu.open = false;
          await download();
        },
      },
      say(key),
    );
  const about = h("div", { class: "menu-note" });
  const menu = h(
    "details",
    { class: "menu" },
    h("summary", { "aria-label": label }, say("download")),
    h(
      "div",
      { class: "menu-list" },
      item("download_csv", async () => save(`${name()}.csv`, new Blob([csvText(await csv())], { type: "text/csv" }))),
      item("download_png", async () => save(`${name()}.png`, await pngOf(picture()))),
      item("download_svg", () => save(`${name()}.svg`, new Blob([svgText(picture())], { type: "image/svg+xml" }))),
      about,
    ),
  );
  menu.addEventListener("toggle", () => menu.open && about.replaceChildren(...note()));
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary").focus();
    event.stopPropagation();
  });
  document.addEventListener("pointerdown", (event) => {
    if (!menu.contains(event.target)) menu.open = false;
  });
  return menu;
}
