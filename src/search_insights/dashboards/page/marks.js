// Marks on a chart of the selected region: the weeks of a period, and the value of its parent beside the dashed line.

import { s } from "./dom.js";
import { formatNumber } from "./format.js";

// A band behind the lines; show(first, last) places it, show(null) hides it.
export function periodBand(scale, colors, top, bottom) {
  const style = { class: "period", fill: colors.muted, "fill-opacity": 0.16 };
  const element = s("rect", { ...style, y: top, height: bottom - top });
  const show = (first, last) => {
    element.setAttribute("visibility", first === null ? "hidden" : "visible");
    if (first === null) return;
    element.setAttribute("x", scale.x(first) - scale.weekWidth / 2);
    element.setAttribute("width", (last - first + 1) * scale.weekWidth);
  };
  show(null);
  return { element, show };
}

// The parent's value in a week: a ring on its line, and the number on the side that is free.
export function parentMark({ parent, lines, weeks }, scale, week, colors) {
  const cell = parent?.[week];
  if (!cell) return [];
  const [x, y] = [scale.x(week), scale.y(cell.value)];
  const atEnd = week > (weeks.length - 1) / 2;
  const above = (lines[0].cells[week]?.value ?? 0) <= cell.value && y > 14;
  const place = { x: x + (atEnd ? -8 : 8), y: y + (above ? -6 : 14), "text-anchor": atEnd ? "end" : "start" };
  const halo = { stroke: colors.surface, "stroke-width": 3, "paint-order": "stroke", "stroke-linejoin": "round" };
  const text = { class: "parent-value", fill: colors.muted, "font-size": 11.5, "font-family": "system-ui, sans-serif" };
  return [
    s("circle", { cx: x, cy: y, r: 3, fill: colors.surface, stroke: colors.parent, "stroke-width": 1.5 }),
    s("text", { ...place, ...halo, ...text }, formatNumber(cell.value)),
  ];
}
