import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import webPushLibrary from 'web-push';
import { buildComponentsPage, COMPONENTS, type PageFiles } from '../../scripts/components-page.js';
import { webPush } from '../../server/features/notices/index.js';
import { createGateway, defineApp, tool } from '../../server/index.js';
import { PushService } from '../notices/push-service.js';
import { findings } from '../support/axe.js';
import { needChromium, openPage } from '../support/browser.js';
import { describeDaily } from '../support/daily.js';
import { type Gate, gate } from '../support/gate.js';
import { listenOnLoopback } from '../support/host-server.js';
import { ROOT } from '../support/program.js';
import { closeLater } from '../support/resources.js';
import { tempDir } from '../support/temp-dir.js';
import { runToEnd } from './run-cli.js';

/** So many lines of an answer: more than there is room for. */
const lines = (from: number) => Array.from({ length: 60 }, (_, at) => `line ${from + at}\n\n`).join('');

/** A site with the page of docs/components.md in a fresh Vite project. A cookie says who calls. */
async function serve(
  page: PageFiles,
  { push, more = gate() }: { readonly push?: ReturnType<typeof webPush>; readonly more?: Gate } = {},
) {
  const erase = tool({
    schema: { type: 'object', properties: { file: { type: 'string' } } },
    confirm: true,
    handler: () => 'gone',
  });
  const gateway = createGateway({
    embedded: true,
    auth: {
      type: 'custom',
      cookies: true,
      validate: (_token, { headers }) => {
        const [, id] = /user=(\w+)/.exec(String(headers.cookie)) ?? [];
        return id === undefined ? { valid: false } : { valid: true, user: { id } };
      },
    },
    shareLinks: { upTo: 'member', url: ({ token }) => `https://chat.example/#${token}` },
    ...(push && { notify: { push, unseenMs: 0, allowPrivate: true } }),
    app: defineApp({
      tools: { erase },
      async *run(turn) {
        if (turn.text === 'ask') yield `Hello ${await turn.ask({ name: 'Your name?' })}`;
        else if (turn.text === 'erase') yield `It is ${await turn.callTool('erase', { file: 'a.txt' })}`;
        else if (turn.text === 'grow') {
          yield lines(0);
          await more.passed;
          yield lines(60);
          turn.data('place', { seen: 1 });
          yield lines(120);
        } else if (turn.text === 'paragraphs') {
          yield 'The first.\n\nThe sec';
          await more.passed;
          yield 'ond, of $x^2$ and $5 or $6.[^1]\n\n$$\ny = 1\n$$\n\n[^1]: A *note*.';
        } else if (turn.text === 'person') {
          yield 'Let me get a colleague.';
          turn.handOff({ reason: 'A refund' });
        } else if (turn.text === 'spawn') {
          const run = () => new Promise<never>(() => {});
          const children = ['one', 'two'].map((id) => turn.spawn('helper', { id, message: id, run }));
          for (const { result } of children) yield `${(await result).stopReason} `;
        } else if (turn.text === 'wait') {
          yield 'waiting';
          await new Promise((resolve) => turn.signal.addEventListener('abort', resolve));
        } else yield `You said: ${turn.text}`;
      },
    }),
  });
  closeLater(gateway, (it) => it.close());
  return listenOnLoopback((request, response) => {
    const { url = '/' } = request;
    if (url.startsWith('/agent')) return gateway.handleRequest(request, response, { basePath: '/agent' });
    const isWorker = url === '/push-worker.js';
    const { type, body } = isWorker
      ? { type: 'text/javascript', body: readFileSync(join(ROOT, 'dist/client/push/worker.js')) }
      : page(url);
    response.setHeader('Content-Type', `${type}; charset=utf-8`);
    response.end(body);
  });
}

/** A person's page, with what it needs to be used. */
async function visit(site: string, user: string) {
  const { page, problems } = await openPage('about:blank');
  await page.context().addCookies([{ name: 'user', value: user, url: site }]);
  const message = page.getByLabel('Message', { exact: true });
  return {
    page,
    problems,
    list: page.getByRole('navigation', { name: 'Sessions' }),
    inbox: page.getByRole('region', { name: 'Inbox' }),
    runs: page.getByRole('region', { name: 'Runs' }),
    sharing: page.getByRole('region', { name: 'Sharing' }),
    control: page.getByRole('region', { name: 'Who answers' }),
    open: (search = '') => page.goto(`${site}/${search}`),
    say: async (text: string) => {
      await message.fill(text);
      await message.press('Enter');
    },
    answer: (text: string) => page.locator('.message.assistant', { hasText: text }).waitFor(),
    findings: () => findings(page),
  };
}

