"""The client against a gateway that is a process of its own, over lines that break."""

from __future__ import annotations

import asyncio
import unittest
import uuid
from contextlib import aclosing
from typing import Any

import httpx

from agent_session_gateway import Event, GatewayClient, GatewayError, text_of

from .support import TOKEN, Gateway, Proxy, foreign, no_pauses

SLOW = "".join(f"{i} é\u2028→ " for i in range(40))


def new_key() -> str:
    return uuid.uuid4().hex


async def read_until(events: Any, kind: str) -> list[Event]:
    """Reads events up to the first of a kind."""
    read: list[Event] = []
    async with aclosing(events) as each:
        async for event in each:
            read.append(event)
            if event["type"] == kind:
                break
    return read


def numbers(events: list[Event]) -> list[int]:
    return [int(event["cursor"].rpartition(".")[2]) for event in events]


gateway = Gateway()


def setUpModule() -> None:
    gateway.start()


def tearDownModule() -> None:
    gateway.close()


class ClientTest(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        asyncio.get_running_loop().set_debug(False)
        self.proxy = await self.enterAsyncContext(Proxy(gateway.port))
        # Each request has a connection of its own, which can be cut.
        http = await self.enterAsyncContext(httpx.AsyncClient(limits=httpx.Limits(max_keepalive_connections=0)))
        self.client = GatewayClient(self.proxy.url, token=TOKEN, http=http)
        self.direct = await self.enterAsyncContext(GatewayClient(gateway.url, token=TOKEN))

    async def asked(self, session: str) -> list[str]:
        """What people said in a session, as the gateway has it."""
        history = await self.direct.call("history", sessionId=session)
        return [text_of(message) for message in history["messages"] if message["role"] == "user"]

    async def test_send(self) -> None:
        with self.subTest("has the answer as it grows, and its end"):
            run = await self.client.send("main", "good day", metadata={"page": 1})
            self.assertEqual([piece async for piece in run.text()], ["good ", "day "])
            result = await run.result()
            self.assertEqual((result["stopReason"], text_of(result["message"])), ("end", "good day "))
            self.assertEqual(result["runId"], run.run_id)
            self.assertEqual(run.message and run.message["id"], run.idempotency_key)

        with self.subTest("is found again by its id, and read from its beginning"):
            again = await self.client.run("main", run.run_id)
            self.assertEqual("".join([piece async for piece in again.text()]), "good day ")
            self.assertEqual(await again.result(), {**await run.result()})

        with self.subTest("ends with the error of an app that failed"):
            failed = await self.client.send("fails:main", "go")
            result = await failed.result()
            self.assertEqual(result["stopReason"], "error")
            self.assertEqual(result["error"], {"code": "UPSTREAM_FAILED", "message": "The model is away"})

        with self.subTest("is refused with a coded error that names the field"):
            with self.assertRaises(GatewayError) as refused:
                await self.client.send("main", "x", onBusy="maybe")
            self.assertEqual((refused.exception.code, refused.exception.status), ("INVALID_PARAMS", 400))
            self.assertEqual(refused.exception.details[0]["path"], "onBusy")

        with self.subTest("is answered, and aborted"):
            run = await self.client.send("asks:one", "hi")
            question = (await read_until(run.__aiter__(), "input_required"))[-1]
            await self.client.respond("asks:one", question["callId"], output="Ada")
            self.assertEqual(text_of((await run.result())["message"]), "Hello Ada")
            run = await self.client.send("asks:one", "hi")
            self.assertTrue(await run.abort("no more"))
            self.assertEqual((await run.result())["stopReason"], "aborted")
            self.assertFalse(await run.abort())

    async def test_a_send_whose_answer_is_lost_runs_once(self) -> None:
        for lost in ([0], [1, 40, 0], [0] * 9):
            session = new_key()
            self.proxy.cuts, before = [*lost], len(self.proxy.requests)
            with no_pauses():
                run = await self.client.send(session, "only once")
            sends = [line for line in self.proxy.requests[before:] if line == b"POST /send"]
            self.assertEqual(len(sends), len(lost) + 1)
            self.assertEqual(text_of((await run.result())["message"]), "only once ")
            self.assertEqual(await self.asked(session), ["only once"])

        with self.subTest("also where a proxy answers in the gateway's place"):
            session = new_key()
            self.proxy.answers = [foreign("502 Bad Gateway", "<h1>oh</h1>"), foreign("200 OK", "<h1>log in</h1>")]
            await (await self.client.send(session, "once")).result()
            self.assertEqual(await self.asked(session), ["once"])

        with self.subTest("also by another call with the same key"):
            session, key = new_key(), new_key()
            runs = await asyncio.gather(*(self.client.send(session, "one", idempotency_key=key) for _ in range(5)))
            self.assertEqual(len({run.run_id for run in runs}), 1)
            self.assertEqual(await self.asked(session), ["one"])

    async def test_a_message_that_surely_did_not_arrive_is_given_up(self) -> None:
        async with GatewayClient("http://127.0.0.1:1", token=TOKEN) as nobody:
            with no_pauses(), self.assertRaises(GatewayError) as given_up:
                await nobody.send("main", "x")
        self.assertEqual(given_up.exception.code, "NETWORK")
        self.assertIn("127.0.0.1:1/send cannot be reached", given_up.exception.message)

    async def test_events_are_exact_wherever_the_line_is_cut(self) -> None:
        run = await self.direct.send("slow:cut", "go")
        whole = [event async for event in run]
        self.assertEqual(text_of((await run.result())["message"]), SLOW)
        with no_pauses():
            for step in (97, 211, 600):
                self.proxy.cuts = [0, *range(400, 400 + 30 * step, step)]
                read = await read_until(self.client.events("slow:cut", run.cursor), "message_end")
                self.assertEqual(read, whole)
                self.assertGreater(self.proxy.cut, 4)
                self.proxy.cuts = []

        with self.subTest("while they are written"):
            run = await self.client.send("slow:live", "go")
            self.proxy.cuts = [500 + 37 * i for i in range(12)]
            with no_pauses():
                live = [event async for event in run]
            self.proxy.cuts = []
            self.assertEqual("".join(event["delta"] for event in live if event["type"] == "content_delta"), SLOW)
            self.assertEqual(numbers(live), [*range(numbers(live)[0], numbers(live)[-1] + 1)])
            self.assertEqual({event["runId"] for event in live}, {run.run_id})

        with self.subTest("and go on after a cursor that was kept"):
            for at in (0, 5, len(whole) - 2):
                rest = await read_until(self.client.events("slow:cut", whole[at]["cursor"]), "message_end")
                self.assertEqual(rest, whole[at + 1 :])

    async def test_a_reader_from_before_the_first_conversation_misses_nothing(self) -> None:
        session = new_key()
        reading = asyncio.create_task(read_until(self.client.events(session, "now"), "message_end"))
        while b"GET /events?sessionId=" + session.encode() not in b"".join(self.proxy.requests):
            await asyncio.sleep(0.01)
        while "sessions" not in self.proxy.said:
            await asyncio.sleep(0.01)
        self.proxy.answers = [foreign("503 Away", "")] * 3
        self.proxy.cut_all()
        await (await self.direct.send(session, "first")).result()
        self.proxy.answers = []
        self.assertEqual([event["type"] for event in await reading][0], "message_accepted")

    async def test_gaps_are_told(self) -> None:
        await (await self.direct.send("main", "hello")).result()
        for start, reason in (("nonsense", "malformed"), ("AAAAAAAAAAA.1.3", "epoch")):
            read = await read_until(self.client.events("main", start), "snapshot")
            self.assertEqual([event["type"] for event in read], ["gap", "snapshot"])
            self.assertEqual(read[0]["reason"], reason)

        with self.subTest("of what retention has cut, also to a run, whose text is whole"):
            runs = [await self.direct.send("slow:long", "go") for _ in range(4)]
            await runs[3].result()
            first = [event["type"] async for event in runs[0]]
            self.assertEqual(first, ["gap", "snapshot"])
            again = await self.client.run("slow:long", runs[0].run_id)
            self.assertEqual("".join([piece async for piece in again.text()]), SLOW)

        with self.subTest("once, where the line is cut between a gap and its snapshot"):
            for cut in range(200, 1600, 100):
                self.proxy.cuts = [cut]
                with no_pauses():
                    read = await read_until(self.client.events("main", "nonsense"), "snapshot")
                self.assertEqual([event["type"] for event in read], ["gap", "snapshot"])

        with self.subTest("and a snapshot that was asked for comes alone"):
            read = await read_until(self.client.events("main", "snapshot"), "snapshot")
            self.assertEqual([event["type"] for event in read], ["snapshot"])

    async def test_a_line_that_falls_silent_is_opened_again(self) -> None:
        self.proxy.deaf = 2
        reading = asyncio.create_task(read_until(self.client.events("main", "now"), "message_end"))
        while self.proxy.silenced < 2:
            await asyncio.sleep(0.02)
        await (await self.direct.send("main", "hello")).result()
        self.assertEqual((await reading)[-1]["message"]["content"][0]["text"], "hello ")

    async def test_a_run_survives_the_death_of_the_gateway(self) -> None:
        with no_pauses():
            run = await self.client.send("slow:kill", "go")
            pieces: list[str] = []
            async for piece in run.text():
                pieces.append(piece)
                if len(pieces) == 5:
                    gateway.end()
                    restarted = asyncio.create_task(asyncio.to_thread(gateway.start))
            await restarted
        self.assertEqual("".join(pieces), SLOW)

    async def test_methods(self) -> None:
        self.assertEqual(await self.client.invoke("add", {"a": 19, "b": 23}), 42)
        self.assertIsNone(await self.client.invoke("nothing"))
        with self.assertRaises(GatewayError) as refused:
            await self.client.invoke("none")
        self.assertEqual((refused.exception.code, refused.exception.status), ("METHOD_NOT_FOUND", 404))

        with self.subTest("are not repeated where the answer is lost"):
            key = new_key()
            self.proxy.cuts = [0]
            with self.assertRaises(GatewayError) as lost:
                await self.client.invoke("count", {"key": key})
            self.assertEqual(lost.exception.code, "NETWORK")
            self.assertEqual(await self.client.invoke("counted", {"key": key}), 1)

        with self.subTest("that stream are resumed"), no_pauses():
            self.proxy.cuts = [900, 1200, 1500]
            items = [item async for item in self.client.stream("numbers", {"to": 200})]
            self.assertEqual(items, [*range(1, 201)])
            self.assertEqual(self.proxy.cuts, [])

        with self.subTest("but not where they give their items no ids"), no_pauses():
            key = new_key()
            self.proxy.cuts = [500]
            with self.assertRaises(GatewayError) as lost:
                async for _ in self.client.stream("letters", {"key": key}):
                    pass
            self.assertEqual(lost.exception.code, "NETWORK")
            self.assertEqual(await self.client.invoke("counted", {"key": key}), 1)

        with self.subTest("and fail as the method does"):
            with self.assertRaises(GatewayError) as refused:
                async for _ in self.client.stream("none"):
                    pass
            self.assertEqual(refused.exception.code, "METHOD_NOT_FOUND")

    async def test_credentials(self) -> None:
        given: list[str] = []

        def token() -> str:
            given.append(TOKEN if given else "a-token-that-nobody-takes-any-more")
            return given[-1]

        async with GatewayClient(gateway.url, token=token) as client:
            self.assertEqual(await client.invoke("add", {"a": 1, "b": 1}), 2)
        self.assertEqual(len(given), 2)
        async with GatewayClient(gateway.url, token="a-token-that-nobody-takes-any-more") as client:
            for refused in (client.send("main", "x"), read_until(client.events("main"), "never")):
                with self.assertRaises(GatewayError) as error:
                    await refused
                self.assertEqual(error.exception.code, "UNAUTHENTICATED")

    async def test_reads_are_repeated(self) -> None:
        self.proxy.cuts = [0, 0, 0]
        with no_pauses(), self.assertRaises(GatewayError) as lost:
            await self.client.call("sessions")
        self.assertEqual((lost.exception.code, self.proxy.cut), ("NETWORK", 3))
        self.proxy.cuts = [0, 10]
        with no_pauses():
            self.assertEqual([app["name"] for app in (await self.client.call("apps"))["apps"]][0], "echo")
