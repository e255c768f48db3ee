"""A made-up Switzerland: regions, cantons, districts and postal codes, with names in German, French and Italian.

The names of regions and cantons are real. Districts, postal codes and all numbers are made up.
"""

from pathlib import Path

from tests.support.other_country import Row, write_csv

CANTONS = {
    "Genferseeregion": {"GE": "Genève", "VD": "Vaud", "VS": "Valais"},
    "Espace Mittelland": {"BE": "Bern", "FR": "Fribourg", "JU": "Jura", "NE": "Neuchâtel", "SO": "Solothurn"},
    "Nordwestschweiz": {"AG": "Aargau", "BL": "Basel-Landschaft", "BS": "Basel-Stadt"},
    "Zürich": {"ZH": "Zürich"},
    "Ostschweiz": {
        "AI": "Appenzell Innerrhoden",
        "AR": "Appenzell Ausserrhoden",
        "GL": "Glarus",
        "GR": "Graubünden",
        "SG": "St. Gallen",
        "SH": "Schaffhausen",
        "TG": "Thurgau",
    },
    "Zentralschweiz": {
        "LU": "Luzern",
        "NW": "Nidwalden",
        "OW": "Obwalden",
        "SZ": "Schwyz",
        "UR": "Uri",
        "ZG": "Zug",
    },
    "Ticino": {"TI": "Ticino"},
}

HEADER = ("code", "name", "level", "parent", "population", "land_area_km2")
LEVELS = ("region", "canton", "district", "postal_code")


def swiss_rows() -> list[Row]:
    """Return a country of 7 regions, 26 cantons, 78 districts and 312 postal codes; postal codes have no population."""
    rows: list[Row] = [("CH", "Schweiz, Suisse, Svizzera", "country", None, None, 39_000)]
    number = 0
    for i, (region, cantons) in enumerate(CANTONS.items(), start=1):
        rows.append((f"R{i}", region, "region", "CH", None, 5_600))
        for code, canton in cantons.items():
            rows.append((code, canton, "canton", f"R{i}", None, 1_500))
            for district in range(3):
                number += 1
                people = int(6_000 * 1.055**number)  # from some thousand to some hundred thousand
                rows.append((f"{code}{district}", f"Bezirk {canton} {district}", "district", code, people, 500))
                rows += [
                    (str(1_000 + 10 * number + j), f"{canton} {j}", "postal_code", f"{code}{district}", None, 2 + 9 * j)
                    for j in range(4)
                ]
    return rows


def swiss_regions(folder: Path, name: str = "regionen.csv") -> Path:
    """Write the regions of Switzerland as CSV in UTF-8."""
    return write_csv(folder / name, swiss_rows(), HEADER)
