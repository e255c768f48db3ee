// The page: what is in view, the pieces of data it needs, and the parts that show it.

import { showAbout, showEmbed } from "./about.js";
import { Charts } from "./charts.js";
import { loadJson, openRelease } from "./data.js";
import { byId, h } from "./dom.js";
import { capital } from "./format.js";
import { MapPanel } from "./panel.js";
import { Search } from "./search.js";
import { addressOf, readAddress, togglePin, writeAddress } from "./state.js";
import { RegionTable } from "./table.js";
import { onThemeChange, toggleTheme } from "./theme.js";
import { Weeks } from "./weeks.js";

const PAUSE = 200; // milliseconds after which a view counts as looked at

const site = await loadJson("site.json");
const releases = new Map();
const app = { state: readAddress(), release: null, turn: 0, tableLevel: null, whole: false };

const search = new Search(byId("search"), byId("found"), (n) => open(n, "heading"));
const weeks = new Weeks(moveTo);
const charts = new Charts(moveTo);
const table = new RegionTable(byId("table"));
const panel = new MapPanel({ pick: drill, up, by: (name) => change({ by: name }) });

function release(key) {
  if (!releases.has(key)) {
    const opening = openRelease(site.datasets.find((d) => d.key === key));
    opening.catch(() => releases.delete(key)); // to be tried again
    releases.set(key, opening);
  }
  return releases.get(key);
}

function defaults() {
  const { trends, weeks: all, ids, levels } = app.release;
  const shaped = levels.filter((level) => level.outlined);
  return {
    dataset: site.datasets[0].key,
    region: ids[0],
    trend: trends[0].name,
    week: all.at(-1),
    by: shaped.at(-1)?.name,
  };
}

// Every change of what is in view goes through here: into the address, then onto the page.
function change(changes, replace = false) {
  Object.assign(app.state, changes);
  writeAddress(app.state, defaults(), replace);
  return refresh();
}

const refresh = () => show().catch(fail);

// Moving through the weeks leaves no trail: back leads to the last region or topic, not through every week.
function moveTo(week) {
  return change({ week: app.release.weeks[week] }, true);
}

function open(n, focus) {
  app.whole = false;
  const done = change({ region: app.release.ids[n] });
  if (focus === "heading") done.then(() => byId("region").focus());
}

// A pressed region opens its ancestor just below what is in view, so that country, state and county follow in turn.
function drill(n) {
  const { release: r, n: here } = app;
  const path = r.lineage(n);
  const at = path.indexOf(app.container);
  if (at > 0) open(path[at - 1]);
  else if (at < 0) open(path.find((above) => r.level(above) === r.level(app.container)) ?? n);
  else if (here !== n) open(n);
}

function up() {
  const parent = app.release.parents[app.n];
  if (parent >= 0) open(parent);
}

async function show() {
  const turn = ++app.turn;
  const state = app.state;
  const key = site.datasets.some((d) => d.key === state.dataset) ? state.dataset : site.datasets[0].key;
  const r = await release(key);
  const wanted = state.region ?? r.ids[0];
  const n = (await r.find(wanted)) ?? 0;
  const trend = Math.max(
    0,
    r.trends.findIndex((t) => t.name === state.trend),
  );
  const week = r.weeks.includes(state.week) ? r.weeks.indexOf(state.week) : r.weeks.length - 1;
  const container = r.hasChildren(n) ? n : r.parents[n];
  if (r.hasChildren(container) && nextLevel(r, container).start >= r.core) await r.finer();
  const pins = (await Promise.all(state.pins.map((id) => r.find(id)))).filter((pin) => pin !== undefined);
  const [own, above, below, ...pinned] = await Promise.all([
    r.ownSeries(n),
    r.parents[n] >= 0 ? r.ownSeries(r.parents[n]) : null,
    r.childSeries(container),
    ...pins.map((pin) => r.ownSeries(pin)),
    r.hasMap ? r.block(trend, week) : null,
  ]);
  const block = pinned.pop();
  if (turn !== app.turn) return; // a later change is already on its way
  const fresh = app.release !== r;
  Object.assign(app, { release: r, n, container });
  if (fresh) begin(r);
  const view = { release: r, n, container, trend, week, pins, own, above, below, pinned, block, by: state.by };
  draw(view, wanted === r.ids[n] ? null : wanted);
  if (r.hasMap) prefetch(r, trend, week);
}

