// The card "What people ask": the top and rising searches of the selected region, week and topic, with their intervals,
// the other wordings on demand, and the reason where there is no list.

import { byId, h, s } from "./dom.js";
import { formatCount, formatHundredths, formatNumber, formatPercent, weekLabel } from "./format.js";
import { parts, say } from "./messages.js";
import { theme } from "./theme.js";

const BAR_WIDTH = 84;
const [TOP, RISING] = [0, 1];
const FIRST_ROWS = 10;
const NARROW = 0.4; // percent: with narrower intervals, shares have two decimals, so that their ends differ

// A change of 85.3 % is not known to a tenth.
const signed = (value) => {
  const size = Math.abs(value);
  return `${value > 0 ? "+" : value < 0 ? "−" : ""}${size >= 10 ? formatCount(size) : formatNumber(size)}`;
};

export class AskedCard {
  // onOpen(n) opens a region.
  constructor(onOpen) {
    Object.assign(this, { onOpen, open: new Set(), started: 0 });
  }

  async show(view) {
    const { release: r, n, trend, week } = view;
    byId("asked-card").hidden = !r.asked;
    if (!r.asked) return;
    const started = ++this.started;
    const rows = (await r.askedRows(n, week)).filter((row) => row.week === week);
    if (started !== this.started) return; // a newer view is under way
    this.view = view;
    byId("asked-about").replaceChildren(
      ...parts("asked_about", {
        topic: h("strong", {}, r.trends[trend].title),
        region: r.label(n),
        week: weekLabel(r.weeks[week]),
      }),
    );
    const found = rows.filter((row) => row.trend === trend);
    const focus = document.activeElement?.closest?.("#asked [data-key]")?.dataset.key;
    byId("asked").replaceChildren(...(found.length ? this.lists(found) : [this.reason(rows.length > 0)]));
    if (focus) byId("asked").querySelector(`[data-key="${CSS.escape(focus)}"]`)?.focus();
    byId("asked-card").dataset.shown = `${r.ids[n]} ${r.trends[trend].name} ${r.weeks[week]}`;
  }

  // Why there is no list. None of the reasons is that nobody searched.
  reason(otherTopics) {
    const { release: r, n, week } = this.view;
    const [country, coarsest] = r.levels;
    const depth = r.levels.indexOf(r.level(n));
    if (depth > 1) {
      const parent = r.lineage(n).find((ancestor) => r.levels.indexOf(r.level(ancestor)) === 1);
      return h(
        "p",
        { class: "missing" },
        say("asked_levels", { country: country.label, level: coarsest.label }),
        " ",
        h(
          "button",
          { type: "button", class: "link", onclick: () => this.onOpen(parent) },
          say("show_region", { region: r.label(parent) }),
        ),
      );
    }
    const text = !r.asked.weeks.includes(week)
      ? say("asked_no_week")
      : r.isExcluded(n, week)
        ? `${r.whyMissing(n, week).text}.`
        : say(otherTopics ? "asked_too_few_topic" : "asked_too_few", { region: r.label(n) });
    return h("p", { class: "missing" }, text);
  }

  lists(found) {
    const top = found.filter((row) => row.kind === TOP);
    const rising = found.filter((row) => row.kind === RISING);
    return [
      this.list(TOP, say("asked_top"), say("asked_top_note"), top, this.topCells(top)),
      this.list(RISING, say("asked_rising"), say("asked_rising_note"), rising, this.risingCells(rising)),
    ];
  }

