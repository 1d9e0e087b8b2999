import { expect } from 'chai';
import type { GatewayEvent } from '../../client/index.js';
import { defineApp } from '../../server/index.js';
import { echo, heldApp } from '../support/apps.js';
import { isEnd } from '../support/behind-proxy.js';
import { connectClient, failure, reaches, takeUntil } from '../support/client.js';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { post, startGateway } from '../support/gateway.js';
import { Hearing } from '../support/hearing.js';
import { foldOf } from '../support/session-view.js';
import { RUN, seqs, types } from './echo-events.js';

/** Says `lead` numbers, a turn of the event loop each. */
const talker = defineApp({
  async *run(turn) {
    for (let n = 0; n < Number(turn.text); n++) {
      yield `${n} `;
      await new Promise(setImmediate);
    }
  },
});

describe('the events of a client', () => {
  it('start now, with the active run, at the beginning, with the snapshot or after a cursor', async () => {
    const { app, held, began } = heldApp();
    const { url } = await startGateway({ app });
    const host = connectClient(url);
    const run = host.send('main', 'one');
    await began.passed;
    const { cursor } = await run.accepted;
    const client = connectClient(url);
    const starts = { now: 'now', run: 'run', earliest: 'earliest', snapshot: 'snapshot', cursor } as const;
    const readers = Object.entries(starts).map(
      ([name, from]) => [name, client.events('main', { from })] as const,
    );
    // Each has its own place before the run goes on: the snapshot shows what was said, `now` does not.
    const snapshot = await readers[3]![1].next();
    expect(snapshot.value).to.include({ type: 'snapshot' });
    for (const at of [1, 2, 4])
      expect((await readers[at]![1].next()).value.type).to.equal('message_accepted');
    held.open();
    const seen = new Map<string, GatewayEvent[]>();
    for (const [name, events] of readers) seen.set(name, await takeUntil(events, isEnd));
    expect(types(seen.get('now')!)).to.deep.equal(['content_delta', 'message_end']);
    for (const name of ['run', 'earliest', 'cursor'])
      expect(types(seen.get(name)!)).to.deep.equal(RUN.slice(1));
    expect(types(seen.get('snapshot')!)).to.deep.equal(['content_delta', 'message_end']);
    const log = await takeUntil(host.events('main', { from: 'earliest' }), isEnd);
    expect(foldOf([snapshot.value, ...seen.get('snapshot')!])).to.deep.equal(foldOf(log));
  });

  it('begin with the defaults: the active run, else what comes', async () => {
    const { url } = await startGateway({ app: echo });
    const client = connectClient(url);
    await client.send('main', 'one').result;
    const events = client.events('main');
    await reaches(client, 'open');
    const later = connectClient(url).events('main', { types: ['message_end'] });
    await later.return?.();
    await client.send('main', 'two').result;
    expect(types(await takeUntil(events, isEnd))).to.deep.equal(RUN);
  });

  it('are those of one session under both of its names, and of no other', async () => {
    const { url, gateway } = await startGateway({ apps: { echo, other: echo }, defaultApp: 'echo' });
    const connections = new Hearing(gateway, 'client:connected');
    const client = connectClient(url);
    const readers = ['main', 'echo:main', 'other:main', '42', 'echo:a:b'].map((id) =>
      client.events(id, { from: 'earliest' }),
    );
    for (const id of ['echo:main', 'other:main', 'echo:42', 'echo:a:b']) await client.send(id, id).result;
    const ids = [];
    for (const events of readers) {
      const [first, ...others] = await takeUntil(events, isEnd);
      expect(types([first!, ...others])).to.deep.equal(RUN);
      ids.push(first!.sessionId);
    }
    expect(ids).to.deep.equal(['main', 'main', 'other:main', '42', 'echo:a:b']);
    const more = client.events('echo:main', { from: 'earliest' });
    expect(seqs(await takeUntil(more, isEnd))).to.deep.equal([1, 2, 3, 4, 5]);
    expect(connections.heard).to.have.length(1);
  });

  it('of 20 sessions come over one connection and resume together', async () => {
    const { url, gateway } = await startGateway({ app: echo, limits: { sendsPerSecond: Infinity } });
    const proxy = await CuttingProxy.start(url);
    const client = connectClient(proxy.url);
    const host = connectClient(url);
    const ids = Array.from({ length: 20 }, (_, n) => `s${n}`);
    const readers = ids.map((id) => client.events(id, { from: 'earliest' }));
    await Promise.all(ids.map((id) => host.send(id, 'one').result));
    for (const events of readers) expect(seqs(await takeUntil(events, isEnd))).to.deep.equal([1, 2, 3, 4, 5]);
    const connections = new Hearing(gateway, 'client:connected');
    proxy.cutAll();
    await Promise.all(ids.map((id) => host.send(id, 'two').result));
    for (const events of readers)
      expect(seqs(await takeUntil(events, isEnd))).to.deep.equal([6, 7, 8, 9, 10]);
    // The host's own connection may be among those that were counted, the sessions' is one.
    expect(connections.heard.length).to.be.at.most(2);
  });

  it('are read in full by a slow consumer, however many they are, while others get theirs at once', async () => {
    const { url } = await startGateway({ app: talker });
    const client = connectClient(url);
    const slow = client.events('main', { from: 'earliest' });
    const quick = client.events('main', { from: 'earliest' });
    const run = client.send('main', '6000');
    const live = await takeUntil(quick, isEnd);
    await run.result;
    expect(seqs(live)).to.deep.equal(Array.from({ length: 6003 }, (_, n) => n + 1));
    expect(seqs(await takeUntil(slow, isEnd))).to.deep.equal(seqs(live));
  });

  it('come under a new token when the old one has run out, each once', async () => {
    let issued = 0;
    const lifeMs = 1500;
    const born = new Map<string, number>();
    const { url, gateway } = await startGateway({
      app: echo,
      auth: {
        type: 'custom',
        cookies: false,
        validate: (token = '') => {
          const expiresAt = (born.get(token) ?? 0) + lifeMs;
          return { valid: Date.now() < expiresAt, user: { id: 'u' }, expiresAt };
        },
      },
    });
    const token = ({ refresh }: { readonly refresh: boolean }) => {
      // A cache, as applications have one: only a refusal makes it ask for another token.
      if (refresh || issued === 0) born.set(`t${++issued}`, Date.now());
      return `t${issued}`;
    };
    const client = connectClient(url, { token });
    const events = client.events('main', { from: 'earliest' });
    const closed = new Hearing(gateway, 'client:disconnected');
    await client.send('main', 'one').result;
    await closed.nth(1);
    await client.send('main', 'two').result;
    const seen = [...(await takeUntil(events, isEnd)), ...(await takeUntil(events, isEnd))];
    expect(seqs(seen)).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(issued).to.be.greaterThan(1);
  });

  it('end with the signal, and with what refuses their session alone', async () => {
    const { url } = await startGateway({ app: echo });
    const client = connectClient(url);
    const abort = new AbortController();
    const left = client.events('main', { signal: abort.signal });
    const good = client.events('main', { from: 'earliest' });
    const bad = client.events('no app:x', { from: 'earliest' });
    const unknown = client.events('nobody:x', { from: 'earliest' });
    expect(await failure(bad.next())).to.include({ code: 'INVALID_REQUEST', status: 400 });
    expect(await failure(unknown.next())).to.include({ code: 'APP_NOT_FOUND', status: 404 });
    const pending = left.next();
    abort.abort();
    expect(await pending).to.have.property('done', true);
    await post(`${url}/send`, { sessionId: 'main', message: 'hi' });
    expect(types(await takeUntil(good, isEnd))).to.deep.equal(RUN);
    expect(client.connection.state).to.equal('open');
  });
});
