// The search box: every region by name or code, the best matches first.

import { h } from "./dom.js";
import { capital, folded } from "./format.js";

const MOST = 8;

export class Search {
  constructor(input, list, onPick) {
    Object.assign(this, { input, list, onPick, found: [], active: -1 });
    input.addEventListener("focus", () => this.release?.finer().then(() => this.look(), () => {}));
    input.addEventListener("input", () => this.look());
    input.addEventListener("keydown", (event) => this.key(event));
    input.addEventListener("blur", () => setTimeout(() => this.close(), 150));
  }

  use(release) {
    this.release = release;
    this.keys = [];
    this.close();
  }

  look() {
    const wanted = folded(this.input.value.trim());
    if (!this.release || !wanted || document.activeElement !== this.input) return this.close();
    this.found = find(this.release, this.folds(), wanted);
    this.active = this.found.length ? 0 : -1;
    this.draw();
  }

  // Names are folded once, when the list of regions has grown.
  folds() {
    const { names, codes } = this.release;
    for (let n = this.keys.length; n < names.length; n++) this.keys.push([folded(codes[n]), folded(names[n])]);
    return this.keys;
  }

  draw() {
    const { release } = this;
    const items = this.found.map((n, i) =>
      h(
        "li",
        { role: "option", id: `found-${i}`, "aria-selected": String(i === this.active), onpointerdown: (event) => this.press(event, n) },
        h("span", { class: "what" }, release.label(n)),
        h("span", { class: "where" }, [capital(release.level(n).label), release.place(n)].filter(Boolean).join(" · ")),
      ),
    );
    const nothing = h("li", { class: "nothing", role: "option", "aria-disabled": "true", "aria-selected": "false" }, release.complete ? "No region with this name or code" : "Loading more regions …");
    this.list.replaceChildren(...(items.length ? items : [nothing]));
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    if (this.active >= 0) this.input.setAttribute("aria-activedescendant", `found-${this.active}`);
    else this.input.removeAttribute("aria-activedescendant");
  }

  press(event, n) {
    event.preventDefault();
    this.pick(n);
  }

  key(event) {
    const { key } = event;
    const size = this.found.length;
    if ((key === "ArrowDown" || key === "ArrowUp") && size) {
      this.active = (this.active + (key === "ArrowDown" ? 1 : size - 1)) % size;
      this.draw();
    } else if (key === "Enter" && this.active >= 0) this.pick(this.found[this.active]);
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
    this.found = [];
    this.active = -1;
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }
}

// The code itself, then the name itself, then beginnings of either, then all words somewhere in the name; coarser first.
function find(release, keys, wanted) {
  const words = wanted.split(/\s+/);
  const ranked = [[], [], [], []];
  keys.forEach(([code, name], n) => {
    const rank = rankOf(code, name, wanted, words) ?? (folded(release.ids[n]) === wanted ? 0 : null);
    if (rank !== null) ranked[rank].push(n);
  });
  return ranked.flat().slice(0, MOST);
}

function rankOf(code, name, wanted, words) {
  if (code === wanted) return 0;
  if (name === wanted) return 1;
  if (code.startsWith(wanted) || name.startsWith(wanted)) return 2;
  return words.every((word) => name.includes(word) || code === word) ? 3 : null;
}
