"""The one error of this package."""

from __future__ import annotations

from typing import Any, Mapping


class GatewayError(Exception):
    """A coded error, of the gateway or of this package. Match on `code`.

    `status` is the HTTP status, 0 for an error that arose here. `retry_after` is in seconds.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int = 0,
        details: Any = None,
        retryable: bool = False,
        retry_after: float | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status
        self.details = details
        self.retryable = retryable
        self.retry_after = retry_after
        self.request_id = request_id

    @classmethod
    def from_json(cls, body: Mapping[str, Any], status: int = 0, retry_after: float | None = None) -> GatewayError:
        """Rebuilds an error from its wire form."""
        wait = body.get("retryAfterMs")
        return cls(
            str(body.get("code", "INTERNAL")),
            str(body.get("message", "")),
            status=status or int(body.get("status") or 0),
            details=body.get("details"),
            retryable=bool(body.get("retryable")),
            retry_after=wait / 1000 if isinstance(wait, (int, float)) else retry_after,
            request_id=body.get("requestId"),
        )