describe('agent-session-gateway add', () => {
  it('copies components into a project, says how to use them, and writes nothing over', async () => {
    const folder = tempDir();
    const { code, output } = await runToEnd(folder, 'add', 'chat');
    expect(code, output).to.equal(0);
    const at = join('src/components/chat');
    expect(readdirSync(join(folder, at)).sort()).to.deep.equal(
      readdirSync(join(ROOT, 'templates/components/chat')).sort(),
    );
    expect(output).to.contain('<Chat id="main" />');
    expect(output).to.contain('npm install highlight.js lucide-react marked');
    const styles = ['ui', 'message', 'runs', 'chat'].map((name) => `${name}/${name}.css`);
    expect(output.match(/\w+\/\w+\.css$/gm)!.slice(-4)).to.deep.equal(styles);
    // Its parts come with it once, and are left as somebody has changed them.
    writeFileSync(join(folder, 'src/components/ui/ui.css'), '/* mine */');
    const runs = await runToEnd(folder, 'add', 'runs');
    expect([runs.code, runs.output.split('\n')[0]]).to.deep.equal([0, 'runs: 0 files written.']);
    expect(readFileSync(join(folder, 'src/components/ui/ui.css'), 'utf8')).to.equal('/* mine */');
    writeFileSync(join(folder, at, 'chat.tsx'), '// mine');
    const again = await runToEnd(folder, 'add', 'chat');
    expect([again.code, again.output]).to.deep.equal([
      2,
      'src/components has chat/chat.tsx already, and nothing is written over: name another folder\n',
    ]);
    const unknown = await runToEnd(folder, 'add', 'bot');
    expect(unknown.code).to.equal(2);
    expect(unknown.output).to.contain(`Allowed choices are ${COMPONENTS.join(', ')}`);
    expect(existsSync(join(folder, 'src/components/bot'))).to.equal(false);
  });

  describeDaily('gives components that work together as they are, in a fresh Vite project:', 3, () => {
    let page: PageFiles;

    before(async function () {
      needChromium(this);
      this.timeout(120_000);
      const folder = mkdtempSync(join(tmpdir(), 'add-'));
      after(() => rmSync(folder, { recursive: true }));
      for (const component of COMPONENTS)
        expect((await runToEnd(folder, 'add', component)).code, component).to.equal(0);
      page = await buildComponentsPage(folder);
    });

    it('a conversation and the list of sessions, without a finding of axe', async () => {
      const { open, findings, say, answer, list, ...ann } = await visit(await serve(page), 'ann');
      await open();
      await ann.page.getByRole('button', { name: 'Hello' }).waitFor();
      expect(await findings()).to.deep.equal([]);
      await ann.page.getByRole('button', { name: 'Hello' }).click();
      await answer('You said: Hello');
      await say('erase');
      await ann.page
        .getByRole('region', { name: 'Confirm erase' })
        .getByRole('button', { name: 'Approve' })
        .click();
      await answer('It is gone');
      await say('ask');
      await ann.page.getByRole('region', { name: 'Question Your name?' }).waitFor();
      expect(await findings()).to.deep.equal([]);
      await ann.page.getByLabel('Value', { exact: true }).fill('Ada');
      await ann.page.getByRole('button', { name: 'Answer', exact: true }).click();
      await answer('Hello Ada');
      const box = ann.page.getByLabel('Message', { exact: true });
      await box.fill('wa');
      await box.dispatchEvent('keydown', { key: 'Enter', keyCode: 229 });
      // What is written is there again after another session, and after a reload.
      await list.getByRole('button', { name: 'New session' }).click();
      await ann.page.getByRole('button', { name: 'Hello', exact: true }).waitFor();
      expect(await box.inputValue()).to.equal('');
      await list.getByRole('button', { name: /^main/ }).first().click();
      await answer('It is gone');
      expect(await box.inputValue()).to.equal('wa');
      await ann.page.reload();
      await answer('It is gone');
      await box.press('End');
      await ann.page.keyboard.type('it');
      await ann.page.keyboard.press('Enter');
      await answer('waiting');
      await ann.page.getByRole('button', { name: 'Stop', exact: true }).click();
      await ann.page.locator('.message', { hasText: 'Stopped' }).waitFor();

      await list.getByRole('button', { name: 'More of main' }).click();
      await list.getByRole('menuitem', { name: 'Rename' }).click();
      await ann.page.keyboard.press('Control+A');
      await ann.page.keyboard.type('The ');
      // The Enter by which an input method takes a word, as Safari tells it.
      const word = { key: 'Enter', keyCode: 229 };
      await list.getByLabel('Title of main').dispatchEvent('keydown', word);
      await ann.page.keyboard.type('first');
      await ann.page.keyboard.press('Enter');
      await list.getByRole('button', { name: 'More of The first' }).waitFor();
      await list.getByRole('button', { name: 'New session' }).click();
      await say('second');
      await answer('You said: second');
      await list.getByRole('searchbox').fill('first');
      await list.locator('li').nth(1).waitFor({ state: 'detached' });
      await list.getByText('The first').click();
      await answer('It is gone');
      await list.getByRole('button', { name: 'More of The first' }).click();
      await list.getByRole('menuitem', { name: 'Archive' }).click();
      await list.getByRole('button', { name: 'More of The first' }).waitFor({ state: 'detached' });
      // It is shown, and not new.
      expect(await list.getByRole('region', { name: 'New' }).count()).to.equal(0);
      await list.getByRole('searchbox').fill('first');
      await list.getByText(/Nothing is called “first”/).waitFor();
      expect(ann.problems).to.deep.equal([]);
    });

    it('an answer that grows: followed at its end, left alone by who reads further up, and gone to by a button', async () => {
      const more = gate();
      const { open, findings, say, ...ann } = await visit(await serve(page, { more }), 'ann');
      await ann.page.setViewportSize({ width: 1180, height: 700 });
      await open();
      await say('grow');
      const text = (line: string) => ann.page.locator('.message.assistant p', { hasText: line }).waitFor();
      const place = () =>
        ann.page.evaluate(async () => {
          for (const _ of [1, 2]) await new Promise(requestAnimationFrame);
          const { scrollTop, scrollHeight, clientHeight, clientWidth } = document.querySelector('.messages')!;
          return {
            ...{ top: scrollTop, left: Math.round(scrollHeight - clientHeight - scrollTop) },
            ...{ width: clientWidth, height: clientHeight, page: scrollY },
          };
        });
      await text('line 59');
      const following = await place();
      expect(following.top, 'there is something to follow').to.be.above(0);
      expect(following.left).to.equal(0);
      await ann.page.evaluate(() => document.querySelector('.messages')!.scrollTo(0, 50));
      const toEnd = ann.page.getByRole('button', { name: 'To the end' });
      await toEnd.waitFor();
      const away = { ...(await place()), left: 0 };
      expect(away).to.deep.equal({ ...following, top: 50 });
      expect(await findings()).to.deep.equal([]);
      more.open();
      await text('line 179');
      await ann.runs.locator('[data-status="end"]').waitFor();
      expect({ ...(await place()), left: 0 }, 'a reader who is away').to.deep.equal(away);
      await toEnd.click();
      await toEnd.waitFor({ state: 'detached' });
      expect((await place()).left).to.equal(0);
      expect(ann.problems).to.deep.equal([]);
    });

    it('an answer that is said paragraph by paragraph, where the page wants so, with formulas and footnotes', async () => {
      const more = gate();
      const { open, findings, say, ...ann } = await visit(await serve(page, { more }), 'ann');
      const loaded: string[] = [];
      ann.page.on('request', (request) => loaded.push(request.url()));
      await open('?around');
      await say('paragraphs');
      const log = ann.page.getByRole('log', { name: 'The answer, as it comes' });
      await log.getByText('The first.').waitFor();
      const said = () => log.locator('p').allTextContents();
      expect(await said(), 'what is whole').to.deep.equal(['The first.']);
      // Who has it read aloud is kept from nothing that grows.
      expect(await ann.page.locator('.chat [aria-busy]').count()).to.equal(0);
      const isMaths = (url: string) => /maths/.test(url);
      expect(loaded.filter(isMaths), 'before there is a formula').to.deep.equal([]);
      more.open();
      const answer = ann.page.locator('.message.assistant');
      await answer.locator('div.formula', { hasText: 'y = 1' }).waitFor();
      expect(loaded.filter(isMaths)).to.have.length(1);
      expect(await answer.locator('i.formula').allTextContents()).to.deep.equal(['x^2']);
      await answer.getByText('$5 or $6.').waitFor();
      expect(await answer.locator('.mark').allTextContents()).to.deep.equal(['1']);
      await answer.locator('.footnote em', { hasText: 'note' }).waitFor();
      await log.getByText(/The second/).waitFor();
      expect((await said())[0]).to.equal('The first.');
      expect(await findings()).to.deep.equal([]);
      expect(ann.problems).to.deep.equal([]);
    });

    it('what can be read and used without a stylesheet', async () => {
      const { open, say, answer, ...ann } = await visit(await serve(page), 'ann');
      await open();
      await ann.page.evaluate(() => {
        for (const sheet of document.querySelectorAll('link[rel=stylesheet]')) sheet.remove();
      });
      await ann.page.getByLabel('Message', { exact: true }).fill('one\ntwo');
      await ann.page.getByRole('button', { name: 'Send', exact: true }).click();
      await answer('You said: one two');
      await say('erase');
      await ann.page.getByRole('button', { name: 'Approve' }).waitFor();
      const { lines, overlaps } = await ann.page.evaluate(() => {
        const [asked] = document.querySelectorAll('.message.user p');
        const text = document.createRange();
        text.selectNodeContents(asked!);
        const rows = [...document.querySelectorAll('.message, .ask, .composer, .entry')].map((it) =>
          it.getBoundingClientRect(),
        );
        const tops = [...text.getClientRects()].map(({ top }) => Math.round(top));
        return {
          lines: new Set(tops).size,
          overlaps: rows.filter(({ top }, at) => at > 0 && top < rows[at - 1]!.bottom - 1).length,
        };
      });
      expect(lines, 'lines of what was written').to.equal(2);
      expect(overlaps, 'rows over rows').to.equal(0);
      await ann.page.getByRole('button', { name: 'Approve' }).click();
      await answer('It is gone');
      expect(ann.problems).to.deep.equal([]);
    });

    it('their colours, in a build with the defaults of Vite, on a page that says nothing of colours and on one that does', async () => {
      const { open, findings, say, answer, ...ann } = await visit(await serve(page), 'ann');
      await open();
      await say('Hello');
      await answer('You said: Hello');
      await ann.list.getByRole('button', { name: 'New session' }).click();
      await say('ask');
      await ann.page.getByRole('region', { name: 'Question Your name?' }).waitFor();
      await ann.list.getByRole('button', { name: 'New session' }).click();
      await say('Hello');
      await answer('You said: Hello');
      await ann.page.getByRole('button', { name: 'Share…' }).click();
      await ann.sharing.getByRole('form').waitFor();
      await ann.list.locator('small').first().waitFor();
      await ann.runs.locator('[data-status="end"]').waitFor();
      const lines = ['.composer .box', '.sessions .begin', '.share form button', '.runs .fold'];
      const quiet = ['.sessions small', '.runs .muted'];
      const looks = () =>
        ann.page.evaluate(
          (selectors) => {
            const styles = selectors.map((selector) => getComputedStyle(document.querySelector(selector)!));
            return styles.map((style) => ({
              ground: style.backgroundColor,
              line: `${style.borderBottomStyle} ${style.borderBottomWidth}`,
              color: style.color,
            }));
          },
          ['body', '.message.user .content', ...lines, ...quiet],
        );
      for (const scheme of ['', ':root { color-scheme: light dark }']) {
        if (scheme) await ann.page.addStyleTag({ content: scheme });
        for (const colorScheme of ['light', 'dark'] as const) {
          await ann.page.emulateMedia({ colorScheme });
          const [body, bubble, ...others] = await looks();
          expect(bubble!.ground, 'the ground of a bubble').to.not.equal(body!.ground);
          for (const [at, name] of lines.entries())
            expect(others[at]!.line, `the line of ${name}`).to.equal('solid 1px');
          for (const [at, name] of quiet.entries())
            expect(others[lines.length + at]!.color, `the colour of ${name}`).to.not.equal(body!.color);
          expect(await findings()).to.deep.equal([]);
        }
      }
      expect(ann.problems).to.deep.equal([]);
    });

    it('runs, with what they wait for and what waits behind them, each aborted by keyboard', async () => {
      const { open, findings, say, answer, runs, ...ann } = await visit(await serve(page), 'ann');
      await open();
      await runs.getByText('No runs yet.').waitFor();
      await say('ask');
      await runs.locator('[data-status="waiting"]', { hasText: 'waits for you: Your name?' }).waitFor();
      await ann.page.getByLabel('Value', { exact: true }).fill('Ada');
      await ann.page.keyboard.press('Enter');
      await runs.locator('[data-status="end"]', { hasText: 'ask' }).waitFor();
      await say('wait');
      await answer('waiting');
      await say('behind');
      await runs.locator('[data-status="queued"]', { hasText: '1 in the queue' }).waitFor();
      await runs.locator('[data-status="running"]', { hasText: /wait.*\d s/ }).waitFor();
      expect(await findings()).to.deep.equal([]);
      await runs.getByRole('button', { name: 'Withdraw behind' }).focus();
      await ann.page.keyboard.press('Enter');
      await runs.locator('[data-status="queued"]').waitFor({ state: 'detached' });
      await runs.getByRole('button', { name: 'Stop wait' }).focus();
      await ann.page.keyboard.press('Enter');
      await runs.locator('[data-status="aborted"]', { hasText: 'wait' }).waitFor();
      expect(await runs.locator('[data-status="running"]').count()).to.equal(0);
      expect(ann.problems).to.deep.equal([]);
    });

    it('child runs below the run that began them, each aborted, and below its answer in the end', async () => {
      const { open, findings, say, answer, runs, ...ann } = await visit(await serve(page), 'ann');
      await open();
      await say('spawn');
      const row = (state: string, text: string) =>
        runs.locator(`li[data-status="${state}"] li[data-status]`, { hasText: text });
      await row('running', 'two').waitFor();
      expect(await findings()).to.deep.equal([]);
      await runs.getByRole('button', { name: 'Stop one' }).click();
      await row('running', 'one').and(runs.locator('[data-status="aborted"]')).waitFor();
      await runs.getByRole('button', { name: 'Stop two' }).click();
      await answer('aborted aborted');
      await row('end', 'one').and(runs.locator('[data-status="aborted"]')).waitFor();
      expect(await row('end', '').count()).to.equal(2);
      expect(ann.problems).to.deep.equal([]);
    });

    it('an inbox, which reads what is on show, on all devices of a person', async () => {
      const site = await serve(page);
      const [desk, phone] = [await visit(site, 'ann'), await visit(site, 'ann')];
      await desk.open();
      await desk.inbox.getByText('Everything is read.').waitFor();
      await desk.say('wait');
      await desk.answer('waiting');
      await desk.inbox.getByRole('button', { name: /main at work/ }).waitFor();
      await desk.list.getByRole('button', { name: 'New session' }).click();
      await desk.say('ask');
      await desk.inbox.getByText('0 unread, 1 for you to answer').waitFor();
      await phone.open();
      await phone.runs.getByRole('button', { name: 'Stop wait' }).click();
      // The phone shows it, and has read it for the desk too.
      await desk.inbox.locator('li', { hasText: 'main' }).waitFor({ state: 'detached' });
      await phone.inbox.getByRole('button', { name: /waits for you/ }).click();
      await phone.page.getByRole('region', { name: 'Question Your name?' }).waitFor();
      await desk.list.getByRole('button', { name: /^main/ }).first().click();
      await desk.answer('waiting');
      await desk.say('again');
      await desk.answer('You said: again');
      expect(await desk.findings()).to.deep.equal([]);
      expect([...desk.problems, ...phone.problems]).to.deep.equal([]);
    });

    it('sharing with a colleague, who is seen, takes over and hands back; and by a link, until it is stopped', async () => {
      const site = await serve(page);
      const ann = await visit(site, 'ann');
      await ann.open();
      await ann.say('person');
      await ann.control.getByText('The app asks for a person: A refund').waitFor();
      await ann.page.getByRole('button', { name: 'Share…' }).click();
      const form = ann.sharing.getByRole('form');
      await form.getByLabel('User').fill('ben');
      await form.getByLabel('Role').selectOption('operator');
      await form.getByLabel('Time').selectOption('until I take it back');
      await form.getByRole('button', { name: 'Share' }).click();
      await ann.sharing.locator('li', { hasText: 'ben' }).waitFor();
      await ann.sharing.getByRole('tab', { name: 'By a link' }).click();
      await form.getByLabel('Answers only').check();
      await form.getByLabel('Time').selectOption('for a day');
      await form.getByLabel('Role').selectOption('viewer');
      await form.getByRole('button', { name: 'Make a link' }).click();
      const link = await ann.sharing.getByLabel('The link, shown this once').inputValue();
      expect(link).to.match(/^https:\/\/chat\.example\/#lnk_/);
      await ann.sharing.locator('li', { hasText: /viewer, answers only, until/ }).waitFor();
      expect(await ann.findings()).to.deep.equal([]);

      await ann.page.getByRole('button', { name: 'Done' }).click();
      const ben = await visit(site, 'ben');
      await ben.open();
      await ben.inbox.getByRole('button', { name: /1 unread/ }).click();
      await ann.page.getByRole('list', { name: 'Who is here' }).getByText('ben').waitFor();
      await ben.control.getByRole('button', { name: 'Take over' }).click();
      await ann.control.getByText('ben answers.').waitFor();
      await ben.say('This is Ben');
      await ann.answer('This is Ben');
      await ann.say('Thank you');
      await ben.page.locator('.message.user', { hasText: 'Thank you' }).waitFor();
      await ben.control.getByLabel('Note to the app').fill('Agreed');
      await ben.control.getByRole('button', { name: 'Hand back and have it answer' }).click();
      await ann.answer('You said: Thank you');
      await ann.control.getByText('The app answers.').waitFor();

      await ann.page.getByRole('button', { name: 'Share…' }).click();
      await ann.sharing.getByRole('button', { name: 'Take back from ben' }).click();
      await ann.sharing.locator('li', { hasText: 'ben' }).waitFor({ state: 'detached' });
      await ben.inbox.locator('li').waitFor({ state: 'detached' });
      await ann.sharing.getByRole('button', { name: /^Take back from a link/ }).click();
      await ann.sharing.getByText('Only you see this conversation.').waitFor();
      expect([...ann.problems, ...ben.problems]).to.deep.equal([]);
    });

    it('a switch for pushes, which says so where the browser does not let the page notify', async () => {
      const service = await PushService.start();
      const vapidKeys = webPushLibrary.generateVAPIDKeys();
      const site = await serve(page, { push: webPush({ subject: 'mailto:ops@example.com', vapidKeys }) });
      const ann = await visit(site, 'ann');
      // This browser has no push service of its own to subscribe at.
      await ann.page.addInitScript(`{
        const target = ${JSON.stringify(service.browser('desk'))};
        let current = null;
        const subscription = { ...target, toJSON: () => target, unsubscribe: async () => { current = null; return true; } };
        PushManager.prototype.getSubscription = async () => current;
        PushManager.prototype.subscribe = async () => (current = subscription);
      }`);
      await ann.open();
      const box = ann.page.getByRole('switch', { name: 'Notify me when I am away' });
      await ann.page.context().clearPermissions();
      await box.click();
      await ann.page.getByRole('alert').filter({ hasText: 'does not let the page notify you' }).waitFor();
      await ann.page.context().grantPermissions(['notifications'], { origin: site });
      await box.focus();
      await ann.page.keyboard.press('Space');
      await ann.page.getByRole('switch', { checked: true }).waitFor();
      expect(await ann.findings()).to.deep.equal([]);
      await ann.say('ask');
      await service.until(() => service.pushed.length === 1);
      await box.press('Space');
      await ann.page.getByRole('switch', { checked: false }).waitFor();
      expect(ann.problems).to.deep.equal([]);
    });
  });
});
