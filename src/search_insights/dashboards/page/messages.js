// The words of the page, in the visitor's language. The message files, messages_*.json, map keys to texts with
// {placeholders}. A message with several forms is an object of the plural categories of Intl.PluralRules, chosen by the
// value `count`. This script imports nothing, so that the messages load beside the other scripts and not after them.

// Each language by its own name.
export const LANGUAGES = { en: "English", fr: "Français", es: "Español", de: "Deutsch" };
const FALLBACK = "en";
const STORED = "language";

const codeOf = (tag) => tag.toLowerCase().split("-")[0];

// The language of the address, else the one chosen before, else the first of the browser's that there are messages for.
function chosenLanguage() {
  const asked = [new URLSearchParams(location.search).get("lang"), remembered(), ...navigator.languages];
  return asked.filter(Boolean).map(codeOf).find(isLanguage) ?? FALLBACK;
}

export const isLanguage = (code) => Object.hasOwn(LANGUAGES, code);

// A browser may forbid a page to keep anything.
function remembered() {
  try {
    return localStorage.getItem(STORED);
  } catch {
    return null;
  }
}

export function remember(code) {
  try {
    localStorage.setItem(STORED, code);
  } catch {
    // The address still has it.
  }
}

async function loadMessages(code) {
  const response = await fetch(`messages_${code}.json`);
  if (!response.ok) throw new Error(`messages_${code}.json: ${response.status}`);
  return response.json();
}

export const language = chosenLanguage();
// For numbers, dates and the order of names: as in the visitor's country, if its language is the one of the page.
export const locale = navigator.languages.find((tag) => codeOf(tag) === language) ?? language;

const messages = await loadMessages(language);
const plurals = new Intl.PluralRules(language);
const numbers = new Intl.NumberFormat(locale);

// The message as an array of its texts and values, so that a value may be an element: a link, a button. A number is
// written as the visitor writes numbers.
export function parts(key, values = {}) {
  const message = messages[key];
  if (message === undefined) throw new Error(`no message ${key}`);
  const form = typeof message === "string" ? message : (message[plurals.select(values.count)] ?? message.other);
  return form.split(/\{(\w+)\}/).map((piece, i) => (i % 2 ? written(values[piece]) : piece));
}

const written = (value) => (typeof value === "number" ? numbers.format(value) : value);

// The message as text.
export const say = (key, values) => parts(key, values).join("");

// Whether there is a message: for words that only some datasets have, such as the name of a level.
export const canSay = (key) => Object.hasOwn(messages, key);

// Fill what index.html marks: data-say is an element's text, data-say-label its accessible name, and so on.
const MARKS = {
  say: null,
  sayLabel: "aria-label",
  sayPlaceholder: "placeholder",
  sayRole: "aria-roledescription",
  sayTitle: "title",
};

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
