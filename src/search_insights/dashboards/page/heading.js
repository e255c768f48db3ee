// The heading of a view: the region with its parents, the pins, what could not be shown as asked, and when the region
// began or ended.

import { byId, h } from "./dom.js";
import { capitalize, listParts, longDate } from "./format.js";
import { parts, say } from "./messages.js";

export class Heading {
  // handlers: { onOpen(n), onPin(n), charts, neighbours }
  constructor(handlers) {
    this.handlers = handlers;
  }

  // pinned: the place_ids of the pins; notices: keys of messages with their values.
  show(view, pinned, notices) {
    this.showRegion(view);
    this.showPins(view, pinned);
    this.showNote(view, notices);
    this.showLife(view.release, view.n);
  }

  regionLink(r, n) {
    return h("button", { type: "button", class: "link", onclick: () => this.handlers.onOpen(n) }, r.label(n));
  }

  showRegion({ release: r, n }) {
    const ancestors = r.lineage(n).slice(1).toReversed();
    byId("region").textContent = r.label(n);
    byId("crumbs").replaceChildren(
      ...ancestors.map((ancestor) => h("li", {}, this.regionLink(r, ancestor))),
      h("li", {}, capitalize(r.level(n).label), r.codes[n] !== r.names[n] ? ` ${r.codes[n]}` : ""),
    );
  }

  showPins({ release: r, n, pins }, pinned) {
    const isPinned = pinned.includes(r.ids[n]);
    const others = pins.filter((pin) => pin !== n);
    const hadFocus = document.activeElement?.id === "pin";
    const toggle = () => this.handlers.onPin(n);
    const look = { type: "button", id: "pin", class: "pin-button", "aria-pressed": String(isPinned) };
    byId("pins").replaceChildren(
      ...others.map((pin, i) => this.chip(r, pin, this.handlers.charts.colorOf(i + 1))),
      h("button", { ...look, onclick: toggle }, say(isPinned ? "pinned" : "pin")),
      this.handlers.neighbours.element,
    );
    if (hadFocus) byId("pin").focus();
  }

  chip(r, pin, color) {
    const swatch = h("span", { class: "dot" });
    swatch.style.background = color;
    const onclick = () => this.handlers.onPin(pin).then(() => byId("pin").focus());
    const label = say("unpin_region", { region: r.label(pin) });
    const remove = h("button", { type: "button", class: "remove", "aria-label": label, onclick }, "×");
    return h("span", { class: "chip" }, swatch, this.regionLink(r, pin), remove);
  }

  // What could not be shown as asked, and whether there is anything to show at all.
  showNote({ release: r, n, week, ownSeries }, notices) {
    const texts = notices.map(([key, values]) => parts(key, this.noticeValues(r, values)));
    if (!ownSeries?.has(n)) texts.push([say("no_values_of", { why: r.whyNever(n, week), region: r.label(n) })]);
    byId("note").replaceChildren(...texts.flatMap((text, i) => (i ? [" ", ...text] : text)));
    byId("note").hidden = !texts.length;
  }

  // A region that has the same code is a link.
  noticeValues(r, values) {
    return values.other === undefined ? values : { ...values, other: this.regionLink(r, values.other) };
  }

  // When the selected region began or ended, and which regions it followed or was followed by.
  showLife(r, n) {
    const life = r.lifeOf.get(n);
    const date = (week) => longDate(r.weeks[week]);
    const texts = [];
    if (life?.first > 0)
      texts.push(say("reported_since", { date: date(life.first) }), ...this.relatives(r, "follows", r.predecessors(n)));
    if (life && life.last < r.weeks.length - 1)
      texts.push(say("reported_until", { date: date(life.last) }), ...this.relatives(r, "followed_by", life.next));
    byId("life").replaceChildren(...texts.flatMap((text, i) => (i ? [" ", text] : [text])));
    byId("life").hidden = !texts.length;
  }

  // A sentence that names other regions, each a link; nothing if there are none.
  relatives(r, key, others) {
    if (!others.length) return [];
    return [h("span", {}, parts(key, { regions: listParts(others.map((n) => this.regionLink(r, n))) }))];
  }
}
