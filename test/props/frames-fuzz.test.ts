import { connect } from 'node:net';
import { expect } from 'chai';
import fc from 'fast-check';
import { echo } from '../support/apps.js';
import { cases } from '../support/fuzz.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { head } from '../support/raw-http.js';
import { openUnixSocket, openWebSocket, type RawFrame, type RawSocket } from '../support/raw-socket.js';
import { closeLater } from '../support/resources.js';
import { socketDirectory } from '../support/socket-directory.js';
import { byName } from '../support/users.js';

const SECRET = 'only for alice';

const id = fc.constantFrom('1', '2', '', 'é'.repeat(300));
const sessionId = fc.constantFrom('main', 'default:main', 'secret', 'a b', '__proto__', ':', '');
const method = fc.constantFrom(
  ...['send', 'invoke', 'subscribe', 'abort', 'close', 'tool-response', 'channel', 'ticket', 'history'],
  ...['sessions', 'apps', 'status', 'methods', 'ping', 'count', 'none', 'constructor', '__proto__', ''],
);

/** Params that are nearly right, so that they get somewhere. */
const params = fc.oneof(
  fc.record(
    {
      sessionId,
      message: fc.oneof(fc.string(), fc.jsonValue()),
      idempotencyKey: fc.constantFrom('k', ''),
      onBusy: fc.constantFrom('queue', 'steer', 'interrupt', 'reject', 'what'),
      add: fc.array(
        fc.oneof(sessionId, fc.record({ sessionId, cursor: fc.string(), from: fc.constant('earliest') })),
        {
          maxLength: 4,
        },
      ),
      remove: fc.array(sessionId, { maxLength: 2 }),
      connectionId: fc.constantFrom('ALICE', 'x'),
      clientId: fc.constantFrom('ALICE', 'x'),
      user: fc.constant({ id: 'alice' }),
      method,
      callId: fc.string({ maxLength: 4 }),
      channel: fc.constantFrom('c', 'é'),
      limit: fc.integer(),
    },
    { requiredKeys: [] },
  ),
  fc.jsonValue(),
);

const frame = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ type: fc.constant('req'), id, method, params }, { requiredKeys: ['type'] }),
  },
  fc.record({ type: fc.constant('cancel'), id }),
  fc.record({ type: fc.constantFrom('ping', 'pong'), timestamp: fc.oneof(fc.double(), fc.string()) }),
  fc.record({ type: fc.constant('auth'), token: fc.constantFrom('mallory', 'alice', '') }),
  fc.record({ type: fc.constant('connect'), protocol: fc.jsonValue(), token: fc.constant('alice') }),
  fc.record({ type: fc.constantFrom('event', 'res', 'chunk', 'error'), id, data: fc.jsonValue() }),
  fc.jsonValue(),
);

const text = fc.oneof(
  { weight: 4, arbitrary: frame.map((value) => JSON.stringify(value)) },
  frame.map((value) => JSON.stringify(value).slice(0, -1)),
  fc.string({ unit: 'binary', maxLength: 40 }).map((value) => value.replaceAll('\n', ' ')),
);

const TYPES = ['event', 'res', 'chunk', 'pong', 'ping', 'error', 'authenticated'];

/** What may come back: frames of known types, failures with a code and no inner text, and nothing of Alice's. */
function judge(frames: readonly RawFrame[]): void {
  for (const received of frames) {
    // A frame of an event says which, and nothing else of its kind.
    expect(received.event === undefined ? received.type : 'event').to.be.oneOf(TYPES);
    const error = received.type === 'error' ? received : received.error;
    if (!error) continue;
    expect(error.code).to.match(/^[A-Z_]+$/);
    expect(error.code).not.to.equal('INTERNAL');
  }
  expect(JSON.stringify(frames)).not.to.include(SECRET);
}

interface Fuzzed extends TestGateway {
  readonly socketPath: string;
  readonly alice: RawSocket;
  readonly connectionId: string;
}

async function startFuzzed(): Promise<Fuzzed> {
  const socketPath = `${socketDirectory()}/g.sock`;
  const started = await startGateway({
    ...{ app: echo, auth: byName, socketPath },
    methods: {
      ping: () => 'pong',
      async *count() {
        yield* [1, 2, 3];
      },
    },
    limits: {
      ...{ bodyBytes: 4096, connectionsPerUser: 1000 },
      ...{ sendsPerSecond: 1e6, invokesPerSecond: 1e6, readsPerSecond: 1e6 },
    },
  });
  const alice = await openWebSocket(started.url);
  const { connectionId } = await alice.connect({ token: 'alice', subscribe: [{ sessionId: 'main' }] });
  await alice.ask('1', 'send', { sessionId: 'main', message: SECRET });
  await alice.ask('2', 'send', { sessionId: 'secret', message: SECRET });
  await alice.event('message_end');
  return { ...started, socketPath, alice, connectionId };
}

