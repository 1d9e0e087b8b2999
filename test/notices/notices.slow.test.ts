import { expect } from 'chai';
import { PEOPLE } from '../inbox/begin.js';
import { connectClient, takeUntil } from '../support/client.js';
import { until } from '../support/until.js';
import { begin } from './begin.js';
import { Receiver } from './receiver.js';
import { counted, listed } from './seen.js';

describe('notices, by a clock', () => {
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
    const value = JSON.stringify({ epoch, seq: Number(seq), at: Date.now() });
    await clock.store.changeRecords(home, [{ kind: 'read', id: '[null,"token"]', value }]);
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
      const [failed] = await listed(gateway.failedNotices());
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
    const [dead] = await listed(gateway.failedNotices({ dead: true }));
    expect(dead).to.include({ dead: true, attempts: 10, id: `run_ended:${runId}|webhook:test` });
    expect(log.lines.at(-1)!.message).to.equal(`the notice run_ended:${runId} was given up for webhook:test`);
    clock.forward(86_400_000);
    status = 204;
    expect(await gateway.resendNotice(dead!.id)).to.equal(1);
    await until(() => counted(gateway, 'told') === 1);
    expect(await listed(gateway.failedNotices())).to.deep.equal([]);
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
});
