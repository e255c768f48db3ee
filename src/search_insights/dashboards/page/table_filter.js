// The field above the table that keeps only the rows whose name, code or place has all its words.

import { h } from "./dom.js";
import { foldText } from "./format.js";
import { say } from "./messages.js";

export class RowFilter {
  constructor(holder, onChange) {
    const label = say("table_filter");
    const options = { type: "search", class: "filter", "aria-label": label, placeholder: label, autocomplete: "off" };
    this.field = h("input", { ...options, oninput: onChange });
    this.count = h("span", { class: "filter-count", role: "status" });
    this.holder = holder;
    this.holder.replaceChildren(this.field, this.count);
  }

  // Another list begins without a filter; a short one has none.
  setList(list, isLong) {
    if (list !== this.list || !isLong) this.field.value = "";
    this.list = list;
    this.holder.hidden = !isLong;
  }

  get words() {
    return foldText(this.field.value).split(/\s+/).filter(Boolean);
  }

  matcher(release) {
    const { words } = this;
    if (!words.length) return () => true;
    const text = (n) => foldText(`${release.label(n)} ${release.codes[n]} ${release.location(n)}`);
    return (n) => words.every((word) => text(n).includes(word));
  }

  showCount(found, count) {
    this.count.textContent = this.words.length ? say("table_filtered", { found, count }) : "";
  }
}
