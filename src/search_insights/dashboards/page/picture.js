// Downloadable images: the map and the charts as SVG, and PNG rendered from the SVG.

import { s } from "./dom.js";
import { formatNumber, weekDates } from "./format.js";
import { say } from "./messages.js";
import { theme } from "./theme.js";

const HEADER_HEIGHT = 58;
const LEGEND_HEIGHT = 62;
const LINE_HEIGHT = 15; // of the source note
const FONT = "system-ui, -apple-system, 'Segoe UI', sans-serif";

// An image with a title above and a source note below; `height` is the height of the content between them.
function frame(width, height, title, subtitle, source) {
  const colors = theme();
  const lines = wrapText(source, Math.floor((width - 32) / 6.2));
  const total = HEADER_HEIGHT + height + LINE_HEIGHT * lines.length + 14;
  const text = (x, y, size, fill, content, weight = 400) =>
    s("text", { x, y, "font-size": size, "font-weight": weight, "font-family": FONT, fill }, content);
  return s(
    "svg",
    { xmlns: "http://www.w3.org/2000/svg", width, height: total, viewBox: `0 0 ${width} ${total}` },
    s("rect", { width, height: total, fill: colors.surface }),
    text(16, 26, 18, colors.ink, title, 650),
    text(16, 46, 13, colors.muted, subtitle),
    lines.map((line, i) => text(16, HEADER_HEIGHT + height + LINE_HEIGHT * (i + 1), 11, colors.muted, line)),
  );
}

function wrapText(text, maxLength) {
  const lines = [""];
  for (const word of text.split(" ")) {
    if (`${lines.at(-1)} ${word}`.length > maxLength && lines.at(-1)) lines.push(word);
    else lines[lines.length - 1] = `${lines.at(-1)} ${word}`.trim();
  }
  return lines;
}

export function mapPicture(map, release, { title, source, subtitle }) {
  const { width, height, view, scene, outlines } = map;
  const colors = theme();
  const svg = frame(width, height + LEGEND_HEIGHT, title, subtitle || weekDates(release.weeks[scene.week]), source);
  svg.append(
    s(
      "defs",
      {},
      hatchDef("missing", colors, false),
      hatchDef("unreported", colors, true),
      unsureDef("unsure", colors),
      s("clipPath", { id: "frame" }, s("rect", { y: HEADER_HEIGHT, width, height })),
    ),
  );
  const project = (x, y) => [x * view.k + view.x, y * view.k + view.y + HEADER_HEIGHT];
  const isVisible = (n) => {
    const [x0, y0, x1, y1] = outlines.boxes.get(n);
    const [[left, top], [right, bottom]] = [project(x0, y0), project(x1, y1)];
    return right > 0 && left < width && bottom > HEADER_HEIGHT && top < height + HEADER_HEIGHT;
  };
  const group = s("g", { "clip-path": "url(#frame)" });
  for (const [key, numbers] of byFill(map, map.shown.filter(isVisible))) {
    const [fill, faded] = key.split(" ");
    const d = numbers.map((n) => outlines.svgPath(n, project)).join("");
    group.append(
      s("path", {
        d,
        fill,
        "fill-rule": "evenodd",
        "fill-opacity": faded === "1" ? 0.28 : 1,
        stroke: colors.border,
        "stroke-width": 0.4,
        "stroke-linejoin": "round",
      }),
    );
  }
  const unsure = map.shown.filter((n) => isVisible(n) && scene.isUnsure(n)).map((n) => outlines.svgPath(n, project));
  group.append(s("path", { d: unsure.join(""), fill: "url(#unsure)", "fill-rule": "evenodd" }));
  const borders = release.levels.filter((level) => level.outlined && level.start < scene.level.start);
  for (const level of borders) {
    const d = map
      .existing(level)
      .filter((n) => outlines.has(n) && isVisible(n))
      .map((n) => outlines.svgPath(n, project))
      .join("");
    group.append(s("path", { d, fill: "none", stroke: colors.strong, "stroke-width": 0.7 }));
  }
  for (const n of map.points) {
    const mark = pointMark(map, n, project, colors);
    group.append(mark);
    if (!scene.isUnsure(n)) continue;
    group.append(mark.cloneNode());
    group.lastChild.setAttribute("fill", "url(#unsure)");
  }
  svg.append(
    group,
    colorScale(scene.scale, 16, height + HEADER_HEIGHT + 8, Math.min(360, width - 32)),
    ...missingLegend(release, scene, height + HEADER_HEIGHT + 46, colors),
  );
  return svg;
}

// The hatches of missing values, below the colour scale.
function missingLegend(release, { judged }, y, colors) {
  const kinds = [...release.missingKinds, ...(judged ? [["unsure", say("unsure")]] : [])];
  return kinds.map(([kind, label], i) =>
    s(
      "g",
      { transform: `translate(${16 + 150 * i},${y})` },
      s("rect", { width: 22, height: 12, fill: `url(#${kind})`, stroke: colors.hatch }),
      s("text", { x: 28, y: 10, "font-size": 11, "font-family": FONT, fill: colors.muted }, label),
    ),
  );
}

