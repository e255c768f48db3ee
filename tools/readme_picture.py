"""Take the README's screenshot of the demo's dashboard in a real Chromium; run `make demo` first.

.venv/bin/python -m tools.readme_picture [demo/site] [docs/images/dashboard.png]
"""

import sys
from pathlib import Path

from tests.support.browser import running_browser, served, visit

VIEW = "?week=2021-03-08"
FLORIDA = (0.83, 0.8)  # the position on the map of the county whose tooltip is shown


def main(site: str = "demo/site", picture: str = "docs/images/dashboard.png") -> None:
    """Open the site, point at a county, and save a screenshot."""
    size = {"width": 1140, "height": 790}
    with running_browser() as browser, served(Path(site)) as address, visit(browser, address, viewport=size) as visitor:
        page = visitor.open(VIEW)
        page.wait_for_selector("#map[data-painted]")
        box = page.locator("#map").bounding_box()
        if box:
            page.mouse.move(box["x"] + FLORIDA[0] * box["width"], box["y"] + FLORIDA[1] * box["height"])
            page.wait_for_selector("#tip:not([hidden])")
        page.screenshot(path=picture)


if __name__ == "__main__":
    main(*sys.argv[1:])
