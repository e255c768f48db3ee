"""Look a region up by code, place_id or name: its levels, size class, area, whether it is reported, and why.

If a log names postal codes only, each counts in the county with most of its addresses. The card of a postal code says
which other counties it extends into; that of a county, how much of its count comes from elsewhere.
"""

import argparse
from datetime import date
from typing import Any

from search_insights.commands.console import note, out, out_json, table
from search_insights.commands.options import about_option, add_coverage, add_json, add_straddling, coverage_of, is_us
from search_insights.errors import CheckFailed, UsageError
from search_insights.spec.coverage import Coverage
from search_insights.spec.draft import Topic, draft_spec
from search_insights.spec.geography import Region, load_country
from search_insights.spec.spec import Promise
from search_insights.spec.straddling import Straddling, load_straddling

EXAMPLE = (
    'search-insights regions 95023\nsearch-insights regions "san benito" --json\nsearch-insights regions --country IE'
)

SHOWN = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument(
        "text", metavar="TEXT", nargs="?", help="a code, a place_id, or a name or part of it; with --country: all"
    )
    parser.add_argument(
        "--country",
        metavar="XX",
        help="look in a packaged country, by its ISO code or the name of a deeper table, in place of --geography and "
        "--spec; says what a release "
        "begun with 'init' would report",
    )
    add_coverage(parser)
    add_straddling(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Show the regions that match."""
    if args.text is None and args.country is None:
        raise UsageError(
            "TEXT: give a code, a place_id, or a name or part of it, or --country; see 'search-insights regions --help'"
        )
    country = None if is_us(args.country) else args.country
    coverage = coverage_of(args) if country is None else _coverage_of_country(country)
    straddling = load_straddling(coverage.geography, args.straddling)
    found = coverage.geography.find(args.text) if args.text is not None else list(coverage.geography.regions)
    if args.json:
        out_json([_row(coverage, straddling, region) for region in found])
        return 0 if found else CheckFailed.exit_code
    if not found:
        example = coverage.geography.regions[-1].code
        raise CheckFailed(f"no region {args.text!r}; give a code such as {example}, a place_id, or part of a name")
    exact = [region for region in found if (args.text or "").strip() in (region.code, region.place_id)]
    if len(exact or found) <= 2:
        out("\n\n".join(_card(coverage, straddling, region) for region in exact or found))
    else:
        out(_list(coverage, found if args.text is None else found[:SHOWN]))
    if len(found) > SHOWN and not exact and args.text is not None:
        note(f"... and {len(found) - SHOWN} more; --json lists them all")
    return 0


def _coverage_of_country(code: str) -> Coverage:
    """Return the coverage that a release of a packaged country begins with; its topics and weeks play no part here."""
    with about_option("--country"):
        geography = load_country(code)
    topic, week = Topic("topic", "Topic"), date(2021, 1, 4)
    return Coverage(draft_spec(geography, [topic], Promise(1.0, 1e-6), "UTC", week), geography)


def _row(coverage: Coverage, straddling: Straddling, region: Region) -> dict[str, Any]:
    exchange = straddling.exchanges.get(region.place_id)
    return {
        **region._asdict(),
        **coverage.standings[region.place_id]._asdict(),
        "also_in": dict(straddling.also_in.get(region.place_id, {})),
        "from_elsewhere": round(exchange.from_elsewhere, 6) if exchange else 0.0,
        "counted_elsewhere": round(exchange.counted_elsewhere, 6) if exchange else 0.0,
    }


def _card(coverage: Coverage, straddling: Straddling, region: Region) -> str:
    standing = coverage.standings[region.place_id]
    above = [f"{r.name} ({r.code})" for r in coverage.geography.lineage(region)][1:]
    facts = {
        "place id": region.place_id,
        "lies in": ", ".join(above) or "-",
        "size class": _class_words(coverage, region),
        "population": "not known" if region.population is None else f"{region.population:,}",
        "land area": "not known" if region.land_area_km2 is None else f"{region.land_area_km2:,.1f} km2",
        "reported": f"{'yes, ' if standing.reported else 'no: '}{standing.reason}",
        **_straddling_facts(straddling, region),
    }
    title = f"{region.code}  {region.name}  ({region.level})"
    return "\n".join([title, *(f"  {name:<12}{value}" for name, value in facts.items())])


def _straddling_facts(straddling: Straddling, region: Region) -> dict[str, str]:
    """Say which others a region extends into, or how much of its count is not its own; nothing if neither is so."""
    by_id, facts = straddling.geography.by_place_id, {}
    if others := straddling.also_in.get(region.place_id):
        shares = sorted(others.items(), key=lambda pair: -pair[1])
        words = ", ".join(f"{_percent(share)} in {by_id[place].name} ({by_id[place].code})" for place, share in shares)
        facts["also in"] = f"{words}; of its addresses"
    if exchange := straddling.exchanges.get(region.place_id):
        facts["elsewhere"] = (
            f"if a log names {straddling.level} regions only, {_percent(exchange.from_elsewhere)} of its count is made "
            f"elsewhere, and {_percent(exchange.counted_elsewhere)} of its own searches are counted elsewhere"
        )
    return facts


def _percent(share: float) -> str:
    return "under 0.1%" if 0 < share < 0.001 else f"{share:.1%}"


def _class_words(coverage: Coverage, region: Region) -> str:
    size_class = coverage.standings[region.place_id].size_class
    if size_class is None:
        return f"none ({region.level} regions have no size class)"
    holder = next(r for r in coverage.geography.lineage(region) if r.level == coverage.spec.class_level)
    return size_class if holder is region else f"{size_class}, as {holder.name} (population {holder.population:,})"


def _list(coverage: Coverage, regions: list[Region]) -> str:
    rows = []
    for region in regions:
        standing = coverage.standings[region.place_id]
        lineage = list(coverage.geography.lineage(region))
        parent = lineage[1].name if len(lineage) > 1 else ""
        reported = "yes" if standing.reported else f"no: {standing.reason}"
        rows.append((region.code, region.name, region.level, parent, standing.size_class or "", reported))
    return table(("code", "name", "level", "lies in", "class", "reported"), rows)
