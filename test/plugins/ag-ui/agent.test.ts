import { expect } from 'chai';
import { defineApp } from '../../../server/index.js';
import { gate } from '../../support/gate.js';
import { actor, attempt, CLIENTS, listener, STORES, says, shown, startAgUi, textIn } from './fixtures.js';

for (const [store, make] of STORES)
  for (const client of CLIENTS)
    describe(`HttpAgent ${client.version} on ${store}`, () => {
      it('is told text, reasoning, data and what the tools of the app do', async () => {
        const { app, effects } = actor();
        const ui = await startAgUi({ app, store: make() });
        const agent = ui.agent(client);
        agent.addMessage(says('u1', 'think hello look data bye fail'));
        const heard = listener();
        await agent.runAgent({ runId: 'r1' }, heard);
        expect(shown(agent.messages)).to.deep.equal([
          { role: 'user', content: 'think hello look data bye fail', toolCalls: [] },
          { role: 'reasoning', content: 'Let me think. ', toolCalls: [] },
          { role: 'assistant', content: 'hello ', toolCalls: [{ name: 'look', arguments: '{"n":1}' }] },
          { role: 'tool', content: '{"did":"look","n":1}', toolCalls: [] },
          { role: 'assistant', content: '[look: {"did":"look","n":1}] ', toolCalls: [] },
          { role: 'assistant', content: 'bye ', toolCalls: [{ name: 'fail', arguments: '{"n":1}' }] },
          { role: 'tool', content: 'The tool failed', toolCalls: [] },
          { role: 'assistant', content: '[fail: "The tool failed"] ', toolCalls: [] },
        ]);
        expect(effects).to.deep.equal(['look']);
        const { events } = heard;
        expect(events[0]).to.include({ type: 'RUN_STARTED', threadId: 'main', runId: 'r1' });
        expect(events.at(-1)).to.deep.include({ type: 'RUN_FINISHED', threadId: 'main', runId: 'r1' });
        expect(events.find(({ type }) => type === 'CUSTOM')).to.deep.include({
          name: 'data',
          value: { id: 'w', name: 'weather', value: { degrees: 20 } },
        });
        agent.addMessage(says('u2', 'more'));
        const more = listener();
        await agent.runAgent({}, more);
        expect(textIn(agent.messages)).to.match(/more $/);
        expect(more.events.map(({ type }) => type)).not.to.include('MESSAGES_SNAPSHOT');
      });

      it('approves and denies', async () => {
        const { app, effects } = actor();
        const ui = await startAgUi({ app, store: make() });
        const agent = ui.agent(client);
        agent.addMessage(says('u1', 'pay pay done'));
        await agent.runAgent();
        const [asked, ...others] = agent.pendingInterrupts;
        expect(others).to.deep.equal([]);
        const call = agent.messages.at(-1).toolCalls[0];
        expect(asked).to.deep.include({ id: call.id, reason: 'tool_call', toolCallId: call.id });
        expect(effects).to.deep.equal([]);
        expect(await attempt(agent)).to.match(/pending interrupt/);
        await agent.runAgent({
          resume: [{ interruptId: asked.id, status: 'resolved', payload: { approved: true } }],
        });
        expect(effects).to.deep.equal(['pay']);
        const [next] = agent.pendingInterrupts;
        await agent.runAgent({ resume: [{ interruptId: next.id, status: 'cancelled' }] });
        expect(effects).to.deep.equal(['pay']);
        expect(agent.pendingInterrupts).to.deep.equal([]);
        expect(agent.messages.map(({ role }) => role)).to.deep.equal(
          ['user', 'assistant', 'tool', 'assistant', 'tool', 'assistant', 'assistant'].slice(
            0,
            agent.messages.length,
          ),
        );
        expect(textIn(agent.messages)).to.match(/^\[pay: \{"did":"pay","n":1}\] \[pay: .*\] done $/);
      });

      it('approves nothing that does not say so', async () => {
        const { app, effects } = actor();
        const ui = await startAgUi({ app, store: make() });
        for (const [at, payload] of [{}, { approved: 'true' }, 'yes', undefined].entries()) {
          const agent = ui.agent(client, { threadId: `thread-${at}` });
          agent.addMessage(says('u1', 'pay'));
          await agent.runAgent();
          const [{ id: interruptId }] = agent.pendingInterrupts;
          await agent.runAgent({ resume: [{ interruptId, status: 'resolved', payload }] });
          expect(agent.pendingInterrupts).to.deep.equal([]);
        }
        expect(effects).to.deep.equal([]);
      });

      it('approves with another input', async () => {
        const { app } = actor();
        const ui = await startAgUi({ app, store: make() });
        const agent = ui.agent(client);
        agent.addMessage(says('u1', 'pay'));
        await agent.runAgent();
        const [{ id: interruptId }] = agent.pendingInterrupts;
        const payload = { approved: true, input: { n: 5 } };
        await agent.runAgent({ resume: [{ interruptId, status: 'resolved', payload }] });
        expect(textIn(agent.messages)).to.equal('[pay: {"did":"pay","n":5}] ');
      });

      it('answers questions that were put together, all at once or one after another', async () => {
        const { app, effects } = actor();
        const ui = await startAgUi({ app, store: make() });
        const agent = ui.agent(client);
        agent.addMessage(says('u1', 'both done'));
        await agent.runAgent();
        const [one, two] = agent.pendingInterrupts.map(({ id }) => id);
        expect(agent.pendingInterrupts).to.have.length(2);
        const yes = (interruptId: string) => ({ interruptId, status: 'resolved', payload: true });
        const body = {
          threadId: 'main',
          runId: 'partly',
          messages: agent.messages,
          resume: [yes(one)],
        };
        const partly = await (await ui.post('/agent/default', body)).text();
        expect(partly).to.include('"type":"interrupt"').and.to.include(two).and.not.to.include(one);
        await agent.runAgent({ resume: [yes(one), yes(two)] });
        expect(effects).to.deep.equal(['pay', 'pay']);
        expect(textIn(agent.messages)).to.match(/done $/);
        expect(agent.messages.filter(({ role }) => role === 'tool')).to.have.length(2);
      });

      it('runs tools of its own', async () => {
        const app = defineApp({
          async *run(turn: any) {
            const [tool] = turn.clientTools;
            yield `[${await turn.callTool(tool.name, { of: 'car' })}] `;
            yield `[${JSON.stringify(await turn.ask({ name: 'size', payload: { of: 'car' } }))}]`;
          },
        });
        const ui = await startAgUi({ app, store: make() });
        const agent = ui.agent(client);
        const tools = [
          { name: 'colour', description: 'Asks', parameters: { type: 'object', properties: {} } },
        ];
        agent.addMessage(says('u1', 'go'));
        const heard = listener();
        await agent.runAgent({ tools }, heard);
        const answer = (content: string) => {
          const [call] = agent.messages.at(-1).toolCalls;
          agent.addMessage({ id: `t-${content}`, role: 'tool', toolCallId: call.id, content });
          return call;
        };
        const colour = answer('red');
        expect(colour.function).to.deep.equal({ name: 'colour', arguments: '{"of":"car"}' });
        const pending = client.version === '1.0.0' ? { pendingToolCallIds: [colour.id] } : {};
        expect(heard.events.at(-1).outcome).to.deep.equal({ type: 'success', ...pending });
        await agent.runAgent({ tools });
        expect(answer('big').function).to.deep.equal({ name: 'size', arguments: '{"of":"car"}' });
        await agent.runAgent({ tools });
        expect(textIn(agent.messages)).to.equal('[red] ["big"]');
        expect(agent.messages.map(({ role }) => role)).to.deep.equal([
          'user',
          'assistant',
          'tool',
          'assistant',
          'assistant',
          'tool',
          'assistant',
        ]);
      });

      it('sends files, edits and has answers given again', async () => {
        const app = defineApp({
          run: async (turn: any) => {
            const [{ text }, ...files] = turn.message.content;
            return `${turn.history.length} ${text} ${files.map(({ mediaType }: any) => mediaType)}`;
          },
        });
        const ui = await startAgUi({ app, store: make() });
        const agent = ui.agent(client);
        const source = { type: 'data', value: 'aGk=', mimeType: 'image/png' };
        agent.addMessage(
          says('u1', [
            { type: 'text', text: 'one' },
            { type: 'image', source },
          ]),
        );
        await agent.runAgent();
        expect(textIn(agent.messages)).to.equal('0 one image/png');
        const [user, first] = agent.messages;
        agent.setMessages([user]);
        await agent.runAgent();
        expect(agent.messages[1].id).not.to.equal(first.id);
        expect(textIn(agent.messages)).to.equal('0 one image/png');
        agent.setMessages([says('u1', 'other')]);
        await agent.runAgent();
        expect(textIn(agent.messages)).to.equal('0 other ');
        const { messages } = await ui.gateway.session('main', { user: { id: 'alice' } }).history();
        expect(messages.map(({ versions = [] }) => versions.length)).to.deep.equal([2, 0]);
      });

      it('is told of failures: before the answer, and within it', async () => {
        const { app } = actor();
        const ui = await startAgUi({ app, store: make() });
        const refused = ui.agent(client, { user: 'bad' });
        refused.addMessage(says('u1', 'hello'));
        expect(String(await attempt(refused))).to.match(/HTTP 401/);
        const agent = ui.agent(client);
        agent.addMessage(says('u1', 'hello break'));
        const heard = listener();
        await attempt(agent, {}, heard);
        const { events } = heard;
        expect(events.at(-1)).to.include({ type: 'RUN_ERROR', code: 'INTERNAL' });
        expect(JSON.stringify(events)).not.to.include('secret');
        expect(textIn(agent.messages)).to.equal('hello ');
        agent.addMessage(says('u2', 'again'));
        await agent.runAgent();
        expect(textIn(agent.messages)).to.equal('hello again ');
      });

      it('is stopped by its route; to leave is no stop', async () => {
        const held = gate();
        const began = gate();
        let aborted = false;
        const app = defineApp({
          async *run(turn: any) {
            turn.signal.addEventListener('abort', () => {
              aborted = true;
              held.open();
            });
            yield 'working ';
            began.open();
            await held.passed;
            yield 'done';
          },
        });
        const ui = await startAgUi({ app, store: make() });
        const agent = ui.agent(client);
        agent.addMessage(says('u1', 'go'));
        const running = attempt(agent, { runId: 'r1' });
        await began.passed;
        agent.abortRun();
        await running;
        const again = ui.agent(client, { initialMessages: agent.messages });
        const heard = listener();
        const rejoined = attempt(again, { runId: 'r1' }, heard);
        expect(aborted).to.equal(false);
        const other = await (await ui.post('/agent/default/stop/main', { runId: 'r1' }, 'bob')).json();
        expect(other).to.include({ stopped: false });
        const stopped = await (await ui.post('/agent/default/stop/main', { runId: 'r1' })).json();
        expect(stopped).to.deep.include({ stopped: true });
        await rejoined;
        expect(aborted).to.equal(true);
        const last = heard.events.at(-1);
        if (client.version === '1.0.0') expect(last.outcome).to.deep.equal({ type: 'cancelled' });
        else expect(last).to.include({ type: 'RUN_ERROR', code: 'ABORTED' });
        expect(textIn(again.messages)).to.equal('working ');
        const late = await (await ui.post('/agent/default/stop/main', { runId: 'r1' })).json();
        expect(late).to.include({ stopped: false });
      });
    });
