import { expect } from 'chai';
import { collect, failure } from '../support/client.js';
import { startGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import { asker, begin } from './begin.js';
import { Receiver } from './receiver.js';
import { counted } from './seen.js';

describe('notices', () => {
  it('tell of a run that has ended, once, without what it said', async () => {
    const receiver = await Receiver.start();
    const { client, gateway } = await begin(receiver.url);
    const { runId, cursor } = await client.send('main', 'secret words').result;
    const [received] = await receiver.until((all) => all.length > 0);
    expect(received!.body).to.deep.include({ type: 'run_ended' });
    expect(received!.body.data).to.deep.include({
      ...{ id: `run_ended~${runId}`, kind: 'run_ended', sessionId: 'main', app: 'default' },
      ...{ userId: 'token', runId, stopReason: 'end', cursor },
    });
    expect(received!.raw).not.to.include('secret words');
    expect(received!.id).to.equal(received!.body.data.id);
    await until(() => counted(gateway, 'told') === 1);
    expect(receiver.all).to.have.length(1);
    expect(await collect(gateway.failedNotices())).to.deep.equal([]);
  });

  it('tell of a question that waits, and of its run when that has ended', async () => {
    const receiver = await Receiver.start();
    const { client } = await begin(receiver.url, {
      url: ({ sessionId }) => `https://app.example/${sessionId}`,
    });
    const run = client.send('main', 'ask me');
    const [asked] = await receiver.until((all) => all.length > 0);
    const { callId = '', runId } = asked!.body.data;
    expect(asked!.body.data).to.include({ kind: 'input_required', url: 'https://app.example/main' });
    await client.session('main').respond(callId, { output: 'blue' });
    await run.result;
    const all = await receiver.until(({ length }) => length > 1);
    expect(all.map(({ body }) => [body.type, body.data.runId])).to.deep.equal([
      ['input_required', runId],
      ['run_ended', runId],
    ]);
  });

  it('tell each target of its own, also what an answer said where it is asked for', async () => {
    const [all, few] = [await Receiver.start(), await Receiver.start()];
    const secrets = Buffer.alloc(24, 1).toString('base64');
    const delivered: unknown[] = [];
    const { client, gateway } = await begin(all.url, {
      webhooks: [
        { url: all.url, secrets, name: 'all', content: true },
        { url: few.url, secrets, name: 'few', on: ['input_required'] },
      ],
      deliver: ({ text, kind }, { key, attempt }) => delivered.push([kind, text, key, attempt]),
    });
    const { runId } = await client.send('main', 'hi').result;
    await until(() => counted(gateway, 'told') === 2);
    expect(all.told.map(({ text }) => text)).to.deep.equal(['did hi']);
    expect(few.all).to.deep.equal([]);
    expect(delivered).to.deep.equal([['run_ended', 'did hi', `run_ended~${runId}`, 1]]);
  });

  it('go on to others where one fails', async () => {
    const [good, bad] = [
      await Receiver.start(),
      await Receiver.start((response) => response.writeHead(410).end()),
    ];
    const secrets = Buffer.alloc(32, 1).toString('base64');
    const { client, gateway } = await begin(good.url, {
      webhooks: [
        { url: good.url, secrets, name: 'good' },
        { url: bad.url, secrets, name: 'bad' },
      ],
    });
    await client.send('main', 'hi').result;
    await until(() => counted(gateway, 'told') === 1 && counted(gateway, 'failed') === 1);
    const [failed, ...others] = await collect(gateway.failedNotices());
    expect(others).to.deep.equal([]);
    expect(failed).to.include({ target: 'webhook:bad', dead: false, attempts: 1, error: 'answered 410' });
    expect(await collect(gateway.failedNotices({ dead: true }))).to.deep.equal([]);
  });

  it('have what failed sent again by hand', async () => {
    let status = 500;
    const receiver = await Receiver.start((response) => response.writeHead(status).end());
    const { client, gateway } = await begin(receiver.url);
    const { runId } = await client.send('main', 'hi').result;
    await until(() => counted(gateway, 'failed') === 1);
    status = 204;
    expect(await gateway.resendNotice('run_ended~other')).to.equal(0);
    expect(await gateway.resendNotice(`run_ended~${runId}`)).to.equal(1);
    await until(() => counted(gateway, 'told') === 1);
    expect(new Set(receiver.all.map(({ id }) => id)).size).to.equal(1);
    expect(await collect(gateway.failedNotices())).to.deep.equal([]);
  });

  it('of the host’s own are told once under an id', async () => {
    const receiver = await Receiver.start();
    const { client, gateway } = await begin(receiver.url, { on: ['input_required'] });
    await client.send('main', 'hi').result;
    const session = gateway.session('main', { user: { id: 'token' } });
    const { id } = await session.notify({ id: 'report', title: 'The report is there', data: { pages: 3 } });
    expect(id).to.match(/^custom~.{11}~report$/);
    const [received] = await receiver.until((all) => all.length > 0);
    expect(received!.body.data).to.deep.include({ id, kind: 'custom', userId: 'token', data: { pages: 3 } });
    expect(await failure(session.notify({ title: '' }))).to.include({ code: 'INVALID_PARAMS' });
    expect(await failure(session.notify({ title: 'x', body: 'y'.repeat(5000) }))).to.include({
      code: 'INVALID_PARAMS',
    });
    const none = gateway.session('none', { user: { id: 'token' } });
    expect(await failure(none.notify({ title: 'x' }))).to.include({ code: 'SESSION_NOT_FOUND' });
  });

  it('tell of a schedule that fired where that is asked for', async () => {
    const receiver = await Receiver.start();
    const { gateway } = await begin(receiver.url, { on: ['schedule_fired'] });
    const session = gateway.session('main', { user: { id: 'token' } });
    const { nextAt } = await session.schedule({ id: 'daily', message: 'Report', at: Date.now() });
    const [received] = await receiver.until((all) => all.length > 0);
    expect(received!.body.data).to.deep.include({
      ...{ kind: 'schedule_fired', schedule: { id: 'daily', instant: nextAt }, userId: 'token' },
    });
  });

  it('are none of a session that is deleted, and cost nothing where nobody is told', async () => {
    const receiver = await Receiver.start();
    const { client, gateway, clock } = await begin(receiver.url, { on: ['run_ended'] });
    client.send('main', 'ask').result.catch(() => {});
    const events = client.events('main');
    for await (const { type } of events) if (type === 'input_required') break;
    await client.session('main').delete();
    await client.send('other', 'hi').result;
    await until(() => counted(gateway, 'told') === 1);
    expect(receiver.told.map(({ sessionId }) => sessionId)).to.deep.equal(['other']);
    const home = { scope: '[null,"token"]', app: 'default', name: 'main' };
    expect(await clock.store.records({ home, limit: 10 })).to.deep.equal([]);
    const quiet = await startGateway({ app: asker });
    expect(quiet.gateway.stats().notices).to.deep.equal({ sending: 0, outcomes: [] });
    const session = quiet.gateway.session('main', { user: { id: 'token' } });
    expect(await failure(session.notify({ title: 'x' }))).to.include({ code: 'INVALID_REQUEST' });
  });
});
