import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { z } from 'zod';
import { type Application, createGateway, defineApp, method, tool } from '../../server/index.js';
import { type PlaygroundOptions, playgroundPlugin } from '../../server/plugins/playground/index.js';
import { needChromium } from '../support/browser.js';
import { listenOnLoopback } from '../support/host-server.js';
import { buildPlayground } from '../support/playground.js';
import { closeLater } from '../support/resources.js';
import {
  answers,
  expectInert,
  expectToFit,
  HOSTILE,
  messageBox,
  openPlayground,
  said,
  say,
  show,
} from './playground-page.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Says back what it is told, and shows all that an answer may hold. */
const everything = defineApp({
  description: 'Shows all that there is',
  tools: {
    move: tool({
      description: 'Moves something',
      schema: z.object({ what: z.string(), far: z.number() }),
      confirm: true,
      handler: async ({ what }, { progress }) => {
        progress(1, 2, 'half way');
        return { what };
      },
    }),
    fail: tool({
      schema: z.object({}),
      handler: () => {
        throw new Error('it went wrong');
      },
    }),
  },
  async *run(turn) {
    if (turn.text === 'ask') {
      const { name, age } = (await turn.ask({
        name: 'who',
        payload: { why: 'To greet you' },
        schema: z.object({ name: z.string().min(2), age: z.number().int(), kind: z.enum(['cat', 'dog']) }),
      })) as { name: string; age: number };
      yield `Hello ${name}, ${age}`;
      return;
    }
    if (turn.text === 'fail') throw new Error('no');
    if (turn.text === 'tool') {
      yield { type: 'reasoning_delta', delta: 'Let me **think**' };
      await turn.callTool('fail', {}).catch(() => {});
      turn.data('weather', { sky: 'blue' });
      yield 'Done.';
      return;
    }
    yield turn.text;
  },
} as Parameters<typeof defineApp>[0]) as Application;

async function start(options: PlaygroundOptions = { path: '/' }, app: Application = everything) {
  const gateway = createGateway({
    port: 0,
    app,
    auth: { type: 'none' },
    // Some tests leave a question open.
    limits: { drainMs: 200 },
    methods: {
      count: method({
        schema: z.object({ to: z.number().int() }),
        handler: async function* ({ to }) {
          for (let at = 1; at <= to; at++) {
            await delay(1);
            yield { at };
          }
        },
      }),
    },
  }).use(playgroundPlugin(options));
  closeLater(gateway, (it) => it.close());
  return { gateway, url: (await gateway.start()).url! };
}

/** What axe finds, of whatever weight. */
async function findings(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { violations } = await (globalThis as any).axe.run();
    return violations.map(
      ({ id, nodes }: any) => `${id}: ${nodes.map(({ html }: any) => html.slice(0, 120)).join(' | ')}`,
    );
  });
}

