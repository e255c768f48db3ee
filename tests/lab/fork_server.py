"""Start processes that are forked from a server, which has already loaded the program."""

import multiprocessing
from collections.abc import Callable
from multiprocessing.process import BaseProcess

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["tests.lab.preloaded"])


def start_forked(target: Callable[..., None], *arguments: object) -> BaseProcess:
    """Start a process that calls `target` with these arguments, and return it."""
    process = _context.Process(target=target, args=arguments)
    process.start()
    return process
