"""Quoting for SQL: whatever a name or value holds, it stays a name or a value."""


def literal(text: str) -> str:
    """Quote text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Quote a column's name."""
    return '"' + name.replace('"', '""') + '"'
