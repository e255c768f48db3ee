// The table of regions: the same values as the map, with intervals, sortable by any column.

import { rowsOnPaper } from "./credits.js";
import { CONFIDENCE } from "./differences.js";
import { h, s } from "./dom.js";
import { capitalize, compareNames, formatNumber, formatPercent, formatSigned } from "./format.js";
import { say } from "./messages.js";
import { RowFilter } from "./table_filter.js";
import { theme } from "./theme.js";

const FIRST_ROWS = 15;
const BAR_WIDTH = 150;

const missing = (text) => h("span", { class: "missing" }, text);

// The end of the bars: the highest value or interval of the list, and at least one step of the colours.
function highest({ release, cellOf, trend }, rows) {
  const ends = rows.map((n) => cellOf(n, trend)).flatMap((cell) => (cell ? [cell.high ?? cell.value] : []));
  return ends.reduce((a, b) => Math.max(a, b), release.trends[trend].step);
}

// view: { release, list, rows, cellOf(n, trend), trend, week, measure, why(n, trend), scale, judged, pins, selected, showAllRows,
// onOpen(n), onPin(n), onShowAll() }
export class RegionTable {
  constructor(element, filter) {
    this.element = element;
    this.filter = new RowFilter(filter, () => this.show(this.view));
    this.sort = { key: "value", down: true };
    this.paperRows = null;
  }

  // On paper nothing can be opened: show all rows if there are at most so many; null is the screen.
  showOnPaper(most) {
    this.paperRows = most;
    if (this.view) this.show(this.view);
  }

