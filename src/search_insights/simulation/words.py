"""What simulated searches are made of: word lists, and templates that combine them.

A template names lists in angle brackets; `{place}` is a placeholder for the name of a place. No text is a real search.
"""

PLACE = "{place}"


def _list(text: str) -> tuple[str, ...]:
    """Split at commas and collapse line breaks."""
    return tuple(" ".join(item.split()) for item in text.split(","))


WORDS = {
    "vaccine": _list("""
        covid vaccine, vaccine, covid shot, covid 19 vaccine, coronavirus vaccine, covid vaccination
    """),
    "brand": _list("""
        pfizer, moderna, johnson and johnson, j&j, astrazeneca, janssen, pfizer biontech
    """),
    "pharmacy": _list("""
        cvs, walgreens, rite aid, walmart, costco, kroger, safeway, publix, heb, hyvee, giant, meijer, wegmans, sams
        club, albertsons, giant eagle, stop and shop, winn dixie, kaiser, va
    """),
    "local_provider": _list("""
        health department, county health department, community clinic, regional hospital, medical center, fairgrounds,
        family pharmacy, high school
    """),
    "people": _list("""
        teachers, seniors, over 65, over 75, over 50, nurses, kids, teenagers, 12 year olds, veterans, essential
        workers, diabetics, asthma patients, grocery workers, college students, smokers, homebound
    """),
    "reaction": _list("""
        side effects, fever, sore arm, rash, headache, chills, blood clots, allergic reaction, fatigue, swollen lymph
        nodes, myocarditis, nausea, dizziness, heart palpitations, hives, anaphylaxis, body aches, diarrhea, tinnitus,
        bells palsy, shingles, insomnia, vertigo, deaths, miscarriage
    """),
    "condition": _list("""
        pregnant, breastfeeding, diabetic, on blood thinners, allergic to penicillin, immunocompromised, over 80, trying
        to conceive, allergic to eggs, asthmatic, with lupus, with ms, with high blood pressure
    """),
    "ask": _list("""
        how to find, what is, where to buy, when to get, why is, who does, how much is, cheap, free, best, new, help
        with, is it worth, problems with, how long does, can you get, do i need
    """),
    "detail": _list("""
        cost, price, reviews, today, tomorrow, online, phone number, opening hours, ideas, guide, tips, advice, for
        beginners, news, 2021, safety, laws, grants, forum, pictures, video, delivery, services, companies, rules, size,
        types, comparison, used, second hand, at home, installation
    """),
    "site": _list("""
        facebook, youtube, amazon, gmail, google maps, netflix, ebay, twitter, instagram, walmart, weather, craigslist,
        yahoo mail, zillow, reddit, espn, pinterest, linkedin, paypal, etsy, hulu, tiktok, translate, zoom, indeed,
        target, home depot, lowes, best buy, usps tracking, roblox, fox news, cnn, bank of america login, wells fargo
        login, speed test, calculator, solitaire, wordle
    """),
    "thing": _list("""
        lawn mower, air fryer, running shoes, wedding dress, office chair, used car, sofa, dishwasher, tv stand, puppy,
        kitten, guitar, bicycle, laptop, headphones, phone case, winter coat, camping tent, grill, water heater,
        mattress, garage door, sewing machine, fish tank, coffee maker, blender, space heater, trampoline, kayak, fence,
        printer, router, rug, curtains, crib, stroller, snow blower, toaster, drill, ladder, backpack, sunglasses,
        watch, perfume, vacuum cleaner, bunk bed, hot tub, lamp
    """),
    "shop": _list("""
        for sale, reviews, near me, repair, cheap, black friday, parts, how to clean, dimensions, on sale, under 100,
        for kids, used, rental, amazon, walmart, with free shipping, return policy, warranty, manual, assembly, size
        guide, accessories, diy, ideas, brands, vs, made in usa, coupon, storage
    """),
    "food": _list("""
        chicken, banana bread, lasagna, meatloaf, chili, pancake, salmon, pot roast, tofu, zucchini, apple pie, shrimp,
        beef stew, cheesecake, pork chops, potato salad, cornbread, tacos, fried rice, carrot cake, quinoa, lentil soup,
        brownies, ribs, eggplant, crepes, ramen, gumbo, biscuits, pesto
    """),
    "cook": _list("""
        recipe, recipe easy, in oven, air fryer, slow cooker, calories, instant pot, gluten free, vegan, how long to
        bake, without eggs, for two, keto, sauce, seasoning, temperature, side dishes, leftover ideas
    """),
    "subject": _list("""
        taxes, unemployment, stimulus check, mortgage rates, passport renewal, drivers license, real estate license,
        student loans, car insurance, credit score, social security, jury duty, medicare, food stamps, divorce, bitcoin,
        stocks, gas prices, minimum wage, voting, hunting license, small business loan, retirement, flu shot, shingles
        vaccine, covid test, covid symptoms, covid cases, strep throat, back pain, allergies, migraine, diabetes,
        anxiety, high blood pressure, acid reflux, dog vaccination, ear infection, keto diet
    """),
    "team": _list("""
        lakers, yankees, cowboys, patriots, warriors, cubs, packers, celtics, dodgers, chiefs, bulls, mets, steelers,
        heat, red sox, eagles, nets, braves, bears, giants, astros, rams, knicks, phillies
    """),
    "sport": _list("""
        score, schedule, roster, tickets, news, game today, trade rumors, highlights, standings, jersey
    """),
    "pastime": _list("""
        chess, yoga, knitting, fishing, hiking, bowling, gardening, poker, crossword, karaoke, pilates, photography,
        surfing, painting, origami, ballet, archery, birdwatching, pottery, dominoes, woodworking, skateboarding
    """),
    "about": _list("""
        classes, near me, for beginners, rules, equipment, club, videos, tips, books, history, lessons, games, pictures,
        quotes, gifts, shoes, app, benefits, music, ideas, competition, tattoo, jokes
    """),
    "kind": _list("""
        small, large, electric, wooden, vintage, portable, black, white, folding, outdoor, kids, modern, cordless,
        antique, professional, waterproof, blue, red, heavy duty, mini
    """),
    "dish": _list("""
        easy, healthy, homemade, best, spicy, quick, baked, moms, crispy, low carb
    """),
    "do": _list("""
        fix, clean, move, paint, assemble, install, sell, choose, pack, recycle, draw, fix a broken
    """),
    "matter": _list("""
        2021, office, phone number, calculator, rules, deadline, status, application, requirements, help, online, near
        me, by state, explained, news, today, for seniors, for veterans, for students, reddit, symptoms, causes,
        treatment, at home, in children, doctor, diet, medicine, pdf, form, website
    """),
    "question": _list("""
        what is, how to apply for, how to get, who pays for, can i lose my, why is there, how long does
    """),
}
# Some people name the maker.
WORDS["vaccine"] += tuple(
    f"{brand} {word}" for brand in WORDS["brand"] for word in ("vaccine", "covid vaccine", "shot")
)

