"""The texts of simulated searches: short, misspelt, local, as people type.

Texts are made from word lists, so no one's real searches are in a log. A text may have a gap for the name of the place
that it is typed in. Popular texts come first: the lower its number, the more often a text is drawn.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from search_insights.simulate_population import generator
from search_insights.spec import Spec

PLACE = "{place}"
MISSPELT = 0.12  # share of the texts that have a slip of the finger

_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_UNIT = 2.0**-32

_VACCINE = ("covid vaccine", "vaccine", "covid shot", "covid 19 vaccine", "coronavirus vaccine", "covid vaccination")
_BRAND = ("pfizer", "moderna", "johnson and johnson", "j&j", "astrazeneca", "janssen", "pfizer biontech")
_BRANDED = tuple(f"{brand} {word}" for brand in _BRAND for word in ("vaccine", "covid vaccine", "shot"))
_ANY_VACCINE = (*_VACCINE, *_BRANDED)
_PHARMACY = (
    "cvs", "walgreens", "rite aid", "walmart", "costco", "kroger", "safeway", "publix", "heb", "hyvee", "giant",
    "meijer", "wegmans", "sams club", "albertsons", "giant eagle", "stop and shop", "winn dixie", "kaiser", "va",
)  # fmt: skip
_PEOPLE = (
    "teachers", "seniors", "over 65", "over 75", "over 50", "nurses", "kids", "teenagers", "12 year olds", "veterans",
    "essential workers", "diabetics", "asthma patients", "grocery workers", "college students", "smokers", "homebound",
)  # fmt: skip
_REACTION = (
    "side effects", "fever", "sore arm", "rash", "headache", "chills", "blood clots", "allergic reaction", "fatigue",
    "swollen lymph nodes", "myocarditis", "nausea", "dizziness", "heart palpitations", "hives", "anaphylaxis",
    "body aches", "diarrhea", "tinnitus", "bells palsy", "shingles", "insomnia", "vertigo", "deaths", "miscarriage",
)  # fmt: skip
_CONDITION = (
    "pregnant", "breastfeeding", "diabetic", "on blood thinners", "allergic to penicillin", "immunocompromised",
    "over 80", "trying to conceive", "allergic to eggs", "asthmatic", "with lupus", "with ms", "with high blood pressure",
)  # fmt: skip

# Forms of each topic that has words of its own, by its name in the spec; words in <> stand for every word of a list.
_TOPIC_FORMS: dict[str, tuple[str, ...]] = {
    "vaccination_intent": (
        "<vaccine> near me", "<vaccine> {place}", "<vaccine> appointment", "<vaccine> appointment {place}",
        "<pharmacy> <vaccine>", "<pharmacy> <vaccine> appointment", "<pharmacy> <vaccine> {place}", "where to get <vaccine>",
        "when can <people> get the <vaccine>", "<vaccine> sign up {place}", "<vaccine> eligibility {place}", "<vaccine> registration",
        "who is eligible for <vaccine>", "<vaccine> for <people> {place}", "{place} <vaccine> sites", "<vaccine> walk in {place}",
        "is the <vaccine> free", "<vaccine> waitlist {place}", "book <vaccine>", "<pharmacy> <vaccine> scheduler",
        "second dose <vaccine> appointment", "drive through <vaccine> {place}", "phase 1b <vaccine> {place}",
        "<vaccine> sign up for <people>",
    ),
    "safety_side_effects": (
        "<vaccine> side effects", "<vaccine> <reaction>", "is the <vaccine> safe", "<reaction> after <vaccine>",
        "<reaction> after second <vaccine>", "can <vaccine> cause <reaction>", "is <vaccine> safe if <condition>",
        "<vaccine> <condition>", "how long does <reaction> last after <vaccine>", "how many <vaccine> deaths",
        "<vaccine> long term side effects", "should i get the <vaccine> if <condition>", "<vaccine> second dose <reaction>",
        "tylenol before <vaccine>", "<vaccine> infertility", "is <reaction> normal after <vaccine>", "vaers <vaccine>",
    ),
    "other_vaccination": (
        "<vaccine>", "<vaccine> news", "how does the <vaccine> work", "<vaccine> efficacy", "<vaccine> vs <brand>",
        "<vaccine> ingredients", "how many people have had the <vaccine>", "<vaccine> trial results", "<vaccine> approval",
        "<vaccine> card", "<vaccine> mandate {place}", "how long does <vaccine> last", "<vaccine> variants", "<vaccine> mrna",
        "do i need a mask after <vaccine>", "<vaccine> tracker", "percent vaccinated {place}", "<vaccine> lottery {place}",
        "<vaccine> trial for <people>", "do <people> need the <vaccine>", "is the <vaccine> required for <people>", "which is better <brand> or <brand>", "<vaccine> how many doses", "<vaccine> passport",
        "how was the <vaccine> made so fast", "<vaccine> effectiveness <people>", "<vaccine> update today", "<vaccine> conspiracy",
    ),
}  # fmt: skip

# For a topic without words of its own: its name, in the ways people ask for things.
_PLAIN_FORMS = (
    "<topic>", "<topic> near me", "<topic> {place}", "<ask> <topic>", "<topic> <detail>", "<ask> <topic> <detail>",
    "<topic> <detail> {place}", "best <topic> <detail>", "<topic> for <people>", "<ask> <topic> for <people>",
)  # fmt: skip
_ASK = (
    "how to find", "what is", "where to buy", "when to get", "why is", "who does", "how much is", "cheap", "free",
    "best", "new", "help with", "is it worth", "problems with", "how long does", "can you get", "do i need",
)  # fmt: skip
_DETAIL = (
    "cost", "price", "reviews", "today", "tomorrow", "online", "phone number", "opening hours", "ideas", "guide", "tips",
    "advice", "for beginners", "news", "2021", "safety", "laws", "grants", "forum", "pictures", "video", "delivery",
    "services", "companies", "rules", "size", "types", "comparison", "used", "second hand", "at home", "installation",
)  # fmt: skip

_SITES = (
    "facebook", "youtube", "amazon", "gmail", "google maps", "netflix", "ebay", "twitter", "instagram", "walmart",
    "weather", "craigslist", "yahoo mail", "zillow", "reddit", "espn", "pinterest", "linkedin", "paypal", "etsy", "hulu",
    "tiktok", "translate", "zoom", "indeed", "target", "home depot", "lowes", "best buy", "usps tracking", "roblox",
    "fox news", "cnn", "bank of america login", "wells fargo login", "speed test", "calculator", "solitaire", "wordle",
)  # fmt: skip
_THING = (
    "lawn mower", "air fryer", "running shoes", "wedding dress", "office chair", "used car", "sofa", "dishwasher", "tv stand",
    "puppy", "kitten", "guitar", "bicycle", "laptop", "headphones", "phone case", "winter coat", "camping tent", "grill",
    "water heater", "mattress", "garage door", "sewing machine", "fish tank", "coffee maker", "blender", "space heater",
    "trampoline", "kayak", "fence", "printer", "router", "rug", "curtains", "crib", "stroller", "snow blower", "toaster",
    "drill", "ladder", "backpack", "sunglasses", "watch", "perfume", "vacuum cleaner", "bunk bed", "hot tub", "lamp",
)  # fmt: skip
_SHOP = (
    "for sale", "reviews", "near me", "repair", "cheap", "black friday", "parts", "how to clean", "dimensions", "on sale",
    "under 100", "for kids", "used", "rental", "amazon", "walmart", "with free shipping", "return policy", "warranty",
    "manual", "assembly", "size guide", "accessories", "diy", "ideas", "brands", "vs", "made in usa", "coupon", "storage",
)  # fmt: skip
_FOOD = (
    "chicken", "banana bread", "lasagna", "meatloaf", "chili", "pancake", "salmon", "pot roast", "tofu", "zucchini",
    "apple pie", "shrimp", "beef stew", "cheesecake", "pork chops", "potato salad", "cornbread", "tacos", "fried rice",
    "carrot cake", "quinoa", "lentil soup", "brownies", "ribs", "eggplant", "crepes", "ramen", "gumbo", "biscuits", "pesto",
)  # fmt: skip
_COOK = (
    "recipe", "recipe easy", "in oven", "air fryer", "slow cooker", "calories", "instant pot", "gluten free", "vegan",
    "how long to bake", "without eggs", "for two", "keto", "sauce", "seasoning", "temperature", "side dishes", "leftover ideas",
)  # fmt: skip
_SUBJECT = (
    "taxes", "unemployment", "stimulus check", "mortgage rates", "passport renewal", "drivers license", "real estate license",
    "student loans", "car insurance", "credit score", "social security", "jury duty", "medicare", "food stamps", "divorce",
    "bitcoin", "stocks", "gas prices", "minimum wage", "voting", "hunting license", "small business loan", "retirement",
    "flu shot", "shingles vaccine", "covid test", "covid symptoms", "covid cases", "strep throat", "back pain", "allergies",
    "migraine", "diabetes", "anxiety", "high blood pressure", "acid reflux", "dog vaccination", "ear infection", "keto diet",
)  # fmt: skip
_PLACE_FORMS = (
    "weather {place}", "{place} news", "restaurants {place}", "{place} zip code", "homes for sale {place}", "{place} high school",
    "jobs in {place}", "things to do in {place}", "{place} library", "pizza {place}", "dentist {place}", "{place} traffic",
    "apartments {place}", "hotels in {place}", "{place} obituaries", "movies {place}", "gas prices {place}", "{place} map",
    "covid testing {place}", "covid cases {place}", "{place} school closings", "mexican food {place}", "plumber {place}",
    "{place} county clerk", "dmv {place}", "car wash {place}", "{place} police department", "population of {place}",
)  # fmt: skip
_TEAM = (
    "lakers", "yankees", "cowboys", "patriots", "warriors", "cubs", "packers", "celtics", "dodgers", "chiefs", "bulls", "mets",
    "steelers", "heat", "red sox", "eagles", "nets", "braves", "bears", "giants", "astros", "rams", "knicks", "phillies",
)  # fmt: skip
_SPORT = ("score", "schedule", "roster", "tickets", "news", "game today", "trade rumors", "highlights", "standings", "jersey")
_WHO = (
    "taylor swift", "joe biden", "elon musk", "beyonce", "tom brady", "dolly parton", "lebron james", "oprah", "bts", "drake",
    "betty white", "bill gates", "keanu reeves", "adele", "tiger woods", "serena williams", "meghan markle", "zendaya", "cher",
)  # fmt: skip
_ABOUT = (
    "age", "net worth", "height", "husband", "songs", "movies", "kids", "house", "instagram", "tour", "young", "quotes",
    "news", "interview", "birthday", "diet", "book", "twitter", "documentary", "wife", "real name", "hair", "dog", "today",
)  # fmt: skip
_ORDINARY_FORMS = (
    "<site>", "<site> login", "<site> app", "<site> customer service", "<thing>", "<thing> <shop>", "best <thing>",
    "best <thing> <shop>", "<ask> <thing>", "<ask> <thing> <detail>", "<food> <cook>", "<ask> <food> <cook>", "<subject>",
    "<subject> <detail>", "<ask> <subject>", "<ask> <subject> <detail>", "<team> <sport>", "<team> vs <team>", "<who> <about>",
    "<who> and <who>", "<thing> <shop> {place}", "<subject> <detail> {place}",
)  # fmt: skip

_LISTS = {
    "vaccine": _ANY_VACCINE, "brand": _BRAND, "pharmacy": _PHARMACY, "people": _PEOPLE, "reaction": _REACTION,
    "condition": _CONDITION, "ask": _ASK, "detail": _DETAIL, "site": _SITES, "thing": _THING, "shop": _SHOP, "food": _FOOD,
    "cook": _COOK, "subject": _SUBJECT, "team": _TEAM, "sport": _SPORT, "who": _WHO, "about": _ABOUT,
}  # fmt: skip


@dataclass(frozen=True)
class QueryTexts:
    """All texts, those of one topic together: ordinary ones first, then the topics in the order of the spec."""

    texts: tuple[str, ...]
    first: npt.NDArray[np.int64]
    count: npt.NDArray[np.int64]
    local: npt.NDArray[np.bool_]

    def draw(
        self, bits: npt.NDArray[np.uint32], topic: npt.NDArray[np.uint8]
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
        """Draw a text for each event, popular ones more often: its number from 1, and whether it names the place."""
        uniform = bits[0] * _UNIT
        rank = (self.count[topic] * (uniform * uniform * uniform)).astype(np.int64)
        which = self.first[topic] + rank
        return (which + 1).astype(np.int32), self.local[which]

    def halves(self) -> tuple[list[str], list[str]]:
        """Give what stands before and after the name of the place; all of it before where no place is named."""
        parts = [text.partition(PLACE) for text in self.texts]
        return [before for before, _, _ in parts], [after for _, _, after in parts]


def query_texts(spec: Spec, seed: int) -> QueryTexts:
    """Make the texts of ordinary searches and of every topic of a spec."""
    rng = generator(seed, "queries")
    names = {category.id: category.name for category in spec.categories}
    pools = [_pool(rng, (*_PLACE_FORMS, *_expanded(_ORDINARY_FORMS, "")))]
    for topic in spec.topics:
        words = names[topic].replace("_", " ").replace("-", " ").lower()
        forms = _TOPIC_FORMS.get(names[topic], _PLAIN_FORMS)
        pools.append(_pool(rng, tuple(_expanded(forms, words))))
    sizes = [len(pool) for pool in pools]
    texts = tuple(text for pool in pools for text in pool)
    local = np.array([PLACE in text for text in texts])
    return QueryTexts(texts, np.cumsum([0, *sizes[:-1]]), np.array(sizes), local)


def _expanded(forms: Sequence[str], topic: str) -> Iterator[str]:
    """Write out every form with every word of the lists that it names."""
    for form in forms:
        parts = form.replace("<topic>", topic).replace("<", ">").split(">")  # odd parts are the names of lists
        choices = [(part,) if i % 2 == 0 else _LISTS[part] for i, part in enumerate(parts)]
        for words in product(*choices):
            yield "".join(words)


def _pool(rng: np.random.Generator, texts: Sequence[str]) -> list[str]:
    """Put texts into an order of popularity, mostly short ones first, and misspelt ones last."""
    order = np.argsort(np.array([len(text) for text in texts]) * rng.random(len(texts)))
    slips = rng.random((len(texts), 3))
    plain = [texts[i] for i in order]
    misspelt = [_slip(texts[i], *slips[i]) for i in order if slips[i, 2] < MISSPELT]
    return plain + misspelt


def _slip(text: str, where: float, what: float, _: float) -> str:
    """Make one slip of the finger: a letter left out, doubled, swapped with the next, or another one."""
    letters = [i for i, letter in enumerate(text) if letter in _ALPHABET and not _in_gap(text, i)]
    if not letters:
        return text
    i = letters[int(where * len(letters))]
    slips = (
        text[:i] + text[i + 1 :],
        text[:i] + text[i] + text[i:],
        text[:i] + text[i + 1 : i + 2] + text[i] + text[i + 2 :],
        text[:i] + _ALPHABET[int(what * 997) % len(_ALPHABET)] + text[i + 1 :],
    )
    slip = slips[int(what * len(slips))]
    return slip if (PLACE in slip) == (PLACE in text) else text


def _in_gap(text: str, i: int) -> bool:
    begin = text.find(PLACE)
    return begin >= 0 and begin <= i < begin + len(PLACE)
