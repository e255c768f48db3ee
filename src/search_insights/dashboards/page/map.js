// The map: which regions it shows, the zoom, and which region is at a point. map_paint.js paints it, map_input.js
// handles its events.

import { prefersReducedMotion } from "./dom.js";
import { MapInput } from "./map_input.js";
import { paintMap } from "./map_paint.js";

const ANIMATION_MS = 420;
const MAX_ZOOM = 400;
const MIN_POINTS = 8; // to fit the map to the points instead of the region's outline

export class RegionMap {
  // handlers: { onPick(n), onUp(), onHover(n, position), onWheel() }
  constructor(element, outlines, release, handlers) {
    Object.assign(this, { element, outlines, release, handlers, hover: null, scene: null, points: [] });
    this.canvas = element.querySelector("canvas");
    this.context = this.canvas.getContext("2d");
    this.view = { k: 0, x: 0, y: 0 };
    this.meshes = new Map();
    this.animation = null;
    this.listeners = new AbortController();
    this.resizes = new ResizeObserver(() => this.resize());
    this.resizes.observe(element);
    new MapInput(this);
  }

  // Release the element for the map of another dataset.
  destroy() {
    cancelAnimationFrame(this.animation);
    this.listeners.abort();
    this.resizes.disconnect();
  }

  // scene: { container, level, trend, week, valueOf(n), pins, selected }
  show(scene) {
    const moved = !this.scene || this.scene.container !== scene.container;
    this.scene = scene;
    this.shown = this.existing(scene.level).filter((n) => this.outlines.has(n));
    this.points = this.pointsOf(scene.container);
    this.inside = new Set(this.shown.filter((n) => scene.container === 0 || this.release.isWithin(n, scene.container)));
    if (moved) this.setHover(null); // the region under the pointer has moved
    if (moved) this.fit(this.view.k > 0);
    this.draw();
  }

  inLevel(level) {
    return Array.from({ length: level.count }, (_, i) => level.start + i);
  }

  // The regions of a level, without those whose place others have taken.
  existing(level) {
    const { release: r, scene } = this;
    const stands = (n) => this.outlines.has(n) && !r.isAbsent(n, scene.week);
    return this.inLevel(level).filter((n) => !r.isAbsent(n, scene.week) || !r.relatives(n).some(stands));
  }

  // The children of the container that have a centre but no outline.
  pointsOf(container) {
    return this.release.children(container).filter((n) => this.release.points[n] && !this.outlines.has(n));
  }

  // The regions that pointer and keyboard can reach: the points if there are any, else the shapes in the container.
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

  boundingBox() {
    const { container } = this.scene;
    const outlined = this.outlines.has(container);
    if (container === 0 || (!outlined && this.points.length < MIN_POINTS))
      return [0, 0, this.outlines.width, this.outlines.height];
    if (outlined && this.points.length < MIN_POINTS) return this.outlines.boxes.get(container);
    // Fit most of the points: a few outliers, on an island or misplaced, must not shrink the rest.
    const [left, right] = centralRange(this.points.map((n) => this.release.points[n][0]));
    const [top, bottom] = centralRange(this.points.map((n) => this.release.points[n][1]));
    const margin = 0.12 * Math.max(right - left, bottom - top);
    return [left - margin, top - margin, right + margin, bottom + margin];
  }

  viewFor([x0, y0, x1, y1]) {
    const margin = this.scene.container === 0 ? 10 : 34;
    const [width, height] = [Math.max(1, this.width - 2 * margin), Math.max(1, this.height - 2 * margin)];
    const k = Math.min(width / Math.max(1, x1 - x0), height / Math.max(1, y1 - y0));
    return { k, x: this.width / 2 - (k * (x0 + x1)) / 2, y: this.height / 2 - (k * (y0 + y1)) / 2 };
  }

  fit(animate = true) {
    if (!this.width) return;
    this.baseScale = this.viewFor([0, 0, this.outlines.width, this.outlines.height]).k;
    const fitted = this.viewFor(this.boundingBox());
    this.fittedScale = fitted.k;
    this.moveTo(fitted, animate);
  }

