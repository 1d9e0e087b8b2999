"""Apps for the tests that serve them. As a program it asks for work: served_app.py <gateway> <app>."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator

from agent_session_gateway import App, GatewayError, Step, Turn, work

app = App(secret=os.environ["APP_SECRET"])


@app.run
async def trip(turn: Turn) -> AsyncGenerator[str, None]:
    await turn.title("A trip")
    await turn.reason("Where to? ")
    yield f"To {turn.text}"
    day = await turn.ask("day", "Which day?", schema={"type": "string"})
    await turn.usage(model="m", inputTokens=3, outputTokens=4)
    price, *_ = await asyncio.gather(turn.call_tool("price", {}), turn.sleep(0.05))
    yield f" on {day} for {price['euros']} euros."
    answer = await turn.confirm("book", {"price": price}, message="Book it?")
    if not answer["approved"]:
        return
    number = await turn.step("book", lambda step: f"{turn.text.upper()}-{step.key[-1]}"[-6:])
    await turn.data("ticket", {"number": number})
    child = await turn.spawn("helper", turn.text)
    yield f" Booked as {number}: {child['text']}"


@app.run
async def endless(turn: Turn) -> AsyncGenerator[str, None]:
    yield "I go on. "
    try:
        await asyncio.sleep(600)
    finally:
        print("endless: cancelled")


@app.run
async def fails(turn: Turn) -> str:
    if turn.text == "coded":
        raise GatewayError("NO_SEATS", "There are none")
    raise ValueError("a secret")


@app.run("long")
async def long(turn: Turn) -> None:
    for i in range(8):

        async def pause(_: Step, value: int = i) -> int:
            await asyncio.sleep(0.1)
            return value

        await turn.say(f"{await turn.step('count', pause)} ")


if __name__ == "__main__":
    asyncio.run(work(app, sys.argv[1], sys.argv[2]))
