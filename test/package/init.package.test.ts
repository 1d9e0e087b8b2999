import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { needChromium, openPage } from '../support/browser.js';
import { freePort } from '../support/free-port.js';
import { type Program, runCommand } from '../support/program.js';
import { tempDir } from '../support/temp-dir.js';
import { type Installed, installPackage } from './installed.js';

const QUIET = { npm_config_loglevel: 'error', NODE_OPTIONS: '', GATEWAY_DB: '' };

async function say(page: Page, text: string): Promise<void> {
  const box = page.getByRole('textbox', { name: 'Message' });
  await box.fill(text);
  await box.press('Enter');
}

const answer = (page: Page, text: string) => page.locator('.message.assistant', { hasText: text });

describe('a project that init writes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'asg-init-'));
  const project = join(folder, 'my-agent');
  let installed: Installed;

  before(async () => {
    installed = await installPackage();
    const args = ['--no-install', 'agent-session-gateway', 'init', project];
    await succeeds(runCommand('npx', { args, cwd: installed.project, env: QUIET }));
    // What is not published yet comes from the tarball.
    edit('package.json', /("agent-session-gateway": )".*"/, `$1"file:${installed.tarball}"`);
    await succeeds(npm('install', '--prefer-offline', '--no-audit', '--no-fund'));
  });
  after(() => {
    rmSync(folder, { recursive: true, force: true });
    installed?.remove();
  });

  function edit(file: string, pattern: RegExp, text: string): void {
    const before = readFileSync(join(project, file), 'utf8');
    const after = before.replace(pattern, text);
    expect(after, file).to.not.equal(before);
    writeFileSync(join(project, file), after);
  }

  async function succeeds(program: Program): Promise<string> {
    expect(await program.exited, program.output).to.equal(0);
    return program.output;
  }

  const npm = (...args: string[]): Program =>
    runCommand('npm', { args, cwd: project, group: true, env: QUIET });

  it('passes its tests', async () => {
    expect(await succeeds(npm('test'))).to.match(/pass 6\b/);
  });

  it('answers on its page with npm run dev, behind the proxy of Vite, and goes on when the server changes', async function () {
    needChromium(this);
    const [port, pagePort] = [await freePort(), await freePort()];
    edit('.env', /^PORT=.*$/m, `PORT=${port}`);
    edit('.env', /^PAGE_PORT=.*$/m, `PAGE_PORT=${pagePort}`);
    const program = npm('run', 'dev');
    await Promise.all([program.prints(/Listening on/), program.prints(/Local:/)]);
    const url = `http://localhost:${pagePort}`;
    const { page, problems } = await openPage(url);
    await page.getByRole('button', { name: 'Hello' }).click();
    await answer(page, 'You said: Hello').waitFor();
    await say(page, 'delete report.txt');
    const question = page
      .getByRole('region', { name: /^Confirm / })
      .filter({ hasText: 'Delete report.txt?' });
    await question.getByRole('button', { name: 'Approve' }).waitFor();
    await page.reload();
    await question.getByRole('button', { name: 'Approve' }).click();
    await answer(page, 'report.txt is gone (not really).').waitFor();
    await say(page, Array(200).fill('long').join(' '));
    await answer(page, 'You said: long').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await answer(page, 'stopped').waitFor();

    const { page: playground } = await openPage(`${url}/agent/playground/`);
    await playground.getByLabel('Token').waitFor();
    await playground.close();
    const own = await page.context().newPage();
    await own.goto(`${url}/agent/playground/`);
    await own.locator('.messages').getByText('is gone (not really).').waitFor();
    await own.close();

    edit('server/app.ts', /You said:/, 'You wrote:');
    await program.prints(/Listening on[\s\S]*Listening on/);
    await say(page, 'again');
    await answer(page, 'You wrote: again').waitFor();
    expect(problems).to.deep.equal([]);
    await page.close();
    await program.kill('SIGINT');
  });

  it('builds, and runs from what its Dockerfile takes of that, without what only development needs', async function () {
    needChromium(this);
    await succeeds(npm('run', 'build'));
    const secret = /^JWT_SECRET=(.*)$/m.exec(readFileSync(join(project, '.env'), 'utf8'))![1]!;
    const assets = readdirSync(join(project, 'dist/web/assets'));
    for (const name of assets)
      expect(readFileSync(join(project, 'dist/web/assets', name), 'utf8')).to.not.contain(secret);

    await succeeds(npm('prune', '--omit=dev', '--prefer-offline', '--no-audit', '--no-fund'));
    const image = tempDir();
    const dockerfile = readFileSync(join(project, 'Dockerfile'), 'utf8');
    const copied = [...dockerfile.matchAll(/^COPY --from=build \/build\/(\S+) /gm)].map(([, path]) => path!);
    for (const path of copied) cpSync(join(project, path), join(image, path), { recursive: true });
    const [command, ...args] = JSON.parse(/^CMD (.*)$/m.exec(dockerfile)![1]!);
    const env = { ...QUIET, NODE_ENV: 'production', PORT: '0', JWT_SECRET: secret };
    const program = runCommand(command, { args, cwd: image, env });
    const [, url] = await program.prints(/Listening on (\S+)/);
    expect((await fetch(`${url}/agent/readyz`)).status).to.equal(200);
    expect((await fetch(`${url}/agent/playground/`)).status).to.equal(404);
    const { page, problems } = await openPage(url!);
    await say(page, 'good morning');
    await answer(page, ': good morning').waitFor();
    expect(problems).to.deep.equal([]);
    expect(await program.kill('SIGTERM')).to.equal(0);
  });
});
