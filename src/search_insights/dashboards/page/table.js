// The table of regions: the same values as the map, with intervals, sortable by any column.

import { h, s } from "./dom.js";
import { capitalize, compareNames, formatInterval, formatNumber } from "./format.js";
import { say } from "./messages.js";
import { colorOf, theme } from "./theme.js";

const FIRST_ROWS = 15;
const BAR_WIDTH = 150;

const missing = (text) => h("span", { class: "missing" }, text);

// view: { release, rows, cellOf(n, trend), trend, week, pins, selected, showAllRows, onOpen(n), onPin(n), onShowAll() }
export class RegionTable {
  constructor(element) {
    this.element = element;
    this.sort = { key: "value", down: true };
  }

  show(view) {
    if (this.view && this.view.trend !== view.trend && this.sort.key !== "name")
      this.sort = { key: "value", down: true };
    this.view = view;
    const { release } = view;
    const sorted = this.sorted();
    const shown = sorted.filter((n, i) => view.showAllRows || i < FIRST_ROWS || n === view.selected);
    const codes = view.rows.some((n) => release.codes[n] !== release.names[n] && !release.level(n).codes);
    const top = release.trends[view.trend].step * release.classes;
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
          codes && this.head("code", say("code"), "narrow"),
          this.trendHeads(),
          h("th", { scope: "col", class: "pin-cell" }, h("span", { class: "visually-hidden" }, say("compare"))),
        ),
      ),
      h(
        "tbody",
        {},
        shown.map((n) => this.row(n, codes, top)),
      ),
    );
    const label = say("show_all", { count: sorted.length });
    const showAll = h("button", { type: "button", class: "show-all", onclick: () => view.onShowAll() }, label);
    const focus = document.activeElement?.closest?.("[data-key]")?.dataset.key;
    this.element.replaceChildren(table, ...(shown.length < sorted.length ? [showAll] : []));
    if (focus) this.element.querySelector(`[data-key="${CSS.escape(focus)}"]`)?.focus();
  }

  sorted() {
    const { release, rows, cellOf, trend } = this.view;
    const { key, down } = this.sort;
    const text = { name: (n) => release.label(n), code: (n) => release.codes[n] }[key];
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
        ? [this.head("value", t.title, "wide"), h("th", { scope: "col" }, say("interval_head"))]
        : this.head(String(i), t.title, "other"),
    );
  }

  head(key, label, className = "") {
    const active = this.sort.key === key;
    const arrow = active ? (this.sort.down ? "▼" : "▲") : "";
    const sort = () => {
      this.sort = { key, down: active ? !this.sort.down : key !== "name" && key !== "code" };
      this.show(this.view);
    };
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

  row(n, codes, top) {
    const { release, cellOf, trend, pins, onOpen, onPin } = this.view;
    const name = h(
      "button",
      { type: "button", class: "link", "data-key": `open ${n}`, onclick: () => onOpen(n) },
      release.label(n),
    );
    const pinned = pins.includes(release.ids[n]);
    const values = release.trends.flatMap((_, i) =>
      i === trend
        ? this.intervalCells(n, cellOf(n, i), top)
        : [h("td", { class: "number other" }, this.valueText(n, cellOf(n, i)))],
    );
    const selected = n === this.view.selected;
    return h(
      "tr",
      { class: selected ? "selected" : null, "aria-current": selected ? "true" : null },
      h("th", { scope: "row" }, name),
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

  valueText(n, cell) {
    return cell ? formatNumber(cell.value) : missing(this.view.release.whyMissing(n, this.view.week).short);
  }

  // The selected trend has its interval beside the value.
  intervalCells(n, cell, top) {
    if (!cell) {
      const { text } = this.view.release.whyMissing(n, this.view.week);
      return [h("td", { class: "missing-cell wide", colspan: 2 }, missing(text))];
    }
    const range = cell.low === null ? "" : formatInterval(cell);
    return [
      h(
        "td",
        { class: "number wide" },
        h("div", { class: "bar" }, this.bar(cell, top), h("strong", {}, formatNumber(cell.value))),
      ),
      h("td", { class: "number range" }, range),
    ];
  }

  // The value as a dot on the map's colour scale, with its interval as a line.
  bar(cell, top) {
    const colors = theme();
    const { release, trend } = this.view;
    const x = (value) => 5 + (Math.min(value, top) / top) * (BAR_WIDTH - 10);
    return s(
      "svg",
      { width: BAR_WIDTH, height: 14, viewBox: `0 0 ${BAR_WIDTH} 14`, "aria-hidden": "true" },
      s("line", { x1: 5, x2: BAR_WIDTH - 5, y1: 7, y2: 7, stroke: colors.grid, "stroke-width": 1 }),
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
        fill: colorOf(cell.value, release.trends[trend], release.classes),
        stroke: colors.ink,
        "stroke-width": 1,
      }),
    );
  }
}
