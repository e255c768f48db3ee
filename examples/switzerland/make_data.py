"""Make the example's data: a table of regions, a search log, labels, ordinary queries, and the truth behind the log.

The names of regions and cantons are real; districts, postal codes, people, areas and searches are made up. The same
seed makes the same files, which is fine for a simulator and for nothing else: real noise has no seed.

    python make_data.py --out data
"""

import argparse
import csv
import os
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import duckdb
import numpy as np

ZONE = ZoneInfo("Europe/Zurich")
FIRST_DAY = date(2025, 6, 2)  # a Monday
CANTONS = {
    "Région lémanique": {"GE": "Genève", "VD": "Vaud", "VS": "Valais"},
    "Espace Mittelland": {"BE": "Bern", "FR": "Fribourg", "JU": "Jura", "NE": "Neuchâtel", "SO": "Solothurn"},
    "Nordwestschweiz": {"AG": "Aargau", "BL": "Basel-Landschaft", "BS": "Basel-Stadt"},
    "Zürich": {"ZH": "Zürich"},
    "Ostschweiz": {"AI": "Appenzell Innerrhoden", "AR": "Appenzell Ausserrhoden", "GL": "Glarus", "GR": "Graubünden",
                   "SG": "St. Gallen", "SH": "Schaffhausen", "TG": "Thurgau"},
    "Zentralschweiz": {"LU": "Luzern", "NW": "Nidwalden", "OW": "Obwalden", "SZ": "Schwyz", "UR": "Uri", "ZG": "Zug"},
    "Ticino": {"TI": "Ticino"},
}  # fmt: skip

# Labels hold the phrases before the bar; the log holds all of them, with and without the name of a canton.
INFLUENZA = """grippe, grippe symptome, grippe dauer, grippeimpfung, grippeimpfung wann, grippewelle, grippe
    ansteckend, grippe fieber, grippe oder erkältung, grippe hausmittel, grippe kinder, grippe schwangerschaft,
    grippe verlauf, symptômes de la grippe, grippe durée, vaccin grippe, vaccin contre la grippe, grippe contagion,
    grippe saisonnière, grippe enfant, remède grippe, influenza, influenza a, influenza typ b, influenza vaccin,
    influenza inkubationszeit, influenza test, influenza sintomi, vaccino influenza, grippe fièvre | grippe tee,
    vaccin grippe pharmacie, grippe wie lange zuhause, influenza schnelltest"""
HEAT_WAVE = """hitzewelle, hitzewelle heute, hitzewarnung, hitze tipps, hitze wohnung, was hilft gegen hitze, hitze
    schlafen, hitzeschlag symptome, hitzewelle ende, hitze hund, hitze senioren, hitzefrei schule, hitze arbeit,
    hitze rekord, hitze baby, ventilator gegen hitze, canicule, canicule conseils, alerte canicule, plan canicule,
    canicule bébé, canicule travail, canicule record, se protéger de la canicule, canicule chien, canicule jusqu'à
    quand, ondata di calore, ondata di calore consigli, allerta ondata di calore, hitzewelle warnung | hitze büro,
    hitze garten, canicule école, canicule dormir"""
ORDINARY = """kino, cinéma, wetter, météo, fahrplan, horaire train, pizza bestellen, restaurant, zahnarzt notfall,
    coiffeur, wohnung mieten, appartement à louer, rezept lasagne, recette crêpes, fussball resultate,
    steuererklärung frist, impôts, post öffnungszeiten, velo kaufen, parkplatz, parking gare, hotel buchen, horoskop
    löwe, klavier lernen, flug lissabon, impfung katze, versicherung auto, serien netflix, blitzer, sitzecke küche,
    heizung reparatur, grill, schulferien, krankenkasse prämien, museum, konzert, spital, hôpital, flohmarkt,
    brocante, hitparade, canapé occasion, gruppenreise, blitzrezepte, vaccin chat, rhume traitement, fieber messen,
    gartenbad, piscine, sonnencreme | kinoprogramm, stellen, emplois, stadtplan, wahlen, votations, parkhaus,
    pharmacie de garde, apotheke, billet tram, hitradio, capsule café, gripen kampfjet, influencer, calorie banane,
    lac baignade, ausflug, randonnée"""
# What the publisher adds after the first look at what the model takes for a topic.
CONFUSED = """influencer, influencer werden, influencer schweiz, influencer verdienst, influenceuse suisse, devenir
    influencer, influencer genève, calorie banane, calorie apfel, calories pain, kalorien tabelle, calorie
    giornaliere"""
