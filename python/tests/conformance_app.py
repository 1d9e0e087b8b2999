"""The app of the conformance cases: does what the text of its message says."""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

from agent_session_gateway import App, GatewayError, Turn

app = App(secret=os.environ["APP_SECRET"])


@app.run("conformance")
async def conformance(turn: Turn) -> None:
    last: Any = None
    for instruction in json.loads(turn.text):
        if instruction[0] == "throw":
            raise GatewayError(instruction[1], instruction[2])
        if instruction[0] == "crash":
            raise ValueError("nobody is told this")
        if instruction[0] == "last":
            await turn.say(json.dumps(last, ensure_ascii=False, separators=(",", ":")))
        else:
            last = await outcome(turn, instruction)


async def outcome(turn: Turn, instruction: list[Any]) -> Any:
    try:
        return await do(turn, *instruction)
    except GatewayError as error:
        return {"error": {"code": error.code, "message": error.message}}


async def do(turn: Turn, what: str, *given: Any) -> Any:
    first, *rest = given
    match what:
        case "say":
            return await turn.say(first)
        case "reason":
            return await turn.reason(first)
        case "data":
            return await turn.data(rest[0], rest[1], id=first)
        case "usage":
            return await turn.usage(**first)
        case "title":
            return await turn.title(first)
        case "annotate":
            return await turn.annotate(**first)
        case "ran":
            return await turn.tool_ran(*rest, call_id=first)
        case "step":
            return await turn.step(first, lambda _: rest[0])
        case "fail":
            return await turn.step(first, lambda _: fail(*rest))
        case "sleep":
            return await turn.sleep(rest[0] / 1000, name=first)
        case "ask":
            return await turn.ask(first, rest[0] if rest else None, schema=rest[1] if rest[1:] else None)
        case "confirm":
            return await turn.confirm(first, rest[0] if rest else None, message=rest[1] if rest[1:] else None)
        case "tool":
            return await turn.call_tool(first, *rest)
        case "spawn":
            return await turn.spawn(first, rest[0], **(rest[1] if rest[1:] else {}))
        case "together":
            return await asyncio.gather(*(outcome(turn, each) for each in first))
        case "spend":
            return await asyncio.sleep(first / 1000)
    raise ValueError(what)


def fail(code: str, message: str) -> None:
    raise GatewayError(code, message)
