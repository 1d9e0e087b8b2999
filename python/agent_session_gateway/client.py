"""A client of a gateway: send, follow, invoke."""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

import httpx

from ._http import Http, Token, back_off, broken, foreign, in_time, is_final, may_have_arrived, may_pass
from ._place import Follower
from ._sse import SseDecoder, SseEvent
from .errors import GatewayError
from .run import Event, Run

# Operations that change nothing, with their params in the query.
READS = frozenset(
    "history sessions apps status grants methods run usage inbox search notices schedules openapi.json".split()
)
# Operations that the specification lists. All others move with `extra_routes`.
FIXED = frozenset("send invoke subscribe abort close tool-response channel".split())
SEND_RETRIES = 6
READ_RETRIES = 2
SILENT_HEARTBEATS = 2.5


class GatewayClient:
    """A client of a gateway. Use it as `async with`, or call `aclose`. All its calls raise `GatewayError`.

    Args:
        base_url: The gateway's address, with the mount.
        token: The bearer's token, or a function that is asked for one at each request.
        timeout: Seconds for each attempt to be answered.
        extra_routes: The prefix of routes that the gateway has moved.
        http: An `httpx.AsyncClient` of your own, which stays open.
    """

    def __init__(
        self,
        base_url: str,
        *,
        token: Token = None,
        timeout: float = 30.0,
        extra_routes: str = "",
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self._owned = None if http else httpx.AsyncClient(limits=httpx.Limits(max_connections=None))
        self._http = Http(base_url, token, http or self._owned or httpx.AsyncClient(), timeout)
        self._extra = extra_routes

    async def __aenter__(self) -> GatewayClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes all connections."""
        if self._owned:
            await self._owned.aclose()

    async def send(
        self,
        session_id: str,
        message: str | list[Any] | dict[str, Any],
        *,
        idempotency_key: str | None = None,
        **fields: Any,
    ) -> Run:
        """Sends a message, at most once, whatever the network does. Returns as soon as it is accepted.

        Args:
            message: Text, content blocks, or a message.
            idempotency_key: Starts at most one run, however often the message is sent. By default a random one.
            fields: Others of the operation, as the protocol names them: `metadata`, `onBusy`, `replaces`, ...
        """
        key = idempotency_key or uuid.uuid4().hex
        content = message if isinstance(message, dict) else {"content": message}
        params = {"sessionId": session_id, **fields, "message": {"id": key, **content}, "idempotencyKey": key}
        tried, arrived = 0, False
        while True:
            try:
                accepted = await self._once("send", params)
                if not (isinstance(accepted, dict) and accepted.get("runId")):
                    raise foreign(self._http.base_url, "not with a run")
                return Run(self, session_id, accepted, key)
            except GatewayError as error:
                arrived = arrived or may_have_arrived(error)
                # A message that may have been accepted is asked for until its fate is known: "not sent" could be wrong.
                if not may_pass(error) or (tried >= SEND_RETRIES and not arrived):
                    raise
                await back_off(tried, error.retry_after)
                tried += 1

    async def run(self, session_id: str, run_id: str) -> Run:
        """A run that was begun elsewhere, or before this process started."""
        return Run(self, session_id, await self.find_run(session_id, run_id))

    async def find_run(self, session_id: str, run_id: str) -> dict[str, Any]:
        """The state of a run (`queued`, `running`, `waiting`, `ended`, with its `result`), asked for however long that takes."""
        tried = 0
        while True:
            try:
                info: dict[str, Any] = await self._once("run", {"sessionId": session_id, "runId": run_id})
                return info
            except GatewayError as error:
                if is_final(error):
                    raise
                await back_off(tried, error.retry_after)
                tried += 1

    async def events(self, session_id: str, start: str = "run") -> AsyncGenerator[Event, None]:
        """All events of a session, each once, through any outage; ends when left, or with the error by which the gateway refuses the session.

        A `gap`, with the `snapshot` that always follows it, says that events are missing. Every event has a `cursor`, which continues after
        it as a `start`, also in another process.

        Args:
            start: `now`, `run` (the start of the active run, else now), `earliest`, `snapshot`, or a cursor.
        """
        follower = Follower(session_id, start)
        tried = 0
        while True:
            decoder = SseDecoder()
            failure: GatewayError | None = None
            try:
                query, headers = follower.opening()
                async with aclosing(self._stream("GET", "/events", decoder, query=query, headers=headers)) as parts:
                    async for part in parts:
                        for event in follower.take(part):
                            tried = 0
                            yield event
                        if follower.is_broken:
                            break
            except GatewayError as error:
                if is_final(error):
                    raise
                failure = error
            await back_off(tried, decoder.retry or (failure.retry_after if failure else None))
            tried += 1

    async def invoke(self, method: str, params: Any = None, *, session_id: str | None = None) -> Any:
        """Calls a method of the gateway by its path, as `tasks:create`, and waits for its result. It is never repeated."""
        return await self.call("invoke", method=method, params=params, sessionId=session_id)

    async def stream(self, method: str, params: Any = None, *, session_id: str | None = None) -> AsyncGenerator[Any, None]:
        """Calls a streaming method and yields each item. A stream that was cut is resumed, if the method gives its items ids."""
        place: str | None = None
        tried = 0
        while True:
            body = given(method=method, params=params, sessionId=session_id, lastEventId=place)
            try:
                async with aclosing(self._stream("POST", "/invoke", SseDecoder(), json=body)) as parts:
                    async for part in parts:
                        if part.event == "end":
                            return
                        if part.event == "fail":
                            raise GatewayError.from_json(json.loads(part.data))
                        if part.event in ("chunk", "mark"):
                            place, tried = part.id or place, 0
                        if part.event == "chunk":
                            yield json.loads(part.data)
                raise broken(self._http.base_url, "the stream had no end")
            except GatewayError as error:
                if not place or not may_pass(error):
                    raise
                await back_off(tried, error.retry_after)
                tried += 1

    async def call(self, operation: str, **params: Any) -> Any:
        """Asks for any other operation of the protocol by its route's name, with its params as the protocol names them. Reads are repeated."""
        retries = READ_RETRIES if operation in READS else 0
        for tried in range(retries + 1):
            try:
                return await self._once(operation, given(**params))
            except GatewayError as error:
                if tried == retries or not may_pass(error):
                    raise
                await back_off(tried, error.retry_after)

    async def respond(self, session_id: str, call_id: str, **answer: Any) -> Any:
        """Answers a confirmation (`approved=True`), a question or a client tool's call (`output=...`)."""
        return await self.call("tool-response", sessionId=session_id, callId=call_id, **answer)

    async def _once(self, operation: str, params: dict[str, Any]) -> Any:
        path = f"{'' if operation in FIXED else self._extra}/{operation}"
        if operation in READS:
            return await self._http.json("GET", path, query=params)
        headers = {"accept": "application/json", "prefer": "respond-async"}
        return await self._http.json("POST", path, json=params, headers=headers)

    async def _stream(self, method: str, path: str, decoder: SseDecoder, **request: Any) -> AsyncGenerator[SseEvent, None]:
        """Reads a stream of events, which falls silent for 2.5 heartbeats at most."""
        url = self._http.base_url + path
        silence = self._http.timeout
        headers = {**request.pop("headers", {}), "accept": "text/event-stream"}
        async with self._http.open(method, path, headers=headers, **request) as response:
            if not response.headers.get("content-type", "").startswith("text/event-stream"):
                raise foreign(url, "not with events")
            chunks = response.aiter_bytes()
            while True:
                try:
                    chunk = await in_time(next_of(chunks), silence)
                except TimeoutError:
                    raise broken(url) from None
                except httpx.TransportError as error:
                    raise broken(url, error) from error
                if chunk is None:
                    return
                for event in decoder.feed(chunk):
                    if event.event in ("connected", "ping"):
                        silence = json.loads(event.data).get("heartbeatMs", 0) * SILENT_HEARTBEATS / 1000 or silence
                    yield event


async def next_of(chunks: AsyncIterator[bytes]) -> bytes | None:
    return await anext(chunks, None)


def given(**params: Any) -> dict[str, Any]:
    return {name: value for name, value in params.items() if value is not None}
