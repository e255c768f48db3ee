// The card of the table of regions: which regions it lists, and their values by the measure of the view.

import { judge } from "./differences.js";
import { byId, h } from "./dom.js";
import { capitalize } from "./format.js";
import { loadMapValues, measured } from "./measures.js";
import { say } from "./messages.js";
import { scaleFor } from "./scales.js";
import { RegionTable } from "./table.js";

export class TableCard {
  // handlers: { onOpen(n), onPin(n), onRefresh() }
  constructor(handlers) {
    Object.assign(this, { handlers, choice: null, showAllRows: false });
    this.table = new RegionTable(byId("table"), byId("table-filter"));
  }

  // Another region: from its first rows on, and of its children.
  reset() {
    this.showAllRows = false;
    if (this.choice === "siblings") this.choice = null;
  }

  // isCurrent() says whether the view is still wanted; mapShown resolves when the map has its scale.
  async show(view, pins, mapShown, isCurrent) {
    const choices = this.choices(view);
    const chosen = choices.find(({ kind }) => kind === this.choice) ?? choices[0];
    const cellOf = await this.cellsOf(view, chosen);
    const shared = view.measure.kind !== "week" || view.fitted ? await mapShown : null;
    if (!isCurrent()) return;
    const { release: r, trend, measure } = view;
    byId("table-title").textContent = say("table_title", {
      region: r.label(chosen.within),
      level: chosen.level?.label ?? say("region"),
    });
    byId("table-levels").replaceChildren(...(choices.length > 1 ? [this.levelSwitch(choices, chosen)] : []));
    byId("table-card").hidden = !chosen.rows.length;
    if (!chosen.rows.length) return;
    const cells = chosen.rows.map((n) => cellOf(n, trend));
    const values = cells.filter(Boolean).map(({ value }) => value);
    this.table.show({
      release: r,
      list: `${chosen.kind} ${chosen.within}`,
      rows: chosen.rows,
      cellOf,
      trend,
      week: view.week,
      measure,
      why: (n, t) => measure.why(n, (week) => chosen.read(n, t, week)),
      scale: shared ?? scaleFor(view, values),
      judged: measure.kind === "change" ? judge(cells) : null,
      pins,
      showAllRows: this.showAllRows,
      selected: view.n,
      onOpen: this.handlers.onOpen,
      onPin: this.handlers.onPin,
      onShowAll: () => {
        this.showAllRows = true;
        this.handlers.onRefresh();
      },
    });
  }

  // The children; of the country also the finest regions of the map; and the region among its siblings. Where no child
  // has a value, the siblings come first.
  choices({ release: r, n, container, childSeries, parentSeries }) {
    const level = r.levels[r.levels.indexOf(r.level(container)) + 1];
    const finest = r.levels.filter((l) => l.outlined).at(-1);
    const rows = r.children(container);
    const found = [{ kind: "children", level, within: container, rows, read: reader(childSeries) }];
    if (container === 0 && finest && finest !== level)
      found.push({ kind: "finest", level: finest, within: 0, rows: regionsOf(finest) });
    if (n !== container || r.parents[n] < 0) return found;
    const parent = r.parents[n];
    const own = { level: r.level(n), within: parent, rows: r.children(parent) };
    const siblings = { kind: "siblings", ...own, read: reader(parentSeries) };
    return rows.some((child) => childSeries?.has(child)) ? [...found, siblings] : [siblings, ...found];
  }

  // A function of region and trend. The finest regions of the country are in the files of the map.
  async cellsOf({ release: r, measure }, chosen) {
    if (chosen.kind === "finest") {
      const values = await Promise.all(r.trends.map((_, t) => loadMapValues(r, t, measure.weeks)));
      chosen.read = (n, t, week) => values[t](n, week);
    }
    const cells = r.trends.map((_, t) => measured(measure, (n) => (week) => chosen.read(n, t, week)));
    return (n, t) => cells[t](n);
  }

  levelSwitch(choices, chosen) {
    const choose = (kind) => {
      Object.assign(this, { choice: kind, showAllRows: false });
      this.handlers.onRefresh();
    };
    const button = ({ kind, level }) =>
      h(
        "button",
        { type: "button", "aria-pressed": String(kind === chosen.kind), onclick: () => choose(kind) },
        capitalize(level?.label ?? say("region")),
      );
    return h("span", { class: "switch", role: "group", "aria-label": say("table_levels") }, choices.map(button));
  }
}

const reader = (series) => (n, trend, week) => series?.at(n, trend, week) ?? null;

const regionsOf = (level) => Array.from({ length: level.count }, (_, i) => level.start + i);
