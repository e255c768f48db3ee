"""A file that is compressed on all cores is one gzip stream with the same content."""

import zlib
from pathlib import Path

import pytest

from search_insights.support import gzip_file
from search_insights.support.gzip_file import gzip_of, write_gzip


@pytest.mark.parametrize("size", [0, 1, 999, 1000, 1001, 50_000])
def test_a_compressed_file_is_one_stream_of_the_same_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """Whether it is empty, ends with a chunk or has many: a reader of a single stream finds all of it, and no more."""
    monkeypatch.setattr(gzip_file, "_CHUNK", 1000)
    source, target = tmp_path / "plain", tmp_path / "packed.gz"
    source.write_bytes(b"".join(b"%d,0.%03d\n" % (i, i % 997) for i in range(size // 5))[:size].ljust(size, b"."))
    write_gzip(source, target, 4)
    reader = zlib.decompressobj(wbits=31)
    assert reader.decompress(target.read_bytes()) == source.read_bytes()
    assert reader.eof
    assert reader.unused_data == b""


def test_parts_that_are_compressed_in_several_ways_are_one_stream() -> None:
    """A reader of a single stream finds all parts in their order, and no more."""
    ways = [(1, zlib.Z_RLE), (6, zlib.Z_FILTERED), (9, zlib.Z_DEFAULT_STRATEGY)]
    parts = [bytes(1000), b"", bytes(range(256)) * 9]
    reader = zlib.decompressobj(wbits=31)
    assert reader.decompress(gzip_of(zip(parts, ways, strict=True))) == b"".join(parts)
    assert reader.eof
    assert reader.unused_data == b""


def test_the_same_content_is_the_same_file(tmp_path: Path) -> None:
    """No name and no time is in it."""
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(bytes(range(256)) * 100)
        write_gzip(tmp_path / name, tmp_path / f"{name}.gz", 4)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
