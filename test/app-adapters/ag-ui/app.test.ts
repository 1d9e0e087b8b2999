import { expect } from 'chai';
import { type AgUiAppOptions, agUiApp } from '../../../server/app-adapters/ag-ui/index.js';
import { tool } from '../../../server/index.js';
import { textOf } from '../../../shared/messages.js';
import { gate } from '../../support/gate.js';
import { follow, serve } from '../served.js';
import { ServedAgent } from './served-agent.js';

const start = async (options: Partial<AgUiAppOptions> = {}) => {
  const agent = await ServedAgent.start();
  return { agent, ...(await serve(agUiApp({ url: agent.url, ...options }) as never)) };
};

const approval = { type: 'object', properties: { approved: { type: 'boolean' }, editedArgs: {} } };

describe('an app that answers with an agent of AG-UI', () => {
  it('streams text and reasoning as they come, tells calls, results and usage, and passes on what pages of AG-UI know', async () => {
    const { agent, client } = await start();
    const run = client.send('main', 'Hello');
    const asked = await agent.next();
    expect(asked.input).to.include({ protocolVersion: '1.0' });
    expect(asked.input.messages.map(({ role, content }) => [role, content])).to.deep.equal([
      ['user', 'Hello'],
    ]);
    const first = gate<string>();
    const seen = follow(run, (event) => event.type === 'content_delta' && first.open(event.delta));
    asked
      .start()
      .tell(
        { type: 'REASONING_START', messageId: 'r' },
        { type: 'REASONING_MESSAGE_START', messageId: 'r', role: 'reasoning' },
        { type: 'REASONING_MESSAGE_CONTENT', messageId: 'r', delta: 'A greeting.' },
        { type: 'REASONING_MESSAGE_END', messageId: 'r' },
        { type: 'REASONING_END', messageId: 'r' },
      );
    asked.open().text('Hi ');
    expect(await first.passed).to.equal('Hi ');
    asked.text('there').tell({ type: 'TEXT_MESSAGE_END', messageId: 'm1' });
    asked.call('c1', 'look', { at: 'sky' }, 'm1').result('c1', '{"blue":true}').say('It is blue.', 'm2');
    asked.say('Truly.', 'm3').tell({ type: 'CUSTOM', name: 'mood', value: 'good' });
    asked.finish({ usage: [{ model: 'tiny', inputTokens: 3, outputTokens: 2, totalTokens: 5 }] });
    const { message, stopReason, usage } = await run.result;
    expect(message.content).to.deep.equal([
      { type: 'reasoning', text: 'A greeting.' },
      { type: 'text', text: 'Hi there' },
      { type: 'tool_use', callId: 'c1', name: 'look', input: { at: 'sky' } },
      { type: 'tool_result', callId: 'c1', name: 'look', output: { blue: true }, isError: false },
      { type: 'text', text: 'It is blue.\n\nTruly.' },
    ]);
    expect(stopReason).to.equal('end');
    expect(usage).to.include({ inputTokens: 3, outputTokens: 2, totalTokens: 5 });
    expect(await seen).to.deep.include(['custom', 'mood', 'good']);
  });

  it('tells the conversation with the ids that the agent gave, in one thread; each branch has a thread of its own', async () => {
    const { agent, client } = await start();
    const first = client.send('main', 'One');
    (await agent.next()).start().say('1', 'agent-1').finish();
    const { message } = await first.result;
    const second = client.send('main', 'Two');
    const asked = await agent.next();
    expect(asked.input.threadId).to.equal(agent.asked[0]!.input.threadId);
    expect(asked.input.runId).to.not.equal(agent.asked[0]!.input.runId);
    const told = asked.input.messages.map(({ role, id, content }) => [role, id, content]);
    expect(told[1]).to.deep.equal(['assistant', 'agent-1', '1']);
    asked.start().say('2', 'agent-2').finish();
    await second.result;
    const again = client.session('main').regenerate(message.id);
    (await agent.next()).start().say('one', 'agent-3').finish();
    await again.result;
    const third = client.send('main', 'Three');
    const branch = await agent.next();
    expect(branch.input.threadId).to.not.equal(asked.input.threadId);
    expect(branch.input.messages.map(({ id }) => id))
      .to.include('agent-3')
      .and.not.include('agent-1');
    branch.start().finish();
    await third.result;
  });

  it('keeps shared state and activities as data blocks, passes their changes on, and sends the state back', async () => {
    const { agent, client } = await start();
    const run = client.send('main', 'Go');
    const seen = follow(run);
    const asked = await agent.next();
    expect(asked.input.state).to.deep.equal({});
    const delta = [{ op: 'replace', path: '/n', value: 2 }];
    asked.start().tell(
      { type: 'STATE_SNAPSHOT', snapshot: { n: 1, kept: true } },
      { type: 'STATE_DELTA', delta },
      { type: 'ACTIVITY_SNAPSHOT', messageId: 'a1', activityType: 'plan', content: { steps: ['one'] } },
      {
        type: 'ACTIVITY_DELTA',
        ...{ messageId: 'a1', activityType: 'plan' },
        patch: [{ op: 'add', path: '/steps/-', value: 'two' }],
      },
    );
    asked.finish();
    const { message } = await run.result;
    expect(message.content).to.deep.equal([
      { type: 'data', id: 'state', name: 'state', value: { n: 2, kept: true } },
      { type: 'data', id: 'a1', name: 'plan', value: { steps: ['one', 'two'] } },
    ]);
    expect(await seen).to.deep.include(['custom', 'STATE_DELTA', { delta }]);
    const next = client.send('main', 'On');
    const again = await agent.next();
    expect(again.input.state).to.deep.equal({ n: 2, kept: true });
    again.start().finish();
    await next.result;
  });

  it('tells the answer of an agent that has it in a snapshot alone', async () => {
    const { agent, client } = await start();
    const run = client.send('main', 'Go');
    const asked = await agent.next();
    const call = { id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } };
    const messages = [
      ...asked.input.messages,
      { id: 'x1', role: 'assistant', content: 'I look.', toolCalls: [call] },
      { id: 'x2', role: 'tool', toolCallId: 'c', content: 'sky' },
      { id: 'x3', role: 'assistant', content: 'Blue.' },
    ];
    asked.start().tell({ type: 'MESSAGES_SNAPSHOT', messages }).finish();
    const { message } = await run.result;
    expect(message.content.map((block) => ('text' in block ? block.text : block.type))).to.deep.equal([
      'I look.',
      'tool_use',
      'tool_result',
      'Blue.',
    ]);
  });

  it("makes the calls that the agent leaves to others: the gateway's tools, and the caller's", async () => {
    const add = tool({ handler: ({ a }: any) => ({ sum: a + 1 }) });
    const { agent, send, client } = await start({ tools: { add } as never });
    const run = send('Go', { clientTools: [{ name: 'pick', parameters: { type: 'object' } }] } as never);
    const asked = await agent.next();
    expect(asked.input.tools.map(({ name }) => name)).to.deep.equal(['add', 'pick']);
    asked.start().say('Wait. ').call('c1', 'add', { a: 1 }, 'm1').call('c2', 'pick', { of: 3 }, 'm1');
    asked.finish({ outcome: { type: 'success', pendingToolCallIds: ['c1', 'c2'] } });
    for await (const event of client.events('main', { from: 'earliest' })) {
      if (event.type !== 'input_required') continue;
      await client.session('main').respond(event.callId, { output: { picked: 2 } });
      break;
    }
    const answers = await agent.next(2);
    expect(answers.input.messages.slice(1)).to.deep.equal([
      {
        ...{ id: 'm1', role: 'assistant', content: 'Wait. ' },
        toolCalls: [
          { id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } },
          { id: 'c2', type: 'function', function: { name: 'pick', arguments: '{"of":3}' } },
        ],
      },
      { id: 'c1:result', role: 'tool', toolCallId: 'c1', content: '{"sum":2}' },
      { id: 'c2:result', role: 'tool', toolCallId: 'c2', content: '{"picked":2}' },
    ]);
    answers.start().say('Done.', 'm2').finish();
    const { message } = await run.result;
    expect(message.content.map(({ type }) => type)).to.deep.equal([
      ...['text', 'tool_use', 'tool_use', 'tool_result', 'tool_result', 'text'],
    ]);
  });

  it('asks people for its interrupts at once, and resumes it with their answers', async () => {
    const { agent, client } = await start();
    const run = client.send('main', 'Send it');
    const asked = await agent.next();
    asked.start().call('c1', 'send', { to: 'a' });
    asked.interrupt(
      { id: 'i1', reason: 'tool_call', toolCallId: 'c1', message: 'Send?', responseSchema: approval },
      { id: 'i2', reason: 'confirmation', message: 'Sure?' },
      { id: 'i3', reason: 'input_required', message: 'To whom?', responseSchema: { type: 'string' } },
      { id: 'i4', reason: 'mastra:suspend', message: 'And?' },
    );
    const session = client.session('main');
    const told = await follow(run, async (event) => {
      if (event.type === 'tool_confirmation_required')
        await (event.name === 'send'
          ? session.approve(event.callId, { to: 'b' })
          : session.deny(event.callId));
      if (event.type !== 'input_required') return;
      const { id } = event.payload as { readonly id: string };
      if (id === 'i4') await session.deny(event.callId);
      else await session.respond(event.callId, { output: 'Ann' });
      if (id !== 'i4') return;
      const resumed = await agent.next(2);
      expect(resumed.input.threadId).to.equal(asked.input.threadId);
      expect(resumed.input.resume).to.deep.equal([
        { interruptId: 'i1', status: 'resolved', payload: { approved: true, editedArgs: { to: 'b' } } },
        { interruptId: 'i2', status: 'resolved', payload: false },
        { interruptId: 'i3', status: 'resolved', payload: 'Ann' },
        { interruptId: 'i4', status: 'cancelled' },
      ]);
      resumed.start().result('c1', 'sent').finish();
    });
    expect(told).to.deep.include(['tool_confirmation_required', 'c1', 'send', { to: 'a' }]);
    expect(told.slice(-2)).to.deep.equal([
      ['tool_result', 'c1', 'send', 'sent', false],
      ['message_end', 'end'],
    ]);
  });

  it('cancels the interrupts that a run was stopped in, with the next message', async () => {
    const { agent, client } = await start();
    const run = client.send('main', 'Send it');
    (await agent.next()).start().interrupt({ id: 'i1', reason: 'confirmation' });
    await follow(run, ({ type }) => type === 'tool_confirmation_required' && run.abort());
    const next = client.send('main', 'Forget it');
    const asked = await agent.next();
    expect(asked.input.resume).to.deep.equal([{ interruptId: 'i1', status: 'cancelled' }]);
    asked.start().say('Forgotten.').finish();
    await next.result;
    const last = client.send('main', 'On');
    const after = await agent.next();
    expect(after.input.resume).to.equal(undefined);
    after.start().finish();
    await last.result;
  });

  it('sends headers of the turn, and passes on what a caller has for the agent', async () => {
    const { agent, send } = await start({ headers: ({ user }) => ({ authorization: `Bearer ${user?.id}` }) });
    const context = [{ description: 'place', value: 'Rome' }];
    const run = send('Go', { parameters: { context, forwardedProps: { a: 1 }, state: { s: 1 } } } as never);
    const asked = await agent.next();
    expect(asked.headers).to.include({ authorization: 'Bearer token' });
    expect(asked.input).to.deep.include({ context, forwardedProps: { a: 1 }, state: { s: 1 } });
    asked.start().finish();
    await run.result;
  });

  it('cuts the request off when the run is aborted, before and after the first byte', async () => {
    const { agent, client } = await start();
    for (const said of ['', 'Well, ']) {
      const run = client.send('main', 'Hello');
      const asked = await agent.next();
      if (said !== '') {
        asked.start().open().text(said);
        await run.text[Symbol.asyncIterator]().next();
      }
      await run.abort();
      await asked.closed;
      expect(asked.finished).to.equal(false);
      const { message, stopReason } = await run.result;
      expect([stopReason, textOf(message)]).to.deep.equal(['aborted', said]);
    }
  });

  it('refuses an option that is none, by its name', () => {
    const wrong: [Partial<AgUiAppOptions>, RegExp][] = [
      [{ url: 'ftp://a' }, /url/],
      [{ silenceMs: 0 }, /silenceMs/],
      [{ eventBytes: 1.5 }, /eventBytes/],
      [{ replyBytes: Number.POSITIVE_INFINITY }, /replyBytes/],
    ];
    for (const [options, named] of wrong)
      expect(() => agUiApp({ url: 'http://127.0.0.1/', ...options })).to.throw(named);
  });
});
