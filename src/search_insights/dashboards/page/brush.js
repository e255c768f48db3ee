// Drag over a chart to choose a period of weeks.

const LEAST = 6; // pixels that make a press a drag

// drawn: a chart as drawChart returns it; preview(first, last) shows the period, onPeriod(first, last) chooses it.
export function brushWeeks({ svg, weekAt }, preview, onPeriod) {
  let [from, dragged] = [null, false];
  const weekOf = (x) => weekAt(x - svg.getBoundingClientRect().left);
  const range = (event) => [weekOf(from), weekOf(event.clientX)].sort((a, b) => a - b);
  svg.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    [from, dragged] = [event.clientX, false];
  });
  svg.addEventListener("pointermove", (event) => {
    if (from === null || (!dragged && Math.abs(event.clientX - from) < LEAST)) return;
    if (!dragged) svg.setPointerCapture(event.pointerId);
    dragged = true;
    preview(...range(event));
  });
  svg.addEventListener("pointerup", (event) => {
    const [first, last] = from === null ? [] : range(event);
    from = null;
    if (dragged && first < last) onPeriod(first, last);
    else if (dragged) preview(null);
  });
  svg.addEventListener("pointercancel", () => {
    from = null;
    if (dragged) preview(null);
  });
  // A drag is not a click, which would choose a week.
  svg.addEventListener("click", (event) => {
    if (dragged) event.stopImmediatePropagation();
    dragged = false;
  });
}
