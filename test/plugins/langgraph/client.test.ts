import { expect } from 'chai';
import { defineApp } from '../../../server/index.js';
import { heldApp } from '../../support/apps.js';
import { actor, heard, human, SDKS, STORES, startLangGraph } from './fixtures.js';

const approve = { resume: { decisions: [{ type: 'approve' }] } };

const textsOf = ({ messages }: any): unknown[] => messages.map(({ type, content }: any) => [type, content]);

for (const [store, make] of STORES)
  for (const sdk of SDKS)
    describe(`the client of ${sdk.version} on ${store}`, () => {
      it('finds assistants, and threads with their states', async () => {
        const { app } = actor();
        const other = defineApp({ description: 'Another', run: async (turn: any) => `other ${turn.text}` });
        const ui = await startLangGraph({
          apps: { default: app, other },
          defaultApp: 'default',
          store: make(),
        } as any);
        const client = ui.client(sdk);
        const assistants = await client.assistants.search();
        expect(assistants.map((each: any) => each.assistant_id)).to.deep.equal(['default', 'other']);
        expect(await client.assistants.get('other')).to.include({
          graph_id: 'other',
          description: 'Another',
        });
        const { thread_id: id } = await client.threads.create();
        const values = await client.runs.wait(id, 'other', { input: human('hello') });
        expect(textsOf(values)).to.deep.equal([
          ['human', 'hello'],
          ['ai', 'other hello'],
        ]);
        await client.runs.wait('named', 'default', { input: human('hi') });
        const found = await client.threads.search({ metadata: { graph_id: 'other' } });
        expect(found.map((thread: any) => [thread.thread_id, thread.status])).to.deep.equal([[id, 'idle']]);
        expect(await client.threads.search({ limit: 10 })).to.have.length(2);
        expect(await client.threads.search({ limit: 1, offset: 1 })).to.have.length(1);
        await client.threads.update(id, { metadata: { colour: 'red' } });
        expect((await client.threads.get(id)).metadata).to.include({ colour: 'red', graph_id: 'other' });
        expect(await client.threads.search({ metadata: { colour: 'red' } })).to.have.length(1);
        const history = await client.threads.getHistory(id);
        expect(history.map((state: any) => state.values.messages.length)).to.deep.equal([2, 1]);
        const { checkpoint } = history[1];
        const earlier = await client.threads.getState(id, checkpoint.checkpoint_id);
        expect(textsOf(earlier.values)).to.deep.equal([['human', 'hello']]);
        const copy = await client.threads.copy(id);
        expect(textsOf(copy.values)).to.deep.equal(textsOf(values));
        await client.threads.delete(id);
        expect(await client.threads.get(id).catch((error: any) => error.status)).to.equal(404);
        const stranger = ui.client(sdk, { user: 'bob' });
        expect(await stranger.threads.search()).to.deep.equal([]);
        expect(await stranger.threads.get('named').catch((error: any) => error.status)).to.equal(404);
      });

      it('is told a run, asks, and goes on by a command', async () => {
        const { app, effects } = actor();
        const ui = await startLangGraph({ app, store: make() });
        const client = ui.client(sdk);
        const created: any[] = [];
        const options = {
          streamMode: ['values', 'messages-tuple', 'custom'],
          onRunCreated: (run: any) => created.push(run),
        };
        const first = await heard(
          client.runs.stream('main', 'default', { input: human('hello data pay bye'), ...options }),
        );
        expect(first.text).to.equal('hello ');
        expect(first.events[0].event).to.equal('metadata');
        const [{ id, value }] = first.values.at(-1).__interrupt__;
        expect(value.action_requests[0].name).to.equal('pay');
        expect(first.events.find(({ event }) => event === 'custom').data.payload.value).to.deep.equal({
          degrees: 20,
        });
        const state = await client.threads.getState('main');
        expect(state.next).to.deep.equal(['default']);
        expect(state.tasks[0].interrupts[0].id).to.equal(id);
        expect((await client.threads.get('main')).status).to.equal('interrupted');
        expect(effects).to.deep.equal([]);
        const second = await heard(client.runs.stream('main', 'default', { command: approve, ...options }));
        expect(second.text).to.equal('[pay: {"did":"pay","n":1}] bye ');
        expect(effects).to.deep.equal(['pay']);
        expect(second.values.at(-1)).not.to.have.property('__interrupt__');
        expect(new Set(created.map(({ run_id }) => run_id)).size).to.equal(2);
        const [run] = await client.runs.list('main');
        expect(run.status).to.equal('success');
        expect(await client.runs.get('main', created[0].run_id)).to.include({ assistant_id: 'default' });
      });

      it('joins a run that is on its way, and stops it; to leave is no stop', async () => {
        const { app, began, held } = heldApp('working ', 'done');
        const ui = await startLangGraph({ app, store: make() });
        const client = ui.client(sdk);
        const run = await client.runs.create('main', 'default', { input: human('go') });
        await began.passed;
        expect((await client.runs.get('main', run.run_id)).status).to.equal('running');
        const leaving = new AbortController();
        for await (const { event } of client.runs.joinStream('main', run.run_id, {
          signal: leaving.signal,
          streamMode: 'values',
        }))
          if (event === 'values') break;
        const joined = heard(client.runs.joinStream('main', run.run_id, { streamMode: ['messages-tuple'] }));
        held.open();
        expect((await joined).text).to.equal('working done');
        expect(textsOf(await client.runs.join('main', run.run_id)).at(-1)).to.deep.equal([
          'ai',
          'working done',
        ]);
        await client.runs.cancel('main', run.run_id, true);
        expect((await client.runs.get('main', run.run_id)).status).to.equal('success');
        expect(await client.runs.get('main', 'run_none').catch((error: any) => error.status)).to.equal(404);
      });

      it('goes on from an earlier place, and repeats a request without a second run', async () => {
        let runs = 0;
        const app = defineApp({
          async *run(turn: any) {
            runs += 1;
            yield `${turn.history.length}:${turn.text}`;
          },
        });
        const ui = await startLangGraph({ app, store: make() });
        const client = ui.client(sdk);
        for (const id of ['u1', 'u1', 'u2'])
          await client.runs.wait('main', 'default', { input: human(id, id) });
        expect(runs).to.equal(2);
        const history = await client.threads.getHistory('main');
        const { checkpoint_id: checkpointId } = history.find(
          ({ values }: any) => values.messages.length === 2,
        ).checkpoint;
        const forked = await client.runs.wait('main', 'default', { input: human('other'), checkpointId });
        expect(textsOf(forked).map(([, text]: any) => text)).to.deep.equal([
          'u1',
          '0:u1',
          'other',
          '2:other',
        ]);
        const failed = client.runs.wait('main', 'default', { input: human('x'), checkpointId: 'none' });
        expect(await failed.catch((error: any) => error.status)).to.equal(404);
      });
    });
