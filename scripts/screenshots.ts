// Makes docs/images/states: the playground in each of its states, in both themes and three widths, and the components that `add` copies, as WebP.
//   npm run screenshots [-- what the names begin with]
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Browser, chromium, type Page } from 'playwright-core';
import { z } from 'zod';
import { createGateway, defineApp, method, tool } from '../server/index.js';
import { playgroundPlugin } from '../server/plugins/playground/index.js';
import { buildComponentsPage } from './components-page.js';

const FOLDER = 'docs/images/states';
const WIDTHS = { phone: [390, 780], tablet: [860, 780], desk: [1440, 860] } as const;
const TOKEN = 'the-token-of-the-pictures-of-32-bytes';
const DAY_MS = 86_400_000;

const LONG = `# Where the time goes

An answer passes **four places** before it is read:

1. the model, which writes it
2. the app, which passes it on
3. the log, which keeps it
4. the line to each reader

| place | median | longest |
|---|---|---|
| model | 410 ms | 1.9 s |
| log | 0.2 ms | 5 ms |

\`\`\`ts
for await (const text of client.send('main', 'Hello').text) process.stdout.write(text);
\`\`\`

> The log is written before anybody reads: what you saw is there after a restart.

A word without an end: ${'donaudampfschifffahrtsgesellschaft'.repeat(4)}.`;

const RTL =
  'مرحبا! هذه إجابة تُكتب من اليمين إلى اليسار، وفيها كلمة English في الوسط.\n\n- النقطة الأولى\n- النقطة الثانية';

const app = defineApp({
  description: 'An assistant for the pictures of this page',
  tools: {
    search: tool({
      description: 'Looks something up',
      schema: z.object({ query: z.string() }),
      handler: async ({ query }) => {
        await delay(300);
        return { query, hits: 3 };
      },
    }),
    refund: tool({
      description: 'Pays money back',
      schema: z.object({ order: z.string(), amount: z.number() }),
      confirm: true,
      confirmMessage: ({ order, amount }) => `Refund ${amount} € for order ${order}?`,
      handler: (input) => input,
    }),
  },
  async *run(turn) {
    const say = async function* (text: string, ms: number) {
      for (const word of text.match(/\S+\s*/g) ?? []) {
        await delay(ms, undefined, { signal: turn.signal });
        yield word;
      }
    };
    if (/refund/i.test(turn.text)) {
      yield* say('I found the order. It was delivered late, so a refund is due. ', 5);
      await turn.callTool('refund', { order: '2041', amount: 49 });
      yield 'Done.';
    } else if (/broken/.test(turn.text)) {
      yield 'Let me look. ';
      throw new Error('no');
    } else if (/slow/.test(turn.text)) yield* say(LONG, 4000);
    else if (/long/.test(turn.text)) yield LONG;
    else if (/العربية/.test(turn.text)) yield RTL;
    else {
      yield {
        type: 'reasoning_delta',
        delta: 'They want to know when it arrives. I look the order up first.',
      };
      await delay(250);
      yield* say('Let me look up your order. ', 40);
      await turn.callTool('search', { query: 'order 2041' });
      yield* say(
        'It left the warehouse this morning and arrives on Thursday between 9 and 12. You can follow it by the link in your mail.',
        40,
      );
      turn.usage({ inputTokens: 118, outputTokens: 46, totalTokens: 164 });
    }
  },
} as Parameters<typeof defineApp>[0]);

const find = method({
  description: 'Finds an order by its number',
  schema: z.object({ order: z.string(), withInvoice: z.boolean().optional() }),
  handler: ({ order }) => ({ order, state: 'on its way' }),
});

const box = (page: Page) => page.getByLabel('Message', { exact: true });
const say = async (page: Page, text: string) => {
  await box(page).fill(text);
  await box(page).press('Enter');
};
const answered = (page: Page, many = 1) =>
  page.waitForFunction(
    (count) => document.querySelectorAll('.message.assistant .outcome').length >= count,
    many,
  );
const view = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name, exact: true }).click();

/** States that a page is in before it shows a session: what is done before it opens, and where. */
const BEFORE: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
  loading: (page) => page.route('**/events?*', () => {}),
  'signed-out': async () => {},
};

