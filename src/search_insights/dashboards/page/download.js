// Downloads of what is in view: tables as CSV, pictures as SVG and PNG.

import { h } from "./dom.js";
import { pngOf, svgText } from "./picture.js";

// A field is quoted where the form of CSV asks for it, so that names with commas and quotes stay whole.
const field = (value) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);

export const csvOf = (rows) =>
  rows.map((row) => row.map((value) => field(value == null ? "" : String(value))).join(",")).join("\n") + "\n";

// One row for a region and week, in the dataset's own columns; missing is empty, never 0.
export function valueColumns(release, trends) {
  return trends.flatMap((t) => ["", "_low", "_high"].map((end) => release.trends[t].column + end));
}

export function valueFields(release, cell) {
  const text = (value) => (value == null ? "" : value.toFixed(release.decimals));
  return cell ? [text(cell.value), text(cell.low), text(cell.high)] : ["", "", ""];
}

export function regionFields(release, n) {
  return [release.ids[n], release.level(n).name, release.codes[n], release.names[n]];
}

export const REGION_COLUMNS = ["place_id", "level", "code", "name"];

export function save(name, blob) {
  const url = URL.createObjectURL(blob);
  const link = h("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

// A small menu: csv() gives rows, picture() gives an SVG element, name() the file's name without its ending.
export function downloadMenu(what, { csv, picture, name }) {
  const choose = (label, make) =>
    h(
      "button",
      {
        type: "button",
        onclick: async () => {
          menu.open = false;
          await make();
        },
      },
      label,
    );
  const menu = h(
    "details",
    { class: "menu" },
    h("summary", { "aria-label": `Download ${what}` }, "Download"),
    h(
      "div",
      { class: "menu-list" },
      choose("Values (CSV)", async () => save(`${name()}.csv`, new Blob([csvOf(await csv())], { type: "text/csv" }))),
      choose("Picture (PNG)", async () => save(`${name()}.png`, await pngOf(picture()))),
      choose("Picture (SVG)", () => save(`${name()}.svg`, new Blob([svgText(picture())], { type: "image/svg+xml" }))),
    ),
  );
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
