import { expect } from 'chai';
import type { Client } from '../../client/index.js';
import { GatewayError } from '../../shared/errors.js';
import type { GatewayEvent } from '../../shared/events.js';
import { initialState } from '../../shared/fold.js';
import {
  at,
  gap,
  info,
  logged,
  OTHER_EPOCH,
  type ScriptedTransport,
  scriptedClient,
  seqs,
  settle,
  snapshot,
  take,
} from './scripted.js';

describe('client events', () => {
  let transport: ScriptedTransport;
  let client: Client;

  beforeEach(() => {
    ({ transport, client } = scriptedClient());
  });

  it('follows the start of the active run by default and yields what comes', async () => {
    const events = client.events('main');
    const link = await transport.link(0);
    expect(link.targets).to.deep.equal([{ sessionId: 'main', from: 'run' }]);
    link.connect({ main: info(5) }).emit(logged(5), logged(6));
    expect(seqs(await take(events, 2))).to.deep.equal([5, 6]);
  });

  it('asks for all sessions of one turn in one link', async () => {
    client.events('a');
    client.events('b', { from: 'earliest' });
    const link = await transport.link(0);
    expect(link.targets.map((target) => target.sessionId)).to.deep.equal(['a', 'b']);
    expect(transport.links).to.have.length(1);
  });

  it('drops repeats', async () => {
    const events = client.events('main');
    (await transport.link(0))
      .connect({ main: info(1) })
      .emit(logged(1), logged(1), logged(2), logged(1), logged(3));
    expect(seqs(await take(events, 3))).to.deep.equal([1, 2, 3]);
  });

  it('takes a hole for a cut and resumes from the last event it had', async () => {
    const events = client.events('main');
    const first = await transport.link(0);
    first.connect({ main: info(1) }).emit(logged(1), logged(2), logged(4));
    expect(first.closed).to.equal(true);
    const second = await transport.link(1);
    expect(second.targets).to.deep.equal([{ sessionId: 'main', cursor: at(2) }]);
    second.connect({ main: info(3, { resume: 'exact' }) }).emit(logged(3), logged(4));
    expect(seqs(await take(events, 4))).to.deep.equal([1, 2, 3, 4]);
  });

  it('takes an undeclared change of epoch for a cut', async () => {
    client.events('main');
    const first = await transport.link(0);
    first.connect({ main: info(1) }).emit(logged(1), logged(2, 'custom', { cursor: at(2, OTHER_EPOCH) }));
    expect((await transport.link(1)).targets).to.deep.equal([{ sessionId: 'main', cursor: at(1) }]);
  });

  it('resumes after a cut and ignores the link it gave up', async () => {
    const events = client.events('main');
    const first = await transport.link(0);
    first.connect({ main: info(1) }).emit(logged(1));
    first.end(new GatewayError({ code: 'NETWORK' }));
    expect(client.connection.state).to.equal('reconnecting');
    const second = await transport.link(1);
    first.emit(logged(2, 'custom', { payload: 'stale' }));
    first.end();
    second.connect({ main: info(2, { resume: 'exact' }) }).emit(logged(2));
    const [, event] = await take(events, 2);
    expect(event).to.include({ payload: 2 });
    expect(transport.links).to.have.length(2);
  });

  it('says it when continuity is broken, and goes on from the snapshot', async () => {
    const events = client.events('main', { from: at(3) });
    const link = await transport.link(0);
    expect(link.targets).to.deep.equal([{ sessionId: 'main', cursor: at(3) }]);
    link.connect({ main: info(21, { resume: 'gap', first: 15 }) }).emit(gap(20), snapshot(20), logged(21));
    expect(seqs(await take(events, 3))).to.deep.equal(['gap', 'snapshot', 21]);
  });

  it('accepts a snapshot that lies behind its cursor when the cursor is ahead of the log', async () => {
    const events = client.events('main', { from: at(100) });
    (await transport.link(0))
      .connect({ main: info(91, { resume: 'gap' }) })
      .emit(gap(90), snapshot(90), logged(91));
    expect(seqs(await take(events, 3))).to.deep.equal(['gap', 'snapshot', 91]);
  });

  it('goes back with a snapshot in mid-stream, and on from there', async () => {
    const events = client.events('main');
    const link = (await transport.link(0)).connect({ main: info(4) });
    link.emit(
      logged(4),
      logged(5),
      logged(6),
      gap(4),
      snapshot(4),
      logged(5, 'custom', { payload: 'other' }),
    );
    const seen = await take(events, 6);
    expect(seqs(seen)).to.deep.equal([4, 5, 6, 'gap', 'snapshot', 5]);
    expect(seen.at(-1)).to.include({ payload: 'other' });
  });

  it('follows a session into its next life', async () => {
    const events = client.events('main');
    const next = (seq: number) => logged(seq, 'custom', { cursor: at(seq, OTHER_EPOCH) });
    const first = (await transport.link(0)).connect({ main: info(8) });
    first.emit(logged(8), gap(0, OTHER_EPOCH), snapshot(0, {}, OTHER_EPOCH), next(1), next(2));
    expect(seqs(await take(events, 5))).to.deep.equal([8, 'gap', 'snapshot', 1, 2]);
  });

  it('waits for a session that does not exist yet', async () => {
    const events = client.events('main');
    (await transport.link(0))
      .connect({ main: info(1, { epoch: null, first: 1, head: 0 }) })
      .emit(logged(1), logged(2));
    expect(seqs(await take(events, 2))).to.deep.equal([1, 2]);
  });

  it('misses nothing of a session that came into being during a cut', async () => {
    const events = client.events('main');
    const first = (await transport.link(0)).connect({ main: info(1, { epoch: null, head: 0 }) });
    first.end();
    const second = await transport.link(1);
    expect(second.targets).to.deep.equal([{ sessionId: 'main', cursor: '' }]);
    second.connect({ main: info(1) }).emit(logged(1), logged(2));
    expect(seqs(await take(events, 2))).to.deep.equal([1, 2]);
  });

  it('tells of the gap when the session it knew is no more', async () => {
    const events = client.events('main');
    const first = (await transport.link(0)).connect({ main: info(1) }).emit(logged(1));
    first.end();
    const { cursor: _, ...nothing } = gap(0);
    (await transport.link(1))
      .connect({ main: info(1, { epoch: null, head: 0, resume: 'gap' }) })
      .emit(nothing as GatewayEvent, { type: 'snapshot', sessionId: 'main', state: initialState })
      .emit(gap(0, OTHER_EPOCH), snapshot(0, {}, OTHER_EPOCH))
      .emit(logged(1, 'custom', { cursor: at(1, OTHER_EPOCH) }));
    expect(seqs(await take(events, 6))).to.deep.equal([1, 'gap', 'snapshot', 'gap', 'snapshot', 1]);
  });

  it('asks again from its old place while the snapshot after a gap has not come', async () => {
    const events = client.events('main', { from: at(3) });
    const first = (await transport.link(0)).connect({ main: info(21, { resume: 'gap' }) }).emit(gap(20));
    first.end();
    const second = await transport.link(1);
    expect(second.targets).to.deep.equal([{ sessionId: 'main', cursor: at(3) }]);
    second.connect({ main: info(22, { resume: 'gap' }) }).emit(gap(21), snapshot(21), logged(22));
    expect(seqs(await take(events, 3))).to.deep.equal(['gap', 'snapshot', 22]);
  });

  it('resumes a quiet session exactly where its subscription began', async () => {
    const events = client.events('main');
    const first = (await transport.link(0)).connect({ main: info(5) });
    first.end();
    const second = await transport.link(1);
    expect(second.targets).to.deep.equal([{ sessionId: 'main', cursor: at(4) }]);
    second.connect({ main: info(5, { resume: 'exact' }) }).emit(logged(5));
    expect(seqs(await take(events, 1))).to.deep.equal([5]);
  });

  it('filters types on its own side and delivers types it does not know', async () => {
    const some = client.events('main', { types: ['content_delta'] });
    const all = client.events('main');
    const odd = logged(2, 'from_the_future', { extra: { deep: 1 } });
    (await transport.link(0))
      .connect({ main: info(1) })
      .emit(logged(1), odd, logged(3, 'content_delta', { delta: 'x', index: 0 }), logged(4));
    expect(seqs(await take(some, 1))).to.deep.equal([3]);
    expect((await take(all, 2))[1]).to.deep.equal(odd);
  });

  it('finds a session of the default app under its canonical key, in both spellings at once', async () => {
    const long = client.events('assistant:main', { from: at(0) });
    const short = client.events('main', { from: 'now' });
    const colons = client.events('assistant:a:b', { from: 'now' });
    const link = await transport.link(0);
    expect(link.targets.map(({ sessionId }) => sessionId)).to.deep.equal([
      'assistant:main',
      'main',
      'assistant:a:b',
    ]);
    link.connect({ main: info(3), 'assistant:a:b': info(1) });
    // It was asked for twice: where it starts, only one more question tells.
    expect(link.changes).to.deep.equal([{ add: [{ sessionId: 'main', cursor: at(0) }] }]);
    link
      .emit(logged(3))
      .subscribed(info(1, { resume: 'exact', head: 2 }))
      .emit(logged(1, 'custom', { sessionId: 'assistant:a:b' }), logged(1), logged(2), logged(3));
    expect(seqs(await take(long, 3))).to.deep.equal([1, 2, 3]);
    expect(seqs(await take(short, 1))).to.deep.equal([3]);
    expect(seqs(await take(colons, 1))).to.deep.equal([1]);
    await long.return?.();
    client.events('assistant:main', { from: 'now' });
    await settle();
    expect(link.changes).to.have.length(1);
    expect(transport.links).to.have.length(1);
  });

  it('starts a second iterator at a newer cursor without asking', async () => {
    client.events('main');
    const link = (await transport.link(0)).connect({ main: info(1) }).emit(logged(1));
    const second = client.events('main', { from: at(2) });
    link.emit(logged(2), logged(3));
    expect(seqs(await take(second, 1))).to.deep.equal([3]);
    expect(link.changes).to.deep.equal([]);
  });

  it('holds 4,096 events for a slow consumer, then reads the rest from the gateway', async () => {
    const slow = client.events('main');
    const quick = client.events('main');
    const link = (await transport.link(0)).connect({ main: info(1) });
    for (let seq = 1; seq <= 5000; seq++) {
      link.emit(logged(seq));
      await quick.next();
    }
    const held = await take(slow, 4096);
    expect(seqs(held).at(-1)).to.equal(4096);
    // What the client remembers reaches back so far.
    link.emit(logged(5001));
    expect(seqs(await take(slow, 905)).at(-1)).to.equal(5001);
    expect(transport.links).to.have.length(1);
    expect(seqs(await take(quick, 1))).to.deep.equal([5001]);
  });

  it('leaves only the iteration on break and on a signal', async () => {
    const abort = new AbortController();
    const signalled = client.events('main', { signal: abort.signal });
    const link = (await transport.link(0)).connect({ main: info(1) }).emit(logged(1));
    const broken = client.events('main', { from: 'now' });
    link.emit(logged(2));
    for await (const _ of broken) break;
    expect(link.closed).to.equal(false);
    await take(signalled, 2);
    const pending = signalled.next();
    abort.abort();
    expect(await pending).to.deep.equal({ done: true, value: undefined });
    expect(await client.events('main', { signal: abort.signal }).next()).to.have.property('done', true);
  });

  it('stops following a session that nobody reads any more, while others go on', async () => {
    client.events('other');
    const events = client.events('main');
    const link = (await transport.link(0)).connect({ main: info(1), other: info(1) });
    await events.return?.();
    await settle();
    expect(link.changes).to.deep.equal([{ remove: ['main'] }]);
    expect(link.closed).to.equal(false);
    client.events('main');
    expect(link.changes[1]).to.deep.equal({ add: [{ sessionId: 'main', from: 'run' }] });
  });

  it('throws what the gateway refuses a session with, in its iterators alone', async () => {
    const good = client.events('good');
    const link = (await transport.link(0)).connect({ good: info(1) });
    link.refuse = new GatewayError({ code: 'SESSION_NOT_FOUND' });
    const bad = client.events('bad');
    const error = await bad.next().catch((failure: unknown) => failure);
    expect(error).to.have.property('code', 'SESSION_NOT_FOUND');
    link.emit(logged(1, 'custom', { sessionId: 'good' }));
    expect(seqs(await take(good, 1))).to.deep.equal([1]);
  });

  it('finds out which session was refused when several were asked for at once', async () => {
    const good = client.events('good');
    const bad = client.events('bad');
    (await transport.link(0)).end(new GatewayError({ code: 'SESSION_NOT_FOUND' }));
    const link = await transport.link(1);
    expect(link.targets).to.deep.equal([]);
    link.connect({});
    expect(link.changes).to.deep.equal([
      { add: [{ sessionId: 'good', from: 'run' }] },
      { add: [{ sessionId: 'bad', from: 'run' }] },
    ]);
    link.subscribed(info(1), 'good').emit(logged(1, 'custom', { sessionId: 'good' }));
    expect(seqs(await take(good, 1))).to.deep.equal([1]);
    void bad.return?.();
  });

  it('iterates and publishes on a channel', async () => {
    const channel = client.session('main').channel('tasks');
    const messages = channel[Symbol.asyncIterator]();
    const event = { type: 'added', payload: { id: 1 } };
    const link = await transport.link(0);
    expect(link.targets).to.deep.equal([{ sessionId: 'main', from: 'now' }]);
    link
      .connect({ main: info(1) })
      .emit(
        logged(1, 'channel', { channel: 'else', event }),
        logged(2, 'channel', { channel: 'tasks', event }),
      );
    expect(await messages.next()).to.deep.equal({ done: false, value: event });
    transport.answers.channel = { ok: true };
    await channel.publish({ id: 2 }, { type: 'added' });
    expect(transport.requests[0]).to.deep.equal({
      operation: 'channel',
      params: { sessionId: 'main', channel: 'tasks', type: 'added', payload: { id: 2 } },
    });
  });

  it('detaches what a bound session began', async () => {
    const session = client.session('main');
    const events = session.events();
    const watch = session.watch();
    let changes = 0;
    watch.subscribe(() => changes++);
    const link = (await transport.link(0)).connect({ main: info(1) });
    changes = 0;
    session.detach();
    expect(await events.next()).to.have.property('done', true);
    link.emit(logged(1));
    expect(changes).to.equal(0);
  });
});
