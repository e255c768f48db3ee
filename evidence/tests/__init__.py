"""Tests of the evidence code itself; part of `make test`."""