function fillOf(map, n) {
  const value = map.scene.valueOf(n);
  if (Number.isNaN(value)) return map.release.isExcluded(n, map.scene.week) ? "url(#unreported)" : "url(#missing)";
  return map.scene.scale.colorOf(value);
}

function byFill(map, numbers) {
  const groups = new Map();
  const inContext = map.inside.has(map.scene.container);
  for (const n of numbers) {
    const key = `${fillOf(map, n)} ${inContext || map.inside.has(n) ? 0 : 1}`;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(n);
  }
  return groups;
}

function pointMark(map, n, project, colors) {
  const [cx, cy] = project(...map.release.points[n]);
  return s("circle", {
    cx: cx.toFixed(1),
    cy: cy.toFixed(1),
    r: map.radius,
    fill: fillOf(map, n),
    stroke: colors.ink,
    "stroke-width": 1,
  });
}

function hatchDef(id, colors, crossed) {
  const d = crossed ? "M0,6L6,0M0,0L6,6" : "M0,6L6,0";
  return s(
    "pattern",
    { id, width: 6, height: 6, patternUnits: "userSpaceOnUse" },
    s("rect", { width: 6, height: 6, fill: colors.blank }),
    s("path", { d, stroke: colors.hatch, "stroke-width": 1, fill: "none" }),
  );
}

// Over the colour of a difference that the noise alone could explain.
function unsureDef(id, colors) {
  return s(
    "pattern",
    { id, width: 5, height: 5, patternUnits: "userSpaceOnUse" },
    s("path", { d: "M0,0L5,5", stroke: colors.unsure, "stroke-width": 1.6, fill: "none" }),
  );
}

// The colour scale of the page and of images (scales.js).
export function colorScale(scale, x, y, width) {
  const colors = theme();
  const size = width / scale.classes;
  const group = s("g", { transform: `translate(${x},${y})` });
  const label = { fill: colors.muted, "font-size": 11, "font-family": FONT };
  scale.colors.forEach((fill, i) => group.append(s("rect", { x: i * size, y: 0, width: size, height: 12, fill })));
  for (let i = 0; i < scale.classes; i++) {
    group.append(s("text", { ...label, x: i * size, y: 26, "text-anchor": i ? "middle" : "start" }, scale.label(i)));
  }
  return group;
}

// The hatch of a kind of missing value, for the legend of the page.
export function hatchSwatch(kind) {
  const id = `swatch-${kind}`;
  return s(
    "svg",
    { width: 22, height: 14, "aria-hidden": "true" },
    s("defs", {}, kind === "unsure" ? unsureDef(id, theme()) : hatchDef(id, theme(), kind === "unreported")),
    kind === "unsure" && s("rect", { width: 22, height: 14, fill: theme().diverging[6] }),
    s("rect", { width: 22, height: 14, fill: `url(#${id})`, stroke: theme().hatch }),
  );
}

// charts: [{ title, svg, lines, context, week, breaks }]
export function seriesPicture(charts, { title, subtitle, source }) {
  const [first] = charts;
  const width = Number(first.svg.getAttribute("width"));
  const chartHeight = Number(first.svg.getAttribute("height")) + 26;
  const legend = [...first.lines.map((line) => ({ ...line, width: 3 })), ...first.context];
  const svg = frame(width, 20 * legend.length + chartHeight * charts.length + 12, title, subtitle, source);
  const { ink } = theme();
  const text = (x, y, content, size, weight = 400) =>
    s("text", { x, y, "font-size": size, "font-weight": weight, "font-family": FONT, fill: ink }, content);
  legend.forEach((line, i) => {
    const y = HEADER_HEIGHT + 20 * i + 6;
    svg.append(
      s("line", {
        x1: 16,
        x2: 40,
        y1: y,
        y2: y,
        stroke: line.color,
        "stroke-width": line.width,
        "stroke-dasharray": line.dash,
      }),
      text(48, y + 4, line.label, 12),
    );
  });
  charts.forEach((chart, i) => {
    const top = HEADER_HEIGHT + 20 * legend.length + i * chartHeight + 6;
    const cell = chart.lines[0].cells[chart.week];
    const copy = chart.svg.cloneNode(true);
    copy.setAttribute("y", top + 20);
    svg.append(text(16, top + 14, chart.title, 13, 650), copy);
    if (cell && chart.lines.length === 1)
      svg.append(
        s(
          "text",
          { x: width - 12, y: top + 14, "text-anchor": "end", "font-size": 13, "font-family": FONT, fill: ink },
          say("value_in_week", { value: formatNumber(cell.value) }),
        ),
      );
  });
  return svg;
}

export const svgText = (svg) => new XMLSerializer().serializeToString(svg);

export async function pngOf(svg) {
  const url = URL.createObjectURL(new Blob([svgText(svg)], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = 2 * Number(svg.getAttribute("width"));
    canvas.height = 2 * Number(svg.getAttribute("height"));
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done) => canvas.toBlob(done, "image/png"));
  } finally {
    URL.revokeObjectURL(url);
  }
}
