"""What other libraries read is the log that this program reads."""

from pathlib import Path

from evidence.measuring import united_states
from evidence.peer_log import make_logs
from search_insights.support.sql import connect


def test_what_others_read_has_every_search_of_their_share(tmp_path: Path) -> None:
    """The prepared log has a row for each search of the share, with its state, county and postal code."""
    whole, share = make_logs(tmp_path, united_states(), 70_000, [7_000])
    assert whole.ready is None
    assert share.ready is not None
    with connect() as connection:
        rows, known = connection.execute(f"""
            SELECT count(*), count(*) FILTER (WHERE state > 0 AND county > state AND postal_code > county)
            FROM '{share.ready}/log.parquet'""").fetchall()[0]
    assert rows == known == share.events > 5_000
