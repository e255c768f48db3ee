// The map card: the map with its title, level buttons, tooltip, legend, zoom buttons and downloads.

import { reuseNote, sourceLine, viewAddress } from "./credits.js";
import { judge } from "./differences.js";
import { byId, h } from "./dom.js";
import { REGION_COLUMNS, downloadMenu, regionFields, valueColumns, valueFields } from "./download.js";
import { capitalize, formatInterval, formatNumber, formatSigned, weekLabel } from "./format.js";
import { Legend } from "./legend.js";
import { RegionMap } from "./map.js";
import { describe, detailOf, loadMapValues, measureRows, measured } from "./measures.js";
import { say } from "./messages.js";
import { Outlines } from "./outline.js";
import { mapPicture } from "./picture.js";
import { scaleFor } from "./scales.js";
import { inLight } from "./theme.js";
import { recentWeeks, showContext } from "./tooltip.js";

const NO_OUTLINES = { name: "", label: "", start: 0, count: 0 }; // only the centres of regions are known
const CONTEXT_DELAY = 120; // milliseconds

export class MapPanel {
  // handlers: { onPick(n), onUp(), onLevel(name), onScale(name) }
  constructor(handlers) {
    this.handlers = handlers;
    this.legend = new Legend(handlers.onScale);
    byId("zoom-in").addEventListener("click", () => this.map?.zoom(1.8));
    byId("zoom-out").addEventListener("click", () => this.map?.zoom(1 / 1.8));
    byId("zoom-fit").addEventListener("click", () => this.map?.fit());
    const note = () => reuseNote(this.release, this.view.trend);
    const content = { csv: () => this.csv(), picture: () => this.picture(), name: () => this.name(), note };
    byId("map-downloads").append(downloadMenu(say("download_map"), content));
  }

  setRelease(release) {
    this.map?.destroy();
    Object.assign(this, { release, map: null, view: null });
  }

  async show(view) {
    this.view = view;
    if (!this.map) await this.createMap(view.release);
    if (this.view !== view || !this.map) return;
    const { release: r, trend, week, block, childSeries, container, measure } = view;
    const levels = r.levels.filter((level) => level.outlined);
    const level = (container === 0 && levels.find((l) => l.name === view.by)) || levels.at(-1) || NO_OUTLINES;
    this.cellsOf = (n) => (at) => (n < r.core ? view.readMap(n, at) : (childSeries?.at(n, trend, at) ?? null));
    this.cellOf = measured(measure, this.cellsOf);
    const weekValue = (n) => (n < r.core ? block.value(n, week) : (childSeries?.at(n, trend, week)?.value ?? NaN));
    const valueOf = measure.kind === "week" ? weekValue : (n) => this.cellOf(n)?.value ?? NaN;
    const outlined = this.outlinedAncestor(container);
    const moved = this.map.scene && this.map.scene.container !== outlined;
    this.map.show({
      container: outlined,
      level,
      trend: r.trends[trend],
      week,
      valueOf,
      pins: view.pins,
      selected: view.n,
    });
    this.drawTitle(level, levels);
    this.drawScale(valueOf);
    if (moved && document.activeElement === byId("map")) announce(say("showing", { region: r.label(container) }));
    if (this.map.hover !== null) this.drawTip(this.map.hover, this.tipPosition);
    return this.map.scene.scale;
  }

  // The colours of the scene, which depend on the regions that it shows, and the legend that explains them.
  drawScale(valueOf) {
    const { view, map } = this;
    const values = map.targets.map(valueOf).filter((value) => !Number.isNaN(value));
    const judged = view.measure.kind === "change" ? judge(map.targets.map(this.cellOf)) : null;
    const isUnsure = (n) => judged !== null && this.cellOf(n)?.p > judged.limit;
    Object.assign(map.scene, { scale: scaleFor(view, values), judged, isUnsure });
    this.legendOf = [view.release, map.scene, values, view.measure];
    this.legend.show(...this.legendOf);
  }

  async createMap(r) {
    const outlines = new Outlines(await r.outlines());
    if (this.release !== r || this.map) return;
    this.map = new RegionMap(byId("map"), outlines, r, {
      onPick: this.handlers.onPick,
      onUp: this.handlers.onUp,
      onHover: (n, position) => this.hover(n, position),
      onWheel: () => this.showWheelHint(),
    });
  }

  // The region itself or its nearest ancestor that has an outline; else the country, which is the whole map. On a map
  // of points alone every region has a place.
  outlinedAncestor(n) {
    if (!this.view.release.levels.some((level) => level.outlined)) return n;
    return this.view.release.lineage(n).find((ancestor) => this.map.outlines.has(ancestor)) ?? 0;
  }

  drawTitle(level, levels) {
    const { release: r, trend, container, week } = this.view;
    const finest = this.map.points.length ? r.level(this.map.points[0]) : level;
    const words = { topic: r.trends[trend].title, level: finest.label };
    const where = { region: r.label(container), week: describe(r, this.view.measure) || weekLabel(r.weeks[week]) };
    byId("map-title").textContent = say(`map_title_${this.view.measure.kind}`, words);
    byId("map").setAttribute("aria-label", say("map_label", { ...words, ...where }));
    const choice = container === 0 && levels.length > 1;
    const button = (l) =>
      h(
        "button",
        { type: "button", "aria-pressed": String(l === level), onclick: () => this.handlers.onLevel(l.name) },
        capitalize(l.label),
      );
    byId("map-levels").replaceChildren(
      ...(choice
        ? [h("span", { class: "switch", role: "group", "aria-label": say("map_levels") }, levels.map(button))]
        : []),
    );
  }

