"""Experiments and benchmarks that take too long for every test run; see README.md."""
