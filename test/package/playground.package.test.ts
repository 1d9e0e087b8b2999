import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import {
  answers,
  CUTS,
  counted,
  cutInAnswers,
  expectInert,
  expectToFit,
  expectWhole,
  exported,
  HOSTILE,
  logOf,
  openPlayground,
  said,
  say,
  show,
  watch,
} from '../e2e/playground-page.js';
import { needChromium } from '../support/browser.js';
import { type Program, runCommand } from '../support/program.js';
import { type Installed, installPackage } from './installed.js';

const DESK = { width: 1360, height: 850 };
const PHONE = { width: 390, height: 844 };

interface Demo {
  readonly program: Program;
  readonly url: string;
  readonly token: string;
  readonly guest: string;
}

describe('the playground of the packed package', () => {
  let installed: Installed;

  before(async function () {
    needChromium(this);
    installed = await installPackage();
    // Nodes before 22.13 have no SQLite of their own.
    await installed.install('libsql');
  });
  after(() => installed?.remove());

  /** The demo as `npx` runs it. */
  async function startDemo(...args: readonly string[]): Promise<Demo> {
    const program = runCommand('npx', {
      args: ['--no-install', 'agent-session-gateway', 'demo', '--port', '0', ...args],
      cwd: installed.project,
      env: { npm_config_loglevel: 'error', NODE_OPTIONS: '', GATEWAY_TOKEN: '', GATEWAY_DB: '' },
      group: true,
    });
    const [, url, token] = await program.prints(/^ {2}Open (http\S+)\/#token=(\S+)$/m);
    const [, guest] = await program.prints(/^ {2}guest token +(\S+)/m);
    return { program, url: url!, token: token!, guest: guest! };
  }

  async function open(url: string, token: string): Promise<{ page: Page; problems: string[] }> {
    const opened = await openPlayground(`${url}/#token=${token}`);
    await opened.page.setViewportSize(DESK);
    await opened.page.getByLabel('Message', { exact: true }).waitFor();
    return opened;
  }

  /** Where SCREENSHOTS names a folder, pictures are put there, for people to look at. */
  async function picture(page: Page, name: string): Promise<void> {
    const folder = process.env.SCREENSHOTS;
    if (!folder) return;
    mkdirSync(folder, { recursive: true });
    await page.screenshot({ path: join(folder, `${name}.png`) });
  }

  it('is cut 20 times in the middle of answers, and loses and doubles nothing', async () => {
    const { url, token } = await startDemo();
    const { page, problems } = await open(url, token);
    const begun = await cutInAnswers(page);
    await picture(page, 'desk-cut');
    await expectWhole(page, { url, token }, begun, CUTS);
    await show(page, 'Network');
    expect(await page.getByRole('button', { name: 'Kill the server' }).count()).to.equal(0);
    expect(problems).to.deep.equal([]);
  });

  it('kills the server by its own button in the middle of an answer; it is back by itself, and nothing is lost or doubled', async () => {
    const { program, url, token, guest } = await startDemo('--db', 'killed.db');
    const { page, problems } = await open(url, token);
    await say(page, 'weather in Oslo');
    await answers(page, 1);
    await say(page, 'story');
    await page.locator('.growing').waitFor();
    await show(page, 'Network');
    const before = await counted(page, 'delivered');
    await page.waitForFunction(
      (seen) => Number(document.querySelector('[data-counter="delivered"]')!.textContent) > seen + 5,
      before,
    );
    await page.getByRole('button', { name: 'Kill the server' }).click();
    await program.prints(/Killed from the playground; starting again\.[\s\S]*Started again\. http/);
    await page.locator('.outcome', { hasText: /lost/i }).waitFor();
    await say(page, 'weather in Rome');
    await said(page, 'in Rome,').waitFor();
    await page.locator('.growing').waitFor({ state: 'detached' });
    await picture(page, 'desk-killed');
    const log = await logOf(url, token);
    await page.waitForFunction(
      (head) => Number(document.querySelector('[data-counter="delivered"]')!.textContent) >= head,
      log.length,
    );
    expect([await counted(page, 'lost'), await counted(page, 'doubled')]).to.deep.equal([0, 0]);
    expect(await exported(page)).to.deep.equal(log);

    const other = await open(url, guest);
    await show(other.page, 'Network');
    await other.page.getByRole('button', { name: 'Kill the server' }).click();
    await other.page.getByRole('alert').getByText('Only an admin kills the server').waitFor();
    expect([...problems, ...other.problems]).to.deep.equal([]);
    expect(await program.kill('SIGTERM')).to.be.oneOf([0, 'SIGTERM', 143]);
  });

  it('asks again after a reload and in a second tab, shows hostile text as text, refuses a guest with a hint, and fits a phone', async () => {
    const { url, token, guest } = await startDemo();
    const { page, problems } = await open(url, token);
    await say(page, 'delete report.txt');
    const card = (tab: Page) => tab.getByRole('region', { name: 'Confirm delete' });
    await card(page).waitFor();
    await page.reload();
    await card(page).getByText('Delete report.txt?').waitFor();
    const second = await page.context().newPage();
    watch(second, new URL(url).host, problems);
    await second.goto(`${url}/#token=${token}`);
    await card(second).getByRole('button', { name: 'Approve' }).click();
    for (const tab of [page, second]) await said(tab, 'Done: report.txt is gone (not really).').waitFor();
    await second.close();

    await say(page, HOSTILE);
    await said(page, 'a long answer; interrupt it').waitFor();
    await page.locator('.growing').waitFor({ state: 'detached' });
    await expectInert(page);
    await picture(page, 'desk-hostile');

    await page.setViewportSize(PHONE);
    for (const view of ['Chat', 'Timeline', 'Network', 'Calls', 'Schedules', 'API']) {
      await show(page, view);
      await expectToFit(page, view);
      await picture(page, `phone-${view.toLowerCase()}`);
    }

    const other = await open(url, guest);
    await show(other.page, 'Calls');
    const method = other.page.locator('.method', { hasText: 'Another method' });
    await method.locator('summary').click();
    await method.getByLabel('Path').fill('tasks:admin:archive');
    await method.getByLabel('Value').fill('{ "before": "2026-01-01" }');
    await method.getByRole('button', { name: 'Call' }).click();
    const refusal = await method.getByRole('alert').textContent();
    expect(refusal).to.match(/^GUARD_DENIED .*You need another role to .*\. Use another token/);
    const create = other.page.locator('.method', { hasText: 'tasks:create' });
    await create.locator('summary').click();
    await create.getByRole('button', { name: 'Call' }).click();
    await create.locator('[aria-invalid="true"]').waitFor();
    await create.getByText(/expected string/).waitFor();
    await picture(other.page, 'desk-guest');
    expect([...problems, ...other.problems]).to.deep.equal([]);
  });
});