  hover(n, position) {
    this.tipPosition = position;
    if (n === null) {
      byId("tip").hidden = true;
      this.legend.mark(null);
      return;
    }
    this.drawTip(n, position);
    if (document.activeElement === byId("map"))
      announce(say("region_value", { region: this.release.label(n), value: this.valueText(n, this.cellOf(n)) }));
  }

  valueText(n, cell) {
    if (!cell) return this.whyOf(n);
    if (this.view.measure.kind === "change") return `${formatSigned(cell.value)}: ${this.detail(n, cell)}`;
    const [value, low, high] = [cell.value, cell.low, cell.high].map((each) => each !== null && formatNumber(each));
    return low === false ? value : say("value_between", { value, low, high });
  }

  whyOf(n) {
    return this.view.measure.why(n, this.cellsOf(n)).text;
  }

  // What stands beside a difference or an average: the two values and whether they differ; the weeks behind it.
  detail(n, cell) {
    return detailOf(this.view.measure, cell, this.map.scene.isUnsure(n));
  }

  // Draw again at once, in the colours of now, for paper.
  paintNow(ratio) {
    if (!this.map?.scene?.scale) return;
    this.legend.show(...this.legendOf);
    this.map.paintNow(ratio);
  }

  // The cells of a topic, once they are there: of the map's regions all recent weeks, of finer ones the whole series.
  async readTopic(t, n) {
    const { release: r, childSeries, week } = this.view;
    if (n >= r.core) return (region, at) => childSeries?.at(region, t, at) ?? null;
    const weeks = t === this.view.trend ? recentWeeks(r, week).filter((at) => at !== null) : [week];
    return loadMapValues(r, t, weeks);
  }

  // After a moment over a region the tooltip also gets what has to be loaded first.
  addContext(n, element, place) {
    clearTimeout(this.contextTimer);
    this.contextTimer = setTimeout(async () => {
      await showContext(element, this.view, n, (t) => this.readTopic(t, n));
      if (this.map?.hover === n) place();
    }, CONTEXT_DELAY);
  }

  drawTip(n, [x, y] = this.map.positionOf(n)) {
    const { release: r } = this;
    const cell = this.cellOf(n);
    const tip = byId("tip");
    const known = this.context?.key === `${n} ${this.view.trend} ${this.view.week}`;
    if (!known) this.context = { key: `${n} ${this.view.trend} ${this.view.week}`, element: h("div", { class: "context" }) };
    tip.replaceChildren(
      h("strong", {}, r.label(n)),
      h("span", { class: "location" }, r.location(n)),
      cell
        ? h(
            "span",
            { class: "value" },
            (this.view.measure.kind === "change" ? formatSigned : formatNumber)(cell.value),
            cell.low === null ? null : h("span", { class: "range" }, formatInterval(cell)),
          )
        : h("span", { class: "missing" }, this.whyOf(n)),
      this.view.measure.kind !== "week" && cell ? h("span", { class: "detail" }, this.detail(n, cell)) : "",
      this.context.element,
    );
    tip.hidden = false;
    const place = () => this.placeTip(tip, x, y);
    place();
    if (!known) this.addContext(n, this.context.element, place);
    this.legend.mark(cell);
  }

  // Above the region if there is room, else below it, else beside it: never cut, and never under the pointer.
  placeTip(tip, x, y) {
    const { offsetWidth: width, offsetHeight: height } = tip;
    const [above, below] = [y - height - 16, y + 22];
    const beside = above < 4 && below + height > this.map.height - 4;
    const left = beside ? (x + 20 + width < this.map.width ? x + 20 : x - width - 20) : x - width / 2;
    const top = beside ? Math.max(4, Math.min(y - height / 2, this.map.height - height - 4)) : above < 4 ? below : above;
    tip.style.left = `${Math.min(Math.max(4, left), this.map.width - width - 4)}px`;
    tip.style.top = `${top}px`;
  }

  showWheelHint() {
    byId("wheel-hint").hidden = false;
    clearTimeout(this.hintTimer);
    this.hintTimer = setTimeout(() => (byId("wheel-hint").hidden = true), 1200);
  }

  csv() {
    const { release: r, trend, week, measure } = this.view;
    if (measure.kind !== "week") return measureRows(r, trend, measure, this.map.targets, this.cellOf);
    const rows = this.map.targets.map((n) => [r.weeks[week], ...regionFields(r, n), ...valueFields(r, this.cellOf(n))]);
    return [["date", ...REGION_COLUMNS, ...valueColumns(r, [trend])], ...rows];
  }

  picture() {
    const { release: r, trend, container } = this.view;
    const said = [sourceLine(r), r.peakSentence, say("picture_hatched"), viewAddress()];
    const source = said.filter(Boolean).join(" ");
    const title = say("topic_in_region", { topic: r.trends[trend].title, region: r.label(container) });
    return inLight(() => mapPicture(this.map, r, { title, source, subtitle: describe(r, this.view.measure) }));
  }

  name() {
    const { release: r, trend, week, n } = this.view;
    return `map_${r.trends[trend].name}_${r.codes[n]}_${r.weeks[week]}`.replace(/[^\w.-]+/g, "-");
  }
}

// Have screen readers say a text.
function announce(text) {
  byId("announcement").textContent = text;
}
