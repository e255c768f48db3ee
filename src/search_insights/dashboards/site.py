"""Build the dashboard: a static site that needs no server code, no key and no other host."""

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from search_insights.dashboards.asked import read_asked
from search_insights.dashboards.data_files import View, write_data
from search_insights.dashboards.downloads import write_downloads
from search_insights.dashboards.preview import add_preview
from search_insights.dashboards.regions import find_places
from search_insights.dashboards.reuse import write_with_intervals
from search_insights.dashboards.shape_files import ShapeFile, read_shapes
from search_insights.dashboards.shapes import Shapes, packaged_topologies, project_points, project_shapes
from search_insights.dashboards.translations import titles
from search_insights.dashboards.values import read_values, require_same_csv
from search_insights.dashboards.world_view import write_world
from search_insights.dataset.folder import Dataset, read_dataset
from search_insights.dataset.several import country_tables, dataset_folders
from search_insights.errors import InputError
from search_insights.spec.geography import Geography
from search_insights.spec.publisher import is_address
from search_insights.spec.spec import Spec
from search_insights.spec.spec_file import PACKAGED_SPECS, load_spec
from search_insights.support.files import read_plain
from search_insights.support.replace_folder import replacing
from search_insights.support.strict_json import parse_json

# Every site has this file. Its "program" says that this program made the folder and may replace it.
_SITE_FILE = "site.json"
_PROGRAM = "search-insights dashboard"


@dataclass(frozen=True, slots=True)
class Site:
    """A site that was built."""

    folder: Path
    datasets: tuple[str, ...]
    files: int
    bytes: int


def dashboard(
    datasets: Sequence[Path],
    out: Path,
    *,
    geographies: Sequence[Geography] = (),
    specs: Sequence[Spec] = (),
    shapes: Sequence[Path] = (),
    shape_id: str | None = None,
    address: str | None = None,
    progress: Callable[[str], None] = lambda text: None,
) -> Site:
    """Build a site from published datasets; replace an existing site in one step or not at all.

    `geographies`, `specs` and `shapes` add to the packaged ones; `shape_id` is the property by which shapes name their
    regions. A dataset of a country without a known geography shows the regions that its rows name. A folder of several
    countries stands for the datasets in it. `address` is where the site will be: links that are shared then have a
    picture.
    """
    if address is not None and not is_address(address):
        raise InputError(f"{address}: not the address of a site; expected one such as https://example.org/trends/")
    found = [read_dataset(folder) for folder in dataset_folders(datasets)]
    keys = _keys(found)
    _refuse_to_lose_files(out)
    files = [read_shapes(path, shape_id) for path in shapes]
    try:
        with replacing(out) as draft, ThreadPoolExecutor(1) as pool:
            _copy_page(resources.files("search_insights.dashboards") / "page", draft)
            entries: list[dict[str, Any]] = []
            views: list[View] = []
            for key, dataset in zip(keys, found, strict=True):
                progress(f"reading {dataset.folder}")
                same = pool.submit(require_same_csv, dataset)
                downloads = write_downloads(dataset, draft / "dataset" / key)
                beside = pool.submit(write_with_intervals, dataset, key, draft / "dataset")
                view = _view(dataset, geographies, [*specs, *packaged_specs()], files, downloads)
                same.result()  # an error is raised here
                if not views:
                    add_preview(view, draft, address)
                view = replace(view, beside=beside)
                views.append(view)
                progress(f"writing the data of {dataset.folder}")
                entries.append(_write_dataset(view, key, draft))
            _require_fit(files, views)
            tables = [table.copy_to(draft / "dataset") for folder in datasets for table in country_tables(folder)]
            world = write_world(views, entries, tables, draft)
            site = {"program": _PROGRAM, "datasets": entries, **({"world": world} if world else {})}
            (draft / _SITE_FILE).write_text(json.dumps(site, ensure_ascii=False, indent=1), encoding="utf-8")
            sizes = [path.stat().st_size for path in draft.rglob("*") if path.is_file()]
    except OSError as error:
        raise InputError(f"{out}: cannot be written ({error}); nothing was changed") from None
    return Site(out, keys, len(sizes), sum(sizes))


def packaged_specs() -> list[Spec]:
    """Return the packaged specs: a dataset of one of them tells by it which regions are never reported."""
    return [load_spec(name) for name in PACKAGED_SPECS]


def is_site(folder: Path) -> bool:
    """Return whether this program built the folder as a site."""
    try:
        site = parse_json(read_plain(folder / _SITE_FILE), folder / _SITE_FILE)
    except InputError:
        return False
    return isinstance(site, dict) and site.get("program") == _PROGRAM


def shows(site: Path, folder: Path) -> bool:
    """Return whether a site shows a dataset as it is now: it offers the same statements, which name every table."""
    dataset = read_dataset(folder)
    copy = site / "dataset" / _keys([dataset])[0]
    try:
        return is_site(site) and all(read_plain(copy / name) == text for name, text in dataset.statements.items())
    except InputError:
        return False


def _refuse_to_lose_files(out: Path) -> None:
    """Refuse a folder that holds anything but a site: building replaces the whole folder."""
    if out.is_dir() and any(out.iterdir()) and not is_site(out):
        raise InputError(f"{out}: holds files that are not a dashboard and would be lost; give another folder")


def _keys(datasets: Sequence[Dataset]) -> tuple[str, ...]:
    """Return the name of each dataset in addresses and folders: the name that its files share."""
    keys = tuple(re.sub(r"[^A-Za-z0-9_.-]", "_", dataset.stem) for dataset in datasets)
    for key, dataset in zip(keys, datasets, strict=True):
        if keys.count(key) > 1:
            raise InputError(f"{dataset.folder}: another dataset has the same name {key}; give each only once")
    return keys


def _view(
    dataset: Dataset,
    geographies: Sequence[Geography],
    specs: Sequence[Spec],
    files: Sequence[ShapeFile],
    downloads: Sequence[Path],
) -> View:
    places = find_places(dataset, geographies, specs)
    number_of = {region.place_id: i for i, region in enumerate(places.regions)}
    parents = {region.place_id: region.parent for region in places.regions}
    given = [topology for file in files if (topology := file.fitted(places.regions))]
    known = (*given, *packaged_topologies(places.geography.country.place_id))
    found: list[Shapes | None] = [project_shapes(topology, parents) for topology in known]
    shapes = next((s for s in found if s), None) or project_points(places.regions)
    values = read_values(dataset, number_of)
    return View(dataset, places, values, shapes, read_asked(dataset, number_of), tuple(downloads))


def _require_fit(files: Sequence[ShapeFile], views: Sequence[View]) -> None:
    """Refuse a file of outlines that is of no region of the site."""
    for file in files:
        if not any(file.fitted(view.places.regions) for view in views):
            raise file.unfit()


def _write_dataset(view: View, key: str, draft: Path) -> dict[str, Any]:
    """Write the data to a folder named after its content, so that no browser mixes the files of two releases."""
    digest = hashlib.sha256()
    for path in view.downloads[1:]:  # the CSV file has the same rows as the Parquet file
        digest.update(path.read_bytes())
    data = f"data/{key}-{digest.hexdigest()[:12]}"
    write_data(view, draft / data)
    country = view.places.geography.country
    return {
        "key": key,
        "country": country.name,
        "code": country.code,
        "title": view.dataset.title,
        "titles": titles(view.dataset.package),
        "data": data,
        "dataset": f"dataset/{key}",
    }


def _copy_page(source: Traversable, folder: Path) -> None:
    for file in source.iterdir():
        if file.is_file():
            (folder / file.name).write_bytes(file.read_bytes())
