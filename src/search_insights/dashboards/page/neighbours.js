// The button that pins the regions that share a border with the selected one, to compare them.

import { h } from "./dom.js";
import { say } from "./messages.js";
import { MAX_PINS } from "./state.js";

export class NeighbourButton {
  // onPins(place_ids)
  constructor(onPins) {
    this.element = h("button", { type: "button", id: "neighbours", class: "pin-button", hidden: true });
    this.element.addEventListener("click", () => onPins(this.pinned ? this.others : [...this.own]));
  }

  // Those with the longest shared borders, as many as can be pinned. Pressed again, the button removes them.
  show({ release: r, n, week }, outlines, pins) {
    const level = r.level(n);
    const existing = (other) => r.level(other) === level && !r.isAbsent(other, week);
    const found = outlines?.has(n) ? outlines.neighbours(n).filter(existing) : [];
    this.own = found.slice(0, MAX_PINS).map((other) => r.ids[other]);
    this.others = pins.filter((id) => !this.own.includes(id));
    this.pinned = this.own.length > 0 && this.own.every((id) => pins.includes(id));
    const key = found.length > MAX_PINS ? "neighbours_some" : "neighbours";
    this.element.textContent = say(key, { pins: MAX_PINS, count: found.length });
    this.element.setAttribute("aria-pressed", String(this.pinned));
    this.element.hidden = !found.length;
  }
}
