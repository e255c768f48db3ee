// The page: keeps the state, loads the data that a view needs, and updates the parts that show it.

import { showAbout, showEmbed } from "./about.js";
import { AskedCard } from "./asked.js";
import { Charts } from "./charts.js";
import { loadJson, openRelease } from "./data.js";
import { byId, h } from "./dom.js";
import { capitalize, longDate } from "./format.js";
import { language, say, sayAll } from "./messages.js";
import { MapPanel } from "./panel.js";
import { Search } from "./search.js";
import { addressOf, readAddress, togglePin, writeAddress } from "./state.js";
import { RegionTable } from "./table.js";
import { onThemeChange, toggleTheme } from "./theme.js";
import { WeekControls } from "./weeks.js";
import { WorldView } from "./world.js";

const PREFETCH_DELAY = 200; // milliseconds

const site = await loadJson("site.json");
const releases = new Map();
const app = { state: readAddress(), release: null, updateCount: 0, tableLevel: null, showAllRows: false };

const world = site.world ? new WorldView(site.world, { onOpen: openDataset }) : null;
const search = new Search(byId("search"), byId("search-results"), openAndFocus);
const weeks = new WeekControls(showWeek);
const charts = new Charts(showWeek);
const table = new RegionTable(byId("table"));
const asked = new AskedCard(openAndFocus);
const panel = new MapPanel({ onPick: drillDown, onUp: goUp, onLevel: (name) => change({ by: name }) });

function loadRelease(key) {
  if (!releases.has(key)) {
    const loading = openRelease(site.datasets.find((d) => d.key === key));
    loading.catch(() => releases.delete(key)); // the next call tries again
    releases.set(key, loading);
  }
  return releases.get(key);
}

// A site of several countries opens on the view of all of them.
const showsWorld = () => world !== null && !app.state.dataset;

function defaults() {
  if (!app.release) return { dataset: world ? null : site.datasets[0].key };
  const { trends, weeks: all, ids, levels } = app.release;
  return {
    dataset: world ? null : site.datasets[0].key,
    region: ids[0],
    trend: trends[0].name,
    week: all.at(-1),
    by: levels.filter((level) => level.outlined).at(-1)?.name,
  };
}

// Every change of state goes through here: first into the address, then onto the page.
function change(changes, replace = false) {
  Object.assign(app.state, changes);
  writeAddress(app.state, defaults(), replace);
  return refresh();
}

const refresh = () => update().catch(showError);

// Moving through the weeks adds no history entry: Back returns to the last region or topic, not to every week.
function showWeek(week) {
  return change({ week: (showsWorld() ? app.worldWeeks : app.release.weeks)[week] }, true);
}

function openDataset(key) {
  return change({ dataset: key, region: null, trend: null, week: null, by: null, pins: [] });
}

function openRegion(n) {
  app.showAllRows = false;
  return change({ region: app.release.ids[n] });
}

function openAndFocus(n) {
  openRegion(n).then(() => byId("region").focus());
}

// A click on a region opens its ancestor one level below the current view: first the state, then the county.
function drillDown(n) {
  const { release: r, n: current } = app;
  const path = r.lineage(n);
  const depth = path.indexOf(app.container);
  if (depth > 0) openRegion(path[depth - 1]);
  else if (depth < 0) openRegion(path.find((ancestor) => r.level(ancestor) === r.level(app.container)) ?? n);
  else if (current !== n) openRegion(n);
}

function goUp() {
  const parent = app.release.parents[app.n];
  if (parent >= 0) openRegion(parent);
}

async function update() {
  const started = ++app.updateCount;
  const state = app.state;
  byId("world").hidden = !showsWorld();
  document.body.classList.toggle("world", showsWorld());
  if (showsWorld()) return showWorld(started);
  const key = site.datasets.some((d) => d.key === state.dataset) ? state.dataset : site.datasets[0].key;
  const r = await loadRelease(key);
  const requested = state.region ?? r.ids[0];
  const n = (await r.find(requested)) ?? 0;
  const trend = Math.max(
    0,
    r.trends.findIndex((t) => t.name === state.trend),
  );
  const week = r.weeks.includes(state.week) ? r.weeks.indexOf(state.week) : r.weeks.length - 1;
  const container = r.hasChildren(n) ? n : r.parents[n];
  if (r.hasChildren(container) && nextLevel(r, container).start >= r.core) await r.loadFinerRegions();
  const pins = (await Promise.all(state.pins.map((id) => r.find(id)))).filter((pin) => pin !== undefined);
  const [ownSeries, parentSeries, childSeries, block, ...pinnedSeries] = await Promise.all([
    r.ownSeries(n),
    r.parents[n] >= 0 ? r.ownSeries(r.parents[n]) : null,
    r.childSeries(container),
    r.hasMap ? r.block(trend, week) : null,
    ...pins.map((pin) => r.ownSeries(pin)),
  ]);
  if (started !== app.updateCount) return; // a newer update is under way
  const changed = app.release !== r;
  Object.assign(app, { release: r, n, container });
  if (changed) showRelease(r);
  const series = { ownSeries, parentSeries, childSeries, pinnedSeries };
  draw(
    { release: r, n, container, trend, week, pins, ...series, block, by: state.by },
    requested === r.ids[n] ? null : requested,
  );
  if (r.hasMap) prefetch(r, trend, week);
}

