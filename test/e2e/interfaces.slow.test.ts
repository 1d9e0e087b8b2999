import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { defineApp } from '../../server/index.js';
import { FrameProxy } from '../plugins/frame-proxy.js';
import {
  actor,
  type ChatInit,
  MAJORS,
  plain,
  STORES,
  startUi,
  textIn,
  type UiGateway,
  userSays,
} from '../plugins/ui-message-stream/fixtures.js';
import { needChromium, openPage } from '../support/browser.js';
import { todays } from '../support/daily.js';
import { Hearing } from '../support/hearing.js';
import { ROOT } from '../support/program.js';
import { as } from '../support/users.js';
import { buildPage, serveBuilt, wordsAndPayments } from './built-page.js';
import { INTERFACES, installInterfaces } from './interfaces/install.js';

const SCREENSHOTS = join(ROOT, '.cache/screenshots');

const CLIENT = pathToFileURL(join(INTERFACES, 'node_modules/@ai-sdk/workflow/dist/client.js')).href;
/** The version of the SDK that the transport is of. */
const seven = MAJORS.find(({ major }) => major === 7)!;

describe('WorkflowChatTransport, as it is', () => {
  let WorkflowChatTransport: new (options: object) => any;
  const { error } = console;

  before(async function () {
    this.timeout(600_000);
    installInterfaces();
    ({ WorkflowChatTransport } = await import(CLIENT));
  });
  // It tells of every cut there.
  beforeEach(() => {
    console.error = () => {};
  });
  afterEach(() => {
    console.error = error;
  });

  /** As our documentation has it. */
  const transport = (url: string, options: object = {}) =>
    new WorkflowChatTransport({
      api: `${url}/api/chat`,
      fetch: (input: string, init: RequestInit) =>
        fetch(input, { ...init, headers: { ...as('alice'), ...(init.headers as object) } }),
      prepareSendMessagesRequest: ({ id, messages, trigger, messageId }: any) => ({
        body: { id, messages, trigger, messageId },
        headers: { 'Content-Type': 'application/json' },
      }),
      ...options,
    });

  const read = async (stream: ReadableStream): Promise<any[]> => {
    const chunks: any[] = [];
    for await (const chunk of stream as any) chunks.push(chunk);
    return chunks;
  };

  const chat = (ui: UiGateway, url: string, init: ChatInit) =>
    ui.chat(seven, {
      sendAutomaticallyWhen: seven.sdk.lastAssistantMessageIsCompleteWithApprovalResponses,
      transport: transport(url),
      ...init,
    });

  for (const [store, make] of todays(STORES, STORES.length)) {
    it(`has the same chunks, wherever it is cut or ended: ${store}`, async () => {
      const { app, effects } = actor();
      const ui = await startUi({ app, store: make(), limits: { sendsPerSecond: 1000 } });
      const proxy = await FrameProxy.start(ui.url);
      const send = async () =>
        read(
          await transport(proxy.url).sendMessages({
            chatId: 'main',
            messages: [userSays('u1', 'think hello look data where bye')],
            trigger: 'submit-message',
          }),
        );
      const uncut = await send();
      expect(uncut.length).to.be.above(15);
      expect(uncut.at(-1)).to.include({ type: 'finish', finishReason: 'tool-calls' });
      for (const clean of [false, true])
        for (let after = 0; after < uncut.length; after++) {
          proxy.cuts.push({ after, clean });
          expect(await send(), `${clean ? 'ended' : 'cut'} after ${after}`).to.deep.equal(uncut);
        }
      // More often than it takes errors in a row.
      for (let after = 0; after < uncut.length; after++) proxy.cuts.push({ after: 1, clean: true });
      expect(await send()).to.deep.equal(uncut);
      expect(effects).to.deep.equal(['look']);
    });

    it(`is whole after a reload, while it is answered and after that: ${store}`, async () => {
      const { app } = actor();
      const ui = await startUi({ app, store: make() });
      const [message, options] = [userSays('u1', 'hello where bye'), { chatId: 'main' }];
      const sent = await read(
        await transport(ui.url).sendMessages({
          ...options,
          messages: [message],
          trigger: 'submit-message',
        }),
      );
      expect(await read(await transport(ui.url).reconnectToStream(options))).to.deep.equal(sent);
      const { toolCallId } = sent.find(({ toolName }) => toolName === 'where');
      await ui.gateway.session('main', { user: { id: 'alice' } }).respond(toolCallId, { output: 'here' });
      const whole = await read(await transport(ui.url).reconnectToStream(options));
      expect(whole.map(({ delta }) => delta ?? '').join('')).to.equal('hello [where: "here"] bye ');
      expect(whole.at(-1)).to.include({ type: 'finish', finishReason: 'stop' });
      // In the middle of a part its own library makes a beginning up.
      for (const initialStartIndex of [1, whole.findIndex(({ type }) => type === 'tool-input-start')]) {
        const rest = await transport(ui.url, { initialStartIndex }).reconnectToStream(options);
        expect(await read(rest)).to.deep.equal(whole.slice(initialStartIndex));
      }
    });

    it(`goes on after an approval, cut at every chunk of it: ${store}`, async () => {
      const { app, effects } = actor();
      const ui = await startUi({ app, store: make(), limits: { sendsPerSecond: 1000 } });
      const proxy = await FrameProxy.start(ui.url);
      const told = async (id: string, after?: number) => {
        const it = chat(ui, proxy.url, { id });
        await it.sendMessage({ text: 'a pay b' });
        const { approval } = it.messages[1].parts.find(({ type }: any) => type === 'dynamic-tool');
        if (after !== undefined) proxy.cuts.push({ after, clean: after % 2 === 0 });
        await it.addToolApprovalResponse({ id: approval.id, approved: true });
        while (!(it.status === 'ready' && textIn(it.messages[1]).endsWith('b ')))
          await new Promise((resolve) => setImmediate(resolve));
        expect(it.messages).to.have.length(2);
        return plain(it.messages[1].parts).map(({ toolCallId: _, approval: __, ...rest }: any) => rest);
      };
      const uncut = await told('uncut');
      let after = 0;
      while (proxy.ended === after) {
        expect(await told(`cut-${after}`, after), `after ${after}`).to.deep.equal(uncut);
        after += 1;
      }
      expect(after).to.be.above(8);
      expect(effects).to.have.length(1 + after);
    });
  }

  it('is told in one sentence why it is refused, and of no answer at all by an end', async () => {
    const { app } = actor();
    const ui = await startUi({ app });
    const refused = new WorkflowChatTransport({ api: ui.api, fetch: (...to: [any]) => fetch(...to) });
    const send = refused.sendMessages({ chatId: 'main', messages: [], trigger: 'submit-message' });
    const failure = await send.then(read).catch((cause: Error) => cause);
    expect(failure.message).to.match(/^Failed to fetch chat: 401 /);
    const [finish, ...more] = await read(
      await transport(ui.url).reconnectToStream({ chatId: 'nothing-yet' }),
    );
    expect(finish).to.include({ type: 'finish' });
    expect(more).to.deep.equal([]);
  });
});

