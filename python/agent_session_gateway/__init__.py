"""A client of an Agent Session Gateway, and apps for it."""

from .client import GatewayClient
from .errors import GatewayError
from .run import Event, Run, text_of

__all__ = ["Event", "GatewayClient", "GatewayError", "Run", "text_of"]
