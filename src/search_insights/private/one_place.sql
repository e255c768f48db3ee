-- Contribution bounding with one place a user-day (X1 to X4, Section 3.1), for the searches of one day.
--
-- In:  events (user_id, category, draw)   category 0 = no topic, otherwise the bit of the topic
-- Out: contributions (user_id, topics, draw)   topics = the bits of all topics that the user searched that day
--
-- Draws are those of bounding.sql: the smallest draw of a set of events picks one of them at random, events with a known
-- size class before others, and then searches about a topic before others. Its low bits hold its place, at most one
-- region of each level.
--
-- Each contribution counts in the place of its draw alone, once at every level that the place has, in every measure by
-- at most one. For each user, whatever the events are:
--   X1, X2  one row per user, one region of each level in a place; a measure of a row is -1, 0 or 1 (spec/measures.py)
--   X4      all regions of a place at classed levels are of one size class
--   X3      is enforced where regions become cells: an unreported region has no cell of its own
--
-- This relies on the same as bounding.sql.

-- Topics are rare: only searches about one are looked at for its bit.
CREATE OR REPLACE TEMP VIEW contributions AS
SELECT
    user_id,
    coalesce(bit_or(category) FILTER (WHERE category > 0), 0) AS topics,
    min(draw) AS draw
FROM events
GROUP BY user_id;
