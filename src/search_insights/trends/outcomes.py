"""What may become of a value: by itself, so that a reader of published folders need not load what derives a release."""

# The outcome of a value: it is published, or the reason why not.
OUTCOMES = ("published", "sparse region", "not positive", "too uncertain", "not in this edition")
