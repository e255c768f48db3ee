// The text below the charts: what the numbers mean, the files to download, and the code that embeds a view.

import { byId, h } from "./dom.js";
import { tell } from "./facts.js";
import { formatBytes, longDate } from "./format.js";
import { say } from "./messages.js";

export function showAbout(release) {
  byId("about-text").replaceChildren(
    ...release.about.map(({ title, text }) =>
      h(
        "section",
        {},
        h("h4", {}, say(title)),
        text.map((fact) => h("p", {}, tell(fact, release))),
      ),
    ),
  );
  byId("files").replaceChildren(
    ...release.files.map(({ name, bytes: size }) =>
      h(
        "li",
        {},
        h("a", { href: `${release.entry.dataset}/${encodeURIComponent(name)}`, download: name }, name),
        h("span", { class: "size" }, ` ${formatBytes(size)}`),
      ),
    ),
  );
  byId("updated").textContent = release.created
    ? say("updated", { date: longDate(release.created.slice(0, 10)), title: titled(release) })
    : release.title;
}

// The title and the country, which the title may name already.
function titled({ title, country }) {
  return title.includes(country) ? title : say("title_and_country", { title, country });
}

export function showEmbed(address, label, kind) {
  const url = new URL(address, location.href);
  url.searchParams.set("embed", kind);
  const text = label.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
  const source = url.href.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  byId("embed-code").value =
    `<iframe src="${source}" title="${text}" width="760" height="620" loading="lazy"></iframe>`;
}
