import { randomUUID } from 'node:crypto';
import { readUIMessageStream } from 'ai7';
import { expect } from 'chai';
import { defineApp, memoryStore } from '../../server/index.js';
import { agUiPlugin } from '../../server/plugins/ag-ui/index.js';
import { chatCompletionsPlugin } from '../../server/plugins/chat-completions/index.js';
import { langGraphPlugin } from '../../server/plugins/langgraph/index.js';
import { responsesPlugin } from '../../server/plugins/responses/index.js';
import { uiMessageStreamPlugin } from '../../server/plugins/ui-message-stream/index.js';
import { jsonHeaders, post, startGateway } from '../support/gateway.js';

const WHOLE = 'Let me see. It is Oslo.';

const app = defineApp({
  async *run(turn) {
    yield 'Let me see. ';
    const mark = turn.mark();
    yield 'It is Stockh';
    turn.data('card', 1, { id: 'card' });
    await new Promise(setImmediate);
    turn.retract(mark);
    yield 'It is ';
    await new Promise(setImmediate);
    yield 'Oslo.';
  },
});

async function start(version?: 7): Promise<string> {
  const { gateway, url } = await startGateway({ app, store: memoryStore() });
  for (const plugin of [
    agUiPlugin(),
    chatCompletionsPlugin(),
    langGraphPlugin(),
    responsesPlugin(),
    uiMessageStreamPlugin(version ? { version } : {}),
  ])
    gateway.use(plugin);
  return url;
}

/** The JSON of each event of a stream. */
async function streamed(url: string, path: string, body: object): Promise<any[]> {
  const headers = { ...jsonHeaders(), accept: 'text/event-stream' };
  const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await response.text();
  return [...text.matchAll(/^data: (.*)$/gm)].flatMap(([, data]) =>
    data === '[DONE]' ? [] : [JSON.parse(data!)],
  );
}

const toChat = () => ({
  id: randomUUID(),
  messages: [{ id: randomUUID(), role: 'user', parts: [{ type: 'text', text: 'go' }] }],
});

describe('a text that was taken back, through each door', () => {
  it('is in no whole completion, and set apart in a stream', async () => {
    const url = await start();
    const request = { model: 'default', messages: [{ role: 'user', content: 'go' }] };
    const { body } = await post(`${url}/v1/chat/completions`, request);
    expect(body.choices[0].message.content).to.equal(WHOLE);
    const chunks = await streamed(url, '/v1/chat/completions', { ...request, stream: true });
    const said = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
    expect(said).to.equal('Let me see. It is Stockh\n\nIt is Oslo.');
  });

  it('is in no output of a response', async () => {
    const url = await start();
    const textsOf = ({ output }: any): string =>
      output.flatMap(({ content = [] }: any) => content.map(({ text }: any) => text)).join('');
    const { body } = await post(`${url}/v1/responses`, { model: 'default', input: 'go' });
    expect(textsOf(body)).to.equal(WHOLE);
    const events = await streamed(url, '/v1/responses', { model: 'default', input: 'go', stream: true });
    const { response } = events.at(-1);
    expect(textsOf(response)).to.equal(WHOLE);
    const ids = response.output.map(({ id }: any) => id);
    expect(new Set(ids).size).to.equal(ids.length);
  });

  it('is gone from a page of AI SDK 7, and pages of 6 are told where to hide parts', async () => {
    const chunks = await streamed(await start(7), '/api/chat', toChat());
    expect(chunks.map(({ type }) => type)).to.include('reset-step');
    const stream = new ReadableStream({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(chunk);
        controller.close();
      },
    });
    let last: any;
    for await (const message of readUIMessageStream({ stream })) last = message;
    const shown = last.parts.filter(({ type }: any) => type !== 'step-start');
    expect(shown.map(({ type }: any) => type)).to.not.include('data-card');
    expect(shown.map(({ text }: any) => text).join('')).to.equal(WHOLE);
    const older = await streamed(await start(), '/api/chat', toChat());
    expect(older.find(({ type }) => type === 'data-retracted')).to.deep.include({ data: { from: 1 } });
  });

  it('is told by AG-UI as an event of ours, and by LangGraph in the values of the thread', async () => {
    const url = await start();
    const messages = [{ id: randomUUID(), role: 'user', content: 'go' }];
    const agUi = await streamed(url, '/ag-ui/agent/default/run', {
      ...{ threadId: randomUUID(), runId: randomUUID(), state: {}, tools: [], context: [] },
      ...{ messages, forwardedProps: {} },
    });
    expect(agUi.find(({ name }) => name === 'retracted')?.value).to.include({ from: 1 });
    const values = await streamed(url, `/langgraph/threads/${randomUUID()}/runs/stream`, {
      ...{ assistant_id: 'default', if_not_exists: 'create', stream_mode: ['values'] },
      input: { messages: [{ role: 'user', content: 'go' }] },
    });
    expect(JSON.stringify(values.findLast((value) => value?.messages)))
      .to.include('Oslo')
      .and.not.include('Stockh');
  });
});
