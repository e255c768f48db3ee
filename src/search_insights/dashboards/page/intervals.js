// Published intervals as what they are, Fieller's, so that they can be had at any confidence and averaged: the same
// computation as in analysis/intervals.py. An estimate is { value, ofX, ofY }: what the noise of numerator and
// denominator adds to the variance, per squared quantile. A mean is { value, weeks, of, estimates }.

// The probability that a normal variable exceeds z > 0; relative error below 2e-7 (Numerical Recipes, erfcc).
function tail(z) {
  const x = z / Math.SQRT2;
  const t = 1 / (1 + x / 2);
  const terms = [
    -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587, -0.82215223,
    0.17087277,
  ];
  return (t * Math.exp(-x * x + terms.reduceRight((sum, term) => sum * t + term, 0))) / 2;
}

export const pOf = (z) => 2 * tail(z);

// How many standard deviations a normal interval of a confidence reaches to either side.
export function quantile(confidence) {
  let [inside, outside] = [0, 38];
  for (let i = 0; i < 60; i++) {
    const z = (inside + outside) / 2;
    if (pOf(z) > 1 - confidence) inside = z;
    else outside = z;
  }
  return inside;
}

// The estimate that a published value and its interval describe. Ends are rounded, so what they say of the denominator
// is kept between nothing and all of the width. NaN without ends.
export function estimate({ value, low, high }, z) {
  if (low === null || high === null) return { value, ofX: NaN, ofY: NaN };
  const [middle, half] = [(low + high) / 2, (high - low) / 2];
  const most = middle > 0 ? Math.min((half / middle) ** 2, 0.99) : 0;
  const g = middle > 0 ? Math.min(most, Math.max(0, 1 - value / middle)) : 0;
  const a = Math.max((half * (1 - g)) ** 2 - value ** 2 * g, 0) / (1 - g);
  return { value, ofX: a / z ** 2, ofY: g / z ** 2 };
}

// How far the interval of quantile z reaches down and up; without end where the denominator may be 0.
function armsOf({ value, ofX, ofY }, z) {
  const [g, a] = [ofY * z * z, ofX * z * z];
  if (g >= 1) return [Infinity, Infinity];
  const half = Math.sqrt(value * value * g + a * (1 - g)) / (1 - g);
  const shift = (value * g) / (1 - g);
  return [half - shift, half + shift];
}

// The mean of the cells that there are, of some weeks; null if there is none. `z` is that of the published intervals.
export function mean(cells, z) {
  const estimates = cells.filter(Boolean).map((cell) => estimate(cell, z));
  if (!estimates.length) return null;
  const value = estimates.reduce((sum, each) => sum + each.value, 0) / estimates.length;
  return { value, weeks: estimates.length, of: cells.length, estimates };
}

// The arms of a mean: those of independent estimates add up as squares.
export function arms({ estimates, weeks }, z) {
  let [down, up] = [0, 0];
  for (const each of estimates) {
    const [below, above] = armsOf(each, z);
    down += below * below;
    up += above * above;
  }
  return [Math.sqrt(down) / weeks, Math.sqrt(up) / weeks];
}

// The ends of the interval of a mean; a value is never below 0. Null where the published ends are not known.
export function interval(of, z) {
  const [down, up] = arms(of, z);
  if (!Number.isFinite(down) || !Number.isFinite(up)) return { low: null, high: null };
  return { low: Math.max(of.value - down, 0), high: of.value + up };
}
