-- Top searches: one text a user-day, and the users of a week for each text.
--
-- The statements above the line "-- The week" run for the searches of one day, the others once, at the end of the week.
--
-- In:  text_events (user_id, draw, text, draw_and_text)   the events that have a text
--        text: normalised, of a search about a topic, made of the public vocabulary, or its number in the order of texts
--        draw_and_text: both as one value, which the engine compares faster: first by the draw, then by the text
-- Out: day_texts (user_id, text, draw)
--
-- A user-day counts in one text: that of its smallest draw among its searches with a text. So the vocabulary is applied
-- before the draw, and what is drawn depends on the user's own searches of the day alone. Draws are those of
-- bounding.sql; equal draws are searches of one user at one instant in one place, and the first text in order is taken,
-- so that a task that runs twice takes the same. The text counts where it was searched, in the place of its draw.

CREATE OR REPLACE TEMP VIEW day_texts AS
SELECT user_id, min_by(text, draw_and_text) AS text, min(draw) AS draw
FROM text_events
GROUP BY user_id;

-- The week
--
-- In:  week_texts (user_id, text, place)   the texts of all days, or their numbers: at most one row for a user and day
--      text_places (place, region)         the region of the coarsest level in which a place lies; -1 for none
--      known_texts (text)                  the public list: what was shown before
--      text_floor (min_users)
-- Out: candidates (text, users), region_users (number, region, users)
--
-- Users count, not user-days: who searches for a text on several days counts once. So one user-day changes the number of
-- users of one text by at most one, in all and in one region. A text that is not on the public list and has fewer users
-- than the floor is in neither result: it never leaves the engine. Candidates are asked for first, and are then given
-- back with a number each, as counted_texts (text, number): regions are counted for these texts and no others.

CREATE OR REPLACE TEMP VIEW candidates AS
SELECT t.text, t.users
FROM (SELECT text, count(DISTINCT user_id) AS users FROM week_texts GROUP BY text) AS t
LEFT JOIN known_texts AS k ON t.text = k.text
WHERE k.text IS NOT NULL OR t.users >= (SELECT max(min_users) FROM text_floor);

-- The regions
CREATE OR REPLACE TEMP VIEW region_users AS
SELECT c.number, p.region, count(DISTINCT w.user_id) AS users
FROM week_texts AS w
JOIN counted_texts AS c ON w.text = c.text
JOIN text_places AS p ON w.place = p.place
WHERE p.region >= 0
GROUP BY c.number, p.region;
