-- Contribution bounding, X1 to X4 (Section 3.1), for the searches of one day.
--
-- In:  events (user_id, category, draw)   category 0 = no topic, 1.. = topics in the order of the spec
-- Out: contributions (user_id, category, open_draw, classed_draw)   category 0 = any search
--
-- A draw is a random number whose low bits name the event's region and its size class (0 where the region is known to
-- an open level only), so the least draw of some events is one of them drawn at random. Its two highest bits let
-- events whose size class is known come before others, and then searches about a topic before others. A draw depends
-- on the user's own events and a key, and on nothing else.
--
-- Each contribution is counted once in its category: at every open level by the region of open_draw, and at every
-- classed level by the region of classed_draw. What holds for each user, whatever the events are:
--   X1, X2  one row for a user and category, so one region for each level, counted once
--   X4      every classed_draw of a user is of one size class: that of the user's least draw
--   X3      is kept where regions become cells: an unreported region has none
--
-- Written in what all engines speak alike (DuckDB, Spark): a statement ends at a semicolon, and a user's draws are a
-- function of the user's events, so that a task that runs twice draws the same.
--
-- It relies on: events are of one day and have a user (bounding.py); the class in a draw is that of its region
-- (region_names.py); a region lies in one region of each level above it (geography.py).

-- For each topic, one event drawn from those of each size class.
CREATE OR REPLACE TEMP VIEW topic_draws AS
SELECT user_id, category, (draw >> 20) & 15 AS class, min(draw) AS draw
FROM events
WHERE category > 0
GROUP BY user_id, category, class;

-- X4: a user's size class is that of the user's least draw, which is a topic's if any topic's event has a class.
-- Topics come first because they are rare: a class drawn from all searches would drop more of what the release is about.
CREATE OR REPLACE TEMP VIEW chosen AS
SELECT user_id, (min(draw) >> 20) & 15 AS class
FROM topic_draws
WHERE class > 0
GROUP BY user_id;

CREATE OR REPLACE TEMP VIEW contributions AS
-- Any search: the user's least draw, at all levels that its region has.
SELECT
    user_id,
    0 AS category,
    min(draw) AS open_draw,
    CASE WHEN ((min(draw) >> 20) & 15) > 0 THEN min(draw) END AS classed_draw
FROM events
GROUP BY user_id
UNION ALL
-- Topics: one event drawn from all for the open levels, one of the chosen class for the classed levels.
SELECT
    t.user_id,
    t.category,
    min(t.draw) AS open_draw,
    min(t.draw) FILTER (WHERE t.class = c.class) AS classed_draw
FROM topic_draws AS t
LEFT JOIN chosen AS c ON t.user_id = c.user_id
GROUP BY t.user_id, t.category;
