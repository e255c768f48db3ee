// Paint the map: shapes in the colours of their values, hatched where a value is missing, borders, points and outlines.

import { theme } from "./theme.js";

export function paintMap(map) {
  const { context: c, scene, view, ratio } = map;
  const colors = theme();
  c.setTransform(1, 0, 0, 1, 0, 0);
  c.clearRect(0, 0, map.canvas.width, map.canvas.height);
  c.setTransform(view.k * ratio, 0, 0, view.k * ratio, view.x * ratio, view.y * ratio);
  const brush = { colors, hatches: hatches(map, colors) };
  paintShapes(map, brush);
  paintBorders(map, colors);
  for (const n of map.points) paintPoint(map, n, brush);
  for (const n of scene.pins) paintOutline(map, n, colors.outline, 1.6, [4, 3]);
  if (scene.selected !== scene.container) {
    if (map.points.includes(scene.selected)) paintPoint(map, scene.selected, brush, 1.5);
    paintOutline(map, scene.selected, colors.outline, 2.4);
  }
  if (map.hover !== null) paintOutline(map, map.hover, colors.outline, 2);
  map.element.dataset.painted = `${scene.trend.name} ${scene.week}`;
}

function paintShapes(map, { colors, hatches: hatched }) {
  const { context: c, scene, outlines } = map;
  const left = -map.view.x / map.view.k;
  const top = -map.view.y / map.view.k;
  const [right, bottom] = [left + map.width / map.view.k, top + map.height / map.view.k];
  const inContext = map.inside.has(scene.container); // one of the shapes themselves: shown among its neighbours
  for (const n of map.shown) {
    const [x0, y0, x1, y1] = outlines.boxes.get(n);
    if (x1 < left || x0 > right || y1 < top || y0 > bottom) continue;
    const inside = map.inside.has(n);
    c.globalAlpha = inside || inContext ? 1 : 0.28;
    const value = scene.valueOf(n);
    if (Number.isNaN(value))
      c.fillStyle = hatched[map.release.isExcluded(n, scene.week) ? "unreported" : "missing"];
    else c.fillStyle = scene.scale.colorOf(value);
    c.fill(outlines.paths.get(n), "evenodd");
    if (!scene.isUnsure(n)) continue;
    c.fillStyle = hatched.unsure;
    c.fill(outlines.paths.get(n), "evenodd");
  }
  c.globalAlpha = 1;
}

function paintBorders(map, colors) {
  const { context: c, scene, view } = map;
  const stroke = (path, color, width) => {
    c.strokeStyle = color;
    c.lineWidth = width / view.k;
    c.stroke(path);
  };
  c.lineJoin = "round";
  const fine = Math.min(1, 0.35 * Math.sqrt(view.k / map.baseScale));
  const coarsest = map.release.levels.find((level) => level.outlined) === scene.level;
  stroke(map.mesh(scene.level), coarsest ? colors.strong : colors.border, coarsest ? 0.6 : fine);
  for (const level of map.release.levels) {
    if (level.outlined && level.start < scene.level.start) stroke(map.mesh(level), colors.strong, 0.6);
  }
  if (map.outlines.has(scene.container)) stroke(map.outlines.paths.get(scene.container), colors.outline, 1.2);
}

// Hatches are a texture, not a shape: their size and position on the screen do not change with the zoom.
function hatches(map, colors) {
  const key = `${colors.surface} ${map.ratio}`;
  if (map.patternKey !== key) {
    map.patternKey = key;
    map.hatchTiles = {
      missing: hatch(colors, map.ratio, false),
      unreported: hatch(colors, map.ratio, true),
      unsure: unsureHatch(colors, map.ratio),
    };
  }
  const toScreen = new DOMMatrix()
    .scale(1 / (map.view.k * map.ratio))
    .translate(-map.view.x * map.ratio, -map.view.y * map.ratio);
  return Object.fromEntries(
    Object.entries(map.hatchTiles).map(([kind, tile]) => {
      const pattern = map.context.createPattern(tile, "repeat");
      pattern.setTransform(toScreen);
      return [kind, pattern];
    }),
  );
}

function paintPoint(map, n, { colors, hatches: hatched }, scale) {
  const { context: c, scene } = map;
  const value = scene.valueOf(n);
  const path = map.circle(n, scale);
  const excluded = map.release.isExcluded(n, scene.week);
  c.lineWidth = 1.2 / map.view.k;
  if (Number.isNaN(value)) {
    c.fillStyle = hatched[excluded ? "unreported" : "missing"];
    c.strokeStyle = colors.muted;
    c.setLineDash(excluded ? [2 / map.view.k, 2 / map.view.k] : []);
  } else {
    c.fillStyle = scene.scale.colorOf(value);
    c.strokeStyle = colors.ink;
  }
  c.fill(path);
  if (scene.isUnsure(n)) {
    c.fillStyle = hatched.unsure;
    c.fill(path);
  }
  c.stroke(path);
  c.setLineDash([]);
}

function paintOutline(map, n, color, width, dash = []) {
  const path = map.outlines.paths.get(n) ?? (map.points.includes(n) ? map.circle(n) : null);
  if (!path) return;
  const { context: c, view } = map;
  c.strokeStyle = theme().surface;
  c.lineWidth = (width + 2) / view.k;
  c.stroke(path);
  c.setLineDash(dash.map((d) => d / view.k));
  c.strokeStyle = color;
  c.lineWidth = width / view.k;
  c.stroke(path);
  c.setLineDash([]);
}

// One tile of a hatch: strokes in one direction for not enough data, crossed for regions that are never reported.
function hatch(colors, ratio, crossed) {
  const size = Math.round(6 * ratio);
  const tile = new OffscreenCanvas(size, size);
  const c = tile.getContext("2d");
  c.fillStyle = colors.blank;
  c.fillRect(0, 0, size, size);
  c.strokeStyle = colors.hatch;
  c.lineWidth = ratio;
  c.beginPath();
  for (const shift of [-size, 0, size]) {
    c.moveTo(shift - 1, size + 1);
    c.lineTo(shift + size + 1, -1);
    if (crossed) {
      c.moveTo(shift - 1, -1);
      c.lineTo(shift + size + 1, size + 1);
    }
  }
  c.stroke();
  return tile;
}

// Over the colour of a difference that the noise alone could explain: strokes in the other direction.
function unsureHatch(colors, ratio) {
  const size = Math.round(5 * ratio);
  const tile = new OffscreenCanvas(size, size);
  const c = tile.getContext("2d");
  c.strokeStyle = colors.unsure;
  c.lineWidth = 1.6 * ratio;
  c.beginPath();
  for (const shift of [-size, 0, size]) {
    c.moveTo(shift - 1, -1);
    c.lineTo(shift + size + 1, size + 1);
  }
  c.stroke();
  return tile;
}
