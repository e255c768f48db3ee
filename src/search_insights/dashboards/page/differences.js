// Differences of independent means with intervals and p-values, many p-values at once, and ranks with intervals: the
// same computation as in analysis/differences.py and analysis/ranks.py. Overlap of two intervals is not the test.

import { arms, pOf, quantile } from "./intervals.js";

export const CONFIDENCE = 0.95; // of differences and ranks
const FALSE_SHARE = 0.1; // of the differences that are called clear, at most so many are expected to be chance
const HALVINGS = 40;
const Z = quantile(CONFIDENCE);

// a - b with the ends of its interval, which combines the sides that face each other, and the p-value; `before` is b.
export function difference(a, b) {
  const [downA, upA] = arms(a, Z);
  const [downB, upB] = arms(b, Z);
  const value = a.value - b.value;
  const ends = [value - Math.hypot(downA, upB), value + Math.hypot(upA, downB)];
  const [low, high] = ends.map((end) => (Number.isFinite(end) ? end : null));
  return { value, low, high, before: b.value, now: a.value, p: pValue(a, b) };
}

// The p-value of the widest interval that does not contain 0.
function pValue(a, b) {
  let [inside, outside] = [0, 38];
  const distance = Math.abs(a.value - b.value);
  for (let i = 0; i < HALVINGS; i++) {
    const z = (inside + outside) / 2;
    const [armsA, armsB] = [arms(a, z), arms(b, z)];
    const reach = a.value >= b.value ? Math.hypot(armsA[0], armsB[1]) : Math.hypot(armsA[1], armsB[0]);
    if (distance > reach) inside = z;
    else outside = z;
  }
  return pOf(inside);
}

// Adjust p-values by Benjamini and Hochberg.
export function qValues(p) {
  const order = p.map((_, i) => i).sort((a, b) => p[a] - p[b]);
  const q = new Array(p.length);
  let least = 1;
  for (let i = order.length - 1; i >= 0; i--) {
    least = Math.min(least, (p[order[i]] * p.length) / (i + 1));
    q[order[i]] = least;
  }
  return q;
}

// Which of many differences are beyond the noise: their intervals exclude 0, and among so many comparisons the share of
// chance finds stays small. `limit` is the largest such p-value, `chance` how many would be below it by chance alone.
export function judge(cells) {
  const p = cells.filter(Boolean).map((cell) => cell.p);
  const q = qValues(p);
  const limit = Math.max(0, ...p.filter((each, i) => each <= 1 - CONFIDENCE && q[i] <= FALSE_SHARE));
  return { limit, compared: p.length, clear: p.filter((each) => each <= limit).length, chance: p.length * limit };
}

// The rank of a mean among all, of which it is one, and the best and the worst rank that the noise leaves open: it is
// compared with all others at once (Bonferroni).
export function rankOf(own, all) {
  const z = quantile(1 - (1 - CONFIDENCE) / Math.max(all.length - 1, 1));
  const [down, up] = arms(own, z);
  let [rank, best, worst] = [1, 1, all.length];
  for (const other of all) {
    if (other === own) continue;
    const ahead = other.value - own.value;
    const [otherDown, otherUp] = arms(other, z);
    if (ahead > 0) rank += 1;
    if (ahead > Math.hypot(otherDown, up)) best += 1;
    if (-ahead > Math.hypot(otherUp, down)) worst -= 1;
  }
  return { rank, best, worst, count: all.length };
}
