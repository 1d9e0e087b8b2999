"""A gateway as a process of its own, and what stands between it and a client."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
NODE = os.environ.get("NODE", "node")
TOKEN = "a-test-token-of-more-than-32-bytes"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Gateway:
    """The gateway of test/python/gateway.ts, on SQLite, which can be killed and started again at the same port."""

    def __init__(self) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._folder = tempfile.TemporaryDirectory()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = subprocess.Popen(
            [NODE, "--import", "tsx", "test/python/gateway.ts", str(self.port), TOKEN, f"{self._folder.name}/gateway.db"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self._process.stdout
        line = self._process.stdout.readline()
        assert line.startswith(b"listening"), line

    def end(self) -> None:
        if self._process:
            self._process.kill()
            self._process.communicate()

    def close(self) -> None:
        self.end()
        self._folder.cleanup()


class Proxy:
    """Passes TCP connections on to the gateway, and does to them what a bad line does."""

    def __init__(self, port: int) -> None:
        self.cuts: list[int] = []
        """How many bytes of its answer each of the next connections brings before it is cut."""
        self.cut = 0
        self.requests: list[bytes] = []
        """The first line of each request that was passed on."""
        self.heads: list[bytes] = []
        """What each connection began with."""
        self.answers: list[bytes] = []
        """What the next connections are answered with, in the gateway's place."""
        self.deaf = 0
        """How many of the next connections fall silent after the first heartbeat."""
        self.silenced = 0
        self.said = ""
        """All that the gateway has answered."""
        self._target = port
        self._writers: set[asyncio.StreamWriter] = set()

    async def __aenter__(self) -> Proxy:
        self._server = await asyncio.start_server(self._pass, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        self.cut_all()

    def cut_all(self) -> None:
        for writer in [*self._writers]:
            writer.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            self.heads.append(head)
            self.requests.append(head.split(b" HTTP")[0])
            if self.answers:
                writer.write(self.answers.pop(0))
                await writer.drain()
                return
            up_reader, up = await asyncio.open_connection("127.0.0.1", self._target)
            self._writers.add(up)
            up.write(head)
            await asyncio.gather(self._up(reader, up), self._down(up_reader, writer, up))
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _up(self, reader: asyncio.StreamReader, up: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            up.write(data)
        up.close()

    async def _down(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, up: asyncio.StreamWriter) -> None:
        left = self.cuts.pop(0) if self.cuts else None
        deaf = self.deaf > 0
        self.deaf -= deaf
        is_silent = False
        while data := await reader.read(65536):
            self.said += data.decode(errors="replace")
            if is_silent:
                continue
            writer.write(data if left is None else data[:left])
            if deaf and b"event: heartbeat" in data:
                is_silent = True
                self.silenced += 1
            if left is not None:
                left -= len(data)
                if left <= 0:
                    self.cut += 1
                    break
        up.close()
        writer.close()


def foreign(status: str, body: str) -> bytes:
    """An answer that no gateway gives."""
    return f"HTTP/1.1 {status}\r\ncontent-type: text/html\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n{body}".encode()


@contextmanager
def no_pauses() -> Iterator[None]:
    """Attempts follow each other at once."""
    with mock.patch("random.uniform", lambda _low, high: min(high, 0.02)):
        yield
