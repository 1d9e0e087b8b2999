"""An agent without a framework, which a gateway calls.

APP_SECRET=... uvicorn agent:app --port 8000
"""

import os
from collections.abc import AsyncGenerator

from agent_session_gateway import App, Step, Turn

app = App(secret=os.environ["APP_SECRET"])


@app.run
async def agent(turn: Turn) -> AsyncGenerator[str, None]:
    yield f"A table for {turn.text}. "
    # The process may end while the person thinks: the answer comes with another slice.
    day = await turn.ask("day", "Which day?", schema={"type": "string"})

    async def reserve(step: Step) -> str:
        # Hand `step.key` to a service that takes idempotency keys.
        return f"table 7 on {day}"

    yield f"Reserved {await turn.step('reserve', reserve)}."
