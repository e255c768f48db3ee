"""Made-up labels in German, few as a new publisher has them: heat waves, and other searches of a Swiss region.

Only labels of heat waves name Basel-Stadt, as happened in a trial: the model then took the place for the topic.
"""

import numpy as np

from search_insights.spec.geography import Geography, Region, build_geography
from search_insights.spec.spec import Spec
from search_insights.spec.spec_file import parse_spec
from search_insights.support.arrays import Numbers

HEAT_SPEC = """
name = "heat-v1"
title = "Searches about heat"
dataset = "heat_search_trends"
time_zone = "Europe/Zurich"
first_day_of_week = "monday"

[promise]
epsilon = 3.0
delta = 1e-6

[[category]]
id = "B0"
name = "any"
[[category]]
id = "B1"
name = "heat_wave"
definition = "Heat waves: warnings, protection at home and at work, and what heat does to people and animals."

[[trend]]
id = "heat"
name = "heat_wave"
title = "Heat waves"
sum_of = ["B1"]
column = "index_heat"

[[level]]
name = "canton"

[total]
level = "country"
sum_of = "canton"

[sigma.canton]
B0 = 10.0
B1 = 5.0

[reporting]
min_area_km2 = 1.0

[reliability]
confidence = 0.8
max_relative_error = 0.1

[sparsity]
max_points = 1
first_week = 2026-06-01
last_week = 2026-07-27

[scaling]
trend = "heat"
maximum = 100.0
"""
PLACES = ("basel-stadt", "basel-landschaft", "bern", "zürich", "aargau")
HEAT = (
    "hitzewelle", "hitzewelle heute", "hitzewarnung", "hitze tipps", "hitze wohnung", "was hilft gegen hitze",
    "hitze schlafen", "hitzeschlag symptome", "sommerhitze", "hitze arbeit erlaubt", "hitzefrei schule",
    "hitze hund", "hitze senioren", "ventilator gegen hitze", "hitze rekord", "hitze wochenende",
    "wie lange bleibt die hitze", "hitze kinder", "hitze baby zimmer", "hitzewelle europa", "tropennacht",
    "tropennächte", "tropennacht schlafen", "tropennacht heute", "hitze büro", "hitze auto", "hitzewelle ende",
    "hitze bauernregel", "hitzetote", "hitze trinken", "hitze kopfschmerzen",
)  # fmt: skip
NONE = (
    "kino", "fahrplan tram", "pizza bestellen", "wetter morgen", "zahnarzt notfall", "wohnung mieten", "rezept lasagne",
    "fussball resultate", "steuererklärung frist", "post öffnungszeiten", "velo kaufen", "schuhe damen", "parkplatz",
    "kaffeemaschine test", "hotel buchen", "horoskop löwe", "lidl prospekt", "klavier lernen", "flug lissabon",
    "impfung katze", "auto versicherung", "netflix serien", "blitzer", "sitzecke küche", "heizung", "schule ferien",
    "gesundheit krankenkasse", "museum heute", "zug zürich", "bern märit", "aargau news", "konzert zürich",
)  # fmt: skip
# Texts that no label is like, and that name a place which only labels of heat waves name.
UNSEEN = (
    "kino basel-stadt", "zoo basel", "steueramt basel-stadt", "restaurant basel-stadt", "stadtplan basel",
    "basel-stadt", "basel-landschaft gemeinden", "museumsnacht basel", "friseur basel-landschaft", "wahlen basel-stadt",
    "stellen basel-stadt", "basel-stadt schulferien", "spital basel-stadt", "parkhaus basel-stadt",
    "flohmarkt basel-stadt",
)  # fmt: skip
UNSEEN_HEAT = ("hitze basel-stadt", "hitzewelle bern", "tropennacht zürich", "hitzewarnung kanton aargau")


def heat_labels() -> tuple[list[str], Numbers]:
    """Return about 130 queries with their category numbers: 1 for heat waves, 0 for none."""
    heat = [*HEAT, *(f"{text} {PLACES[i % 2]}" for i, text in enumerate(HEAT))]
    none = [text for text in NONE if text != "kino"]
    none += [f"{text} {PLACES[2 + i % 3]}" for i, text in enumerate(none)]
    return [*heat, *none], np.array([1] * len(heat) + [0] * len(none))


def ordinary_queries() -> list[str]:
    """Return searches of no topic as a log has them, each a few words."""
    things = (
        "kino",
        "zoo",
        "restaurant",
        "friseur",
        "wahlen",
        "stellen",
        "tram",
        "markt",
        "post",
        "bank",
        "velo",
        "arzt",
    )
    details = (
        "heute",
        "morgen",
        "öffnungszeiten",
        "preise",
        "adresse",
        "telefon",
        "bewertung",
        "gegen",
        "ende",
        "kinder",
    )
    return [f"{thing} {detail}" for thing in things for detail in details] + [f"{thing} basel" for thing in things]


def heat_spec() -> Spec:
    """Return a spec with one topic, heat waves."""
    return parse_spec(HEAT_SPEC)


def swiss_places() -> Geography:
    """Return a geography of a few places."""
    top = Region("CH", "Schweiz", "country", None, None, None, None, None, "ch")
    cantons = [
        Region(f"CH-{i}", name.title(), "canton", "ch", 300_000, 100.0, None, None, f"ch/{i}")
        for i, name in enumerate(PLACES)
    ]
    return build_geography([top, *cantons], "made up")
