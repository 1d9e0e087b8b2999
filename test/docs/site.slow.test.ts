import { execFile } from 'node:child_process';
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { PAGE_NAMES } from '../../docs/.vitepress/pages.mjs';
import { needChromium, openPage } from '../support/browser.js';
import { isToday } from '../support/daily.js';
import { listenOnLoopback } from '../support/host-server.js';
import { ROOT } from '../support/program.js';

const run = promisify(execFile);
const SITE = join(ROOT, '.cache/site');
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
};

/** What other systems call it, and the page that one of the first three results has to be of. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'resumable stream': '/concepts#resumable-stream-checkpoint-offset',
  thread: '/concepts#thread-conversation-room',
  checkpoint: '/concepts#resumable-stream-checkpoint-offset',
  'human in the loop': '/concepts#human-in-the-loop-handoff-approval',
  handoff: '/concepts#human-in-the-loop-handoff-approval',
  presence: '/people#show-who-is-there',
  'typing indicator': '/people#show-who-is-there',
  feedback: '/concepts#presence-unread-feedback',
  cron: '/schedules#schedule-a-message',
  'share link': '/people#share-by-a-link',
  'time travel': '/concepts#thread-conversation-room',
  'sticky session': '/concepts#resumable-stream-checkpoint-offset',
};

/** Serves the site as any host of static files does. */
const serveSite = (): Promise<string> =>
  listenOnLoopback((request, response) => {
    const path = join(SITE, new URL(request.url ?? '/', 'http://localhost').pathname);
    const file = [path, `${path}.html`, join(path, 'index.html')].find(
      (name) => existsSync(name) && statSync(name).isFile(),
    );
    if (!file) return response.writeHead(404).end();
    response.setHeader('Content-Type', TYPES[extname(file)] ?? 'text/plain; charset=utf-8');
    return createReadStream(file).pipe(response);
  });

describe('the site of the documentation', () => {
  before(async function () {
    this.timeout(0);
    // Its build takes a minute. Links and headings of the pages themselves are checked each day.
    if (!isToday(0, 3)) return this.skip();
    await run(process.execPath, ['scripts/build-docs.mjs', '--if-changed'], {
      cwd: ROOT,
      maxBuffer: 16 << 20,
    });
  });

  it('has every page, and an index of them for programs that read', () => {
    const index = readFileSync(join(SITE, 'llms.txt'), 'utf8');
    const all = readFileSync(join(SITE, 'llms-full.txt'), 'utf8');
    for (const page of PAGE_NAMES) {
      const name = page.replace(/README\.md$/, 'index.md');
      expect(existsSync(join(SITE, name.replace(/\.md$/, '.html'))), name).to.equal(true);
      // The addresses that the index names are there, as plain Markdown.
      expect(index).to.contain(`](${name})`);
      expect(existsSync(join(SITE, name)), name).to.equal(true);
      expect(all).to.contain(`<!-- docs/${page} -->`);
    }
  });

  it('finds a page by a word, leads to its heading, and asks no other host', async function () {
    needChromium(this);
    const site = await serveSite();
    const { page, problems } = await openPage('about:blank');
    const foreign: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(site) && !/^(data|blob):/.test(request.url()))
        foreign.push(request.url());
    });
    await page.goto(site);
    await page.locator('#local-search button').click();
    await page.locator('#localsearch-input').fill('trustProxy');
    await page.locator('#localsearch-list a').first().click();
    await page.waitForURL(/#/);
    // The address changes before the page does.
    await page.locator('main', { hasText: 'trustProxy' }).waitFor();
    // Words of other systems lead to the page of ours.
    await page.goto(site);
    await page.locator('#local-search button').click();
    for (const [word, wanted] of Object.entries(ELSEWHERE)) {
      await page.locator('#localsearch-input').fill('');
      await page.locator('#localsearch-list a').first().waitFor({ state: 'detached' });
      await page.locator('#localsearch-input').fill(word);
      await page.locator(`#localsearch-list li:nth-child(-n+3) a[href*="${wanted}"]`).first().waitFor();
    }
    await page.goto(`${site}/react#usesessionid-options`);
    expect(await page.locator('#usesessionid-options').count()).to.equal(1);
    await page.goto(`${site}/getting-started`);
    await page.getByRole('link', { name: 'examples/browser-page' }).click();
    await page.getByRole('heading', { name: 'page.ts' }).waitFor();
    expect(foreign).to.deep.equal([]);
    expect(problems).to.deep.equal([]);
  });
});
