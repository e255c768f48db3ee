// The map card: the map with its title, level buttons, tooltip, legend, zoom buttons and downloads.

import { byId, h, s } from "./dom.js";
import { REGION_COLUMNS, downloadMenu, regionFields, valueColumns, valueFields } from "./download.js";
import { capitalize, formatInterval, formatNumber, weekLabel } from "./format.js";
import { RegionMap } from "./map.js";
import { Outlines } from "./outline.js";
import { colorScale, hatchSwatch, mapPicture } from "./picture.js";
import { classOf } from "./theme.js";

const SCALE_WIDTH = 324;
const NO_OUTLINES = { name: "", label: "", start: 0, count: 0 }; // only the centres of regions are known
const SAME_COLORS = "Colours mean the same in every week.";

export class MapPanel {
  // handlers: { onPick(n), onUp(), onLevel(name) }
  constructor(handlers) {
    this.handlers = handlers;
    byId("zoom-in").addEventListener("click", () => this.map?.zoom(1.8));
    byId("zoom-out").addEventListener("click", () => this.map?.zoom(1 / 1.8));
    byId("zoom-fit").addEventListener("click", () => this.map?.fit());
    const content = { csv: () => this.csv(), picture: () => this.picture(), name: () => this.name() };
    byId("map-downloads").append(downloadMenu("the map", content));
  }

  setRelease(release) {
    this.map?.destroy();
    Object.assign(this, { release, map: null, view: null });
  }

  async show(view) {
    this.view = view;
    if (!this.map) await this.createMap(view.release);
    if (this.view !== view || !this.map) return;
    const { release: r, trend, week, block, childSeries, container } = view;
    const levels = r.levels.filter((level) => level.outlined);
    const level = (container === 0 && levels.find((l) => l.name === view.by)) || levels.at(-1) || NO_OUTLINES;
    this.cellOf = (n) => (n < r.core ? block.at(n, week) : (childSeries?.at(n, trend, week) ?? null));
    const valueOf = (n) => (n < r.core ? block.value(n, week) : (childSeries?.at(n, trend, week)?.value ?? NaN));
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
    this.drawLegend();
    if (moved && document.activeElement === byId("map")) announce(`Showing ${r.label(container)}`);
    if (this.map.hover !== null) this.drawTip(this.map.hover, this.tipPosition);
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
    const title = `${r.trends[trend].title} by ${finest.label}`;
    byId("map-title").textContent = title;
    byId("map").setAttribute("aria-label", `${title} in ${r.label(container)}, ${weekLabel(r.weeks[week])}`);
    const choice = container === 0 && levels.length > 1;
    const button = (l) =>
      h(
        "button",
        { type: "button", "aria-pressed": String(l === level), onclick: () => this.handlers.onLevel(l.name) },
        capitalize(l.label),
      );
    byId("map-levels").replaceChildren(
      ...(choice
        ? [h("span", { class: "switch", role: "group", "aria-label": "Regions on the map" }, levels.map(button))]
        : []),
    );
  }

  drawLegend() {
    const { release: r, trend } = this.view;
    const scale = s(
      "svg",
      {
        class: "scale",
        viewBox: `-2 -8 ${SCALE_WIDTH + 26} 40`,
        width: SCALE_WIDTH + 26,
        height: 40,
        role: "img",
        "aria-label": this.scaleDescription(),
      },
      colorScale(r, r.trends[trend], 0, 0, SCALE_WIDTH),
    );
    this.pointer = s("path", { d: "M-5,-8h10l-5,7z", fill: "currentColor", visibility: "hidden" });
    scale.append(this.pointer);
    byId("legend").replaceChildren(
      scale,
      h(
        "div",
        { class: "missing-kinds" },
        r.missingKinds.map(([kind, label]) => h("span", {}, hatchSwatch(kind), label)),
      ),
      h("p", { class: "peak" }, r.peak ? `${r.peak}. ${SAME_COLORS}` : SAME_COLORS),
    );
  }

  scaleDescription() {
    const { release: r, trend } = this.view;
    const { step } = r.trends[trend];
    const top = formatNumber(step * (r.classes - 1));
    return `Colours in steps of ${formatNumber(step)} from 0 to ${top} and above. ${SAME_COLORS} Hatched: no value.`;
  }

  hover(n, position) {
    this.tipPosition = position;
    if (n === null) {
      byId("tip").hidden = true;
      this.pointer?.setAttribute("visibility", "hidden");
      return;
    }
    this.drawTip(n, position);
    if (document.activeElement === byId("map"))
      announce(`${this.release.label(n)}: ${this.valueText(n, this.cellOf(n))}`);
  }

  valueText(n, cell) {
    if (!cell) return this.release.whyMissing(n, this.view.week).text;
    return cell.low === null
      ? formatNumber(cell.value)
      : `${formatNumber(cell.value)}, between ${formatNumber(cell.low)} and ${formatNumber(cell.high)}`;
  }

  drawTip(n, [x, y] = this.map.positionOf(n)) {
    const { release: r } = this;
    const cell = this.cellOf(n);
    const tip = byId("tip");
    tip.replaceChildren(
      h("strong", {}, r.label(n)),
      h("span", { class: "location" }, r.location(n)),
      cell
        ? h(
            "span",
            { class: "value" },
            formatNumber(cell.value),
            cell.low === null ? null : h("span", { class: "range" }, formatInterval(cell)),
          )
        : h("span", { class: "missing" }, r.whyMissing(n, this.view.week).text),
    );
    tip.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = tip;
    const left = Math.min(Math.max(4, x - width / 2), this.map.width - width - 4);
    const above = y - height - 16;
    tip.style.left = `${left}px`;
    tip.style.top = `${above < 4 ? y + 22 : above}px`;
    this.markScale(cell);
  }

  // Point at the value on the colour scale.
  markScale(cell) {
    const { release: r, trend } = this.view;
    this.pointer.setAttribute("visibility", cell ? "visible" : "hidden");
    if (!cell) return;
    const { step } = r.trends[trend];
    const last = classOf(cell.value, r.trends[trend], r.classes) === r.classes - 1;
    const x = last ? r.classes - 0.5 : cell.value / step;
    this.pointer.setAttribute("transform", `translate(${(x * SCALE_WIDTH) / r.classes},0)`);
  }

  showWheelHint() {
    byId("wheel-hint").hidden = false;
    clearTimeout(this.hintTimer);
    this.hintTimer = setTimeout(() => (byId("wheel-hint").hidden = true), 1200);
  }

  csv() {
    const { release: r, trend, week } = this.view;
    const rows = this.map.targets.map((n) => [r.weeks[week], ...regionFields(r, n), ...valueFields(r, this.cellOf(n))]);
    return [["date", ...REGION_COLUMNS, ...valueColumns(r, [trend])], ...rows];
  }

  picture() {
    const { release: r, trend, container } = this.view;
    const source = `${r.title}. ${r.peak ? `${r.peak}. ` : ""}Hatched: no value (not 0).`;
    return mapPicture(this.map, r, { title: `${r.trends[trend].title}, ${r.label(container)}`, source });
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