const jsxOf = (heading: string): string => {
  const page = readFileSync(join(ROOT, 'docs/protocols.md'), 'utf8');
  const [, code] = /^```jsx\n([\s\S]*?)^```$/m.exec(page.slice(page.indexOf(`### ${heading}\n`)))!;
  return code!
    .replace("'https://gateway.example/api/chat'", "'/api/chat'")
    .replace("'https://gateway.example/agent'", 'location.origin');
};

const WAYS = [
  ['useChat', 'Through useChat'],
  ['useSession', "Through the gateway's own hooks"],
] as const;

for (const [way, heading] of todays(WAYS, WAYS.length))
  describe(`the documented page of assistant-ui over ${way}, in Chromium`, () => {
    let folder: string;

    before(async function () {
      needChromium(this);
      this.timeout(600_000);
      installInterfaces();
      const main = `
import { createRoot } from 'react-dom/client';
import { Page } from './page.jsx';
createRoot(document.getElementById('root')).render(<Page id="main" />);
`;
      const installed = (name: string) => join(INTERFACES, 'node_modules', name, 'dist/index.js');
      folder = await buildPage(
        `assistant-ui-${way}`,
        { 'page.jsx': jsxOf(heading), 'main.jsx': main },
        {
          '@assistant-ui/react': installed('@assistant-ui/react'),
          '@assistant-ui/react-ai-sdk': installed('@assistant-ui/react-ai-sdk'),
          '@ai-sdk/react': 'ai-react4',
          ai: 'ai7',
        },
      );
    });

    /** A dot stands behind what grows. */
    const shows = (page: Page, ...texts: string[]) =>
      page.waitForFunction(
        (wanted) =>
          JSON.stringify(
            [...document.querySelectorAll<HTMLElement>('[data-message-id]')].map((it) =>
              it.innerText.replace(/[●\s]+/g, ' ').trim(),
            ),
          ) === wanted,
        JSON.stringify(texts),
      );
    const say = async (page: Page, text: string) => {
      await page.fill('textarea', text);
      await page.click('text=Send');
    };

    it('shows an answer, also after a reload in the middle, and asks for approval', async () => {
      const { app, words, paid } = wordsAndPayments(1);
      const { url } = await serveBuilt(folder, { app });
      const { page, problems } = await openPage(url);
      await page.waitForSelector('textarea');
      await say(page, 'story');
      await shows(page, 'story', 'begin');
      await page.reload();
      await shows(page, 'story', 'begin');
      words[0]!.open();
      await shows(page, 'story', 'begin word-0 end');
      await say(page, 'pay');
      await page.waitForSelector('text=Allow');
      await page.reload();
      await page.waitForSelector('text=Allow');
      mkdirSync(SCREENSHOTS, { recursive: true });
      await page.screenshot({ path: join(SCREENSHOTS, `assistant-ui-${way}.png`) });
      expect(paid).to.deep.equal([]);
      await page.click('text=Allow');
      await shows(page, 'story', 'begin word-0 end', 'pay', 'begin end');
      expect(paid).to.deep.equal([{ sum: 5 }]);
      expect(problems).to.deep.equal([]);
    });

    it('stops an answer for good', async () => {
      const app = defineApp({
        async *run({ signal }) {
          yield 'begin ';
          await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
        },
      });
      const { url, gateway } = await serveBuilt(folder, { app });
      const { page } = await openPage(url);
      await page.waitForSelector('textarea');
      const ended = new Hearing(gateway, 'run:ended');
      await say(page, 'story');
      await shows(page, 'story', 'begin');
      await page.click('text=Stop');
      expect((await ended.nth()).stopReason).to.equal('aborted');
    });
  });
