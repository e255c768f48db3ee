"""What a column for each level costs `anonymize`, next to one column of regions, in one run.

    python -m evidence.benchmarks.level_columns [--events 50e6] [--rounds 3]

The same log is anonymized by its column `region`, and by columns for two and for three levels. The ways are measured in
turn, several times, and the least time of each is taken, because other work on the machine only ever adds time.
"""

import sys
import tempfile
from pathlib import Path

from evidence.inputs import MONDAY, make_log
from evidence.measuring import PROGRAM, Result, parser_of, print_result
from evidence.watched import watch

MOST = 1.10
WAYS = {
    "one column": (),
    "county and postal code": ("county=county", "postal_code=zip"),
    "state, county and postal code": ("state=state", "county=county", "postal_code=zip"),
}


def command(log: Path, columns: tuple[str, ...]) -> float:
    """Run the whole command; return its seconds."""
    options = [word for column in columns for word in ("--column", column)]
    with tempfile.TemporaryDirectory() as scratch:
        store = ["--store", f"{scratch}/store.db", "--week", str(MONDAY)]
        return watch([PROGRAM, "anonymize", str(log), *store, *options]).seconds


def main() -> int:
    """Measure each way."""
    parser = parser_of(__doc__)
    parser.add_argument("--events", type=float, default=50e6)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        log = Path(name)
        make_log(log, int(args.events))
        rounds = [{way: command(log, columns) for way, columns in WAYS.items()} for _ in range(args.rounds)]
    best = {way: min(found[way] for found in rounds) for way in WAYS}
    ratios = {way: round(seconds / best["one column"], 3) for way, seconds in best.items()}
    showed = f"{args.events / 1e6:g} million searches: " + ", ".join(
        f"{way} {best[way]:.1f} s ({ratio:.2f} times)" for way, ratio in ratios.items()
    )
    two = ratios["county and postal code"]
    broken = [f"two columns cost {two:.2f} times one; at most {MOST}"] if two > MOST else []
    return print_result(Result(showed, {"seconds": best, "ratios": ratios}, [], broken))


if __name__ == "__main__":
    sys.exit(main())
