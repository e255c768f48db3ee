// A chart as large as the window, in a dialog: for many weeks, and for a closer look.

import { byId, h } from "./dom.js";
import { weekLabel } from "./format.js";
import { say } from "./messages.js";
import { drawChart, readout } from "./series.js";

const MARGIN = 24; // pixels

export class EnlargedChart {
  constructor(onWeek) {
    this.onWeek = onWeek;
    this.dialog = byId("enlarged");
    byId("enlarged-close").addEventListener("click", () => this.dialog.close());
    this.dialog.addEventListener("close", () => (this.chart = null));
    this.dialog.addEventListener("click", (event) => event.target === this.dialog && this.dialog.close());
    this.dialog.addEventListener("keydown", (event) => this.onKey(event));
    new ResizeObserver(() => this.chart && this.draw()).observe(byId("enlarged-plot"));
  }

  open(chart) {
    this.dialog.showModal();
    this.chart = chart;
    byId("enlarged-title").textContent = say("enlarged_title", { topic: chart.title, region: chart.lines[0].label });
    this.draw();
  }

  // The view has changed while the dialog was open.
  show(charts, week) {
    if (!this.chart) return;
    this.chart = charts.find(({ title }) => title === this.chart.title) ?? this.chart;
    this.drawn.setWeek(week);
    this.mark(week);
  }

  onKey({ key }) {
    const week = this.chart.week + (key === "ArrowRight") - (key === "ArrowLeft");
    if (week !== this.chart.week && week >= 0 && week < this.chart.weeks.length) this.onWeek(week);
  }

  draw() {
    const plot = byId("enlarged-plot");
    this.drawn = drawChart({ ...this.chart }, plot.clientWidth, Math.max(220, plot.clientHeight - MARGIN));
    const { svg } = this.drawn;
    const weekOf = (event) => this.drawn.weekAt(event.clientX - svg.getBoundingClientRect().left);
    svg.addEventListener("pointermove", (event) => this.mark(weekOf(event)));
    svg.addEventListener("pointerleave", () => this.mark(this.chart.week));
    svg.addEventListener("click", (event) => this.onWeek(weekOf(event)));
    plot.replaceChildren(svg);
    this.mark(this.chart.week);
  }

  mark(week) {
    this.drawn.markWeek(week);
    byId("enlarged-week").textContent = weekLabel(this.chart.weeks[week]);
    byId("enlarged-values").replaceChildren(...readout(this.chart, week));
  }
}

// The button that opens it, in the head of a chart.
export const enlargeButton = (chart, onClick) =>
  h(
    "button",
    { type: "button", class: "enlarge", "aria-label": say("enlarge", { topic: chart.title }), onclick: onClick },
    "⤢",
  );
