import { expect } from 'chai';
import { READ_PLACES, wholeTo } from '../../server/features/inbox/read-place.js';
import { composeId } from '../../shared/composed-id.js';
import { PEOPLE } from '../inbox/begin.js';
import { collect, connectClient, takeUntil } from '../support/client.js';
import { describeDaily } from '../support/daily.js';
import { until } from '../support/until.js';
import { begin } from './begin.js';
import { Receiver } from './receiver.js';
import { counted } from './seen.js';

describeDaily('notices, by a clock', 2, () => {
  it('tell of no question that was answered in time', async () => {
    const receiver = await Receiver.start();
    const { client, clock } = await begin(receiver.url, { unseenMs: 60_000 });
    const events = client.events('main');
    const run = client.send('main', 'ask me');
    const seen = await takeUntil(events, ({ type }) => type === 'input_required');
    const asked = seen.at(-1) as { readonly callId?: string };
    await client.session('main').respond(asked.callId!, { output: 'red' });
    await run.result;
    clock.forward(61_000);
    await client.send('other', 'hi').result;
    const all = await receiver.until(({ length }) => length > 0);
    expect(all.map(({ body }) => body.type)).to.deep.equal(['run_ended']);
  });

  it('are dropped where their place was read by then', async () => {
    const receiver = await Receiver.start();
    const { client, clock, gateway } = await begin(receiver.url, { unseenMs: 60_000 });
    const { cursor } = await client.send('main', 'one').result;
    await client.send('other', 'two').result;
    const [epoch, , seq] = cursor.split('.');
    const home = { scope: '[null,"token"]', app: 'default', name: 'main' };
    const place = { epoch: epoch!, term: 1, seq: Number(seq) };
    const read = wholeTo(place, { count: 0, last: 0, rewound: 0, changedAt: 0 }, Date.now());
    await clock.store.changeRecords(home, [READ_PLACES.put('[null,"token"]', read)]);
    clock.forward(61_000);
    await client.send('third', 'three').result;
    await receiver.until((all) => all.length > 0);
    expect(receiver.told.map(({ sessionId }) => sessionId)).to.deep.equal(['other']);
    await until(() => counted(gateway, 'seen') === 1);
  });

  it('are tried ten times in 24 hours, then given up, listed, and sent again by hand', async () => {
    let status = 500;
    const receiver = await Receiver.start((response) => response.writeHead(status).end());
    const { client, clock, gateway, log } = await begin(receiver.url);
    const { runId } = await client.send('main', 'hi').result;
    const begun = clock.now();
    for (let attempt = 1; attempt < 10; attempt++) {
      await until(() => counted(gateway, 'failed') === attempt);
      const [failed] = await collect(gateway.failedNotices());
      expect(failed).to.include({
        target: 'webhook:test',
        attempts: attempt,
        error: 'answered 500',
        dead: false,
      });
      clock.forward(failed!.nextAt! - clock.now());
    }
    await until(() => counted(gateway, 'dead') === 1);
    expect(clock.now() - begun).to.be.within(20 * 3_600_000, 28 * 3_600_000);
    expect(receiver.all).to.have.length(10);
    const [dead] = await collect(gateway.failedNotices({ dead: true }));
    expect(dead).to.include({ dead: true, attempts: 10, id: `run_ended~${runId}~webhook:test` });
    expect(log.lines.at(-1)!.message).to.equal(`the notice run_ended~${runId} was given up for webhook:test`);
    clock.forward(86_400_000);
    status = 204;
    expect(await gateway.resendNotice(dead!.id)).to.equal(1);
    await until(() => counted(gateway, 'told') === 1);
    expect(await collect(gateway.failedNotices())).to.deep.equal([]);
  });

  it('of a session come in their order, also where one fails', async () => {
    let fails = true;
    const receiver = await Receiver.start((response, { body }) => {
      const isFirst = body.data.sessionId === 'main' && receiver.all[0]!.id === body.data.id;
      response.writeHead(isFirst && fails ? 503 : 204).end();
    });
    const { url, gateway, clock } = await begin(receiver.url, {}, { auth: PEOPLE, sessionScope: 'global' });
    const runIds: string[] = [];
    // Each of another person: whoever sends has read what came before.
    for (const token of ['ann', 'ben', 'cyd'])
      runIds.push((await connectClient(url, { token }).send('main', 'hi').result).runId);
    await connectClient(url, { token: 'ann' }).send('other', 'hi').result;
    await until(() => counted(gateway, 'told') === 1);
    expect(receiver.told.at(-1)!.sessionId).to.equal('other');
    fails = false;
    clock.forward(6000);
    await until(() => counted(gateway, 'told') === 4);
    const told = receiver.told.filter(({ sessionId }) => sessionId === 'main').map(({ runId }) => runId);
    expect(told).to.deep.equal([runIds[0], ...runIds]);
  });

  it('of a session wait for one that fails through four attempts, and keep their order', async () => {
    let poisoned = '';
    const receiver = await Receiver.start((response, { id }) =>
      response.writeHead(id === poisoned ? 500 : 204).end(),
    );
    const { client, clock, gateway } = await begin(receiver.url, { on: ['input_required'] });
    await client.send('main', 'hi').result;
    const session = gateway.session('main', { user: { id: 'token' } });
    ({ id: poisoned } = await session.notify({ id: 'bad', title: 'bad' }));
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push((await session.notify({ id: `n${i}`, title: `${i}` })).id);
    for (let attempt = 1; attempt <= 4; attempt++) {
      await until(() => counted(gateway, 'failed') === attempt);
      // The fourth one lets the others pass.
      if (attempt === 4) break;
      expect(receiver.all.filter(({ id }) => id !== poisoned)).to.deep.equal([]);
      const [failed] = await collect(gateway.failedNotices());
      clock.forward(failed!.nextAt! - clock.now());
    }
    await until(() => counted(gateway, 'told') === 5);
    expect(receiver.all.map(({ id }) => id)).to.deep.equal([...Array(4).fill(poisoned), ...ids]);
    // It is still tried, for itself.
    expect(
      (await collect(gateway.failedNotices())).map(({ attempts, dead }) => [attempts, dead]),
    ).to.deep.equal([[4, false]]);
  });

  it('get their turn also where a gateway has died that was to give it', async () => {
    const receiver = await Receiver.start();
    const { client, clock, gateway } = await begin(receiver.url, { on: ['input_required'] });
    const lose = async (name: string): Promise<void> => {
      await client.send(name, 'hi').result;
      const notice = { id: `custom:x:${name}`, kind: 'custom', sessionId: name, app: 'default', at: 1 };
      const kept = { notice, to: '[null,"token"]', target: 'webhook:test', waits: true, attempts: 0 };
      const id = composeId('webhook:test', '0000000000000001', '0000000000000000', notice.id);
      const change = { kind: 'delivery', id, value: JSON.stringify(kept), dueAt: clock.now() + 600_000 };
      await clock.store.changeRecords({ scope: '[null,"token"]', app: 'default', name }, [change]);
    };
    const notify = (name: string) =>
      gateway.session(name, { user: { id: 'token' } }).notify({ id: 'later', title: 'x' });
    // The next one finds that nobody has the turn.
    await lose('main');
    const { id } = await notify('main');
    await until(() => counted(gateway, 'told') === 2);
    expect(receiver.told.map((told) => told.id)).to.deep.equal(['custom:x:main', id]);
    // Without a next one it is found when it has waited for too long.
    await lose('other');
    clock.forward(600_000);
    await notify('main');
    await until(() => counted(gateway, 'told') === 4);
    expect(receiver.told.map((told) => told.id)).to.include('custom:x:other');
  });
});
