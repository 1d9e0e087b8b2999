"""The lines of one reply, and when it ends."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from .errors import GatewayError

Line = dict[str, Any]

# Bytes that wait to be sent, above which those who say more wait too.
MOST_WAITING = 256 * 1024


class Reply:
    """Takes the lines that an app's code says, and ends where nothing of it goes on without the gateway."""

    def __init__(self) -> None:
        self.is_over = False
        self.working = 0
        """Functions of steps that run now."""
        self._lines: list[bytes] = []
        self._bytes = 0
        self._said = 0
        self._open = 0
        self._is_late = False
        self._has_lines = asyncio.Event()
        self._has_room = asyncio.Event()
        self._has_room.set()

    @property
    def has_lines(self) -> bool:
        """Whether lines wait to be sent."""
        return bool(self._lines)

    def say(self, line: Line) -> None:
        """Adds a line. Raises `INVALID_PARAMS` if it cannot be written as JSON."""
        if self.is_over:
            return
        text = to_json(line, f"The {line['type']}")
        self._said += 1
        self._lines.append(text + b"\n")
        self._bytes += len(text)
        self._has_lines.set()
        if self._bytes > MOST_WAITING:
            self._has_room.clear()

    async def room(self) -> None:
        """Waits until the gateway has taken most of what was said."""
        await self._has_room.wait()

    def end(self, line: Line) -> None:
        """Adds the last line. The first one counts."""
        self.say(line)
        self.is_over = True

    async def next(self, seconds: float) -> bytes:
        """The lines that were said since, an empty one if there were none for so long."""
        try:
            await asyncio.wait_for(self._has_lines.wait(), seconds)
        except TimeoutError:
            return b"\n"
        lines, self._lines, self._bytes = b"".join(self._lines), [], 0
        self._has_lines.clear()
        self._has_room.set()
        return lines

    async def wait(self, *, is_late: bool = False) -> Any:
        """Waits for what only another slice has: an outcome, or time."""
        self._open += 1
        self._is_late = self._is_late or is_late
        self.rest_soon()
        return await asyncio.get_running_loop().create_future()

    def rest_soon(self) -> None:
        """Ends the reply if the app's code does nothing more in the next turns of the event loop."""
        self._look(self._said, 4)

    def _look(self, said: int, turns: int) -> None:
        if self.is_over or self.working or not self._open:
            return
        if said != self._said:
            self._look(self._said, 4)
        elif turns:
            asyncio.get_running_loop().call_soon(self._look, said, turns - 1)
        else:
            self.end({"type": "continue" if self._is_late else "wait"})


def to_json(value: Any, what: str) -> bytes:
    """A value as one line. Raises `INVALID_PARAMS`."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise GatewayError("INVALID_PARAMS", f"{what} cannot be written as JSON: {error}", status=400) from error
