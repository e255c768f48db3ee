// The map: which regions it shows, how far it is zoomed, and what lies where. map_paint.js paints, map_input.js listens.

import { calm } from "./dom.js";
import { MapInput } from "./map_input.js";
import { paintMap } from "./map_paint.js";

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
    new MapInput(this);
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
    if (moved) this.setHover(null); // what was pointed at lies elsewhere now
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
    const whole = this.viewOf(this.box());
    this.fitted = whole.k;
    this.go(whole, glide);
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
      paintMap(this);
    });
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
    const nearer = Math.sqrt(this.view.k / this.fitted);
    return Math.min(11, Math.max(3.5, 0.16 * room * nearer));
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
}

// The range that holds all but the outermost few.
function middle(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.round(share * (sorted.length - 1))];
  return [at(0.03), at(0.97)];
}
