// The map's card: title, level, tooltip, legend, zoom buttons and downloads around the map itself.

import { byId, h, s } from "./dom.js";
import { capital, interval, number, weekName } from "./format.js";
import { REGION_COLUMNS, downloadMenu, regionFields, valueColumns, valueFields } from "./download.js";
import { RegionMap } from "./map.js";
import { Outlines } from "./outline.js";
import { hatchSwatch, legendPicture, mapPicture } from "./picture.js";
import { classOf } from "./theme.js";

export class MapPanel {
  constructor(tell) {
    this.tell = tell;
    this.maps = new Map();
    byId("zoom-in").addEventListener("click", () => this.map?.zoom(1.8));
    byId("zoom-out").addEventListener("click", () => this.map?.zoom(1 / 1.8));
    byId("zoom-fit").addEventListener("click", () => this.map?.fit());
    const kept = { csv: () => this.csv(), picture: () => this.picture(), name: () => this.name() };
    byId("map-downloads").append(downloadMenu("the map", kept));
  }

  use(release) {
    this.map?.end();
    Object.assign(this, { release, map: null, view: null });
  }

  async show(view) {
    this.view = view;
    if (!this.map) await this.make(view.release);
    if (this.view !== view || !this.map) return;
    const { release: r, trend, week, block, below, container } = view;
    const shaped = r.levels.filter((level) => level.outlined);
    const level = (container === 0 && shaped.find((l) => l.name === view.by)) || shaped.at(-1);
    this.cellOf = (n) => (n < r.core ? block.at(n, week) : (below?.at(n, trend, week) ?? null));
    const valueOf = (n) => (n < r.core ? block.value(n, week) : (below?.at(n, trend, week)?.value ?? NaN));
    const centre = this.outlined(container);
    const moved = this.map.scene && this.map.scene.container !== centre;
    this.map.show({
      container: centre,
      level,
      trend: r.trends[trend],
      week,
      valueOf,
      pins: view.pins,
      selected: view.n,
    });
    this.drawTitle(level, shaped);
    this.drawLegend();
    if (moved && document.activeElement === byId("map")) byId("said").textContent = `Now in ${r.label(container)}`;
    if (this.map.hover !== null) this.drawTip(this.map.hover, this.tipAt);
  }

  async make(r) {
    const outlines = new Outlines(await r.outlines());
    if (this.release !== r || this.map) return;
    this.map = new RegionMap(byId("map"), outlines, r, {
      pick: this.tell.pick,
      up: this.tell.up,
      hover: (n, at) => this.hover(n, at),
      wheel: () => this.wheelHint(),
    });
  }

  // The region itself or the nearest above it that has a shape; the country is the whole map.
  outlined(n) {
    return this.view.release.lineage(n).find((above) => this.map.outlines.has(above)) ?? 0;
  }

  drawTitle(level, shaped) {
    const { release: r, trend, container, week } = this.view;
    const points = this.map.points.length;
    const finest = points ? r.level(this.map.points[0]) : level;
    byId("map-title").textContent = `${r.trends[trend].title} by ${finest.label}`;
    const where = `${r.trends[trend].title} by ${finest.label} in ${r.label(container)}, ${weekName(r.weeks[week])}`;
    byId("map").setAttribute("aria-label", where);
    const choice = container === 0 && shaped.length > 1;
    const button = (l) =>
      h(
        "button",
        { type: "button", "aria-pressed": String(l === level), onclick: () => this.tell.by(l.name) },
        capital(l.label),
      );
    byId("map-levels").replaceChildren(
      ...(choice
        ? [h("span", { class: "switch", role: "group", "aria-label": "Regions of the map" }, shaped.map(button))]
        : []),
    );
  }

