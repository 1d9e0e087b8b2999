import { uiMessageChunkSchema } from 'ai';
import { expect } from 'chai';
import { defineApp, tool } from '../../../server/index.js';
import { uiMessageStreamPlugin } from '../../../server/plugins/ui-message-stream/index.js';
import { crashed, newDatabase, startDurable } from '../../support/durable.js';
import { gate } from '../../support/gate.js';
import { until } from '../../support/until.js';
import { byName } from '../../support/users.js';
import { actor, chunksOf, MAJORS, STORES, startUi, textIn, userSays, withUi } from './fixtures.js';

const SIX = MAJORS[1]!;
const told = (chunks: readonly any[]): string => chunks.map(({ delta }) => delta ?? '').join('');

/** Answers with what it is told of a turn. */
const recalling = defineApp({
  async *run(turn) {
    const { metadata, clientTools, message } = turn;
    yield JSON.stringify({
      history: turn.history.map(({ role, content }) => [role, ...content.map((block) => block.type)]),
      content: message.content,
      metadata,
      tools: clientTools.map(({ name }) => name),
    });
  },
});

describe('what an interface posts', () => {
  const recalled = async (body: object, options = {}): Promise<any> => {
    const ui = await startUi({ app: recalling }, options);
    return JSON.parse(told(await chunksOf(await ui.post({ id: 'main', ...body }))));
  };

  it('may be its last message alone, in either form, with fields of its own that the app is given', async () => {
    for (const body of [{ message: userSays('u1', 'x') }, { messages: [userSays('u1', 'x')] }])
      expect(await recalled({ ...body, model: 'small', trigger: 'submit-message' })).to.deep.equal({
        history: [],
        content: [{ type: 'text', text: 'x' }],
        metadata: { model: 'small' },
        tools: [],
      });
  });

  it('may bring tools along by name, and files', async () => {
    const tools = { where: { description: 'Says where', parameters: { type: 'object' } } };
    const file = {
      type: 'file',
      mediaType: 'image/png',
      filename: 'a.png',
      url: 'data:image/png;base64,AAAA',
    };
    const body = {
      messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'x' }, file] }],
      tools,
    };
    const { content, tools: names } = await recalled(body);
    expect(names).to.deep.equal(['where']);
    expect(content[1]).to.include({ type: 'image', mediaType: 'image/png', name: 'a.png' });
  });

  it('begins a session with what the client has, unless that is turned off', async () => {
    const before = [
      userSays('u0', 'before'),
      { id: 'a0', role: 'assistant', parts: [{ type: 'text', text: 'yes' }] },
    ];
    const body = { messages: [...before, userSays('u1', 'x')] };
    expect((await recalled(body)).history).to.deep.equal([
      ['user', 'text'],
      ['assistant', 'text'],
    ]);
    expect((await recalled(body, { seed: false })).history).to.deep.equal([]);
  });

  it('may have all that an app has said before: keys with names of prototypes, and deep values', async () => {
    const output = { driver: 'Leclerc', constructor: 'Ferrari', prototype: [] as unknown[] };
    for (let level = 0; level < 100; level++) output.prototype = [output.prototype];
    const app = defineApp({
      tools: { race: tool({ handler: () => output }) },
      async *run(turn) {
        await turn.callTool('race', {});
        yield `${turn.history.length}`;
      },
    });
    const ui = await startUi({ app });
    const first = userSays('u1', 'x');
    const chunks = await chunksOf(await ui.post({ id: 'main', messages: [first] }));
    const { toolCallId, output: heard } = chunks.find(({ type }: any) => type === 'tool-output-available');
    expect(heard).to.deep.equal(output);
    const called = { type: 'tool-race', toolCallId, state: 'output-available', input: {}, output: heard };
    const answer = { id: 'a1', role: 'assistant', parts: [called] };
    const again = await ui.post({ id: 'main', messages: [first, answer, userSays('u2', 'y')] });
    expect(again.status).to.equal(200);
    expect(told(await chunksOf(again))).to.match(/\d/);
  });

  it('is refused in a plain sentence where it is wrong', async () => {
    const ui = await startUi({ app: recalling });
    const bad: readonly unknown[] = [
      {},
      [],
      { id: 'main' },
      { id: 'main', messages: [] },
      { id: 'main', messages: [{ id: 'u', role: 'user', parts: [] }] },
      { id: 'main', messages: [{ id: 'u', role: 'system', parts: [{ type: 'text', text: 'x' }] }] },
      { id: 'main', messages: [{ id: 'u', role: 'user', parts: [{ type: 'unheard-of' }] }] },
      { id: 'not a key', messages: [userSays('u', 'x')] },
    ];
    for (const body of bad) {
      const response = await ui.post(body);
      expect(response.status, JSON.stringify(body)).to.equal(400);
      expect(response.headers.get('content-type')).to.equal('text/plain; charset=utf-8');
      expect(response.headers.get('x-error-code')).to.match(/^INVALID_(REQUEST|PARAMS)$/);
    }
    const headers = { 'content-type': 'text/plain' };
    expect((await ui.post({ id: 'main', messages: [userSays('u', 'x')] }, { headers })).status).to.equal(415);
    expect((await ui.post({ id: 'no-such-app:main', messages: [userSays('u', 'x')] })).status).to.equal(404);
    for (const [path, method, status] of [
      ['', 'GET', 405],
      ['/main', 'POST', 405],
      ['/main/stream', 'POST', 405],
      ['/main/stop', 'GET', 405],
      ['/main/other', 'GET', 404],
      ['/main/stream/more', 'GET', 404],
    ] as const)
      expect((await ui.ask(path, { method })).status, `${method} ${path}`).to.equal(status);
  });

  it('meets a busy session as the host wants it', async () => {
    const held = gate();
    const began = gate();
    const app = defineApp({
      async *run(turn) {
        began.open();
        await held.passed;
        yield turn.text;
      },
    });
    const ui = await startUi({ app }, { onBusy: 'reject' });
    const first = ui.post({ id: 'main', messages: [userSays('u1', 'one')] });
    await began.passed;
    const second = await ui.post({ id: 'main', messages: [userSays('u2', 'two')] });
    expect([second.status, second.headers.get('x-error-code')]).to.deep.equal([409, 'SESSION_BUSY']);
    held.open();
    expect(told(await chunksOf(await first))).to.equal('one');
  });

  it('waits in the queue with its head sent, and is told then', async () => {
    const held = gate();
    const app = defineApp({
      async *run(turn) {
        await held.passed;
        yield turn.text;
      },
    });
    const ui = await startUi({ app });
    const first = await ui.post({ id: 'main', messages: [userSays('u1', 'one')] });
    const second = await ui.post({ id: 'main', messages: [userSays('u2', 'two')] });
    expect(second.headers.get('x-vercel-ai-ui-message-stream')).to.equal('v1');
    held.open();
    expect([told(await chunksOf(first)), told(await chunksOf(second))]).to.deep.equal(['one', 'two']);
  });

  it('denies the questions that it would wait for, since its page can answer none meanwhile', async () => {
    const { app } = actor();
    const ui = await startUi({ app });
    await (await ui.post({ id: 'main', messages: [userSays('u1', 'pay')] })).text();
    expect(told(await chunksOf(await ui.post({ id: 'main', messages: [userSays('u2', 'hi')] })))).to.equal(
      'hi ',
    );
    const { messages } = await (await ui.ask('/main')).json();
    expect(textIn(messages[1])).to.equal('[pay: "Denied: The conversation went on"] ');
  });

  it('waits behind the questions that are open, where the host wants that', async () => {
    const { app, effects } = actor();
    const ui = await startUi({ app }, { openQuestions: 'keep' });
    await (await ui.post({ id: 'main', messages: [userSays('u1', 'pay')] })).text();
    const second = await ui.post({ id: 'main', messages: [userSays('u2', 'hi')] });
    const session = ui.gateway.session('main', { user: { id: 'alice' } });
    for await (const event of session.events({ from: 'snapshot' }))
      if (event.type === 'snapshot') {
        await session.respond(event.state.pending[0]!.callId, { approved: true });
        break;
      }
    expect(told(await chunksOf(second))).to.equal('hi ');
    expect(effects).to.deep.equal(['pay']);
  });

  it('leaves the questions of a child that nobody waits for', async () => {
    const app = defineApp({
      async *run(turn) {
        if (turn.text === 'hire') turn.spawn('helper', { message: 'pay', id: 'h', detached: true });
        yield turn.text;
      },
    });
    const ui = await startUi({ apps: { default: app, helper: actor().app }, defaultApp: 'default' } as any);
    await (await ui.post({ id: 'main', messages: [userSays('u1', 'hire')] })).text();
    const session = ui.gateway.session('main', { user: { id: 'alice' } });
    for await (const event of session.events({ from: 'earliest' }))
      if (event.type === 'tool_confirmation_required') break;
    expect(told(await chunksOf(await ui.post({ id: 'main', messages: [userSays('u2', 'hi')] })))).to.equal(
      'hi',
    );
    for await (const event of session.events({ from: 'snapshot' }))
      if (event.type === 'snapshot') {
        expect(event.state.pending.map(({ name }) => name)).to.deep.equal(['pay']);
        break;
      }
  });
});

