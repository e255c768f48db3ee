// How to cite and reuse the data: citation, licence, what each topic is, and what a value does not say. It stands beside
// every download, and on every picture and printed page.

import { byId, h } from "./dom.js";
import { formatCount, longDate, weekDates } from "./format.js";
import { parts, say } from "./messages.js";
import { describe } from "./measures.js";

// The address of what is shown, without what only a frame needs.
export function viewAddress() {
  const url = new URL(location.href);
  url.searchParams.delete("embed");
  url.hash = "";
  return url.href.replaceAll("%2F", "/");
}

const MOST_EXAMPLES = 3; // of a topic

const today = () => new Date().toISOString().slice(0, 10);

// The citation as text.
export function citation(release) {
  const { publisher, version, id } = release.credits;
  const values = {
    ...{ publisher, version, title: release.entry.title, country: release.entry.country }, // as the publisher has them
    year: release.created.slice(0, 4),
    first: longDate(release.weeks[0]),
    last: longDate(release.weeks.at(-1)),
  };
  const identity = id ? [say("cite_id", { id })] : [];
  const access = say("cite_access", { address: viewAddress(), date: longDate(today()) });
  return [say(publisher ? "cite_text" : "cite_text_unsigned", values), ...identity, access].join(" ");
}

// A text as BibTeX takes it.
const texText = (text) =>
  text.replace(/[\\{}]/g, " ").replace(/[&%$#_]/g, (mark) => `\\${mark}`).replace(/[~^]/g, (mark) => `\\${mark}{}`);

// The citation as an entry of BibTeX.
export function bibtex(release) {
  const { publisher, version, id, licence } = release.credits;
  const key = release.entry.key.replace(/[^A-Za-z0-9]+/g, "_");
  const fields = [
    ["author", publisher && `{${texText(publisher)}}`],
    ["title", `{${texText(release.entry.title)}, ${texText(release.entry.country)}}`],
    ["year", release.created.slice(0, 4)],
    ["version", texText(version)],
    ["note", texText([`${release.weeks[0]}/${release.weeks.at(-1)}`, id, licence?.name].filter(Boolean).join("; "))],
    ["url", viewAddress()],
    ["urldate", today()],
  ];
  const lines = fields.filter(([, value]) => value).map(([name, value]) => `  ${name} = {${value}},`);
  return [`@misc{${key},`, ...lines, "}"].join("\n");
}

// The source, version and licence in a line, for pictures and paper.
export function sourceLine(release) {
  const { publisher, version, licence } = release.credits;
  const title = release.title.includes(release.country) ? release.title : `${release.title}, ${release.country}`;
  const source = say(publisher ? "source_of" : "source", { title, publisher });
  const versions = version ? [say("source_version", { version })] : [];
  return [source, ...versions, ...(licence ? [say("licence", { licence: licence.name })] : [])].join(" ");
}

function licenceText(release) {
  const { licence } = release.credits;
  if (!licence) return [say("licence_none")];
  return parts("licence", { licence: licence.path ? h("a", { href: licence.path, rel: "license" }, licence.name) : licence.name });
}

// What a topic is, with examples of searches; nothing if the dataset does not say.
function topicText({ title, topics }) {
  if (!topics?.length) return null;
  const examples = topics.flatMap((topic) => topic.examples.slice(0, Math.ceil(MOST_EXAMPLES / topics.length)));
  return h(
    "p",
    { class: "topic-text" },
    h("strong", {}, say("topic_is", { topic: title })),
    " ",
    topics.map(({ definition }) => definition).join(" "),
    examples.length ? h("span", { class: "examples" }, " ", say("topic_examples", { examples: examples.map((text) => say("quoted", { text })).join(", ") })) : null,
  );
}

function copyButton(key, text) {
  const button = h("button", { type: "button", class: "copy" }, say(key));
  button.addEventListener("click", async () => {
    await navigator.clipboard?.writeText(text()).catch(() => {});
    button.textContent = say("copied");
    setTimeout(() => (button.textContent = say(key)), 1500);
  });
  return button;
}

// What stands in a download menu, about a topic or about all.
export function reuseNote(release, trend = null) {
  const topics = trend === null ? release.trends : [release.trends[trend]];
  return [
    ...topics.map(topicText).filter(Boolean),
    h("p", {}, say("interest")),
    h("p", {}, licenceText(release)),
    h("p", { class: "copies" }, copyButton("cite_copy", () => citation(release)), copyButton("cite_copy_bibtex", () => bibtex(release))),
  ];
}

// The section beside the files of the whole dataset.
export function showReuse(release) {
  const field = (id, key, rows, text) => [
    h("label", { for: id }, say(key)),
    Object.assign(h("textarea", { id, readonly: true, rows }), { value: text }),
  ];
  byId("reuse").replaceChildren(
    h("div", { class: "topics" }, release.trends.map(topicText).filter(Boolean)),
    h("p", {}, say("interest")),
    h("p", {}, licenceText(release), contactText(release)),
    ...field("cite-text", "cite_plain", 3, citation(release)),
    ...field("cite-bibtex", "cite_bibtex", 9, bibtex(release)),
    h("p", { class: "copies" }, copyButton("cite_copy", () => citation(release)), copyButton("cite_copy_bibtex", () => bibtex(release))),
  );
}

function contactText({ credits: { publisher, contact } }) {
  if (!contact) return "";
  const address = contact.includes("://") ? contact : `mailto:${contact}`;
  return [" ", parts("contact", { publisher, contact: h("a", { href: address }, contact) })];
}

// What paper must say and the screen shows elsewhere: the topic, the week, the source and the address.
export function showPaper({ release: r, trend, week, measure }) {
  const shown = describe(r, measure) || weekDates(r.weeks[week]);
  byId("paper-view").textContent = say("paper_view", { topic: r.trends[trend].title, week: shown });
  const printed = say("paper_address", { address: viewAddress(), date: longDate(today()) });
  byId("paper-source").textContent = [sourceLine(r), say("interest"), printed].join(" ");
  byId("embed-source").textContent = sourceLine(r);
}

export const rowsOnPaper = (shown, all) => say("paper_rows", { rows: formatCount(shown), count: all });
