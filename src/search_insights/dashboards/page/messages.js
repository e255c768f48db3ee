// The words of the page, in the visitor's language. The message files, messages_*.json, map keys to texts with
// {placeholders}. A message with several forms is an object of the plural categories of Intl.PluralRules, chosen by the
// value `count`.

export const LANGUAGES = { en: "English" };
const FALLBACK = "en";

// The language of the address, else the one chosen before, else the first of the browser's that there are messages for.
function chosenLanguage() {
  const asked = [new URLSearchParams(location.search).get("lang"), remembered(), ...navigator.languages];
  const codes = asked.filter(Boolean).map((tag) => tag.toLowerCase().split("-")[0]);
  return codes.find((code) => code in LANGUAGES) ?? FALLBACK;
}

// A browser may forbid a page to keep anything.
function remembered() {
  try {
    return localStorage.getItem("language");
  } catch {
    return null;
  }
}

async function loadMessages(code) {
  const response = await fetch(`messages_${code}.json`);
  if (!response.ok) throw new Error(`messages_${code}.json: ${response.status}`);
  return response.json();
}

export const language = chosenLanguage();
const messages = await loadMessages(language);
const plurals = new Intl.PluralRules(language);

// The message as an array of its texts and values, so that a value may be an element: a link, a button.
export function parts(key, values = {}) {
  const message = messages[key];
  if (message === undefined) throw new Error(`no message ${key}`);
  const form = typeof message === "string" ? message : (message[plurals.select(values.count)] ?? message.other);
  return form.split(/\{(\w+)\}/).map((piece, i) => (i % 2 ? values[piece] : piece));
}

// The message as text.
export const say = (key, values) => parts(key, values).join("");

// Fill what index.html marks: data-say is an element's text, data-say-label its accessible name, and so on.
const MARKS = { say: null, sayLabel: "aria-label", sayPlaceholder: "placeholder" };

export function sayAll(root) {
  for (const [mark, attribute] of Object.entries(MARKS)) {
    const selector = `[data-${mark.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}]`;
    for (const element of root.querySelectorAll(selector)) {
      const text = say(element.dataset[mark]);
      if (attribute) element.setAttribute(attribute, text);
      else element.textContent = text;
    }
  }
}
