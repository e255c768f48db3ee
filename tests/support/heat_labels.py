"""Made-up labels in German, few as a new publisher has them: heat waves, and other searches of a Swiss region.

Only labels of heat waves name Basel-Stadt, as happened in a trial: the model then took the place for the topic.
"""

import numpy as np

from search_insights.spec.geography import Geography, Region, build_geography
from search_insights.spec.spec import Spec
from search_insights.support.arrays import Numbers

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
    "fussball resultate", "steuererklärung frist", "post öffnungszeiten", "velo kaufen", "schuhe damen", "bahnhof parkplatz",
    "kaffeemaschine test", "hotel buchen", "horoskop löwe", "lidl prospekt", "klavier lernen", "flug lissabon",
    "impfung katze", "auto versicherung", "netflix serien", "blitzer", "sitzecke küche", "heizung entlüften", "schule ferien",
    "gesundheit krankenkasse", "museum heute", "zug zürich", "bern märit", "aargau news", "konzert zürich",
)  # fmt: skip
# Texts that no label is like, and that name a place which only labels of heat waves name.
UNSEEN = (
    "kino basel-stadt", "zoo basel", "steueramt basel-stadt", "restaurant basel-stadt", "stadtplan basel",
    "basel-stadt", "basel-landschaft gemeinden", "museumsnacht basel", "friseur basel-landschaft", "wahlen basel-stadt",
    "stellen basel-stadt", "basel-stadt schulferien", "spital basel-stadt", "parkhaus basel-stadt", "flohmarkt basel-stadt",
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
    things = ("kino", "zoo", "restaurant", "friseur", "wahlen", "stellen", "tram", "markt", "post", "bank", "velo", "arzt")
    details = ("heute", "morgen", "öffnungszeiten", "preise", "adresse", "telefon", "bewertung", "gegen", "ende", "kinder")
    return [f"{thing} {detail}" for thing in things for detail in details] + [f"{thing} basel" for thing in things]


def swiss_places() -> Geography:
    """Return a geography of a few places."""
    top = Region("CH", "Schweiz", "country", None, None, None, None, None, "ch")
    cantons = [Region(f"CH-{i}", name.title(), "canton", "ch", 300_000, 100.0, None, None, f"ch/{i}") for i, name in enumerate(PLACES)]
    return build_geography([top, *cantons], "made up")
