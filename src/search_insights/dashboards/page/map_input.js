// Map input: mouse, touch, wheel and keyboard.

export class MapInput {
  constructor(map) {
    this.map = map;
    this.listen();
  }

  // The next region in a direction: the nearest one, with sideways distance counted double.
  neighbour(dx, dy) {
    const from = this.map.positionOf(this.map.hover);
    let [nearest, least] = [this.map.hover, Infinity];
    for (const n of this.map.targets) {
      if (n === this.map.hover) continue;
      const [x, y] = this.map.positionOf(n);
      const ahead = (x - from[0]) * dx + (y - from[1]) * dy;
      const aside = Math.abs((x - from[0]) * dy) + Math.abs((y - from[1]) * dx);
      if (ahead <= 0 || aside > 2 * ahead) continue;
      const distance = ahead + 2 * aside;
      if (distance < least) [nearest, least] = [n, distance];
    }
    return nearest;
  }

  listen() {
    const position = (event) => {
      const box = this.map.element.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    const pointers = new Map();
    let drag = null;
    const e = this.map.element;
    const { signal } = this.map.listeners;
    const on = (type, listener, options) => e.addEventListener(type, listener, { ...options, signal });
    on("pointerdown", (event) => {
      if (event.button) return;
      pointers.set(event.pointerId, position(event));
      drag = { from: position(event), view: this.map.view, moved: false };
    });
    on("pointermove", (event) => {
      const here = position(event);
      if (pointers.has(event.pointerId)) {
        const before = new Map(pointers);
        pointers.set(event.pointerId, here);
        if (pointers.size === 2) this.pinch([...before.values()], [...pointers.values()]);
        else if (drag && (event.pointerType === "mouse" || this.map.isZoomed)) this.pan(drag, here, event);
        if (pointers.size > 1 && drag) drag.moved = true;
      }
      if (!drag?.moved && event.pointerType !== "touch") this.map.setHover(this.map.regionAt(...here), here);
    });
    const release = (event) => {
      const last = pointers.size === 1;
      pointers.delete(event.pointerId);
      if (last && drag && !drag.moved && event.type === "pointerup") this.activate(position(event), event.pointerType);
      if (!pointers.size) drag = null;
    };
    on("pointerup", release);
    on("pointercancel", release);
    on("pointerleave", (event) => {
      if (event.pointerType === "mouse") this.map.setHover(null);
    });
    on("wheel", (event) => this.onWheel(event, position(event)), { passive: false });
    on("keydown", (event) => this.onKey(event));
    on("focus", () => {
      if (e.matches(":focus-visible") && this.map.hover === null && this.map.scene && this.map.targets.length)
        this.map.setHover(this.firstTarget());
    });
    on("blur", () => this.map.setHover(null));
  }

  // Where the keyboard starts: at the selected region, or else in the middle of the map.
  firstTarget() {
    return this.map.targets.includes(this.map.scene.selected)
      ? this.map.scene.selected
      : this.nearest([this.map.width / 2, this.map.height / 2]);
  }

  nearest([px, py]) {
    const distance = (n) => Math.hypot(this.map.positionOf(n)[0] - px, this.map.positionOf(n)[1] - py);
    return this.map.targets.reduce((best, n) => (distance(n) < distance(best) ? n : best));
  }

  // On a touch screen the first tap shows the tooltip and the second opens the region.
  activate(position, pointerType) {
    const n = this.map.regionAt(...position);
    if (pointerType === "touch" && n !== this.map.hover) this.map.setHover(n, position);
    else if (n !== null) this.map.handlers.onPick(n);
  }

  pan(drag, here, event) {
    const [dx, dy] = [here[0] - drag.from[0], here[1] - drag.from[1]];
    if (!drag.moved && Math.hypot(dx, dy) < 5) return;
    if (!drag.moved) {
      this.map.element.setPointerCapture(event.pointerId);
      this.map.setHover(null);
    }
    drag.moved = true;
    this.map.moveTo({ ...this.map.view, x: drag.view.x + dx, y: drag.view.y + dy }, false);
  }

  pinch([a0, b0], [a1, b1]) {
    const distance = (a, b) => Math.max(1, Math.hypot(a[0] - b[0], a[1] - b[1]));
    const middle = [(a1[0] + b1[0]) / 2, (a1[1] + b1[1]) / 2];
    this.map.zoom(distance(a1, b1) / distance(a0, b0), middle, false);
    const before = [(a0[0] + b0[0]) / 2, (a0[1] + b0[1]) / 2];
    const { view } = this.map;
    this.map.moveTo({ ...view, x: view.x + middle[0] - before[0], y: view.y + middle[1] - before[1] }, false);
  }

  // Without Ctrl the wheel scrolls the page, also over the map.
  onWheel(event, position) {
    if (!event.ctrlKey && !event.metaKey) {
      this.map.handlers.onWheel();
      return;
    }
    event.preventDefault();
    this.map.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.004)), position, false);
  }

  onKey(event) {
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const { key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (arrows[key]) this.map.setHover(this.map.hover === null ? this.firstTarget() : this.neighbour(...arrows[key]));
    else if ((key === "Enter" || key === " ") && this.map.hover !== null) this.map.handlers.onPick(this.map.hover);
    else if (key === "Escape" || key === "Backspace") this.map.handlers.onUp();
    else if (key === "+" || key === "=") this.map.zoom(1.6);
    else if (key === "-") this.map.zoom(1 / 1.6);
    else if (key === "0") this.map.fit();
    else return;
    event.preventDefault();
  }
}
