"""Compress into one gzip stream that every program reads: a large file on all cores, or parts, each in its own way."""

import os
import struct
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

_CHUNK = 1 << 22  # bytes: what one chunk could refer to in the one before is not missed in 4 MB
_RAW = -15  # deflate without a header
_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"  # no name and no time, so that the same content is the same file
_END = zlib.compressobj(wbits=_RAW).flush()

Packing = tuple[int, int]  # how bytes are compressed: the level and the strategy of zlib


def gzip_of(parts: Iterable[tuple[bytes, Packing]]) -> bytes:
    """Return the gzip file of parts that follow each other, each compressed in the way that suits it."""
    check, size, stream = 0, 0, [_HEADER]
    for part, packing in parts:
        check, size = zlib.crc32(part, check), size + len(part)
        stream.append(_deflated(part, *packing))
    return b"".join((*stream, _end(check, size)))


def write_gzip(source: Path, target: Path, level: int) -> None:
    """Compress a file to another; the chunks of it are compressed at the same time and follow each other."""
    check, size = 0, 0
    with source.open("rb") as file, target.open("wb") as out, ThreadPoolExecutor(os.cpu_count()) as pool:
        out.write(_HEADER)
        waiting: deque[Future[bytes]] = deque()
        for chunk in _chunks(file.read):
            check, size = zlib.crc32(chunk, check), size + len(chunk)
            waiting.append(pool.submit(_deflated, chunk, level))
            if len(waiting) > 2 * (os.cpu_count() or 1):  # not all of the file in memory
                out.write(waiting.popleft().result())
        for each in waiting:
            out.write(each.result())
        out.write(_end(check, size))


def _chunks(read: Callable[[int], bytes]) -> Iterator[bytes]:
    while chunk := read(_CHUNK):
        yield chunk


def _end(check: int, size: int) -> bytes:
    return _END + struct.pack("<II", check, size % 2**32)


def _deflated(chunk: bytes, level: int, strategy: int = zlib.Z_DEFAULT_STRATEGY) -> bytes:
    """Return a part of a deflate stream that ends on a byte, and that another part may follow."""
    packer = zlib.compressobj(level, wbits=_RAW, strategy=strategy)
    return packer.compress(chunk) + packer.flush(zlib.Z_FULL_FLUSH)
