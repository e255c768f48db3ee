// A published release, loaded piece by piece. Regions are known by number; see dashboard_data.py for the files.

const GZIP = [0x1f, 0x8b];

async function load(url) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  const packed = new Uint8Array(await answer.arrayBuffer());
  // A host may have unpacked the file already, and then says so to the browser, not to us.
  if (packed[0] !== GZIP[0] || packed[1] !== GZIP[1]) return packed;
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export async function loadJson(url) {
  return JSON.parse(new TextDecoder().decode(await load(url)));
}

// Numbers are stored as all lowest bytes, then all second ones, and so on.
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

export class Release {
  constructor(entry, index, regions) {
    Object.assign(this, { ...index, entry, ids: [], codes: [], names: [], parents: [], whys: [], points: [] });
    this.unit = 10 ** -index.decimals;
    this.byId = new Map();
    this.kids = new Map();
    this.cache = new Map();
    this.hasSeries = new Set(index.withSeries);
    this.add(regions);
    if (this.hasMap) this.outlines().catch(() => {}); // the largest piece of the first view sets out first
  }

  add(columns) {
    const first = this.ids.length;
    this.ids = this.ids.concat(columns.id);
    this.codes = this.codes.concat(columns.code);
    this.names = this.names.concat(columns.name);
    this.parents = this.parents.concat(columns.parent);
    this.whys = this.whys.concat(columns.why);
    this.points = this.points.concat(columns.point);
    for (let n = first; n < this.ids.length; n++) {
      this.byId.set(this.ids[n], n);
      const parent = this.parents[n];
      if (!this.kids.has(parent)) this.kids.set(parent, []);
      this.kids.get(parent).push(n);
    }
  }

  once(key, make) {
    if (!this.cache.has(key)) {
      const made = make();
      made.catch(() => this.cache.delete(key)); // a failed load may be tried again
      this.cache.set(key, made);
    }
    return this.cache.get(key);
  }

  get complete() {
    return this.ids.length === this.regionCount;
  }

  finer() {
    if (this.complete) return Promise.resolve();
    return this.once("finer", async () => this.add(await loadJson(`${this.entry.data}/finer.json.gz`)));
  }

  outlines() {
    return this.once("outlines", () => loadJson(`${this.entry.data}/outlines.json.gz`));
  }

  // The finer regions are loaded when a view first needs one.
  async find(id) {
    if (!this.byId.has(id)) await this.finer();
    return this.byId.get(id);
  }

  level(n) {
    return this.levels.find((level) => n >= level.start && n < level.start + level.count);
  }

  children(n) {
    return this.kids.get(n) ?? [];
  }

  hasChildren(n) {
    return this.level(n) !== this.levels.at(-1);
  }

  // From a region up to the country, the region itself first.
  lineage(n) {
    const found = [];
    for (let here = n; here >= 0; here = this.parents[here]) found.push(here);
    return found;
  }

  within(n, ancestor) {
    return this.lineage(n).includes(ancestor);
  }

  label(n) {
    return this.level(n).codes && this.names[n] !== this.codes[n] ? `${this.codes[n]} ${this.names[n]}` : this.names[n];
  }

  // Where a region lies: the names above it, without the country's.
  place(n) {
    return this.lineage(n)
      .slice(1, -1)
      .map((above) => this.names[above])
      .join(", ");
  }

  // Why a region has no value in a week: it is never reported, or there was not enough data. Neither is a low value.
  why(n) {
    if (this.whys[n]) return { kind: "unreported", text: `Not reported: ${this.reasons[this.whys[n] - 1]}` };
    if (!this.level(n).counted) return { kind: "unreported", text: "Not reported at this level" };
    if (this.tells) return { kind: "missing", text: "Not enough data" };
    return { kind: "missing", text: "No value published" };
  }

  // The kinds of missing values that this dataset can tell apart.
  get nothings() {
    return this.tells
      ? [
          ["missing", "not enough data"],
          ["unreported", "not reported"],
        ]
      : [["missing", "no value published"]];
  }

  block(trend, week) {
    const number = Math.floor(week / this.blockWeeks);
    if (number < 0 || week < 0 || week >= this.weeks.length) return Promise.resolve(null);
    return this.once(`map/${trend}-${number}`, async () => {
      const numbers = await loadNumbers(`${this.entry.data}/map/${trend}-${number}.bin.gz`);
      return new MapBlock(this, numbers, number * this.blockWeeks);
    });
  }

  series(n) {
    return this.once(
      `series/${n}`,
      async () => new Series(this, await loadNumbers(`${this.entry.data}/series/${n}.bin.gz`)),
    );
  }

  // The file that holds a region's own series: its own if it has one, else its parent's.
  async ownSeries(n) {
    if (this.hasSeries.has(n)) return this.series(n);
    return this.hasSeries.has(this.parents[n]) ? this.series(this.parents[n]) : null;
  }

  async childSeries(n) {
    return this.hasSeries.has(n) ? this.series(n) : null;
  }
}

function cellAt(numbers, at, step, release) {
  const value = numbers[at];
  if (value === release.missing) return null;
  const [below, above] = [numbers[at + step], numbers[at + 2 * step]];
  return {
    value: value * release.unit,
    low: below === release.missing ? null : (value - below) * release.unit,
    high: above === release.missing ? null : (value + above) * release.unit,
  };
}

class MapBlock {
  constructor(release, numbers, first) {
    Object.assign(this, { release, numbers, first });
  }

  at(n, week) {
    const size = this.release.core;
    return cellAt(this.numbers, (week - this.first) * 3 * size + n, size, this.release);
  }

  // The value alone, as the map needs it for thousands of regions; NaN if there is none.
  value(n, week) {
    const value = this.numbers[(week - this.first) * 3 * this.release.core + n];
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
    const at = this.offset + (row * this.release.trends.length + trend) * 3 * weeks + week;
    return cellAt(this.numbers, at, weeks, this.release);
  }

  // All weeks of a region, null where there is no value.
  line(n, trend) {
    return this.release.weeks.map((_, week) => this.at(n, trend, week));
  }

  has(n) {
    return this.rows.has(n);
  }
}
