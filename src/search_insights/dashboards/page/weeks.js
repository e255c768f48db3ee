// Moving through the weeks: a slider, steps, and play.

import { byId, calm, h, s } from "./dom.js";
import { weekName, weekSpan } from "./format.js";

export class Weeks {
  constructor(onMove) {
    this.onMove = onMove;
    this.slider = byId("week");
    this.slider.addEventListener("input", () => this.to(Number(this.slider.value)));
    byId("previous").addEventListener("click", () => this.step(-1));
    byId("next").addEventListener("click", () => this.step(1));
    byId("play").addEventListener("click", () => (this.playing ? this.stop() : this.play()));
    document.addEventListener("keydown", (event) => this.key(event));
    document.addEventListener("visibilitychange", () => document.hidden && this.stop());
    this.drawPlay();
  }

  show(weeks, week) {
    Object.assign(this, { weeks, week });
    this.slider.max = weeks.length - 1;
    this.slider.value = week;
    this.slider.setAttribute("aria-valuetext", weekName(weeks[week]));
    this.slider.style.setProperty("--share", `${(100 * week) / Math.max(1, weeks.length - 1)}%`);
    byId("when").replaceChildren(
      h("span", { class: "span" }, weekSpan(weeks[week])),
      h("span", { class: "of" }, `week ${week + 1} of ${weeks.length}`),
    );
    // Not `disabled`, which would take the keyboard's focus away.
    byId("previous").setAttribute("aria-disabled", String(week === 0));
    byId("next").setAttribute("aria-disabled", String(week === weeks.length - 1));
  }

  to(week) {
    if (this.playing && !this.ticking) this.stop();
    this.onMove(Math.min(this.weeks.length - 1, Math.max(0, week)));
  }

  step(by) {
    this.to(this.week + by);
  }

  // Left and right move the week where nothing else listens to them.
  key(event) {
    if (event.defaultPrevented || event.target !== document.body || event.ctrlKey || event.metaKey || event.altKey)
      return;
    if (event.key === "ArrowLeft") this.step(-1);
    else if (event.key === "ArrowRight") this.step(1);
  }

  play() {
    if (this.week === this.weeks.length - 1) this.to(0);
    this.playing = setInterval(() => this.tick(), calm() ? 1500 : 550);
    this.drawPlay();
  }

  tick() {
    if (this.week === this.weeks.length - 1) return this.stop();
    this.ticking = true;
    this.to(this.week + 1);
    this.ticking = false;
  }

  stop() {
    clearInterval(this.playing);
    this.playing = null;
    this.drawPlay();
  }

  drawPlay() {
    const button = byId("play");
    button.setAttribute("aria-pressed", String(Boolean(this.playing)));
    button.setAttribute("aria-label", this.playing ? "Pause" : "Play the weeks");
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
