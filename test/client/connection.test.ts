import { expect } from 'chai';
import { type Client, createClient } from '../../client/index.js';
import { GatewayError } from '../../shared/errors.js';
import { type HeldTimers, holdTimers } from '../support/held-timers.js';
import { at, info, logged, ScriptedTransport, settle } from './scripted.js';

describe('client connection', () => {
  let timers: HeldTimers;
  let clock: HeldTimers['clock'];
  let transport: ScriptedTransport;
  let client: Client;

  beforeEach(() => {
    timers = holdTimers('Date');
    clock = timers.clock;
    transport = new ScriptedTransport();
    client = createClient({ transport });
  });
  afterEach(() => {
    client.disconnect();
    expect(timers.left('client')).to.deep.equal([]);
  });

  it('opens on first use, reports its states and closes on disconnect', async () => {
    const states: string[] = [];
    const stop = client.on('state', (state) => states.push(state));
    client.connection.subscribe((state) => expect(client.connection.state).to.equal(state));
    expect(client.connection.state).to.equal('closed');
    const events = client.events('main');
    (await transport.link(0)).connect({ main: info(1) });
    transport.links[0]!.end();
    clock.runToLast();
    transport.links[1]!.connect({ main: info(1) });
    client.disconnect();
    expect(states).to.deep.equal(['connecting', 'open', 'reconnecting', 'open', 'closed']);
    expect(await events.next()).to.have.property('done', true);
    stop();
    client.events('main');
    expect(states).to.have.length(5);
  });

  it('keeps the link for 5 s after the last listener left, and what comes next shares it', async () => {
    const events = client.events('main');
    const link = (await transport.link(0)).connect({ main: info(1) });
    await events.return?.();
    clock.tick(4900);
    link.emit(logged(1));
    expect(link.changes).to.deep.equal([]);
    const next = client.events('main', { from: 'now' });
    clock.tick(5000);
    expect(link.closed).to.equal(false);
    link.emit({ type: 'heartbeat' }, logged(2));
    expect(await next.next()).to.deep.equal({ done: false, value: logged(2) });
    await next.return?.();
    clock.tick(5000);
    expect(link.closed).to.equal(true);
    expect(client.connection.state).to.equal('closed');
    expect(transport.links).to.have.length(1);
  });

  it('dials again where the link that is to take over comes to nothing, as the old one may be dead', async () => {
    client.events('main');
    const old = (await transport.link(0)).connect({ main: info(1) });
    old.stale();
    // A connection that is kept may be dead without a word, too.
    const silent = await transport.link(1);
    clock.tick(10_000);
    expect(silent.closed).to.equal(true);
    transport.links[2]!.end(new GatewayError({ code: 'NETWORK' }));
    clock.tick(250);
    transport.links[3]!.end(new GatewayError({ code: 'UNAUTHENTICATED', status: 401 }));
    old.emit({ type: 'heartbeat' });
    clock.tick(30_000);
    expect(transport.links, 'what the gateway refuses is refused').to.have.length(4);
    old.stale();
    transport.links[4]!.connect({ main: info(1) });
    expect(old.closed).to.equal(true);
    clock.tick(30_000);
    expect(transport.links).to.have.length(5);
    expect(client.connection.state).to.equal('open');
  });

  it('does not come back after a cut while nobody listens, nor linger where it is not connected', async () => {
    const events = client.events('main');
    const first = (await transport.link(0)).connect({ main: info(1) });
    await events.return?.();
    first.end();
    expect(client.connection.state).to.equal('closed');
    const again = client.events('main');
    await transport.link(1);
    await again.return?.();
    expect(client.connection.state).to.equal('closed');
    expect(timers.left('client')).to.deep.equal([]);
  });

  it('takes silence of 2.5 heartbeats for a cut', async () => {
    client.events('main');
    const link = (await transport.link(0)).connect({ main: info(1) }, 1000);
    clock.tick(2400);
    link.emit(logged(1));
    clock.tick(36_000);
    expect(link.closed).to.equal(true);
    expect(client.connection.error).to.have.property('code', 'NETWORK');
    expect(transport.links[1]!.targets).to.deep.equal([{ sessionId: 'main', cursor: at(1) }]);
  });

  it('stays on a link that only sends heartbeats', async () => {
    client.events('main');
    const link = (await transport.link(0)).connect({ main: info(1) }, 1000);
    for (let beat = 0; beat < 60; beat++) {
      clock.tick(1000);
      link.emit({ type: 'heartbeat' });
    }
    expect(transport.links).to.have.length(1);
  });

  it('backs off with full jitter up to 30 s, and starts over after progress', async () => {
    const random = Math.random;
    Math.random = () => 0.999;
    try {
      client.events('main');
      await transport.link(0);
      const waits: number[] = [];
      for (let tries = 0; tries < 9; tries++) {
        const from = clock.now;
        transport.links.at(-1)!.end(new GatewayError({ code: 'NETWORK' }));
        const count = transport.links.length;
        while (transport.links.length === count) clock.next();
        waits.push(Math.round((clock.now - from) / 250));
      }
      expect(waits).to.deep.equal([1, 2, 4, 8, 16, 32, 64, 120, 120]);
      const from = clock.now;
      transport.links
        .at(-1)!
        .connect({ main: info(1) })
        .emit(logged(1))
        .end();
      const count = transport.links.length;
      while (transport.links.length === count) clock.next();
      expect(clock.now - from).to.be.at.most(250);
    } finally {
      Math.random = random;
    }
  });

  it('spreads its attempts over the whole of each wait', async () => {
    const random = Math.random;
    try {
      client.events('main');
      await transport.link(0);
      for (const share of [0, 0.5]) {
        Math.random = () => share;
        for (let tries = 0; tries < 3; tries++) {
          const from = clock.now;
          const count = transport.links.length;
          transport.links.at(-1)!.end();
          while (transport.links.length === count) clock.next();
          expect(clock.now - from).to.equal(share * 250 * 2 ** (count - 1));
        }
      }
    } finally {
      Math.random = random;
    }
  });

  it('takes neither 408 nor 429 for final', async () => {
    client.events('main');
    for (const [n, status] of [408, 429].entries()) {
      (await transport.link(n)).end(new GatewayError({ code: 'OF_A_HOST', status }));
      expect(client.connection.state).to.equal('reconnecting');
      clock.runToLast();
    }
    expect(transport.links).to.have.length(3);
  });

  it('gives a silent link more time where a big event may be on its way', async () => {
    client.events('main');
    const silentFor = async (n: number) => {
      const link = (await transport.link(n)).connect({ main: info(1) }, 1000);
      const from = clock.now;
      while (!link.closed) clock.next();
      const ms = clock.now - from;
      while (transport.links.length === n + 1) clock.next();
      return ms;
    };
    expect(await silentFor(0)).to.equal(2500);
    expect(await silentFor(1)).to.equal(5000);
    expect(await silentFor(2)).to.equal(10_000);
    transport.links[3]!.connect({ main: info(1) }, 1000)
      .emit(logged(1))
      .end();
    clock.runToLast();
    expect(await silentFor(4)).to.equal(2500);
  });

  it('waits at least as long as the gateway asks', async () => {
    client.events('main');
    (await transport.link(0)).end(undefined, 5000);
    clock.tick(4999);
    expect(transport.links).to.have.length(1);
    clock.tick(1);
    expect(transport.links).to.have.length(2);
  });

  it('gives up on a final error, tells every iterator, and may be used again', async () => {
    const first = client.events('main');
    const second = client.events('main');
    (await transport.link(0)).end(new GatewayError({ code: 'UNAUTHENTICATED' }));
    for (const events of [first, second]) {
      expect(await events.next().catch((error: unknown) => error)).to.have.property(
        'code',
        'UNAUTHENTICATED',
      );
      expect(await events.next()).to.have.property('done', true);
    }
    expect(client.connection.state).to.equal('closed');
    expect(client.connection.error).to.have.property('code', 'UNAUTHENTICATED');
    client.events('main');
    await settle();
    expect(client.connection.state).to.equal('connecting');
    expect(client.connection.error).to.equal(undefined);
    expect(transport.links).to.have.length(2);
  });

  it('reopens when its connection is unknown to the gateway', async () => {
    client.events('main');
    const link = (await transport.link(0)).connect({ main: info(1) }).emit(logged(1));
    link.refuse = new GatewayError({ code: 'CONNECTION_NOT_FOUND' });
    client.events('other');
    await settle();
    expect(link.closed).to.equal(true);
    clock.runToLast();
    expect(transport.links[1]!.targets).to.deep.equal([
      { sessionId: 'main', cursor: at(1) },
      { sessionId: 'other', from: 'run' },
    ]);
  });

  it('ends requests with TIMEOUT and ABORTED, and repeats only what is safe to repeat', async () => {
    transport.answers = {
      invoke: () => new Promise(() => {}),
      history: () => new GatewayError({ code: 'NETWORK' }),
    };
    const slow = client.invoke('slow').catch((error: unknown) => error);
    const abort = new AbortController();
    const aborted = client.invoke('slow', {}, { signal: abort.signal }).catch((error: unknown) => error);
    abort.abort();
    expect(await aborted).to.have.property('code', 'ABORTED');
    clock.tick(30_000);
    expect(await slow).to.have.property('code', 'TIMEOUT');
    const history = client
      .session('main')
      .history()
      .catch((error: unknown) => error);
    for (let tries = 0; tries < 3; tries++) {
      await settle();
      clock.runToLast();
    }
    expect(await history).to.have.property('code', 'NETWORK');
    expect(transport.requests.filter(({ operation }) => operation === 'history')).to.have.length(3);
    expect(transport.requests.filter(({ operation }) => operation === 'invoke')).to.have.length(2);
  });
});
