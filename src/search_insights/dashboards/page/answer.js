// The answer under the heading, in sentences: the value, how it changed and whether that is beyond the noise, its
// parent, its rank, and how unusual it is.

import { CONFIDENCE, difference, rankOf } from "./differences.js";
import { byId, h } from "./dom.js";
import { formatInterval, formatNumber, formatPercent, formatSigned, longDate } from "./format.js";
import { interval, mean, quantile } from "./intervals.js";
import { breaksBetween, isNewScale, weekFrom, weekOfSince } from "./measures.js";
import { parts, say } from "./messages.js";

const STEPS = [1, 4]; // weeks
const MIN_WEEKS = 3; // to say how unusual a value is
const LONG = 4; // weeks, after which "the highest since" is worth saying

export function showAnswer(view) {
  const element = byId("answer");
  const answer = view.measure.kind === "average" ? new PeriodAnswer(view) : new WeekAnswer(view);
  const sentences = answer.sentences();
  element.hidden = !sentences.length;
  const note = say("answer_note", { confidence: formatPercent(CONFIDENCE) });
  element.replaceChildren(
    ...sentences.map((sentence, i) => h("span", { class: "sentence" }, i ? " " : "", sentence)),
    ...(answer.judged ? [h("span", { class: "answer-note" }, " ", note)] : []),
  );
}

// What the answers of a week and of a period share: means of the weeks `this.weeks`, of a region and of others.
class Answer {
  constructor(view, weeks) {
    Object.assign(this, { view, weeks, release: view.release, judged: false });
    this.z = quantile(view.release.confidence ?? NaN);
    this.date = (week) => longDate(this.release.weeks[week]);
    this.topic = this.release.trends[view.trend].title;
  }

  // The mean of a region whose cells a function of region and week has.
  meanOf(n, read) {
    return mean(
      this.weeks.map((week) => read(n, week)),
      this.z,
    );
  }

  own = (n, week) => this.view.ownSeries?.at(n, this.view.trend, week) ?? null;
  ofParent = (n, week) => this.view.parentSeries?.at(n, this.view.trend, week) ?? null;

  // The value and its interval, for a sentence.
  values(found) {
    const { low, high } = interval(found, this.z);
    const value = h("strong", {}, formatNumber(found.value));
    const confidence = this.release.confidence ? formatPercent(this.release.confidence) : "";
    if (low === null) return [value];
    return parts("answer_interval", { value, confidence, interval: formatInterval({ low, high }) });
  }

  parent(own) {
    const { release: r, view } = this;
    const parent = r.parents[view.n];
    const found = parent >= 0 && this.meanOf(parent, this.ofParent);
    if (!found) return [];
    const { p, value } = difference(own, found);
    const key = p > 1 - CONFIDENCE ? "answer_like_parent" : value > 0 ? "answer_above_parent" : "answer_below_parent";
    this.judged = true;
    return [say(key, { region: r.label(parent), value: formatNumber(found.value) })];
  }

  // The rank among the siblings, and among all regions of the level if the map has them. Only regions with a value in
  // every week are ranked.
  ranks(own) {
    const { release: r, view } = this;
    const parent = r.parents[view.n];
    if (parent < 0) return [];
    const level = r.level(view.n);
    const all = Array.from({ length: level.count }, (_, i) => level.start + i);
    const among = [[parent, r.children(parent), this.ofParent]];
    if (parent > 0 && view.readMap && view.n < r.core) among.push([0, all, view.readMap]);
    return among.flatMap(([within, regions, read]) => this.rank(own, within, regions, read));
  }

  rank(own, within, regions, read) {
    const { release: r, view } = this;
    const others = regions.filter((n) => n !== view.n).map((n) => this.meanOf(n, read));
    const ranked = [own, ...others.filter((other) => other?.weeks === this.weeks.length)];
    if (ranked.length < 2) return [];
    const { rank, best, worst, count } = rankOf(own, ranked);
    const words = { rank, best, worst, count, level: r.level(view.n).label, region: r.label(within) };
    this.judged = true;
    return [say(best === worst ? "answer_rank" : "answer_rank_between", words)];
  }
}

class WeekAnswer extends Answer {
  constructor(view) {
    super(view, [view.week]);
    this.line = view.release.weeks.map((_, week) => this.own(view.n, week));
  }

