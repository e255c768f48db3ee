// The map: shapes on a canvas, in colours that mean the same in every week, with hover, keyboard, zoom and pan.

import { calm } from "./dom.js";
import { classOf, theme } from "./theme.js";

const GLIDE = 420; // milliseconds of a flight from one region to another
const MOST_ZOOM = 400;
const FEW = 8; // fewer points than this do not say where a region's people are

export class RegionMap {
  constructor(element, outlines, release, tell) {
    Object.assign(this, { element, outlines, release, tell, hover: null, scene: null, points: [] });
    this.canvas = element.querySelector("canvas");
    this.context = this.canvas.getContext("2d");
    this.view = { k: 0, x: 0, y: 0 };
    this.meshes = new Map();
    this.flight = null;
    this.ended = new AbortController();
    this.watch = new ResizeObserver(() => this.resize());
    this.watch.observe(element);
    this.listen();
  }

  // Another dataset has another map on the same element.
  end() {
    cancelAnimationFrame(this.flight);
    this.ended.abort();
    this.watch.disconnect();
  }

  // scene: { container, level, trend, week, valueOf(n), cellOf(n), pins, selected }
  show(scene) {
    const moved = !this.scene || this.scene.container !== scene.container;
    this.scene = scene;
    this.shown = this.inLevel(scene.level).filter((n) => this.outlines.has(n));
    this.points = this.pointsOf(scene.container);
    this.inside = new Set(this.shown.filter((n) => scene.container === 0 || this.release.within(n, scene.container)));
    if (moved) this.fit(this.view.k > 0);
    this.draw();
  }

  inLevel(level) {
    return Array.from({ length: level.count }, (_, i) => level.start + i);
  }

  // The children of the region in view that have no outline but a centre.
  pointsOf(container) {
    return this.release.children(container).filter((n) => this.release.points[n] && !this.outlines.has(n));
  }

  // What can be reached by pointer and keyboard: the points of the region in view, or else the shapes in it.
  get targets() {
    if (this.points.length) return this.points;
    return [...this.inside];
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.element;
    const ratio = Math.min(devicePixelRatio || 1, 3);
    if (!width || !height) return;
    Object.assign(this, { width, height, ratio });
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    if (this.scene) this.fit(false);
  }

  box() {
    const { container } = this.scene;
    if (container === 0 || !this.outlines.has(container)) return [0, 0, this.outlines.width, this.outlines.height];
    const [x0, y0, x1, y1] = this.outlines.boxes.get(container);
    if (this.points.length < FEW) return [x0, y0, x1, y1];
    // Most points fill the picture; a few far off, on an island or misplaced, do not shrink the rest.
    const [left, right] = middle(this.points.map((n) => this.release.points[n][0]));
    const [top, bottom] = middle(this.points.map((n) => this.release.points[n][1]));
    const margin = 0.12 * Math.max(right - left, bottom - top);
    return [left - margin, top - margin, right + margin, bottom + margin];
  }

  viewOf([x0, y0, x1, y1]) {
    const margin = this.scene.container === 0 ? 10 : 34;
    const [across, down] = [Math.max(1, this.width - 2 * margin), Math.max(1, this.height - 2 * margin)];
    const k = Math.min(across / Math.max(1, x1 - x0), down / Math.max(1, y1 - y0));
    return { k, x: this.width / 2 - (k * (x0 + x1)) / 2, y: this.height / 2 - (k * (y0 + y1)) / 2 };
  }

  fit(glide = true) {
    if (!this.width) return;
    this.base = this.viewOf([0, 0, this.outlines.width, this.outlines.height]).k;
    this.go(this.viewOf(this.box()), glide);
  }

  go(to, glide) {
    cancelAnimationFrame(this.flight);
    if (!glide || calm() || !this.view.k) {
      this.view = to;
      this.draw();
      return;
    }
    const from = this.view;
    const begin = performance.now();
    const step = (now) => {
      const t = Math.min(1, Math.max(0, (now - begin) / GLIDE));
      const ease = t * t * (3 - 2 * t);
      const k = from.k * (to.k / from.k) ** ease;
      // Where the zoom is, in the shape's own units, moves evenly with the scale: no lurch on the way.
      const share = to.k === from.k ? ease : (k - from.k) / (to.k - from.k);
      const mid = (a, b) => a + (b - a) * share;
      this.view = { k, x: mid(from.x, to.x), y: mid(from.y, to.y) };
      this.draw();
      if (t < 1) this.flight = requestAnimationFrame(step);
    };
    this.flight = requestAnimationFrame(step);
  }

