"""One session's place, over all streams that bring its events."""

from __future__ import annotations

import json
from typing import Any

from ._sse import SseEvent

WORDS = ("now", "run", "earliest", "snapshot")
UNNUMBERED = ("heartbeat", "connected", "auth_expired")

Place = tuple[str | None, int]
"""The epoch of a log and the number of its last event that came. Before the first event there is no epoch."""


def place_of(cursor: str | None) -> Place:
    epoch, _, rest = (cursor or "").partition(".")
    seq = rest.rpartition(".")[2]
    return (epoch, int(seq)) if epoch and seq.isdigit() else (None, 0)


class Follower:
    """Takes the events of the streams of one session, fills in what the wire does not repeat, and lets each event through once, in order."""

    def __init__(self, session_id: str, start: str) -> None:
        self.is_broken = False
        """Events are missing on this stream, so that it has to be opened again."""
        self._session_id = self._name = session_id
        self._word = start if start in WORDS else None
        self._cursor: str | None = None if self._word else start
        self._waits = False
        self._gap: dict[str, Any] | None = None
        self._run_id: str | None = None
        self._index = 0

    def opening(self) -> tuple[dict[str, str], dict[str, str]]:
        """The query and the headers of the next stream."""
        self.is_broken = self._waits = False
        self._gap = None
        query = {"sessionId": self._session_id}
        if self._cursor is None:
            return {**query, "from": self._word or "now"}, {}
        # A header cannot be empty, but a vector can hold an empty cursor: the place before the first conversation.
        return query, {"last-event-id": self._cursor or f"~{self._session_id}="}

    def take(self, part: SseEvent) -> list[dict[str, Any]]:
        """Takes what a stream brings next, and returns the events that are new."""
        event: dict[str, Any] = {"type": part.event, **json.loads(part.data)}
        kind = part.event
        if kind == "connected":
            self._connected(event)
        if kind in UNNUMBERED:
            return []
        self._complete(event, part.id)
        if kind == "gap":
            self._gap = event
            return []
        if kind == "snapshot":
            if not (self._waits or self._gap):
                return []
            events = [*([self._gap] if self._gap else []), event]
            self._waits, self._gap, self._cursor = False, None, event["cursor"]
            return events
        # Events between a gap and its snapshot are part of the snapshot.
        if self._waits or self._gap or self.is_broken:
            return []
        return [event] if "cursor" not in event or self._is_next(event) else []

    def _connected(self, event: dict[str, Any]) -> None:
        # The gateway may write the session's key in another way than it was asked for.
        ((self._name, info),) = event["sessions"].items()
        is_first = self._cursor is None
        self._waits = info["resume"] == "gap" or (is_first and self._word == "snapshot" and info["epoch"] is not None)
        if is_first and not self._waits:
            self._cursor = info.get("cursor") or ""

    def _complete(self, event: dict[str, Any], id: str | None) -> None:
        if id and not id.startswith("~"):
            event.setdefault("cursor", id)
        event.setdefault("sessionId", self._name)
        if event["type"] in ("content_delta", "reasoning_delta"):
            self._run_id = event.setdefault("runId", self._run_id)
            self._index = event.setdefault("index", self._index)
        elif event["type"] == "message_start":
            self._run_id, self._index = event["runId"], 0

    def _is_next(self, event: dict[str, Any]) -> bool:
        epoch, seq = place_of(event["cursor"])
        at, last = place_of(self._cursor)
        if epoch == at and seq <= last:
            return False
        # An event that stands for hidden ones accounts for them.
        hidden = event["count"] if event["type"] == "hidden" else 1
        if seq > last + hidden or (at is not None and epoch != at):
            self.is_broken = True
            return False
        self._cursor = event["cursor"]
        return True
