"""A WebSocket client (RFC 6455) for a peer on this machine: text messages, one thread, nothing to install."""

import base64
import hashlib
import os
import socket
import struct
from urllib.parse import urlsplit

_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # of the RFC, part of the handshake
_CONTINUATION, _TEXT, _CLOSE, _PING, _PONG = 0x0, 0x1, 0x8, 0x9, 0xA


class WebSocket:
    """A connection to `ws://host:port/path`; an answer that takes longer than `timeout` seconds is an error."""

    def __init__(self, address: str, timeout: float) -> None:
        """Connect and shake hands."""
        url = urlsplit(address)
        self._socket = socket.create_connection((url.hostname, url.port), timeout)
        self._file = self._socket.makefile("rb")
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [
            f"GET {url.path or '/'} HTTP/1.1",
            f"Host: {url.netloc}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {key}",
            "Sec-WebSocket-Version: 13",
        ]
        self._socket.sendall("\r\n".join([*lines, "", ""]).encode())
        answer = list(iter(lambda: self._file.readline().strip().decode(), ""))
        accepted = base64.b64encode(hashlib.sha1((key + _GUID).encode()).digest()).decode()
        if " 101 " not in answer[0] or not any(line.endswith(accepted) for line in answer):
            raise ConnectionError(f"{address} did not accept the connection: {answer}")

    def send(self, text: str) -> None:
        """Send a message."""
        self._send(_TEXT, text.encode())

    def receive(self) -> str:
        """Wait for the next message and return it."""
        parts = []
        while True:
            last, kind, content = self._frame()
            if kind == _PING:
                self._send(_PONG, content)
            elif kind == _CLOSE:
                raise ConnectionError("the peer closed the connection")
            elif kind in (_TEXT, _CONTINUATION):
                parts.append(content)
                if last:
                    return b"".join(parts).decode()

    def close(self) -> None:
        """Drop the connection."""
        self._file.close()
        self._socket.close()

    def _send(self, kind: int, content: bytes) -> None:
        size = len(content)
        if size < 126:
            head = struct.pack("!BB", 0x80 | kind, 0x80 | size)
        elif size < 1 << 16:
            head = struct.pack("!BBH", 0x80 | kind, 0x80 | 126, size)
        else:
            head = struct.pack("!BBQ", 0x80 | kind, 0x80 | 127, size)
        mask = os.urandom(4)  # a client masks what it sends
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(content))
        self._socket.sendall(head + mask + masked)

    def _frame(self) -> tuple[bool, int, bytes]:
        first, second = self._read(2)
        size = second & 0x7F
        if size == 126:
            (size,) = struct.unpack("!H", self._read(2))
        elif size == 127:
            (size,) = struct.unpack("!Q", self._read(8))
        return bool(first & 0x80), first & 0x0F, self._read(size)

    def _read(self, size: int) -> bytes:
        content = self._file.read(size)
        if len(content) < size:
            raise ConnectionError("the peer closed the connection")
        return content
