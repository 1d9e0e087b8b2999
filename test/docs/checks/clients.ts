import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { expect } from 'chai';
import { renderToString } from 'react-dom/server';
import { clientModule } from '../../../server/codegen/client-module.js';
import { fetchCatalogue } from '../../../server/codegen/fetch-catalogue.js';
import { createGateway } from '../../../server/index.js';
import type { Checks } from '../checks.js';
import { pathOf } from '../module.js';
import { mounts } from '../page.js';
import { app, client, gateway, here, watch } from '../world.js';

const said = () => client.send('main', 'Hello').result;

const saidBy = (id: string) => gateway.session('main', { user: { id } }).send('Hello').result;

/** Sends a message whose answer waits for a person. */
async function asked(text: string) {
  for await (const event of client.send('main', text))
    if (event.type === 'input_required' || event.type === 'tool_confirmation_required')
      return [event] as const;
  throw new Error('nothing was asked');
}

/** The pages on clients and sessions. */
export const CLIENTS: Checks = {
  'README.md#2': {
    page: {
      entry: mounts('<App />', `import { App } from 'BLOCK';`),
      see: async (page) => {
        await page.fill('input', 'Hello');
        await page.click('button:text("Send")');
        await page.locator('p:text("Hello") + p:text("Hello")').waitFor();
      },
    },
  },
  'docs/client.md#2': { prints: /You said: Hello|You\s+said:\s+Hello/ },
  'docs/client.md#4': { before: said, prints: /said: [\s\S]*Hello/, endless: true },
  'docs/client.md#7': {
    before: async () => {
      await asked('confirm');
      watch.subscribe(() => {});
      while (watch.getSnapshot().pending.length === 0)
        await new Promise<void>((resolve) => watch.subscribe(() => resolve()));
    },
    after: async () => expect((await client.session('main').state()).pending).to.deep.equal([]),
  },
  'docs/codegen.md#1': {
    before: async (block) => {
      const { code } = await clientModule(await fetchCatalogue(`${here}/agent`));
      writeFileSync(join(dirname(pathOf(block)), 'gateway.gen.ts'), code);
    },
    after: ({ exports }) => expect(exports.id).to.equal(1),
  },
  'docs/data.md#3': { before: () => saidBy('ann') },
  'docs/data.md#4': {
    before: async () => {
      await saidBy('ben');
      await pipeline(gateway.export('main', { user: { id: 'ben' } }), createWriteStream('main.ndjson'));
    },
  },
  'docs/data.md#6': { durable: true, before: () => mkdirSync('backups') },
  'docs/files.md#1': {
    after: async ({ exports }) => {
      const { stopReason } = await exports.ask(
        'What is in it?',
        new File(['text'], 'notes.txt', { type: 'text/plain' }),
      );
      expect(stopReason).to.equal('end');
    },
  },
  'docs/sessions.md#5': { before: said },
  'docs/sessions.md#6': { before: said, prints: /"role":"user"[\s\S]*message_end/ },
  'docs/methods.md#2': { prints: /0 Change 1/ },
  'docs/methods.md#4': { prints: /Change 1 1\nChange 2 2\nChange 3 3/ },
  'docs/sessions.md#1': { prints: /message_end/ },
  'docs/notices.md#5': { before: said },
  'docs/sessions.md#2': { before: said },
  'docs/sessions.md#3': {
    before: async () => {
      await said();
      await client.send('old', 'Hello').result;
    },
    prints: /main/,
  },
  'docs/types.md#2': { endless: true, prints: /2026-05-01T00:00:00/ },
  'docs/types.md#4': {
    before: async () => {
      const [{ callId }] = await asked('Oslo');
      await client.session('main').respond(callId, { output: { day: '2026-05-17' } });
      await asked('Rome');
    },
    prints: /21/,
  },
  'docs/ui-message-stream.md#2': { before: said },
  'docs/langgraph.md#2': {
    serves: 'docs/langgraph.md#1',
    page: {
      entry: mounts('<Chat token="a-token" />', `import { Chat } from 'BLOCK';`),
      see: async (page) => {
        const say = async (text: string) => {
          await page.fill('input', text);
          await page.press('input', 'Enter');
        };
        await say('Hello');
        await page.getByText('ai: You said: Hello').waitFor();
        await say('confirm');
        await page.getByText('Allow erase?').waitFor();
        await page.reload();
        await page.getByText('ai: You said: Hello').waitFor();
        await page.getByRole('button', { name: 'Yes' }).click();
        await page.getByText('Allow erase?').waitFor({ state: 'detached' });
        await say('Bye');
        await page.getByText('ai: You said: Bye').waitFor();
      },
    },
  },
  'docs/langgraph.md#3': { serves: 'docs/langgraph.md#1', prints: /^2$/m },
  'docs/langgraph.md#4': { serves: 'docs/langgraph.md#1', prints: /Hello again/ },
  'docs/tanstack.md#2': { serves: 'docs/tanstack.md#1', prints: /type: 'text'/ },
  'docs/tanstack.md#3': { serves: 'docs/tanstack.md#1', prints: /type: 'text'/ },
  'docs/tanstack.md#4': { prints: /type: 'text'/ },
  'docs/unix-socket.md#2': {
    before: () =>
      createGateway({
        app,
        embedded: true,
        socketPath: `${process.env.XDG_RUNTIME_DIR}/agent/gateway.sock`,
        auth: { type: 'token', token: process.env.GATEWAY_TOKEN! },
      }).start(),
    prints: /gatewayId/,
  },
  'docs/protocol.md#1': {
    before: said,
    page: {
      see: async (_page, prints) => {
        await prints(/connected/);
        void client.send('main', 'Hello again');
        await prints(/message_end/);
      },
    },
  },
  'docs/getting-started.md#5': {
    page: {
      see: (_page, prints) => prints(/"role":"assistant"/),
    },
  },
  'docs/react.md#1': {
    page: {
      entry: mounts('<App />', `import { App } from 'BLOCK';`),
      see: async (page) => {
        await page.fill('input', 'Hello');
        await page.click('button:text("Send")');
        await page.getByText('You said: Hello').waitFor();
      },
    },
  },
  'docs/react.md#2': {
    before: async () => {
      await said();
      await client.session('main').regenerate().result;
    },
    page: {
      entry: mounts(
        '<GatewayProvider client={client}><All /></GatewayProvider>',
        `import { Versions } from 'BLOCK';
import { createClient } from 'agent-session-gateway/client';
import { GatewayProvider, useSession } from 'agent-session-gateway/client/react';
const client = createClient({ baseUrl: '/agent' });
const All = () => <>{useSession('main').messages.map((message) => <Versions key={message.id} id="main" message={message} />)}</>;`,
      ),
      see: async (page) => {
        await page.getByText('2 of 2').waitFor();
        await page.click('button:enabled:text("‹")');
        await page.getByText('1 of 2').waitFor();
      },
    },
  },
  'docs/react.md#3': {
    before: () => asked('confirm'),
    page: {
      entry: mounts(
        '<GatewayProvider client={client}><Unanswered id="main" /></GatewayProvider>',
        `import { Unanswered } from 'BLOCK';
import { createClient } from 'agent-session-gateway/client';
import { GatewayProvider } from 'agent-session-gateway/client/react';
const client = createClient({ baseUrl: '/agent' });`,
      ),
      see: (page) => page.locator('b:text-is("1")').waitFor(),
    },
  },
  'docs/react.md#4': {
    before: said,
    after: async ({ exports }) => {
      const html = renderToString(exports.tree(await exports.load('a-token')));
      expect(html).to.equal('<p>2<!-- --> messages</p>');
    },
  },
  'docs/react.md#6': {
    page: {
      entry: mounts(
        '<GatewayProvider client={client}><AddTask /></GatewayProvider>',
        `import { AddTask } from 'BLOCK';
import { createClient } from 'agent-session-gateway/client';
import { GatewayProvider } from 'agent-session-gateway/client/react';
const client = createClient({ baseUrl: '/agent' });`,
      ),
      see: async (page) => {
        await page.click('button');
        await page.getByText('Milk').waitFor();
      },
    },
  },
};