  drawLegend() {
    const { release: r, trend } = this.view;
    const width = 324;
    const scale = s(
      "svg",
      {
        class: "scale",
        viewBox: `-2 -8 ${width + 26} 40`,
        width: width + 26,
        height: 40,
        role: "img",
        "aria-label": this.scaleWords(),
      },
      legendPicture(r, r.trends[trend], 0, 0, width),
    );
    this.pointer = s("path", { d: "M-5,-8h10l-5,7z", fill: "currentColor", visibility: "hidden" });
    scale.append(this.pointer);
    byId("legend").replaceChildren(
      scale,
      h(
        "div",
        { class: "kinds" },
        r.nothings.map(([kind, words]) => h("span", { class: "kind" }, hatchSwatch(kind), words)),
      ),
      h(
        "p",
        { class: "peak" },
        r.peak ? `${r.peak}. The same colours in every week.` : "The same colours in every week.",
      ),
    );
  }

  scaleWords() {
    const { release: r, trend } = this.view;
    const { step } = r.trends[trend];
    return `Colours in steps of ${number(step)} from 0 to ${number(step * (r.classes - 1))} and more, the same in every week. Hatched: no value.`;
  }

  hover(n, at) {
    this.tipAt = at;
    if (n === null) {
      byId("tip").hidden = true;
      this.pointer?.setAttribute("visibility", "hidden");
      return;
    }
    this.drawTip(n, at);
    const cell = this.cellOf(n);
    if (document.activeElement === byId("map"))
      byId("said").textContent = `${this.release.label(n)}: ${this.valueWords(n, cell)}`;
  }

  valueWords(n, cell) {
    if (!cell) return this.release.why(n).text;
    return cell.low === null
      ? number(cell.value)
      : `${number(cell.value)}, between ${number(cell.low)} and ${number(cell.high)}`;
  }

  drawTip(n, at = this.map.spot(n)) {
    const { release: r } = this;
    const cell = this.cellOf(n);
    const tip = byId("tip");
    tip.replaceChildren(
      h("strong", {}, r.label(n)),
      h("span", { class: "where" }, r.place(n)),
      cell
        ? h(
            "span",
            { class: "big" },
            number(cell.value),
            cell.low === null ? null : h("span", { class: "range" }, interval(cell)),
          )
        : h("span", { class: "none" }, r.why(n).text),
    );
    tip.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = tip;
    const left = Math.min(Math.max(4, at[0] - width / 2), this.map.width - width - 4);
    const over = at[1] - height - 16;
    tip.style.left = `${left}px`;
    tip.style.top = `${over < 4 ? at[1] + 22 : over}px`;
    this.point(cell);
  }

  // Where the value lies on the scale.
  point(cell) {
    const { release: r, trend } = this.view;
    this.pointer.setAttribute("visibility", cell ? "visible" : "hidden");
    if (!cell) return;
    const { step } = r.trends[trend];
    const last = classOf(cell.value, r.trends[trend], r.classes) === r.classes - 1;
    const x = last ? r.classes - 0.5 : cell.value / step;
    this.pointer.setAttribute("transform", `translate(${(x * 324) / r.classes},0)`);
  }

  wheelHint() {
    byId("wheel-hint").hidden = false;
    clearTimeout(this.hinting);
    this.hinting = setTimeout(() => (byId("wheel-hint").hidden = true), 1200);
  }

  csv() {
    const { release: r, trend, week } = this.view;
    const rows = this.map.targets.map((n) => [r.weeks[week], ...regionFields(r, n), ...valueFields(r, this.cellOf(n))]);
    return [["date", ...REGION_COLUMNS, ...valueColumns(r, [trend])], ...rows];
  }

  picture() {
    const { release: r, trend, container } = this.view;
    const source = `${r.title}. ${r.peak ? `${r.peak}. ` : ""}Hatched: no value, which is not 0.`;
    return mapPicture(this.map, r, { title: `${r.trends[trend].title}, ${r.label(container)}`, source });
  }

  name() {
    const { release: r, trend, week, n } = this.view;
    return `map_${r.trends[trend].name}_${r.codes[n]}_${r.weeks[week]}`.replace(/[^\w.-]+/g, "-");
  }
}
