// The legend of the map: the colour scale with a histogram of the regions shown, the choice between the scale of all
// weeks and one fitted to the regions shown, the hatches, and what the colours mean.

import { byId, h, s } from "./dom.js";
import { formatNumber, formatPercent, formatSigned, formatStep } from "./format.js";
import { say } from "./messages.js";
import { colorScale, hatchSwatch } from "./picture.js";
import { CONFIDENCE } from "./differences.js";

const WIDTH = 324;
const TOP = 24; // room for the histogram above the scale

export class Legend {
  // onScale(name of the scale, null for that of all weeks)
  constructor(onScale) {
    const button = (name, key) => h("button", { type: "button", onclick: () => onScale(name) }, say(key));
    this.all = button(null, "scale_all");
    this.fitted = button("week", "scale_week");
    this.choice = h("span", { class: "switch", role: "group", "aria-label": say("scale") }, this.all, this.fitted);
    const box = { viewBox: `-2 ${-TOP} ${WIDTH + 26} ${TOP + 32}`, width: WIDTH + 26 };
    this.scale = s("svg", { class: "scale", ...box, role: "img" });
    this.kinds = h("div", { class: "missing-kinds" });
    this.text = h("p", { class: "peak" });
    byId("legend").replaceChildren(this.scale, this.choice, this.kinds, this.text);
  }

  // scene: that of the map, with its scale and what was judged; values: of the regions shown
  show(release, { scale, judged }, values, measure) {
    this.colors = scale;
    const changes = scale.kind === "change";
    this.choice.hidden = changes;
    this.fitted.textContent = say(measure.kind === "average" ? "scale_period" : "scale_week");
    this.all.setAttribute("aria-pressed", String(scale.kind !== "fitted"));
    this.fitted.setAttribute("aria-pressed", String(scale.kind === "fitted"));
    this.pointer = s("path", { d: "M-5,-8h10l-5,7z", fill: "currentColor", visibility: "hidden" });
    this.scale.setAttribute("aria-label", `${scaleText(scale)} ${spread(scale, values)}`);
    this.scale.replaceChildren(scale.histogram(values, WIDTH), colorScale(scale, 0, 0, WIDTH), this.pointer);
    const kinds = [...release.missingKinds, ...(changes ? [["unsure", say("unsure")]] : [])];
    this.kinds.replaceChildren(...kinds.map(([kind, label]) => h("span", {}, hatchSwatch(kind), label)));
    const texts = changes ? judgedTexts(judged) : [release.peakSentence, colorText(scale)];
    this.text.textContent = texts.filter(Boolean).join(" ");
  }

  // Point at a value on the scale.
  mark(cell) {
    this.pointer?.setAttribute("visibility", cell ? "visible" : "hidden");
    if (!cell) return;
    const x = (this.colors.position(cell.value) * WIDTH) / this.colors.classes;
    this.pointer.setAttribute("transform", `translate(${x},0)`);
  }
}

const colorText = (scale) => say(scale.kind === "fitted" ? "fitted_colors" : "same_colors");

function scaleText({ kind, start, step, classes, openLow }) {
  const format = kind === "change" ? (value) => formatSigned(value, formatStep) : formatStep;
  const [low, high] = [format(start + (openLow ? step : 0)), format(start + step * (classes - 1))];
  if (kind !== "fixed") return say(`scale_label_${kind}`, { step: formatStep(step), low, high });
  return say("scale_label", { step: formatNumber(step), top: formatNumber(step * (classes - 1)) });
}

// The histogram in words.
function spread({ kind }, values) {
  if (!values.length) return "";
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.round(share * (sorted.length - 1))];
  const format = kind === "change" ? formatSigned : formatNumber;
  const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => format(at(share)));
  return say("spread", { count: values.length, low, middle, high });
}

// How many differences are beyond the noise, and how many of them chance alone would make.
function judgedTexts({ compared, clear, chance }) {
  const confidence = formatPercent(CONFIDENCE);
  const counts = { clear, count: compared, chance: Math.ceil(chance) };
  return [say("judged", counts), say("judged_how", { confidence })];
}
