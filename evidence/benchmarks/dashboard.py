"""How light and how quick the dashboard is in a real browser, on a national dataset of many weeks.

    python -m evidence.benchmarks.dashboard [--weeks 160] [--rounds 5]

The store is that of the benchmark `publish`. Measured in Chromium, each round with an empty cache: the bytes that the
first view loads over the wire, the time until the map of all counties is painted, and the time from a change of the
week to the painted map. Other work on the machine only ever adds time, so the least of the rounds is taken, but the
worst of the weeks. The reference of the same run is the smallest page that draws the same outlines once: it loads one
packed file with all of them, unpacks it, and fills each shape.
"""

import gzip
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, ViewportSize
from tests.support.browser import running_browser, served

from evidence.inputs import make_store
from evidence.measuring import Result, parser_of, print_result
from search_insights.dashboards.site import dashboard
from search_insights.dataset.publication import publish

STEPS = 24  # several blocks of weeks
PAUSE_MS = 500
WINDOW: ViewportSize = {"width": 1280, "height": 900}

# Resolves to the time of the first paint of the map, on the browser's own clock.
WATCH = """
window.painted = new Promise(done => {
    const painted = () => document.querySelector('#map[data-painted]');
    const look = () => painted() ? done(performance.now()) : requestAnimationFrame(look);
    look();
});
"""
# Moves the slider, waits for the paint of that week, and for the frame after it.
STEP = """async week => {
    const map = document.getElementById('map'), slider = document.getElementById('week');
    const begin = performance.now();
    slider.value = week;
    slider.dispatchEvent(new Event('input'));
    while (!map.dataset.painted.endsWith(` ${week}`)) await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    return performance.now() - begin;
}"""
REFERENCE = """<!doctype html><meta charset=utf-8><canvas id=c width=800 height=520></canvas><script type=module>
import { Outlines } from "./outline.js";
const answer = await fetch("outlines.bin.gz");
const unpacked = new Response(answer.body.pipeThrough(new DecompressionStream("gzip")));
const bytes = new Uint8Array(await unpacked.arrayBuffer()), size = bytes.length / 4;
const number = (_, i) => bytes[i] | (bytes[i + size] << 8) | (bytes[i + 2 * size] << 16) | (bytes[i + 3 * size] << 24);
const outlines = new Outlines(Int32Array.from({ length: size }, number));
const context = c.getContext("2d");
context.scale(800 / outlines.width, 800 / outlines.width);
for (const path of outlines.paths.values()) context.fill(path, "evenodd");
requestAnimationFrame(() => requestAnimationFrame(() => { window.done = performance.now(); c.dataset.done = 1; }));
</script>"""


def make_reference(site: Path, folder: Path) -> None:
    """Write the smallest page that draws the same outlines."""
    folder.mkdir()
    (folder / "index.html").write_text(REFERENCE, encoding="utf-8")
    shutil.copy(site / "outline.js", folder)
    shutil.copy(next(site.glob("data/*/outlines.bin.gz")), folder)
    shutil.copy(site / "site.json", folder)


def first_view(browser: Browser, address: str) -> dict[str, float]:
    """Load the site once with an empty cache; return the bytes over the wire and the time to the painted map."""
    with browser.new_context(viewport=WINDOW) as context:
        page = context.new_page()
        page.add_init_script(WATCH)
        sizes = count_bytes(page)
        page.goto(address)
        map_at = page.evaluate("window.painted")
        at_map = sum(sizes)
        page.wait_for_timeout(3 * PAUSE_MS)
        return {"map_ms": map_at, "kilobytes": at_map / 1e3, "kilobytes_with_prefetch": sum(sizes) / 1e3}


def count_bytes(page: Page) -> list[float]:
    """Return a list that grows by the size of each response over the wire, headers included."""
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    sizes: list[float] = []
    session.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    return sizes


def week_steps(browser: Browser, address: str, weeks: int) -> list[float]:
    """Step back through the newest weeks at the national view, with a pause before each step as a reader makes."""
    with browser.new_context(viewport=WINDOW) as context:
        page = context.new_page()
        page.goto(address)
        page.wait_for_selector("#map[data-painted]")
        times = []
        for week in range(weeks - 2, max(-1, weeks - 2 - STEPS), -1):
            page.wait_for_timeout(PAUSE_MS)
            times.append(page.evaluate(STEP, week))
        return times


def reference(browser: Browser, address: str) -> float:
    """Return the time until the reference page has drawn the outlines."""
    with browser.new_context(viewport=WINDOW) as context:
        page = context.new_page()
        page.goto(address)
        page.wait_for_selector("#c[data-done]")
        found: float = page.evaluate("window.done")
        return found


def measure(weeks: int, rounds: int) -> dict[str, Any]:
    """Make the dataset and the site, and measure them in the browser."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_store(folder / "store.db", weeks)
        publish(folder / "store.db", folder / "dataset")
        begin, cpu = time.perf_counter(), time.process_time()
        site = dashboard([folder / "dataset"], folder / "site")
        built, built_cpu = time.perf_counter() - begin, time.process_time() - cpu
        make_reference(site.folder, folder / "reference")
        with running_browser() as browser, served(site.folder) as page, served(folder / "reference") as plain:
            views, plains = [], []
            for _ in range(rounds):
                views.append(first_view(browser, page))
                plains.append(reference(browser, plain))
            rounds_of_steps = [week_steps(browser, page, weeks) for _ in range(rounds)]
        published = sum(path.stat().st_size for path in (folder / "dataset").iterdir())
        page_files = [p for p in site.folder.iterdir() if p.suffix in (".js", ".css", ".html", ".svg")]
        sources = sum(path.stat().st_size for path in page_files)
        packed = sum(len(gzip.compress(path.read_bytes())) for path in page_files)
    steps = [min(times) for times in zip(*rounds_of_steps, strict=True)]
    best = min(view["map_ms"] for view in views)
    return {
        "weeks": weeks,
        "build_s": round(built, 1),
        "build_cpu_s": round(built_cpu, 1),
        "site_megabytes": round(site.bytes / 1e6, 1),
        "site_files": site.files,
        "dataset_megabytes": round(published / 1e6, 1),
        "page_kilobytes_unpacked": round(sources / 1e3, 1),
        "page_kilobytes_packed": round(packed / 1e3, 1),
        "first_view_kilobytes": round(max(view["kilobytes"] for view in views), 1),
        "with_prefetch_kilobytes": round(max(view["kilobytes_with_prefetch"] for view in views), 1),
        "map_ms": round(best, 1),
        "map_ms_median": round(statistics.median(view["map_ms"] for view in views), 1),
        "reference_ms": round(min(plains), 1),
        "map_ratio": round(best / min(plains), 2),
        "week_ms_median": round(statistics.median(steps), 1),
        "week_ms_worst": round(max(steps), 1),
    }


def main() -> int:
    """Measure one site."""
    parser = parser_of(__doc__)
    parser.add_argument("--weeks", type=int, default=160)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    found = measure(args.weeks, args.rounds)
    showed = (
        f"{args.weeks} weeks, built in {found['build_s']:.1f} s ({found['build_cpu_s']:.1f} s of CPU): "
        f"the first view loads {found['first_view_kilobytes']:.0f} kB and is painted after "
        f"{found['map_ms'] / 1e3:.2f} s, {found['map_ratio']:.1f} times as long as the smallest page that draws the "
        f"map; a change of the week takes {found['week_ms_median']:.0f} ms, at worst {found['week_ms_worst']:.0f} ms"
    )
    return print_result(Result(showed, found))


if __name__ == "__main__":
    sys.exit(main())