describe('a continuation', () => {
  it('with a part of the answers hands them over, changes something and waits for the others', async () => {
    const { app, effects } = actor();
    const ui = await startUi({ app });
    const chunks = await chunksOf(await ui.post({ id: 'main', messages: [userSays('u1', 'both')] }));
    const calls = chunks
      .filter(({ type }) => type === 'tool-approval-request')
      .map(({ toolCallId }) => toolCallId);
    const { messageId } = chunks[0];
    const part = (toolCallId: string) => ({
      type: 'dynamic-tool',
      toolName: 'pay',
      toolCallId,
      state: 'approval-responded',
      input: {},
      approval: { id: toolCallId, approved: true },
    });
    const answer = (...parts: object[]) =>
      ui.post({
        id: 'main',
        messageId,
        messages: [userSays('u1', 'both'), { id: messageId, role: 'assistant', parts }],
      });
    const some = await chunksOf(await answer(part(calls[0])));
    expect(some.map((chunk) => chunk.type ?? chunk)).to.deep.equal([
      'start',
      'start-step',
      'finish-step',
      'finish',
      '[DONE]',
    ]);
    expect(some[0].messageId).to.equal(messageId);
    expect(some[3].messageMetadata).to.be.an('object');
    expect(effects).to.have.length(1);
    const all = await chunksOf(await answer(...calls.map(part)));
    expect(told(all)).to.contain('[both: ');
    expect(effects).to.deep.equal(['pay', 'pay']);
  });

  it('whose answer somebody else has given is told what followed', async () => {
    const { app, effects } = actor();
    const ui = await startUi({ app });
    const chat = ui.chat(SIX, {
      sendAutomaticallyWhen: SIX.sdk.lastAssistantMessageIsCompleteWithApprovalResponses,
    });
    await chat.sendMessage({ text: 'pay done' });
    const { approval } = chat.messages[1].parts.find(({ type }: any) => type === 'dynamic-tool');
    const session = ui.gateway.session('main', { user: { id: 'alice' } });
    await session.respond(approval.id, { approved: true });
    await chat.addToolApprovalResponse({ id: approval.id, approved: true });
    await until(() => chat.status === 'ready' && textIn(chat.messages[1]).includes('done'));
    expect(effects).to.deep.equal(['pay']);
  });

  it('of a message that the session does not have is 404', async () => {
    const { app } = actor();
    const ui = await startUi({ app });
    const message = { id: 'nobody', role: 'assistant', parts: [{ type: 'text', text: 'x' }] };
    expect((await ui.post({ id: 'main', messages: [message] })).status).to.equal(404);
  });
});

