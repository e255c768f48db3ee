"""Specs that count a user-day in one place, with measures of any kind, made from any other spec."""

from dataclasses import replace

from hypothesis import strategies as st

from search_insights.spec.measures import ONE_PLACE, Counting, Measure
from search_insights.spec.spec import Sigma, Spec
from tests.support.other_country import specs


@st.composite
def one_place_specs(draw: st.DrawFn) -> Spec:
    """Draw any valid spec of one place: categories or measures, with or without rest cells."""
    spec = draw(specs())
    rest = draw(st.booleans())
    counting = Counting(ONE_PLACE, rest, rest and draw(st.booleans()))
    given = draw(st.just(()) | _measures(spec))
    ids = [measure.id for measure in given] or [c.id for c in spec.categories]
    sigmas = tuple(
        Sigma(level, size_class, each, draw(st.floats(0.1, 1000)))
        for level, size_class in spec.reported_groups
        for each in ids
    )
    summed = draw(st.lists(st.sampled_from(ids[1:]), min_size=1, unique=True))
    weights = draw(st.none() | st.tuples(*[st.floats(0.25, 2)] * len(summed)))
    trend = replace(spec.trends[0], sum_of=tuple(summed), weights=weights)
    return replace(spec, counting=counting, given_measures=given, sigmas=sigmas, trends=(trend,))


@st.composite
def _measures(draw: st.DrawFn, spec: Spec) -> tuple[Measure, ...]:
    """Draw measures: every search, and then unions of topics, some of them against others."""
    found = [Measure("every", (spec.categories[0].id,))]
    for i in range(draw(st.integers(1, 4))):
        shuffled = draw(st.permutations(spec.topics))
        any_of = draw(st.integers(1, len(shuffled)))
        against = draw(st.integers(any_of, len(shuffled)))
        found.append(Measure(f"m{i}", tuple(shuffled[:any_of]), tuple(shuffled[any_of:against])))
    return tuple(found)