async function showWorld(started) {
  const { weeks: all, week, trend, trends } = await world.show(app.state);
  if (started !== app.updateCount) return;
  Object.assign(app, { release: null, worldWeeks: all });
  byId("loading").hidden = true;
  byId("page").hidden = false;
  byId("countries").value = "";
  byId("title").textContent = say("world.site");
  document.title = `${say("world.title")} · ${trends[trend].title}`;
  drawTrends(trends);
  byId("trends").querySelectorAll("input")[trend].checked = true;
  weeks.show(all, week);
  document.body.dataset.shown = `world ${trends[trend].name} ${all[week]}`;
}

const nextLevel = (r, n) => r.levels[r.levels.indexOf(r.level(n)) + 1];

// Once a view is shown, load the neighbouring blocks of weeks, so that moving on does not wait for the network.
function prefetch(r, trend, week) {
  clearTimeout(app.prefetchTimer);
  const neighbours = [week - r.blockWeeks, week + r.blockWeeks];
  const load = () => neighbours.forEach((other) => r.block(trend, other).catch(() => {}));
  app.prefetchTimer = setTimeout(load, PREFETCH_DELAY);
}

// Update what depends on the dataset alone.
function showRelease(r) {
  app.state.dataset = r.entry.key;
  byId("loading").hidden = true;
  byId("page").hidden = false;
  search.setRelease(r);
  byId("title").textContent = r.title;
  byId("countries").value = r.entry.key;
  byId("map-card").hidden = !r.hasMap;
  document.body.classList.toggle("no-map", !r.hasMap);
  byId("embed-kind").parentElement.hidden = !r.hasMap;
  if (app.state.embed && !r.hasMap) document.body.dataset.embed = "series"; // a frame without map would be empty
  if (r.hasMap) byId("asked-card").after(byId("table-card"));
  else byId("panels").prepend(byId("table-card")); // without a map the table comes first
  panel.setRelease(r);
  showAbout(r);
  drawTrends(r.trends);
}

function drawTrends(trends) {
  byId("trends").replaceChildren(
    h("legend", { class: "visually-hidden" }, "Topic"),
    ...trends.map((t) =>
      h(
        "label",
        {},
        h("input", { type: "radio", name: "trend", value: t.name, onchange: () => change({ trend: t.name }) }),
        h("span", {}, t.title),
      ),
    ),
  );
}

function draw(view, unknownRegion) {
  const { release: r, n, trend, week } = view;
  document.title = `${r.label(n)} · ${r.trends[trend].title} · ${r.title}`;
  byId("trends").querySelectorAll("input")[trend].checked = true;
  weeks.show(r.weeks, week);
  drawHeading(view);
  drawNote(view, unknownRegion);
  if (r.hasMap) panel.show(view).catch(showError);
  charts.show(view);
  drawTable(view).catch(showError);
  asked.show(view).catch(showError);
  const address = addressOf(app.state, defaults());
  showEmbed(address, document.title, r.hasMap ? byId("embed-kind").value : "series");
  if (app.state.embed) byId("full-link").href = addressOf({ ...app.state, embed: null }, defaults());
  document.body.dataset.shown = `${r.ids[n]} ${r.trends[trend].name} ${r.weeks[week]}`;
}

function drawHeading({ release: r, n, pins }) {
  byId("region").textContent = r.label(n);
  byId("crumbs").replaceChildren(
    ...r
      .lineage(n)
      .slice(1)
      .toReversed()
      .map((ancestor) =>
        h(
          "li",
          {},
          h("button", { type: "button", class: "link", onclick: () => openAndFocus(ancestor) }, r.label(ancestor)),
        ),
      ),
    h("li", {}, capitalize(r.level(n).label), r.codes[n] !== r.names[n] ? ` ${r.codes[n]}` : ""),
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
        class: "pin-button",
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
    h("button", { type: "button", class: "link", onclick: () => openAndFocus(pin) }, r.label(pin)),
    h(
      "button",
      { type: "button", class: "remove", "aria-label": `Remove ${r.label(pin)} from the comparison`, onclick: remove },
      "×",
    ),
  );
}