describe('an answer that is resumed', () => {
  it('is nothing where there is none, or it ended too long ago', async () => {
    const { app } = actor();
    const ui = await startUi({ app }, { resumeFinishedMs: 0 });
    expect((await ui.ask('/main/stream')).status).to.equal(204);
    await (await ui.post({ id: 'main', messages: [userSays('u1', 'one')] })).text();
    const ended = Date.now();
    await until(() => Date.now() > ended);
    expect((await ui.ask('/main/stream')).status).to.equal(204);
  });

  it('asks again what is open after a reload, and is answered there, by any page of the user', async () => {
    const { app, effects } = actor();
    const ui = await startUi({ app });
    await ui.chat(SIX).sendMessage({ text: 'a pay where b' });
    const { messages } = await (await ui.ask('/main')).json();
    let asked = 0;
    const chat = ui.chat(SIX, {
      messages,
      sendAutomaticallyWhen: ({ messages: all }: any) =>
        SIX.sdk.lastAssistantMessageIsCompleteWithApprovalResponses({ messages: all }) ||
        SIX.sdk.lastAssistantMessageIsCompleteWithToolCalls({ messages: all }),
      onToolCall: ({ toolCall: { toolName, toolCallId } }: any) => {
        asked += 1;
        void chat.addToolResult({ tool: toolName, toolCallId, output: 'here' });
      },
    });
    await chat.resumeStream();
    const { approval, state } = chat.messages[1].parts.find(({ type }: any) => type === 'dynamic-tool');
    expect(state).to.equal('approval-requested');
    await chat.addToolApprovalResponse({ id: approval.id, approved: true });
    await until(() => chat.status === 'ready' && textIn(chat.messages[1]).includes('b '));
    expect(effects).to.deep.equal(['pay']);
    expect(asked).to.equal(1);
    // A replay runs no tool of the client's again.
    const onToolCall = (): void => {
      asked += 1;
    };
    const other = ui.chat(SIX, { onToolCall, messages: [chat.messages[0]] });
    await other.resumeStream();
    expect(textIn(other.messages[1])).to.equal(textIn(chat.messages[1]));
    expect(asked).to.equal(1);
  });

  it('is told from what was folded where its events are not kept any more', async () => {
    const held = gate();
    const began = gate();
    const app = defineApp({
      async *run() {
        for (let n = 0; n < 60; n++) {
          yield `${n} `;
          await new Promise(setImmediate);
        }
        began.open();
        await held.passed;
        yield 'end';
      },
    });
    const ui = await startUi({ app, limits: { retention: { events: 10 } } });
    const posted = await ui.post({ id: 'main', messages: [userSays('u1', 'x')] });
    await began.passed;
    const segment = posted.headers.get('x-workflow-run-id')!;
    const gone = await ui.ask(`/${encodeURIComponent(segment)}/stream?startIndex=0`);
    expect([gone.status, gone.headers.get('x-error-code')]).to.deep.equal([410, 'CURSOR_GONE']);
    const resumed = await ui.ask('/main/stream');
    held.open();
    const chunks = await chunksOf(resumed);
    expect(told(chunks)).to.equal(`${Array.from({ length: 60 }, (_, n) => `${n} `).join('')}end`);
    expect(chunks.at(-1)).to.equal('[DONE]');
    expect(told(await chunksOf(posted))).to.equal(told(chunks));
  });

  it('is told to a question that is open, and ends there', async () => {
    const app = defineApp({
      async *run(turn: any) {
        for (let n = 0; n < 60; n++) {
          yield `${n} `;
          await new Promise(setImmediate);
        }
        await turn.ask({ name: 'more' });
      },
    });
    const ui = await startUi({ app, limits: { retention: { events: 10 } } });
    const posted = await chunksOf(await ui.post({ id: 'main', messages: [userSays('u1', 'x')] }));
    const resumed = await chunksOf(await ui.ask('/main/stream'));
    expect(told(resumed)).to.equal(told(posted));
    expect(resumed.at(-2)).to.deep.equal(posted.at(-2));
  });
});

