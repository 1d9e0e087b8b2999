import { expect } from 'chai';
import { type Application, defineApp, type Turn } from '../../server/index.js';
import { textOf } from '../../shared/messages.js';
import { crashed, newDatabase, startDurable } from '../support/durable.js';
import { type Gate, gate } from '../support/gate.js';
import { FAST, get, post, startGateway } from '../support/gateway.js';
import { endOf, eventsUntil, foldOf, sendTo } from './tree.js';

/** An app that says the text of each message twice, the second time once its gate is open. */
function slow(gates: ReadonlyMap<string, Gate>, resumable = false): Application {
  return defineApp({
    resumable,
    run: async function* (turn: Turn) {
      if (!turn.resumed) yield `${turn.text} `;
      await gates.get(turn.text)?.passed;
      yield `${turn.text} after ${turn.history.length}`;
    } as never,
  });
}

const shown = (state: ReturnType<typeof foldOf>): readonly string[] => state.messages.map(textOf);

describe('a run in a lane of its own', () => {
  let gates: Map<string, Gate>;
  beforeEach(() => {
    gates = new Map(['main', 'beside', 'other'].map((name) => [name, gate()]));
  });

  it('begins beside the answer that is being written, and joins the conversation when it ends', async () => {
    const { url } = await startGateway({ app: slow(gates), limits: FAST });
    const main = await sendTo(url, 'main');
    const beside = await sendTo(url, 'beside', { lane: 'new' });
    const queued = await sendTo(url, 'queued');
    const streamed = await eventsUntil(url, ({ data }) => data.runId === beside && data.delta === 'beside ');
    const during = foldOf(streamed);
    expect(shown(during)).to.deep.equal(['main']);
    expect(during.run!.runId).to.equal(main);
    expect(during.queue.map(({ runId }) => runId)).to.deep.equal([queued]);
    expect(
      during.lanes!.map(({ runId, parentRunId, asked }) => [runId, parentRunId, textOf(asked)]),
    ).to.deep.equal([[beside, undefined, 'beside']]);
    gates.get('beside')!.open();
    const joined = foldOf(await eventsUntil(url, endOf(beside)));
    expect(shown(joined)).to.deep.equal(['main', 'beside', 'beside beside after 1']);
    expect(joined.lanes).to.equal(undefined);
    expect(joined.run!.message.parentId).to.equal(joined.tip);
    gates.get('main')!.open();
    const after = foldOf(await eventsUntil(url, endOf(queued)));
    expect(shown(after)).to.deep.equal([
      ...['main', 'beside', 'beside beside after 1', 'main main after 0'],
      ...['queued', 'queued queued after 4'],
    ]);
    const { body } = await get(`${url}/history?sessionId=main`);
    expect(body.messages).to.deep.equal(after.messages);
  });

  it('answers its sender as any send, and once under a key', async () => {
    const { url } = await startGateway({ app: slow(gates), limits: FAST });
    await sendTo(url, 'main');
    gates.get('beside')!.open();
    const send = () =>
      post(
        `${url}/send`,
        { sessionId: 'main', message: 'beside', lane: 'new', idempotencyKey: 'k' },
        {
          accept: 'application/json',
        },
      );
    const [first, second] = await Promise.all([send(), send()]);
    expect(first.body.runId).to.equal(second.body.runId);
    expect(textOf(first.body.message)).to.equal('beside beside after 1');
    expect((await send()).body.runId).to.equal(first.body.runId);
    const { body } = await get(`${url}/run?sessionId=main&runId=${first.body.runId}`);
    expect(body.state).to.equal('ended');
  });

  it('leaves nothing in the conversation where it is not to be kept', async () => {
    const { url } = await startGateway({ app: slow(gates), limits: FAST });
    const main = await sendTo(url, 'main');
    const beside = await sendTo(url, 'beside', { lane: 'new', keep: false });
    gates.get('beside')!.open();
    await eventsUntil(url, endOf(beside));
    gates.get('main')!.open();
    const state = foldOf(await eventsUntil(url, endOf(main)));
    expect(shown(state)).to.deep.equal(['main', 'main main after 0']);
    expect(state.lanes).to.equal(undefined);
  });

  it('is aborted by its id, and its session is closed with it', async () => {
    const { url } = await startGateway({ app: slow(gates), limits: FAST });
    const beside = await sendTo(url, 'beside', { lane: 'new' });
    const other = await sendTo(url, 'other', { lane: 'new' });
    await post(`${url}/abort`, { sessionId: 'main', runId: beside });
    const aborted = foldOf(await eventsUntil(url, endOf(beside)));
    expect(aborted.messages.at(-1)!.stopReason).to.equal('aborted');
    expect(aborted.lanes!.map(({ runId }) => runId)).to.deep.equal([other]);
    await post(`${url}/close`, { sessionId: 'main' });
    const { body } = await get(`${url}/run?sessionId=main&runId=${other}`);
    expect(body.result.stopReason).to.equal('aborted');
  });

  it('is ended when a person takes over, and refused while one has control', async () => {
    const { url } = await startGateway({ app: slow(gates), limits: FAST });
    const beside = await sendTo(url, 'beside', { lane: 'new' });
    expect((await post(`${url}/take-over`, { sessionId: 'main' })).status).to.equal(200);
    const events = await eventsUntil(url, ({ event }) => event === 'control_moved');
    expect(events.at(-2)).to.include({ type: 'message_end', runId: beside, stopReason: 'taken_over' });
    const refused = await post(`${url}/send`, { sessionId: 'main', message: 'x', lane: 'new' });
    expect(refused.body.error.code).to.equal('TAKEN_OVER');
  });

  it('is refused with what does not go with it, by the name of the field', async () => {
    const { url } = await startGateway({ app: slow(gates), limits: { ...FAST, childRuns: 1 } });
    const send = (more: object) => post(`${url}/send`, { sessionId: 'main', message: 'other', ...more });
    const field = async (more: object) => (await send(more)).body.error.details[0].path;
    expect(await field({ lane: 'old' })).to.equal('lane');
    expect(await field({ lane: 'new', onBusy: 'queue' })).to.equal('lane');
    expect(await field({ lane: 'new', parent: null })).to.equal('lane');
    expect(await field({ lane: 'new', message: undefined, messages: ['a', 'b'] })).to.equal('messages');
    expect(await field({ keep: false })).to.equal('keep');
    await sendTo(url, 'other', { lane: 'new' });
    expect((await send({ lane: 'new' })).body.error.code).to.equal('QUOTA_EXCEEDED');
  });

  it('goes on after a crash where its app is resumable, and is lost where not', async () => {
    for (const resumable of [true, false]) {
      const path = newDatabase();
      const first = await startDurable(path, { app: slow(gates, resumable), limits: FAST });
      const beside = await sendTo(first.url, 'beside', { lane: 'new' });
      await eventsUntil(first.url, ({ data }) => data.runId === beside && data.delta === 'beside ');
      const second = await startDurable(crashed(path), { app: slow(new Map(), resumable), limits: FAST });
      const state = foldOf(await eventsUntil(second.url, endOf(beside)));
      const answer = state.messages.at(-1)!;
      expect(answer.stopReason).to.equal(resumable ? 'end' : 'lost');
      expect(textOf(answer)).to.equal(resumable ? 'beside after 0' : 'beside ');
    }
  });
});
