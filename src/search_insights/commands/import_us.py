"""Make the table of United States regions from the official files: Census county estimates of 2018, the
Gazetteer files of counties and of ZIP code areas, and HUD's ZIP-county crosswalk saved as CSV."""

import argparse
from pathlib import Path

from search_insights.commands.console import out
from search_insights.spec.geography import load_geography
from search_insights.spec.straddling import load_straddling

EXAMPLE = (
    "search-insights import-us --estimates co-est2018-alldata.csv --counties 2018_Gaz_counties_national.txt \\\n"
    "  --zctas 2018_Gaz_zcta_national.txt --crosswalk ZIP_COUNTY_122021.csv --out geography.parquet"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    for name, words in {
        "estimates": "Census county population estimates, co-est2018-alldata.csv",
        "counties": "Census Gazetteer file of counties",
        "zctas": "Census Gazetteer file of ZIP code tabulation areas",
        "crosswalk": "HUD ZIP-county crosswalk, saved as CSV",
        "out": "the Parquet file to write",
    }.items():
        parser.add_argument(f"--{name}", metavar="FILE", type=Path, required=True, help=words)
    parser.add_argument(
        "--straddling", metavar="FILE", type=Path, help="also write which ZIPs straddle counties, a Parquet file"
    )


def run(args: argparse.Namespace) -> int:
    """Import the files, then read the result back as any user of it would."""
    from search_insights.us.census import build_us_geography

    path = build_us_geography(args.estimates, args.counties, args.zctas, args.crosswalk, args.out, args.straddling)
    geography = load_geography(path)
    out(f"{path}: {len(geography.regions):,} regions")
    if args.straddling:
        straddling = load_straddling(geography, args.straddling)
        out(f"{args.straddling}: {len(straddling.also_in):,} ZIPs that straddle counties")
    return 0
