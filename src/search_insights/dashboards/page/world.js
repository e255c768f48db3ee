// The first view of a site of several countries: a map of the world, and each country's values side by side. If the
// countries are not on one scale, no colour, order or common axis compares them.

import { loadJson } from "./data.js";
import { byId, h, s } from "./dom.js";
import { formatBytes, formatInterval, formatNumber, weekLabel } from "./format.js";
import { say } from "./messages.js";
import { colorScale, hatchSwatch } from "./picture.js";
import { colorOf, theme } from "./theme.js";

const SMALL = 12; // a country that is smaller on the map than this also gets a ring that can be seen and hit
const SCALE_WIDTH = 324;
const [SPARK_WIDTH, SPARK_HEIGHT] = [120, 34];
const LEAST_SHARE = 0.3; // of the world's width that is always shown, so that a few countries are seen among others
const MARGIN = 0.25; // around the countries, as a share of their extent

const cellOf = (numbers) => numbers && { value: numbers[0], low: numbers[1], high: numbers[2] };

export class WorldView {
  // handlers: { onOpen(key) }
  constructor(address, handlers) {
    Object.assign(this, { address, handlers });
    byId("world-title").textContent = say("world.title");
  }

  load() {
    this.loading ??= loadJson(this.address).catch((error) => {
      this.loading = null; // the next call tries again
      throw error;
    });
    return this.loading;
  }

  // Show a trend and a week, by name and date; returns the weeks, and which of them and of the trends are shown.
  async show(state) {
    const data = await this.load();
    const trend = Math.max(
      0,
      data.trends.findIndex((t) => t.name === state.trend),
    );
    const week = data.weeks.includes(state.week) ? data.weeks.indexOf(state.week) : fullestWeek(data, trend);
    Object.assign(this, { data, trend, week });
    this.countries = data.countries.map((country) => ({ ...country, cell: cellOf(country.values[trend][week]) }));
    byId("world-note").textContent = data.oneScale ? say("world.one_scale") : say("world.own_scales");
    byId("world-map-title").textContent = data.oneScale
      ? say("world.map_title", { topic: data.trends[trend].title })
      : say("world.map_title_own");
    byId("world-map").replaceChildren(this.map());
    byId("world-legend").replaceChildren(...this.legend());
    byId("world-table").replaceChildren(this.table());
    byId("world-files").replaceChildren(...data.files.map(fileLink));
    byId("world-files").hidden = !data.files.length;
    return { weeks: data.weeks, week, trend, trends: data.trends };
  }

  color(country) {
    if (!country.cell) return "url(#world-hatch)";
    if (!this.data.oneScale) return theme().ramp[4];
    return colorOf(country.cell.value, this.data.trends[this.trend], this.data.classes);
  }

  valueText({ cell }) {
    if (!cell) return say("world.no_value");
    return cell.low === null ? formatNumber(cell.value) : `${formatNumber(cell.value)} (${formatInterval(cell)})`;
  }

  open(key) {
    return (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return; // a link, in a tab of its own
      event.preventDefault();
      this.handlers.onOpen(key);
    };
  }

  map() {
    const { land, weeks } = this.data;
    const label = `${byId("world-map-title").textContent}, ${weekLabel(weeks[this.week])}`;
    const colors = theme();
    return s(
      "svg",
      { viewBox: this.frame().join(" "), role: "group", "aria-label": label, class: "world-svg" },
      s(
        "defs",
        {},
        s(
          "pattern",
          { id: "world-hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse" },
          s("rect", { width: 6, height: 6, fill: colors.blank }),
          s("path", { d: "M-1,7L7,-1", stroke: colors.hatch }),
        ),
      ),
      s("path", { d: land, fill: colors.grid, stroke: colors.surface, "vector-effect": "non-scaling-stroke" }),
      this.countries.map((country) => this.place(country)),
    );
  }

  // The part of the world around the countries, in the shape of the whole: [x, y, width, height].
  frame() {
    const { width, height, countries } = this.data;
    const boxes = countries.map(({ path, point }) => boxOf(path, point)).filter(Boolean);
    if (!boxes.length) return [0, 0, width, height];
    const least = (i) => Math.min(...boxes.map((box) => box[i]));
    const most = (i) => Math.max(...boxes.map((box) => box[i]));
    const [x0, y0, x1, y1] = [least(0), least(1), most(2), most(3)];
    const needed = (1 + 2 * MARGIN) * Math.max((x1 - x0) / width, (y1 - y0) / height);
    const share = Math.min(1, Math.max(LEAST_SHARE, needed));
    const start = (from, to, whole) => Math.min(whole * (1 - share), Math.max(0, (from + to) / 2 - (whole * share) / 2));
    return [start(x0, x1, width), start(y0, y1, height), width * share, height * share];
  }

