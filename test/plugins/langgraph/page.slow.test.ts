import { expect } from 'chai';
import { needChromium } from '../../support/browser.js';
import { until } from '../../support/until.js';
import { actor } from '../actor.js';
import { openChat } from './browser-page.js';

/** A page as Agent Chat UI has it: the hook of the classic routes, which fetches the history. */
const PAGE = `
import { createElement as h } from 'react';
import { createRoot } from 'react-dom/client';
import { useStream } from '@langchain/langgraph-sdk/react';

function Chat() {
  const [threadId, setThreadId] = [location.hash.slice(1) || null, (id) => { location.hash = id; }];
  const stream = useStream({
    apiUrl: location.origin + '/agent/langgraph',
    assistantId: 'default',
    threadId,
    onThreadId: setThreadId,
    fetchStateHistory: true,
    reconnectOnMount: true,
    messagesKey: 'messages',
  });
  globalThis.stream = stream;
  return stream.messages.map(({ id, type, content }) => h('p', { key: id }, type + ': ' + content));
}
createRoot(document.body.appendChild(document.createElement('div'))).render(h(Chat));`;

/** The hook and the list of threads as Agent Chat UI calls them (src/providers, src/components/thread of its fdc87e6). */
const AGENT_CHAT = `
import { createElement as h } from 'react';
import { createRoot } from 'react-dom/client';
import { Client } from '@langchain/langgraph-sdk';
import { useStream } from '@langchain/langgraph-sdk/react';

const apiUrl = location.origin + '/agent/langgraph';
globalThis.client = new Client({ apiUrl });
function Chat() {
  const stream = useStream({
    apiUrl,
    assistantId: 'default',
    threadId: location.hash.slice(1) || null,
    fetchStateHistory: true,
    onCustomEvent: () => {},
    onThreadId: (id) => { location.hash = id; },
  });
  globalThis.stream = stream;
  return stream.messages.map(({ id, type, content }) =>
    h('p', { key: id }, type + ': ' + (typeof content === 'string' ? content : content.map(({ text }) => text).join(''))));
}
createRoot(document.body.appendChild(document.createElement('div'))).render(h(Chat));`;

describe("a page of Agent Chat UI's calls", () => {
  before(function () {
    needChromium(this);
  });

  it('is told that it is there, lists threads, says, approves, edits and has answered again', async () => {
    const { app, effects } = actor();
    const { gateway, url, page, problems, texts } = await openChat(AGENT_CHAT, { app });
    expect((await fetch(`${url}/agent/langgraph/info`, { headers: { 'X-Api-Key': 'x' } })).ok).to.equal(true);
    const submit = (input: unknown, options: object = {}) =>
      page.evaluate(([given, more]) => void (globalThis as any).stream.submit(given ?? undefined, more), [
        input,
        options,
      ] as const);
    const RUN = { streamMode: ['values'], streamSubgraphs: true, streamResumable: true };
    const say = (text: string, options: object = {}) => {
      const message = { id: crypto.randomUUID(), type: 'human', content: [{ type: 'text', text }] };
      return submit({ messages: [message], context: { artifact: 1 } }, { ...RUN, ...options });
    };
    await say('now pay done');
    await texts(['human: now pay done', 'ai: now ']);
    await page.waitForFunction(() => (globalThis as any).stream.interrupt !== undefined);
    expect(effects).to.deep.equal([]);
    await submit({}, { command: { resume: { decisions: [{ type: 'approve' }] } } });
    const paid = ['ai: now ', 'tool: {"did":"pay","n":1}', 'ai: [pay: {"did":"pay","n":1}] done '];
    await texts(['human: now pay done', ...paid]);
    expect(effects).to.deep.equal(['pay']);
    await say('hello');
    const before = ['human: now pay done', ...paid];
    await texts([...before, 'human: hello', 'ai: hello ']);
    const place = (type: string) =>
      page.evaluate((kind) => {
        const { stream } = globalThis as any;
        const message = stream.messages.findLast((each: any) => each.type === kind);
        return stream.getMessagesMetadata(message)?.firstSeenState?.parent_checkpoint;
      }, type);
    await page.waitForFunction(() => !(globalThis as any).stream.isLoading);
    await submit(null, { ...RUN, checkpoint: await place('ai') });
    await until(async () => {
      const { messages } = await gateway
        .session(new URL(page.url()).hash.slice(1), { anonymous: true })
        .history();
      return messages.length === 4 && messages[3]!.versions?.length === 2;
    });
    await page.waitForFunction(() => !(globalThis as any).stream.isLoading);
    await texts([...before, 'human: hello', 'ai: hello ']);
    await say('other', { checkpoint: await place('human') });
    await texts([...before, 'human: other', 'ai: other ']);
    const threads: any[] = await page.evaluate(() =>
      (globalThis as any).client.threads.search({ metadata: { graph_id: 'default' }, limit: 100 }),
    );
    expect(threads.map(({ thread_id }) => thread_id)).to.deep.equal([new URL(page.url()).hash.slice(1)]);
    expect(threads[0].values.messages[0].content).to.equal('now pay done');
    expect(problems).to.deep.equal([]);
  });
});

describe('a page of the classic useStream', () => {
  before(function () {
    needChromium(this);
  });

  it('begins a thread, approves after a reload, goes back, and shows each answer once', async () => {
    const { app, effects } = actor();
    const { gateway, page, problems, texts } = await openChat(PAGE, { app });
    const say = (content: string, options: object = {}) =>
      page.evaluate(
        ([text, more]) => {
          const { stream } = globalThis as any;
          stream.submit({ messages: [{ type: 'human', content: text }] }, { streamResumable: true, ...more });
        },
        [content, options] as const,
      );
    await say('hello look bye');
    const first = [
      'human: hello look bye',
      'ai: hello ',
      'tool: {"did":"look","n":1}',
      'ai: [look: {"did":"look","n":1}] bye ',
    ];
    await texts(first);
    await say('now pay done');
    await texts([...first, 'human: now pay done', 'ai: now ']);
    await page.waitForFunction(() => (globalThis as any).stream.interrupt !== undefined);
    await page.waitForFunction(() => location.hash !== '');
    await page.reload();
    await texts([...first, 'human: now pay done', 'ai: now ']);
    await page.waitForFunction(() => (globalThis as any).stream.interrupt !== undefined);
    expect(effects).to.deep.equal(['look']);
    await page.evaluate(() => {
      const resume = { decisions: [{ type: 'approve' }] };
      (globalThis as any).stream.submit(undefined, { command: { resume } });
    });
    const paid = [
      ...first,
      'human: now pay done',
      'ai: now ',
      'tool: {"did":"pay","n":1}',
      'ai: [pay: {"did":"pay","n":1}] done ',
    ];
    await texts(paid);
    expect(effects).to.deep.equal(['look', 'pay']);
    const checkpoint = await page.evaluate(() => {
      const { stream } = globalThis as any;
      const message = stream.messages.findLast(({ type }: any) => type === 'human');
      return stream.getMessagesMetadata(message)?.firstSeenState?.parent_checkpoint;
    });
    await say('other', { checkpoint });
    await texts([...first, 'human: other', 'ai: other ']);
    const threadId = new URL(page.url()).hash.slice(1);
    const { messages } = await gateway.session(threadId, { anonymous: true }).history();
    expect(messages).to.have.length(4);
    expect(messages[2]!.versions).to.have.length(2);
    expect(problems).to.deep.equal([]);
  });
});
