// A published release, loaded file by file. Regions are identified by number; dashboards/data_files.py describes the
// files. A cell is the value of one region, trend and week with its interval; null if the value is missing.

import { tell } from "./facts.js";
import { capitalize, countryName, longDate } from "./format.js";
import { canSay, language, say } from "./messages.js";

const GZIP_MAGIC = [0x1f, 0x8b];

async function load(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  // If the host declares the file as gzip-encoded, the browser has already decompressed it.
  if (bytes[0] !== GZIP_MAGIC[0] || bytes[1] !== GZIP_MAGIC[1]) return bytes;
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export async function loadJson(url) {
  return JSON.parse(new TextDecoder().decode(await load(url)));
}

// Numbers are stored by byte position: the lowest byte of every number, then the second byte of each, and so on.
async function loadNumbers(url) {
  const bytes = await load(url);
  const size = bytes.length / 4;
  const numbers = new Int32Array(size);
  for (let i = 0; i < size; i++) {
    numbers[i] = bytes[i] | (bytes[i + size] << 8) | (bytes[i + 2 * size] << 16) | (bytes[i + 3 * size] << 24);
  }
  return numbers;
}

export async function openRelease(entry) {
  const [index, regions] = await Promise.all([
    loadJson(`${entry.data}/index.json.gz`),
    loadJson(`${entry.data}/regions.json.gz`),
  ]);
  return new Release(entry, index, regions);
}

class Release {
  constructor(entry, index, regions) {
    const columns = { ids: [], codes: [], names: [], parents: [], reasonNumbers: [], points: [] };
    Object.assign(this, { ...index, entry, ...columns });
    this.unit = 10 ** -index.decimals;
    this.byId = new Map();
    this.childrenOf = new Map();
    this.cache = new Map();
    this.hasSeries = new Set(index.withSeries);
    this.translate(index.translations?.[language] ?? {});
    this.lifeOf = new Map(index.lives.map(([n, first, last, next]) => [n, { first, last, next }]));
    this.add(regions);
    if (this.hasMap) this.outlines().catch(() => {}); // the largest file of the first view: start loading it now
  }

  // The names of things in the visitor's language: those of the dataset, else the page's own for usual levels.
  translate({ title, trends, levels, topics, definitions }) {
    const own = (name) => (canSay(`level_${name}`) ? say(`level_${name}`) : null);
    this.title = title ?? this.title;
    this.country = countryName(this.country, this.countryCode);
    const defined = (topic) => ({ ...topic, definition: definitions?.[topic.id] ?? topic.definition });
    this.trends = this.trends.map((t) => ({ ...t, title: trends?.[t.name] ?? t.title, topics: t.topics?.map(defined) }));
    this.levels = this.levels.map((l) => ({ ...l, label: levels?.[l.name] ?? own(l.name) ?? l.label }));
    this.topics = { ...this.topics, ...topics };
    this.definitions = { ...this.definitions, ...definitions };
    this.peak = tell(this.peak, this);
    this.reasons = this.reasons.map((reason) => tell(reason, this));
    this.breaks = this.breaks.map((b) => ({ ...b, label: tell(b.label, this), text: tell(b.text, this) }));
  }

  levelLabel(name) {
    return this.levels.find((level) => level.name === name)?.label ?? name;
  }

  trendTitle(name) {
    return this.trends.find((trend) => trend.name === name)?.title ?? name;
  }

  add(columns) {
    const first = this.ids.length;
    this.ids = this.ids.concat(columns.id);
    this.codes = this.codes.concat(columns.code);
    this.names = this.names.concat(columns.name);
    this.parents = this.parents.concat(columns.parent);
    this.reasonNumbers = this.reasonNumbers.concat(columns.why);
    this.points = this.points.concat(columns.point);
    for (let n = first; n < this.ids.length; n++) {
      this.byId.set(this.ids[n], n);
      const parent = this.parents[n];
      if (!this.childrenOf.has(parent)) this.childrenOf.set(parent, []);
      this.childrenOf.get(parent).push(n);
    }
  }

  cached(key, load) {
    if (!this.cache.has(key)) {
      const loading = load();
      loading.catch(() => this.cache.delete(key)); // the next call tries again
      this.cache.set(key, loading);
    }
    return this.cache.get(key);
  }

  get hasAllRegions() {
    return this.ids.length === this.regionCount;
  }

  loadFinerRegions() {
    if (this.hasAllRegions) return Promise.resolve();
    return this.cached("finer", async () => this.add(await loadJson(`${this.entry.data}/finer.json.gz`)));
  }

  outlines() {
    return this.cached("outlines", () => loadNumbers(`${this.entry.data}/outlines.bin.gz`));
  }

  // Finer regions are loaded when a view first needs one.
  async find(id) {
    if (!this.byId.has(id)) await this.loadFinerRegions();
    return this.byId.get(id);
  }

  level(n) {
    return this.levels.find((level) => n >= level.start && n < level.start + level.count);
  }

  children(n) {
    return this.childrenOf.get(n) ?? [];
  }

  hasChildren(n) {
    return this.level(n) !== this.levels.at(-1);
  }

  // The region itself and its ancestors, up to the country.
  lineage(n) {
    const regions = [];
    for (let region = n; region >= 0; region = this.parents[region]) regions.push(region);
    return regions;
  }

  isWithin(n, ancestor) {
    return this.lineage(n).includes(ancestor);
  }

  label(n) {
    if (n === 0) return this.country;
    return this.level(n).codes && this.names[n] !== this.codes[n] ? `${this.codes[n]} ${this.names[n]}` : this.names[n];
  }

  // The names of a region's ancestors, without the country.
  location(n) {
    return this.lineage(n)
      .slice(1, -1)
      .map((ancestor) => this.names[ancestor])
      .join(", ");
  }

  // Whether a region is not reported in a week: the spec excludes it from every week, or it did not exist then.
  isExcluded(n, week) {
    return this.reasonNumbers[n] > 0 || this.isAbsent(n, week);
  }

  // Whether a region began after a week, or ended before it.
  isAbsent(n, week) {
    const life = this.lifeOf.get(n);
    return life !== undefined && (week < life.first || week > life.last);
  }

  // How often regions began or ended until a week: between two such weeks the map has the same regions.
  epoch(week) {
    const turns = new Set([...this.lifeOf.values()].flatMap(({ first, last }) => [first, last + 1]));
    return [...turns].filter((turn) => turn <= week).length;
  }

  // The regions that a region followed, and those that followed it.
  relatives(n) {
    return [...this.predecessors(n), ...this.lifeOf.get(n).next];
  }

  // The regions that a region followed when it began.
  predecessors(n) {
    return [...this.lifeOf].filter(([, { next }]) => next.includes(n)).map(([before]) => before);
  }

  // Why a region has no value: it is never reported, it did not exist, or there was not enough data. None of these
  // means a low value.
  whyMissing(n, week) {
    if (this.isAbsent(n, week)) {
      const { first, last } = this.lifeOf.get(n);
      if (week < first) return unreported(say("unreported_before", { date: longDate(this.weeks[first]) }));
      return unreported(say("unreported_after", { date: longDate(this.weeks[last]) }));
    }
    if (this.reasonNumbers[n] > 0) return unreported(say("unreported_because", { reason: this.reasons[this.reasonNumbers[n] - 1] }));
    if (!this.level(n).counted) return unreported(say("unreported_level"));
    return { kind: "missing", text: capitalize(this.missingText), short: this.missingText };
  }

  get missingText() {
    return say(this.knowsUnreported ? "not_enough_data" : "no_value_published");
  }

  // Why a region has no value in any week.
  whyNever(n, week) {
    const { kind, text } = this.whyMissing(n, week);
    return kind === "missing" ? say("never_missing", { why: text }) : text;
  }

  // The kinds of missing values that this dataset distinguishes, with their texts.
  get missingKinds() {
    const missing = ["missing", this.missingText];
    return this.knowsUnreported || this.lifeOf.size ? [missing, ["unreported", say("unreported")]] : [missing];
  }

  // What the maximum of the scale is, as a sentence; empty if the dataset does not say.
  get peakSentence() {
    return this.peak && `${this.peak}.`;
  }

  block(trend, week) {
    const number = Math.floor(week / this.blockWeeks);
    if (number < 0 || week < 0 || week >= this.weeks.length) return Promise.resolve(null);
    return this.cached(`map/${trend}-${number}`, async () => {
      const numbers = await loadNumbers(`${this.entry.data}/map/${trend}-${number}.bin.gz`);
      return new MapBlock(this, numbers, number * this.blockWeeks);
    });
  }

  series(n) {
    return this.cached(
      `series/${n}`,
      async () => new Series(this, await loadNumbers(`${this.entry.data}/series/${n}.bin.gz`)),
    );
  }

  // The rows of the top and rising searches of a region, of all weeks in the block of a week; none if it has no list.
  async askedRows(n, week) {
    const name = `${n}-${Math.floor(week / this.blockWeeks)}`;
    if (!this.asked.files.includes(name)) return [];
    return this.cached(`asked/${name}`, async () =>
      (await loadJson(`${this.entry.data}/asked/${name}.json.gz`)).map(askedRow),
    );
  }

  // A region's own values are in its own series file if it has one, else in its parent's.
  async ownSeries(n) {
    if (this.hasSeries.has(n)) return this.series(n);
    return this.hasSeries.has(this.parents[n]) ? this.series(this.parents[n]) : null;
  }

  async childSeries(n) {
    return this.hasSeries.has(n) ? this.series(n) : null;
  }
}

const ASKED = ["week", "trend", "kind", "query", "others", "value", "low", "high"];
const CHANGE = ["change", "changeLow", "changeHigh", "isNew"];

// A row as dashboards/asked.py writes it. A number is null if it is missing.
const askedRow = (row) => Object.fromEntries([...ASKED, ...CHANGE].map((name, i) => [name, row[i]]));

const unreported = (text) => ({ kind: "unreported", text, short: say("unreported") });

function cellAt(numbers, index, step, release) {
  const value = numbers[index];
  if (value === release.missing) return null;
  const [below, above] = [numbers[index + step], numbers[index + 2 * step]];
  return {
    value: value * release.unit,
    low: below === release.missing ? null : (value - below) * release.unit,
    high: above === release.missing ? null : (value + above) * release.unit,
  };
}

class MapBlock {
  constructor(release, numbers, firstWeek) {
    Object.assign(this, { release, numbers, firstWeek });
  }

  at(n, week) {
    const size = this.release.core;
    return cellAt(this.numbers, (week - this.firstWeek) * 3 * size + n, size, this.release);
  }

  // Only the value, which the map needs for thousands of regions; NaN if it is missing.
  value(n, week) {
    const value = this.numbers[(week - this.firstWeek) * 3 * this.release.core + n];
    return value === this.release.missing ? NaN : value * this.release.unit;
  }
}

class Series {
  constructor(release, numbers) {
    const rows = numbers[0];
    Object.assign(this, { release, numbers, offset: rows + 1, rows: new Map() });
    for (let i = 0; i < rows; i++) this.rows.set(numbers[i + 1], i);
  }

  at(n, trend, week) {
    const row = this.rows.get(n);
    if (row === undefined) return null;
    const weeks = this.release.weeks.length;
    const index = this.offset + (row * this.release.trends.length + trend) * 3 * weeks + week;
    return cellAt(this.numbers, index, weeks, this.release);
  }

  // The cells of a region in all weeks.
  line(n, trend) {
    return this.release.weeks.map((_, week) => this.at(n, trend, week));
  }

  has(n) {
    return this.rows.has(n);
  }
}
