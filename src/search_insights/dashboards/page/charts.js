// The card of time series: one chart per trend, with readouts, a legend and a table.

import { brushWeeks } from "./brush.js";
import { reuseNote, sourceLine, viewAddress } from "./credits.js";
import { byId, h, s } from "./dom.js";
import { EnlargedChart, enlargeButton } from "./enlarge.js";
import { REGION_COLUMNS, downloadMenu, regionFields, valueColumns, valueFields } from "./download.js";
import { formatNumber, formatPercent, shortDate, weekDates, weekLabel } from "./format.js";
import { parts as partsOf, say } from "./messages.js";
import { seriesPicture } from "./picture.js";
import { breakLetter, drawChart, readout, seriesTable } from "./series.js";
import { inLight, theme } from "./theme.js";

const DASHES = [null, "7 3", "2 3", "9 3 2 3", "5 2", "1 2"];
const MAX_CHILD_LINES = 400;

export class Charts {
  constructor(onWeek, onPeriod) {
    Object.assign(this, { onWeek, onPeriod });
    this.element = byId("charts");
    this.drawn = [];
    this.enlarged = new EnlargedChart(onWeek);
    const note = () => reuseNote(this.view.release);
    const content = { csv: () => this.csv(), picture: () => this.picture(), name: () => this.name(), note };
    byId("series-downloads").append(downloadMenu(say("download_series"), content));
    byId("series-details").addEventListener("toggle", () => this.drawTable());
    new ResizeObserver(() => this.view && this.element.clientWidth !== this.width && this.rebuild()).observe(
      this.element,
    );
  }

  colorOf(i) {
    const { lines } = theme();
    return lines[i % lines.length];
  }

  // Redraw the charts at the next show().
  invalidate() {
    this.shownKey = null;
  }

  // A new week only moves the markers; the charts are redrawn for another region, other pins or other colours.
  show(view) {
    this.view = view;
    const key = [view.release.entry.key, view.n, ...view.pins].join(" ");
    if (key !== this.shownKey) this.rebuild();
    this.shownKey = key;
    this.drawn.forEach(({ chart, card, values, setWeek }, i) => {
      setWeek(view.week);
      card.classList.toggle("selected", i === view.trend);
      values.replaceChildren(...readout(chart, view.week));
    });
    this.showPeriod();
    this.enlarged.show(this.drawn.map(({ chart }) => chart), view.week);
    byId("series-title").textContent = say(view.pins.some((n) => n !== view.n) ? "comparison" : "series");
  }

  rebuild() {
    this.width = this.element.clientWidth;
    if (!this.width) return;
    const { release: r, week } = this.view;
    this.height = Math.max(118, Math.min(170, this.width * 0.3));
    this.drawn = r.trends.map((_, trend) => this.card(this.chart(trend), this.height));
    this.element.replaceChildren(...this.drawn.map(({ card }) => card));
    this.drawLegend();
    this.drawBreaks();
    this.drawTable();
    this.drawn.forEach(({ chart, values, card }, i) => {
      values.replaceChildren(...readout(chart, week));
      card.classList.toggle("selected", i === this.view.trend);
    });
    this.showPeriod();
  }

  // Shade a period: the one given, else the one of the view, if it has one.
  showPeriod(first = null, last = null) {
    const { measure } = this.view;
    const own = measure.kind === "average" ? [measure.first, measure.last] : [null];
    for (const { setPeriod } of this.drawn) setPeriod(...(first === null ? own : [first, last]));
  }

  chart(trend) {
    const chart = this.linesOf(trend);
    const { release: r, n, container } = this.view;
    const colors = theme();
    if (chart.parent)
      chart.context.push({ label: r.label(r.parents[n]), color: colors.parent, dash: "5 3", width: 1.4 });
    if (chart.children.length)
      chart.context.push({
        label: say("each_child", { level: r.level(r.children(container)[0]).label }),
        color: colors.faint,
        width: 1.5,
      });
    return chart;
  }

  linesOf(trend) {
    const { release: r, n, pins, container, week } = this.view;
    const { ownSeries, pinnedSeries, parentSeries, childSeries } = this.view;
    const line = (region, series, i) => ({
      label: r.label(region),
      region,
      cells: series?.line(region, trend) ?? r.weeks.map(() => null),
      color: this.colorOf(i),
      dash: DASHES[i % DASHES.length],
      missing: (at) => r.whyMissing(region, at).short,
    });
    const others = pins.map((pin, i) => [pin, pinnedSeries[i]]).filter(([pin]) => pin !== n);
    const children = container === n && childSeries ? r.children(n).filter((child) => childSeries.has(child)) : [];
    const showParent = parentSeries?.has(r.parents[n]) && !pins.includes(r.parents[n]);
    return {
      title: r.trends[trend].title,
      weeks: r.weeks,
      week,
      breaks: r.breaks,
      lines: [line(n, ownSeries, 0), ...others.map(([pin, series], i) => line(pin, series, i + 1))],
      context: [],
      parent: showParent ? parentSeries.line(r.parents[n], trend) : null,
      children: children
        .slice(0, MAX_CHILD_LINES)
        .map((child) => ({ label: r.label(child), cells: childSeries.line(child, trend) })),
    };
  }