for (const [store, make] of STORES)
  describe(`chats of others on ${store}`, () => {
    it('are not there: every route of a name is of the own session, and a segment is 404', async () => {
      const { app, effects } = actor();
      const ui = await startUi({ app, store: make() });
      const posted = await ui.post({ id: 'main', messages: [userSays('u1', 'one pay')] });
      const segment = encodeURIComponent(posted.headers.get('x-workflow-run-id')!);
      const chunks = await chunksOf(posted);
      const bob = { user: 'bob' };
      expect(await (await ui.ask('/main', bob)).json())
        .to.include({ hasMore: false })
        .and.have.deep.property('messages', []);
      expect((await ui.ask('/main/stream', bob)).status).to.equal(204);
      for (const query of ['', '?startIndex=0'])
        expect((await ui.ask(`/${segment}/stream${query}`, bob)).status).to.equal(404);
      expect(await (await ui.ask('/main/stop', { ...bob, method: 'POST' })).json()).to.deep.equal({
        success: true,
      });
      const { messageId } = chunks[0];
      const { toolCallId } = chunks.find(({ type }) => type === 'tool-approval-request');
      const answer = {
        id: messageId,
        role: 'assistant',
        parts: [
          {
            type: 'dynamic-tool',
            toolName: 'pay',
            toolCallId,
            state: 'approval-responded',
            approval: { id: toolCallId, approved: true },
          },
        ],
      };
      expect((await ui.post({ id: 'main', messageId, messages: [answer] }, bob)).status).to.equal(404);
      expect(effects).to.deep.equal([]);
      const own = await chunksOf(await ui.post({ id: 'main', messages: [userSays('u1', 'mine')] }, bob));
      expect(told(own)).to.equal('mine ');
      expect((await (await ui.ask('/main')).json()).messages.map(textIn)).to.deep.equal(['one pay']);
      // It still waits for its own user.
      expect(await chunksOf(await ui.ask(`/${segment}/stream`))).to.deep.equal(chunks);
    });
  });

