"""Requests to a gateway, and what their failures mean."""

from __future__ import annotations

import asyncio
import inspect
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar, Union

import httpx

from .errors import GatewayError

Token = Union[str, Callable[[], Union[str, Awaitable[str]]], None]

T = TypeVar("T")

FOREIGN_CODES = {401: "UNAUTHENTICATED", 413: "PAYLOAD_TOO_LARGE", 429: "RATE_LIMITED"}
# A gateway that asks for a longer wait is not asked again: the error says how long to wait.
LONGEST_WAIT = 60.0
# Seconds. A connection that was not made has sent nothing, so that this is known before the whole time is over.
LONGEST_CONNECT = 10.0


class Unsent(GatewayError):
    """A request that surely did not reach a gateway."""


class Http:
    """Makes requests with fresh credentials."""

    def __init__(self, base_url: str, token: Token, client: httpx.AsyncClient, timeout: float) -> None:
        self.base_url = base_url.rstrip("/")
        self.timeout = timeout
        self._token = token
        self._client = client

    async def _headers(self) -> dict[str, str]:
        token = self._token() if callable(self._token) else self._token
        if inspect.isawaitable(token):
            token = await token
        return {"authorization": f"Bearer {token}"} if token else {}

    @asynccontextmanager
    async def open(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        query: Any = None,
        limit: float | None = None,
        **body: Any,
    ) -> AsyncIterator[httpx.Response]:
        """Opens a response, which is good. A token that was refused is asked for once more, where a function gives it.

        Args:
            limit: Seconds for it to begin. By default `timeout`.
            body: `json` or `content`.
        """
        url = self.base_url + path
        limit = limit or self.timeout
        for refreshed in (not callable(self._token), True):
            own = {**await self._headers(), **(headers or {})}
            wait = httpx.Timeout(None, connect=min(self.timeout, LONGEST_CONNECT))
            request = self._client.build_request(method, url, headers=own, params=query, timeout=wait, **body)
            try:
                response = await in_time(self._client.send(request, stream=True), limit)
            except TimeoutError:
                raise GatewayError("TIMEOUT", f"{url} was not answered within {limit:g} s", retryable=True) from None
            except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
                message = f"{url} cannot be reached: {error}. Is a gateway running there?"
                raise Unsent("NETWORK", message, retryable=True) from error
            except httpx.TransportError as error:
                raise broken(url, error) from error
            try:
                if response.is_success:
                    yield response
                    return
                if response.status_code != 401 or refreshed:
                    raise await self._refusal(response, url)
            finally:
                await response.aclose()

    async def json(self, method: str, path: str, **request: Any) -> Any:
        """Makes a request and returns the JSON of its answer, None for 204."""
        async with self.open(method, path, **request) as response:
            if response.status_code == 204:
                return None
            if response.headers.get("content-type", "").startswith("text/event-stream"):
                raise GatewayError("INVALID_REQUEST", f"{path} answered with a stream: call it with stream()", status=400)
            await self._read(response)
            try:
                return response.json()
            except ValueError as error:
                raise foreign(self.base_url + path, "not with JSON") from error

    async def _read(self, response: httpx.Response) -> None:
        try:
            await in_time(response.aread(), self.timeout)
        except TimeoutError:
            raise GatewayError("TIMEOUT", f"{response.url}: the answer did not end", retryable=True) from None
        except httpx.TransportError as error:
            raise broken(str(response.url), error) from error

    async def _refusal(self, response: httpx.Response, url: str) -> GatewayError:
        """The gateway's own error. A response of an intermediary becomes the closest code."""
        status = response.status_code
        wait = wait_of(response.headers.get("retry-after", ""))
        try:
            await self._read(response)
            body = response.json()["error"]
            return GatewayError.from_json({"code": body["code"], **body}, status, wait)
        except (GatewayError, ValueError, TypeError, KeyError):
            pass
        message = f"{url} answered, but not as a gateway does, with status {status}"
        kind = GatewayError if status >= 500 else Unsent
        return kind(
            FOREIGN_CODES.get(status, "NETWORK"),
            message,
            status=status,
            retryable=status != 413,
            retry_after=wait,
        )


async def in_time(work: Coroutine[Any, Any, T], seconds: float) -> T:
    """Awaits work, in a task of its own. Raises `TimeoutError`.

    `asyncio.timeout` cancels the caller's task, which Python 3.11 takes for a cancellation by somebody else where anyio, below httpx, has cancelled
    in it before.
    """
    return await asyncio.wait_for(asyncio.create_task(work), seconds)


def broken(url: str, cause: object = "it fell silent, without a heartbeat") -> GatewayError:
    """The error of a connection that ended before its requests did."""
    return GatewayError("NETWORK", f"{url} broke off: {cause}. Requests under way may have been done.", retryable=True)


def foreign(url: str, what: str) -> GatewayError:
    """The error of an answer that did not come from a gateway."""
    message = f"{url} answered, but {what}. Is this the address of a gateway?"
    return GatewayError("NETWORK", message, retryable=True)


def wait_of(retry_after: str) -> float | None:
    """Seconds of a `Retry-After`."""
    if retry_after.isascii() and retry_after.isdigit():
        return float(retry_after)
    try:
        return max(0.0, (parsedate_to_datetime(retry_after) - datetime.now(timezone.utc)).total_seconds())
    except (TypeError, ValueError):
        return None


def is_final(error: GatewayError) -> bool:
    """Whether the gateway itself refused, so that it would refuse the same request again."""
    return 400 <= error.status < 500 and not error.retryable and error.status not in (408, 429)


def may_pass(error: GatewayError) -> bool:
    """Whether the same may succeed later."""
    if error.retry_after is not None and error.retry_after > LONGEST_WAIT:
        return False
    if error.status == 429:
        return error.retry_after is not None
    return error.retryable or error.code == "TIMEOUT"


def may_have_arrived(error: GatewayError) -> bool:
    """Whether a request that failed with this error may have had its effect."""
    if isinstance(error, Unsent):
        return False
    is_unknown = isinstance(error.details, dict) and error.details.get("outcome") == "unknown"
    return error.code in ("NETWORK", "TIMEOUT") or is_unknown


async def back_off(tried: int, floor: float | None = None) -> None:
    """Waits between two attempts: full jitter up to 30 s, and never under the gateway's wait."""
    longest = min(30.0, 0.25 * 2 ** min(tried, 10))
    await asyncio.sleep(max(min(floor or 0.0, LONGEST_WAIT), random.uniform(0, longest)))
