// Find regions by what people type. Case, accents and punctuation do not matter, "saint" is "st", the word for the
// level may be left out, other words may name the location by name or code, and a word may have a typo or two. Whole
// words come before parts of words, and those before typos.

import { foldText } from "./format.js";

const MAX_RESULTS = 10;

// What a typed word costs, by how it matches a word of a region.
const [WHOLE, BEGINNING, PART, TYPO] = [0, 1, 3, 2];
const LOCATION = 0.5; // more, if the word names the location
const LEFT_OUT = 0.2; // for each word of the name that was not typed
const MIN_PART = 3; // letters

const SHORT = new Map([
  ["saint", "st"],
  ["sainte", "ste"],
  ["mount", "mt"],
  ["fort", "ft"],
]);
const LONG = new Map([...SHORT].map(([long, short]) => [short, long]));

// The words of a text, folded: "St. John's" has the words st and johns.
export function wordsOf(text) {
  const plain = foldText(text).replaceAll("&", " and ").replace(/['’ʻʼ`.]/g, "");
  return plain.split(/[^\p{L}\p{N}]+/u).flatMap((word) => (word ? [SHORT.get(word) ?? word] : []));
}

export class RegionFinder {
  constructor(release) {
    Object.assign(this, { release, words: [], letters: [], numberOf: new Map(), entries: [], known: 0 });
    this.aliases = Map.groupBy(release.aliases, ([, n]) => n);
  }

  // Finer regions are loaded later; each region is read once.
  extend() {
    const { names, codes, ids } = this.release;
    for (; this.known < names.length; this.known++) {
      const n = this.known;
      const level = this.release.level(n);
      const path = wordsOf(ids[n]);
      const codeWords = [path.pop(), wordsOf(codes[n]).at(-1), wordsOf(codes[n]).join("")].filter(Boolean);
      const group = new Set([...wordsOf(level.label), ...path]);
      this.add(n, names[n], [...new Set(codeWords)], group);
      for (const [alias] of this.aliases.get(n) ?? []) this.add(n, alias, [], group);
    }
  }

  // group: words that name the kind of region, such as county, or zip from zip/94110.
  add(n, name, codeWords, group) {
    const words = wordsOf(name);
    const ownWords = words.filter((word) => !group.has(word));
    this.entries.push({
      n,
      words: words.map((word) => this.number(word)),
      codeWords: codeWords.map((word) => this.number(word)),
      group,
      required: ownWords.map((word) => this.number(word)),
      joined: (ownWords.length ? ownWords : words).join(""),
    });
  }

  number(word) {
    if (!this.numberOf.has(word)) {
      this.numberOf.set(word, this.words.push(word) - 1);
      this.letters.push(lettersOf(word));
    }
    return this.numberOf.get(word);
  }

  // The numbers of the best matches.
  find(text) {
    this.extend();
    const typed = wordsOf(text);
    if (!typed.length) return [];
    const strict = this.ranked(typed, false);
    return this.balanced(strict.length && strict[0].cost < PART ? strict : this.ranked(typed, true));
  }

  ranked(typed, forgiving) {
    const costs = typed.map((word) => this.wordCosts(word, forgiving));
    const own = typed.map((_, i) => this.ownCosts(costs[i]));
    const near = own.map((each) => this.locationCosts(each));
    const joined = typed.join(""); // "de soto" finds DeSoto
    const found = new Map();
    for (const entry of this.entries) {
      const cost = Math.min(totalCost(entry, typed, costs, near), entry.joined === joined ? WHOLE : Infinity);
      if (cost < (found.get(entry.n) ?? Infinity)) found.set(entry.n, cost);
    }
    const start = (n) => this.release.level(n).start;
    return [...found]
      .map(([n, cost]) => ({ n, cost, start: start(n) }))
      .sort((a, b) => a.cost - b.cost || a.start - b.start || a.n - b.n);
  }

  // What a typed word costs in each known word.
  wordCosts(typed, forgiving) {
    const isNumber = /\d/.test(typed);
    const typos = !forgiving || isNumber ? 0 : typed.length >= 7 ? 2 : typed.length >= 4 ? 1 : 0;
    const letters = lettersOf(typed);
    const costs = new Float32Array(this.words.length);
    for (let i = 0; i < costs.length; i++) {
      const cost = costOf(typed, this.words[i], isNumber);
      const similar = cost === Infinity && typos && bits(letters ^ this.letters[i]) <= 2 * typos;
      costs[i] = similar ? typoCost(typed, this.words[i], typos) : cost;
    }
    return costs;
  }

  // What a typed word costs in each region's own names and codes.
  ownCosts(costs) {
    const own = new Float32Array(this.known).fill(Infinity);
    for (const { n, words, codeWords } of this.entries)
      own[n] = Math.min(own[n], least(words, costs), least(codeWords, costs));
    return own;
  }

  // What it costs in the region's ancestors, which have lower numbers.
  locationCosts(own) {
    const near = new Float32Array(this.known).fill(Infinity);
    for (let n = 0; n < this.known; n++) {
      const parent = this.release.parents[n];
      if (parent >= 0) near[n] = Math.min(near[parent], own[parent] + LOCATION);
    }
    return near;
  }

  // At most half of the results are of one level while other levels have matches as good.
  balanced(ranked) {
    const counts = new Map();
    const [first, others] = [[], []];
    for (const { n, cost, start } of ranked) {
      const key = `${start} ${Math.floor(cost)}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
      const target = counts.get(key) <= MAX_RESULTS / 2 ? first : others;
      target.push({ n, cost });
    }
    const best = [...first, ...others].slice(0, MAX_RESULTS);
    return best.sort((a, b) => a.cost - b.cost).map(({ n }) => n);
  }
}

const least = (words, costs) => words.reduce((best, word) => Math.min(best, costs[word]), Infinity);

// Every typed word must match the region, its location or its kind, and one of them the region itself.
function totalCost({ n, words, codeWords, group, required }, typed, costs, near) {
  let total = 0;
  let named = false;
  for (let i = 0; i < typed.length; i++) {
    const own = Math.min(least(words, costs[i]), least(codeWords, costs[i]));
    const other = Math.min(near[i][n], group.has(typed[i]) ? WHOLE : Infinity);
    total += Math.min(own, other);
    if (total === Infinity) return Infinity;
    named ||= own <= other;
  }
  if (!named) return Infinity;
  const byCode = codeWords.some((word) => costs.some((each) => each[word] === WHOLE));
  const leftOut = required.filter((word) => costs.every((each) => each[word] === Infinity)).length;
  return total + (byCode ? 0 : LEFT_OUT * leftOut);
}

function costOf(typed, word, isNumber) {
  if (word === typed) return WHOLE;
  if (word.startsWith(typed) || LONG.get(word)?.startsWith(typed)) return BEGINNING;
  return typed.length >= MIN_PART && !isNumber && word.includes(typed) ? PART : Infinity;
}

function typoCost(typed, word, most) {
  const typos = editDistance(typed, word, most);
  return typos > most ? Infinity : PART + TYPO * typos;
}

// The letters of a word as bits: words that differ in many cannot be a typo or two apart, which is quick to see.
function lettersOf(word) {
  let letters = 0;
  for (let i = 0; i < word.length; i++) letters |= 1 << (word.charCodeAt(i) & 31);
  return letters;
}

function bits(number) {
  let count = 0;
  for (let rest = number; rest; rest &= rest - 1) count++;
  return count;
}

// How many letters must be added, dropped, replaced or swapped with the next; if more than `most`, any larger number.
function editDistance(a, b, most) {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let [before, last] = [[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      let cost = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, before[j - 2] + 1);
      row.push(cost);
      least = Math.min(least, cost);
    }
    if (least > most) return most + 1;
    [before, last] = [last, row];
  }
  return last[b.length];
}
