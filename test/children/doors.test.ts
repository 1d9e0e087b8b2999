import { expect } from 'chai';
import { defineApp, type Turn } from '../../server/index.js';
import { CLIENTS, listener, says, startAgUi, textIn as textOf } from '../plugins/ag-ui/fixtures.js';
import { answerIn, tanstack } from '../plugins/ag-ui/tanstack-fixtures.js';
import { answers, PAGES, startLangGraph } from '../plugins/langgraph/fixtures.js';
import { MAJORS as RESPONSES, startResponses } from '../plugins/responses/fixtures.js';
import {
  MAJORS,
  plain,
  startUi,
  textIn,
  userSays,
  withGatewayChat,
} from '../plugins/ui-message-stream/fixtures.js';

/** Has a child answer, which has a child of its own. It asks a person if it is told to. */
const app = defineApp({
  async *run(turn: Turn) {
    yield 'asking. ';
    const child = turn.spawn('researcher', {
      ...{ message: turn.text, id: 'r1' },
      async *run(own) {
        yield 'found ';
        if (own.text === 'ask') yield `${(await own.confirm({ name: 'look', input: 1 })).approved} `;
        if (own.text === 'break') throw new Error('no');
        yield (await own.spawn('writer', { message: 'x', id: 'w1', run: () => 'it' }).result).text;
      },
    });
    yield await child.result.then(
      ({ text }) => text,
      ({ code }) => code,
    );
  },
});

/** The parts of children in a message, by name. */
const childrenIn = (message: any): Readonly<Record<string, any>> =>
  Object.fromEntries(
    message.parts.flatMap(({ type, data }: any) => (type === 'data-subagent' ? [[data.name, data]] : [])),
  );

for (const major of MAJORS)
  describe(`useChat of AI SDK ${major.major}, of a run with children`, () => {
    it('has a part for each child, as the history has it, and text of the run alone', async () => {
      const ui = await startUi({ app });
      const chat = ui.chat(major);
      await chat.sendMessage({ text: 'go' });
      expect(chat.error).to.equal(undefined);
      const answer = chat.messages[1];
      expect(textIn(answer)).to.equal('asking. found it');
      const children = childrenIn(answer);
      const { runId } = children.r1;
      expect(children.r1).to.include({
        app: 'researcher',
        state: 'ended',
        text: 'found it',
        stopReason: 'end',
      });
      expect(children.w1).to.include({ app: 'writer', text: 'it', parentRunId: runId });
      expect(answer.parts.filter(({ type }: any) => type === 'data-subagent')).to.have.length(2);
      const { messages } = await (await ui.ask('/main')).json();
      expect(childrenIn(messages[1])).to.deep.equal(plain(children));
      expect(await major.sdk.convertToModelMessages(messages)).to.be.an('array');
      await chat.sendMessage({ text: 'break' });
      const { stopReason, error } = childrenIn(chat.messages[3]).r1;
      expect([stopReason, error.code]).to.deep.equal(['error', 'INTERNAL']);
      expect(textIn(chat.messages[3])).to.equal('asking. INTERNAL');
    });

    if (major.major > 5)
      it('answers what a child asks, and the run goes on', async () => {
        const ui = await startUi({ app });
        const chat = ui.chat(major);
        await chat.sendMessage({ text: 'ask' });
        const asked = chat.messages[1].parts.find(({ state }: any) => state === 'approval-requested');
        expect(asked.toolName).to.equal('look');
        expect(childrenIn(chat.messages[1]).r1).to.include({ state: 'waiting', text: 'found ' });
        await chat.addToolApprovalResponse({ id: asked.approval.id, approved: true });
        await chat.sendMessage();
        expect(textIn(chat.messages[1])).to.equal('asking. found true it');
        expect(childrenIn(chat.messages[1]).r1).to.include({ state: 'ended', text: 'found true it' });
      });
  });

describe('useChat, of a run with children', () => {
  it('is told the same chunks again', async () => {
    const ui = await startUi({ app });
    const told = await (await ui.post({ id: 'main', messages: [userSays('u', 'go')] })).text();
    const again = await (await ui.ask('/main/stream?startIndex=0')).text();
    const own = (text: string) => text.split('\n\n').filter((frame) => frame.startsWith('data: '));
    expect(own(again)).to.deep.equal(own(told));
  });
});

