import Anthropic from '@anthropic-ai/sdk';
import { Client as LangGraph } from '@langchain/langgraph-sdk';
import { expect } from 'chai';
import { defineApp, type GatewayPlugin } from '../../server/index.js';
import { agUiPlugin } from '../../server/plugins/ag-ui/index.js';
import { chatCompletionsPlugin } from '../../server/plugins/chat-completions/index.js';
import { langGraphPlugin } from '../../server/plugins/langgraph/index.js';
import { responsesPlugin } from '../../server/plugins/responses/index.js';
import { sessionsApiPlugin } from '../../server/plugins/sessions-api/index.js';
import { uiMessageStreamPlugin } from '../../server/plugins/ui-message-stream/index.js';
import { DOORS } from '../plugins/conversation/doors.js';
import { posting, startDoor } from '../plugins/door.js';
import { isIdle, readUntil, says } from '../plugins/sessions-api/fixtures.js';
import { as } from '../support/users.js';

/** Says something, and uses more than its budget has. */
const app = defineApp({
  async *run(turn) {
    yield 'partly ';
    await turn.usage({ inputTokens: 10 });
    yield 'never';
  },
});

const SPENT = 'The budget all is used up: 10 of 10 tokens';

const start = (plugin: GatewayPlugin) =>
  startDoor(plugin, {
    app,
    budgets: [{ name: 'all', per: 'person', period: 'ever', limit: { tokens: 10 }, reached: 'stop' }],
  } as never);

const messageOf = (failing: Promise<unknown>): Promise<string> =>
  failing.then(
    () => 'nothing failed',
    (error: Error) => error.message,
  );

describe('a run that a budget ends, and the message that it refuses, are told', () => {
  for (const door of DOORS.filter(({ name }) => name === 'chat completions' || name === 'useChat'))
    it(`to an unmodified client of ${door.name}, with the reason`, async () => {
      const { url } = await start(door.plugin());
      const tab = await door.open({ url });
      expect(await messageOf(tab.say('one'))).to.contain(SPENT);
      expect(await messageOf(tab.say('two'))).to.contain(SPENT);
    });

  it('by the words of chat completions', async () => {
    const { url } = await start(chatCompletionsPlugin());
    for (const stream of [true, false]) {
      const body = { model: 'default', stream, messages: [{ role: 'user', content: 'hi' }] };
      const answer = await fetch(`${url}/v1/chat/completions`, posting(body, { headers: as('alice') }));
      const text = await answer.text();
      expect(answer.status).to.equal(stream ? 200 : 402);
      expect(JSON.parse(stream ? /^data: (.*error.*)$/m.exec(text)![1]! : text).error).to.deep.equal({
        ...{ message: SPENT, type: 'insufficient_quota', param: null, code: 'insufficient_quota' },
      });
    }
  });

  it('by the words of Responses', async () => {
    const { url } = await start(responsesPlugin());
    const ask = async () => {
      const body = { model: 'default', input: 'hi' };
      const answer = await fetch(`${url}/v1/responses`, posting(body, { headers: as('alice') }));
      return { status: answer.status, body: await answer.json() };
    };
    const { body } = await ask();
    const [code, type] = ['insufficient_quota', 'insufficient_quota'];
    expect([body.status, body.error]).to.deep.equal(['failed', { code, type, message: SPENT }]);
    expect(body.output[0].content[0].text).to.equal('partly ');
    const refused = await ask();
    expect([refused.status, refused.body.error]).to.deep.equal([
      402,
      { code, type, param: null, message: SPENT },
    ]);
  });

  it('by the words of AG-UI', async () => {
    const { url } = await start(agUiPlugin());
    const body = { threadId: 't', runId: 'r', messages: [{ id: 'm', role: 'user', content: 'hi' }] };
    const answer = await fetch(
      `${url}/ag-ui/agent/default`,
      posting({ ...body, state: {}, tools: [], context: [], forwardedProps: {} }, { headers: as('alice') }),
    );
    const events = (await answer.text()).split('\n\n').filter((frame) => frame.includes('RUN_ERROR'));
    expect(events.map((frame) => JSON.parse(/data: (.*)/.exec(frame)![1]!))).to.deep.equal([
      { type: 'RUN_ERROR', code: 'BUDGET_EXHAUSTED', message: SPENT },
    ]);
  });

  it('by the words of UI message streams', async () => {
    const { url } = await start(uiMessageStreamPlugin());
    const send = (id: string) =>
      fetch(
        `${url}/api/chat`,
        posting(
          { id: 'main', messages: [{ id, role: 'user', parts: [{ type: 'text', text: 'hi' }] }] },
          { headers: as('alice') },
        ),
      );
    const told = await (await send('one')).text();
    expect(told).to.contain(JSON.stringify({ type: 'error', errorText: SPENT }));
    const refused = await send('two');
    expect([refused.status, refused.headers.get('x-error-code'), await refused.text()]).to.deep.equal([
      402,
      'BUDGET_EXHAUSTED',
      SPENT,
    ]);
  });

  it('by the words of LangGraph', async () => {
    const { url } = await start(langGraphPlugin());
    const client = new LangGraph({
      apiUrl: `${url}/langgraph`,
      defaultHeaders: as('alice'),
      callerOptions: { maxRetries: 0 },
    });
    const { thread_id: thread } = await client.threads.create();
    const input = { messages: [{ role: 'user', content: 'hi' }] };
    const { run_id: run } = await client.runs.create(thread, 'default', { input });
    await client.runs.join(thread, run).catch(() => {});
    expect((await client.runs.get(thread, run)).status).to.equal('error');
    expect((await client.threads.get(thread)).status).to.equal('error');
    expect(await messageOf(client.runs.create(thread, 'default', { input }))).to.match(/402.*used up/);
  });

  it('by the words of the sessions API', async () => {
    const { url } = await start(sessionsApiPlugin());
    const client = new Anthropic({ baseURL: url, apiKey: 'alice', maxRetries: 0 });
    const { id } = await client.beta.sessions.create({ agent: 'default', environment_id: 'env_1' });
    const stream = await client.beta.sessions.events.stream(id);
    await client.beta.sessions.events.send(id, { events: [says('hi')] });
    const events = await readUntil(stream, isIdle);
    expect(events.at(-1).stop_reason).to.deep.equal({ type: 'budget_reached' });
    expect(events.map(({ type }) => type)).to.not.include('session.error');
    const refused: any = await client.beta.sessions.events
      .send(id, { events: [says('again')] })
      .catch((error: unknown) => error);
    expect([refused.status, refused.error.error.type]).to.deep.equal([402, 'billing_error']);
  });
});
