// The card of series: one chart for each trend, with readouts, a key and a table behind them.

import { byId, h, s } from "./dom.js";
import { REGION_COLUMNS, downloadMenu, regionFields, valueColumns, valueFields } from "./download.js";
import { number, weekName, weekSpan } from "./format.js";
import { seriesPicture } from "./picture.js";
import { drawChart, readout, seriesTable } from "./series.js";
import { theme } from "./theme.js";

const DASHES = [null, "7 3", "2 3", "9 3 2 3", "5 2", "1 2"];
const MOST_CHILDREN = 400;

export class Charts {
  constructor(onWeek) {
    this.onWeek = onWeek;
    this.element = byId("charts");
    this.drawn = [];
    const kept = { csv: () => this.csv(), picture: () => this.picture(), name: () => this.name() };
    byId("series-downloads").append(downloadMenu("the series", kept));
    byId("series-details").addEventListener("toggle", () => this.drawTable());
    new ResizeObserver(() => this.view && this.element.clientWidth !== this.width && this.rebuild()).observe(
      this.element,
    );
  }

  colorOf(i) {
    const { lines } = theme();
    return lines[i % lines.length];
  }

  forget() {
    this.key = null;
  }

  // Moving the week moves a mark; only another region, pins or colours draw the charts anew.
  show(view) {
    this.view = view;
    const key = [view.release.entry.key, view.n, ...view.pins].join(" ");
    if (key !== this.key) this.rebuild();
    this.key = key;
    this.drawn.forEach(({ chart, card, read, setWeek }, i) => {
      setWeek(view.week);
      card.classList.toggle("chosen", i === view.trend);
      read.replaceChildren(...readout(chart, view.week));
    });
    byId("series-title").textContent = view.pins.some((n) => n !== view.n) ? "Compared over time" : "Over time";
  }

  rebuild() {
    this.width = this.element.clientWidth;
    if (!this.width) return;
    const { release: r, week } = this.view;
    const height = Math.max(118, Math.min(170, this.width * 0.3));
    this.drawn = r.trends.map((_, trend) => this.card(this.chart(trend), height));
    this.element.replaceChildren(...this.drawn.map(({ card }) => card));
    this.drawKey();
    this.drawTable();
    this.drawn.forEach(({ chart, read, card }, i) => {
      read.replaceChildren(...readout(chart, week));
      card.classList.toggle("chosen", i === this.view.trend);
    });
  }

  chart(trend) {
    const chart = this.linesOf(trend);
    const { release: r, n, container } = this.view;
    const colors = theme();
    if (chart.parent)
      chart.behind.push({ label: r.label(r.parents[n]), color: colors.parent, dash: "5 3", width: 1.4 });
    if (chart.children.length)
      chart.behind.push({ label: `each ${r.level(r.children(container)[0]).label}`, color: colors.faint, width: 1.5 });
    return chart;
  }

  linesOf(trend) {
    const { release: r, n, pins, own, pinned, above, below, container, week } = this.view;
    const line = (region, series, i) => ({
      label: r.label(region),
      region,
      cells: series?.line(region, trend) ?? r.weeks.map(() => null),
      color: this.colorOf(i),
      dash: DASHES[i % DASHES.length],
      why: short(r.why(region)),
    });
    const others = pins.map((pin, i) => [pin, pinned[i]]).filter(([pin]) => pin !== n);
    const children = container === n && below ? r.children(n).filter((child) => below.has(child)) : [];
    return {
      title: r.trends[trend].title,
      weeks: r.weeks,
      week,
      lines: [line(n, own, 0), ...others.map(([pin, series], i) => line(pin, series, i + 1))],
      behind: [],
      parent: above?.has(r.parents[n]) && !pins.includes(r.parents[n]) ? above.line(r.parents[n], trend) : null,
      children: children
        .slice(0, MOST_CHILDREN)
        .map((child) => ({ label: r.label(child), cells: below.line(child, trend) })),
    };
  }

  card(chart, height) {
    const drawn = drawChart(chart, this.width, height);
    const read = h("div", { class: "readout" });
    const when = h("div", { class: "hover-week", hidden: true });
    const head = h("div", { class: "chart-head" }, h("h4", {}, chart.title), read);
    const card = h("div", { class: "chart" }, head, h("div", { class: "plot" }, drawn.svg, when));
    const made = { chart, card, read, when, ...drawn };
    const place = (event) => {
      const box = drawn.svg.getBoundingClientRect();
      return [drawn.weekAt(event.clientX - box.left), event.clientY - box.top];
    };
    drawn.svg.addEventListener("pointermove", (event) => this.point(place(event), made));
    drawn.svg.addEventListener("pointerleave", () => this.point([this.view.week, null], null));
    drawn.svg.addEventListener("click", (event) => this.onWeek(place(event)[0]));
    return made;
  }

  // All charts show the week under the pointer, or else the chosen one; the chart under it names the grey line there.
  point([week, y], under) {
    for (const made of this.drawn) {
      const { chart, read, when } = made;
      const child = made === under ? made.childAt(week, y) : null;
      made.point(week, child);
      read.replaceChildren(...readout(chart, week));
      const words = week === this.view.week ? [] : [weekName(chart.weeks[week])];
      if (child) words.push(`${child.label} ${number(child.cells[week].value)}`);
      when.hidden = !words.length;
      when.textContent = words.join(" · ");
    }
  }

  drawKey() {
    const { release: r } = this.view;
    const [{ chart }] = this.drawn;
    const colors = theme();
    const item = (mark, words) => h("span", { class: "key-item" }, mark, words);
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
    const percent = r.confidence ? `${Math.round(100 * r.confidence)} % ` : "";
    const items = [item(band, `${chart.lines[0].label}, with ${percent}interval`)];
    for (const line of chart.lines.slice(1)) items.push(item(stroke(line.color, 2.5, line.dash), line.label));
    for (const line of chart.behind) items.push(item(stroke(line.color, line.width, line.dash), line.label));
    const gaps = this.drawn.some(({ chart: { lines } }) => lines[0].cells.includes(null));
    if (gaps)
      items.push(
        item(
          s(
            "svg",
            { width: 22, height: 8, "aria-hidden": "true" },
            s("path", { d: "M1,7l5,-6M6,7l5,-6M11,7l5,-6M16,7l5,-6", stroke: colors.muted, fill: "none" }),
          ),
          "weeks without a value",
        ),
      );
    byId("key").replaceChildren(...items);
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
    const charts = this.drawn.map(({ chart, svg }) => ({ ...chart, svg }));
    const source = `${r.title}. ${r.peak ? `${r.peak}. ` : ""}Gaps: no value, which is not 0.`;
    return seriesPicture(charts, { title: r.label(n), subtitle: `Marked week: ${weekSpan(r.weeks[week])}`, source });
  }

  name() {
    const { release: r, n } = this.view;
    return `series_${r.codes[n]}`.replace(/[^\w.-]+/g, "-");
  }
}

const short = ({ kind, text }) => (kind === "unreported" ? "not reported" : text.toLowerCase());
