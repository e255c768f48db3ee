"""The errors that Spark raises. Their texts quote values of the search log, so only their kinds are ever passed on."""

from collections.abc import Iterator


def spark_errors() -> tuple[type[Exception], ...]:
    """Return the types of error that Spark may raise."""
    from grpc import RpcError
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    return (PySparkException, Py4JError, RpcError)


def condition_of(error: Exception) -> str:
    """Return Spark's own name for the kind of an error, which contains no value."""
    try:
        conditions = [getattr(each, "getCondition", lambda: None)() for each in _with_causes(error)]
    except spark_errors():  # Java has died
        conditions = []
    return next((str(condition) for condition in conditions if condition), type(error).__name__)


def _with_causes(error: Exception) -> Iterator[Exception]:
    """Yield an error; if PySpark has left it in Java's form, yield it and its causes in PySpark's form."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors.exceptions.captured import CapturedException

    if not isinstance(error, Py4JJavaError):
        yield error
        return
    java = error.java_exception
    while java is not None:
        yield CapturedException(origin=java)
        java = java.getCause()
