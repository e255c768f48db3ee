// The text below the charts: what the numbers mean, the files to download, and the code that embeds a view.

import { byId, h } from "./dom.js";
import { tell } from "./facts.js";
import { formatBytes, longDate } from "./format.js";
import { showReuse } from "./credits.js";
import { say } from "./messages.js";

const MAP_FRAME = 660;
const [SERIES_FRAME, TOPIC_FRAME] = [350, 215];

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
  const [folder, above] = [release.entry.dataset, release.entry.dataset.replace(/[^/]*$/, "")];
  byId("files").replaceChildren(
    ...release.files.map(({ name, bytes: size, beside }) =>
      h(
        "li",
        {},
        h("a", { href: `${beside ? above : `${folder}/`}${encodeURIComponent(name)}`, download: name }, name),
        h("span", { class: "size" }, ` ${formatBytes(size)}`),
        beside && h("span", { class: "size" }, ` ${say("file_intervals")}`),
      ),
    ),
  );
  showReuse(release);
  byId("updated").textContent = release.created
    ? say("updated", { date: longDate(release.created.slice(0, 10)), title: titled(release) })
    : release.title;
}

// The title and the country, which the title may name already.
function titled({ title, country }) {
  return title.includes(country) ? title : say("title_and_country", { title, country });
}

// The frame is as high as its content, so that the source below it is seen without scrolling.
export function showEmbed(address, label, kind, topics) {
  const url = new URL(address, location.href);
  url.searchParams.set("embed", kind);
  const text = label.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
  const source = url.href.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  const height = kind === "series" ? SERIES_FRAME + TOPIC_FRAME * topics : MAP_FRAME;
  byId("embed-code").value =
    `<iframe src="${source}" title="${text}" width="760" height="${height}" loading="lazy"></iframe>`;
}
