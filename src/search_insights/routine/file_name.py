"""The name of the settings file, apart from what reads it: every command line says it, few need the rest."""

FILE_NAME = "search-insights.toml"