  sentences() {
    const { view, line } = this;
    if (!line.some(Boolean)) return []; // a note says so
    const own = this.meanOf(view.n, this.own);
    const week = { topic: this.topic, date: this.date(view.week) };
    const why = own ? "" : view.release.whyMissing(view.n, view.week).short;
    if (!own) return [say("answer_missing", { ...week, why }), ...this.latest()];
    const value = parts("answer_value", { ...week, value: this.values(own) });
    return [value, ...this.changes(own), ...this.parent(own), ...this.ranks(own), ...this.unusual(own.value)];
  }

  latest() {
    const last = this.line.findLastIndex((cell, week) => cell && week < this.view.week);
    if (last < 0) return [];
    return [say("answer_latest", { value: formatNumber(this.line[last].value), date: this.date(last) })];
  }

  // The differences from last week, from four weeks before, and from the week that the view compares with.
  changes(own) {
    const { release: r, view } = this;
    if (view.week === 0 && view.measure.kind !== "change") return [say("answer_first")];
    const steps = STEPS.map((weeks) => [weekFrom(r, view.week, -weeks), say("answer_weeks_before", { count: weeks })]);
    const other = view.measure.kind === "change" ? view.measure.other : -1;
    if (other >= 0 && !steps.some(([week]) => week === other))
      steps.push([other, say("answer_that_week", { date: this.date(other) })]);
    return steps.filter(([week]) => week >= 0).map(([week, when]) => this.change(own, week, when));
  }

  change(own, week, when) {
    const { release: r, view } = this;
    const breaks = breaksBetween(r, week, view.week);
    const scaled = isNewScale(breaks);
    if (scaled) return say("answer_new_scale", { when, date: this.date(scaled.week) });
    if (!this.line[week]) return say("answer_no_value", { when });
    const before = mean([this.line[week]], this.z);
    const { value, p } = difference(own, before);
    const share = formatSigned(value / before.value, formatPercent);
    const percent = before.value > 0 ? say("answer_percent", { percent: share }) : "";
    const words = { when, difference: formatSigned(value), percent };
    this.judged = true;
    const text = say(p > 1 - CONFIDENCE ? "answer_unclear" : "answer_clear", words);
    return breaks.length ? say("answer_break", { text, label: breaks.map(({ label }) => label).join(", ") }) : text;
  }

  // Among the weeks with a value, as far as no break lies between.
  unusual(value) {
    const { view, line } = this;
    const broken = (week) => breaksBetween(this.release, week, view.week).some(({ alone }) => !alone);
    const others = line
      .map((cell, week) => ({ cell, week }))
      .filter(({ cell, week }) => cell && week !== view.week && !broken(week));
    if (others.length < MIN_WEEKS - 1) return [];
    const count = others.length + 1;
    const above = others.filter(({ cell }) => cell.value >= value);
    const below = others.filter(({ cell }) => cell.value <= value);
    if (!above.length) return [say("answer_highest", { count })];
    if (!below.length) return [say("answer_lowest", { count })];
    const since = (found) => found.findLast(({ week }) => week < view.week)?.week ?? view.week;
    if (view.week - since(above) > LONG) return [say("answer_highest_since", { date: this.date(since(above)) })];
    if (view.week - since(below) > LONG) return [say("answer_lowest_since", { date: this.date(since(below)) })];
    return [say("answer_higher_than", { higher: others.length - above.length, count: others.length })];
  }
}

class PeriodAnswer extends Answer {
  constructor(view) {
    super(view, view.measure.weeks);
  }

  sentences() {
    const { view, weeks } = this;
    const own = this.meanOf(view.n, this.own);
    const period = { topic: this.topic, from: this.date(weeks[0]), to: this.date(weeks.at(-1)) };
    if (!own) return view.ownSeries?.has(view.n) ? [say("average_missing", period)] : [];
    const words = { ...period, value: this.values(own), weeks: own.weeks, count: own.of };
    const complete = own.weeks === own.of;
    const value = parts("answer_average", words);
    if (!complete) return [value, say("average_gaps"), ...this.parent(own)];
    return [value, ...this.parent(own), ...this.ranks(own)];
  }
}
