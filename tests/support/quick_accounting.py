"""The privacy accounting made quick, for tests that are about something else.

`put` is `monkeypatch.setattr`, or `setattr` in a process that is to stay changed.
"""

from collections.abc import Callable

from search_insights.dataset import publication, statement
from search_insights.dp import accounting
from search_insights.dp.accounting import Accounting, Case
from search_insights.spec.spec import Promise, Spec

Put = Callable[[object, str, object], None]

_account = accounting.account
_known: dict[tuple[Promise, tuple[Case, ...]], Accounting] = {}


def account_once(spec: Spec) -> Accounting:
    """Account for a spec as the program does, but only once for all specs with the same promise and cases."""
    key = (spec.promise, accounting.cases(spec))
    if key not in _known:
        _known[key] = _account(spec)
    return _known[key]


def patch_account(put: Put) -> None:
    """Let the program account for equal cases once."""
    for module in (accounting, publication):
        put(module, "account", account_once)


def patch_accounting(put: Put) -> None:
    """Do the same, and give the number of days as their epsilon, which takes longest to compute."""
    patch_account(put)
    for module in (accounting, statement):
        put(module, "epsilon_of_weeks", lambda spec, weeks, others=(): 7.0 * weeks)
