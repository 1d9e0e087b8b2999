import { randomUUID } from 'node:crypto';
import { HttpAgent } from '@ag-ui/client';
import { Client } from '@langchain/langgraph-sdk';
import { expect } from 'chai';
import OpenAI from 'openai';
import { defineApp, memoryStore } from '../../server/index.js';
import { agUiPlugin } from '../../server/plugins/ag-ui/index.js';
import { langGraphPlugin } from '../../server/plugins/langgraph/index.js';
import { responsesPlugin } from '../../server/plugins/responses/index.js';
import { uiMessageStreamPlugin } from '../../server/plugins/ui-message-stream/index.js';
import { get, jsonHeaders, startGateway, TOKEN } from '../support/gateway.js';

const SECRET = 'four-thousand-milligrams';

/** Echoes, and is heard to have been given what is left of the history. */
const histories: string[] = [];
const app = defineApp({
  async *run(turn) {
    histories.push(JSON.stringify(turn.history));
    yield `heard ${turn.text}`;
  },
});

/** A gateway with a door, and what takes all messages of its last used session back. */
async function start(plugin: Parameters<Awaited<ReturnType<typeof startGateway>>['gateway']['use']>[0]) {
  const { gateway, url } = await startGateway({ app, store: memoryStore() });
  gateway.use(plugin);
  const takeBack = async (): Promise<void> => {
    const { body } = await get(`${url}/sessions?limit=1`);
    const [{ sessionId }] = body.sessions;
    const { messages } = (await get(`${url}/history?sessionId=${encodeURIComponent(sessionId)}`)).body;
    expect(JSON.stringify(messages)).to.include(SECRET);
    for (const { id } of messages) await gateway.session(sessionId).retract(id);
  };
  return { url, takeBack };
}

describe('a whole message that staff took back, through the client of each door', () => {
  beforeEach(() => histories.splice(0));

  it('is in no response that is read again, nor in what the next one is made of', async () => {
    const { url, takeBack } = await start(responsesPlugin());
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: TOKEN, maxRetries: 0 });
    const first = await client.responses.create({ model: 'default', input: SECRET });
    expect(first.output_text).to.include(SECRET);
    await takeBack();
    const again = await client.responses.retrieve(first.id);
    const { data } = await client.responses.inputItems.list(first.id);
    expect(JSON.stringify([again, data])).to.not.include(SECRET);
    const next = { model: 'default', input: 'more', previous_response_id: first.id };
    expect((await client.responses.create(next)).output_text).to.equal('heard more');
    expect(histories[1]).to.not.include(SECRET);
  });

  it('is in no state of a thread of LangGraph, nor in its history', async () => {
    const { url, takeBack } = await start(langGraphPlugin());
    const defaultHeaders = { authorization: `Bearer ${TOKEN}` };
    const client = new Client({ apiUrl: `${url}/langgraph`, apiKey: null, defaultHeaders });
    const { thread_id: thread } = await client.threads.create();
    const input = { messages: [{ role: 'user', content: SECRET }] };
    expect(JSON.stringify(await client.runs.wait(thread, 'default', { input }))).to.include(SECRET);
    await takeBack();
    const read = [await client.threads.getState(thread), await client.threads.getHistory(thread)];
    expect(JSON.stringify(read)).to.not.include(SECRET);
  });

  it('is gone from the messages of an AG-UI agent with its next run', async () => {
    const { url, takeBack } = await start(agUiPlugin());
    const headers = { authorization: `Bearer ${TOKEN}` };
    const agent = new HttpAgent({ url: `${url}/ag-ui/agent/default/run`, headers, threadId: randomUUID() });
    const run = async (content: string): Promise<void> => {
      agent.addMessage({ id: randomUUID(), role: 'user', content });
      await agent.runAgent();
    };
    await run(SECRET);
    await takeBack();
    expect(JSON.stringify(agent.messages), 'its own copy').to.include(SECRET);
    await run('more');
    expect(JSON.stringify(agent.messages)).to.include('heard more').and.not.include(SECRET);
    expect(histories[1]).to.not.include(SECRET);
  });

  it('is in no chat that a page of the AI SDK loads', async () => {
    const { url, takeBack } = await start(uiMessageStreamPlugin());
    const id = randomUUID();
    const parts = [{ type: 'text', text: SECRET }];
    const body = JSON.stringify({ id, messages: [{ id: randomUUID(), role: 'user', parts }] });
    const told = await fetch(`${url}/api/chat`, { method: 'POST', headers: jsonHeaders(), body });
    expect(await told.text()).to.include(SECRET);
    await takeBack();
    const loaded = await get(`${url}/api/chat/${id}`);
    expect(loaded.status).to.equal(200);
    expect(JSON.stringify(loaded.body)).to.not.include(SECRET);
  });
});
