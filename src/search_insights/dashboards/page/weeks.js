// The week controls: slider with months, date field, previous and next buttons, and play with its speed.

import { byId, h, prefersReducedMotion, s } from "./dom.js";
import { shortDate, weekDates, weekLabel } from "./format.js";
import { weekWith } from "./links.js";
import { say } from "./messages.js";
import { breakLetter } from "./series.js";
import { dateTicks, monthStarts } from "./ticks.js";

const PAUSE = 550; // milliseconds between two weeks while playing
const CALM_PAUSE = 1500; // with reduced motion
const LABEL_ROOM = 24; // pixels: half of a label
const THUMB = 18; // pixels: the slider's thumb, whose middle cannot reach the ends of the track

export class WeekControls {
  // onChange(week) returns a promise that is resolved when the week is shown.
  constructor(onChange) {
    this.onChange = onChange;
    this.slider = byId("week");
    this.slider.addEventListener("input", () => this.goTo(Number(this.slider.value)));
    byId("previous").addEventListener("click", () => this.step(-1));
    byId("next").addEventListener("click", () => this.step(1));
    byId("play").addEventListener("click", () => (this.playing ? this.stop() : this.play()));
    byId("date").addEventListener("change", () => this.goToDay(byId("date").value));
    document.addEventListener("keydown", (event) => this.onKey(event));
    document.addEventListener("visibilitychange", () => document.hidden && this.stop());
    new ResizeObserver(() => this.weeks && this.drawTicks()).observe(byId("ticks"));
    this.drawPlayButton();
  }

  show({ weeks, breaks }, week) {
    const other = this.weeks !== weeks;
    Object.assign(this, { weeks, breaks, week, wanted: null });
    this.slider.max = weeks.length - 1;
    this.slider.value = week;
    this.slider.setAttribute("aria-valuetext", weekLabel(weeks[week]));
    this.slider.style.setProperty("--share", `${(100 * week) / Math.max(1, weeks.length - 1)}%`);
    byId("week-dates").replaceChildren(
      h("span", { class: "dates" }, weekDates(weeks[week])),
      h("span", { class: "position" }, say("week_position", { week: week + 1, weeks: weeks.length })),
    );
    this.showDate();
    // Not `disabled`, which would drop the keyboard focus.
    byId("previous").setAttribute("aria-disabled", String(week === 0));
    byId("next").setAttribute("aria-disabled", String(week === weeks.length - 1));
    if (other) this.drawTicks();
  }

  showDate() {
    const date = byId("date");
    date.min = this.weeks[0];
    date.max = lastDay(this.weeks);
    date.value = this.weeks[this.week];
    date.setCustomValidity("");
  }

  // A day chooses its week. One that no week has is explained, and nothing changes.
  goToDay(day) {
    if (!day) return this.showDate();
    const week = weekWith(this.weeks, day);
    if (week !== null) return this.goTo(week);
    const span = { first: shortDate(this.weeks[0]), last: shortDate(lastDay(this.weeks)) };
    byId("date").setCustomValidity(say("no_week", span));
    byId("date").reportValidity();
  }

  // Marks below the slider: a line for each month, labels as many as fit, and the letters of the breaks.
  drawTicks() {
    const { weeks, breaks } = this;
    const width = byId("ticks").clientWidth;
    const last = Math.max(1, weeks.length - 1);
    const at = (week, name, text = "") => {
      const x = THUMB / 2 + ((width - THUMB) * week) / last;
      const end = !text ? "" : x < LABEL_ROOM ? " at-start" : x > width - LABEL_ROOM ? " at-end" : "";
      const element = h("span", { class: name + end }, text);
      element.style.left = `${Math.round(end === " at-start" ? 0 : end ? width : x)}px`;
      return element;
    };
    byId("ticks").replaceChildren(
      ...monthStarts(weeks).map((week) => at(week, "tick")),
      ...dateTicks(weeks, width).map(({ week, label }) => at(week, "tick-label", label)),
      ...breaks.map(({ week }, i) => at(week, "tick-break", breakLetter(i))),
    );
  }

  goTo(week) {
    this.stop();
    return this.request(week);
  }

  // Steps count from the week that was asked for last, which a slow network may not have brought yet.
  request(week) {
    this.wanted = Math.min(this.weeks.length - 1, Math.max(0, week));
    this.slider.value = this.wanted;
    return this.onChange(this.wanted);
  }

  step(weeks) {
    this.goTo((this.wanted ?? this.week) + weeks);
  }

  // The left and right arrow keys change the week if no other element has the focus.
  onKey(event) {
    if (event.defaultPrevented || event.target !== document.body || event.ctrlKey || event.metaKey || event.altKey)
      return;
    if (event.key === "ArrowLeft") this.step(-1);
    else if (event.key === "ArrowRight") this.step(1);
  }

  get pause() {
    return (prefersReducedMotion() ? CALM_PAUSE : PAUSE) / Number(byId("speed").value);
  }

  // The next week is asked for when the last one is shown, however long that takes.
  async play() {
    const run = (this.playing = {});
    this.drawPlayButton();
    if (this.week === this.weeks.length - 1) await this.request(0);
    while (this.playing === run) {
      await new Promise((done) => setTimeout(done, this.pause));
      if (this.playing !== run) return;
      if (this.week === this.weeks.length - 1) this.stop();
      else await this.request(this.week + 1);
    }
  }

  stop() {
    if (!this.playing) return;
    this.playing = null;
    this.drawPlayButton();
  }

  // The data could not be loaded: stay where we are.
  giveUp() {
    this.stop();
    this.wanted = null;
    if (this.weeks) this.slider.value = this.week;
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

const lastDay = (weeks) => new Date(Date.parse(`${weeks.at(-1)}T00:00:00Z`) + 6 * 86400e3).toISOString().slice(0, 10);
