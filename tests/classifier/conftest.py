"""The packaged model that several test modules use."""

import pytest

from search_insights.classifier.model import Classifier, load_classifier


@pytest.fixture(scope="session")
def packaged() -> Classifier:
    """The packaged model."""
    return load_classifier()
