// The search box: shows the regions that find.js finds, best matches first.

import { h } from "./dom.js";
import { RegionFinder } from "./find.js";
import { capitalize } from "./format.js";
import { say } from "./messages.js";

export class Search {
  constructor(input, list, onPick) {
    Object.assign(this, { input, list, onPick, results: [], active: -1 });
    input.addEventListener("focus", () =>
      this.release?.loadFinerRegions().then(
        () => this.update(),
        () => {},
      ),
    );
    input.addEventListener("input", () => this.update());
    input.addEventListener("keydown", (event) => this.onKey(event));
    input.addEventListener("blur", () => setTimeout(() => this.close(), 150));
  }

  setRelease(release) {
    this.release = release;
    this.finder = new RegionFinder(release);
    this.close();
  }

  update() {
    const query = this.input.value.trim();
    if (!this.release || !query || document.activeElement !== this.input) return this.close();
    this.results = this.finder.find(query);
    this.active = this.results.length ? 0 : -1;
    this.draw();
  }

  draw() {
    const { release } = this;
    const level = (n) => capitalize(release.level(n).label);
    const items = this.results.map((n, i) =>
      h(
        "li",
        {
          role: "option",
          id: `result-${i}`,
          "aria-selected": String(i === this.active),
          onpointerdown: (event) => {
            event.preventDefault();
            this.pick(n);
          },
        },
        h("span", { class: "name" }, release.label(n)),
        h("span", { class: "location" }, [level(n), release.location(n)].filter(Boolean).join(" · ")),
      ),
    );
    const noResult = h(
      "li",
      { class: "no-result", role: "option", "aria-disabled": "true", "aria-selected": "false" },
      say(release.hasAllRegions ? "search_nothing" : "search_loading"),
    );
    this.list.replaceChildren(...(items.length ? items : [noResult]));
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    if (this.active >= 0) this.input.setAttribute("aria-activedescendant", `result-${this.active}`);
    else this.input.removeAttribute("aria-activedescendant");
  }

  onKey(event) {
    const { key } = event;
    const size = this.results.length;
    if ((key === "ArrowDown" || key === "ArrowUp") && size) {
      this.active = (this.active + (key === "ArrowDown" ? 1 : size - 1)) % size;
      this.draw();
    } else if (key === "Enter" && this.active >= 0) this.pick(this.results[this.active]);
    else if (key === "Escape") {
      this.input.value = "";
      this.close();
    } else return;
    event.preventDefault();
  }

  pick(n) {
    this.input.value = "";
    this.close();
    this.onPick(n);
  }

  close() {
    this.results = [];
    this.active = -1;
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }
}