/** What is done on a page that shows a new session, so that it shows the state. */
const STATES: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
  loading: (page) => page.locator('.messages .skeleton').waitFor(),
  'signed-out': async (page) => {
    await page.getByLabel('Token').fill('another');
    await page.getByRole('button', { name: 'Connect' }).click();
    await page.getByText('The gateway refuses this token.').waitFor();
  },
  empty: async () => {},
  answer: async (page) => {
    await say(page, 'When does my order arrive?');
    await answered(page);
    await page.locator('.message.assistant').hover();
  },
  growing: async (page) => {
    await say(page, 'A slow answer, please');
    await page.locator('.caret').waitFor();
    await box(page).fill('And what does the log cost?');
    await page
      .locator('.composer input[type=file]')
      .setInputFiles({ name: 'invoice.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.4') });
    await page.getByRole('button', { name: 'Remove invoice.pdf' }).waitFor();
    await page.getByRole('button', { name: /while an answer goes on/ }).click();
    await page.getByRole('menuitemradio').first().waitFor();
  },
  waiting: async (page) => {
    await say(page, 'Refund my order, please');
    await page.getByRole('button', { name: 'Approve' }).waitFor();
  },
  error: async (page) => {
    await say(page, 'Something broken');
    await page.locator('.outcome.bad').waitFor();
  },
  offline: async (page) => {
    await say(page, 'When does my order arrive?');
    await answered(page);
    await page.context().setOffline(true);
    await page.getByText('No connection.').waitFor();
    await say(page, 'And where is it now?');
  },
  long: async (page) => {
    await say(page, 'A long answer, please');
    await answered(page);
  },
  'right-to-left': async (page) => {
    await say(page, 'من فضلك أجب باللغة العربية');
    await answered(page);
  },
  code: async (page) => {
    await say(page, 'When does my order arrive?');
    await answered(page);
    await page.getByRole('button', { name: 'Code', exact: true }).click();
  },
  timeline: async (page) => {
    await say(page, 'When does my order arrive?');
    await page.locator('.tool.running, .tool.done').first().waitFor();
    await page.getByRole('banner').getByRole('button', { name: 'Cut connection' }).click();
    await answered(page);
    await view(page, 'Timeline');
    await page.locator('.drawing .outage').waitFor();
  },
  network: async (page) => {
    await say(page, 'When does my order arrive?');
    await answered(page);
    await view(page, 'Network');
  },
  methods: async (page) => {
    await view(page, 'Methods');
    await page.getByRole('heading', { name: 'orders:find' }).waitFor();
  },
  editing: async (page) => {
    await say(page, 'When does my order arrive?');
    await answered(page);
    await page.locator('.message.user').hover();
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByLabel('The message, changed').fill('When does order 2041 arrive?');
  },
  person: async (page) => {
    await say(page, 'Refund my order, please');
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    await page.getByRole('button', { name: 'Take over' }).click();
    await page.getByText('You have control').waitFor();
    await say(page, 'This is Ann. I have sent the money back.');
    await page.locator('.message.assistant', { hasText: 'This is Ann' }).waitFor();
  },
  sharing: async (page) => {
    await say(page, 'When does my order arrive?');
    await answered(page);
    await page.getByRole('button', { name: 'Share…' }).click();
    await page.getByRole('button', { name: 'Make a link' }).click();
    await page.getByLabel('The link, shown this once').waitFor();
  },
  inbox: async (page) => {
    await say(page, 'Refund my order, please');
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    await page.evaluate(() => {
      location.hash = '#/chat/second';
    });
    await page.getByText('An assistant for the pictures').waitFor();
    await say(page, 'When does my order arrive?');
    await page.locator('.tool').first().waitFor();
    await page.evaluate(() => {
      location.hash = '#/chat/third';
    });
    await page.getByRole('button', { name: 'Inbox, 2 new' }).click();
    await page.getByText('1 unread, 1 for you to answer').waitFor();
  },
};

/** A gateway of its own for each picture, so that none shows what another has left. */
const newGateway = () =>
  createGateway({
    port: 0,
    apps: { assistant: app },
    defaultApp: 'assistant',
    auth: { type: 'token', token: TOKEN },
    shareLinks: true,
    methods: { orders: { find } },
    // An app fails on purpose, and questions are left open.
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    limits: { drainMs: 200 },
  }).use(playgroundPlugin({ path: '/' }));

async function open(browser: Browser, width: keyof typeof WIDTHS) {
  const [wide, high] = WIDTHS[width];
  const context = await browser.newContext({
    viewport: { width: wide, height: high },
    ...{ reducedMotion: 'reduce', hasTouch: width === 'phone', locale: 'en-GB' },
  });
  context.setDefaultTimeout(60_000);
  return context.newPage();
}

/** The same picture as WebP, which the browser itself writes. */
const toWebP = (page: Page, png: Buffer) =>
  page.evaluate(
    async (data) => {
      const image = await createImageBitmap(await (await fetch(data)).blob());
      const canvas = new OffscreenCanvas(image.width, image.height);
      canvas.getContext('2d')!.drawImage(image, 0, 0);
      const blob = await canvas.convertToBlob({ type: 'image/webp', quality: 0.72 });
      return [...new Uint8Array(await blob.arrayBuffer())];
    },
    `data:image/png;base64,${png.toString('base64')}`,
  );

/** Days since sessions were used that the pictures show besides. */
const AGES = [1, 3, 40];

