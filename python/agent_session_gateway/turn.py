"""What an app is given: one turn."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypedDict, TypeVar, overload

from ._reply import Line, Reply, to_json
from .errors import GatewayError
from .run import text_of

T = TypeVar("T")

CODE = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
LONGEST_NAME = 128


@dataclass(frozen=True, slots=True)
class Step:
    """The argument of a step's function."""

    key: str
    """Names this step of this run, also when it runs again: an idempotency key."""
    interrupted: bool
    """The step has begun before. It may have had its effect, with only its outcome missing."""


class Confirmation(TypedDict, total=False):
    """A person's answer to `confirm`."""

    approved: bool
    reason: str
    input: Any


class Turn:
    """One turn of an app. Its code runs from the beginning in each slice: calls that have their outcome return at once, and what was said is not
    said twice."""

    def __init__(self, slice: dict[str, Any], reply: Reply) -> None:
        self.run_id: str = slice["runId"]
        self.session: dict[str, Any] = slice["session"]
        self.user: dict[str, Any] | None = slice["user"]
        self.message: dict[str, Any] = slice["message"]
        """The message to answer."""
        self.history: list[dict[str, Any]] = slice["history"]
        """The messages before it, oldest first."""
        self.earlier: int = slice.get("earlier", 0)
        """How many older ones were left out."""
        self.metadata: dict[str, Any] = slice.get("metadata") or {}
        self.parameters: dict[str, Any] = slice.get("parameters") or {}
        self.trigger: dict[str, Any] | None = slice.get("trigger")
        self.tools: list[dict[str, Any]] = slice.get("tools") or []
        """The tools that `call_tool` may name."""
        self.traceparent: str | None = slice.get("traceparent")
        self.rehearsing: bool = slice.get("rehearsing", False)
        """Nothing may have an effect."""
        self.deadline = asyncio.get_running_loop().time() + slice["deadlineMs"] / 1000
        """The end of this slice, by the clock of the event loop."""
        self.stop_reason: str | None = None
        """Why the answer ends here, if not by itself: `max_tokens`, `tool_use`."""
        self._reply = reply
        self._known: dict[str, list[dict[str, Any]]] = {"step": slice["steps"], "call": slice["calls"]}
        self._numbers = {"step": 0, "call": 0, "data": 0, "usage": 0, "tool": 0}
        self._has_done = False

    @property
    def text(self) -> str:
        """The text of the message."""
        return text_of(self.message)

    async def say(self, text: str) -> None:
        """Adds text to the answer."""
        if text:
            await self._say({"type": "text", "delta": text})

    async def reason(self, text: str) -> None:
        """Adds reasoning, which is shown apart from the text."""
        await self._say({"type": "reasoning", "delta": text})

    async def data(self, name: str, value: Any, *, id: str | None = None) -> str:
        """Creates a data block of the answer, or replaces the one with the id. Returns the id."""
        id = id or f"{name}:{self._count('data')}"
        await self._say({"type": "data", "id": id, "name": name, "value": value})
        return id

    async def tool_ran(
        self, name: str, input: Any, output: Any, *, call_id: str | None = None, is_error: bool = False
    ) -> None:
        """Shows a tool that the app ran itself."""
        call_id = call_id or f"{self.run_id}-tool-{self._count('tool')}"
        await self._say({"type": "tool_use", "callId": call_id, "name": name, "input": input})
        failed = {"isError": True} if is_error else {}
        await self._say({"type": "tool_result", "callId": call_id, "name": name, "output": output, **failed})

    async def usage(self, *, id: str | None = None, model: str | None = None, **used: Any) -> None:
        """Adds what a call of a model has used: `inputTokens`, `outputTokens`, `cost`, ... Each id counts once; by default its number."""
        id = id or str(self._count("usage"))
        await self._say({"type": "usage", "id": id, **({"model": model} if model else {}), **used})

    async def title(self, text: str) -> None:
        """Sets the session's title."""
        await self._say({"type": "title", "text": text})

    async def annotate(self, **metadata: Any) -> None:
        """Adds metadata to the answer."""
        await self._say({"type": "annotate", "metadata": metadata})

    @overload
    async def step(self, name: str, work: Callable[[Step], Awaitable[T]]) -> T: ...

    @overload
    async def step(self, name: str, work: Callable[[Step], T]) -> T: ...

    async def step(self, name: str, work: Callable[[Step], Any]) -> Any:
        """Does work that is not repeated once the gateway has its outcome, which is always a copy by JSON.

        A function that is not `async` runs in a thread. A failure is an outcome too, and always raised as a `GatewayError`, with the original as its
        cause the first time. Near the end of the slice the step is left to the next one.
        """
        n, known = self._next("step", "step", name)
        if known and is_over(known):
            return result_of(known)
        # One step in each slice, however short it is, so that a run goes on.
        if self._has_done and asyncio.get_running_loop().time() >= self.deadline:
            return await self._reply.wait(is_late=True)
        begun = {"type": "step", "n": n, "name": name}
        await self._say(begun)
        if self.rehearsing:
            return await self._reply.wait()
        self._reply.working += 1
        try:
            value = await called(work, Step(f"{self.run_id}-{n}", known is not None))
            copy = json.loads(to_json(value, f"The result of step {name!r}"))
            await self._say({**begun, "value": copy})
            return copy
        except Exception as error:
            failure = failure_of(error)
            await self._say({**begun, "error": failure})
            raise GatewayError(failure.get("code", "INTERNAL"), failure["message"]) from error
        finally:
            self._has_done = True
            self._reply.working -= 1
            self._reply.rest_soon()

    async def sleep(self, seconds: float | None = None, *, until: datetime | None = None, name: str = "sleep") -> None:
        """Waits for a duration, or until a time. Nothing of the app runs meanwhile."""
        if (seconds is None) == (until is None):
            raise GatewayError("INVALID_PARAMS", "sleep: must have either seconds or until")
        n, known = self._next("step", "sleep", name)
        if known and is_over(known):
            return
        if not known:
            wait = {"until": until.timestamp() * 1000} if until else {"ms": (seconds or 0) * 1000}
            await self._say({"type": "sleep", "n": n, "name": name, **wait})
        await self._reply.wait()

    async def ask(self, name: str, payload: Any = None, *, schema: dict[str, Any] | None = None) -> Any:
        """Asks the person, whose answer fits the JSON Schema. Raises `DENIED` if they decline."""
        return await self._call("ask", name, payload=payload, schema=schema)

    async def confirm(self, name: str, input: Any = None, *, message: str | None = None) -> Confirmation:
        """Asks the person for consent."""
        answer: Confirmation = await self._call("confirm", name, input=input, message=message)
        return answer

    async def call_tool(self, name: str, input: Any = None) -> Any:
        """Calls one of `tools`, which the gateway runs. Raises `DENIED`, `TOOL_FAILED`."""
        return await self._call("tool", name, required={"input": input})

    async def spawn(
        self, app: str, message: str, *, id: str | None = None, detached: bool | None = None, wakes: bool | None = None
    ) -> dict[str, Any]:
        """Begins a child run of an app of the gateway. Returns its end (`runId`, `text`, `stopReason`); of a detached one its `runId`, at once."""
        required = {"app": app, "message": message}
        child: dict[str, Any] = await self._call("spawn", app, required=required, id=id, detached=detached, wakes=wakes)
        return child

    async def _call(self, kind: str, name: str, required: Line | None = None, **fields: Any) -> Any:
        n, known = self._next("call", kind, name)
        if known and is_over(known):
            return result_of(known)
        if not known:
            own = required or {}
            named = {} if "app" in own else {"name": name}
            more = {field: value for field, value in fields.items() if value is not None}
            await self._say({"type": kind, "n": n, **named, **own, **more})
        return await self._reply.wait()

    async def _say(self, line: Line) -> None:
        self._reply.say(line)
        await self._reply.room()

    def _count(self, what: str) -> int:
        self._numbers[what] += 1
        return self._numbers[what]

    def _next(self, what: str, kind: str, name: str) -> tuple[int, dict[str, Any] | None]:
        """The number of the next step or call, and what the gateway knows of it. Ends the run if that was another one."""
        if not (isinstance(name, str) and 0 < len(name) <= LONGEST_NAME):
            raise GatewayError("INVALID_PARAMS", f"name: a {kind} has a name of 1 to {LONGEST_NAME} characters")
        n = self._count(what)
        known = self._known[what][n - 1] if n <= len(self._known[what]) else None
        if known and (known["type"], known["name"]) != (kind, name):
            message = f'The {known["type"]} {n} was "{known["name"]}", and now is the {kind} "{name}"'
            # An app that catches it could not be matched any further.
            self._reply.end({"type": "error", "code": "STEP_MISMATCH", "message": message})
            raise GatewayError("STEP_MISMATCH", message)
        return n, known


async def called(work: Callable[[Step], Any], step: Step) -> Any:
    is_async = inspect.iscoroutinefunction(work) or inspect.iscoroutinefunction(getattr(work, "__call__", None))
    value = work(step) if is_async else await asyncio.to_thread(work, step)
    return await value if inspect.isawaitable(value) else value


def is_over(known: dict[str, Any]) -> bool:
    return "value" in known or "error" in known


def result_of(known: dict[str, Any]) -> Any:
    error = known.get("error")
    if error:
        raise GatewayError(error.get("code") or "INTERNAL", error["message"])
    return known["value"]


def failure_of(error: Exception) -> dict[str, str]:
    """A failure as a line has it. Only the app's own codes are told."""
    if isinstance(error, GatewayError) and CODE.fullmatch(error.code):
        return {"code": error.code, "message": error.message}
    return {"message": str(error) or type(error).__name__}
