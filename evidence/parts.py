"""The parts of the evidence: what each measures, how it is called, and about how long it takes."""

from dataclasses import dataclass

PRIVACY, DURABILITY, BENCHMARKS = "privacy", "durability", "benchmarks"


@dataclass(frozen=True)
class Part:
    """One experiment or benchmark; the minutes are on 2 cores, at the default and at the full size."""

    name: str
    group: str
    measures: str
    default: tuple[str, ...]
    full: tuple[str, ...]
    minutes: tuple[float, float]

    @property
    def module(self) -> str:
        """The module that is run."""
        return f"evidence.benchmarks.{self.name}" if self.group == BENCHMARKS else f"evidence.{self.group}"

    @property
    def file(self) -> str:
        """The file of the module, as seen from this folder."""
        return self.module.removeprefix("evidence.").replace(".", "/") + ".py"

    def arguments(self, full: bool) -> tuple[str, ...]:
        """Return the arguments of the module."""
        experiment = () if self.group == BENCHMARKS else (self.name,)
        return (*experiment, *(self.full if full else self.default))

    def command(self, full: bool) -> str:
        """Return the command as a person types it."""
        return " ".join(("python -m", self.module, *self.arguments(full)))

    def limit(self, full: bool) -> float:
        """Return the seconds after which the part is ended: several times what it takes on a quiet machine."""
        return 60 * (5 + 4 * self.minutes[full])


def _privacy(name: str, measures: str, repeats: int, minutes: tuple[float, float]) -> Part:
    return Part(name, PRIVACY, measures, ("--repeats", str(repeats)), (), minutes)


def _durability(name: str, measures: str, share: float, minutes: tuple[float, float]) -> Part:
    return Part(name, DURABILITY, measures, ("--share", f"{share:g}"), (), minutes)


def _benchmark(name: str, measures: str, default: str, full: str, minutes: tuple[float, float]) -> Part:
    return Part(name, BENCHMARKS, measures, tuple(default.split()), tuple(full.split()), minutes)


PARTS = (
    _privacy("audits", "how close attacks on every case of both specs come to the epsilon allowed", 4, (10, 30)),
    _privacy("noticing", "how much too small sigmas must be for the audit to notice", 4, (2, 5)),
    _privacy("noise", "whether drawn noise follows the discrete Gaussian", 4, (2, 5)),
    _privacy("intervals", "how often published intervals contain the exact ratio", 6, (1, 2)),
    _privacy("coverage", "how often intervals contain the truth, summed exactly instead of drawn", 6, (4, 10)),
    _privacy("reconciled", "the same for vaccination-v2, in every region, from the noise of all its counts", 6, (5, 8)),
    _privacy("random-specs", "random specs, geographies and user-days against bounding and accounting", 6, (7, 12)),
    _privacy(
        "rising", "whether texts called rising rose, and how often intervals contain the true change", 2, (1.5, 6)
    ),
    _durability("kills", "SIGKILL before lines of the modules that write", 0.15, (5, 30)),
    _durability("moments", "SIGKILL at random moments of each command", 0.2, (2, 8)),
    _durability("program", "SIGKILL of the installed program at random moments", 0.5, (1, 2)),
    _durability("bits", "single bits flipped in a store and its write-ahead log", 0.25, (1.5, 5)),
    _durability("disk", "a disk that is full at many file sizes", 0.5, (1, 2)),
    _durability("files", "logs of thousands of files", 0.5, (1.5, 3)),
    _durability("load", "days with very many events, users and regions", 0.25, (2, 8)),
    _durability("soak", "many weekly releases with random kills", 0.2, (2, 8)),
    _benchmark(
        "anonymize",
        "time and memory of anonymizing a week, next to DuckDB counting distinct users",
        "--events 50e6 --rounds 4",
        "--events 20e6 50e6 200e6",
        (5, 8),
    ),
    _benchmark(
        "bounding",
        "contributions kept and bias, next to other rules of bounding",
        "--seeds 0 1",
        "--seeds 0 1 2 3 4",
        (1, 2),
    ),
    _benchmark(
        "calibrate",
        "values published with calibrated and optimized sigmas, next to the paper's",
        "--weeks 3",
        "",
        (2, 4),
    ),
    _benchmark(
        "specs",
        "values, errors and coverage of vaccination-v2, next to vaccination-v1 on the same log",
        "--weeks 4",
        "--rounds 4 --record",
        (2, 20),
    ),
    _benchmark(
        "top_searches",
        "what top searches show, how much of it is right, and what they cost in CPU and in trend values",
        "--events 10e6 --cost-events 10e6",
        "--record",
        (4, 15),
    ),
    _benchmark(
        "query_logs",
        "time of anonymizing a log of texts, next to the same log with categories",
        "--events 10e6 --rounds 2",
        "",
        (1, 5),
    ),
    _benchmark(
        "classify",
        "speed and memory of the classifier, next to DuckDB's hash of the same texts",
        "",
        "",
        (0.5, 0.5),
    ),
    _benchmark(
        "dashboard",
        "bytes and time of the dashboard in a browser, next to the smallest page that draws the map",
        "--weeks 80 --rounds 3",
        "",
        (2.5, 5),
    ),
    _benchmark(
        "publish",
        "time of deriving and writing a dataset, next to DuckDB writing the CSV",
        "--rounds 2",
        "",
        (1.5, 2),
    ),
    _benchmark(
        "weeks",
        "time of publishing, of one more week and of the site, for 160 and for 520 weeks",
        "--rounds 1",
        "",
        (3, 8),
    ),
    _benchmark(
        "simulate",
        "speed of the simulator, next to DuckDB writing two columns of numbers",
        "",
        "",
        (0.5, 0.5),
    ),
    _benchmark(
        "level_columns",
        "what a column for each level costs, next to one column of regions",
        "--events 50e6 --rounds 3",
        "--events 50e6 --rounds 5",
        (3, 5),
    ),
    _benchmark(
        "small",
        "time of small commands and of a log of 7,000 searches, next to importing DuckDB and NumPy",
        "",
        "--rounds 20",
        (0.5, 2),
    ),
    _benchmark(
        "straddling",
        "errors of county values if a log names ZIPs only, next to a column for each level",
        "--weeks 4",
        "--weeks 8",
        (4, 8),
    ),
    _benchmark(
        "pool",
        "what the unlabelled pool adds to the classifier's labels",
        "--sizes 500 1000 --subsets 4",
        "--sizes 500 1000 5909",
        (1.5, 10),
    ),
    _benchmark(
        "text_logs",
        "time of reading and bounding CSV and JSON lines, next to DuckDB counting the rows of the same file",
        "--events 3.5e6 --rounds 2",
        "",
        (2, 4),
    ),
    _benchmark(
        "growth",
        "time, CPU, memory and shuffle of a week by the size of its log, on DuckDB and Spark",
        "--duckdb 5e6,20e6 --duckdb-1gb= --duckdb-8gb= --spark 5e6",
        "--record",
        (2, 60),
    ),
    _benchmark(
        "peers",
        "the same cells released by other libraries for differential privacy",
        "--events 20e6 --peer-events 2e5,4e5 --rounds 1",
        "--record",
        (7, 15),
    ),
)