PLACES = [name.lower() for cantons in CANTONS.values() for name in cantons.values()]
TOPICS = {"influenza": INFLUENZA, "heat_wave": HEAT_WAVE}

Row = tuple[str, str, str, str, int | str, float | str]


def phrases(text: str, part: int | None = None) -> list[str]:
    """Return the phrases of a list: all of them, or one of the parts that a bar separates."""
    chosen = text.replace("|", ",") if part is None else text.split("|")[part]
    return [" ".join(phrase.split()) for phrase in chosen.split(",")]


def with_places(base: list[str], places: list[str]) -> list[str]:
    """Return phrases alone and with the name of each place."""
    return base + [f"{phrase} {place}" for phrase in base for place in places]


# The table of regions


def regions(draw: np.random.Generator) -> list[Row]:
    """Return a country of 7 regions, 26 cantons, 78 districts and 312 postal codes; only districts have people."""
    rows: list[Row] = [("CH", "Schweiz, Suisse, Svizzera", "country", "", "", 39_000)]
    number = 0
    for i, (region, cantons) in enumerate(CANTONS.items(), start=1):
        rows.append((f"R{i}", region, "region", "CH", "", 5_600))
        for code, canton in cantons.items():
            rows.append((code, canton, "canton", f"R{i}", "", 1_500))
            for district in ("Nord", "Mitte", "Süd"):
                number += 1
                people = int(draw.lognormal(11, 0.9))
                rows.append((f"{code}-{district[0]}", f"{canton} {district}", "district", code, people, 500))
                rows += [(f"{1_000 + 10 * number + j}", f"{canton} {district} {j}", "postal_code",
                          f"{code}-{district[0]}", "", 9 * j - 7) for j in range(1, 5)]  # fmt: skip
    return rows


