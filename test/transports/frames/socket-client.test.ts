import { expect } from 'chai';
import { defineApp, type GatewayConfig } from '../../../server/index.js';
import { echo, heldApp } from '../../support/apps.js';
import { gate } from '../../support/gate.js';
import { startGateway, type TestGateway } from '../../support/gateway.js';
import { Hearing } from '../../support/hearing.js';
import { openUnixSocket, openWebSocket, type RawSocket } from '../../support/raw-socket.js';
import { socketDirectory } from '../../support/socket-directory.js';
import { byName } from '../../support/users.js';

interface Wire {
  readonly name: string;
  /** The code a WebSocket is closed with; a Unix socket just ends. */
  code(code: number): number;
  start(config: GatewayConfig<any>): Promise<TestGateway & { open(): Promise<RawSocket> }>;
}

const WIRES: readonly Wire[] = [
  {
    name: 'WebSocket',
    code: (code) => code,
    async start(config) {
      const started = await startGateway(config);
      return { ...started, open: () => openWebSocket(started.url) };
    },
  },
  {
    name: 'Unix socket',
    code: () => 0,
    async start(config) {
      const socketPath = `${socketDirectory()}/gateway.sock`;
      return { ...(await startGateway({ ...config, socketPath })), open: () => openUnixSocket(socketPath) };
    },
  },
];

