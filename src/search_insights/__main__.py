"""`python -m search_insights`: the same program as `search-insights`."""

import sys

from search_insights.commands.cli import main

sys.exit(main())
