// The page: keeps the state, loads the data that a view needs, and updates the parts that show it.

import { showAbout, showEmbed } from "./about.js";
import { showAnswer } from "./answer.js";
import { AskedCard } from "./asked.js";
import { Charts } from "./charts.js";
import { showPaper } from "./credits.js";
import { loadJson, openRelease } from "./data.js";
import { byId, h } from "./dom.js";
import { countryName } from "./format.js";
import { Heading } from "./heading.js";
import { datasetOf, followLink } from "./links.js";
import { loadMapValues, measureOf } from "./measures.js";
import { showLanguages } from "./language.js";
import { language, say, sayAll } from "./messages.js";
import { Modes } from "./modes.js";
import { NeighbourButton } from "./neighbours.js";
import { MapPanel } from "./panel.js";
import { preparePrint } from "./print.js";
import { Search } from "./search.js";
import { Share } from "./share.js";
import { MAX_PINS, addressOf, readAddress, togglePin, writeAddress } from "./state.js";
import { TableCard } from "./table_card.js";
import { onThemeChange, toggleTheme } from "./theme.js";
import { WeekControls } from "./weeks.js";
import { WorldView } from "./world.js";

const PREFETCH_DELAY = 200; // milliseconds

const site = await loadJson("site.json");
const releases = new Map();
const app = { state: readAddress(), release: null, updateCount: 0, notices: [] };

const world = site.world ? new WorldView(site.world, { onOpen: openDataset }) : null;
const search = new Search(byId("search"), byId("search-results"), openAndFocus);
const weeks = new WeekControls(showWeek);
const charts = new Charts(showWeek, showPeriod);
const modes = new Modes(change);
const tableCard = new TableCard({ onOpen: openAndFocus, onPin: (n) => togglePinOf(n), onRefresh: () => refresh() });
const neighbours = new NeighbourButton((pins) => change({ pins }));
const heading = new Heading({ onOpen: openAndFocus, onPin: togglePinOf, charts, neighbours });
const asked = new AskedCard(openAndFocus);
const share = new Share(() => refresh());
const panel = new MapPanel({
  onPick: drillDown,
  onUp: goUp,
  onLevel: (name) => change({ by: name }),
  onScale: (scale) => change({ scale }, true),
});

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
  app.notices = [];
  writeAddress(app.state, defaults(), replace);
  return refresh();
}

const refresh = () => update().catch(showError);

// Moving through the weeks adds no history entry: Back returns to the last region or topic, not to every week. Who
// chooses a week wants to see it, not the average of a period.
function showWeek(week) {
  const all = showsWorld() ? app.worldWeeks : app.release.weeks;
  return change({ week: all[week], from: null, to: null }, true);
}

function openDataset(key) {
  const none = { region: null, trend: null, week: null, by: null, since: null, from: null, to: null, pins: [] };
  return change({ dataset: key, ...none });
}

function showPeriod(first, last) {
  return change({ since: null, from: app.release.weeks[first], to: app.release.weeks[last] });
}

// With all colours in use, a further region is not pinned, and the page says so.
function togglePinOf(n) {
  const { release: r, state } = app;
  const pins = togglePin(state.pins, r.ids[n]);
  if (pins.length <= MAX_PINS) return change({ pins });
  app.notices = [["pins_full", { most: MAX_PINS, region: r.label(n) }]];
  return refresh();
}

function openRegion(n) {
  tableCard.reset();
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
  const r = await loadRelease(datasetOf(site, state));
  const { n, trend, week, pins, address, notices } = await followLink(r, state);
  const container = r.hasChildren(n) ? n : r.parents[n];
  if (r.hasChildren(container) && nextLevel(r, container).start >= r.core) await r.loadFinerRegions();
  const measure = measureOf(r, state, week);
  const [ownSeries, parentSeries, childSeries, block, readMap, ...pinnedSeries] = await Promise.all([
    r.ownSeries(n),
    r.parents[n] >= 0 ? r.ownSeries(r.parents[n]) : null,
    r.childSeries(container),
    r.hasMap ? r.block(trend, week) : null,
    r.hasMap ? loadMapValues(r, trend, measure.weeks) : null,
    ...pins.map((pin) => r.ownSeries(pin)),
  ]);
  if (started !== app.updateCount) return; // a newer update is under way
  const changed = app.release !== r;
  Object.assign(app, { release: r, n, container });
  if (notices.length) app.notices = notices;
  Object.assign(state, address);
  writeAddress(state, defaults(), true); // the week, and no more what is not there
  if (changed) showRelease(r);
  const series = { ownSeries, parentSeries, childSeries, pinnedSeries, readMap };
  const shown = { measure, fitted: state.scale === "week" };
  draw({ release: r, n, container, trend, week, pins, ...series, ...shown, block, by: state.by });
  if (r.hasMap) prefetch(r, trend, week);
}

