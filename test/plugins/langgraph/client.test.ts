import { expect } from 'chai';
import { defineApp } from '../../../server/index.js';
import { heldApp } from '../../support/apps.js';
import { gate } from '../../support/gate.js';
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

      it('begins a thread with messages, and adds and takes back some where it ends', async () => {
        const app = defineApp({
          run: (turn) => turn.history.map(({ content }: any) => content[0].text ?? content[0].type).join('|'),
        });
        const ui = await startLangGraph({ app, store: make() });
        const client = ui.client(sdk);
        const ai = {
          type: 'ai',
          content: '',
          tool_calls: [{ id: 'c', name: 'look', args: { at: 1 }, type: 'tool_call' }],
        };
        const tool = { type: 'tool', content: 'seen', tool_call_id: 'c', name: 'look' };
        const values = { messages: [{ type: 'human', content: 'one', id: 'h1' }, ai, tool] };
        const { thread_id: id } = await client.threads.create({
          metadata: { a: 1 },
          supersteps: [{ updates: [{ values, asNode: '__input__' }] }],
        });
        const state = async () => client.threads.getState(id);
        const shown = async () => textsOf((await state()).values);
        const begun = await state();
        expect(begun.values.messages[1].tool_calls).to.deep.include({ ...ai.tool_calls[0] });
        expect(textsOf(begun.values)).to.deep.equal([
          ['human', 'one'],
          ['ai', ''],
          ['tool', 'seen'],
        ]);
        expect((await client.threads.get(id)).metadata).to.include({ a: 1 });
        // A page writes all messages that it has, and some more.
        const more = [
          { type: 'ai', content: 'two', id: 'a2' },
          { role: 'user', content: 'three', id: 'h3' },
        ];
        const update = (messages: unknown, options = {}) =>
          client.threads.updateState(id, { values: { messages }, ...options });
        const placed = await update([...begun.values.messages, ...more]);
        expect(placed.checkpoint).to.deep.equal((await state()).checkpoint);
        const again = [more[0], { ...more[1], content: 'three' }];
        await update(again);
        expect(await shown()).to.deep.equal([
          ...textsOf(begun.values),
          ...[
            ['ai', 'two'],
            ['human', 'three'],
          ],
        ]);
        const answer = await client.runs.wait(id, 'default', { input: human('four') });
        expect(textsOf(answer).at(-1)).to.deep.equal(['ai', 'one|tool_use|tool_result|two|three']);
        await update([
          { type: 'remove', id: 'a2' },
          { type: 'remove', id: 'h1' },
        ]);
        expect(await shown()).to.deep.equal([
          ...[
            ['ai', ''],
            ['tool', 'seen'],
            ['human', 'three'],
            ['human', 'four'],
          ],
          ['ai', 'one|tool_use|tool_result|two|three'],
        ]);
        const before = await state();
        const refused = async (call: Promise<unknown>) =>
          call.then(
            () => 200,
            (error: any) => error.status,
          );
        expect(await refused(update([{ ...more[1], content: 'other' }]))).to.equal(400);
        expect(await refused(update([{ type: 'odd', content: 'x' }]))).to.equal(400);
        expect(await refused(update([{ type: 'human', content: '' }]))).to.equal(400);
        expect(await refused(client.threads.updateState(id, { values: { count: 1 } }))).to.equal(400);
        expect(await refused(update([{ type: 'remove', id: 'none' }]))).to.equal(404);
        expect(await refused(update(['x'], { checkpointId: begun.checkpoint.checkpoint_id }))).to.equal(400);
        expect(
          await refused(
            ui.client(sdk, { user: 'bob' }).threads.updateState(id, { values: { messages: ['x'] } }),
          ),
        ).to.equal(404);
        expect(await state()).to.deep.equal(before);
        await update(['five'], { checkpointId: before.checkpoint.checkpoint_id });
        expect((await shown()).at(-1)).to.deep.equal(['human', 'five']);
      });

      it('is told that a thread is busy where its state is updated', async () => {
        const { app, began, held } = heldApp();
        const ui = await startLangGraph({ app, store: make() });
        const client = ui.client(sdk);
        const running = client.runs.wait('busy', 'default', { input: human('hi') });
        await began.passed;
        const error = await client.threads
          .updateState('busy', { values: { messages: ['x'] } })
          .catch((it: any) => it);
        expect(error.status).to.equal(409);
        held.open();
        await running;
      });

      it('begins a thread that is there before anything is said in it, and is found by its metadata', async () => {
        const { app } = actor();
        const other = defineApp({ run: async (turn: any) => `other ${turn.text}` });
        const config = { apps: { default: app, other }, defaultApp: 'default', store: make() };
        const ui = await startLangGraph(config as any);
        const client = ui.client(sdk);
        const before = Date.now();
        const { thread_id: id, created_at } = await client.threads.create({ metadata: { user: 'u1', n: 1 } });
        expect(Date.parse(created_at)).to.be.within(before, Date.now());
        const thread = await client.threads.get(id);
        expect(thread).to.include({ thread_id: id, status: 'idle', created_at });
        expect(thread.metadata).to.include({ user: 'u1', n: 1 });
        const state = await client.threads.getState(id);
        expect([state.values, state.next, state.tasks]).to.deep.equal([{ messages: [] }, [], []]);
        expect(await client.threads.getHistory(id)).to.deep.equal([]);
        expect(await client.runs.list(id)).to.deep.equal([]);
        const found = async (metadata: object) =>
          (await client.threads.search({ metadata })).map((each: any) => each.thread_id);
        expect(await found({ user: 'u1' })).to.deep.equal([id]);
        expect(await found({ user: 'u2' })).to.deep.equal([]);
        expect(await client.threads.count({ metadata: { user: 'u1' } })).to.equal(1);
        await client.threads.update(id, { metadata: { n: 2 } });
        expect((await client.threads.get(id)).metadata).to.include({ user: 'u1', n: 2 });
        const again = (ifExists: string) => client.threads.create({ threadId: id, ifExists });
        expect((await again('do_nothing')).metadata).to.include({ n: 2 });
        expect(await again('raise').catch((error: any) => error.status)).to.equal(409);
        const both = await Promise.all(
          [1, 2].map(() => client.threads.create({ threadId: 'both', ifExists: 'do_nothing' })),
        );
        expect(both.map(({ thread_id }: any) => thread_id)).to.deep.equal(['both', 'both']);
        // It was created for no app.
        const values = await client.runs.wait(id, 'other', { input: human('hello') });
        expect(textsOf(values)[1]).to.deep.equal(['ai', 'other hello']);
        expect((await client.threads.get(id)).metadata).to.include({ user: 'u1', n: 2, graph_id: 'other' });
        expect(await found({ user: 'u1' })).to.deep.equal([id]);
        const ofOther = await client.threads.create({ graphId: 'other' });
        expect(ofOther.metadata.graph_id).to.equal('other');
        const stranger = ui.client(sdk, { user: 'bob' });
        expect(await stranger.threads.get('both').catch((error: any) => error.status)).to.equal(404);
        expect(await stranger.threads.count()).to.equal(0);
        await client.threads.delete('both');
        expect(await client.threads.get('both').catch((error: any) => error.status)).to.equal(404);
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

      it('is told messages as they grow, and updates of what an agent and its tools did', async () => {
        const { app, effects } = actor();
        const ui = await startLangGraph({ app, store: make() });
        const client = ui.client(sdk);
        const streamMode = ['messages', 'updates', 'custom'];
        const told = async (stream: AsyncIterable<any>) => {
          const events: any[] = [];
          for await (const event of stream) events.push(event);
          return {
            events,
            of: (name: string) => events.filter(({ event }) => event === name).map(({ data }) => data),
          };
        };
        const first = await told(
          client.runs.stream('main', 'default', {
            input: human('think hello look fail data pay bye'),
            streamMode,
          }),
        );
        expect(first.events[0].event).to.equal('metadata');
        expect(first.of('custom')).to.have.length(1);
        const complete = first.of('messages/complete').flat();
        const settled = ({ usage_metadata: _, response_metadata: __, ...message }: any) => message;
        const { values } = await client.threads.getState('main');
        expect(complete).to.deep.equal(values.messages.slice(1).map(settled));
        expect(complete.map(({ type, status }: any) => status ?? type)).to.deep.equal([
          'ai',
          'success',
          'ai',
          'error',
          'ai',
        ]);
        const updates = first.of('updates');
        const asked = updates.pop();
        expect(updates).to.deep.equal(
          complete.map((message: any) => ({
            [message.type === 'tool' ? 'tools' : 'agent']: { messages: [message] },
          })),
        );
        expect(asked.__interrupt__[0].value.action_requests[0].name).to.equal('pay');

        const second = await told(client.runs.stream('main', 'default', { command: approve, streamMode }));
        expect(effects).to.deep.equal(['look', 'pay']);
        expect(second.of('updates').map((update: any) => Object.keys(update)[0])).to.deep.equal([
          'tools',
          'agent',
        ]);
        expect(second.of('messages/complete').flat().at(-1).content).to.contain('bye');
        const only = await told(
          client.runs.stream('main', 'default', { input: human('again'), streamMode: 'updates' }),
        );
        expect(only.events.map(({ event }) => event)).to.deep.equal(['metadata', 'updates', 'end']);
        // A client that has all but the last frame is told that, and no other.
        const { run_id } = first.of('metadata')[0];
        const path = `/threads/main/runs/${run_id}/stream?stream_mode=messages&stream_mode=updates`;
        const text = await (await ui.ask(path)).text();
        const at = text.lastIndexOf('event: messages/complete');
        const lastId = [...text.slice(0, at).matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? '';
        const rest = await (await ui.ask(path, { headers: { 'last-event-id': lastId } })).text();
        expect(rest.replace(/^:\n\n/, '')).to.equal(text.slice(at));
      });

      it('is told a message as it is so far, while it grows', async () => {
        const more = gate();
        const app = defineApp({
          async *run() {
            yield { type: 'reasoning_delta', delta: 'Hm' } as const;
            yield 'one ';
            await more.passed;
            yield 'two';
          },
        });
        const ui = await startLangGraph({ app, store: make() });
        const options = { input: human('x'), streamMode: ['messages', 'messages-tuple'] };
        const told: any[] = [];
        for await (const { event, data } of ui.client(sdk).runs.stream('main', 'default', options)) {
          if (event === 'messages/partial' || event === 'messages/complete') told.push([event, data]);
          if (event === 'messages/partial' && JSON.stringify(data).includes('one ')) more.open();
        }
        const content = (text: string) => [
          { type: 'reasoning', reasoning: 'Hm' },
          { type: 'text', text },
        ];
        const last = told.pop();
        expect(last[0]).to.equal('messages/complete');
        expect(last[1][0]).to.deep.include({ type: 'ai', content: content('one two') });
        expect(
          told.some(([, [message]]) => JSON.stringify(message.content) === JSON.stringify(content('one '))),
        ).to.equal(true);
        for (const [event, [{ id, type }]] of told)
          expect([event, id, type]).to.deep.equal(['messages/partial', last[1][0].id, 'ai']);
      });

      it('is refused a mode that is not served, before anything begins', async () => {
        const { app } = actor();
        const ui = await startLangGraph({ app, store: make() });
        const client = ui.client(sdk);
        for (const mode of ['debug', 'events', 'tasks', 'checkpoints', 'nonsense']) {
          const asked = client.runs.stream('main', 'default', {
            input: human('x'),
            streamMode: ['values', mode],
          });
          const error: any = await heard(asked).catch((caught) => caught);
          expect(error.status, mode).to.equal(422);
          expect(error.message).to.contain(mode);
        }
        expect(await client.threads.search()).to.deep.equal([]);
        const { run_id } = await client.runs.create('main', 'default', { input: human('x') });
        const joined = await ui.ask(`/threads/main/runs/${run_id}/stream?stream_mode=debug`);
        expect(joined.status).to.equal(422);
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
