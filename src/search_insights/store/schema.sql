-- The store, schema version 4. Everything in it has noise or is public: no event, user or exact count, and no query but
-- the texts of top searches that were shown.

CREATE OR REPLACE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL);

-- Every change of spec or geography, the first of them the beginning of the store. Those of counting begin an edition.
CREATE OR REPLACE TABLE changes (
    number INTEGER PRIMARY KEY, kind TEXT NOT NULL, from_week DATE, spec TEXT NOT NULL, geography TEXT NOT NULL,
    reason TEXT NOT NULL, recorded_at TEXT NOT NULL, crosswalk TEXT NOT NULL, keeps_scale BOOLEAN NOT NULL
);

-- Every spec and every geography that a change names, by fingerprint.
CREATE OR REPLACE TABLE specs (fingerprint TEXT PRIMARY KEY, toml TEXT NOT NULL);
CREATE OR REPLACE TABLE geographies (fingerprint TEXT PRIMARY KEY, source TEXT NOT NULL);
CREATE OR REPLACE TABLE regions (
    number INTEGER NOT NULL, code TEXT NOT NULL, name TEXT NOT NULL, level TEXT NOT NULL, parent TEXT,
    population BIGINT, land_area_km2 DOUBLE, latitude DOUBLE, longitude DOUBLE, place_id TEXT NOT NULL,
    geography TEXT NOT NULL
);

-- The public list of cells of each edition, the same for every week of it.
CREATE OR REPLACE TABLE cells (
    cell INTEGER NOT NULL, place_id TEXT NOT NULL, category TEXT NOT NULL, sigma DOUBLE NOT NULL,
    edition INTEGER NOT NULL
);

-- The noisy counts of every week that was released, and the ledger entry that was committed with them.
CREATE OR REPLACE TABLE counts (week DATE NOT NULL, cell INTEGER NOT NULL, noisy BIGINT NOT NULL);

CREATE OR REPLACE TABLE ledger (
    week DATE PRIMARY KEY, committed_at TEXT NOT NULL, epsilon DOUBLE NOT NULL, delta DOUBLE NOT NULL,
    mechanism TEXT NOT NULL, cells INTEGER NOT NULL, checksum TEXT NOT NULL, spec TEXT NOT NULL,
    geography TEXT NOT NULL, engine TEXT NOT NULL, program TEXT NOT NULL, missing_days TEXT NOT NULL,
    classifier TEXT NOT NULL, naive_zone TEXT NOT NULL, begins_at TEXT NOT NULL, ends_at TEXT NOT NULL,
    times TEXT NOT NULL, zone_data TEXT NOT NULL, time_column TEXT NOT NULL, top_searches TEXT NOT NULL,
    vocabulary TEXT NOT NULL
);

-- Top searches: the public list of texts that were shown, which only grows; of each week, how long the list was, and the
-- week that it is compared with; and the noisy counts. Region 0 is the total, then come those of the coarsest level.
CREATE OR REPLACE TABLE top_texts (
    number INTEGER PRIMARY KEY, text TEXT NOT NULL, category TEXT NOT NULL, cluster TEXT NOT NULL,
    first_week DATE NOT NULL
);
CREATE OR REPLACE TABLE top_weeks (week DATE PRIMARY KEY, texts INTEGER NOT NULL, compared_with DATE);
CREATE OR REPLACE TABLE top_counts (
    week DATE NOT NULL, text INTEGER NOT NULL, region INTEGER NOT NULL, noisy BIGINT NOT NULL
);

-- The models that classified the queries of a week, each with its public facts (name, labels, what was measured), as JSON.
CREATE OR REPLACE TABLE models (fingerprint TEXT PRIMARY KEY, facts TEXT NOT NULL);

-- Weeks that the store does not hold and never will, each with the publisher's reason.
CREATE OR REPLACE TABLE lost (
    week DATE PRIMARY KEY, begins_at TEXT NOT NULL, ends_at TEXT NOT NULL, reason TEXT NOT NULL,
    recorded_at TEXT NOT NULL
);

-- What a release fixed for all later ones (post-processing of noisy counts), until a change asks for it to be fixed anew.
-- Scaling has one row for each change and trend (an empty one: all trends), sparsity one for each change and edition.
CREATE OR REPLACE TABLE scaling (
    factor DOUBLE NOT NULL, first_week DATE NOT NULL, last_week DATE NOT NULL, weeks INTEGER NOT NULL,
    fixed_at TEXT NOT NULL, change INTEGER NOT NULL, trend TEXT NOT NULL
);
CREATE OR REPLACE TABLE sparsity (
    first_week DATE NOT NULL, last_week DATE NOT NULL, removed TEXT[] NOT NULL, fixed_at TEXT NOT NULL,
    withdrawn TEXT[] NOT NULL, change INTEGER NOT NULL, edition INTEGER NOT NULL
);

-- Changes of published values, each with the publisher's reason.
CREATE OR REPLACE TABLE corrections (recorded_at TEXT NOT NULL, changed_values INTEGER NOT NULL, reason TEXT NOT NULL);

-- What readers should know of weeks that are final, in the publisher's words.
CREATE OR REPLACE TABLE notes (week DATE NOT NULL, reason TEXT NOT NULL, recorded_at TEXT NOT NULL);
