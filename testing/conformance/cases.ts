import assert from 'node:assert/strict';
import { WebSocket } from 'ws';
import type { WebSocketClass } from '../../client/index.js';
import {
  type Client,
  createClient,
  type GatewayEvent,
  initialState,
  reduce,
  webSocketTransport,
} from '../../client/index.js';
import { isLoggedType } from '../../shared/schemas/events.js';
import { deliveryFaults } from '../delivery.js';
import { ask, type Examined, readEvents } from './raw.js';

/** The client, the session and the message of a case. */
export interface CaseSetup extends Examined {
  readonly client: Client;
  /** A session for this case alone, which is deleted afterwards. */
  readonly sessionId: string;
  /** The message to the app. */
  readonly message: string;
  readonly signal: AbortSignal;
}

/** A promise of gateways, and the check that it is kept. */
export interface Case {
  readonly name: string;
  check(place: CaseSetup): Promise<void>;
}

/** Sends a message and waits for the answer. Returns all events so far, as a raw reader gets them. */
async function converse(place: CaseSetup, key?: string): Promise<GatewayEvent[]> {
  const { client, sessionId, message } = place;
  const run = client.send(sessionId, message, key === undefined ? {} : { idempotencyKey: key });
  const { cursor } = await run.result;
  return logOf(place, cursor);
}

async function logOf(place: CaseSetup, upTo: string): Promise<GatewayEvent[]> {
  const { sessionId, signal } = place;
  const events = await readEvents(place, {
    ...{ sessionId, signal, from: 'earliest' },
    until: ({ cursor, type }) => cursor === upTo && isLoggedType(type),
  });
  return events.filter(({ type }) => isLoggedType(type));
}

const send = (place: CaseSetup, key: string, message = place.message): Promise<Response> =>
  ask(place, '/send', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', prefer: 'respond-async' },
    body: JSON.stringify({ sessionId: place.sessionId, message, idempotencyKey: key }),
  });