  moveTo(to, animate) {
    cancelAnimationFrame(this.animation);
    if (!animate || prefersReducedMotion() || !this.view.k) {
      this.view = to;
      this.draw();
      return;
    }
    const from = this.view;
    const start = performance.now();
    const step = (now) => {
      const t = Math.min(1, Math.max(0, (now - start) / ANIMATION_MS));
      const ease = t * t * (3 - 2 * t);
      const k = from.k * (to.k / from.k) ** ease;
      // Interpolate the position in step with the scale, so that the map moves smoothly.
      const share = to.k === from.k ? ease : (k - from.k) / (to.k - from.k);
      const between = (a, b) => a + (b - a) * share;
      this.view = { k, x: between(from.x, to.x), y: between(from.y, to.y) };
      this.draw();
      if (t < 1) this.animation = requestAnimationFrame(step);
    };
    this.animation = requestAnimationFrame(step);
  }

  zoom(factor, [x, y] = [this.width / 2, this.height / 2], animate = true) {
    const k = Math.min(this.baseScale * MAX_ZOOM, Math.max(this.baseScale * 0.7, this.view.k * factor));
    const ratio = k / this.view.k;
    this.moveTo({ k, x: x - (x - this.view.x) * ratio, y: y - (y - this.view.y) * ratio }, animate);
  }

  mesh(level) {
    const key = `${level.name} ${this.release.epoch(this.scene.week)}`;
    if (!this.meshes.has(key)) this.meshes.set(key, this.outlines.mesh(this.existing(level)));
    return this.meshes.get(key);
  }

  draw() {
    if (!this.scene || !this.width || this.paintRequested) return;
    this.paintRequested = true;
    requestAnimationFrame(() => {
      this.paintRequested = false;
      paintMap(this);
    });
  }

  circle(n, scale = n === this.scene.selected ? 1.5 : 1) {
    const [x, y] = this.release.points[n];
    const path = new Path2D();
    path.arc(x, y, (scale * this.radius) / this.view.k, 0, 2 * Math.PI);
    return path;
  }

  // Points are smaller where there are many, and grow a little as the map is zoomed in.
  get radius() {
    const spacing = Math.sqrt((this.width * this.height) / Math.max(1, this.points.length));
    const growth = Math.sqrt(this.view.k / this.fittedScale);
    return Math.min(11, Math.max(3.5, 0.16 * spacing * growth));
  }

  // The region at a position of the element, or null; points are above shapes.
  regionAt(px, py) {
    const x = (px - this.view.x) / this.view.k;
    const y = (py - this.view.y) / this.view.k;
    const reach = (this.radius + 3) / this.view.k;
    let [nearest, least] = [null, reach * reach];
    for (const n of this.points) {
      const [cx, cy] = this.release.points[n];
      const distance = (cx - x) ** 2 + (cy - y) ** 2;
      if (distance < least) [nearest, least] = [n, distance];
    }
    if (nearest !== null) return nearest;
    const found = this.shown.find((n) => {
      const [x0, y0, x1, y1] = this.outlines.boxes.get(n);
      if (x < x0 || x > x1 || y < y0 || y > y1) return false;
      this.context.setTransform(1, 0, 0, 1, 0, 0);
      return this.context.isPointInPath(this.outlines.paths.get(n), x, y, "evenodd");
    });
    return found ?? null;
  }

  // The position of a region on the element.
  positionOf(n) {
    const [x, y] = this.release.points[n] && !this.outlines.has(n) ? this.release.points[n] : this.outlines.centre(n);
    return [x * this.view.k + this.view.x, y * this.view.k + this.view.y];
  }

  setHover(n, position) {
    if (n !== this.hover) {
      this.hover = n;
      this.draw();
    }
    this.handlers.onHover(n, n === null ? null : (position ?? this.positionOf(n)));
  }
}

// The range that holds all but the outermost 3% at either end.
function centralRange(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const quantile = (share) => sorted[Math.round(share * (sorted.length - 1))];
  return [quantile(0.03), quantile(0.97)];
}
