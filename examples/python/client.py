"""A program that talks to a gateway.

GATEWAY_URL=http://127.0.0.1:18789 GATEWAY_TOKEN=... python client.py "two people"
"""

import asyncio
import os
import sys

from agent_session_gateway import GatewayClient


async def main() -> None:
    url, token = os.environ["GATEWAY_URL"], os.environ["GATEWAY_TOKEN"]
    async with GatewayClient(url, token=token) as client:
        run = await client.send("python-client", sys.argv[1])
        async for event in run:
            if event["type"] == "content_delta":
                print(event["delta"], end="", flush=True)
            elif event["type"] == "input_required":
                await client.respond("python-client", event["callId"], output="Friday")
        result = await run.result()
        print(f"\n[{result['stopReason']}]")


asyncio.run(main())