/** The promises to every client of a gateway, with any app behind it and any proxy in between. */
export const CASES: readonly Case[] = [
  {
    name: 'answers a message with one run that ends once, and streams what it says',
    async check(place) {
      const log = await converse(place);
      assert.deepEqual(deliveryFaults({ log }), []);
      assert.equal(log.filter(({ type }) => type === 'message_end').length, 1);
    },
  },
  {
    name: 'passes events on while the stream is open',
    async check(place) {
      const { sessionId, client, message } = place;
      const order: string[] = [];
      const began = readEvents(place, {
        ...{ sessionId, from: 'now', signal: place.signal },
        heard: ({ type }) => {
          order.push(type);
          if (type === 'connected') void client.send(sessionId, message).result.catch(() => {});
        },
        until: ({ type }) => type === 'message_end',
      });
      await began;
      assert.equal(order[0], 'connected');
      assert.ok(order.includes('message_accepted'), 'the message was seen by who follows the session');
    },
  },
  {
    name: 'starts one run however often a message is sent under its key',
    async check(place) {
      const answers = await Promise.all([1, 2, 3].map(() => send(place, 'once')));
      const runs = await Promise.all(
        answers.map(async (answer) => ((await answer.json()) as { readonly runId?: string }).runId),
      );
      assert.equal(new Set(runs).size, 1, `there were runs ${runs}`);
      const { cursor } = await place.client.session(place.sessionId).run(runs[0]!).result;
      const log = await logOf(place, cursor);
      assert.equal(log.filter(({ type }) => type === 'message_accepted').length, 1);
    },
  },
  {
    name: 'refuses another message under a key that was used',
    async check(place) {
      const first = (await (await send(place, 'once')).json()) as { readonly runId: string };
      const other = await send(place, 'once', `${place.message} (another)`);
      assert.equal(other.status, 422);
      await other.body?.cancel();
      await place.client.session(place.sessionId).run(first.runId).result;
    },
  },
  {
    name: 'goes on exactly behind each event, for who comes back with its id',
    async check(place) {
      const log = await converse(place);
      const last = log.at(-1)!.cursor;
      for (const [at, { cursor }] of log.entries()) {
        if (cursor === last) break;
        const { sessionId, signal } = place;
        const rest = await readEvents(place, {
          ...{ sessionId, signal, lastEventId: cursor },
          until: (event) => event.cursor === last && isLoggedType(event.type),
        });
        const readers = [[...log.slice(0, at + 1), ...rest]];
        assert.deepEqual(deliveryFaults({ log, readers }), [], `behind ${cursor}`);
      }
    },
  },
  {
    name: 'says a gap, and how things stand, where it cannot go on',
    async check(place) {
      await converse(place);
      const { sessionId, signal } = place;
      const events = await readEvents(place, {
        ...{ sessionId, signal, lastEventId: 'AAAAAAAAAAA.1.3' },
        until: ({ type }) => type === 'snapshot',
      });
      const told = events.map(({ type }) => type).filter((type) => type === 'gap' || type === 'snapshot');
      assert.deepEqual(told, ['gap', 'snapshot']);
    },
  },
  {
    name: 'shows in a snapshot, and in the history, what the events fold to',
    async check(place) {
      const log = await converse(place);
      const folded = log.reduce(reduce, initialState);
      const shown = await place.client.session(place.sessionId).state();
      assert.deepEqual(shown.messages, folded.messages);
      assert.equal(shown.cursor, folded.cursor);
      const { messages } = await place.client.session(place.sessionId).history();
      assert.deepEqual(messages, folded.messages);
    },
  },
  {
    name: 'tells every reader the same, in one order',
    async check(place) {
      const { sessionId, signal, client, message } = place;
      const from = await converse(place);
      const ends = () => {
        let seen = 0;
        return ({ type }: GatewayEvent) => type === 'message_end' && ++seen === 3;
      };
      const readers = [1, 2].map(() =>
        readEvents(place, { sessionId, signal, from: 'earliest', until: ends() }),
      );
      const [, last] = await Promise.all([1, 2].map(() => client.send(sessionId, message).result));
      const { cursor } = last!;
      const seen = await Promise.all(readers);
      const log = await logOf(place, [cursor, seen[0]!.at(-1)!.cursor!].sort(bySeq).at(-1)!);
      assert.ok(log.length > from.length);
      assert.deepEqual(deliveryFaults({ log, readers: seen }), []);
    },
  },
  {
    name: 'tells the same over a WebSocket',
    async check(place) {
      const { url: baseUrl, token, sessionId } = place;
      const log = await converse(place);
      const Class = WebSocket as unknown as WebSocketClass;
      const client = createClient({ transport: webSocketTransport({ baseUrl, token, WebSocket: Class }) });
      const seen: GatewayEvent[] = [];
      try {
        for await (const event of client.events(sessionId, { from: 'earliest', signal: place.signal })) {
          seen.push(event);
          if (event.cursor === log.at(-1)!.cursor) break;
        }
      } finally {
        client.disconnect();
      }
      assert.deepEqual(deliveryFaults({ log, readers: [seen] }), []);
    },
  },
  {
    name: 'misses nothing for a client whose connections break after so many bytes',
    async check(place) {
      const log = await converse(place);
      for (const bytes of [700, 2_000]) {
        const client = createClient({ baseUrl: place.url, token: place.token, fetch: breakingAfter(bytes) });
        const seen: GatewayEvent[] = [];
        try {
          for await (const event of client.events(place.sessionId, {
            from: 'earliest',
            signal: place.signal,
          })) {
            seen.push(event);
            if (event.cursor === log.at(-1)!.cursor) break;
          }
        } finally {
          client.disconnect();
        }
        assert.deepEqual(deliveryFaults({ log, readers: [seen] }), [], `connections of ${bytes} bytes`);
      }
    },
  },
  {
    name: 'knows no session that there is not, and none that was deleted',
    async check(place) {
      await converse(place);
      await place.client.session(place.sessionId).delete();
      const gone = await ask(place, `/history?sessionId=${encodeURIComponent(place.sessionId)}`);
      assert.equal(gone.status, 404);
      const body = (await gone.json()) as { readonly error?: { readonly code?: string } };
      assert.equal(body.error?.code, 'SESSION_NOT_FOUND');
    },
  },
];

const bySeq = (a: string, b: string): number => Number(a.split('.')[2]) - Number(b.split('.')[2]);

/** A `fetch` that breaks its first event streams, each after more bytes than the one before, until a stream is short enough to end. */
function breakingAfter(bytes: number): typeof fetch {
  let left = bytes;
  return async (input, init) => {
    const response = await fetch(input, init);
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
    let budget = left;
    left += bytes;
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        controller.enqueue(chunk.subarray(0, budget));
        budget -= chunk.length;
        if (budget <= 0) controller.error(new Error('the connection is broken'));
      },
    });
    const { status, headers } = response;
    return new Response(response.body!.pipeThrough(cut), { status, headers });
  };
}
