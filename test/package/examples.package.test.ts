import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { needChromium, openPage } from '../support/browser.js';
import { isToday } from '../support/daily.js';
import { developedWith } from '../support/developed-with.js';
import { freePort } from '../support/free-port.js';
import { type Program, ROOT, runCommand } from '../support/program.js';
import { packPackage } from './installed.js';

const OWN = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
/** What running an example in its folder leaves there. */
const MADE = new Set(['node_modules', 'dist', '.next', 'next-env.d.ts', 'package-lock.json']);

/** An example in a folder of its own, installed as its readers do. */
class Example {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async install(name: string, tarball: string, into: string): Promise<Example> {
    const folder = join(into, name);
    const source = join(ROOT, 'examples', name);
    cpSync(source, folder, { recursive: true, filter: (path) => !MADE.has(basename(path)) });
    const file = join(folder, 'package.json');
    const manifest = JSON.parse(readFileSync(file, 'utf8'));
    expect(manifest.dependencies['agent-session-gateway']).to.equal(`^${OWN.version}`);
    manifest.dependencies['agent-session-gateway'] = `file:${tarball}`;
    writeFileSync(file, JSON.stringify(manifest));
    const example = new Example(folder);
    await example.succeeds('install', '--prefer-offline', '--no-audit', '--no-fund');
    return example;
  }

  npm(args: readonly string[], env: Readonly<Record<string, string>> = {}): Program {
    const quiet = { npm_config_loglevel: 'error', NODE_OPTIONS: '', NEXT_TELEMETRY_DISABLED: '1' };
    return runCommand('npm', { args, cwd: this.#folder, group: true, env: { ...quiet, ...env } });
  }

  async succeeds(...args: readonly string[]): Promise<void> {
    const program = this.npm(args);
    expect(await program.exited, program.output).to.equal(0);
  }
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message').fill(text);
  await page.getByLabel('Message').press('Enter');
}

/** Talks, reloads, refuses, queues and stops. */
async function converse(page: Page): Promise<void> {
  const answer = (text: string) => page.locator('li.assistant:not(.growing)', { hasText: text });
  await page.getByText('online').waitFor();
  await say(page, 'Hello');
  await answer('You said: Hello').waitFor();
  await page.reload();
  await answer('You said: Hello').waitFor();
  await say(page, 'delete a.txt');
  const question = page.getByRole('group').filter({ hasText: 'Delete a.txt?' });
  await question.getByRole('button', { name: 'Deny' }).click();
  await answer('a.txt stays.').waitFor();
  await say(page, Array(400).fill('long').join(' '));
  await page.locator('li.growing', { hasText: 'You said: long' }).waitFor();
  await say(page, 'after it');
  await page.locator('li.user', { hasText: 'after it (waits for its turn)' }).waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await answer('aborted').waitFor();
  await answer('You said: after it').waitFor();
  // Next.js has one of its own, for screen readers.
  expect(await page.locator('p[role=alert]').count()).to.equal(0);
}

describe('examples that are installed by themselves', () => {
  const folder = mkdtempSync(join(tmpdir(), 'asg-examples-'));
  let tarball: string;

  before(async function () {
    needChromium(this);
    tarball = await packPackage(folder);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const [number, name] of ['vue', 'svelte'].entries()) {
    if (!isToday(number, 3)) continue;
    it(`${name} builds, and talks to its agent behind the proxy of Vite`, async () => {
      const example = await Example.install(name, tarball, folder);
      await example.succeeds('run', 'build');
      const agent = example.npm(['run', 'agent', '--', '--port', '0']);
      const [, agentUrl] = await agent.prints(/^ {2}URL +(http\S+)$/m);
      const port = String(await freePort());
      const preview = example.npm(['run', 'preview', '--', '--port', port, '--strictPort'], {
        AGENT_URL: agentUrl!,
      });
      await preview.prints(/Local:/);
      const { page, problems } = await openPage(`http://localhost:${port}/`);
      await converse(page);
      expect(problems).to.deep.equal([]);
      await page.close();
    });
  }

  it('nextjs builds and type-checks, renders the conversation on the server, and goes on with it in the browser', async function () {
    if (!isToday(2, 3)) return this.skip();
    const example = await Example.install('nextjs', tarball, folder);
    await example.succeeds('run', 'build');
    const port = String(await freePort());
    const program = example.npm(['start', '--', '--port', port, '--hostname', '127.0.0.1']);
    await program.prints(/Ready in/);
    const url = `http://127.0.0.1:${port}`;
    // Tabs of before a restart come to the route first, and its copy of the package makes the gateway.
    expect((await fetch(`${url}/api/agent/readyz`)).status).to.equal(200);
    const { page, problems } = await openPage(url);
    await converse(page);
    // Without any script of the page.
    expect(await (await fetch(url)).text()).to.contain('<li class="assistant">You said: Hello');
    expect(program.output).to.not.contain('Error');
    expect(problems).to.deep.equal([]);
    await page.close();
  });

  it('take the packages in the versions that this one is developed with', () => {
    const pinned: Record<string, string> = { ...OWN.dependencies, ...developedWith() };
    // Next.js checks types with the compiler's own interface, which TypeScript 7 does not have yet.
    pinned.typescript = pinned.typescript5!.split('@').at(-1)!;
    for (const name of ['vue', 'svelte', 'nextjs']) {
      const { dependencies, devDependencies } = JSON.parse(
        readFileSync(join(ROOT, 'examples', name, 'package.json'), 'utf8'),
      );
      for (const [each, range] of Object.entries({ ...dependencies, ...devDependencies })) {
        const own = each === OWN.name ? OWN.version : pinned[each]?.replace('^', '');
        if (own !== undefined) expect(range, `${name}: ${each}`).to.equal(`^${own}`);
      }
    }
  });
});
