"""Signatures of Standard Webhooks."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import time
import uuid
from collections.abc import Mapping, Sequence

from .errors import GatewayError

TOLERANCE = 300
"""Most seconds that the time of a request may differ from this clock."""


def keys_of(secret: str | Sequence[str]) -> list[bytes]:
    """The keys of secrets: base64 of 24 to 64 bytes each, with `whsec_` before it or without. Raises `INVALID_PARAMS`."""
    keys = []
    for each in [secret] if isinstance(secret, str) else secret:
        try:
            key = base64.b64decode(each.removeprefix("whsec_"), validate=True)
        except (binascii.Error, ValueError):
            key = b""
        if not 24 <= len(key) <= 64:
            how = "make one by `openssl rand -base64 32`, with whsec_ before it or without"
            raise GatewayError("INVALID_PARAMS", f"secret: must be the base64 of 24 to 64 bytes; {how}")
        keys.append(key)
    if not keys:
        raise GatewayError("INVALID_PARAMS", "secret: must be a text")
    return keys


def signature_of(key: bytes, id: str, timestamp: str, body: bytes) -> str:
    digest = hmac.new(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def signed(keys: Sequence[bytes], body: bytes = b"") -> dict[str, str]:
    """Headers that sign a body."""
    id, timestamp = f"msg_{uuid.uuid4().hex}", str(int(time.time()))
    signatures = " ".join(signature_of(key, id, timestamp, body) for key in keys)
    return {"webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures}


def check(keys: Sequence[bytes], headers: Mapping[str, str], body: bytes) -> None:
    """Raises `UNAUTHENTICATED` for a body that is signed wrongly, or whose time is off."""
    id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    given = headers.get("webhook-signature", "")
    if not (id and given and timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        raise GatewayError("UNAUTHENTICATED", "The slice is not signed", status=401)
    if abs(time.time() - int(timestamp)) > TOLERANCE:
        raise GatewayError("UNAUTHENTICATED", "The slice is too old, or too new", status=401)
    right = [signature_of(key, id, timestamp, body).encode() for key in keys]
    if not any(hmac.compare_digest(each.encode(), own) for each in given.split(" ") for own in right):
        raise GatewayError("UNAUTHENTICATED", "The signature does not match the slice", status=401)