function drawNote({ release: r, n, week, ownSeries }, unknownRegion) {
  const why = r.whyMissing(n, week);
  const text = unknownRegion
    ? `This dataset has no region “${unknownRegion}”. Showing ${r.label(n)} instead.`
    : !ownSeries?.has(n)
      ? `${why.text}${why.kind === "missing" ? " in any week" : ""}. There are no values to show for ${r.label(n)}.`
      : "";
  byId("note").textContent = text;
  byId("note").hidden = !text;
  drawLife(r, n);
}

// When the selected region began or ended, and which regions it followed or was followed by.
function drawLife(r, n) {
  const life = r.lifeOf.get(n);
  const day = (week) => `the week of ${longDate(r.weeks[week])}`;
  const parts = [];
  if (life?.first > 0)
    parts.push(sentence(r, `Reported since ${day(life.first)}`, "It follows", r.predecessors(n)));
  if (life && life.last < r.weeks.length - 1)
    parts.push(sentence(r, `Reported until ${day(life.last)}`, "It was followed by", life.next));
  byId("life").replaceChildren(...parts.flat());
  byId("life").hidden = !parts.length;
}

// A sentence, and one that names other regions, each a link.
function sentence(r, text, words, others) {
  if (!others.length) return [`${text}. `];
  const link = (n) => h("button", { type: "button", class: "link", onclick: () => openAndFocus(n) }, r.label(n));
  const comma = (i) => (i === 0 ? [] : [i === others.length - 1 ? " and " : ", "]);
  const names = others.flatMap((other, i) => [...comma(i), link(other)]);
  return [`${text}. ${words} `, ...names, ". "];
}

async function drawTable(view) {
  const { release: r, container, week, trend, childSeries } = view;
  const level = nextLevel(r, container);
  const finest = r.levels.filter((l) => l.outlined).at(-1);
  const other = container === 0 && r.hasMap && finest !== level ? finest : null;
  const useOther = other && app.tableLevel === other.name;
  const started = app.updateCount;
  const blocks = useOther ? await Promise.all(r.trends.map((_, t) => r.block(t, week))) : null;
  if (started !== app.updateCount) return;
  const rows = useOther ? Array.from({ length: other.count }, (_, i) => other.start + i) : r.children(container);
  const cellOf = useOther ? (n, t) => blocks[t].at(n, week) : (n, t) => childSeries?.at(n, t, week) ?? null;
  const shown = useOther ? other : level;
  byId("table-title").textContent = `${r.label(container)} by ${shown?.label ?? "region"}`;
  byId("table-levels").replaceChildren(...(other ? [levelSwitch([level, other], shown)] : []));
  byId("table-card").hidden = !rows.length;
  if (!rows.length) return;
  table.show({
    release: r,
    rows,
    cellOf,
    trend,
    week,
    pins: app.state.pins,
    showAllRows: app.showAllRows,
    selected: view.n,
    onOpen: openAndFocus,
    onPin: (n) => change({ pins: togglePin(app.state.pins, r.ids[n]) }),
    onShowAll: () => {
      app.showAllRows = true;
      refresh();
    },
  });
}

function levelSwitch(levels, selected) {
  return h(
    "span",
    { class: "switch", role: "group", "aria-label": "Regions in the table" },
    levels.map((level) =>
      h(
        "button",
        {
          type: "button",
          "aria-pressed": String(level === selected),
          onclick: () => {
            app.tableLevel = level.name;
            app.showAllRows = false;
            refresh();
          },
        },
        capitalize(level.label),
      ),
    ),
  );
}

function initialize() {
  document.documentElement.lang = language;
  sayAll(document);
  if (world) byId("countries").append(h("option", { value: "" }, say("world.all")));
  byId("countries").append(...site.datasets.map((d) => h("option", { value: d.key }, datasetLabel(d))));
  byId("picker").hidden = site.datasets.length < 2;
  byId("countries").addEventListener("change", (event) => openDataset(event.target.value || null));
  byId("theme").addEventListener("click", toggleTheme);
  byId("about-link").addEventListener("click", (event) => {
    event.preventDefault();
    byId("about").scrollIntoView();
    byId("about-title").focus({ preventScroll: true });
  });
  byId("embed-kind").addEventListener("change", refresh);
  onThemeChange(() => {
    charts.invalidate();
    refresh();
  });
  addEventListener("popstate", () => {
    app.state = readAddress();
    refresh();
  });
  if (app.state.embed) {
    document.body.dataset.embed = app.state.embed === "series" ? "series" : "map";
    byId("full-link").hidden = false;
  }
}

// A dataset is labelled by its country; datasets of the same country also by their titles.
function datasetLabel(d) {
  const sameCountry = site.datasets.filter((other) => other.country === d.country).length > 1;
  return sameCountry ? `${d.country}: ${d.title}` : d.country;
}

// The page stays as it is; the next change requests the missing data again.
function showError(error) {
  const element = byId(app.release ? "note" : "loading");
  element.hidden = false;
  element.textContent = `The data could not be loaded (${error.message}). Try again, or reload the page.`;
}

initialize();
refresh();