  zoom(factor, at = [this.width / 2, this.height / 2], glide = true) {
    const k = Math.min(this.base * MOST_ZOOM, Math.max(this.base * 0.7, this.view.k * factor));
    const real = k / this.view.k;
    this.go({ k, x: at[0] - (at[0] - this.view.x) * real, y: at[1] - (at[1] - this.view.y) * real }, glide);
  }

  mesh(level) {
    if (!this.meshes.has(level.name)) this.meshes.set(level.name, this.outlines.mesh(this.inLevel(level)));
    return this.meshes.get(level.name);
  }

  draw() {
    if (!this.scene || !this.width || this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.paint();
    });
  }

  paint() {
    const { context: c, scene, view, ratio } = this;
    const colors = theme();
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, this.canvas.width, this.canvas.height);
    c.setTransform(view.k * ratio, 0, 0, view.k * ratio, view.x * ratio, view.y * ratio);
    this.paintShapes(colors);
    this.paintBorders(colors);
    for (const n of this.points) this.paintPoint(n, colors);
    for (const n of scene.pins) this.paintOutline(n, colors.outline, 1.6, [4, 3]);
    if (scene.selected !== scene.container) {
      if (this.points.includes(scene.selected)) this.paintPoint(scene.selected, colors, 1.5);
      this.paintOutline(scene.selected, colors.outline, 2.4);
    }
    if (this.hover !== null) this.paintOutline(this.hover, colors.outline, 2);
    this.element.dataset.painted = `${scene.trend.name} ${scene.week}`;
    this.tell.painted?.();
  }

  paintShapes(colors) {
    const { context: c, scene, outlines } = this;
    const patterns = this.patterns(colors);
    const left = -this.view.x / this.view.k;
    const top = -this.view.y / this.view.k;
    const [right, bottom] = [left + this.width / this.view.k, top + this.height / this.view.k];
    for (const n of this.shown) {
      const [x0, y0, x1, y1] = outlines.boxes.get(n);
      if (x1 < left || x0 > right || y1 < top || y0 > bottom) continue;
      const inside = this.inside.has(n);
      c.globalAlpha = inside ? 1 : 0.28;
      const value = scene.valueOf(n);
      if (inside && n === scene.container && this.points.length) c.fillStyle = colors.blank;
      else if (Number.isNaN(value)) c.fillStyle = patterns[this.release.whys[n] ? "unreported" : "missing"];
      else c.fillStyle = colors.ramp[classOf(value, scene.trend, this.release.classes)];
      c.fill(outlines.paths.get(n), "evenodd");
    }
    c.globalAlpha = 1;
  }

  paintBorders(colors) {
    const { context: c, scene, view } = this;
    const stroke = (path, color, width) => {
      c.strokeStyle = color;
      c.lineWidth = width / view.k;
      c.stroke(path);
    };
    c.lineJoin = "round";
    const fine = Math.min(1, 0.35 * Math.sqrt(view.k / this.base));
    const coarsest = this.release.levels.find((level) => level.outlined) === scene.level;
    stroke(this.mesh(scene.level), coarsest ? colors.strong : colors.border, coarsest ? 0.6 : fine);
    for (const level of this.release.levels) {
      if (level.outlined && level.start < scene.level.start) stroke(this.mesh(level), colors.strong, 0.6);
    }
    if (this.outlines.has(scene.container)) stroke(this.outlines.paths.get(scene.container), colors.outline, 1.6);
  }

  // Hatches lie still on the screen, whatever the zoom: they are a texture, not a shape.
  patterns(colors) {
    const key = `${colors.surface} ${this.ratio}`;
    if (this.patternKey !== key) {
      this.patternKey = key;
      this.made = { missing: hatch(colors, this.ratio, false), unreported: hatch(colors, this.ratio, true) };
    }
    const still = new DOMMatrix().scale(1 / (this.view.k * this.ratio)).translate(-this.view.x * this.ratio, -this.view.y * this.ratio);
    return Object.fromEntries(
      Object.entries(this.made).map(([kind, tile]) => {
        const pattern = this.context.createPattern(tile, "repeat");
        pattern.setTransform(still);
        return [kind, pattern];
      }),
    );
  }

  disc(n, swell = n === this.scene.selected ? 1.5 : 1) {
    const [x, y] = this.release.points[n];
    const path = new Path2D();
    path.arc(x, y, (swell * this.radius) / this.view.k, 0, 2 * Math.PI);
    return path;
  }

  // Points are as large as their number leaves room for, and grow a little as the map is drawn nearer.
  get radius() {
    const room = Math.sqrt((this.width * this.height) / Math.max(1, this.points.length));
    const nearer = Math.sqrt(this.view.k / this.viewOf(this.box()).k);
    return Math.min(11, Math.max(3.5, 0.16 * room * nearer));
  }

  paintPoint(n, colors, swell) {
    const { context: c, scene } = this;
    const value = scene.valueOf(n);
    const path = this.disc(n, swell);
    const why = this.release.whys[n];
    c.lineWidth = 1.2 / this.view.k;
    if (Number.isNaN(value)) {
      c.fillStyle = this.patterns(colors)[why ? "unreported" : "missing"];
      c.strokeStyle = colors.muted;
      c.setLineDash(why ? [2 / this.view.k, 2 / this.view.k] : []);
    } else {
      c.fillStyle = colors.ramp[classOf(value, scene.trend, this.release.classes)];
      c.strokeStyle = colors.ink;
    }
    c.fill(path);
    c.stroke(path);
    c.setLineDash([]);
  }

  paintOutline(n, color, width, dash = []) {
    const path = this.outlines.paths.get(n) ?? (this.points.includes(n) ? this.disc(n) : null);
    if (!path) return;
    const { context: c, view } = this;
    c.strokeStyle = theme().surface;
    c.lineWidth = (width + 2) / view.k;
    c.stroke(path);
    c.setLineDash(dash.map((d) => d / view.k));
    c.strokeStyle = color;
    c.lineWidth = width / view.k;
    c.stroke(path);
    c.setLineDash([]);
  }

  // Which region lies at a point of the element; points lie above shapes.
  hit(px, py) {
    const x = (px - this.view.x) / this.view.k;
    const y = (py - this.view.y) / this.view.k;
    const reach = (this.radius + 3) / this.view.k;
    let [best, least] = [null, reach * reach];
    for (const n of this.points) {
      const [cx, cy] = this.release.points[n];
      const far = (cx - x) ** 2 + (cy - y) ** 2;
      if (far < least) [best, least] = [n, far];
    }
    if (best !== null) return best;
    const found = this.shown.find((n) => {
      const [x0, y0, x1, y1] = this.outlines.boxes.get(n);
      if (x < x0 || x > x1 || y < y0 || y > y1) return false;
      this.context.setTransform(1, 0, 0, 1, 0, 0);
      return this.context.isPointInPath(this.outlines.paths.get(n), x, y, "evenodd");
    });
    return found ?? null;
  }

  // Where a region is on the element, for its tooltip.
  spot(n) {
    const [x, y] = this.release.points[n] && !this.outlines.has(n) ? this.release.points[n] : this.outlines.centre(n);
    return [x * this.view.k + this.view.x, y * this.view.k + this.view.y];
  }

  setHover(n, at) {
    if (n !== this.hover) {
      this.hover = n;
      this.draw();
    }
    this.tell.hover(n, n === null ? null : (at ?? this.spot(n)));
  }

  // The next region in a direction: near, and rather straight ahead than aside.
  neighbour(dx, dy) {
    const from = this.spot(this.hover);
    let [best, least] = [this.hover, Infinity];
    for (const n of this.targets) {
      if (n === this.hover) continue;
      const [x, y] = this.spot(n);
      const ahead = (x - from[0]) * dx + (y - from[1]) * dy;
      const aside = Math.abs((x - from[0]) * dy) + Math.abs((y - from[1]) * dx);
      if (ahead <= 0 || aside > 2 * ahead) continue;
      const far = ahead + 2 * aside;
      if (far < least) [best, least] = [n, far];
    }
    return best;
  }

  listen() {
    const at = (event) => {
      const box = this.element.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    const fingers = new Map();
    let drag = null;
    const e = this.element;
    const on = (kind, act, options) => e.addEventListener(kind, act, { ...options, signal: this.ended.signal });
    on("pointerdown", (event) => {
      if (event.button) return;
      fingers.set(event.pointerId, at(event));
      drag = { from: at(event), view: this.view, moved: false };
    });
    on("pointermove", (event) => {
      const here = at(event);
      if (fingers.has(event.pointerId)) {
        const before = new Map(fingers);
        fingers.set(event.pointerId, here);
        if (fingers.size === 2) this.pinch([...before.values()], [...fingers.values()]);
        else if (event.pointerType === "mouse" && drag) this.pan(drag, here, event);
        if (fingers.size > 1 && drag) drag.moved = true;
      }
      if (!drag?.moved && event.pointerType !== "touch") this.setHover(this.hit(...here), here);
    });
    const release = (event) => {
      const last = fingers.size === 1;
      fingers.delete(event.pointerId);
      if (last && drag && !drag.moved && event.type === "pointerup") this.press(at(event), event.pointerType);
      if (!fingers.size) drag = null;
    };
    on("pointerup", release);
    on("pointercancel", release);
    on("pointerleave", (event) => {
      if (event.pointerType === "mouse") this.setHover(null);
    });
    on("wheel", (event) => this.wheel(event, at(event)), { passive: false });
    on("keydown", (event) => this.key(event));
    on("focus", () => {
      if (e.matches(":focus-visible") && this.hover === null && this.scene && this.targets.length) this.setHover(this.start());
    });
    on("blur", () => this.setHover(null));
  }

  start() {
    return this.targets.includes(this.scene.selected) ? this.scene.selected : this.nearest([this.width / 2, this.height / 2]);
  }

  nearest([px, py]) {
    const far = (n) => Math.hypot(this.spot(n)[0] - px, this.spot(n)[1] - py);
    return this.targets.reduce((best, n) => (far(n) < far(best) ? n : best));
  }

  // A finger first shows a region, and opens it when it is pressed again.
  press(at, kind) {
    const n = this.hit(...at);
    if (kind === "touch" && n !== this.hover) this.setHover(n, at);
    else if (n !== null) this.tell.pick(n);
  }

  pan(drag, here, event) {
    const [dx, dy] = [here[0] - drag.from[0], here[1] - drag.from[1]];
    if (!drag.moved && Math.hypot(dx, dy) < 5) return;
    if (!drag.moved) {
      this.element.setPointerCapture(event.pointerId);
      this.setHover(null);
    }
    drag.moved = true;
    this.go({ ...this.view, x: drag.view.x + dx, y: drag.view.y + dy }, false);
  }

  pinch([a0, b0], [a1, b1]) {
    const far = (a, b) => Math.max(1, Math.hypot(a[0] - b[0], a[1] - b[1]));
    const mid = [(a1[0] + b1[0]) / 2, (a1[1] + b1[1]) / 2];
    this.zoom(far(a1, b1) / far(a0, b0), mid, false);
    const old = [(a0[0] + b0[0]) / 2, (a0[1] + b0[1]) / 2];
    this.go({ ...this.view, x: this.view.x + mid[0] - old[0], y: this.view.y + mid[1] - old[1] }, false);
  }

  // Scrolling the page past the map must not be caught by it.
  wheel(event, at) {
    if (!event.ctrlKey && !event.metaKey) {
      this.tell.wheel();
      return;
    }
    event.preventDefault();
    this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.004)), at, false);
  }

  key(event) {
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const { key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (arrows[key]) this.setHover(this.hover === null ? this.start() : this.neighbour(...arrows[key]));
    else if ((key === "Enter" || key === " ") && this.hover !== null) this.tell.pick(this.hover);
    else if (key === "Escape" || key === "Backspace") this.tell.up();
    else if (key === "+" || key === "=") this.zoom(1.6);
    else if (key === "-") this.zoom(1 / 1.6);
    else if (key === "0") this.fit();
    else return;
    event.preventDefault();
  }
}

// The range that holds all but the outermost few.
function middle(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.round(share * (sorted.length - 1))];
  return [at(0.03), at(0.97)];
}

// One tile of a hatch: strokes one way for too little data, both ways for regions that are never reported.
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