const nextLevel = (r, n) => r.levels[r.levels.indexOf(r.level(n)) + 1];

// The weeks before and after are fetched when the view is there, so that moving on does not wait for the network.
function prefetch(r, trend, week) {
  clearTimeout(app.ahead);
  const near = [week - r.blockWeeks, week + r.blockWeeks];
  app.ahead = setTimeout(() => near.forEach((other) => r.block(trend, other).catch(() => {})), PAUSE);
}

// What changes with the dataset only.
function begin(r) {
  app.state.dataset = r.entry.key;
  byId("wait").hidden = true;
  byId("page").hidden = false;
  search.use(r);
  byId("title").textContent = r.title;
  byId("countries").value = r.entry.key;
  byId("map-card").hidden = !r.hasMap;
  document.body.classList.toggle("mapless", !r.hasMap);
  if (r.hasMap) byId("panels").after(byId("table-card"));
  else byId("panels").prepend(byId("table-card")); // without a map the table is what one looks at first
  panel.use(r);
  showAbout(r);
  byId("trends").replaceChildren(
    h("legend", { class: "unseen" }, "Topic"),
    ...r.trends.map((t) =>
      h(
        "label",
        {},
        h("input", { type: "radio", name: "trend", value: t.name, onchange: () => change({ trend: t.name }) }),
        h("span", {}, t.title),
      ),
    ),
  );
}

function draw(view, unknown) {
  const { release: r, n, trend, week } = view;
  document.title = `${r.label(n)} · ${r.trends[trend].title} · ${r.title}`;
  byId("trends").querySelectorAll("input")[trend].checked = true;
  weeks.show(r.weeks, week);
  drawHeading(view);
  drawNote(view, unknown);
  if (r.hasMap) panel.show(view).catch(fail);
  charts.show(view);
  drawTable(view).catch(fail);
  const address = addressOf(app.state, defaults());
  showEmbed(address, document.title, r.hasMap ? byId("embed-kind").value : "series");
  if (app.state.embed) byId("full").href = addressOf({ ...app.state, embed: null }, defaults());
  document.body.dataset.shown = `${r.ids[n]} ${r.trends[trend].name} ${r.weeks[week]}`;
}

function drawHeading({ release: r, n, pins }) {
  byId("region").textContent = r.label(n);
  byId("crumbs").replaceChildren(
    ...r
      .lineage(n)
      .slice(1)
      .toReversed()
      .map((above) =>
        h(
          "li",
          {},
          h("button", { type: "button", class: "link", onclick: () => open(above, "heading") }, r.label(above)),
        ),
      ),
    h("li", { class: "kind" }, capital(r.level(n).label), r.codes[n] !== r.names[n] ? ` ${r.codes[n]}` : ""),
  );
  const id = r.ids[n];
  const pinned = app.state.pins.includes(id);
  const others = pins.filter((pin) => pin !== n);
  byId("pins").replaceChildren(
    ...others.map((pin) => chip(r, pin, charts.colorOf(others.indexOf(pin) + 1))),
    h(
      "button",
      {
        type: "button",
        id: "pin",
        class: "pin-this",
        "aria-pressed": String(pinned),
        onclick: () => change({ pins: togglePin(app.state.pins, id) }),
      },
      pinned ? "Pinned" : "Pin to compare",
    ),
  );
}

function chip(r, pin, color) {
  const swatch = h("span", { class: "dot" });
  swatch.style.background = color;
  const remove = () => change({ pins: togglePin(app.state.pins, r.ids[pin]) });
  return h(
    "span",
    { class: "chip" },
    swatch,
    h("button", { type: "button", class: "link", onclick: () => open(pin, "heading") }, r.label(pin)),
    h(
      "button",
      { type: "button", class: "drop", "aria-label": `Remove ${r.label(pin)} from the comparison`, onclick: remove },
      "×",
    ),
  );
}