for (const wire of WIRES) {
  describe(`frames over a ${wire.name}`, () => {
    it('answers connect with what was agreed and what is followed', async () => {
      const { open, gateway } = await wire.start({ app: echo });
      const socket = await open();
      const connected = await socket.connect({
        protocol: { min: 0, max: 7 },
        subscribe: [{ sessionId: 'main' }],
      });
      expect(connected).to.include({ protocol: 1, gatewayId: gateway.id, heartbeatMs: 15_000 });
      expect(connected.clientId).to.equal(connected.connectionId);
      expect(connected.sessions.main).to.include({ epoch: null, resume: 'new', next: 1 });
      expect(socket.frames.map(({ event }) => event)).to.deep.equal(['connected', 'heartbeat']);
    });

    it('refuses a range of versions that does not meet its own', async () => {
      const { open } = await wire.start({ app: echo });
      const socket = await open();
      socket.say({ type: 'connect', protocol: { min: 2, max: 3 } });
      const error = await socket.until(({ type }) => type === 'error');
      expect(error).to.deep.include({
        code: 'PROTOCOL_VERSION_UNSUPPORTED',
        details: { supported: { min: 1, max: 1 } },
      });
      expect(await socket.closed).to.equal(wire.code(4001));
    });

    it('wants connect first, and in time', async () => {
      const { open } = await wire.start({ app: echo, limits: { handshakeMs: 50 } });
      const eager = await open();
      eager.say({ type: 'req', id: '1', method: 'status' });
      expect(await eager.until(({ type }) => type === 'error')).to.include({ code: 'INVALID_REQUEST' });
      expect(await eager.closed).to.equal(wire.code(4001));
      const silent = await open();
      expect(await silent.closed).to.equal(wire.code(4001));
      expect(silent.frames[0]).to.include({ type: 'error', code: 'INVALID_REQUEST' });
    });

    it('refuses a wrong token', async () => {
      const { open } = await wire.start({ app: echo });
      const socket = await open();
      socket.say({ type: 'connect', protocol: { min: 1, max: 1 }, token: 'wrong' });
      expect(await socket.until(({ type }) => type === 'error')).to.include({ code: 'UNAUTHENTICATED' });
      expect(await socket.closed).to.equal(wire.code(4401));
    });

    it('answers requests that came before connect was answered, in order after it', async () => {
      const { open } = await wire.start({
        app: echo,
        auth: { type: 'custom', validate: async () => ({ valid: true, user: { id: 'u' } }) },
        methods: {
          slow: () => new Promise((resolve) => setImmediate(() => resolve('slow'))),
          fast: () => 'fast',
        },
      });
      const socket = await open();
      socket.say({ type: 'connect', protocol: { min: 1, max: 1 } });
      for (const id of ['1', '2', '3', '4']) {
        socket.say({ type: 'req', id, method: Number(id) % 2 ? 'slow' : 'fast' });
      }
      socket.say({ type: 'cancel', id: '3' });
      await socket.until(({ id }) => id === '4');
      const answers = socket.frames.filter(({ type }) => type === 'res').map(({ id, ok }) => `${id} ${ok}`);
      expect(socket.frames[0]).to.include({ event: 'connected' });
      expect(answers).to.deep.equal(['1 true', '2 true', '3 false', '4 true']);
    });

    it('sends a message at once, and its events to those who follow', async () => {
      const { open } = await wire.start({ app: echo });
      const socket = await open();
      await socket.connect();
      const subscribed = await socket.ask('1', 'subscribe', {
        add: ['main'],
        connectionId: 'of somebody else',
      });
      expect(subscribed).to.deep.equal({
        type: 'res',
        id: '1',
        ok: true,
        payload: { subscriptions: ['main'] },
      });
      const { payload } = await socket.ask('2', 'send', { sessionId: 'main', message: 'hi' });
      expect(payload).to.include({ position: 0 }).and.have.keys('runId', 'message', 'position', 'cursor');
      const end = await socket.event('message_end');
      expect(end).to.include({ runId: payload.runId, sessionId: 'main', stopReason: 'end' });
      const frame = await socket.until(({ event }) => event === 'content_delta');
      expect(frame.data).to.include({ cursor: frame.id, sessionId: 'main', runId: payload.runId });
    });

    it('finds methods by their path and operations by their name', async () => {
      const { open } = await wire.start({
        app: echo,
        methods: { status2: () => 'a', deep: { er: () => 'b' } },
      });
      const socket = await open();
      await socket.connect();
      expect((await socket.ask('1', 'deep:er')).payload).to.equal('b');
      expect((await socket.ask('2', 'invoke', { method: 'status2' })).payload).to.equal('a');
      expect((await socket.ask('3', 'status', {})).payload).to.include({ draining: false });
      expect((await socket.ask('4', 'none')).error).to.include({ code: 'METHOD_NOT_FOUND' });
      expect((await socket.ask('5', 'subscribe', ['main'])).error).to.include({ code: 'INVALID_PARAMS' });
    });

    it('cancels a method and its stream, and no run', async () => {
      const { app, held, began } = heldApp();
      const left = gate();
      const aborted = gate();
      const { open } = await wire.start({
        app,
        methods: {
          async *forever() {
            try {
              for (let n = 0; ; n++) {
                await new Promise(setImmediate);
                yield n;
              }
            } finally {
              left.open();
            }
          },
          wait: (_params: unknown, { signal }: { readonly signal: AbortSignal }) =>
            new Promise(() => signal.addEventListener('abort', () => aborted.open())),
        },
      });
      const socket = await open();
      await socket.connect({ subscribe: [{ sessionId: 'main' }] });
      socket.say({ type: 'req', id: 'a', method: 'forever' });
      await socket.until(({ type, data }) => type === 'chunk' && data === 3);
      socket.say({ type: 'cancel', id: 'a' });
      expect((await socket.until(({ type, id }) => type === 'res' && id === 'a')).error.code).to.equal(
        'ABORTED',
      );
      await left.passed;
      socket.say({ type: 'req', id: 'b', method: 'wait' });
      socket.say({ type: 'cancel', id: 'b' });
      expect((await socket.until(({ type, id }) => type === 'res' && id === 'b')).error.code).to.equal(
        'ABORTED',
      );
      await aborted.passed;
      socket.say({ type: 'req', id: 'c', method: 'send', params: { sessionId: 'main', message: 'x' } });
      socket.say({ type: 'cancel', id: 'c' });
      expect((await socket.until(({ type, id }) => type === 'res' && id === 'c')).ok).to.equal(true);
      await began.passed;
      held.open();
      expect((await socket.event('message_end')).stopReason).to.equal('end');
      // One answer each, whatever was cancelled.
      expect(socket.frames.filter(({ type }) => type === 'res').map(({ id }) => id)).to.deep.equal([
        'a',
        'b',
        'c',
      ]);
    });

    it('says what it cannot read, and goes on', async () => {
      const { open } = await wire.start({ app: echo, methods: { ping: () => 'pong', big: () => 1n } });
      const socket = await open();
      await socket.connect();
      socket.send('{');
      socket.say({ type: 'what' });
      socket.say({ type: 'req', id: '', method: 'x' });
      socket.say({ type: 'connect', protocol: { min: 1, max: 1 } });
      socket.send(`${'['.repeat(100)}${']'.repeat(100)}`);
      socket.send('{"type":"req","id":"1","method":"ping","params":{"__proto__":1}}');
      expect((await socket.ask('2', 'ping')).payload).to.equal('pong');
      expect(socket.frames.filter(({ type }) => type === 'error').map(({ code }) => code)).to.deep.equal(
        Array(6).fill('INVALID_REQUEST'),
      );
      expect((await socket.ask('3', 'big')).error).to.include({ code: 'INTERNAL' });
      socket.say({ type: 'req', id: '4' });
      expect(await socket.until(({ id }) => id === '4')).to.deep.include({ type: 'res', ok: false });
    });

    it('answers pings, but not a flood of them', async () => {
      const { open } = await wire.start({ app: echo });
      const socket = await open();
      await socket.connect();
      socket.say({ type: 'ping', timestamp: 42 });
      expect(await socket.until(({ type }) => type === 'pong')).to.deep.equal({
        type: 'pong',
        timestamp: 42,
      });
      for (let n = 0; n < 2000; n++) socket.say({ type: 'ping', timestamp: n });
      expect(await socket.closed).to.equal(wire.code(1008));
      expect(socket.frames.at(-1)).to.include({ type: 'error', code: 'RATE_LIMITED' });
    });

    it('takes a new token of the same user, and of nobody else', async () => {
      let expiresAt = Date.now() + 60_000;
      const { open } = await wire.start({
        app: echo,
        auth: {
          type: 'custom',
          validate: (token = '') => ({
            valid: token !== 'bad',
            user: { id: token.split('-')[0]! },
            expiresAt,
          }),
        },
      });
      const socket = await open();
      expect((await socket.connect({ token: 'alice-1' })).authExpiresAt).to.equal(expiresAt);
      socket.say({ type: 'auth', token: 'bad' });
      expect(await socket.until(({ type }) => type === 'error')).to.include({ code: 'UNAUTHENTICATED' });
      socket.say({ type: 'auth', token: 'bob-1' });
      await socket.until(({ code }) => code === 'ACCESS_DENIED');
      expect((await socket.ask('1', 'status')).payload.user).to.deep.equal({ id: 'alice' });
      expiresAt += 1000;
      socket.say({ type: 'auth', token: 'alice-2' });
      expect(await socket.until(({ type }) => type === 'authenticated')).to.include({
        authExpiresAt: expiresAt,
      });
    });

    it('ends when the token runs out', async () => {
      const { open } = await wire.start({
        app: echo,
        auth: {
          type: 'custom',
          validate: () => ({ valid: true, user: { id: 'u' }, expiresAt: Date.now() + 300 }),
        },
        limits: { heartbeatMs: 50 },
      });
      const socket = await open();
      await socket.connect();
      expect(await socket.closed).to.equal(wire.code(4401));
      expect(socket.frames.at(-1)).to.include({ event: 'auth_expired' });
    });

    it('counts towards the connections of a user', async () => {
      const { open } = await wire.start({ app: echo, auth: byName, limits: { connectionsPerUser: 1 } });
      const first = await open();
      await first.connect({ token: 'alice' });
      const second = await open();
      second.say({ type: 'connect', protocol: { min: 1, max: 1 }, token: 'alice' });
      expect(await second.until(({ type }) => type === 'error')).to.include({ code: 'TOO_MANY_CONNECTIONS' });
      expect(await second.closed).to.equal(wire.code(1013));
      await (await open()).connect({ token: 'bob' });
    });

    it('closes a client that reads nothing, and keeps nothing for it', async () => {
      const pieces = 400;
      const app = defineApp({
        async *run() {
          for (let n = 0; n < pieces; n++) {
            await new Promise(setImmediate);
            yield 'x'.repeat(40_000);
          }
        },
      });
      const { open, gateway } = await wire.start({ app, limits: { slowClientMs: 400 } });
      const disconnected = new Hearing(gateway, 'client:disconnected');
      const fast = await open();
      await fast.connect({ subscribe: [{ sessionId: 'main' }] });
      const slow = await open();
      const { connectionId } = await slow.connect({ subscribe: [{ sessionId: 'main' }] });
      slow.pause();
      await fast.ask('1', 'send', { sessionId: 'main', message: 'x' });
      expect(await disconnected.nth(1)).to.include({ connectionId });
      // At once: a peer is given a while to read how its connection ended.
      slow.resume();
      await fast.event('message_end');
      expect(await slow.closed).to.equal(wire.code(4008));
      expect(slow.frames.some(({ event }) => event === 'message_end')).to.equal(false);
    });

    it('lets requests finish when the gateway drains, then leaves', async () => {
      const entered = gate();
      const held = gate<string>();
      const { open, gateway } = await wire.start({
        app: echo,
        limits: { drainMs: 60_000 },
        methods: {
          wait: () => {
            entered.open();
            return held.passed;
          },
        },
      });
      const socket = await open();
      await socket.connect();
      const answer = socket.ask('1', 'wait');
      await entered.passed;
      const closing = gateway.close();
      expect(await socket.until(({ type }) => type === 'error')).to.include({ code: 'SHUTTING_DOWN' });
      expect((await socket.ask('2', 'wait')).error).to.include({ code: 'SHUTTING_DOWN' });
      held.open('finished');
      expect((await answer).payload).to.equal('finished');
      expect(await socket.closed).to.equal(wire.code(1001));
      await closing;
    });
  });
}
