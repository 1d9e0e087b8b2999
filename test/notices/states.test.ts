import { expect } from 'chai';
import { clientInbox } from '../../client/inbox/index.js';
import type { NoticeState } from '../../shared/notices/contract.js';
import { PEOPLE } from '../inbox/begin.js';
import { connectClient, failure } from '../support/client.js';
import { until } from '../support/until.js';
import { begin } from './begin.js';
import { Receiver, SECRET } from './receiver.js';
import { counted } from './seen.js';

const brief = ({ id, target, name, state, attempts }: NoticeState) => ({ id, target, name, state, attempts });

describe('what was told where', () => {
  it('is seen by its person: what waits, what was told, and what failed', async () => {
    const [good, bad] = [
      await Receiver.start(),
      await Receiver.start((response) => response.writeHead(500).end()),
    ];
    const { client, gateway } = await begin(good.url, {
      webhooks: [
        { url: good.url, secrets: SECRET, name: 'good' },
        { url: bad.url, secrets: SECRET },
      ],
      deliver: () => {},
    });
    const { runId } = await client.send('main', 'hi').result;
    await until(() => counted(gateway, 'told') === 2 && counted(gateway, 'failed') === 1);
    const inbox = clientInbox(client);
    await until(
      async () => (await inbox.notices('main')).filter(({ state }) => state === 'told').length === 2,
    );
    const states = await inbox.notices('main');
    const id = `run_ended~${runId}`;
    expect(states.map(brief)).to.have.deep.members([
      { id, target: 'webhook', name: 'good', state: 'told', attempts: 1 },
      // A name that nobody gave it would be its address.
      { id, target: 'webhook', name: undefined, state: 'failed', attempts: 1 },
      { id, target: 'deliver', name: undefined, state: 'told', attempts: 1 },
    ]);
    const failed = states.find(({ state }) => state === 'failed')!;
    expect(failed.nextAt).to.be.above(failed.changedAt!);
    expect(JSON.stringify(states)).not.to.include('127.0.0.1').and.not.to.include('answered 500');
    expect(
      states.every(({ runId: of, kind, at }) => of === runId && kind === 'run_ended' && at > 0),
    ).to.equal(true);
  });

  it('says what was seen before anybody was told, and what waits to be', async () => {
    const receiver = await Receiver.start();
    const { client, gateway, clock } = await begin(receiver.url, { unseenMs: 60_000 });
    const inbox = clientInbox(client);
    await client.send('main', 'hi').result;
    const [waiting, ...none] = await inbox.notices('main');
    expect(none).to.deep.equal([]);
    expect(waiting).to.include({ state: 'waiting', attempts: 0 });
    expect(waiting!.nextAt).to.be.within(waiting!.at + 60_000, waiting!.at + 61_000);
    await inbox.read('main');
    clock.forward(61_000);
    await client.send('other', 'hi').result;
    await until(() => counted(gateway, 'seen') === 1);
    expect((await inbox.notices('main')).map(brief)).to.deep.equal([
      { id: waiting!.id, target: undefined, name: undefined, state: 'seen', attempts: 0 },
    ]);
    expect(receiver.told).to.deep.equal([]);
  });

  it('keeps the last ones for each target, and goes with the session', async () => {
    const receiver = await Receiver.start();
    const { client, gateway, clock } = await begin(receiver.url, { on: ['input_required'] });
    await client.send('main', 'hi').result;
    const session = gateway.session('main', { user: { id: 'token' } });
    // Those of one millisecond are told in the order of their ids.
    const idOf = (i: number): string => `n${String(i).padStart(2, '0')}`;
    for (let i = 0; i < 25; i++) await session.notify({ id: idOf(i), title: `${i}`, data: 'x'.repeat(500) });
    await until(() => counted(gateway, 'told') === 25);
    const inbox = clientInbox(client);
    await until(async () => (await inbox.notices('main')).length === 20);
    const titles = (await inbox.notices('main')).map(({ title }) => title);
    expect([...titles].sort()).to.deep.equal(Array.from({ length: 20 }, (_, i) => `${i + 5}`).sort());
    const home = { scope: '[null,"token"]', app: 'default', name: 'main' };
    const [kept] = await clock.store.records({ home, kind: 'told', limit: 10 });
    expect(kept!.value).not.to.include('xxx');
    await client.session('main').delete();
    expect(await failure(inbox.notices('main'))).to.include({ code: 'SESSION_NOT_FOUND' });
    expect(await clock.store.records({ home, limit: 10 })).to.deep.equal([]);
  });

  it('is each person’s own in a session of several', async () => {
    const receiver = await Receiver.start();
    const { url, gateway } = await begin(receiver.url, {}, { auth: PEOPLE, sessionScope: 'global' });
    const [ann, ben] = ['ann', 'ben'].map((token) => connectClient(url, { token }));
    const { runId } = await ann!.send('main', 'hi').result;
    await until(() => counted(gateway, 'told') === 1);
    await until(async () => (await clientInbox(ann!).notices('main'))[0]?.state === 'told');
    expect((await clientInbox(ann!).notices('main')).map((state) => state.runId)).to.deep.equal([runId]);
    expect(await clientInbox(ben!).notices('main')).to.deep.equal([]);
  });
});