  show(view) {
    if (this.view && this.view.trend !== view.trend && this.sort.key !== "name")
      this.sort = { key: "value", down: true };
    this.view = view;
    const { release } = view;
    this.filter.setList(view.list, view.rows.length > FIRST_ROWS);
    const sorted = this.sorted().filter(this.filter.matcher(release));
    const all = view.showAllRows || sorted.length <= (this.paperRows ?? 0);
    const shown = sorted.filter((n, i) => all || i < FIRST_ROWS || n === view.selected);
    this.top = highest(view, sorted);
    const places = new Set(view.rows.map((n) => release.parents[n])).size > 1;
    const codes = view.rows.some((n) => release.codes[n] !== release.names[n] && !release.level(n).codes);
    const table = h(
      "table",
      { class: "regions" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          this.head("name", capitalize(release.level(view.rows[0]).label)),
          places && this.head("place", capitalize(release.level(release.parents[view.rows[0]]).label), "narrow"),
          codes && this.head("code", say("code"), "narrow"),
          this.trendHeads(),
          h("th", { scope: "col", class: "pin-cell" }, h("span", { class: "visually-hidden" }, say("compare"))),
        ),
      ),
      h(
        "tbody",
        {},
        shown.map((n) => this.row(n, codes, places)),
      ),
    );
    const label = say("show_all", { count: sorted.length });
    const showAll = h("button", { type: "button", class: "show-all", onclick: () => view.onShowAll() }, label);
    const focus = document.activeElement?.closest?.("[data-key]")?.dataset.key;
    const note = h("p", { class: "paper" }, rowsOnPaper(shown.length, sorted.length));
    this.filter.showCount(sorted.length, view.rows.length);
    this.element.replaceChildren(table, ...(shown.length < sorted.length ? [showAll, note] : []));
    if (focus) this.element.querySelector(`[data-key="${CSS.escape(focus)}"]`)?.focus();
  }

  sorted() {
    const { release, rows, cellOf, trend } = this.view;
    const { key, down } = this.sort;
    const text = { name: (n) => release.label(n), code: (n) => release.codes[n], place: (n) => release.location(n) }[key];
    if (text) return rows.toSorted((a, b) => compareNames(text(a), text(b)) * (down ? -1 : 1));
    const which = key === "value" ? trend : Number(key);
    const value = new Map(rows.map((n) => [n, cellOf(n, which)?.value]));
    // Missing values stay last in both directions: they are neither the lowest nor the highest.
    return rows.toSorted((a, b) => {
      const [va, vb] = [value.get(a), value.get(b)];
      if (va === undefined || vb === undefined)
        return (va === undefined) - (vb === undefined) || compareNames(release.label(a), release.label(b));
      return (va - vb) * (down ? -1 : 1);
    });
  }

  trendHeads() {
    const { release, trend } = this.view;
    return release.trends.map((t, i) =>
      i === trend
        ? [this.head("value", t.title, "wide"), h("th", { scope: "col" }, this.intervalHead()), ...this.detailHeads]
        : this.head(String(i), t.title, "other"),
    );
  }

  // Intervals of differences have another confidence than those of values.
  intervalHead() {
    if (this.view.measure.kind !== "change") return say("interval_head");
    return say("interval_head_confidence", { confidence: formatPercent(CONFIDENCE) });
  }

  head(key, label, className = "") {
    const active = this.sort.key === key;
    const arrow = active ? (this.sort.down ? "▼" : "▲") : "";
    const sort = () => {
      this.sort = { key, down: active ? !this.sort.down : !["name", "place", "code"].includes(key) };
      this.show(this.view);
    };
    // On paper nothing can be sorted, and browsers leave buttons out of a head that they repeat.
    if (this.paperRows !== null) return h("th", { scope: "col", class: className }, label);
    return h(
      "th",
      { scope: "col", class: className, "aria-sort": active ? (this.sort.down ? "descending" : "ascending") : null },
      h(
        "button",
        { type: "button", class: "sort", "data-key": `sort ${key}`, onclick: sort },
        label,
        h("span", { class: "arrow", "aria-hidden": "true" }, arrow),
      ),
    );
  }

  row(n, codes, places) {
    const { release, cellOf, trend, pins, onOpen, onPin } = this.view;
    const name = h(
      "button",
      { type: "button", class: "link", "data-key": `open ${n}`, onclick: () => onOpen(n) },
      release.label(n),
    );
    const pinned = pins.includes(release.ids[n]);
    const values = release.trends.flatMap((_, i) =>
      i === trend
        ? this.intervalCells(n, cellOf(n, i))
        : [h("td", { class: "number other" }, this.valueText(n, i, cellOf(n, i)))],
    );
    const selected = n === this.view.selected;
    return h(
      "tr",
      { class: selected ? "selected" : null, "aria-current": selected ? "true" : null },
      h("th", { scope: "row" }, name),
      places && h("td", { class: "narrow" }, release.location(n)),
      codes && h("td", { class: "narrow" }, release.codes[n]),
      values,
      h(
        "td",
        { class: "pin-cell" },
        h(
          "button",
          {
            type: "button",
            class: "pin",
            "data-key": `pin ${n}`,
            "aria-pressed": String(pinned),
            "aria-label": say("compare_region", { region: release.label(n) }),
            title: say(pinned ? "unpin" : "pin_add"),
            onclick: () => onPin(n),
          },
          pinned ? "✓" : "+",
        ),
      ),
    );
  }

  valueText(n, trend, cell) {
    return cell ? this.format(cell.value) : missing(this.view.why(n, trend).short);
  }

  get format() {
    return this.view.measure.kind === "change" ? formatSigned : formatNumber;
  }

  formatRange({ low, high }) {
    return say("interval", { low: this.format(low), high: this.format(high) });
  }

  // Beside the interval: the two values of a difference, and whether it is beyond the noise; the weeks of an average.
  detailCells(cell) {
    const { measure, judged } = this.view;
    const number = (text) => h("td", { class: "number detail" }, text);
    if (measure.kind === "average") return [number(say("weeks_of", { weeks: cell.weeks, count: cell.of }))];
    if (measure.kind !== "change") return [];
    const verdict = say(cell.p > judged.limit ? "verdict_unsure" : "verdict_sure");
    return [number(formatNumber(cell.before)), number(formatNumber(cell.now)), h("td", { class: "detail" }, verdict)];
  }

  get detailHeads() {
    const heads = { average: ["weeks_head"], change: ["before_head", "now_head", "verdict_head"] };
    return (heads[this.view.measure.kind] ?? []).map((key) => h("th", { scope: "col", class: "detail" }, say(key)));
  }

  // The selected trend has its interval beside the value.
  intervalCells(n, cell) {
    if (!cell) {
      const { text } = this.view.why(n, this.view.trend);
      return [h("td", { class: "missing-cell wide", colspan: 2 + this.detailHeads.length }, missing(text))];
    }
    const range = cell.low === null ? "" : this.formatRange(cell);
    return [
      h(
        "td",
        { class: cell.p > this.view.judged?.limit ? "number wide unsure" : "number wide" },
        h("div", { class: "bar" }, this.bar(cell), h("strong", {}, this.format(cell.value))),
      ),
      h("td", { class: "number range" }, range),
      ...this.detailCells(cell),
    ];
  }

  // The value as a dot on the map's colour scale, with its interval as a line.
  bar(cell) {
    const colors = theme();
    const { scale } = this.view;
    // A difference has its place on the colour scale; a value has it up to the highest of the list, which may lie beyond.
    const share = (value) => (scale.kind === "change" ? scale.share(value) : Math.min(1, Math.max(0, value / this.top)));
    const x = (value) => 5 + share(value) * (BAR_WIDTH - 10);
    return s(
      "svg",
      { width: BAR_WIDTH, height: 14, viewBox: `0 0 ${BAR_WIDTH} 14`, "aria-hidden": "true" },
      s("line", { x1: 5, x2: BAR_WIDTH - 5, y1: 7, y2: 7, stroke: colors.grid, "stroke-width": 1 }),
      scale.kind === "change" && s("line", { x1: x(0), x2: x(0), y1: 1, y2: 13, stroke: colors.muted }),
      cell.low !== null &&
        s("line", {
          x1: x(cell.low),
          x2: x(cell.high),
          y1: 7,
          y2: 7,
          stroke: colors.muted,
          "stroke-width": 3,
          "stroke-opacity": 0.55,
          "stroke-linecap": "round",
        }),
      s("circle", {
        cx: x(cell.value),
        cy: 7,
        r: 4.5,
        fill: scale.colorOf(cell.value),
        stroke: colors.ink,
        "stroke-width": 1,
      }),
    );
  }
}
