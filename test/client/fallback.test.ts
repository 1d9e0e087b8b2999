import { expect } from 'chai';
import NodeWebSocket from 'ws';
import type { WebSocketClass } from '../../client/index.js';
import { echo } from '../support/apps.js';
import { behindProxy, isEnd } from '../support/behind-proxy.js';
import { connectClient, failure, reaches, takeUntil } from '../support/client.js';
import { foreignAnswer } from '../support/fault-proxy.js';
import { gate } from '../support/gate.js';
import { startGateway } from '../support/gateway.js';
import { holdTimers } from '../support/held-timers.js';
import { until } from '../support/until.js';

describe('a client whose network fails', () => {
  it('falls back from WebSockets where none gets through any more', async () => {
    const { proxy, client } = await behindProxy('auto', {}, { timeoutMs: 5000 });
    const events = client.events('main', { from: 'earliest' });
    await client.send('main', 'one').result;
    proxy.answer = (line) => (line.startsWith('GET /ws') ? foreignAnswer('403 Forbidden', '') : undefined);
    proxy.cut();
    await client.send('main', 'two').result;
    for (let ends = 0; ends < 2; ends++) await takeUntil(events, isEnd);
    expect(await client.apps()).to.have.property('apps');
  });

  it('gives up an upgrade that is swallowed', async () => {
    // Before the call itself is given up.
    const { proxy, client } = await behindProxy('auto', {}, { timeoutMs: 30_000 });
    const swallowed = gate();
    proxy.answer = (line) => {
      if (!line.startsWith('GET /ws')) return undefined;
      swallowed.open();
      return null;
    };
    const { clock } = holdTimers();
    const failing = failure(client.invoke('none'));
    await swallowed.passed;
    // Before the socket is.
    await clock.tickAsync(9000);
    expect((await failing).code).to.equal('METHOD_NOT_FOUND');
  });

  it('tries a WebSocket again when the stream over HTTP cannot be opened either', async () => {
    const { proxy, client } = await behindProxy('auto', {}, { timeoutMs: 5000 });
    const upgrades: string[] = [];
    proxy.answer = (line) =>
      line.startsWith('GET /ws') ? foreignAnswer('403 Forbidden', String(upgrades.push(line))) : undefined;
    client.events('main');
    await reaches(client, 'open');
    const tried = upgrades.length;
    let refused = 0;
    proxy.answer = () => {
      refused += 1;
      return foreignAnswer('502 Bad Gateway', '');
    };
    proxy.cut();
    await until(() => refused > 0);
    proxy.answer = (line) => {
      if (line.startsWith('GET /ws')) upgrades.push(line);
      return undefined;
    };
    await until(() => upgrades.length > tried);
    await reaches(client, 'open');
  });

  it('uses SSE where only its headers say who asks', async () => {
    const validate = (_: unknown, { headers }: any) => ({ valid: !!headers['x-user'], user: { id: 'ada' } });
    const { connect } = await behindProxy('auto', { auth: { type: 'custom', cookies: false, validate } });
    const client = connect({ token: undefined, headers: { 'x-user': 'ada' } });
    expect((await client.send('main', 'hello').result).stopReason).to.equal('end');
  });

  it('asks for one new token, however many calls were refused', async () => {
    let family = 0;
    let stolen = false;
    const renew = async () => {
      const mine = family;
      await new Promise((resolve) => setTimeout(resolve, 20));
      if (mine !== family) stolen = true;
      family += 1;
      return `good-${family}`;
    };
    let access = 'old';
    const validate = (given = '') => ({ valid: given === `good-${family}`, user: { id: 'u' } });
    const { connect } = await behindProxy('sse', { auth: { type: 'custom', cookies: false, validate } });
    const client = connect({
      token: async ({ refresh }: { refresh: boolean }) => {
        if (refresh) access = await renew();
        return access;
      },
    });
    await Promise.all([client.apps(), client.sessions(), client.methods(), client.send('main', 'x').result]);
    expect(stolen).to.equal(false);
    expect(family).to.equal(1);
  });

  it('lets no stream of a method run ahead of who reads it', async () => {
    let made = 0;
    const { client } = await behindProxy('websocket', {
      methods: {
        many: async function* () {
          while (made < 100_000) yield made++;
        },
      },
    });
    const items = client.stream('many');
    await items.next();
    for (let ask = 0; ask < 50; ask++) await client.apps();
    expect(made).to.be.at.most(66);
    for (let n = 1; n < 1000; n++) expect((await items.next()).value).to.equal(n);
    await items.return?.();
  });

  it('comes back from a WebSocket class that tells of a failure by an error alone', async () => {
    const { url } = await startGateway({ app: echo });
    let opened = 0;
    const failing = () => {
      const socket = { readyState: 0, send() {}, close() {}, onerror: undefined as (() => void) | undefined };
      setTimeout(() => {
        socket.readyState = 3;
        socket.onerror?.();
      });
      return socket;
    };
    const Failing = new Proxy(NodeWebSocket, {
      construct: (Class, [address]) => {
        opened += 1;
        return opened > 2 ? new Class(address) : (failing() as never);
      },
    }) as unknown as WebSocketClass;
    const client = connectClient(url, { transport: 'websocket', WebSocket: Failing });
    expect((await client.send('main', 'x').result).stopReason).to.equal('end');
  });
});
