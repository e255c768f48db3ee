// The language of the page: the switch in the header, and the page's own language for browsers and screen readers.

import { byId, h } from "./dom.js";
import { LANGUAGES, language, remember } from "./messages.js";

// What was chosen is remembered and stands in the address, so that a link shows what its sender saw; the page is loaded
// again with the messages of that language.
export function showLanguages() {
  document.documentElement.lang = language;
  const names = Object.entries(LANGUAGES);
  byId("language").append(
    ...names.map(([code, name]) => h("option", { value: code, lang: code, selected: code === language }, name)),
  );
  byId("language").addEventListener("change", ({ target }) => {
    remember(target.value);
    const address = new URL(location.href);
    address.searchParams.set("lang", target.value);
    location.assign(`${address.pathname}${addressText(address.searchParams)}${address.hash}`);
  });
}

// Slashes of place_ids stay readable.
const addressText = (parameters) => `?${parameters.toString().replaceAll("%2F", "/")}`;
