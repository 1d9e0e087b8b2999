"""Apps and clients of an Agent Session Gateway."""

from .app import App
from .client import GatewayClient
from .errors import GatewayError
from .run import Event, Run, text_of
from .turn import Confirmation, Step, Turn
from .work import work

__all__ = ["App", "Confirmation", "Event", "GatewayClient", "GatewayError", "Run", "Step", "Turn", "text_of", "work"]
