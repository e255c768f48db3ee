// What dashboards/facts.py hands over, as text: messages with their values, dates, numbers, and what a dataset may name
// in several languages.

import { capitalize, formatExact, formatPercent, listParts, longDate } from "./format.js";
import { say } from "./messages.js";

// A fact as text. A text or a number is data.
export function tell(fact, release) {
  if (fact === null || typeof fact !== "object") return fact;
  if (fact.say) return say(fact.say, valuesOf(fact, release));
  const [[kind, value]] = Object.entries(fact);
  return KINDS[kind](value, release);
}

const valuesOf = ({ say: _, ...values }, release) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, tell(value, release)]));

const KINDS = {
  date: (value) => (/^\d{4}-\d\d-\d\d$/.test(value) ? longDate(value) : value), // a dataset may come from anyone
  number: formatExact,
  percent: formatPercent,
  country: (_, release) => release.country,
  level: (name, release) => release.levelLabel(name),
  trend: (name, release) => release.trendTitle(name),
  topic: (id, release) => release.topics[id],
  definition: (id, release) => release.definitions[id],
  list: (facts, release) => listParts(facts.map((fact) => tell(fact, release))).join(""),
  items: (facts, release) => facts.map((fact) => tell(fact, release)).join("; "),
  sentences: (facts, release) => facts.map((fact) => sentence(String(tell(fact, release)))).join(" "),
};

// Publishers end their reasons with a full stop, or do not.
const sentence = (text) => `${capitalize(text.trim().replace(/\.+$/, ""))}.`;