describe('the playground', () => {
  before(async function () {
    needChromium(this);
    await buildPlayground();
  });

  it('shows hostile markdown as text, and does nothing of what it says', async () => {
    const { url } = await start();
    const { page, problems } = await openPlayground(`${url}/`);
    await say(page, HOSTILE);
    await answers(page, 1);
    await expectInert(page);
    expect(problems).to.deep.equal([]);
  });

  it('renders markdown', async () => {
    const { url } = await start();
    const { page, problems } = await openPlayground(`${url}/`);
    await say(
      page,
      '# Title\n\n**bold** *em* ~~no~~ `code` [link](https://example.com)\n\n1. one\n2. two\n   - inner\n\n- [x] done\n\n> quoted\n\n```js\nlet a = 1 < 2;\n```\n\n| h |\n|---|\n| cell |\n\nline  \nbreak &amp; &copy; \\*',
    );
    await answers(page, 1);
    const html = await page.locator('.message.assistant .markdown').innerHTML();
    for (const part of [
      '<h3 dir="auto">Title</h3>',
      '<strong>bold</strong> <em>em</em> <del>no</del> <code>code</code>',
      '<li>inner</li>',
      '<blockquote dir="auto"><p dir="auto">quoted</p></blockquote>',
      'let a = 1 &lt; 2;',
      '<td>cell</td>',
      'line<br>break &amp; © *',
    ])
      expect(html).to.contain(part);
    expect(problems).to.deep.equal([]);
  });

  it('asks by a form of the question’s schema', async () => {
    const { url } = await start();
    const { page, problems } = await openPlayground(`${url}/`);
    await say(page, 'ask');
    const card = page.getByRole('region', { name: 'Question who' });
    await card.getByLabel('name').fill('A');
    await card.getByLabel('age').fill('7');
    await card.getByLabel('kind').selectOption('cat');
    await card.getByRole('button', { name: 'Answer' }).click();
    await card.locator('[aria-invalid="true"]').waitFor();
    await card.getByLabel('name').fill('Ada');
    await card.getByRole('button', { name: 'Answer' }).click();
    await said(page, 'Hello Ada, 7').waitFor();
    expect(problems).to.deep.equal([]);
  });

  it('streams the items of a method', async () => {
    const { url } = await start();
    const { page, problems } = await openPlayground(`${url}/`);
    await show(page, 'Methods');
    const count = page.locator('.method', { hasText: 'count' });
    await count.locator('summary').click();
    await count.getByLabel('to').fill('3');
    await count.getByRole('button', { name: 'Call' }).click();
    await count.getByText('{"at":3}').waitFor();
    expect(await count.getByRole('figure', { name: 'Items of count' }).textContent()).to.equal(
      '{"at":1}\n{"at":2}\n{"at":3}',
    );
    expect(problems).to.deep.equal([]);
  });

  it('sends a picture and shows it', async () => {
    const { url } = await start();
    const { page, problems } = await openPlayground(`${url}/`);
    const png =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    await page
      .getByRole('region', { name: /^Conversation/ })
      .locator('input[type=file]')
      .setInputFiles({
        name: 'dot.png',
        mimeType: 'image/png',
        buffer: Buffer.from(png, 'base64'),
      });
    await page.getByRole('list', { name: 'Files of the next message' }).getByText('dot.png').waitFor();
    await messageBox(page).fill('look');
    // Not before the picture is there.
    await page.getByRole('button', { name: 'Send' }).click();
    const image = page.getByRole('img', { name: 'dot.png' });
    await image.waitFor();
    expect(await image.evaluate((it) => (it as HTMLImageElement).naturalWidth)).to.equal(1);
    expect(problems).to.deep.equal([]);
  });

  for (const scheme of ['light', 'dark'] as const) {
    for (const [device, viewport] of [
      ['a desk', { width: 1360, height: 850 }],
      ['a phone', { width: 360, height: 740 }],
    ] as const) {
      it(`can be used by everybody, on ${device}, ${scheme}`, async () => {
        const { url } = await start();
        const { page, problems } = await openPlayground(`${url}/`);
        await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
        await page.setViewportSize(viewport);
        await page.getByRole('heading', { name: 'default' }).waitFor();
        expect(await findings(page)).to.deep.equal([]);
        for (const text of ['tool', 'fail', '# Title\n\n`code` > text', 'ask']) await say(page, text);
        await page.getByRole('region', { name: 'Question who' }).waitFor();
        const code = page.getByRole('button', { name: 'Code', exact: true });
        await code.click();
        await page.getByRole('region', { name: 'Code: send' }).waitFor();
        expect(await findings(page), 'code').to.deep.equal([]);
        await code.click();
        const busy = page.getByRole('button', { name: /while an answer goes on/ });
        await busy.click();
        await page.getByRole('menuitemradio', { name: 'Steer it' }).waitFor();
        expect(await findings(page), 'menu').to.deep.equal([]);
        await page.keyboard.press('Escape');
        await page.getByRole('button', { name: /^Inbox/ }).click();
        await page.getByRole('region', { name: 'Inbox' }).waitFor();
        expect(await findings(page), 'inbox').to.deep.equal([]);
        await page.keyboard.press('Escape');
        await page.getByRole('button', { name: 'Share…' }).click();
        await page.getByRole('button', { name: 'Make a link' }).waitFor();
        expect(await findings(page), 'share').to.deep.equal([]);
        await page.keyboard.press('Escape');
        // Who asks for less motion is given none, which also means that nothing here is looked at while it fades in.
        expect(await page.evaluate(() => document.getAnimations().length)).to.equal(0);
        expect(await findings(page)).to.deep.equal([]);
        for (const view of ['Timeline', 'Network', 'Methods', 'API']) {
          await show(page, view);
          await page.getByRole('heading', { name: view, exact: true }).waitFor();
          if (view === 'Timeline') await page.getByRole('button', { name: 'Step back' }).click();
          if (view === 'Methods' || view === 'API') await page.locator('.method summary').first().click();
          expect(await findings(page), view).to.deep.equal([]);
          await expectToFit(page, view);
        }
        expect(problems).to.deep.equal([]);
      });
    }
  }

  it('is used with the keyboard alone', async () => {
    const { url } = await start();
    const { page, problems } = await openPlayground(`${url}/`);
    await page.setViewportSize({ width: 1360, height: 850 });
    await page.getByRole('button', { name: 'Hello' }).waitFor();
    const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim() ?? '');
    const press = async (wanted: string) => {
      for (let steps = 0; !(await focused()).startsWith(wanted); steps++) {
        expect(steps, `${wanted} is not reached`).to.be.below(60);
        await page.keyboard.press('Tab');
      }
      await page.keyboard.press('Enter');
    };
    await press('Hello');
    await answers(page, 1);
    await press('Methods');
    await page.getByRole('heading', { name: 'Methods' }).waitFor();
    expect(problems).to.deep.equal([]);
  });

  it('works below a mount, with routes that were moved, and shows only what reads where it is read-only', async () => {
    const gateway = createGateway({
      app: everything,
      auth: { type: 'none' },
      embedded: true,
      extraRoutes: '/_gateway',
    });
    gateway.use(playgroundPlugin({ readOnly: true }));
    const host = await listenOnLoopback((request, response) =>
      gateway.handleRequest(request, response, { basePath: '/deep/agent' }),
    );
    closeLater(gateway, (it) => it.close());
    await gateway.session('main', { anonymous: true }).send('Hello from the host').result;
    const url = `${host}/deep/agent/playground`;
    const { page, problems } = await openPlayground(url);
    await page.locator('.message.assistant', { hasText: 'Hello from the host' }).waitFor();
    expect(page.url()).to.equal(`${url}/`);
    expect(await page.getByRole('button', { name: /Send|Stop|Attach|Open|Close/ }).count()).to.equal(0);
    expect(await page.getByLabel('Message', { exact: true }).count()).to.equal(0);
    await show(page, 'Methods');
    await page.getByText('This gateway has no methods of its own.').waitFor();
    expect(await page.getByRole('button', { name: /Call|Publish/ }).count()).to.equal(0);
    expect(problems).to.deep.equal([]);
  });
});
