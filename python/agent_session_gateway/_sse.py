"""Server-Sent Events, as the gateway writes them."""

from __future__ import annotations

from dataclasses import dataclass

from .errors import GatewayError

# The end of a run carries its whole answer.
LONGEST_EVENT = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One event of a stream, as text."""

    event: str
    data: str
    id: str | None


class SseDecoder:
    """Reads a byte stream of events. Characters and lines may be cut anywhere.

    Lines end with a line feed alone or after a carriage return. Text that is split by other characters, as `str.splitlines` does it, would be
    cut at every U+2028 of an answer.
    """

    def __init__(self, longest: int = LONGEST_EVENT) -> None:
        self.retry: float | None = None
        """Seconds of the last `retry:` field, as the server asks clients to wait before they connect again."""
        self._longest = longest
        self._parts: list[bytes] = []
        self._size = 0
        self._event = "message"
        self._data: list[str] = []
        self._id: str | None = None

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Takes the next bytes and returns the events that they complete. Raises `PAYLOAD_TOO_LARGE` for an endless one."""
        self._size += len(chunk)
        if b"\n" not in chunk:
            self._parts.append(chunk)
            self._check()
            return []
        *lines, rest = b"".join([*self._parts, chunk]).split(b"\n")
        self._parts = [rest]
        events: list[SseEvent] = []
        for line in lines:
            self._take(line.removesuffix(b"\r").decode(errors="replace"), events)
        self._size = len(rest) + sum(map(len, self._data))
        self._check()
        return events

    def _check(self) -> None:
        if self._size > self._longest:
            raise GatewayError("PAYLOAD_TOO_LARGE", "An event is too long")

    def _take(self, line: str, events: list[SseEvent]) -> None:
        if not line:
            if self._data:
                events.append(SseEvent(self._event, "\n".join(self._data), self._id))
            self._event, self._data, self._id = "message", [], None
            return
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._event = value
        elif name == "data":
            self._data.append(value)
        elif name == "id":
            self._id = value
        elif name == "retry" and value.isascii() and value.isdigit():
            self.retry = int(value) / 1000
