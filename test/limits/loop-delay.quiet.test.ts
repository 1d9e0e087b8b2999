import { join } from 'node:path';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { type Client, createClient, webSocketTransport } from '../../client/index.js';
import { createUnixSocketClientTransport } from '../../client/node/index.js';
import { createGateway, defineApp } from '../../server/index.js';
import { gate } from '../support/gate.js';
import { post, startGateway, TestLogger } from '../support/gateway.js';
import { closeLater } from '../support/resources.js';
import { socketDirectory } from '../support/socket-directory.js';
import { until } from '../support/until.js';
import { as, byName } from '../support/users.js';

/** Longer in one turn than the gateway of this test may be late. */
const TURN_MS = 60;

/** Has the event loop be late, turn after turn, until it is told to stop; what comes is served between the turns. */
function busy(turnMs = TURN_MS): { stop(): void } {
  let isBusy = true;
  const turn = (): void => {
    if (!isBusy) return;
    const end = performance.now() + turnMs;
    while (performance.now() < end);
    setImmediate(turn);
  };
  turn();
  const stop = (): void => {
    isBusy = false;
  };
  return closeLater({ stop }, (it) => it.stop());
}

describe('a gateway whose event loop is late', () => {
  it('refuses new work over each transport alike, goes on with the rest, and takes work again', async () => {
    const log = new TestLogger();
    let finish = (): void => {};
    const app = defineApp({
      async *run(turn) {
        if (turn.text === 'wait') await new Promise<void>((resolve) => (finish = resolve));
        yield turn.text;
      },
    });
    const socketPath = join(socketDirectory(), 'gateway.sock');
    const limits = { loopDelayMs: 25 };
    const methods = { ping: async () => 'pong' };
    const gateway = createGateway({ app, methods, limits, port: 0, socketPath, logger: log });
    closeLater(gateway, (it) => it.close());
    const { url } = await gateway.start();
    const client = (transport: object): Client<typeof gateway> =>
      closeLater(createClient<typeof gateway>({ baseUrl: url, ...transport } as never), (it) =>
        it.disconnect(),
      );
    const clients = [
      client({}),
      client({ transport: webSocketTransport({ baseUrl: url, WebSocket: WebSocket as never }) }),
      client({ transport: createUnixSocketClientTransport({ socketPath }) }),
    ];
    const [first] = clients;
    const running = first!.send('main', 'wait');
    await running.accepted;
    for (const each of clients) expect(await each.invoke('ping')).to.equal('pong');

    const load = busy();
    await until(() => gateway.stats().load.refusing);
    // A client calls again when it is told to, for a while.
    const refused = await Promise.all(clients.map((each) => each.invoke('ping').catch((error) => error)));
    for (const error of refused)
      expect(error).to.include({ code: 'OVERLOADED', status: 503, retryAfterMs: 2000 });
    const body = JSON.stringify({ sessionId: 'other', message: 'Hello' });
    const headers = { 'content-type': 'application/json' };
    const sent = await fetch(`${url}/send`, { method: 'POST', headers, body });
    expect([sent.status, sent.headers.get('retry-after')]).to.deep.equal([503, '2']);
    expect((await sent.json()).error.code).to.equal('OVERLOADED');
    const ready = await fetch(`${url}/readyz`);
    expect([ready.status, (await ready.json()).error.details]).to.deep.equal([503, { reason: 'overloaded' }]);
    expect((await fetch(`${url}/healthz`)).status).to.equal(200);
    finish();
    expect((await running.result).stopReason).to.equal('end');

    load.stop();
    await until(() => !gateway.stats().load.refusing);
    for (const each of clients) expect(await each.invoke('ping')).to.equal('pong');
    expect((await fetch(`${url}/readyz`)).status).to.equal(200);
    const lines = log.lines.map(({ message }) => message);
    expect(lines.some((line) => /^new work is refused: the event loop is \d+ ms late/.test(line))).to.equal(
      true,
    );
    expect(lines).to.include('new work is taken again');
  });

  it('takes the work of a tenant that has less than its share, while it refuses that of the one that fills it', async () => {
    const held = gate();
    const app = defineApp({
      async *run(turn) {
        if (turn.user?.tenantId === 'large') await held.passed;
        yield turn.text;
      },
    });
    const { gateway, url } = await startGateway({ app, auth: byName, limits: { loopDelayMs: 150 } });
    const send = (who: string, sessionId: string) =>
      post(`${url}/send`, { sessionId, message: 'hi' }, { ...as(who), prefer: 'respond-async' });
    for (let each = 0; each < 6; each += 1) await send(`large/user${each}`, 'main');
    const load = busy(200);
    await until(() => gateway.stats().load.refusing);
    const answers = { large: [] as number[], small: [] as number[] };
    for (let each = 0; each < 4; each += 1) {
      answers.large.push((await send(`large/other${each}`, 'main')).status);
      answers.small.push((await send(`small/user${each}`, 'main')).status);
    }
    load.stop();
    held.open();
    expect(answers.small).to.include(202);
    expect(answers.large).to.deep.equal([503, 503, 503, 503]);
  });
});