# Templates of topics with words of their own, by the topic's name in the spec.
TOPIC_TEMPLATES = {
    "vaccination_intent": _list("""
        <vaccine> near me, <vaccine> {place}, <vaccine> appointment, <vaccine> appointment {place}, <pharmacy>
        <vaccine>, <pharmacy> <vaccine> appointment, <pharmacy> <vaccine> {place}, where to get <vaccine>, when can
        <people> get the <vaccine>, <vaccine> sign up {place}, <vaccine> eligibility {place}, <vaccine> registration,
        who is eligible for <vaccine>, <vaccine> for <people> {place}, {place} <vaccine> sites, <vaccine> walk in
        {place}, is the <vaccine> free, <vaccine> waitlist {place}, book <vaccine>, <pharmacy> <vaccine> scheduler,
        second dose <vaccine> appointment, {place} <local_provider> <vaccine>, <vaccine> {place} <local_provider>, drive
        through <vaccine> {place}, phase 1b <vaccine> {place}, <vaccine> sign up for <people>
    """),
    "safety_side_effects": _list("""
        <vaccine> side effects, <vaccine> <reaction>, is the <vaccine> safe, <reaction> after <vaccine>, <reaction>
        after second <vaccine>, can <vaccine> cause <reaction>, is <vaccine> safe if <condition>, <vaccine> <condition>,
        how long does <reaction> last after <vaccine>, how many <vaccine> deaths, <vaccine> long term side effects,
        should i get the <vaccine> if <condition>, <vaccine> second dose <reaction>, tylenol before <vaccine>, <vaccine>
        infertility, is <reaction> normal after <vaccine>, vaers <vaccine>
    """),
    "other_vaccination": _list("""
        <vaccine>, <vaccine> news, how does the <vaccine> work, <vaccine> efficacy, <vaccine> vs <brand>, <vaccine>
        ingredients, how many people have had the <vaccine>, <vaccine> trial results, <vaccine> approval, <vaccine>
        card, <vaccine> mandate {place}, how long does <vaccine> last, <vaccine> variants, <vaccine> mrna, do i need a
        mask after <vaccine>, <vaccine> tracker, percent vaccinated {place}, <vaccine> lottery {place}, <vaccine> trial
        for <people>, do <people> need the <vaccine>, is the <vaccine> required for <people>, which is better <brand> or
        <brand>, <vaccine> how many doses, <vaccine> passport, how was the <vaccine> made so fast, <vaccine>
        effectiveness <people>, <vaccine> update today, <vaccine> conspiracy
    """),
}

# Templates of any other topic: its name, in the ways people ask for things.
GENERIC_TEMPLATES = _list("""
    <topic>, <topic> near me, <topic> {place}, <ask> <topic>, <topic> <detail>, <ask> <topic> <detail>, <topic>
    <detail> {place}, best <topic> <detail>, <topic> for <people>, <ask> <topic> for <people>
""")

ORDINARY_TEMPLATES = _list("""
    weather {place}, {place} news, restaurants {place}, {place} zip code, homes for sale {place}, {place} high
    school, jobs in {place}, things to do in {place}, {place} library, pizza {place}, dentist {place}, {place}
    traffic, apartments {place}, hotels in {place}, {place} obituaries, movies {place}, gas prices {place}, {place}
    map, covid testing {place}, covid cases {place}, {place} school closings, mexican food {place}, plumber {place},
    {place} county clerk, dmv {place}, car wash {place}, {place} police department, population of {place}, <site>,
    <site> login, <site> app, <site> customer service, <thing>, <thing> <shop>, best <thing>, <kind> <thing>, <kind>
    <thing> <shop>, how to <do> <thing>, <thing> <shop> {place}, <food> <cook>, <dish> <food> <cook>, <subject>,
    <subject> <matter>, <question> <subject>, <question> <subject> <matter>, <subject> <matter> {place}, <team>
    <sport>, <team> vs <team>, <pastime> <about>, <pastime>
    <about> {place}
""")
