// The search box: every region by name or code, the best matches first.

import { h } from "./dom.js";
import { capital, folded } from "./format.js";

const MOST = 10;

export class Search {
  constructor(input, list, onPick) {
    Object.assign(this, { input, list, onPick, found: [], active: -1 });
    input.addEventListener("focus", () =>
      this.release?.finer().then(
        () => this.look(),
        () => {},
      ),
    );
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
        {
          role: "option",
          id: `found-${i}`,
          "aria-selected": String(i === this.active),
          onpointerdown: (event) => this.press(event, n),
        },
        h("span", { class: "what" }, release.label(n)),
        h("span", { class: "where" }, [capital(release.level(n).label), release.place(n)].filter(Boolean).join(" · ")),
      ),
    );
    const nothing = h(
      "li",
      { class: "nothing", role: "option", "aria-disabled": "true", "aria-selected": "false" },
      release.complete ? "No region with this name or code" : "Loading more regions …",
    );
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

// The code itself first; then names that begin with what was typed, the whole name before longer ones and no level
// crowding out the others; then names that hold all words, some of which may say where the region lies.
function find(release, keys, wanted) {
  const words = wanted.split(/\s+/);
  const ranked = [[], [], [], []];
  keys.forEach(([code, name], n) => {
    const rank = rankOf(code, name, wanted) ?? (folded(release.ids[n]) === wanted ? 0 : null);
    if (rank !== null) ranked[rank].push(n);
    else if (words.some((word) => name.includes(word)) && saysWhere(release, n, code, name, words)) ranked[3].push(n);
  });
  return [...ranked[0], ...shared(release, [...ranked[1], ...ranked[2]]), ...ranked[3]].slice(0, MOST);
}

function rankOf(code, name, wanted) {
  if (code === wanted) return 0;
  if (name === wanted) return 1;
  return code.startsWith(wanted) || name.startsWith(wanted) ? 2 : null;
}

function saysWhere(release, n, code, name, words) {
  const rest = words.filter((word) => !name.includes(word) && word !== code);
  if (!rest.length) return true;
  const where = folded(release.place(n));
  return rest.every((word) => where.includes(word));
}

// Coarser levels first, but at most half of the list from one level while others have something to show.
function shared(release, found) {
  const seen = new Map();
  const early = [];
  const late = [];
  for (const n of found) {
    const level = release.level(n);
    seen.set(level, (seen.get(level) ?? 0) + 1);
    (seen.get(level) <= MOST / 2 ? early : late).push(n);
  }
  return [...early.slice(0, MOST).sort((a, b) => release.level(a).start - release.level(b).start), ...late];
}
