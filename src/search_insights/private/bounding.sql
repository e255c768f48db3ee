-- Contribution bounding, X1 to X4 (Section 3.1), for the searches of one day.
--
-- In:  events (user_id, category, draw)   category 0 = no topic, 1.. = topics in the order of the spec
-- Out: contributions (user_id, category, open_draw, classed_draw, finest_draw)   category 0 = any search
--
-- A draw is a random number whose low bits hold the event's size class and its place: at most one region of each level
-- (class 0: the place is known only at open levels). So the smallest draw of a set of events picks one of them at
-- random. The three highest bits put events with a known size class before others, then events whose region at the
-- finest classed level (postal code) is reported, then searches about a topic. `draw & 6917529027641081855` is the draw
-- without the second of these bits: it decides everything but the region at that finest level. A draw depends on its
-- own event and a key, and on nothing else.
--
-- Each contribution counts once in its category: at every open level in the region of open_draw's place, at the finest
-- classed level in that of finest_draw's place, and at the other classed levels in that of classed_draw's place. For
-- each user, whatever the events are:
--   X1, X2  one row per user and category, and one region of each level in a place, counted once
--   X4      all classed_draws and finest_draws of a user have one size class: that of the user's smallest draw
--   X3      is enforced where regions become cells: an unreported region has no cell
--
-- The same statements run on every engine (DuckDB, Spark); each ends at a semicolon. A user's draws are a function of
-- the user's events, so a task that runs twice draws the same.
--
-- This relies on: events are of one day and have a user and a known region (the view `events` of bounding.py leaves out
-- others, whose category is below 0), and all regions of a place at classed levels are of the class
-- in the draw (bounding.py, also where the log has a column for each level); a place has one region of each level
-- (region_names.py), its own or the one above a finer one (geography.py).

-- For each topic and size class, one event at random, and one that prefers a reported region.
CREATE OR REPLACE TEMP VIEW topic_draws AS
SELECT
    user_id,
    category,
    draw & 15 AS class,
    min(draw & 6917529027641081855) AS draw,
    min(draw) AS finest_draw
FROM events
WHERE category > 0
GROUP BY user_id, category, class;

-- X4: a user's size class is that of the user's smallest draw: a topic's, if any event about a topic has a class.
-- Topics choose because they are rare: a class drawn from all searches would drop more of what the release is about.
CREATE OR REPLACE TEMP VIEW chosen AS
SELECT user_id, min(draw) & 15 AS class
FROM topic_draws
WHERE class > 0
GROUP BY user_id;

-- Any search: the user's smallest draw, at all levels of its region, and the one that prefers a reported region.
CREATE OR REPLACE TEMP VIEW any_draws AS
SELECT
    user_id,
    min(draw & 6917529027641081855) AS draw,
    min(draw) AS finest_draw
FROM events
GROUP BY user_id;

CREATE OR REPLACE TEMP VIEW any_contributions AS
SELECT
    user_id,
    0 AS category,
    draw AS open_draw,
    CASE WHEN (draw & 15) > 0 THEN draw END AS classed_draw,
    CASE WHEN (draw & 15) > 0 AND (draw & 15) = (finest_draw & 15) THEN finest_draw END AS finest_draw
FROM any_draws;

-- Topics: the smallest draw of all for the open levels, the smallest of the chosen class for the classed levels.
CREATE OR REPLACE TEMP VIEW topic_contributions AS
SELECT
    t.user_id,
    t.category,
    min(t.draw) AS open_draw,
    min(t.draw) FILTER (WHERE t.class = c.class) AS classed_draw,
    min(t.finest_draw) FILTER (WHERE t.class = c.class) AS finest_draw
FROM topic_draws AS t
LEFT JOIN chosen AS c ON t.user_id = c.user_id
GROUP BY t.user_id, t.category;

CREATE OR REPLACE TEMP VIEW contributions AS
SELECT user_id, category, open_draw, classed_draw, finest_draw FROM any_contributions
UNION ALL
SELECT user_id, category, open_draw, classed_draw, finest_draw FROM topic_contributions;