async function showWorld(started) {
  const { weeks: all, week, trend, trends } = await world.show(app.state);
  if (started !== app.updateCount) return;
  Object.assign(app, { release: null, worldWeeks: all });
  byId("loading").hidden = true;
  byId("page").hidden = false;
  byId("countries").value = "";
  byId("title").textContent = say("world_site");
  document.title = `${say("world_title")} · ${trends[trend].title}`;
  drawTrends(trends);
  byId("trends").querySelectorAll("input")[trend].checked = true;
  weeks.show({ weeks: all, breaks: [] }, week);
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
    h("legend", { class: "visually-hidden" }, say("topic")),
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

function draw(view) {
  const { release: r, n, trend, week } = view;
  document.title = `${r.label(n)} · ${r.trends[trend].title} · ${r.title}`;
  byId("trends").querySelectorAll("input")[trend].checked = true;
  weeks.show(r, week);
  heading.show(view, app.state.pins, app.notices);
  modes.show(view, app.state);
  showAnswer(view);
  const mapShown = r.hasMap ? panel.show(view) : Promise.resolve(null);
  mapShown.then(() => neighbours.show(view, panel.map?.outlines, app.state.pins)).catch(showError);
  charts.show(view);
  const started = app.updateCount;
  tableCard.show(view, app.state.pins, mapShown, () => started === app.updateCount).catch(showError);
  asked.show(view).catch(showError);
  const address = addressOf(share.stateOf(app.state, r.weeks[week]), defaults());
  share.show(address, r.weeks[week]);
  showEmbed(address, document.title, r.hasMap ? byId("embed-kind").value : "series", r.trends.length);
  showPaper(view);
  if (app.state.embed) byId("full-link").href = addressOf({ ...app.state, embed: null }, defaults());
  document.body.dataset.shown = `${r.ids[n]} ${r.trends[trend].name} ${r.weeks[week]}`;
}

function initialize() {
  showLanguages();
  byId("loading").textContent = say("loading");
  sayAll(document);
  if (world) byId("countries").append(h("option", { value: "" }, say("world_all")));
  byId("countries").append(...site.datasets.map((d) => h("option", { value: d.key }, datasetLabel(d))));
  byId("picker").hidden = site.datasets.length < 2;
  byId("countries").addEventListener("change", (event) => openDataset(event.target.value || null));
  byId("theme").addEventListener("click", toggleTheme);
  byId("embed-kind").addEventListener("change", refresh);
  preparePrint({ panel, charts, tableCard });
  onThemeChange(() => {
    charts.invalidate();
    refresh();
  });
  addEventListener("popstate", () => {
    Object.assign(app, { state: readAddress(), notices: [] });
    refresh();
  });
  addEventListener("hashchange", followHash);
  new ResizeObserver(([{ target }]) => {
    if (target.offsetHeight) document.documentElement.style.setProperty("--bar", `${target.offsetHeight}px`);
  }).observe(document.querySelector(".controls"));
  if (app.state.embed) {
    document.body.dataset.embed = app.state.embed === "series" ? "series" : "map";
    byId("full-link").hidden = false;
  }
}

// A dataset is labelled by its country; datasets of the same country also by their titles.
function datasetLabel(d) {
  const sameCountry = site.datasets.filter((other) => other.country === d.country).length > 1;
  const country = countryName(d.country, d.code);
  return sameCountry ? say("dataset_label", { country, title: d.titles[language] ?? d.title }) : country;
}

// A link to a part of the page, such as #about: the part is hidden until the first view is shown.
function followHash() {
  if (location.hash !== "#about") return;
  byId("about").scrollIntoView();
  byId("about-title").focus({ preventScroll: true });
}

// The page stays as it is; the next change requests the missing data again.
function showError(error) {
  console.error(error); // for whoever looks for the cause
  weeks.giveUp();
  const element = byId(app.release ? "note" : "loading");
  element.hidden = false;
  element.textContent = say("load_error", { error: error.message });
}

initialize();
refresh().then(followHash);
