// The links to copy: to the view with its week, or with whichever week is the newest when the link is opened.

import { byId } from "./dom.js";
import { weekDates } from "./format.js";
import { say } from "./messages.js";
import { NEWEST } from "./state.js";

export class Share {
  // onChange: the reader chose another kind of link, so the code to embed changes too.
  constructor(onChange) {
    this.newest = false;
    this.choices = [...document.querySelectorAll("select.link-week")];
    for (const choice of this.choices)
      choice.addEventListener("change", () => {
        this.newest = choice.value === NEWEST;
        onChange();
      });
    byId("share-copy").addEventListener("click", () => this.copy());
    byId("share-link").addEventListener("focus", () => byId("share-link").select());
    byId("share").addEventListener("keydown", (event) => event.key === "Escape" && this.close());
    document.addEventListener("pointerdown", (event) => {
      if (!byId("share").contains(event.target)) byId("share").open = false;
    });
  }

  // The state that a link to this view has.
  stateOf(state, week) {
    return { ...state, week: this.newest ? NEWEST : week };
  }

  show(address, week) {
    for (const choice of this.choices) {
      choice.value = this.newest ? NEWEST : "this";
      choice.querySelector("[value=this]").textContent = say("link_this_week", { dates: weekDates(week) });
    }
    byId("share-link").value = new URL(address, location.href).href;
    byId("share-done").textContent = "";
  }

  close() {
    byId("share").open = false;
    byId("share").querySelector("summary").focus();
  }

  async copy() {
    const field = byId("share-link");
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
    } catch {
      document.execCommand("copy"); // a page without https has no other way
    }
    byId("share-done").textContent = say("link_copied");
  }
}