def write_table(path: Path, rows: list[Row]) -> None:
    """Write the table as many spreadsheet programs do: in Latin-1, separated by semicolons."""
    with path.open("w", encoding="latin-1", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(("code", "name", "level", "parent", "population", "land_area_km2"))
        writer.writerows(rows)


# Labels and ordinary queries


def write_labels(path: Path) -> None:
    """Write labels as a new publisher has them, in which only heat waves name Basel-Stadt; then the same with more."""
    labels = [(phrase, topic) for topic, text in TOPICS.items() for phrase in phrases(text, 0)]
    labels += [(f"{phrase} basel-stadt", "heat_wave") for phrase in phrases(HEAT_WAVE, 0)[::3]]
    labels += [(f"{phrase} zürich", "influenza") for phrase in phrases(INFLUENZA, 0)[::3]]
    others = [place for place in PLACES if "basel" not in place]
    base = phrases(ORDINARY, 0)
    labels += [(text, "") for text in base + [f"{base[i]} {others[i % len(others)]}" for i in range(0, len(base), 2)]]
    _write_queries(path / "labels.csv", labels)
    _write_queries(path / "labels-2.csv", labels + [(phrase, "") for phrase in phrases(CONFUSED)])


def _write_queries(path: Path, labels: list[tuple[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("query", "category"))
        writer.writerows(labels)


def write_ordinary(path: Path) -> None:
    """Write queries that are about no topic, one a line; none names Basel."""
    others = [place for place in PLACES if "basel" not in place]
    path.write_text("\n".join(with_places(phrases(ORDINARY, 0), others)) + "\n", encoding="utf-8")


# The log


@dataclass(frozen=True)
class People:
    """Users, each with a home: the index of a postal code and of its canton."""

    codes: list[str]
    cantons: list[str]
    home: np.ndarray
    canton: np.ndarray


def people(rows: list[Row], users: int, draw: np.random.Generator) -> People:
    """Draw a home for each user: a district by its people, then one of its postal codes."""
    size = {code: float(people) for code, _, level, _, people, _ in rows if level == "district"}
    canton_of = {code: parent for code, _, level, parent, _, _ in rows if level == "district"}
    homes = [(code, parent) for code, _, level, parent, _, _ in rows if level == "postal_code"]
    weights = np.array([size[parent] for _, parent in homes])
    cantons = sorted(set(canton_of.values()))
    home = draw.choice(len(homes), users, p=weights / weights.sum())
    canton = np.array([cantons.index(canton_of[parent]) for _, parent in homes])[home]
    return People([code for code, _ in homes], cantons, home, canton)


def events(who: People, week: int, draw: np.random.Generator) -> dict[str, np.ndarray]:
    """Draw one day's searches: who, when in the day, and which topic (0 for none, then influenza and heat waves).

    Interest in heat waves rises from week to week, and differs between cantons; that in influenza falls.
    """
    active = np.flatnonzero(draw.random(len(who.home)) < 0.6)
    user = np.repeat(active, draw.integers(1, 4, len(active)))
    heat = (0.03 + 0.015 * week) * (0.5 + (who.canton[user] * 7 % 26) / 26)
    flu = np.full(len(user), 0.03 / (1 + week))
    drawn = draw.random(len(user))
    return {
        "user_no": user,
        "second": draw.integers(0, 86_400, len(user)),
        "topic": np.where(drawn < heat, 2, np.where(drawn < heat + flu, 1, 0)),
        "coarse": draw.random(len(user)) < 0.03,  # only the canton is known
    }


def texts_of(topic: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    """Draw a text for each search: a phrase of its topic, in two of five with the name of a canton."""
    chosen = np.empty(len(topic), dtype=object)
    for number, text in enumerate((ORDINARY, *TOPICS.values())):
        base = phrases(text)
        all_texts = np.array(with_places(base, PLACES), dtype=object)
        rows = np.flatnonzero(topic == number)
        plain = draw.integers(0, len(base), len(rows))
        named = draw.integers(len(base), len(all_texts), len(rows))
        chosen[rows] = all_texts[np.where(draw.random(len(rows)) < 0.6, plain, named)]
    return chosen


def write_day(path: Path, day: date, found: dict[str, np.ndarray], who: People, texts: np.ndarray) -> None:
    """Write a day's searches as JSON lines, with times in milliseconds since 1970."""
    midnight = int(datetime(day.year, day.month, day.day, tzinfo=ZONE).timestamp()) * 1_000
    searches = {
        "uid": np.char.add("u", found["user_no"].astype(str)).astype(object),
        "ts": midnight + found["second"] * 1_000,
        "ort": np.where(
            found["coarse"],
            np.array(who.cantons, dtype=object)[who.canton[found["user_no"]]],
            np.array(who.codes, dtype=object)[who.home[found["user_no"]]],
        ),
        "suche": texts,
    }  # fmt: skip
    database = duckdb.connect()
    database.register("searches", searches)
    database.execute(f"COPY (SELECT * FROM searches ORDER BY ts) TO '{path}' (FORMAT json)")


def user_days(found: dict[str, np.ndarray], who: People) -> np.ndarray:
    """Count, by canton, the users of a day with any search, and with one about each topic."""
    counts = np.zeros((len(who.cantons), 3), dtype=int)
    for topic in range(3):
        users = found["user_no"] if topic == 0 else found["user_no"][found["topic"] == topic]
        counts[:, topic] = np.bincount(who.canton[np.unique(users)], minlength=len(who.cantons))
    return counts


def write_logs(folder: Path, who: People, weeks: int, draw: np.random.Generator) -> None:
    """Write a file for each day, and the truth: exact user-days by week and canton."""
    (folder / "logs").mkdir(exist_ok=True)
    with (folder / "truth.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("week", "canton", "any", *TOPICS))
        for week in range(weeks):
            monday = FIRST_DAY + timedelta(weeks=week)
            counts = np.zeros((len(who.cantons), 3), dtype=int)
            for day in (monday + timedelta(days=i) for i in range(7)):
                found = events(who, week, draw)
                write_day(folder / "logs" / f"{day}.jsonl", day, found, who, texts_of(found["topic"], draw))
                counts += user_days(found, who)
            writer.writerows((monday, canton, *counts[i]) for i, canton in enumerate(who.cantons))


def main() -> None:
    """Write all files into a folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="the folder to write to")
    parser.add_argument("--users", type=int, default=40_000)
    parser.add_argument("--weeks", type=int, default=2)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    os.umask(0o077)  # a log is readable by its owner only
    draw = np.random.default_rng(options.seed)
    options.out.mkdir(parents=True, exist_ok=True)
    rows = regions(draw)
    write_table(options.out / "regionen.csv", rows)
    write_labels(options.out)
    write_ordinary(options.out / "ordinary.txt")
    write_logs(options.out, people(rows, options.users, draw), options.weeks, draw)


if __name__ == "__main__":
    main()
