"""The program as tests run it: what a run returns, and the form of an error message."""

from collections.abc import Callable

Run = Callable[..., tuple[int, str, str]]  # arguments to exit code, standard output and standard error


def assert_one_line(err: str) -> None:
    """Check that an error message is one line."""
    assert err.startswith("search-insights: "), err
    assert err.count("\n") == 1, err
    assert err.endswith("\n"), err
    assert "Traceback" not in err, err
