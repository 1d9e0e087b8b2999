import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { z } from 'zod';
import { type Application, createGateway, defineApp, method } from '../../server/index.js';
import { type PlaygroundOptions, playgroundPlugin } from '../../server/plugins/playground/index.js';
import { needChromium } from '../support/browser.js';
import { describeDaily } from '../support/daily.js';
import { listenOnLoopback } from '../support/host-server.js';
import { buildPlayground } from '../support/playground.js';
import { closeLater } from '../support/resources.js';
import { answers, openPlayground, said, say, show } from './playground-page.js';

/** Says back what it is told, or asks. */
const talking = defineApp({
  description: 'Says back what it is told',
  suggestions: ['Hello'],
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
    yield turn.text;
  },
} as Parameters<typeof defineApp>[0]) as Application;

async function start(options: PlaygroundOptions = { path: '/' }, app: Application = talking) {
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

describeDaily('the playground', 3, () => {
  before(async function () {
    needChromium(this);
    await buildPlayground();
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
      '<td>cell</td>',
      'line<br>break &amp; © *',
    ])
      expect(html).to.contain(part);
    expect(await page.locator('.message.assistant pre').textContent()).to.equal('let a = 1 < 2;');
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
    await show(page, 'Calls');
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
    await press('Calls');
    await page.getByRole('heading', { name: 'Methods' }).waitFor();
    expect(problems).to.deep.equal([]);
  });

  it('works below a mount, with routes that were moved, and shows only what reads where it is read-only', async () => {
    const gateway = createGateway({
      app: talking,
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
    const conversation = page.locator('.chat, .side');
    expect(await conversation.getByRole('button', { name: /Send|Stop|Attach|Open|Close/ }).count()).to.equal(
      0,
    );
    expect(await page.getByLabel('Message', { exact: true }).count()).to.equal(0);
    await show(page, 'Calls');
    await page.getByText('This gateway has no methods of its own.').waitFor();
    expect(await page.getByRole('button', { name: /Call|Publish/ }).count()).to.equal(0);
    expect(problems).to.deep.equal([]);
  });
});
