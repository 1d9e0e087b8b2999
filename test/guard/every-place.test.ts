import { expect } from 'chai';
import { createUnixSocketClientTransport } from '../../client/node/index.js';
import {
  type Application,
  defineApp,
  type GatewayConfig,
  memoryStore,
  type SessionHandle,
  type Turn,
  tool,
} from '../../server/index.js';
import type { Store } from '../../server/stores/store.js';
import type { GatewayEvent } from '../../shared/events.js';
import { initialState, reduce, type SessionState } from '../../shared/fold.js';
import { NodeWebSocket } from '../behaviour/doors/own.js';
import { connectClient, takeUntil } from '../support/client.js';
import { startGateway, type TestGateway, TOKEN } from '../support/gateway.js';
import { SHARED_STORES } from '../support/shared-stores.js';
import { socketDirectory } from '../support/socket-directory.js';
import { storeAt } from '../support/store-at.js';
import { ENGINES } from '../support/stores.js';

const SECRET = 'four-thousand-milligrams';

async function* child(turn: Turn) {
  turn.annotate({ note: SECRET });
  yield { type: 'reasoning_delta', delta: `child thinks ${SECRET}` } as const;
  yield `child says ${SECRET}`;
}

/** Says its secret in all ways that there are, if it is asked to, and summarizes it. */
const talkative: Application = defineApp({
  tools: {
    look: tool({
      handler: (_input: unknown, { progress }) => {
        progress(1, 2, SECRET);
        return { found: SECRET };
      },
    }),
  },
  compact: {
    keep: 0,
    make: ({ messages }) => `summary of ${JSON.stringify(messages.map(({ content }) => content))}`,
  },
  async *run(turn) {
    if (turn.text === 'summarize') await turn.compact();
    if (turn.text.startsWith('tell')) {
      yield { type: 'reasoning_delta', delta: `thinks ${SECRET}` } as const;
      yield 'half ';
      const mark = turn.mark();
      yield `of ${SECRET}`;
      await new Promise(setImmediate);
      turn.retract(mark);
      await turn.callTool('look', { for: SECRET });
      turn.data('chart', SECRET, { id: 'd' });
      turn.annotate({ note: SECRET });
      turn.emit('noted', SECRET);
      turn.publish('news', SECRET);
      await turn.spawn('inner', { message: `for ${SECRET}`, run: child }).result;
      for (const piece of ['says ', SECRET, '.']) {
        yield piece;
        await new Promise(setImmediate);
      }
    } else yield 'nothing';
  },
});

/** A session with a secret in a question and its answer, in a summary that covers both, and with what comes behind. */
async function told(store: Store, given: Partial<GatewayConfig>) {
  const target = await startGateway({ app: talkative, store, ...given });
  const session = target.gateway.session('main');
  const seen: GatewayEvent[] = [];
  // The child ends too.
  let left = 5;
  const reads = (async () => {
    for await (const event of session.events({ from: 'earliest' })) {
      seen.push(event);
      if (event.type === 'message_end' && event.message.content.length > 0 && --left === 0) return;
    }
  })();
  for (const text of ['one', `tell ${SECRET}`, 'summarize', 'four'])
    await (await session.send(text, text.startsWith('tell') ? { metadata: { note: SECRET } } : {})).result;
  await reads;
  const states: SessionState[] = [];
  for (const event of seen) states.push(reduce(states.at(-1) ?? initialState, event));
  return { ...target, session, seen, states };
}

/** All events up to the last. */
async function eventsOf(session: SessionHandle): Promise<readonly GatewayEvent[]> {
  const { cursor } = (await session.status()) as { readonly cursor: string };
  return takeUntil(
    session.events({ from: 'earliest' })[Symbol.asyncIterator](),
    (event) => event.cursor === cursor,
  );
}

const readers = (url: string, socketPath: string) => ({
  SSE: connectClient(url, { transport: 'sse' }),
  WebSocket: connectClient(url, { transport: 'websocket', WebSocket: NodeWebSocket }),
  'Unix socket': connectClient(url, {
    transport: createUnixSocketClientTransport({ socketPath, token: TOKEN }),
  }),
});

/** The state of a reader that had a state, once it has what came since. */
async function goneOn(
  events: AsyncIterable<GatewayEvent>,
  before: SessionState,
  cursor: string | null,
): Promise<SessionState> {
  let state = before;
  if (state.cursor === cursor) return state;
  for await (const event of events) {
    expect(event.type).to.not.equal('gap');
    state = reduce(state, event);
    if (state.cursor === cursor) break;
  }
  return state;
}

const stateOf = async ({ gateway }: Pick<TestGateway, 'gateway'>): Promise<SessionState> => {
  for await (const event of gateway.session('main').events({ from: 'snapshot' }))
    if (event.type === 'snapshot') return event.state;
  throw new Error('the events ended');
};

const stores = [
  ...Object.entries(ENGINES).map(([name, make]) => ({ name, describe, make: async () => make() })),
  ...SHARED_STORES.map(({ name, describe: describeShared, start }) => ({
    name,
    describe: describeShared,
    make: async () => storeAt(await start()),
  })),
];

