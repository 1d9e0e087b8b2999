import { join } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { type Client, createClient } from '../../client/index.js';
import type { gateway as express } from '../../examples/express-host.js';
import type { gateway as standalone } from '../../examples/standalone-server.js';
import { textOf } from '../../shared/messages.js';
import { needChromium, openPage } from '../support/browser.js';
import { describeDaily } from '../support/daily.js';
import { runProgram } from '../support/program.js';
import { closeLater } from '../support/resources.js';
import { tempDir } from '../support/temp-dir.js';

const TOKEN = 'an-example-token-of-more-than-32-bytes';

async function start(file: string, env: Record<string, string> = {}) {
  const program = runProgram(file, { env: { PORT: '0', GATEWAY_TOKEN: TOKEN, ...env } });
  const [, url] = await program.prints(/Listening on (\S+)/);
  return { program, url: url! };
}

function connect<Source extends object>(options: Parameters<typeof createClient>[0]): Client<Source> {
  return closeLater(createClient<Source>(options), (client) => client.disconnect());
}

describeDaily('examples', 3, () => {
  it('standalone-server.ts answers with a tool and serves a typed method', async () => {
    const { program, url } = await start('examples/standalone-server.ts');
    const client = connect<typeof standalone>({ baseUrl: url, token: TOKEN });
    const { message, stopReason } = await client.send('main', 'Ada').result;
    expect(stopReason).to.equal('end');
    expect(textOf(message)).to.equal('One moment. Ada is on the pro plan.');
    const { sum } = await client.invoke('math:add', { a: 19, b: 23 });
    expect(sum).to.equal(42);
    expect(await program.kill('SIGTERM')).to.equal(0);
  });

  it('express-host.ts serves users whom the host knows, beside its own pages', async () => {
    const { program, url } = await start('examples/express-host.ts');
    expect(await (await fetch(url)).text()).to.contain('own page');
    expect((await fetch(`${url}/agent/status`)).status).to.equal(401);
    expect((await fetch(`${url}/agent/nothing`)).status).to.equal(404);
    const client = connect<typeof express>({ baseUrl: `${url}/agent`, headers: { 'x-user': 'ada' } });
    const { message } = await client.send('main', 'Good day').result;
    expect(textOf(message)).to.equal('Hello ada, you said: Good day ');
    expect(await client.invoke('notes:add', { text: 'one' })).to.deep.equal({ count: 1 });
    const other = connect<typeof express>({ baseUrl: `${url}/agent`, headers: { 'x-user': 'bob' } });
    expect(await other.invoke('notes:add', { text: 'two' })).to.deep.equal({ count: 1 });
    client.disconnect();
    expect(await program.kill('SIGTERM')).to.equal(0);
  });

  it('node-client.ts prints the answer, says yes to a confirmation and ends by itself', async () => {
    const demo = runProgram('server/demo/main.ts', { env: { PORT: '0', GATEWAY_TOKEN: TOKEN } });
    const [, url] = await demo.prints(/^ {2}URL +(http\S+)\n/m);
    const client = runProgram('examples/node-client.ts', {
      args: ['delete report.txt'],
      env: { GATEWAY_URL: url!, GATEWAY_TOKEN: TOKEN },
    });
    expect(await client.exited).to.equal(0);
    expect(client.output).to.equal(
      'I need your permission. \n[Delete report.txt? Yes.]\nDone: report.txt is gone (not really).\n[end]\n',
    );
  });

  it('browser-page shows a conversation, and the same after a reload', async function () {
    needChromium(this);
    const { program, url } = await start('examples/browser-page/server.ts');
    const { page, problems } = await openPage(url);
    await page.fill('input[name=text]', 'Hello');
    await page.click('button');
    await page.waitForFunction(
      () => document.querySelector('li.assistant .text')?.textContent === 'assistant: You said: Hello ',
    );
    const shown = await page.locator('li .text').allTextContents();
    expect(shown).to.deep.equal(['user: Hello', 'assistant: You said: Hello ']);
    await page.reload();
    await page.waitForFunction(() => document.querySelectorAll('li').length === 2);
    expect(await page.locator('li .text').allTextContents()).to.deep.equal(shown);
    expect(await page.locator('#connection').textContent()).to.equal('open');
    expect(problems).to.deep.equal([]);
    await page.close();
    expect(await program.kill('SIGTERM')).to.equal(0);
  });

  it('browser-page shows what waits, asks, stops and fails', async function () {
    needChromium(this);
    const { url } = await start('examples/browser-page/server.ts');
    const { page, problems } = await openPage(url);
    const say = async (text: string): Promise<void> => {
      await page.fill('input[name=text]', text);
      await page.click('button[type=submit]');
    };
    await say(Array.from({ length: 400 }, () => 'long').join(' '));
    await page.waitForSelector('#stop:not([hidden])');
    await say('delete a.txt');
    await page.waitForSelector('li.user.waiting:has-text("delete a.txt (waits for its turn)")');
    await page.click('#stop');
    await page.waitForSelector('li.assistant .outcome:has-text("stopped")');
    // It has its turn, and asks; a page that is loaded again asks too.
    await page.waitForSelector('.confirmation:has-text("Delete a.txt?")');
    await page.reload();
    await page.click('.confirmation:has-text("Delete a.txt?") .deny');
    await page.waitForSelector('li.assistant:has-text("a.txt stays.")');
    await say('delete b.txt');
    await page.click('.confirmation:has-text("Delete b.txt?") .approve');
    await page.waitForSelector('li.assistant:has-text("b.txt is gone (not really).")');
    await page.waitForFunction(() => document.querySelector('#pending')!.childElementCount === 0);
    await say('fail');
    await page.waitForSelector('li.assistant .outcome:has-text("failed: It went wrong")');
    await page.reload();
    await page.waitForSelector('li.assistant .outcome:has-text("failed: It went wrong")');
    expect(await page.locator('.outcome').allTextContents()).to.deep.equal([
      'stopped',
      'failed: It went wrong',
    ]);
    expect(problems).to.deep.equal([]);
    await page.close();
  });

  it('browser-page shows an answer as lost whose server went away, and has it given again', async function () {
    needChromium(this);
    const env = { DATABASE: join(tempDir(), 'chat.db') };
    const before = await start('examples/browser-page/server.ts', env);
    const first = await openPage(before.url);
    await first.page.fill('input[name=text]', Array.from({ length: 400 }, () => 'long').join(' '));
    await first.page.click('button[type=submit]');
    await first.page.waitForSelector('li.assistant:has-text("You said: long")');
    await before.program.kill('SIGKILL');
    await first.page.close();
    const { url } = await start('examples/browser-page/server.ts', env);
    const { page } = await openPage(url);
    await page.waitForSelector('li.assistant .outcome:has-text("lost")');
    await page.click('li.assistant .retry');
    await page.waitForSelector('li.assistant:has-text("You said: long"):not(:has(.outcome))');
    await page.click('#stop');
    await page.waitForSelector('li.assistant .version:has-text("2 of 2")');
    await page.click('li.assistant .previous');
    await page.waitForSelector('li.assistant:has(.version:has-text("1 of 2")) .outcome:has-text("lost")');
    await page.close();
  });

  it('browser-page edits a message: of two pages one is first, the other is told, and both show the same', async function () {
    needChromium(this);
    const { url } = await start('examples/browser-page/server.ts');
    const opened = await Promise.all([openPage(url), openPage(url)]);
    const pages = opened.map(({ page }) => page) as [Page, Page];
    await pages[0].fill('input[name=text]', 'Hello');
    await pages[0].click('button[type=submit]');
    for (const [at, page] of pages.entries()) {
      await page.waitForSelector('li.assistant:has(.retry):has-text("You said: Hello")');
      await page.click('li.user .edit');
      expect(await page.inputValue('input[name=text]')).to.equal('Hello');
      await page.fill('input[name=text]', `Edit ${at}`);
    }
    // Both at once: the form is sent where it is filled in, without waiting for the other.
    await Promise.all(pages.map((page) => page.click('button[type=submit]')));
    const refused =
      'li.waiting:has-text("was not sent: The conversation does not show this message any more")';
    const loser = await Promise.any(pages.map(async (page) => (await page.waitForSelector(refused)) && page));
    const winner = pages.indexOf(loser) === 0 ? 1 : 0;
    for (const page of pages)
      await page.waitForSelector(`li.assistant:has(.retry):has-text("You said: Edit ${winner}")`);
    const shown = (page: Page) => page.locator('li:not(.waiting) .text, .version').allTextContents();
    expect(await shown(pages[0])).to.deep.equal([
      `user: Edit ${winner}`,
      '2 of 2',
      `assistant: You said: Edit ${winner} `,
    ]);
    expect(await shown(pages[1])).to.deep.equal(await shown(pages[0]));
    await loser.click('li.waiting .discard');
    expect(await loser.locator('li.waiting').count()).to.equal(0);
    // What was there before is there still, in both.
    await loser.click('li.user .previous');
    for (const page of pages) {
      await page.waitForSelector('li.user:has-text("user: Hello"):has(.version:has-text("1 of 2"))');
      await page.waitForSelector('li.assistant:has-text("You said: Hello")');
    }
    for (const { page, problems } of opened) {
      expect(problems.filter((problem) => !problem.includes('409'))).to.deep.equal([]);
      await page.close();
    }
  });
});
