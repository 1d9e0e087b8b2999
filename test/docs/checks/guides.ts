import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { blocksOf } from '../../support/pages.js';
import type { Checks } from '../checks.js';
import { answers } from '../gateways.js';
import { pathOf } from '../module.js';
import { mounts } from '../page.js';
import { client } from '../world.js';
import { proxies } from './hosts.js';

const REACT = 'docs/guides/react-page.md';
const RENDERING = 'docs/guides/server-rendering.md';

const importBlock = (page: string, at: number): Promise<any> =>
  import(pathToFileURL(pathOf(blocksOf(page)[at - 1]!)).href);

/** The page as the guide's server renders it. */
async function rendered(): Promise<string> {
  await client.send('main', 'Hello').result;
  const { stateOf } = await importBlock(RENDERING, 1);
  const { html } = await importBlock(RENDERING, 2);
  const made = html(await stateOf({ id: 'ada', roles: ['admin'] }));
  expect(made).to.contain('<li>You said: Hello </li>').and.to.contain('type="application/json"');
  return made.replace('<script type="module" src="/page.js"></script>', '');
}

/** The guides. */
export const GUIDES: Checks = {
  // One of its apps needs the other one.
  'docs/children.md#1': {
    after: async ({ exports }) => {
      expect(await answers(exports.gateway)).to.equal('I asked around. Three sources on Hello.');
      await exports.gateway.close();
    },
  },
  // Its app waits for a person.
  'docs/deploys.md#1': { after: () => {} },
  // It sleeps for a day.
  'docs/schedules.md#2': { after: () => {} },
  // Its app waits for a person each time.
  'docs/concepts.md#1': { prints: /tool_confirmation_result[\s\S]*message_end/, after: () => {} },
  [`${REACT}#2`]: { after: proxies },
  [`${REACT}#3`]: {
    serves: `${REACT}#1`,
    page: {
      entry: mounts('<App />', `import App from 'BLOCK';`),
      see: async (page) => {
        const say = async (text: string) => {
          await page.fill('input', text);
          await page.click('button:text("Send")');
        };
        await say('Hello');
        await page.getByText('You said: Hello').waitFor();
        await say('delete notes.txt');
        await page.getByRole('button', { name: 'Allow' }).waitFor();
        await page.reload();
        await page.getByRole('button', { name: 'Allow' }).click();
        await page.getByText('notes.txt is gone.').waitFor();
        await say('delete more.txt');
        await page.getByRole('button', { name: 'Stop' }).click();
        await page.getByText('stopped').waitFor();
      },
    },
  },
  [`${RENDERING}#1`]: {
    after: async ({ exports }) => {
      await client.send('main', 'Hello').result;
      const { messages } = await exports.stateOf({ id: 'ada' });
      expect(messages.map(({ role }: { role: string }) => role)).to.deep.equal(['user', 'assistant']);
    },
  },
  [`${RENDERING}#3`]: {
    page: {
      body: rendered,
      see: async (page) => {
        await page.getByText('You said: Hello').waitFor();
        await client.send('main', 'Bye').result;
        await page.getByText('You said: Bye').waitFor();
      },
    },
  },
  'docs/platforms.md#1': {
    after: async ({ exports }) => {
      const { clientFor } = exports;
      const phone = clientFor({ load: async () => 'a-token', renew: async () => 'another-token' });
      expect((await phone.send('main', 'Hello').result).stopReason).to.equal('end');
      phone.disconnect();
    },
  },
  'docs/guides/identity-providers.md#8': {
    after: async ({ exports }) => {
      const { clientOf } = exports;
      const page = clientOf({ getIdToken: async () => 'a-token' });
      expect((await page.send('main', 'Hello').result).stopReason).to.equal('end');
      page.disconnect();
    },
  },
  'docs/guides/from-usechat.md#1': {
    after: async ({ exports }) => {
      const messages = [{ id: '1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }];
      const request = new Request('http://localhost/', {
        method: 'POST',
        body: JSON.stringify({ messages }),
      });
      expect(await (await exports.POST(request)).text()).to.contain('Hello from the model.');
    },
  },
  'docs/guides/from-tanstack-ai.md#2': {
    serves: 'docs/guides/from-tanstack-ai.md#1',
    prints: /Hello from the model/,
  },
  'docs/guides/from-langgraph-platform.md#2': {
    serves: 'docs/guides/from-langgraph-platform.md#1',
    prints: /You said: Hello/,
  },
  'docs/guides/from-ably-ai-transport.md#2': {
    serves: 'docs/guides/from-ably-ai-transport.md#1',
    prints: /answer [\s\S]*Hello from the model/,
  },
  'docs/guides/from-ably-ai-transport.md#3': {
    serves: 'docs/guides/from-ably-ai-transport.md#1',
    prints: /here [\s\S]*Ann/,
  },
  'docs/guides/from-cloudflare-agents.md#3': {
    serves: 'docs/guides/from-cloudflare-agents.md#1',
    prints: /2 schedules/,
  },
  'docs/guides/from-cloudflare-agents.md#2': {
    prints: /the model[\s\S]*id: 1[\s\S]*'Greetings'/,
  },
  'docs/guides/from-socket-io.md#2': { prints: /You \s*said: \s*Hello \s*Ada/ },
};
