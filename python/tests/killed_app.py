"""An app whose effects are lines of a file, for tests that kill it."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import AsyncGenerator

from agent_session_gateway import App, Step, Turn

app = App(secret=os.environ["APP_SECRET"])


@app.run("default")
async def killed(turn: Turn) -> AsyncGenerator[str, None]:
    for at in range(1, int(os.environ["STEPS"]) + 1):

        async def effect(step: Step, value: int = at) -> int:
            await asyncio.sleep(random.uniform(0, 0.04))
            with open(os.environ["EFFECTS"], "a") as file:
                file.write(f"{step.key}\n")
            await asyncio.sleep(random.uniform(0, 0.005))
            return value

        yield f"w{await turn.step(f's{at}', effect)} "
        if at == 3 and turn.text == "ask":
            yield f"{await turn.ask('go on?')} "
        if at == 5:
            await turn.sleep(0.02, name="rest")
