"""The same agent beside the routes of a FastAPI application.

APP_SECRET=... uvicorn fastapi_agent:api --port 8000
"""

from agent import app
from fastapi import FastAPI

api = FastAPI()
api.mount("/agent", app)


@api.get("/")
async def index() -> dict[str, str]:
    return {"agent": "/agent/"}
