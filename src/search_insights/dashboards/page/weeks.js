// The week controls: slider, previous and next buttons, and play.

import { byId, h, prefersReducedMotion, s } from "./dom.js";
import { weekDates, weekLabel } from "./format.js";
import { say } from "./messages.js";

export class WeekControls {
  constructor(onChange) {
    this.onChange = onChange;
    this.slider = byId("week");
    this.slider.addEventListener("input", () => this.goTo(Number(this.slider.value)));
    byId("previous").addEventListener("click", () => this.step(-1));
    byId("next").addEventListener("click", () => this.step(1));
    byId("play").addEventListener("click", () => (this.playing ? this.stop() : this.play()));
    document.addEventListener("keydown", (event) => this.onKey(event));
    document.addEventListener("visibilitychange", () => document.hidden && this.stop());
    this.drawPlayButton();
  }

  show(weeks, week) {
    Object.assign(this, { weeks, week });
    this.slider.max = weeks.length - 1;
    this.slider.value = week;
    this.slider.setAttribute("aria-valuetext", weekLabel(weeks[week]));
    this.slider.style.setProperty("--share", `${(100 * week) / Math.max(1, weeks.length - 1)}%`);
    byId("week-dates").replaceChildren(
      h("span", { class: "dates" }, weekDates(weeks[week])),
      h("span", { class: "position" }, say("week_position", { week: week + 1, weeks: weeks.length })),
    );
    // Not `disabled`, which would drop the keyboard focus.
    byId("previous").setAttribute("aria-disabled", String(week === 0));
    byId("next").setAttribute("aria-disabled", String(week === weeks.length - 1));
  }

  goTo(week) {
    if (this.playing && !this.ticking) this.stop();
    this.onChange(Math.min(this.weeks.length - 1, Math.max(0, week)));
  }

  step(weeks) {
    this.goTo(this.week + weeks);
  }

  // The left and right arrow keys change the week if no other element has the focus.
  onKey(event) {
    if (event.defaultPrevented || event.target !== document.body || event.ctrlKey || event.metaKey || event.altKey)
      return;
    if (event.key === "ArrowLeft") this.step(-1);
    else if (event.key === "ArrowRight") this.step(1);
  }

  play() {
    if (this.week === this.weeks.length - 1) this.goTo(0);
    this.playing = setInterval(() => this.tick(), prefersReducedMotion() ? 1500 : 550);
    this.drawPlayButton();
  }

  tick() {
    if (this.week === this.weeks.length - 1) return this.stop();
    this.ticking = true;
    this.goTo(this.week + 1);
    this.ticking = false;
  }

  stop() {
    clearInterval(this.playing);
    this.playing = null;
    this.drawPlayButton();
  }

  drawPlayButton() {
    const button = byId("play");
    button.setAttribute("aria-pressed", String(Boolean(this.playing)));
    button.setAttribute("aria-label", say(this.playing ? "pause" : "play"));
    const d = this.playing ? "M4 3h3v10H4zM9 3h3v10H9z" : "M4.5 2.5v11l9-5.5z";
    button.replaceChildren(
      s(
        "svg",
        { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" },
        s("path", { d, fill: "currentColor" }),
      ),
    );
  }
}
