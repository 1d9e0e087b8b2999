"""A run, as a client sees it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .client import GatewayClient

Event = dict[str, Any]
"""An event as the wire names its fields, complete: `type`, `sessionId`, `cursor`, `ts` and those of its type."""


class Run:
    """A run, followed to its end. Each iteration yields its events from its beginning; leaving it only detaches.

    A `gap` with its `snapshot` in between says that events are missing.
    """

    def __init__(self, client: GatewayClient, session_id: str, info: dict[str, Any], key: str | None = None) -> None:
        self.session_id = session_id
        self.run_id: str = info["runId"]
        self.cursor: str = info["cursor"]
        """The place before its first event."""
        self.message: dict[str, Any] | None = info.get("message")
        """The message that was accepted."""
        self.idempotency_key = key
        self._client = client
        self._result: dict[str, Any] | None = info.get("result")

    async def __aiter__(self) -> AsyncGenerator[Event, None]:
        error: Any = None
        async with aclosing(self._client.events(self.session_id, self.cursor)) as events:
            async for event in events:
                kind = event["type"]
                if kind not in ("gap", "snapshot") and event.get("runId") != self.run_id:
                    continue
                if kind == "run_error":
                    error = {"code": event["code"], "message": event["message"]}
                is_over = kind == "message_end"
                if is_over:
                    self._result = {**({"error": error} if error else {}), **end_of(event)}
                elif kind == "snapshot" and not self._is_open(event["state"]):
                    # A gap swallowed the run's end.
                    is_over = await self._look_up()
                yield event
                if is_over:
                    return

    async def text(self) -> AsyncGenerator[str, None]:
        """The answer's text as it grows. The pieces, joined, are the whole text, also after a gap."""
        length = 0
        async with aclosing(self.__aiter__()) as events:
            async for event in events:
                piece = ""
                if event["type"] == "content_delta":
                    piece = event["delta"]
                elif event["type"] == "snapshot":
                    piece = text_of(self._answer_in(event["state"]))[length:]
                length += len(piece)
                if piece:
                    yield piece
        rest = text_of((self._result or {}).get("message"))[length:]
        if rest:
            yield rest

    async def result(self) -> dict[str, Any]:
        """Waits for the end: `stopReason`, the `message`, `usage`, and `error` if there was one. `lost`: it cannot be known any more."""
        if not self._result:
            async for _ in self:
                pass
        return self._result or {}

    async def abort(self, reason: str | None = None) -> bool:
        """Ends the run. Returns whether it was still going on."""
        answer = await self._client.call("abort", sessionId=self.session_id, runId=self.run_id, reason=reason)
        return bool(answer["aborted"])

    async def _look_up(self) -> bool:
        info = await self._client.find_run(self.session_id, self.run_id)
        if info["state"] != "ended":
            return False
        self._result = info.get("result") or {"runId": self.run_id, "stopReason": "lost", "cursor": self.cursor}
        return True

    def _is_open(self, state: dict[str, Any]) -> bool:
        is_queued = any(queued["runId"] == self.run_id for queued in state.get("queue", []))
        return is_queued or self._answer_in(state) is not None

    def _answer_in(self, state: dict[str, Any]) -> dict[str, Any] | None:
        for run in [state.get("run"), *state.get("lanes", [])]:
            if run and run["runId"] == self.run_id and not run.get("stopReason"):
                answer: dict[str, Any] = run["message"]
                return answer
        return None


def end_of(event: Event) -> dict[str, Any]:
    """The result that a `message_end` carries."""
    left_out = ("type", "sessionId", "ts", "lane", "parentRunId")
    return {name: value for name, value in event.items() if name not in left_out}


def text_of(message: dict[str, Any] | None) -> str:
    """The text of a message."""
    blocks = (message or {}).get("content", [])
    return "".join(block["text"] for block in blocks if block.get("type") == "text")