for (const client of CLIENTS)
  describe(`HttpAgent ${client.version}, of a run with children`, () => {
    const subagents = (events: readonly any[]) =>
      events.filter(({ type, name }) => type.startsWith('SUBAGENT') || name === 'subagent');

    it('hears of each child, and has messages of the run alone', async () => {
      const ui = await startAgUi({ app });
      const agent = ui.agent(client);
      agent.addMessage(says('u1', 'go'));
      const heard = listener();
      await agent.runAgent({}, heard);
      expect(textOf(agent.messages)).to.equal('asking. found it');
      const told = subagents(heard.events);
      const last = (name: string) => told.findLast(({ value }) => value?.name === name).value;
      expect(last('r1')).to.include({ state: 'ended', text: 'found it', app: 'researcher' });
      expect(last('w1')).to.include({ state: 'ended', text: 'it', parentRunId: last('r1').runId });
      const kinds = told.flatMap(({ type, subagentRunId, name }) =>
        type === 'CUSTOM' ? [] : [[type, subagentRunId, name].filter(Boolean)],
      );
      const [r1, w1] = [last('r1').runId, last('w1').runId];
      expect(kinds).to.deep.equal(
        client.version !== '1.0.0'
          ? []
          : [
              ['SUBAGENT_STARTED', r1, 'researcher'],
              ['SUBAGENT_STARTED', w1, 'writer'],
              ['SUBAGENT_FINISHED', w1],
              ['SUBAGENT_FINISHED', r1],
            ],
      );
      agent.addMessage(says('u2', 'break'));
      const more = listener();
      await agent.runAgent({}, more);
      expect(more.events.map(({ type }) => type)).not.to.include('MESSAGES_SNAPSHOT');
      expect(textOf(agent.messages)).to.equal('asking. found itasking. INTERNAL');
      expect(subagents(more.events).at(-1)).to.deep.include(
        client.version === '1.0.0' ? { type: 'SUBAGENT_ERROR', code: 'INTERNAL' } : { name: 'subagent' },
      );
    });

    it('answers what a child asks, and the run goes on', async () => {
      const ui = await startAgUi({ app });
      const agent = ui.agent(client);
      agent.addMessage(says('u1', 'ask'));
      const heard = listener();
      await agent.runAgent({}, heard);
      const [{ id: interruptId }] = agent.pendingInterrupts;
      expect(subagents(heard.events).at(-1)).to.deep.include(
        client.version === '1.0.0'
          ? { type: 'SUBAGENT_FINISHED', outcome: { type: 'suspended' } }
          : { name: 'subagent' },
      );
      const more = listener();
      await agent.runAgent(
        { resume: [{ interruptId, status: 'resolved', payload: { approved: true } }] },
        more,
      );
      expect(textOf(agent.messages)).to.equal('asking. found true it');
      expect(agent.pendingInterrupts).to.deep.equal([]);
    });
  });

describe('gatewayChat, of a run with children', () => {
  for (const major of MAJORS)
    it(`has the same parts with AI SDK ${major.major}`, async () => {
      const ui = withGatewayChat(await startUi({ app }));
      const chat = ui.chat(major);
      await chat.sendMessage({ text: 'go' });
      expect(textIn(chat.messages[1])).to.equal('asking. found it');
      expect(childrenIn(chat.messages[1]).r1).to.include({ state: 'ended', text: 'found it' });
    });
});

describe('TanStack AI, of a run with children', () => {
  it('has messages of the run alone, and hears of each child', async () => {
    const { base } = await startAgUi({ app });
    const told: any[] = [];
    const chat = await tanstack({
      base,
      onCustomEvent: (name: string, value: unknown) => name === 'subagent' && told.push(value),
    });
    await chat.sendMessage('go');
    expect(chat.getError()).to.equal(undefined);
    expect(answerIn(chat.getMessages())).to.equal('asking. found it');
    expect(told.findLast(({ name }) => name === 'w1')).to.include({ state: 'ended', text: 'it' });
  });
});

for (const major of RESPONSES)
  describe(`the client of Responses ${major.major}, of a run with children`, () => {
    it('has the text of the run alone, and a call for each child, in the stream and later', async () => {
      const ui = await startResponses({ app });
      const openai = ui.client(major);
      const stream = await openai.responses.create({ model: 'default', input: 'go', stream: true });
      let last: any;
      for await (const event of stream) if ('response' in event) last = event.response;
      expect(last.status).to.equal('completed');
      const later = await openai.responses.retrieve(last.id);
      expect(later.output).to.deep.equal(last.output);
      const calls = later.output.filter(({ type }) => type === 'mcp_call') as any[];
      expect(calls.map(({ name, output, status }) => [name, output, status])).to.deep.equal([
        ['writer', 'it', 'completed'],
        ['researcher', 'found it', 'completed'],
      ]);
      // A client may send it all again with its next message.
      const input = [
        { role: 'user', content: 'go' },
        ...later.output,
        { role: 'user', content: 'break' },
      ] as any;
      const next = await openai.responses.create({ model: 'default', input });
      expect(next.output_text).to.equal('asking. INTERNAL');
      expect(next.output.at(-1)).to.include({ type: 'mcp_call', status: 'failed', output: null });
      expect(later.output_text).to.equal('asking. found it');
    });
  });

for (const page of PAGES)
  describe(`useStream of ${page.version} over ${page.wire}, of a run with children`, () => {
    it('answers what a child asks, and has messages of the run alone', async () => {
      const ui = await startLangGraph({ app });
      const tab = ui.tab(page);
      await tab.say('ask');
      const { interrupt } = await tab.until((shown) => shown.interrupt !== undefined, 'a question');
      await tab.controller.respond({ decisions: [{ type: 'approve' }] }, { interruptId: interrupt.id });
      await tab.until((shown) => answers(shown) === 'asking. found true it', 'the end');
      await tab.until((shown) => !shown.isLoading && !shown.interrupt, 'the end');
    });
  });
