// Printing: in light colours, with a sharp map, all charts and, where they are not too many, all rows.

import { setPaper } from "./theme.js";

const MOST_ROWS = 120; // that are printed without being asked for

// parts: { panel, charts, tableCard }. Browsers do not wait for frames or files between the event and the print.
export function preparePrint({ panel, charts, tableCard }) {
  let printing = false;
  const redraw = (on) => {
    if (on === printing) return;
    printing = on;
    setPaper(on);
    charts.invalidate();
    if (charts.view) charts.show(charts.view);
    panel.paintNow(on ? 3 : null);
    tableCard.table.showOnPaper(on ? MOST_ROWS : null);
  };
  addEventListener("beforeprint", () => redraw(true));
  addEventListener("afterprint", () => redraw(false));
  matchMedia("print").addEventListener("change", ({ matches }) => redraw(matches));
}
