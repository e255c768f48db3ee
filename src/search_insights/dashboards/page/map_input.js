// Moving about on the map: pointer, touch, wheel and keys.

export class MapInput {
  constructor(map) {
    this.map = map;
    this.listen();
  }

  // The next region in a direction: near, and rather straight ahead than aside.
  neighbour(dx, dy) {
    const from = this.map.spot(this.map.hover);
    let [best, least] = [this.map.hover, Infinity];
    for (const n of this.map.targets) {
      if (n === this.map.hover) continue;
      const [x, y] = this.map.spot(n);
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
      const box = this.map.element.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    const fingers = new Map();
    let drag = null;
    const e = this.map.element;
    const on = (kind, act, options) => e.addEventListener(kind, act, { ...options, signal: this.map.ended.signal });
    on("pointerdown", (event) => {
      if (event.button) return;
      fingers.set(event.pointerId, at(event));
      drag = { from: at(event), view: this.map.view, moved: false };
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
      if (!drag?.moved && event.pointerType !== "touch") this.map.setHover(this.map.hit(...here), here);
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
      if (event.pointerType === "mouse") this.map.setHover(null);
    });
    on("wheel", (event) => this.wheel(event, at(event)), { passive: false });
    on("keydown", (event) => this.key(event));
    on("focus", () => {
      if (e.matches(":focus-visible") && this.map.hover === null && this.map.scene && this.map.targets.length)
        this.map.setHover(this.start());
    });
    on("blur", () => this.map.setHover(null));
  }

  start() {
    return this.map.targets.includes(this.map.scene.selected)
      ? this.map.scene.selected
      : this.nearest([this.map.width / 2, this.map.height / 2]);
  }

  nearest([px, py]) {
    const far = (n) => Math.hypot(this.map.spot(n)[0] - px, this.map.spot(n)[1] - py);
    return this.map.targets.reduce((best, n) => (far(n) < far(best) ? n : best));
  }

  // A finger first shows a region, and opens it when it is pressed again.
  press(at, kind) {
    const n = this.map.hit(...at);
    if (kind === "touch" && n !== this.map.hover) this.map.setHover(n, at);
    else if (n !== null) this.map.tell.pick(n);
  }

  pan(drag, here, event) {
    const [dx, dy] = [here[0] - drag.from[0], here[1] - drag.from[1]];
    if (!drag.moved && Math.hypot(dx, dy) < 5) return;
    if (!drag.moved) {
      this.map.element.setPointerCapture(event.pointerId);
      this.map.setHover(null);
    }
    drag.moved = true;
    this.map.go({ ...this.map.view, x: drag.view.x + dx, y: drag.view.y + dy }, false);
  }

  pinch([a0, b0], [a1, b1]) {
    const far = (a, b) => Math.max(1, Math.hypot(a[0] - b[0], a[1] - b[1]));
    const mid = [(a1[0] + b1[0]) / 2, (a1[1] + b1[1]) / 2];
    this.map.zoom(far(a1, b1) / far(a0, b0), mid, false);
    const old = [(a0[0] + b0[0]) / 2, (a0[1] + b0[1]) / 2];
    this.map.go(
      { ...this.map.view, x: this.map.view.x + mid[0] - old[0], y: this.map.view.y + mid[1] - old[1] },
      false,
    );
  }

  // Scrolling the page past the map must not be caught by it.
  wheel(event, at) {
    if (!event.ctrlKey && !event.metaKey) {
      this.map.tell.wheel();
      return;
    }
    event.preventDefault();
    this.map.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.004)), at, false);
  }

  key(event) {
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const { key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (arrows[key]) this.map.setHover(this.map.hover === null ? this.start() : this.neighbour(...arrows[key]));
    else if ((key === "Enter" || key === " ") && this.map.hover !== null) this.map.tell.pick(this.map.hover);
    else if (key === "Escape" || key === "Backspace") this.map.tell.up();
    else if (key === "+" || key === "=") this.map.zoom(1.6);
    else if (key === "-") this.map.zoom(1 / 1.6);
    else if (key === "0") this.map.fit();
    else return;
    event.preventDefault();
  }
}