  list(kind, title, about, rows, cells) {
    const id = `asked-list-${kind}`;
    const { confidence } = this.view.release;
    const head = `asked_${kind === TOP ? "share" : "change"}${confidence ? "_confidence" : ""}`;
    const heads = [
      say("asked_rank"),
      say("asked_search"),
      say(head, { confidence: confidence && formatPercent(confidence) }),
    ];
    const shown = this.open.has(`all ${kind}`) ? rows : rows.slice(0, FIRST_ROWS);
    const body = rows.length
      ? h(
          "table",
          { "aria-labelledby": id },
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              heads.map((text, i) => h("th", { scope: "col", class: i === 1 ? null : "number" }, text)),
            ),
          ),
          h(
            "tbody",
            {},
            shown.map((row, i) => this.row(kind, row, i, cells)),
          ),
        )
      : h("p", { class: "missing" }, this.whyEmpty(kind));
    const rest = shown.length < rows.length && this.showAll(kind, rows.length);
    const above = [h("h4", { id, tabindex: -1 }, title), h("p", { class: "asked-note" }, about)];
    return h("section", { class: "asked-list" }, above, body, rest);
  }

  showAll(kind, count) {
    const key = `all ${kind}`;
    const all = () => {
      this.open.add(key);
      this.show(this.view).then(() => byId(`asked-list-${kind}`).focus()); // the button is gone
    };
    return h("button", { type: "button", class: "show-all", "data-key": key, onclick: all }, say("show_all", { count }));
  }

  whyEmpty(kind) {
    const { release: r, week } = this.view;
    if (kind === TOP) return say("asked_no_top");
    if (!r.asked.weeks.includes(week - 1)) return say("asked_no_week_before");
    return say("asked_no_rising");
  }

  row(kind, row, index, cells) {
    const key = `${kind} ${row.query}`;
    const id = `asked-${kind}-${index}`;
    return h(
      "tr",
      {},
      h("td", { class: "number rank" }, formatCount(index + 1)),
      h(
        "th",
        { scope: "row" },
        h("span", { class: "query" }, row.query),
        row.isNew && [" ", h("span", { class: "badge" }, say("asked_new"))],
        this.others(row, key, id),
        kind === TOP && closeRanks(cells.rows, index),
      ),
      h(
        "td",
        { class: "number" },
        h(
          "div",
          { class: "bar" },
          cells.bar(row),
          h("strong", {}, cells.value(row)),
          " ",
          h("span", { class: "range" }, cells.interval(row)),
        ),
      ),
    );
  }

  // The other texts of a cluster, behind a button. What is open stays open when the week changes.
  others(row, key, id) {
    if (!row.others.length) return null;
    const list = h(
      "ul",
      { id, class: "others", hidden: !this.open.has(key) },
      row.others.map((text) => h("li", {}, text)),
    );
    const toggle = () => {
      this.open.has(key) ? this.open.delete(key) : this.open.add(key);
      list.hidden = !this.open.has(key);
      button.setAttribute("aria-expanded", String(this.open.has(key)));
    };
    const count = row.others.length;
    const button = h(
      "button",
      {
        type: "button",
        class: "link more",
        "data-key": key,
        "aria-expanded": String(this.open.has(key)),
        "aria-controls": id,
        onclick: toggle,
      },
      say("asked_others", { count }),
    );
    return [button, list];
  }

  topCells(rows) {
    const most = Math.max(...rows.map((row) => row.high ?? row.value ?? 0), 1e-9);
    const scale = (value) => Math.min(Math.max(value, 0), most) / most;
    const narrow = rows.some((row) => row.low !== null && row.high !== null && row.high - row.low < NARROW);
    const format = narrow ? formatHundredths : formatNumber;
    return {
      rows,
      value: (row) => (row.value === null ? "" : say("percent", { value: format(row.value) })),
      interval: (row) => between(row.low, row.high, format),
      bar: (row) => bar(row.value, row.low, row.high, scale),
    };
  }

  // A change may have no upper end: the count of the week before may be close to 0. Then the line ends in an arrow.
  risingCells(rows) {
    const ends = rows.flatMap((row) => [row.change, row.changeLow, row.changeHigh]).filter((value) => value !== null);
    const most = Math.max(...ends, 1);
    const scale = (value) => Math.min(Math.max(value, 0), most) / most;
    return {
      rows,
      value: (row) => (row.change === null ? "" : say("percent", { value: signed(row.change) })),
      interval: (row) => between(row.changeLow, row.changeHigh, signed),
      bar: (row) => bar(row.change, row.changeLow, row.changeHigh, scale),
    };
  }
}

function between(low, high, format) {
  if (low === null && high === null) return "";
  if (high === null) return say("percent_at_least", { value: format(low) });
  if (low === null) return say("percent_at_most", { value: format(high) });
  return say("percent_between", { low: format(low), high: format(high) });
}

// The other ranks whose intervals overlap: noise may have changed the order among them.
function closeRanks(rows, index) {
  const { low, high } = rows[index];
  if (low === null || high === null) return null;
  const overlaps = (row) => row.low !== null && row.high !== null && row.low <= high && row.high >= low;
  const close = rows.flatMap((row, i) => (i !== index && overlaps(row) ? [i + 1] : []));
  if (!close.length) return null;
  const [first, last] = [Math.min(index + 1, ...close), Math.max(index + 1, ...close)];
  return h("span", { class: "asked-note" }, say("asked_close", { first, last }));
}

// The value as a dot, its interval as a line; without an upper end, it ends in an arrow.
function bar(value, low, high, scale) {
  const colors = theme();
  const x = (number) => 5 + scale(number) * (BAR_WIDTH - 10);
  const end = high === null ? BAR_WIDTH - 9 : x(high);
  const style = { stroke: colors.muted, "stroke-width": 3, "stroke-opacity": 0.55, "stroke-linecap": "round" };
  return s(
    "svg",
    { width: BAR_WIDTH, height: 14, viewBox: `0 0 ${BAR_WIDTH} 14`, "aria-hidden": "true" },
    s("line", { x1: 5, x2: BAR_WIDTH - 5, y1: 7, y2: 7, stroke: colors.grid, "stroke-width": 1 }),
    low !== null && s("line", { class: "interval", x1: Math.min(x(low), end), x2: end, y1: 7, y2: 7, ...style }),
    low !== null && high === null && s("path", { d: `M${end},2l8,5l-8,5z`, fill: colors.muted }),
    value !== null && s("circle", { cx: x(value), cy: 7, r: 4.5, fill: colors.lines[0], stroke: colors.ink }),
  );
}
