import { expect } from 'chai';
import type { Client } from '../../client/index.js';
import { GatewayError } from '../../shared/errors.js';
import type { GatewayEvent } from '../../shared/events.js';
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

describe('readers of one session', () => {
  let transport: ScriptedTransport;
  let client: Client;

  beforeEach(() => {
    ({ transport, client } = scriptedClient());
  });

  it('serves a late iterator from what it remembers', async () => {
    const first = client.events('main', { from: 'earliest' });
    const link = (await transport.link(0)).connect({ main: info(1) }).emit(logged(1), logged(2), logged(3));
    expect(seqs(await take(client.events('main', { from: 'earliest' }), 3))).to.deep.equal([1, 2, 3]);
    expect(seqs(await take(client.events('main', { from: at(1) }), 2))).to.deep.equal([2, 3]);
    link.emit(logged(4, 'message_start', { runId: 'r', messageId: 'm', app: 'a' }), logged(5));
    expect(seqs(await take(client.events('main', { from: 'run' }), 2))).to.deep.equal([4, 5]);
    const idle = client.events('main', { from: 'now' });
    link.emit(logged(6));
    expect(seqs(await take(idle, 1))).to.deep.equal([6]);
    expect(seqs(await take(first, 6))).to.deep.equal([1, 2, 3, 4, 5, 6]);
    await settle();
    expect(transport.links).to.have.length(1);
    expect(link.changes).to.deep.equal([]);
  });

  it('reads what is further back on a link of its own, until that has caught up', async () => {
    const first = client.events('main');
    const link = (await transport.link(0)).connect({ main: info(3) }).emit(logged(3));
    const second = client.events('main', { from: 'earliest' });
    const aside = await transport.link(1);
    expect(aside.targets).to.deep.equal([{ sessionId: 'main', from: 'earliest' }]);
    link.emit(logged(4));
    aside.connect({ main: info(1, { head: 4 }) }).emit(logged(1));
    expect(aside.closed).to.equal(false);
    aside.emit(logged(2));
    expect(aside.closed).to.equal(true);
    link.emit(logged(5));
    expect(seqs(await take(second, 5))).to.deep.equal([1, 2, 3, 4, 5]);
    expect(seqs(await take(first, 3))).to.deep.equal([3, 4, 5]);
    expect(link.changes).to.deep.equal([]);
    expect(client.connection.state).to.equal('open');
  });

  it('resumes a link of its own by itself, and ends it with its iterator', async () => {
    client.events('main');
    (await transport.link(0)).connect({ main: info(30) });
    const second = client.events('main', { from: 'earliest' });
    (await transport.link(1))
      .connect({ main: info(1, { head: 29 }) })
      .emit(logged(1))
      .end();
    const again = await transport.link(2);
    expect(again.targets).to.deep.equal([{ sessionId: 'main', cursor: at(1) }]);
    again.connect({ main: info(2, { resume: 'exact', head: 29 }) }).emit(logged(2));
    expect(seqs(await take(second, 2))).to.deep.equal([1, 2]);
    expect(client.connection.state).to.equal('open');
    await second.return?.();
    expect(again.closed).to.equal(true);
    const refused = client.events('main', { from: 'earliest' });
    (await transport.link(3)).end(new GatewayError({ code: 'SESSION_NOT_FOUND' }));
    expect(await refused.next().catch((error: unknown) => error)).to.have.property(
      'code',
      'SESSION_NOT_FOUND',
    );
    expect(client.connection.state).to.equal('open');
  });

  it('asks for nothing that nobody reads any more', async () => {
    const kept = client.events('main');
    const link = (await transport.link(0)).connect({ main: info(1) });
    const left = client.events('other');
    await left.return?.();
    link.emit({ type: 'subscribed', sessionId: 'other', ...info(1) });
    await settle();
    expect(link.changes).to.deep.equal([
      { add: [{ sessionId: 'other', from: 'run' }] },
      { remove: ['other'] },
    ]);
    await left.return?.();
    client.events('third');
    await settle();
    expect(link.changes.at(-1)).to.deep.equal({ add: [{ sessionId: 'third', from: 'run' }] });
    await kept.return?.();
  });

  it('gives a second snapshot without disturbing who has the first', async () => {
    const first = client.events('main', { from: 'snapshot' });
    const link = (await transport.link(0)).connect({ main: info(9) }).emit(snapshot(8));
    const second = client.events('main', { from: 'snapshot' });
    const aside = (await transport.link(1)).connect({ main: info(9) }).emit(snapshot(8));
    expect(aside.closed).to.equal(true);
    link.emit(logged(9));
    for (const events of [first, second]) expect(seqs(await take(events, 2))).to.deep.equal(['snapshot', 9]);
  });

  it('serves readers of two lives of a session, each event once', async () => {
    const old = client.events('main');
    const link = (await transport.link(0)).connect({ main: info(3) }).emit(logged(3));
    const next = (seq: number) => logged(seq, 'custom', { cursor: at(seq, OTHER_EPOCH) });
    const fresh = client.events('main', { from: at(0, OTHER_EPOCH) });
    const aside = (await transport.link(1))
      .connect({ main: info(1, { epoch: OTHER_EPOCH, resume: 'exact' }) })
      .emit(next(1));
    expect(aside.closed).to.equal(false);
    link.emit(logged(4), gap(0, OTHER_EPOCH), snapshot(0, {}, OTHER_EPOCH), next(1));
    aside.emit(next(2));
    expect(aside.closed).to.equal(true);
    link.emit(next(2), next(3));
    expect(seqs(await take(old, 7))).to.deep.equal([3, 4, 'gap', 'snapshot', 1, 2, 3]);
    expect(seqs(await take(fresh, 3))).to.deep.equal([1, 2, 3]);
  });

  for (const from of ['now', 'run', 'snapshot'] as const)
    it(`passes nothing over where links overlap while a session is asked for with ${from}`, async () => {
      client.events('main');
      const old = (await transport.link(0)).connect({ main: info(1) });
      const events = client.events('other', { from, types: ['custom'] });
      const other = (seq: number) => logged(seq, 'custom', { sessionId: 'other' });
      const state = (seq: number) => ({ ...snapshot(seq), sessionId: 'other' }) as GatewayEvent;
      const first = from === 'snapshot' ? [state(10)] : [];
      old.stale();
      const link = await transport.link(1);
      expect(link.targets[1]).to.deep.equal({ sessionId: 'other', from });
      // Meanwhile the old link has answered, and has not brought all that was there when the new one was asked.
      old.subscribed(info(11), 'other').emit(...first, other(11));
      link.connect({ main: info(1, { resume: 'exact' }), other: info(13) });
      if (from === 'snapshot') link.emit(state(12));
      link.emit(other(13));
      await settle();
      expect(link.changes).to.deep.equal([{ add: [{ sessionId: 'other', cursor: at(11) }] }]);
      link.subscribed(info(12, { resume: 'exact', head: 13 }), 'other').emit(other(12), other(13), other(14));
      expect(seqs(await take(events, 4))).to.deep.equal([11, 12, 13, 14]);
    });

  it('keeps what it has where a link that takes over begins further back', async () => {
    const events = client.events('main');
    const old = (await transport.link(0)).connect({});
    expect(old.changes).to.deep.equal([{ add: [{ sessionId: 'main', from: 'run' }] }]);
    old.stale();
    old.subscribed(info(1, { head: 2, runId: 'r' })).emit(logged(1), logged(2));
    const link = (await transport.link(1)).connect({ main: info(1, { head: 2, runId: 'r' }) });
    link.emit(logged(1), logged(2), logged(3));
    expect(seqs(await take(events, 3))).to.deep.equal([1, 2, 3]);
    expect(seqs(await take(client.events('main', { from: at(1) }), 2))).to.deep.equal([2, 3]);
    expect(link.changes).to.deep.equal([]);
  });

  it('tells of a gap only whom it answers, where others may begin somewhere else', async () => {
    const old = client.events('main', { from: at(3, OTHER_EPOCH) });
    const fresh = client.events('main', { from: at(8) });
    const link = await transport.link(0);
    expect(link.targets).to.deep.equal([{ sessionId: 'main', cursor: at(3, OTHER_EPOCH) }]);
    link.connect({ main: info(11, { resume: 'gap' }) }).emit(gap(10), snapshot(10));
    const aside = await transport.link(1);
    expect(aside.targets).to.deep.equal([{ sessionId: 'main', cursor: at(8) }]);
    aside.connect({ main: info(9, { resume: 'exact', head: 10 }) }).emit(logged(9), logged(10));
    link.emit(logged(11));
    expect(seqs(await take(old, 3))).to.deep.equal(['gap', 'snapshot', 11]);
    expect(seqs(await take(fresh, 3))).to.deep.equal([9, 10, 11]);
  });
});
