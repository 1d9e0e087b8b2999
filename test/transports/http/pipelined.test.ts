import { once } from 'node:events';
import { expect } from 'chai';
import type { MethodContext } from '../../../server/index.js';
import { echo } from '../../support/apps.js';
import { gate } from '../../support/gate.js';
import { get, startGateway } from '../../support/gateway.js';
import { askUnread, rawClient, requestText } from '../../support/raw-client.js';

const MB = 1024 * 1024;
const invoke = (method: string) => requestText('POST /invoke', { method });

// Node gives an answer its connection when those before it have ended. Of one that has none yet it tells nothing, not even a close.
describe('answers to requests that came behind others on their connection', () => {
  it('are forgotten when their client has gone before they were there', async () => {
    const called = [gate(), gate()];
    const left: Promise<unknown>[] = [];
    const { url, gateway } = await startGateway({
      app: echo,
      methods: {
        late: async (_params: unknown, { signal }: MethodContext) => {
          called[left.push(once(signal, 'abort')) - 1]!.open();
          await left[0];
          return 'x'.repeat(1000);
        },
      },
      limits: { unreadBytes: 1 },
    });
    const client = rawClient(url);
    client.socket.write(invoke('late') + invoke('late'));
    for (const { passed } of called) await passed;
    client.socket.destroy();
    await left[0];
    expect((await get(`${url}/status`)).status).to.equal(200);
    expect(gateway.stats().unreadBytes).to.equal(0);
  });

  it('are cut together with the one that nobody reads', async () => {
    const { url, gateway } = await startGateway({
      app: echo,
      methods: { large: () => 'x'.repeat(16 * MB) },
      limits: { slowClientMs: 500, heartbeatMs: 100, unreadBytes: 100 * MB },
    });
    const client = askUnread(url, 'POST /invoke', { method: 'large' });
    client.socket.write(invoke('large') + invoke('large'));
    while (gateway.stats().unreadBytes < 40 * MB) await get(`${url}/status`);
    while (gateway.stats().unreadBytes > 0) await get(`${url}/status`);
    client.socket.resume();
    await client.closed;
  });

  it('end with their connection, event streams and streams of methods too', async () => {
    const begun = gate();
    const ended = gate();
    const { url, gateway } = await startGateway({
      app: echo,
      methods: {
        never: () => new Promise(() => {}),
        flood: async function* () {
          begun.open();
          try {
            for (;;) yield 'x'.repeat(MB);
          } finally {
            ended.open();
          }
        },
      },
    });
    const connected = gate();
    const left = gate();
    gateway.on('client:connected', () => connected.open());
    gateway.on('client:disconnected', () => left.open());
    const client = rawClient(url);
    client.socket.write(invoke('never') + requestText('GET /events?sessionId=main') + invoke('flood'));
    await Promise.all([connected.passed, begun.passed]);
    client.socket.destroy();
    await Promise.all([left.passed, ended.passed]);
    expect(gateway.stats().connections.open).to.equal(0);
  });

  it('wait for it as long as it takes: their reader is not slow', async () => {
    const answer = gate();
    const { url } = await startGateway({
      app: echo,
      methods: {
        late: async () => {
          await answer.passed;
          return 'first';
        },
        soon: () => 'second',
      },
      limits: { slowClientMs: 200, heartbeatMs: 100 },
    });
    const client = rawClient(url);
    client.socket.write(invoke('late') + invoke('soon'));
    const clock = rawClient(url);
    clock.socket.write(requestText('GET /events?sessionId=other'));
    await clock.until(/(event: heartbeat[\s\S]*){8}/);
    answer.open();
    await client.until(/"first"[\s\S]*"second"/);
  });
});
