// The switch between the values of the week, their change and their average over a period, with the weeks to choose.

import { byId, h } from "./dom.js";
import { capitalize, longDate, monthYearLabel, shortDate } from "./format.js";
import { describe } from "./measures.js";
import { say } from "./messages.js";

const KINDS = ["week", "change", "average"];
const STEPS = [1, 4, 52]; // weeks before
const DEFAULT_WEEKS = 4; // of a period

export class Modes {
  // onChange(changes of the state)
  constructor(onChange) {
    this.onChange = onChange;
    this.buttons = new Map(KINDS.map((kind) => [kind, this.button(kind)]));
    this.since = this.select("since", () => onChange({ since: this.since.value }));
    this.period = this.select("period", () => this.choosePeriod(this.period.value));
    this.from = this.select("from", () => this.chooseWeeks(this.from.value, this.to.value));
    this.to = this.select("to", () => this.chooseWeeks(this.from.value, this.to.value));
    const label = (key, field) => h("span", {}, h("label", { for: field.id }, say(key)), field);
    this.fields = {
      change: h("span", { class: "fields" }, label("mode_since", this.since)),
      average: h(
        "span",
        { class: "fields" },
        label("mode_period", this.period),
        label("mode_from", this.from),
        label("mode_to", this.to),
      ),
    };
    const choice = h("span", { class: "switch", role: "group", "aria-label": say("modes") }, ...this.buttons.values());
    this.status = h("p", { role: "status", class: "mode-status" });
    byId("modes").append(choice, ...Object.values(this.fields), this.status);
  }

  button(kind) {
    return h("button", { type: "button", onclick: () => this.choose(kind) }, say(`mode_${kind}`));
  }

  select(id, onchange) {
    return h("select", { id, onchange });
  }

  choose(kind) {
    const { weeks } = this.release;
    const none = { since: null, from: null, to: null };
    if (kind === "change") this.onChange({ ...none, since: this.lastSince ?? "1" });
    else if (kind === "average")
      this.onChange({ ...none, from: weeks[Math.max(0, this.week - DEFAULT_WEEKS + 1)], to: weeks[this.week] });
    else this.onChange(none);
  }

  choosePeriod(period) {
    const [from, to] = period.split(" ");
    if (to) this.onChange({ since: null, from, to });
  }

  // The later of two weeks is the end, whichever was chosen first.
  chooseWeeks(a, b) {
    const [from, to] = [a, b].sort();
    this.onChange({ since: null, from, to });
  }

  show({ release, week, measure }, state) {
    if (this.release !== release) this.fill(release);
    Object.assign(this, { release, week });
    this.lastSince = state.since ?? this.lastSince;
    const kind = state.since ? "change" : state.from || state.to ? "average" : "week";
    for (const [each, button] of this.buttons) button.setAttribute("aria-pressed", String(each === kind));
    for (const [each, fields] of Object.entries(this.fields)) fields.hidden = each !== kind;
    this.showSince(state.since ?? "1");
    this.from.value = state.from ?? release.weeks[week];
    this.to.value = state.to ?? release.weeks[week];
    const period = `${state.from} ${state.to}`;
    this.period.value = [...this.period.options].some(({ value }) => value === period) ? period : "";
    this.status.textContent = statusText(release, measure);
  }

  // A link may ask for any number of weeks before.
  showSince(since) {
    const known = [...this.since.options].some(({ value }) => value === since);
    const text = () => say("answer_weeks_before", { count: Number(since) });
    if (!known && /^\d{1,3}$/.test(since)) this.since.firstChild.append(h("option", { value: since }, text()));
    this.since.value = since;
  }

  fill(release) {
    const { weeks } = release;
    const option = (value, text) => h("option", { value }, text);
    const group = (label, options) => (options.length ? h("optgroup", { label }, options) : null);
    const steps = STEPS.filter((step) => step < weeks.length || step === 1);
    const each = () => weeks.toReversed().map((iso) => option(iso, longDate(iso)));
    const before = (step) => option(String(step), say("answer_weeks_before", { count: step }));
    this.since.replaceChildren(group(say("since_steps"), steps.map(before)), group(say("since_week"), each()));
    this.from.replaceChildren(...each());
    this.to.replaceChildren(...each());
    const ofKind = (kind) => periods(weeks, kind).map(({ value, label }) => option(value, label));
    const groups = ["month", "season", "year"].map((kind) => group(say(`period_${kind}`), ofKind(kind)));
    this.period.replaceChildren(option("", say("period_other")), ...groups);
  }
}

const START = {
  month: (year, month) => [year, month, 1],
  // From December, March, June or September on.
  season: (year, month) => [month < 2 ? year - 1 : year, month < 2 ? 11 : month - ((month + 1) % 3), 3],
  year: (year) => [year, 0, 12],
};

// The months, seasons or years in which a week begins, the newest first. Seasons are named by their months: they have
// other names south of the equator.
export function periods(weeks, kind) {
  const found = new Map();
  for (const iso of weeks) {
    const date = new Date(`${iso}T00:00:00Z`);
    const [year, month, months] = START[kind](date.getUTCFullYear(), date.getUTCMonth());
    const key = `${year} ${month}`;
    if (!found.has(key)) found.set(key, { year, month, months, from: iso });
    found.get(key).to = iso;
  }
  const choice = ({ from, to, ...of }) => ({ value: `${from} ${to}`, label: periodLabel(of) });
  return [...found.values()].toReversed().map(choice);
}

function periodLabel({ year, month, months }) {
  const first = (offset) => new Date(Date.UTC(year, month + offset, 1)).toISOString().slice(0, 10);
  const label = (offset) => capitalize(monthYearLabel(first(offset)));
  if (months === 1) return label(0);
  return months === 12 ? String(year) : say("interval", { low: label(0), high: label(months - 1) });
}

// What is shown, or why it cannot be; and what lies between the weeks.
function statusText(release, measure) {
  const text = measure.problem || describe(release, measure);
  if (!measure.breaks?.length) return text;
  const label = (found) => say("break_between", { label: found.label, date: shortDate(release.weeks[found.week]) });
  return `${text} ${say("breaks_between", { labels: measure.breaks.map(label).join(", ") })}`;
}
