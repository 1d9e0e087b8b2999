import { expect } from 'chai';
import { GatewayError } from '../../shared/errors.js';
import { failure } from '../support/client.js';
import { withGlobal } from '../support/globals.js';
import { until } from '../support/until.js';
import { at, info, logged, scriptedClient, settle } from './scripted.js';

describe('a page', () => {
  class Target {
    readonly listeners = new Map<string, Set<(event: object) => void>>();
    visibilityState = 'visible';
    addEventListener = (type: string, listener: (event: object) => void) => {
      this.listeners.set(type, (this.listeners.get(type) ?? new Set()).add(listener));
    };
    removeEventListener = (type: string, listener: (event: object) => void) => {
      this.listeners.get(type)?.delete(listener);
    };
    tell(type: string, event: object = {}): void {
      for (const listener of [...(this.listeners.get(type) ?? [])]) listener(event);
    }
    get count(): number {
      return [...this.listeners.values()].reduce((sum, { size }) => sum + size, 0);
    }
  }

  function openPage(options: object = {}) {
    const [page, document] = [new Target(), new Target()];
    withGlobal('addEventListener', page.addEventListener);
    withGlobal('removeEventListener', page.removeEventListener);
    withGlobal('document', document);
    /** What tells of a page that the network may be there again. */
    const pageWakes = [
      () => page.tell('online'),
      () => page.tell('pageshow', { persisted: true }),
      () => document.tell('visibilitychange'),
      () => document.tell('resume'),
    ];
    return { page, document, pageWakes, ...scriptedClient(options) };
  }

  it('ends a back-off when the network is there again, when it is shown and when a call succeeds', async () => {
    const { page, document, pageWakes, transport, client } = openPage();
    transport.answers.apps = { apps: [] };
    client.events('main');
    await transport.link(0);
    const wakes = [...pageWakes, () => client.apps()];
    for (const [n, wake] of wakes.entries()) {
      transport.links[n]!.end(undefined, 50_000);
      expect(client.connection.state).to.equal('reconnecting');
      await wake();
      expect(transport.links, `wake ${n}`).to.have.length(n + 2);
    }
    page.tell('pageshow', { persisted: false });
    expect(transport.links).to.have.length(6);
    client.disconnect();
    expect(page.count + document.count).to.equal(0);
  });

  it('ends the back-off of a subscription and of a call as well, also where nothing else listens', async () => {
    const { page, document, pageWakes, transport, client } = openPage();
    const wakes = [...pageWakes, () => client.status()];
    const away = new GatewayError({ code: 'NETWORK', retryAfterMs: 50_000 });
    transport.answers = {
      status: {},
      apps: (_: never, attempt: number) => (attempt > wakes.length ? { apps: [] } : away),
    };
    let streams = 0;
    transport.stream = async function* () {
      yield { data: ++streams, eventId: String(streams) };
      throw away;
    };
    const items = client.stream('feed');
    const apps = failure(client.apps());
    const asked = () => transport.requests.filter(({ operation }) => operation === 'apps').length;
    expect((await items.next()).value).to.equal(1);
    for (const [n, wake] of wakes.entries()) {
      const next = items.next();
      await settle();
      expect([streams, asked()]).to.deep.equal([n + 1, Math.min(n + 1, 3)]);
      await wake();
      expect((await next).value, `wake ${n}`).to.equal(n + 2);
    }
    await items.return?.();
    expect(await apps).to.include({ code: 'NETWORK' });
    expect(page.count + document.count).to.equal(0);
  });

  it('replaces its link when the network has changed, without a pause or a repetition', async () => {
    const { page, transport, client } = openPage();
    const events = client.events('main');
    const old = (await transport.link(0)).connect({ main: info(1) }).emit(logged(1));
    page.tell('online');
    const next = await transport.link(1);
    expect(next.targets).to.deep.equal([{ sessionId: 'main', cursor: at(1) }]);
    old.emit(logged(2));
    expect(old.closed).to.equal(false);
    next.connect({ main: info(2, { resume: 'exact' }) });
    expect(old.closed).to.equal(true);
    next.emit(logged(2), logged(3));
    expect(client.connection.state).to.equal('open');
    const seen = [await events.next(), await events.next(), await events.next()];
    expect(seen.map(({ value }) => value)).to.deep.equal([logged(1), logged(2), logged(3)]);
    // One that comes to nothing changes nothing.
    page.tell('online');
    (await transport.link(2)).end(new GatewayError({ code: 'NETWORK' }));
    next.emit(logged(4));
    expect((await events.next()).value).to.deep.equal(logged(4));
  });

  it('lets its stream go when it was hidden for a while, and goes on from its place when shown', async () => {
    const { document, transport, client } = openPage({ hiddenMs: 5 });
    (transport as { isScarce?: boolean }).isScarce = true;
    const events = client.events('main');
    const link = (await transport.link(0)).connect({ main: info(1) }).emit(logged(1));
    const paused = new Promise<void>((resolve) =>
      client.on('state', (state) => state === 'paused' && resolve()),
    );
    document.visibilityState = 'hidden';
    document.tell('visibilitychange');
    await paused;
    expect(link.closed).to.equal(true);
    document.visibilityState = 'visible';
    document.tell('visibilitychange');
    const next = await transport.link(1);
    expect(next.targets).to.deep.equal([{ sessionId: 'main', cursor: at(1) }]);
    next.connect({ main: info(2, { resume: 'exact' }) }).emit(logged(2));
    expect([(await events.next()).value, (await events.next()).value]).to.deep.equal([logged(1), logged(2)]);
  });

  it('stays connected while hidden for a run of its own', async () => {
    const { document, transport, client } = openPage({ hiddenMs: 1 });
    (transport as { isScarce?: boolean }).isScarce = true;
    transport.answers.send = { runId: 'r', message: { id: 'x' }, position: 0, cursor: at(0) };
    const states: string[] = [];
    client.on('state', (state) => states.push(state));
    client.events('main');
    const link = (await transport.link(0)).connect({ main: info(1) });
    const run = client.send('main', 'x');
    await run.accepted;
    await settle();
    document.visibilityState = 'hidden';
    document.tell('visibilitychange');
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(states).not.to.include('paused');
    link.emit(logged(1, 'message_end', { runId: 'r', stopReason: 'end', message: {} }));
    expect((await run.result).stopReason).to.equal('end');
    await until(() => states.includes('paused'));
  });
});
