"""Preview a dashboard on this machine: listens on the loopback address only, until Ctrl-C."""

import argparse
from pathlib import Path

from search_insights.commands.console import flush, out

EXAMPLE = "search-insights serve site\nsearch-insights serve site --port 8080"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument("site", metavar="SITE", type=Path, help="the site's folder, made by 'dashboard'")
    parser.add_argument("--port", metavar="N", type=int, default=8000, help="0 for any that is free (default: 8000)")


def run(args: argparse.Namespace) -> int:
    """Serve until interrupted."""
    from search_insights.dashboards.server import make_server

    with make_server(args.site, args.port) as server:
        host, port = server.server_address[:2]
        out(f"{args.site}: http://{host!s}:{port}/  (Ctrl-C ends it)")
        flush()
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            out()
    return 0
