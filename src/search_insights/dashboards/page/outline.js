// Region outlines: lines shared by neighbours, joined into shapes that can be drawn and hit-tested.

export class Outlines {
  // numbers: as dashboards/outline_file.py packs them
  constructor(numbers) {
    Object.assign(this, unpack(numbers));
    this.paths = new Map();
    this.boxes = new Map();
    this.rings.forEach((ofRegion, n) => ofRegion && this.add(n, ofRegion));
  }

  add(n, rings) {
    const box = [Infinity, Infinity, -Infinity, -Infinity];
    const path = new Path2D();
    for (const ring of rings) {
      let started = false;
      this.walk(ring, (x, y) => {
        if (started) path.lineTo(x, y);
        else path.moveTo(x, y);
        started = true;
        if (x < box[0]) box[0] = x;
        if (y < box[1]) box[1] = y;
        if (x > box[2]) box[2] = x;
        if (y > box[3]) box[3] = y;
      });
      path.closePath();
    }
    this.paths.set(n, path);
    this.boxes.set(n, box);
  }

  // Each line of a ring starts where the previous one ended; that point is visited once.
  walk(ring, visit) {
    ring.forEach((arc, i) => {
      const line = this.lines[arc < 0 ? ~arc : arc];
      const size = line.length / 2;
      for (let j = i ? 1 : 0; j < size; j++) {
        const index = 2 * (arc < 0 ? size - 1 - j : j);
        visit(line[index], line[index + 1]);
      }
    });
  }

  has(n) {
    return this.paths.has(n);
  }

  // The borders of a set of regions, each line once.
  mesh(numbers) {
    const seen = new Set();
    const path = new Path2D();
    for (const n of numbers) {
      for (const ring of this.rings[n] ?? []) {
        for (const arc of ring) {
          const line = arc < 0 ? ~arc : arc;
          if (seen.has(line)) continue;
          seen.add(line);
          this.trace(path, this.lines[line]);
        }
      }
    }
    return path;
  }

  // The regions that share a line with a region, those with the longest shared border first.
  neighbours(n) {
    this.sharers ??= this.regionsOfLines();
    const length = new Map();
    for (const line of this.linesOf(n)) {
      for (const other of this.sharers.get(line)) {
        if (other !== n) length.set(other, (length.get(other) ?? 0) + lengthOf(this.lines[line]));
      }
    }
    return [...length.keys()].sort((a, b) => length.get(b) - length.get(a));
  }

  linesOf(n) {
    return new Set(this.rings[n].flat().map((arc) => (arc < 0 ? ~arc : arc)));
  }

  regionsOfLines() {
    const sharers = new Map();
    for (const n of this.paths.keys()) {
      for (const line of this.linesOf(n)) sharers.set(line, [...(sharers.get(line) ?? []), n]);
    }
    return sharers;
  }

  trace(path, line) {
    path.moveTo(line[0], line[1]);
    for (let i = 2; i < line.length; i += 2) path.lineTo(line[i], line[i + 1]);
  }

  centre(n) {
    const [x0, y0, x1, y1] = this.boxes.get(n);
    return [(x0 + x1) / 2, (y0 + y1) / 2];
  }

  // The shape for an SVG file; `project` converts a point to the picture's coordinates.
  svgPath(n, project) {
    const parts = [];
    for (const ring of this.rings[n]) {
      let command = "M";
      this.walk(ring, (x, y) => {
        const [px, py] = project(x, y);
        parts.push(`${command}${px.toFixed(1)},${py.toFixed(1)}`);
        command = "L";
      });
      parts.push("Z");
    }
    return parts.join("");
  }
}

function unpack(numbers) {
  let at = 0;
  const next = () => (numbers[at] >>> 1) ^ -(numbers[at++] & 1);
  const [width, height, lineCount, regionCount] = [next(), next(), next(), next()];
  const lines = Array.from({ length: lineCount }, () => new Int32Array(2 * next()));
  for (const line of lines) [line[0], line[1]] = [next(), next()];
  let [x, y] = [0, 0];
  for (const line of lines) {
    for (let i = 0; i < line.length; i += 2) {
      line[i] = x += i ? next() : line[i];
      line[i + 1] = y += i ? next() : line[i + 1];
    }
  }
  const rings = Array.from({ length: regionCount }, () => Array.from({ length: next() }, () => new Array(next())));
  let number = 0;
  for (const ring of rings.flat()) {
    for (let i = 0; i < ring.length; i++) {
      const reference = next();
      number += reference >> 1;
      ring[i] = reference & 1 ? ~number : number;
    }
  }
  return { width, height, lines, rings: rings.map((ofRegion) => (ofRegion.length ? ofRegion : null)) };
}

function lengthOf(line) {
  let sum = 0;
  for (let i = 2; i < line.length; i += 2) sum += Math.hypot(line[i] - line[i - 2], line[i + 1] - line[i - 1]);
  return sum;
}
