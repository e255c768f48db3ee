// The search box: finds regions by name or code, best matches first.

import { h } from "./dom.js";
import { capitalize, foldText } from "./format.js";
import { say } from "./messages.js";

const MAX_RESULTS = 10;

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
    this.keys = [];
    this.close();
  }

  update() {
    const query = foldText(this.input.value.trim());
    if (!this.release || !query || document.activeElement !== this.input) return this.close();
    this.results = findRegions(this.release, this.searchKeys(), query);
    this.active = this.results.length ? 0 : -1;
    this.draw();
  }

  // The folded code and name of every region; each region is folded once.
  searchKeys() {
    const { names, codes } = this.release;
    for (let n = this.keys.length; n < names.length; n++) this.keys.push([foldText(codes[n]), foldText(names[n])]);
    return this.keys;
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

// Exact codes first; then codes and names that start with the query, exact names first, with no level crowding out the
// others; then names that contain the words of the query, some of which may name the location.
function findRegions(release, keys, query) {
  const words = query.split(/\s+/);
  const ranked = [[], [], [], []];
  keys.forEach(([code, name], n) => {
    const rank = rankOf(code, name, query) ?? (foldText(release.ids[n]) === query ? 0 : null);
    if (rank !== null) ranked[rank].push(n);
    else if (matchesWords(release, n, code, name, words)) ranked[3].push(n);
  });
  return [...ranked[0], ...balanceLevels(release, [...ranked[1], ...ranked[2]]), ...ranked[3]].slice(0, MAX_RESULTS);
}

function rankOf(code, name, query) {
  if (code === query) return 0;
  if (name === query) return 1;
  return code.startsWith(query) || name.startsWith(query) ? 2 : null;
}

// Whether a word is in the region's name and every other word is in its name, code or location.
function matchesWords(release, n, code, name, words) {
  if (!words.some((word) => name.includes(word))) return false;
  const rest = words.filter((word) => !name.includes(word) && word !== code);
  if (!rest.length) return true;
  const location = foldText(release.location(n));
  return rest.every((word) => location.includes(word));
}

// Coarser levels first, but at most half of the results from one level while other levels have matches.
function balanceLevels(release, regions) {
  const counts = new Map();
  const first = [];
  const others = [];
  for (const n of regions) {
    const level = release.level(n);
    counts.set(level, (counts.get(level) ?? 0) + 1);
    (counts.get(level) <= MAX_RESULTS / 2 ? first : others).push(n);
  }
  return [...first.slice(0, MAX_RESULTS).sort((a, b) => release.level(a).start - release.level(b).start), ...others];
}