for (const { name, describe: describeStore, make } of stores)
  describeStore(`what was taken back (${name})`, () => {
    it('is in no byte of what the store tells, and every reader at every place has the same state', async function () {
      this.timeout(60_000);
      const path = `${socketDirectory()}/gateway.sock`;
      const target = await told(await make(), { socketPath: path });
      const { session, url, seen: before, states } = target;
      const [, plain, question, answer] = (await session.history()).messages;
      expect(JSON.stringify(before).split(SECRET).length, 'the secret is all over the log').to.be.above(20);
      for (const { id } of [question!, answer!, plain!]) await session.retract(id, { by: 'staff' });
      const after = await eventsOf(session);
      expect(JSON.stringify(after)).to.not.include(SECRET);
      expect(after.slice(0, before.length).map(({ cursor, type }) => [cursor, type])).to.deep.equal(
        before.map(({ cursor, type }) => [cursor, type]),
      );
      const last = await stateOf(target);
      const { messages } = await session.history();
      expect(messages).to.deep.equal(last.messages);
      expect(JSON.stringify([last, messages])).to.not.include(SECRET);
      expect(messages[3]!.retracted).to.include({ by: 'staff' });
      expect(after.reduce(reduce, initialState)).to.deep.equal(last);
      for (const event of after.filter(({ type }) => type === 'message_replaced'))
        for (const behind of [1, 2, 4, 6]) {
          const part = { ...states.at(-1)!, messages: states.at(-1)!.messages.slice(behind) };
          const whole = reduce(states.at(-1)!, event).messages.slice(behind);
          expect(reduce(part, event).messages, 'a reader that has the last messages alone').to.deep.equal(
            whole,
          );
        }
      for (const [transport, client] of Object.entries(readers(url, path))) {
        // Each transport has a share of the places, and the first and the last.
        const share = ['SSE', 'WebSocket', 'Unix socket'].indexOf(transport);
        const places = [initialState, ...states].filter(
          (_, at) => at % 3 === share || at === 0 || at >= states.length - 1,
        );
        for (const state of places) {
          const from = state.cursor ?? 'earliest';
          const end = await goneOn(client.events('main', { from }), state, last.cursor);
          expect(end, `${transport} from ${from}`).to.deep.equal(last);
        }
        const begun = await goneOn(client.events('main', { from: 'snapshot' }), initialState, last.cursor);
        expect(begun, `${transport} from a snapshot`).to.deep.equal(last);
      }
    });
  });

for (const { name, describe: describeStore, make } of stores)
  describeStore(`what was taken back of a fork (${name})`, () => {
    it('is in none of its rows, nor in a summary of a later one', async () => {
      const store = await make();
      const { session, gateway } = await told(store, {});
      await session.fork('copy');
      await gateway.session('copy').fork('copy-of-copy');
      const { records } = await store.list(null, { limit: 10 });
      const rowsOf = async (sessionId: string) => {
        const { ref, epoch } = records.find((record) => record.ref.name === sessionId)!;
        const tip = (await gateway.session(sessionId).history()).messages.at(-1)!.id;
        return store.messages({ ...ref, epoch }, { tip, limit: 100 });
      };
      const [, , question, answer] = await rowsOf('copy');
      expect(answer!.compaction!.summary).to.include(SECRET);
      await session.retract(question!.id);
      for (const id of ['copy', 'copy-of-copy'])
        expect((await rowsOf(id)).map(({ compaction }) => compaction)).to.deep.equal(
          Array(8).fill(undefined),
        );
      await session.retract(answer!.id);
      for (const id of ['copy', 'copy-of-copy']) {
        const rows = await rowsOf(id);
        expect(JSON.stringify(rows)).to.not.include(SECRET);
        expect(rows.map(({ retracted }) => retracted !== undefined)).to.deep.equal(
          [0, 0, 1, 1, 0, 0, 0, 0].map(Boolean),
        );
      }
    });
  });

describe('what was taken back of a log that was cut', () => {
  it('is in no row and no checkpoint, wherever the cut was', async function () {
    this.timeout(60_000);
    let halves = 0;
    for (let events = 4; events < 56; events += 3) {
      const store = memoryStore();
      const target = await told(store, { limits: { retention: { events } } });
      const { session, states } = target;
      const [, , question, answer] = (await session.history()).messages;
      const ref = { scope: 'token', app: 'default', name: 'main' };
      const [{ scope }] = (await store.list(null, { limit: 1 })).records.map((record) => record.ref) as [
        typeof ref,
      ];
      const log = { ...ref, scope, epoch: (await store.head({ ...ref, scope }))!.epoch };
      halves += JSON.stringify(await store.checkpoint(log)).includes(SECRET) ? 1 : 0;
      await session.retract(answer!.id);
      await session.retract(question!.id);
      const last = await stateOf(target);
      const rows = await store.messages(log, { tip: last.tip!, limit: 100 });
      const kept = [await store.checkpoint(log), rows, await store.read(log, 0, 1000, 1 << 24)];
      expect(JSON.stringify(kept), `at most ${events}`).to.not.include(SECRET);
      expect((await session.history()).messages).to.deep.equal(last.messages);
      const { first } = (await store.head(log))!;
      for (const state of states.slice(first - 1)) {
        const end = await goneOn(session.events({ from: state.cursor! }), state, last.cursor);
        expect(end, `at most ${events}, from ${state.cursor}`).to.deep.equal(last);
      }
      await target.gateway.close();
    }
    expect(halves, 'cuts within the answer').to.be.above(3);
  });
});
