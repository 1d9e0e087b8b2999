"""What a reader makes of streams that no gateway sends, but for a broken one or something in between."""

from __future__ import annotations

import json
import unittest
from typing import Any

from agent_session_gateway._place import Follower
from agent_session_gateway._sse import SseDecoder, SseEvent
from agent_session_gateway.errors import GatewayError


def an_event(kind: str, cursor: str | None = None, **data: Any) -> SseEvent:
    return SseEvent(kind, json.dumps(data), cursor)


def connected(cursor: str | None, resume: str = "exact") -> SseEvent:
    info = {"epoch": cursor and "e", "resume": resume, **({"cursor": cursor} if cursor else {})}
    return an_event("connected", sessions={"main": info}, heartbeatMs=1000)


class FollowerTest(unittest.TestCase):
    def setUp(self) -> None:
        self.follower = Follower("main", "now")
        self.follower.opening()
        self.follower.take(connected("e.1.5", "new"))

    def take(self, *parts: SseEvent) -> list[str]:
        return [event["cursor"] for part in parts for event in self.follower.take(part)]

    def test_an_event_comes_once(self) -> None:
        events = [an_event("custom", f"e.1.{seq}", name="x") for seq in (4, 5, 6, 6, 5, 7)]
        self.assertEqual(self.take(*events), ["e.1.6", "e.1.7"])
        self.assertFalse(self.follower.is_broken)
        self.assertEqual(self.follower.opening()[1], {"last-event-id": "e.1.7"})

    def test_an_event_that_is_missing_breaks_the_stream(self) -> None:
        for cursor in ("e.1.7", "f.1.6", "f.1.1"):
            self.assertEqual(self.take(an_event("custom", cursor), an_event("custom", "e.1.6")), [])
            self.assertTrue(self.follower.is_broken)
            self.assertEqual(self.follower.opening()[1], {"last-event-id": "e.1.5"})
            self.assertFalse(self.follower.is_broken)

    def test_hidden_events_account_for_those_that_are_missing(self) -> None:
        self.assertEqual(self.take(an_event("hidden", "e.1.8", count=3)), ["e.1.8"])
        self.assertEqual(self.take(an_event("hidden", "e.1.11", count=2)), [])
        self.assertTrue(self.follower.is_broken)

    def test_a_custom_event_with_a_count_accounts_for_itself(self) -> None:
        self.assertEqual(self.take(an_event("custom", "e.1.8", count=3)), [])
        self.assertTrue(self.follower.is_broken)

    def test_nothing_comes_between_a_gap_and_its_snapshot(self) -> None:
        gap = an_event("gap", cursor="e.1.9", reason="evicted")
        parts = [gap, an_event("custom", "e.1.6"), an_event("snapshot", cursor="e.1.9", state={})]
        self.assertEqual(self.take(*parts, an_event("custom", "e.1.10")), ["e.1.9", "e.1.9", "e.1.10"])

    def test_a_snapshot_that_was_not_announced_is_dropped(self) -> None:
        self.assertEqual(self.take(an_event("snapshot", cursor="e.1.9", state={})), [])

    def test_deltas_are_completed(self) -> None:
        parts = [
            an_event("message_start", "e.1.6", sessionId="main", runId="r1"),
            an_event("content_delta", "e.1.7", delta="a"),
            an_event("content_delta", "e.1.8", delta="b", index=1),
            an_event("reasoning_delta", "e.1.9", delta="c"),
        ]
        events = [event for part in parts for event in self.follower.take(part)]
        found = [(event["sessionId"], event["runId"], event["index"]) for event in events[1:]]
        self.assertEqual(found, [("main", "r1", 0), ("main", "r1", 1), ("main", "r1", 1)])

    def test_the_place_before_the_first_conversation_is_kept(self) -> None:
        follower = Follower("app:main", "earliest")
        self.assertEqual(follower.opening(), ({"sessionId": "app:main", "from": "earliest"}, {}))
        follower.take(connected(None, "new"))
        self.assertEqual(follower.opening(), ({"sessionId": "app:main"}, {"last-event-id": "~app:main="}))
        self.assertEqual(follower.take(an_event("custom", "e.1.2")), [])
        self.assertTrue(follower.is_broken)


class SseTest(unittest.TestCase):
    def test_an_event_may_be_cut_anywhere(self) -> None:
        whole = 'retry: 1500\n\n: comment\nevent: custom\r\ndata: {"a":"é\u2028\x85"}\ndata: x\nid: 7\n\ndata:y\n\n'.encode()
        expected = [SseEvent("custom", '{"a":"é\u2028\x85"}\nx', "7"), SseEvent("message", "y", None)]
        for size in range(1, len(whole) + 1):
            decoder = SseDecoder()
            parts = [whole[at : at + size] for at in range(0, len(whole), size)]
            self.assertEqual([event for part in parts for event in decoder.feed(part)], expected)
            self.assertEqual(decoder.retry, 1.5)

    def test_an_event_without_an_end_is_refused(self) -> None:
        for part in (b"x" * 10, b"data: xxxx\n"):
            decoder = SseDecoder(100)
            with self.assertRaises(GatewayError) as refused:
                for _ in range(100):
                    decoder.feed(part)
            self.assertEqual(refused.exception.code, "PAYLOAD_TOO_LARGE")
