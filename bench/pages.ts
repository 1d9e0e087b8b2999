import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { createGateway, defineApp, tool } from '../server/index.js';
import { uiMessageStreamPlugin } from '../server/plugins/ui-message-stream/index.js';
import { openPage } from '../test/support/browser.js';
import { closeAll, closeShared } from '../test/support/resources.js';

type Page = Awaited<ReturnType<typeof openPage>>['page'];

/**
 * What pages of chat are in bytes, show, and take of a processor for the same answer: `npx tsx bench/pages.ts NAME=FOLDER...`. Each folder is the
 * production build of a page that asks `/agent`, or `/api/chat` by `useChat`. PICTURES names a folder for a picture of each.
 */
const PAGES = process.argv.slice(2).map((each) => each.split('=') as [name: string, folder: string]);
const ROUNDS = 3;
const PIECE_MS = 20;
const SETTLE_MS = 2000;

const ANSWER = `# Where the time goes

An answer passes **four places** before it is read, and [each](https://example.com) takes its part:

1. the model, which writes it
2. the app, which passes it on
3. the log, which keeps it

| place | median | longest |
|---|:-:|--:|
| model | 410 ms | 1.9 s |
| log | 0.2 ms | 5 ms |

- [x] measured
- [ ] mended

\`\`\`ts
for await (const text of client.send('main', 'Hello').text) {
  process.stdout.write(text); // as it comes
}
\`\`\`

${'The log is written before anybody reads, so that what was seen is there after a restart. '.repeat(12)}

The end.`;

const PIECES = ANSWER.match(/\s*\S+/g)!;

const app = defineApp({
  tools: { look: tool({ schema: z.object({ up: z.string() }), handler: ({ up }) => ({ found: up }) }) },
  async *run(turn) {
    yield { type: 'reasoning_delta', delta: 'I look it up first.' };
    await turn.callTool('look', { up: 'places' });
    for (const piece of PIECES) {
      await delay(PIECE_MS);
      yield piece;
    }
  },
} as Parameters<typeof defineApp>[0]);

const TYPES: Readonly<Record<string, string>> = {
  ...{ '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.txt': 'text/plain' },
  ...{ '.svg': 'image/svg+xml', '.woff2': 'font/woff2', '.wasm': 'application/wasm' },
};

/** A site with one of the pages, and a gateway of its own. */
async function serve(folder: string) {
  const gateway = createGateway({
    ...{ app, embedded: true, auth: { type: 'none' } as const },
    // The browser has the machine.
    limits: { loopDelayMs: 1e9 },
  }).use(uiMessageStreamPlugin({ path: '/api/chat' }));
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url!, 'http://localhost');
    if (pathname.startsWith('/agent'))
      return gateway.handleRequest(request, response, { basePath: '/agent' });
    if (pathname.startsWith('/api')) return gateway.handleRequest(request, response);
    const path = join(folder, pathname === '/' ? 'index.html' : decodeURIComponent(pathname));
    if (!existsSync(path)) return response.writeHead(404).end();
    return response.setHeader('content-type', TYPES[extname(path)] ?? '').end(readFileSync(path));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await gateway.close();
    },
  };
}

/** What a page shows of the answer, by what is in it. */
const shownBy = (page: Page): Promise<Record<string, boolean>> =>
  page.evaluate(() => {
    const [headings, table, tasks, code, cells, paragraphs] = [
      ...[':is(h1, h2, h3):not(.unseen)', 'table td', 'li input[type=checkbox]', 'pre *', 'td', 'p'],
    ].map((selector) => [...document.querySelectorAll<HTMLElement>(selector)]);
    const colours = new Set(code!.map((it) => getComputedStyle(it).color));
    const end = paragraphs!.find((it) => it.textContent === 'The end.');
    return {
      headings: headings!.some((it) => it.textContent === 'Where the time goes'),
      table: table!.length > 0,
      'columns aligned': cells!.some((it) => /right|end/.test(getComputedStyle(it).textAlign)),
      'code in colours': colours.size > 2,
      'code to copy': [...document.querySelectorAll('button')].some((it) =>
        /copy/i.test(`${it.ariaLabel} ${it.title} ${it.textContent}`),
      ),
      tasks: tasks!.length > 0,
      'tool called': /look/.test(document.body.innerText),
      'end in sight': end !== undefined && end.getBoundingClientRect().bottom < innerHeight,
    };
  });

async function measure(page: Page, folder: string, url: string, picture: string | undefined) {
  const sizes = { first: 0, later: 0 };
  let part: keyof typeof sizes = 'first';
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (/\.(?:js|css)$/.test(pathname))
      sizes[part] += gzipSync(readFileSync(join(folder, decodeURIComponent(pathname))), { level: 9 }).length;
  });
  await page.goto(url);
  const box = page.locator('textarea, [contenteditable=true]').first();
  await box.waitFor();
  // A stream that is open never leaves the network idle.
  await delay(SETTLE_MS);
  part = 'later';
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  const cpu = async () => {
    const { metrics } = await devtools.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration')!.value * 1000;
  };
  await box.fill('Where does the time go?');
  await box.press('Enter');
  await page.getByText('An answer passes').waitFor();
  const before = await cpu();
  await page.getByText('The end.', { exact: true }).waitFor();
  const each = ((await cpu()) - before) / PIECES.length;
  await delay(SETTLE_MS);
  const shown = await shownBy(page);
  if (picture) await page.screenshot({ path: picture });
  return { ...sizes, each, shown };
}

const median = (all: readonly number[]) => [...all].sort((a, b) => a - b)[all.length >> 1]!;
const kb = (bytes: number) => `${(bytes / 1000).toFixed(1)} kB`;
console.log(`${PIECES.length} pieces, one each ${PIECE_MS} ms, ${ROUNDS} rounds in turns`);
const found = new Map<string, Awaited<ReturnType<typeof measure>>[]>();
for (let round = 0; round < ROUNDS; round++)
  for (const [name, folder] of PAGES) {
    const site = await serve(folder);
    const { page } = await openPage('about:blank');
    await page.setViewportSize({ width: 1024, height: 768 });
    const picture = process.env.PICTURES && round === 0 ? `${process.env.PICTURES}/${name}.png` : undefined;
    found.set(name, [...(found.get(name) ?? []), await measure(page, folder, site.url, picture)]);
    await closeAll();
    await site.close();
  }
for (const [name, all] of found) {
  const [{ first, later, shown }] = all as [(typeof all)[0]];
  const without = Object.entries(shown).flatMap(([what, isShown]) => (isShown ? [] : [what]));
  console.log(
    `${name}: ${kb(first)} before the first message, ${kb(later)} later, ${median(all.map(({ each }) => each)).toFixed(2)} ms a piece` +
      (without.length > 0 ? `; not shown: ${without.join(', ')}` : ''),
  );
}
await closeShared();