describe('a chat whose gateway was restarted', () => {
  it('has the same segments, and is answered and told on', async () => {
    const path = newDatabase();
    const { app, effects } = actor();
    const config = { app: { ...app, resumable: true }, auth: byName };
    const started = await startDurable(path, config);
    started.gateway.use(uiMessageStreamPlugin());
    const ui = withUi(started);
    const posted = await ui.post({ id: 'main', messages: [userSays('u1', 'pay done')] });
    const segment = encodeURIComponent(posted.headers.get('x-workflow-run-id')!);
    const chunks = await chunksOf(posted);
    const again = await startDurable(crashed(path), config);
    again.gateway.use(uiMessageStreamPlugin());
    const next = withUi(again);
    expect(await chunksOf(await next.ask(`/${segment}/stream`))).to.deep.equal(chunks);
    const { toolCallId } = chunks.find(({ type }) => type === 'tool-approval-request');
    const part = {
      type: 'dynamic-tool',
      toolName: 'pay',
      toolCallId,
      state: 'approval-responded',
      approval: { id: toolCallId, approved: true },
    };
    const { messageId } = chunks[0];
    const body = { id: 'main', messageId, messages: [{ id: messageId, role: 'assistant', parts: [part] }] };
    const on = await chunksOf(await next.post(body));
    expect(on[0]).to.include({ type: 'start', messageId });
    expect(told(on)).to.equal('[pay: {"did":"pay","n":1}] done ');
    expect(effects).to.deep.equal(['pay']);
  });
});

describe('the chunks', () => {
  it('fit the schema of the SDK, and the head is what readers look for', async () => {
    const { app } = actor();
    const ui = await startUi({ app });
    const schema = uiMessageChunkSchema() as any;
    for (const [at, text] of ['think look data fail x', 'pay', 'where', 'ask', 'break'].entries()) {
      const response = await ui.post({ id: `chat-${at}`, messages: [userSays('u1', text)] });
      expect(response.headers.get('content-type')).to.match(/^text\/event-stream/);
      expect(response.headers.get('cache-control')).to.contain('no-cache');
      expect(response.headers.get('x-accel-buffering')).to.equal('no');
      for (const chunk of (await chunksOf(response)).slice(0, -1)) {
        const valid = await schema.validate(chunk);
        expect(valid.success, `${JSON.stringify(chunk)} ${valid.error}`).to.equal(true);
      }
    }
  });

  it('carry metadata that the host shapes, and typed tools where it wants them', async () => {
    const { app } = actor();
    const ui = await startUi(
      { app },
      { dynamicTools: false, messageMetadata: ({ stopReason }) => ({ why: stopReason ?? null }) },
    );
    const chat = ui.chat(SIX);
    await chat.sendMessage({ text: 'look' });
    expect(chat.messages[1].metadata).to.deep.equal({ why: 'end' });
    expect(chat.messages[1].parts.some(({ type }: any) => type === 'tool-look')).to.equal(true);
    const { messages } = await (await ui.ask('/main')).json();
    expect(messages[1].metadata).to.deep.equal({ why: 'end' });
  });
});

describe('options of the plugin', () => {
  it('are checked', async () => {
    for (const options of [
      { path: 'api' },
      { resumeFinishedMs: -1 },
      { version: 4 },
      { onBusy: 'steer' },
      { openQuestions: 'ask' },
    ])
      expect(() => uiMessageStreamPlugin(options as never), JSON.stringify(options)).to.throw(/must be/);
    const error = await startUi({ app: recalling }, { app: 'nobody' }).catch((thrown) => thrown);
    expect(error.message).to.contain('there is no app');
  });
});
