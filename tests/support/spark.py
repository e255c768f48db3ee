"""Spark for tests: settings that make it quick, and settings that are the opposite of what the program needs."""

from search_insights.errors import InputError
from search_insights.private.spark.session import require_java
from tests.support.skips import skip_or_fail

# Settings for little data: quick to start. To verify the classes of Spark takes Java a quarter of its start.
_UNVERIFIED = "-XX:+IgnoreUnrecognizedVMOptions -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
QUICK = {
    "spark.driver.extraJavaOptions": f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC {_UNVERIFIED}",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
}

# Settings that a cluster's operators may have chosen: the opposite of everything a log is read with.
CONTRARY = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.caseSensitive": "false",
    "spark.sql.files.ignoreCorruptFiles": "true",
    "spark.sql.files.ignoreMissingFiles": "true",
    "spark.sql.groupByAliases": "false",
    "spark.sql.legacy.consecutiveStringLiterals.enabled": "true",
    "spark.sql.parquet.inferTimestampNTZ.enabled": "false",
    "spark.sql.parquet.int96TimestampConversion": "true",
    "spark.sql.parser.escapedStringLiterals": "true",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "true",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
}


def need_java() -> None:
    """Skip the test, or fail in CI, without a Java that can run Spark."""
    try:
        require_java()
    except InputError as error:
        skip_or_fail(str(error).split(": ")[0], "apt-get install default-jre-headless")
