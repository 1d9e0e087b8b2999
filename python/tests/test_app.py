"""What the cases of conformance do not say of apps."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
import time
import unittest
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from datetime import datetime, timezone
from typing import Any
from unittest import mock

from agent_session_gateway import App, GatewayError, Step, Turn
from agent_session_gateway.signature import keys_of, signature_of, signed

SECRET = base64.b64encode(b"s" * 32).decode()
OTHER = base64.b64encode(b"o" * 32).decode()


def a_slice(**fields: Any) -> dict[str, Any]:
    """A slice of a run that has just begun, with fields over its own."""
    message = {"id": "m1", "role": "user", "content": [{"type": "text", "text": "hi"}]}
    own: dict[str, Any] = {
        **{"protocol": 1, "id": "slice_1", "app": "answer", "runId": "run_1", "attempt": 1, "now": 0, "deadlineMs": 5000},
        **{"session": {"id": "main", "app": "answer", "epoch": "e"}, "user": None, "message": message, "history": []},
        **{"earlier": 0, "metadata": {}, "parameters": {}, "trigger": None, "tools": [], "steps": [], "calls": []},
        **{"said": {"text": 0, "reasoning": 0}},
    }
    own.update(fields)
    return own


async def lines_of(answer: Callable[[Turn], Any], **fields: Any) -> list[dict[str, Any]]:
    """The lines by which an app answers a slice."""
    app = App(secret=SECRET)
    app.run("answer")(answer)
    async with aclosing(app.reply(app.checked(a_slice(**fields)))) as parts:
        lines = b"".join([part async for part in parts]).splitlines()
    return [json.loads(line) for line in lines if line]


async def posted(app: App, body: bytes, headers: dict[str, str], method: str = "POST") -> tuple[int, bytes]:
    """Calls an app as an ASGI server does."""
    sent: list[dict[str, Any]] = []
    coming = [{"type": "http.request", "body": body}]

    async def receive() -> dict[str, Any]:
        if not coming:
            await asyncio.Event().wait()
        return coming.pop()

    async def send(event: dict[str, Any]) -> None:
        sent.append(event)

    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    await app({"type": "http", "method": method, "path": "/", "headers": raw}, receive, send)
    return sent[0]["status"], b"".join(event.get("body", b"") for event in sent[1:])


class TurnTest(unittest.IsolatedAsyncioTestCase):
    async def test_an_app_may_return_its_answer(self) -> None:
        async def answer(turn: Turn) -> str:
            turn.stop_reason = "max_tokens"
            return f"{turn.text}, {turn.session['id']}"

        said = {"type": "text", "delta": "hi, main"}
        self.assertEqual(await lines_of(answer), [said, {"type": "end", "stopReason": "max_tokens"}])

    async def test_a_result_of_a_step_is_always_a_copy(self) -> None:
        async def answer(turn: Turn) -> str:
            return repr(await turn.step("one", lambda _: {1: (2, 3)}))

        self.assertEqual((await lines_of(answer))[2]["delta"], "{'1': [2, 3]}")

    async def test_a_step_that_returns_no_json_fails(self) -> None:
        for value in (object(), float("nan"), b"x"):

            async def answer(turn: Turn, value: object = value) -> None:
                await turn.step("one", lambda _: value)

            _, failed, last = await lines_of(answer)
            self.assertEqual((failed["error"]["code"], last["type"], last["code"]), ("INVALID_PARAMS", "error", "INVALID_PARAMS"))

    async def test_a_failure_is_the_same_whenever_it_is_heard(self) -> None:
        async def answer(turn: Turn) -> str:
            try:
                await turn.step("one", lambda _: 1 / 0)
            except GatewayError as error:
                return f"{error.code} {error.message}"
            return "none"

        lines = await lines_of(answer)
        self.assertEqual(lines[1]["error"], {"message": "division by zero"})
        again = await lines_of(answer, steps=[{"n": 1, "type": "step", "name": "one", "error": lines[1]["error"]}])
        self.assertEqual([line for line in again if line["type"] == "text"], [lines[2]])
        self.assertEqual(lines[2]["delta"], "INTERNAL division by zero")

        with self.subTest("and tells nobody the words where it is not caught"), self.assertLogs("agent_session_gateway"):

            async def careless(turn: Turn) -> None:
                await turn.step("one", lambda _: 1 / 0)

            self.assertEqual((await lines_of(careless))[-1], {"type": "error", "code": "INTERNAL", "message": "The app failed"})

    async def test_the_words_of_a_foreign_error_are_told_to_nobody(self) -> None:
        class Coded(Exception):
            code = "NO_MONEY"
            message = "a secret"

        async def answer(turn: Turn) -> None:
            raise Coded

        with self.assertLogs("agent_session_gateway"):
            self.assertEqual(await lines_of(answer), [{"type": "error", "code": "INTERNAL", "message": "The app failed"}])

    async def test_functions_that_block_run_in_a_thread_and_are_given_the_step(self) -> None:
        given: list[tuple[Step, bool]] = []

        def blocking(step: Step) -> None:
            given.append((step, threading.current_thread() is threading.main_thread()))

        async def answer(turn: Turn) -> None:
            await turn.step("one", blocking)
            await turn.step("two", blocking)

        await lines_of(answer, steps=[{"n": 1, "type": "step", "name": "one"}])
        self.assertEqual(given, [(Step("run_1-1", True), False), (Step("run_1-2", False), False)])

    async def test_branches_that_go_on_are_waited_for(self) -> None:
        async def branch(turn: Turn) -> None:
            for i in range(5):
                await turn.step(f"s{i}", lambda _: time.sleep(0.01))

        async def answer(turn: Turn) -> None:
            await asyncio.gather(turn.ask("a"), turn.sleep(1), branch(turn))

        lines = await lines_of(answer)
        self.assertEqual([line["name"] for line in lines if "value" in line], [f"s{i}" for i in range(5)])
        self.assertEqual(lines[-1], {"type": "wait"})

    async def test_branches_that_speak_are_waited_for(self) -> None:
        async def branch(turn: Turn) -> None:
            for i in range(20):
                await asyncio.sleep(0)
                await turn.say(str(i))

        async def answer(turn: Turn) -> None:
            await asyncio.gather(turn.ask("a"), branch(turn))

        lines = await lines_of(answer)
        self.assertEqual([line["delta"] for line in lines[1:-1]], [str(i) for i in range(20)])

    async def test_code_that_waits_is_cleaned_up(self) -> None:
        seen: list[str] = []

        async def answer(turn: Turn) -> AsyncGenerator[str, None]:
            try:
                yield "a"
                await turn.ask("a")
            except GatewayError:
                seen.append("error")
            finally:
                seen.append("finally")

        self.assertEqual((await lines_of(answer))[-1], {"type": "wait"})
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        self.assertEqual(seen, ["finally"])

    async def test_bad_arguments_are_refused_before_anything_is_said(self) -> None:
        bad: list[Callable[[Turn], Any]] = [
            lambda turn: turn.step("", lambda _: 1),
            lambda turn: turn.ask("x" * 129),
            lambda turn: turn.sleep(),
            lambda turn: turn.sleep(1, until=datetime.now(timezone.utc)),
            lambda turn: turn.ask("a", object()),
            lambda turn: turn.data("a", {1, 2}),
        ]
        for each in bad:

            async def answer(turn: Turn, each: Callable[[Turn], Any] = each) -> None:
                await each(turn)

            (last,) = await lines_of(answer)
            self.assertEqual((last["type"], last["code"]), ("error", "INVALID_PARAMS"))

    async def test_a_sleep_may_be_until_a_time(self) -> None:
        async def answer(turn: Turn) -> None:
            await turn.sleep(until=datetime(2030, 1, 1, tzinfo=timezone.utc), name="rest")

        asleep = {"type": "sleep", "n": 1, "name": "rest", "until": 1893456000000}
        self.assertEqual(await lines_of(answer), [asleep, {"type": "wait"}])

    async def test_a_call_says_what_it_was_given_once(self) -> None:
        calls: list[tuple[Callable[[Turn], Any], dict[str, Any]]] = [
            (lambda turn: turn.ask("a", 0, schema={}), {"type": "ask", "name": "a", "payload": 0, "schema": {}}),
            (lambda turn: turn.confirm("b"), {"type": "confirm", "name": "b"}),
            (lambda turn: turn.call_tool("c"), {"type": "tool", "name": "c", "input": None}),
            (
                lambda turn: turn.spawn("d", "Go", detached=False, wakes=True),
                {"type": "spawn", "app": "d", "message": "Go", "detached": False, "wakes": True},
            ),
            (lambda turn: turn.sleep(1.5), {"type": "sleep", "name": "sleep", "ms": 1500}),
        ]
        for call, line in calls:

            async def answer(turn: Turn, call: Callable[[Turn], Any] = call) -> None:
                await call(turn)

            self.assertEqual(await lines_of(answer), [{**line, "n": 1}, {"type": "wait"}])
            known = {"n": 1, "type": line["type"], "name": line.get("name", "d")}
            again = await lines_of(answer, steps=[known], calls=[known])
            self.assertEqual(again, [{"type": "wait"}])

    async def test_ids_are_the_same_in_each_slice(self) -> None:
        async def answer(turn: Turn) -> None:
            await turn.data("chart", 1)
            await turn.data("chart", 2)
            await turn.usage(inputTokens=1)
            await turn.tool_ran("look", 1, 2, is_error=True)

        lines = await lines_of(answer)
        self.assertEqual(lines, await lines_of(answer))
        self.assertEqual(len({line.get("id", line.get("callId")) for line in lines[:-1]}), 4)
        self.assertTrue(lines[4]["isError"])


class ReplyTest(unittest.IsolatedAsyncioTestCase):
    async def test_says_that_it_is_alive(self) -> None:
        app = App(secret=SECRET)
        begun = asyncio.Event()

        @app.run
        async def answer(turn: Turn) -> None:
            await begun.wait()

        with mock.patch("agent_session_gateway.app.ALIVE", 0.01):
            async with aclosing(app.reply(a_slice())) as parts:
                self.assertEqual([await anext(parts), await anext(parts)], [b"\n", b"\n"])
                begun.set()
                self.assertEqual(json.loads(b"".join([part async for part in parts])), {"type": "end"})

    async def test_brings_all_that_was_said_while_nobody_read(self) -> None:
        app = App(secret=SECRET)

        @app.run
        async def answer(turn: Turn) -> AsyncGenerator[str, None]:
            yield "a"
            await asyncio.sleep(0.01)
            yield "b"

        async with aclosing(app.reply(a_slice())) as parts:
            lines = await anext(parts)
            await asyncio.sleep(0.05)
            lines += b"".join([part async for part in parts])
        self.assertEqual([json.loads(line).get("delta") for line in lines.splitlines()], ["a", "b", None])

    async def test_holds_an_app_that_says_more_than_is_read(self) -> None:
        app = App(secret=SECRET)
        said = 0

        @app.run
        async def answer(turn: Turn) -> AsyncGenerator[str, None]:
            nonlocal said
            for said in range(1, 101):
                yield "x" * 65536

        async with aclosing(app.reply(a_slice())) as parts:
            size = len(await anext(parts))
            await asyncio.sleep(0.05)
            self.assertLess(said, 20)
            size += len(b"".join([part async for part in parts]))
        self.assertGreater(size, 100 * 65536)

    async def test_leaving_it_ends_the_code(self) -> None:
        app = App(secret=SECRET)
        over = asyncio.Event()

        @app.run
        async def answer(turn: Turn) -> AsyncGenerator[str, None]:
            try:
                while True:
                    yield "x"
                    await asyncio.sleep(0)
            finally:
                over.set()

        async with aclosing(app.reply(a_slice())) as parts:
            await anext(parts)
        await asyncio.wait_for(over.wait(), 5)


class AsgiTest(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        self.app = App(secret=[f"whsec_{OTHER}", SECRET])

        @self.app.run
        async def answer(turn: Turn) -> str:
            return "ok"

        self.body = json.dumps(a_slice()).encode()

    async def test_takes_slices_of_any_of_its_secrets_or_several_signatures(self) -> None:
        for secrets in ([SECRET], [OTHER], [base64.b64encode(b"z" * 24).decode(), SECRET]):
            status, body = await posted(self.app, self.body, signed(keys_of(secrets), self.body))
            self.assertEqual((status, body.splitlines()[-1]), (200, b'{"type":"end"}'))

    async def test_refuses_what_is_not_signed_so(self) -> None:
        good = signed(keys_of(SECRET), self.body)
        old = str(int(time.time()) - 301)
        key = keys_of(SECRET)[0]
        wrong: list[dict[str, str]] = [
            {},
            {**good, "webhook-id": "other"},
            {**good, "webhook-timestamp": str(int(good["webhook-timestamp"]) + 1)},
            {**good, "webhook-timestamp": "soon"},
            {**good, "webhook-signature": "v1,"},
            {**good, "webhook-signature": good["webhook-signature"].replace("v1,", "v2,")},
            {**good, "webhook-timestamp": old, "webhook-signature": signature_of(key, good["webhook-id"], old, self.body)},
            signed(keys_of(base64.b64encode(b"z" * 32).decode()), self.body),
        ]
        for headers in wrong:
            status, body = await posted(self.app, self.body, headers)
            self.assertEqual((status, json.loads(body)["error"]["code"]), (401, "UNAUTHENTICATED"))
        self.assertEqual((await posted(self.app, self.body + b" ", good))[0], 401)
        self.assertEqual((await posted(self.app, self.body, good, "GET"))[0], 405)

    async def test_names_the_field_that_is_wrong(self) -> None:
        wrong: dict[str, Any] = {"deadlineMs": "soon", "steps": None, "session": [], "runId": 7, "protocol": 2}
        for field, value in wrong.items():
            body = json.dumps(a_slice(**{field: value})).encode()
            status, answer = await posted(self.app, body, signed(keys_of(SECRET), body))
            error = json.loads(answer)["error"]
            self.assertEqual((status, error["code"]), (400, "INVALID_REQUEST"))
            self.assertTrue(error["message"].startswith(f"{field}: must be "), error["message"])

    async def test_refuses_a_slice_that_is_too_large(self) -> None:
        with mock.patch("agent_session_gateway.app.LARGEST_SLICE", 10):
            self.assertEqual((await posted(self.app, self.body, signed(keys_of(SECRET), self.body)))[0], 413)

    def test_has_no_weak_secret(self) -> None:
        for secret in ("", "short", base64.b64encode(b"x" * 16).decode(), [], "no base64!" * 5):
            with self.assertRaisesRegex(GatewayError, "secret: must be"):
                App(secret=secret)