  place(country) {
    const { path, point } = country;
    const look = { fill: this.color(country), stroke: theme().ink, "stroke-width": 0.7, "vector-effect": "non-scaling-stroke" };
    const unit = this.frame()[2] / this.data.width; // of a map that is drawn larger, marks are as large as of the world
    const [x0, y0, x1, y1] = boxOf(path) ?? [0, 0, 0, 0];
    const marks = [];
    if (path) marks.push(s("path", { d: path, "fill-rule": "evenodd", ...look }));
    if (point && Math.max(x1 - x0, y1 - y0) < SMALL * unit)
      marks.push(s("circle", { cx: point[0], cy: point[1], r: (SMALL / 2) * unit, ...look }));
    const text = `${country.name}: ${this.valueText(country)}`;
    return s(
      "a",
      { href: `?dataset=${encodeURIComponent(country.key)}`, "aria-label": text, onclick: this.open(country.key) },
      s("title", {}, text),
      marks,
    );
  }

  legend() {
    const { data } = this;
    const missing = this.countries.some((country) => !country.cell)
      ? [h("span", { class: "missing-kinds" }, h("span", {}, hatchSwatch("missing"), say("world.no_value")))]
      : [];
    if (!data.oneScale) return missing;
    const scale = s(
      "svg",
      {
        class: "scale",
        viewBox: `-2 -8 ${SCALE_WIDTH + 26} 40`,
        width: SCALE_WIDTH + 26,
        height: 40,
        role: "img",
        "aria-label": say("world.scale"),
      },
      colorScale(data, data.trends[this.trend], 0, 0, SCALE_WIDTH),
    );
    return [scale, ...missing, h("p", { class: "peak" }, data.peak)];
  }

  // On one scale the highest value comes first; else the order is that of the names, which compares nothing.
  table() {
    const { oneScale, trends } = this.data;
    const byName = (a, b) => a.name.localeCompare(b.name);
    const byValue = (a, b) => (b.cell?.value ?? -1) - (a.cell?.value ?? -1) || byName(a, b);
    const head = [say("world.country"), trends[this.trend].title, say("world.interval"), say("world.over_time")];
    return h(
      "table",
      { class: "regions" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          head.map((label, i) => h("th", { scope: "col", class: i === 2 ? "other" : null }, label)),
        ),
      ),
      h(
        "tbody",
        {},
        this.countries.toSorted(oneScale ? byValue : byName).map((country) => this.row(country)),
      ),
    );
  }

  row(country) {
    const { cell } = country;
    const link = { href: `?dataset=${encodeURIComponent(country.key)}`, onclick: this.open(country.key) };
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, h("a", link, country.name)),
      cell
        ? [
            h("td", { class: "number" }, h("strong", {}, formatNumber(cell.value))),
            h("td", { class: "number range other" }, cell.low === null ? "" : formatInterval(cell)),
          ]
        : h("td", { class: "missing-cell", colspan: 2 }, h("span", { class: "missing" }, say("world.no_value"))),
      h("td", { class: "number" }, this.spark(country)),
    );
  }

  // All weeks of a country as a line. Countries on one scale share the axis; a gap is a week without a value.
  spark(country) {
    const lines = this.data.oneScale ? this.data.countries : [country];
    const values = lines.flatMap((c) => c.values[this.trend].filter(Boolean).map(([value]) => value));
    const top = Math.max(...values, Number.MIN_VALUE);
    const x = (week) => 3 + (week / Math.max(1, this.data.weeks.length - 1)) * (SPARK_WIDTH - 6);
    const y = (value) => SPARK_HEIGHT - 4 - (value / top) * (SPARK_HEIGHT - 8);
    const own = country.values[this.trend];
    const d = own
      .map((cell, week) => cell && `${own[week - 1] ? "L" : "M"}${x(week).toFixed(1)},${y(cell[0]).toFixed(1)}`)
      .filter(Boolean)
      .join("");
    const colors = theme();
    const here = country.cell;
    return s(
      "svg",
      { width: SPARK_WIDTH, height: SPARK_HEIGHT, "aria-hidden": "true" },
      s("line", { x1: 3, x2: SPARK_WIDTH - 3, y1: y(0), y2: y(0), stroke: colors.grid }),
      s("path", { d, fill: "none", stroke: colors.lines[0], "stroke-width": 1.6, "stroke-linejoin": "round" }),
      here && s("circle", { cx: x(this.week), cy: y(here.value), r: 3.2, fill: colors.lines[0] }),
    );
  }
}

// The newest of the weeks in which most countries have a value: some may be published later than others.
function fullestWeek({ weeks, countries }, trend) {
  const known = weeks.map((_, week) => countries.filter((country) => country.values[trend][week]).length);
  return known.lastIndexOf(Math.max(...known));
}

// The box around a path, or around a point if there is no path: [x0, y0, x1, y1]; null if there is neither.
function boxOf(path, point) {
  if (!path) return point ? [...point, ...point] : null;
  const numbers = path.match(/-?[\d.]+/g).map(Number);
  const ends = (start) => {
    let [least, most] = [Infinity, -Infinity];
    for (let i = start; i < numbers.length; i += 2) {
      least = Math.min(least, numbers[i]);
      most = Math.max(most, numbers[i]);
    }
    return [least, most];
  };
  const [[x0, x1], [y0, y1]] = [ends(0), ends(1)];
  return [x0, y0, x1, y1];
}

function fileLink({ name, bytes }) {
  return h(
    "li",
    {},
    h("a", { href: `dataset/${encodeURIComponent(name)}`, download: name }, name),
    h("span", { class: "size" }, ` ${formatBytes(bytes)}`),
  );
}