  card(chart, height) {
    const drawn = drawChart(chart, this.width, height);
    const values = h("div", { class: "readout" });
    const hoverWeek = h("div", { class: "hover-week", hidden: true });
    const enlarge = enlargeButton(chart, () => this.enlarged.open(chart));
    const head = h("div", { class: "chart-head" }, h("h4", {}, chart.title), h("div", {}, values, enlarge));
    const card = h("div", { class: "chart" }, head, h("div", { class: "plot" }, drawn.svg, hoverWeek));
    const parts = { chart, card, values, hoverWeek, ...drawn };
    const position = (event) => {
      const box = drawn.svg.getBoundingClientRect();
      return [drawn.weekAt(event.clientX - box.left), event.clientY - box.top];
    };
    brushWeeks(drawn, (first, last) => this.showPeriod(first, last), this.onPeriod);
    drawn.svg.addEventListener("pointermove", (event) => this.hover(position(event), parts));
    drawn.svg.addEventListener("pointerleave", () => this.hover([this.view.week, null], null));
    drawn.svg.addEventListener("click", (event) => this.onWeek(position(event)[0]));
    return parts;
  }

  // All charts show the week under the pointer, or else the selected one; the chart under the pointer also names the
  // child line there.
  hover([week, y], hovered) {
    for (const parts of this.drawn) {
      const { chart, values, hoverWeek } = parts;
      const child = parts === hovered ? parts.childAt(week, y) : null;
      parts.markWeek(week, child);
      values.replaceChildren(...readout(chart, week));
      const texts = week === this.view.week ? [] : [weekLabel(chart.weeks[week])];
      if (child) texts.push(say("child_value", { region: child.label, value: formatNumber(child.cells[week].value) }));
      hoverWeek.hidden = !texts.length;
      hoverWeek.textContent = texts.join(" · ");
    }
  }

  drawLegend() {
    const { release: r } = this.view;
    const [{ chart }] = this.drawn;
    const colors = theme();
    const item = (symbol, label) => h("span", { class: "legend-item" }, symbol, label);
    const stroke = (color, width, dash) =>
      s(
        "svg",
        { width: 26, height: 10, "aria-hidden": "true" },
        s("line", { x1: 1, x2: 25, y1: 5, y2: 5, stroke: color, "stroke-width": width, "stroke-dasharray": dash }),
      );
    const band = s(
      "svg",
      { width: 26, height: 12, "aria-hidden": "true" },
      s("rect", { width: 26, height: 12, fill: chart.lines[0].color, "fill-opacity": 0.2 }),
      s("line", { x1: 0, x2: 26, y1: 6, y2: 6, stroke: chart.lines[0].color, "stroke-width": 2 }),
    );
    const [{ label: region }] = chart.lines;
    const own = r.confidence
      ? say("line_with_interval", { region, confidence: formatPercent(r.confidence) })
      : say("line_with_some_interval", { region });
    const items = [item(band, own)];
    for (const line of chart.lines.slice(1)) items.push(item(stroke(line.color, 2.5, line.dash), line.label));
    for (const line of chart.context) items.push(item(stroke(line.color, line.width, line.dash), line.label));
    const gaps = this.drawn.some(({ chart: { lines } }) => lines[0].cells.includes(null));
    if (gaps)
      items.push(
        item(
          s(
            "svg",
            { width: 22, height: 8, "aria-hidden": "true" },
            s("path", { d: "M1,7l5,-6M6,7l5,-6M11,7l5,-6M16,7l5,-6", stroke: colors.muted, fill: "none" }),
          ),
          say("weeks_without_value"),
        ),
      );
    byId("series-legend").replaceChildren(...items);
  }

  // The breaks in words: the letter of its mark, the week as a button that shows it, and what differs.
  drawBreaks() {
    const { breaks, weeks: all } = this.view.release;
    byId("break-list").replaceChildren(
      ...breaks.map(({ week, label, text }, i) =>
        h(
          "li",
          {},
          h("strong", { class: "letter" }, breakLetter(i)),
          partsOf("break_item", {
            week: h("button", { type: "button", class: "link", onclick: () => this.onWeek(week) }, weekLabel(all[week])),
            label,
            text,
          }),
        ),
      ),
    );
    byId("breaks-title").textContent = say(breaks.some(({ alone }) => alone) ? "breaks_and_notes" : "breaks");
    byId("breaks").hidden = !breaks.length;
  }

  drawTable() {
    if (byId("series-details").open && this.drawn.length)
      byId("series-table").replaceChildren(seriesTable(this.drawn.map(({ chart }) => chart)));
  }

  csv() {
    const { release: r } = this.view;
    const trends = r.trends.map((_, t) => t);
    const regions = this.drawn[0].chart.lines.map(({ region }) => region);
    const rows = regions.flatMap((region, i) =>
      r.weeks.map((iso, week) => [
        iso,
        ...regionFields(r, region),
        ...trends.flatMap((t) => valueFields(r, this.drawn[t].chart.lines[i].cells[week])),
      ]),
    );
    return [["date", ...REGION_COLUMNS, ...valueColumns(r, trends)], ...rows];
  }

  picture() {
    const { release: r, n, week } = this.view;
    const breaks = r.breaks.map(({ week: at, label }, i) =>
      say("picture_break", { letter: breakLetter(i), label, date: shortDate(r.weeks[at]) }),
    );
    const said = [sourceLine(r), r.peakSentence, ...breaks, say("picture_gaps"), viewAddress()];
    const source = said.filter(Boolean).join(" ");
    const subtitle = say("selected_week", { dates: weekDates(r.weeks[week]) });
    return inLight(() => {
      const drawn = r.trends.map((_, trend) => this.chart(trend));
      const charts = drawn.map((chart) => ({ ...chart, svg: drawChart(chart, this.width, this.height).svg }));
      return seriesPicture(charts, { title: r.label(n), subtitle, source });
    });
  }

  name() {
    const { release: r, n } = this.view;
    return `series_${r.codes[n]}`.replace(/[^\w.-]+/g, "-");
  }
}
