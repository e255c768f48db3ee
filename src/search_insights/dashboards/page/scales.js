// Colour scales: the same for all weeks, fitted to the regions shown, or diverging from 0; and the histogram of where
// the regions lie on them.

import { s } from "./dom.js";
import { formatSigned, formatStep } from "./format.js";
import { say } from "./messages.js";
import { theme } from "./theme.js";

const ROUND_STEPS = [1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 7.5, 10];
const BINS = 4; // of each class
const HISTOGRAM_HEIGHT = 20;

// The smallest round number that is not below `least`.
function roundUp(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return Number((power * ROUND_STEPS.find((step) => step * power >= least * 0.999)).toPrecision(6));
}

function quantileOf(sorted, share) {
  return sorted[Math.round(share * (sorted.length - 1))];
}

// Classes of equal width from `start` on. The last class is open-ended; so is the first one if `openLow`.
class Scale {
  constructor(kind, ramp, start, step, classes, openLow) {
    Object.assign(this, { kind, ramp, start, step, classes, openLow });
  }

  classOf(value) {
    return Math.min(this.classes - 1, Math.max(0, Math.floor((value - this.start) / this.step)));
  }

  get colors() {
    return theme()[this.ramp];
  }

  colorOf(value) {
    return this.colors[this.classOf(value)];
  }

  // Where a value lies on the scale, in classes; in the middle of an open class.
  position(value) {
    const found = this.classOf(value);
    const open = found === this.classes - 1 || (found === 0 && this.openLow);
    return open ? found + 0.5 : (value - this.start) / this.step;
  }

  // The same as a share of the whole scale, to its ends.
  share(value) {
    return Math.min(1, Math.max(0, (value - this.start) / (this.step * this.classes)));
  }

  // The lower end of a class as a text; none for an open first class.
  label(i) {
    if (i === 0 && this.openLow) return "";
    const value = this.start + i * this.step;
    if (this.kind === "change") return formatSigned(value, formatStep);
    return i === this.classes - 1 ? say("and_above", { value: formatStep(value) }) : formatStep(value);
  }

  // How many values lie in each part of the scale, as bars above it.
  histogram(values, width) {
    const bins = new Array(this.classes * BINS).fill(0);
    for (const value of values) {
      const at = Math.floor(((value - this.start) / this.step) * BINS);
      bins[Math.min(bins.length - 1, Math.max(0, at))] += 1;
    }
    const [most, size] = [Math.max(1, ...bins), width / bins.length];
    const height = (count) => Math.max(1, (HISTOGRAM_HEIGHT * count) / most);
    const across = (size - 0.6).toFixed(1);
    const bar = (count, i) => `M${(i * size).toFixed(1)},-2h${across}v-${height(count).toFixed(1)}h-${across}Z`;
    const d = bins.map((count, i) => (count ? bar(count, i) : "")).join("");
    return s("path", { class: "histogram", d, fill: theme().muted });
  }
}

export const fixedScale = ({ step }, classes) => new Scale("fixed", "ramp", 0, step, classes, false);

// From the lowest to the highest of the values, without the outermost 2 % at either end.
function fittedScale(values, trend, classes) {
  if (!values.length) return fixedScale(trend, classes);
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [quantileOf(sorted, 0.02), quantileOf(sorted, 0.98)];
  const step = roundUp(Math.max((high - low) / (classes - 2), high / 100, 1e-3));
  const first = Math.floor(low / step);
  const openLow = first > 0;
  return new Scale("fitted", "ramp", openLow ? (first - 1) * step : 0, step, classes, openLow);
}

// Around 0, as wide as 90 % of the values; the middle class is around 0, both ends are open.
function changeScale(values, trend, classes) {
  const sorted = values.map(Math.abs).sort((a, b) => a - b);
  const half = roundUp(Math.max((quantileOf(sorted, 0.9) ?? trend.step) / (classes - 2), 1e-3));
  return new Scale("change", "diverging", -classes * half, 2 * half, classes, true);
}

// The scale of a view, whose regions have these values.
export function scaleFor({ release, trend, measure, fitted }, values) {
  const of = release.trends[trend];
  if (measure.kind === "change") return changeScale(values, of, release.classes);
  return fitted ? fittedScale(values, of, release.classes) : fixedScale(of, release.classes);
}
