"""The files that a site offers for download: a published folder, file by known file.

The site shares its address with these files, and a folder may come from anyone. So the tables are copied only if they
are the files that `datapackage.json` describes, the JSON files only after they were read, and what a browser would show
as a page or a picture is not copied but made anew from them.
"""

from pathlib import Path

from search_insights.dataset.folder import STATEMENTS, Dataset
from search_insights.dataset.pages import draw_summary, privacy_page
from search_insights.dataset.registry import registry_yaml


def write_downloads(dataset: Dataset, folder: Path) -> list[Path]:
    """Write the files of a dataset to a new folder; return them in the order in which they are offered."""
    folder.mkdir(parents=True)
    tables = (dataset.csv, dataset.parquet, dataset.regions, *(dataset.top_searches or ()))
    copies = [table.copy_to(folder) for table in tables if table]
    return [*copies, *_statements(dataset, folder)]


def _statements(dataset: Dataset, folder: Path) -> list[Path]:
    for name, content in dataset.statements.items():
        (folder / name).write_bytes(content)
    (folder / "PRIVACY.md").write_text(privacy_page(dataset.privacy), encoding="utf-8")
    if entry := registry_yaml(dataset.package, dataset.privacy):
        (folder / "registry.yaml").write_text(entry, encoding="utf-8")
    if dataset.summary is not None:
        draw_summary(
            dataset.summary,
            folder / "summary.svg",
            title=dataset.title,
            weeks=dataset.weeks,
            levels=dataset.levels,
            trends=[trend.name for trend in dataset.trends],
        )
    return [path for name in STATEMENTS if (path := folder / name).exists()]
