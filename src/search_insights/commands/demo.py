"""The whole way on a simulated US log, on this machine."""

import argparse

HELP = "the whole way on a simulated log, on this machine"
EXAMPLE = "search-insights demo"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""


def run(args: argparse.Namespace) -> int:
    """Placeholder until the parts are there."""
    return 0