/** Has the list show sessions of other days too: the gateway's clock cannot be turned back from here. */
const withDays = (page: Page) =>
  page.route('**/sessions?*', async (route) => {
    const response = await route.fetch().catch(() => undefined);
    const list = await response?.json().catch(() => undefined);
    if (!list) return route.abort().catch(() => {});
    const old = ['Change of address', 'Invoice of March', 'Which size fits?'].map((title, at) => ({
      ...{
        sessionId: `older-${at}`,
        app: 'assistant',
        status: 'idle',
        title,
        preview: 'Thank you, that helped.',
      },
      ...{ messageCount: 4, pending: 0, archived: false },
      ...{ createdAt: Date.now() - DAY_MS * AGES[at]!, updatedAt: Date.now() - DAY_MS * AGES[at]! },
    }));
    return route.fulfill({ response: response!, json: { ...list, sessions: [...list.sessions, ...old] } });
  });

/** The components that `add` copies, on the page of docs/components.md, used by two people. */
async function showComponents(page: Page, save: (page: Page, path: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'components-'));
  cpSync('templates/components', join(folder, 'src/components'), { recursive: true });
  const fileAt = await buildComponentsPage(folder);
  const gateway = createGateway({
    ...{ embedded: true, app, shareLinks: true, limits: { drainMs: 200 } },
    auth: {
      type: 'custom',
      cookies: true,
      validate: (_token, { headers }) => ({
        ...{ valid: true, user: { id: /user=(\w+)/.exec(headers.cookie ?? '')?.[1] ?? 'nobody' } },
      }),
    },
  });
  const server = createServer((request, response) => {
    if (request.url!.startsWith('/agent'))
      return gateway.handleRequest(request, response, { basePath: '/agent' });
    const { type, body } = fileAt(request.url!);
    return response.setHeader('content-type', type).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    await page.setViewportSize({ width: 1180, height: 900 });
    await page.context().addCookies([{ name: 'user', value: 'ann', url }]);
    await page.goto(url);
    const ann = gateway.session('orders', { user: { id: 'ann' } });
    await ann.send('When does my order arrive?').result;
    await say(page, 'When does my order arrive?');
    await page.locator('.runs [data-state=done]').waitFor();
    await ann.send('Refund my order, please').accepted;
    await say(page, 'Refund my order, please');
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    await say(page, 'And where is it now?');
    await page.locator('.runs [data-state=queued]').waitFor();
    await page.getByLabel('User').fill('ben');
    await page.getByRole('button', { name: 'Share', exact: true }).click();
    await page.locator('.share li').waitFor();
    await page.locator('.inbox li').nth(1).waitFor();
    await page.getByRole('heading', { name: 'Support' }).click();
    await save(page, `${FOLDER}/components.webp`);
  } finally {
    await page.context().close();
    server.closeAllConnections();
    server.close();
    await gateway.close();
    rmSync(folder, { recursive: true });
  }
}

execFileSync(process.execPath, ['scripts/build-playground.mjs', '--if-changed'], { stdio: 'inherit' });
const [wanted = ''] = process.argv.slice(2);
mkdirSync(FOLDER, { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--force-color-profile=srgb', '--hide-scrollbars'],
});
try {
  const painter = await browser.newPage();
  const written = new Set<string>(['components.webp']);
  const save = async (page: Page, path: string) =>
    writeFileSync(path, Buffer.from(await toWebP(painter, await page.screenshot({ fullPage: true }))));
  for (const [name, reach] of Object.entries(STATES)) {
    if (!name.startsWith(wanted)) continue;
    for (const width of Object.keys(WIDTHS) as (keyof typeof WIDTHS)[]) {
      const gateway = newGateway();
      const { url } = await gateway.start();
      const page = await open(browser, width);
      await withDays(page);
      await BEFORE[name]?.(page);
      await page.goto(name === 'signed-out' ? `${url}/` : `${url}/#token=${TOKEN}&/chat/main`);
      if (!BEFORE[name]) await page.getByRole('heading', { name: 'assistant' }).waitFor();
      await reach(page);
      await page.mouse.move(0, 0);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        const file = `${name}-${width}-${colorScheme}.webp`;
        await save(page, `${FOLDER}/${file}`);
        written.add(file);
      }
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await page.context().close();
      await gateway.close();
    }
    console.log(name);
  }
  // States that there are no more.
  if (wanted === '')
    for (const file of readdirSync(FOLDER)) if (!written.has(file)) rmSync(`${FOLDER}/${file}`);
  if ('components'.startsWith(wanted)) await showComponents(await open(browser, 'desk'), save);
} finally {
  await browser.close();
}
const sizes = readdirSync(FOLDER).map((name) => statSync(`${FOLDER}/${name}`).size);
console.log(`${sizes.length} pictures, ${Math.round(sizes.reduce((sum, it) => sum + it, 0) / 1024)} KiB`);
