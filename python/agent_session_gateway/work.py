"""Serves an app by pull, from where no gateway can call it."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

import httpx

from ._http import Http, back_off, is_final
from .app import App, log
from .errors import GatewayError
from .signature import signed

# Seconds that a question for work waits at the gateway.
PATIENCE = 30.0
# Seconds. The gateway's own limit is shorter.
LONGEST_SLICE = 2 * 3600.0


async def work(app: App, url: str, name: str, *, at_once: int = 8, http: httpx.AsyncClient | None = None) -> None:
    """Answers slices that it asks a gateway for, until it is cancelled.

    Args:
        app: Answers them. Its first secret signs.
        url: The address of the gateway's work, as `https://example.com/agent/work`.
        name: The app's name there.
        at_once: How many slices are answered at the same time.
        http: An `httpx.AsyncClient` of your own, which stays open.

    Raises the `GatewayError` with which the gateway refuses the app.
    """
    async with httpx.AsyncClient(limits=httpx.Limits(max_connections=None)) as own:
        asked = Http(url, None, http or own, PATIENCE * 2)
        tasks = [asyncio.create_task(_ask(app, asked, name)) for _ in range(at_once)]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _ask(app: App, http: Http, name: str) -> None:
    tried = 0
    query = {"app": name, "waitMs": int(PATIENCE * 1000)}
    while True:
        try:
            slice = await http.json("GET", "", query=query, headers=signed(app.keys[:1]))
            tried = 0
        except GatewayError as error:
            if is_final(error):
                raise
            log.warning("%s: %s", http.base_url, error)
            await back_off(tried, error.retry_after)
            tried += 1
            continue
        if slice is None:
            continue
        try:
            await _answer(app, http, app.checked(slice))
        except GatewayError as error:
            # The gateway calls the run again.
            log.warning("A slice was not answered: %s", error)


async def _answer(app: App, http: Http, slice: dict[str, Any]) -> None:
    headers = {**signed(app.keys[:1]), "content-type": "application/x-ndjson"}
    query = {"app": slice["app"]}
    async with aclosing(app.reply(slice)) as lines:
        await http.json("POST", f"/{slice['id']}", query=query, content=lines, headers=headers, limit=LONGEST_SLICE)
