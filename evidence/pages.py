"""Markdown pages with parts that are written from records: tables, and blocks between markers."""

import re
from collections.abc import Sequence


def markdown_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], text_columns: Sequence[int] = (0,)
) -> list[str]:
    """Lay out a table; all columns but those of text are numbers, set flush right."""
    rule = ["---" if i in text_columns else "---:" for i in range(len(header))]
    return [f"| {' | '.join(cells)} |" for cells in (header, rule, *rows)]


def filled(page: str, blocks: dict[str, list[str]]) -> str:
    """Write each block between its markers; ValueError if the page does not have exactly one place for it.

    What stands between a marker such as `<!-- growth table -->` and the next `<!-- end -->` is replaced.
    """
    for name, lines in blocks.items():
        pattern = re.compile(rf"(<!-- {re.escape(name)} -->\n).*?(?=<!-- end -->\n)", re.DOTALL)
        block = "\n".join(lines)
        if len(pattern.findall(page)) != 1:
            raise ValueError(f"expected one block <!-- {name} --> ... <!-- end -->")
        before, after = pattern.split(page)[0], pattern.split(page)[-1]
        page = f"{before}<!-- {name} -->\n\n{block}\n\n{after}"
    return page


def ratio_text(value: float | None) -> str:
    """Show a ratio with two digits; empty if there is none."""
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"