function drawNote({ release: r, n, own }, unknown) {
  const why = r.why(n);
  const empty = !own?.has(n);
  const text = unknown
    ? `This dataset has no region “${unknown}”. Here is ${r.label(n)} instead.`
    : empty
      ? `${why.text}${why.kind === "missing" ? " in any week" : ""}. There are no values to show for ${r.label(n)}.`
      : "";
  byId("note").textContent = text;
  byId("note").hidden = !text;
}

async function drawTable(view) {
  const { release: r, container, week, trend, below } = view;
  const level = nextLevel(r, container);
  const finest = r.levels.filter((l) => l.outlined).at(-1);
  const deeper = container === 0 && r.hasMap && finest !== level ? finest : null;
  const all = deeper && app.tableLevel === deeper.name;
  const turn = app.turn;
  const blocks = all ? await Promise.all(r.trends.map((_, t) => r.block(t, week))) : null;
  if (turn !== app.turn) return;
  const rows = all ? Array.from({ length: deeper.count }, (_, i) => deeper.start + i) : r.children(container);
  const cellOf = all ? (n, t) => blocks[t].at(n, week) : (n, t) => below?.at(n, t, week) ?? null;
  byId("table-title").textContent = `${r.label(container)} by ${(all ? deeper : level)?.label ?? "region"}`;
  byId("table-levels").replaceChildren(...(deeper ? [levelSwitch([level, deeper], all ? deeper : level)] : []));
  byId("table-card").hidden = !rows.length;
  if (!rows.length) return;
  table.show({
    release: r,
    rows,
    cellOf,
    trend,
    pins: app.state.pins,
    whole: app.whole,
    selected: view.n,
    onOpen: (n) => open(n, "heading"),
    onPin: (n) => change({ pins: togglePin(app.state.pins, r.ids[n]) }),
    onWhole: () => {
      app.whole = true;
      refresh();
    },
  });
}

function levelSwitch(levels, chosen) {
  return h(
    "span",
    { class: "switch", role: "group", "aria-label": "Rows of the table" },
    levels.map((level) =>
      h(
        "button",
        {
          type: "button",
          "aria-pressed": String(level === chosen),
          onclick: () => {
            app.tableLevel = level.name;
            app.whole = false;
            refresh();
          },
        },
        capital(level.label),
      ),
    ),
  );
}

function start() {
  byId("countries").append(...site.datasets.map((d) => h("option", { value: d.key }, nameOf(d))));
  byId("picker").hidden = site.datasets.length < 2;
  byId("countries").addEventListener("change", (event) =>
    change({ dataset: event.target.value, region: null, trend: null, week: null, by: null, pins: [] }),
  );
  byId("theme").addEventListener("click", toggleTheme);
  byId("to-about").addEventListener("click", (event) => {
    event.preventDefault();
    byId("about").scrollIntoView();
    byId("about-title").focus({ preventScroll: true });
  });
  byId("embed-kind").addEventListener("change", refresh);
  onThemeChange(() => {
    charts.forget();
    refresh();
  });
  addEventListener("popstate", () => {
    app.state = readAddress();
    refresh();
  });
  if (app.state.embed) {
    document.body.dataset.embed = app.state.embed === "series" ? "series" : "map";
    byId("full").hidden = false;
  }
}

// Countries are told apart by name; two datasets of one country by their titles.
function nameOf(d) {
  const alike = site.datasets.filter((other) => other.country === d.country).length > 1;
  return alike ? `${d.country}: ${d.title}` : d.country;
}

// What is on the page stays; a piece that did not come is asked for again at the next step.
function fail(error) {
  const place = byId(app.release ? "note" : "wait");
  place.hidden = false;
  place.textContent = `The data could not be loaded (${error.message}). Try again, or reload the page.`;
}

start();
refresh();