/** The gateway still serves, and Alice has heard nothing of what Mallory did. */
async function checkAlice({ alice, log, connectionId }: Fuzzed): Promise<void> {
  expect((await alice.ask(`q${Math.random()}`, 'ping')).payload).to.equal('pong');
  const events = alice.frames.filter(({ event }) => event !== undefined && event !== 'heartbeat');
  expect(events.filter(({ event }) => event === 'connected').length).to.equal(1);
  expect(
    events.filter(({ data }) => data.sessionId !== undefined && data.sessionId !== 'main'),
  ).to.deep.equal([]);
  expect(JSON.stringify(events)).not.to.include('mallory');
  expect(log.lines).to.deep.equal([]);
  expect(connectionId).to.match(/^conn_/);
}

describe('whatever is written to a socket', () => {
  for (const door of ['WebSocket', 'Unix socket'] as const) {
    it(`as frames to a ${door} is answered with a type, or closed, and reaches nobody else`, async () => {
      const fuzzed = await startFuzzed();
      const open = () =>
        door === 'WebSocket' ? openWebSocket(fuzzed.url) : openUnixSocket(fuzzed.socketPath);
      await fc.assert(
        fc.asyncProperty(fc.array(text, { maxLength: 25 }), async (texts) => {
          const socket = await open();
          await socket.connect({ token: 'mallory' });
          for (const one of texts) {
            socket.send(one.replaceAll('ALICE', fuzzed.connectionId));
          }
          socket.say({ type: 'req', id: 'last', method: 'ping' });
          await Promise.race([socket.until((it) => it.type === 'res' && it.id === 'last'), socket.closed]);
          judge(socket.frames);
          socket.destroy();
          await socket.closed;
        }),
        { numRuns: cases(120) },
      );
      await checkAlice(fuzzed);
    });
  }

  it('as lines cut anywhere is read as if it came at once', async () => {
    const fuzzed = await startFuzzed();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 5 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
        async (values, sizes) => {
          const socket = await openUnixSocket(fuzzed.socketPath);
          await socket.connect({ token: 'mallory' });
          const lines = values.map((message, n) =>
            JSON.stringify({
              type: 'req',
              id: `${n}`,
              method: 'channel',
              params: { sessionId: 'm', channel: 'c', payload: message },
            }),
          );
          const subscribe = JSON.stringify({
            type: 'req',
            id: 's',
            method: 'subscribe',
            params: { add: ['m'] },
          });
          const bytes = Buffer.from([subscribe, ...lines, ''].join('\n'));
          for (let at = 0; at < bytes.length; ) {
            const size = sizes.next().value;
            socket.write(bytes.subarray(at, at + size));
            at += size;
            if (size < 3) await new Promise(setImmediate);
          }
          for (const n of values.keys())
            expect((await socket.until(({ type, id: of }) => type === 'res' && of === `${n}`)).ok).to.equal(
              true,
            );
          const heard = () =>
            socket.frames.filter(({ event }) => event === 'channel').map(({ data }) => data.event.payload);
          if (values.length > 0) await socket.until(() => heard().length === values.length);
          expect(heard()).to.deep.equal(values);
          socket.destroy();
        },
      ),
      { numRuns: cases(60) },
    );
    await checkAlice(fuzzed);
  });

  for (const door of ['WebSocket', 'Unix socket'] as const) {
    it(`as bytes to a ${door} ends in nothing worse than a close`, async () => {
      const fuzzed = await startFuzzed();
      const { hostname, port, host } = new URL(fuzzed.url);
      const upgrade = head('GET /ws', {
        ...{ Host: host, Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' },
        'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
      });
      await fc.assert(
        fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 12 }), async (chunks) => {
          const socket = door === 'WebSocket' ? connect(Number(port), hostname) : connect(fuzzed.socketPath);
          closeLater(socket, (it) => it.destroy());
          const received: Buffer[] = [];
          const ended = new Promise((resolve) => socket.once('close', resolve));
          socket.on('data', (data: Buffer) => received.push(data)).on('error', () => {});
          if (door === 'WebSocket') socket.write(upgrade);
          for (const chunk of chunks) {
            socket.write(chunk);
            await new Promise(setImmediate);
          }
          socket.end();
          await ended;
          expect(Buffer.concat(received).toString()).not.to.include(SECRET);
        }),
        { numRuns: cases(150) },
      );
      await checkAlice(fuzzed);
    });
  }
});
