"""Apps for a gateway, which runs them slice by slice."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Any, TypeVar, Union, overload

from ._reply import Line, Reply, to_json
from .errors import GatewayError
from .signature import check, keys_of
from .turn import CODE, Turn

Handler = Callable[[Turn], Union[AsyncIterator[str], Awaitable[Union[str, None]]]]
H = TypeVar("H", bound=Handler)
Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

PROTOCOL = 1
ALIVE = 10.0
"""Seconds after which a reply says that the app is alive."""
LARGEST_SLICE = 64 * 1024 * 1024

log = logging.getLogger("agent_session_gateway")


class App:
    """Answers slices of a gateway's runs. It is an ASGI application, and `agent_session_gateway.work` serves it by pull.

    Args:
        secret: That of the gateway's `remoteApp`; two while one replaces the other.
    """

    def __init__(self, *, secret: str | Sequence[str]) -> None:
        self.keys = keys_of(secret)
        self._handlers: dict[str, Handler] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    @overload
    def run(self, handler: H, /) -> H: ...

    @overload
    def run(self, name: str, /) -> Callable[[H], H]: ...

    def run(self, given: H | str, /) -> H | Callable[[H], H]:
        """Has a function answer the app of its own name, or of the name that is given.

        The function is given the turn. It may be an async generator, which yields text, or `async` and return text or nothing.
        """
        if not isinstance(given, str):
            self._handlers[given.__name__] = given
            return given
        name = given

        def register(handler: H) -> H:
            self._handlers[name] = handler
            return handler

        return register

    def read(self, body: bytes) -> dict[str, Any]:
        """Reads a slice. Raises `INVALID_REQUEST`, `APP_NOT_FOUND`."""
        try:
            return self.checked(json.loads(body))
        except (ValueError, RecursionError):
            raise refusal("The slice is not JSON") from None

    def checked(self, slice: Any) -> dict[str, Any]:
        """A slice that this app can answer. Raises `INVALID_REQUEST`, `APP_NOT_FOUND`."""
        if not isinstance(slice, dict):
            raise refusal("The slice must be an object")
        if slice.get("protocol") != PROTOCOL:
            raise refusal(f"protocol: must be {PROTOCOL}")
        for field, kind in FIELDS.items():
            if not isinstance(slice.get(field), kind):
                raise refusal(f"{field}: must be {NAMES[kind]}")
        if slice["app"] not in self._handlers:
            raise GatewayError("APP_NOT_FOUND", "There is no such app", status=404)
        return slice

    async def reply(self, slice: dict[str, Any]) -> AsyncGenerator[bytes, None]:
        """The lines that answer a slice, as they come. Leaving the iteration cancels the app's code."""
        reply = Reply()
        task = asyncio.create_task(self._answer(slice, reply))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            while not reply.is_over or reply.has_lines:
                yield await reply.next(ALIVE)
        finally:
            reply.is_over = True
            task.cancel()

    async def _answer(self, slice: dict[str, Any], reply: Reply) -> None:
        turn = Turn(slice, reply)
        try:
            answer = self._handlers[slice["app"]](turn)
            if isinstance(answer, AsyncIterator):
                async for piece in answer:
                    await turn.say(piece)
            else:
                await turn.say(await answer or "")
            reply.end({"type": "end", **({"stopReason": turn.stop_reason} if turn.stop_reason else {})})
        except Exception as error:
            reply.end(last_of(error))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await lifespan(receive, send)
        if scope["type"] != "http":
            return
        try:
            if scope["method"] != "POST":
                raise GatewayError("METHOD_NOT_ALLOWED", "A slice is a POST", status=405)
            body = await body_of(receive)
            headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
            check(self.keys, headers, body)
            slice = self.read(body)
        except GatewayError as error:
            await refuse(send, error)
            return
        sending = asyncio.create_task(self._send(slice, send))
        leaving = asyncio.create_task(left(receive))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            leaving.cancel()
            if not sending.done():
                sending.cancel()
        await asyncio.gather(sending, leaving, return_exceptions=True)

    async def _send(self, slice: dict[str, Any], send: Send) -> None:
        headers = [(b"content-type", b"application/x-ndjson"), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        async with aclosing(self.reply(slice)) as lines:
            async for part in lines:
                await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


FIELDS: dict[str, Any] = {
    **{name: str for name in ("id", "app", "runId")},
    **{name: dict for name in ("session", "message", "said")},
    **{name: list for name in ("history", "steps", "calls")},
    "deadlineMs": (int, float),
}
NAMES = {str: "a text", dict: "an object", list: "a list", (int, float): "a number"}


def refusal(message: str) -> GatewayError:
    return GatewayError("INVALID_REQUEST", message, status=400)


def last_of(error: Exception) -> Line:
    """The last line of a run whose code raised an error. Only a `GatewayError` is meant for people."""
    if isinstance(error, GatewayError) and CODE.fullmatch(error.code) and error.code != "INTERNAL":
        return {"type": "error", "code": error.code, "message": error.message}
    log.error("The app failed", exc_info=error)
    return {"type": "error", "code": "INTERNAL", "message": "The app failed"}


async def body_of(receive: Receive) -> bytes:
    parts: list[bytes] = []
    size = 0
    while True:
        event = await receive()
        if event["type"] == "http.disconnect":
            raise refusal("The request broke off")
        part = event.get("body", b"")
        parts.append(part)
        size += len(part)
        if size > LARGEST_SLICE:
            raise GatewayError("PAYLOAD_TOO_LARGE", "The slice is too large", status=413)
        if not event.get("more_body"):
            return b"".join(parts)


async def left(receive: Receive) -> None:
    """Waits until nobody reads the reply any more."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def refuse(send: Send, error: GatewayError) -> None:
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    body = {"error": {"code": error.code, "message": error.message}}
    await send({"type": "http.response.body", "body": to_json(body, "The error")})


async def lifespan(receive: Receive, send: Send) -> None:
    while True:
        event = await receive()
        await send({"type": f"{event['type']}.complete"})
        if event["type"] == "lifespan.shutdown":
            return
