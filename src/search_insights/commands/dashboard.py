"""Make a static site from published datasets: maps, series, tables, search and downloads, for any static host."""

import argparse
import shlex
from pathlib import Path

from search_insights.commands.console import Steps, out

EXAMPLE = "search-insights dashboard dataset --out site\nsearch-insights serve site"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument(
        "dataset",
        metavar="DATASET",
        type=Path,
        nargs="+",
        help="a dataset's folder, or that of several countries; several get a world view and a country picker",
    )
    parser.add_argument("--out", metavar="SITE", type=Path, required=True, help="the site's folder")
    parser.add_argument(
        "--geography",
        metavar="FILE",
        action="append",
        default=[],
        help="the table of regions of a dataset that is not of a packaged country; may be given again",
    )
    parser.add_argument(
        "--spec",
        metavar="FILE",
        action="append",
        default=[],
        help="the spec of a dataset that is not of the packaged one: says which regions are not reported",
    )
    parser.add_argument(
        "--shapes",
        metavar="FILE",
        type=Path,
        action="append",
        default=[],
        help="outlines for the map: TopoJSON or GeoJSON in longitude and latitude, whose ids are place_ids or codes",
    )
    parser.add_argument(
        "--shape-id", metavar="NAME", help="the property of the outlines that has these ids (default: their own id)"
    )
    parser.add_argument(
        "--address", metavar="URL", help="where the site will be, so that shared links get a preview picture"
    )


def run(args: argparse.Namespace) -> int:
    """Build, and say how to look at it."""
    from search_insights.dashboards.site import dashboard
    from search_insights.spec.geography import load_geography
    from search_insights.spec.spec_file import load_spec

    geographies = [load_geography(source) for source in args.geography]
    specs = [load_spec(source) for source in args.spec]
    with Steps() as steps:
        site = dashboard(
            args.dataset,
            args.out,
            geographies=geographies,
            specs=specs,
            shapes=args.shapes,
            shape_id=args.shape_id,
            address=args.address,
            progress=steps.show,
        )
    out(f"{site.folder}: {', '.join(site.datasets)}; {site.files:,} files, {site.bytes / 1e6:.1f} MB")
    out(f"look at it:  search-insights serve {shlex.quote(str(site.folder))}")
    return 0
