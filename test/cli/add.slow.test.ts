import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect } from 'chai';
import { build } from 'esbuild';
import { createGateway, defineApp, tool } from '../../server/index.js';
import { needChromium, openPage } from '../support/browser.js';
import { listenOnLoopback } from '../support/host-server.js';
import { ROOT } from '../support/program.js';
import { closeLater } from '../support/resources.js';
import { tempDir } from '../support/temp-dir.js';
import { runCliIn } from './run-cli.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

async function add(cwd: string, ...args: string[]): Promise<{ code: number | string; output: string }> {
  const program = runCliIn(cwd, ['add', ...args]);
  const code = await program.exited;
  return { code, output: program.output };
}

/** A page of a user's own with the components of a folder, as a bundler makes it. */
async function pageOf(folder: string): Promise<string> {
  const made = await build({
    stdin: {
      contents: `
        import { createClient } from 'agent-session-gateway/client';
        import { GatewayProvider } from 'agent-session-gateway/client/react';
        import { useState } from 'react';
        import { createRoot } from 'react-dom/client';
        import { Chat } from './chat/chat.js';
        import { SessionList } from './sessions/session-list.js';
        function Page() {
          const [id, setId] = useState('main');
          return <><SessionList current={id} onOpen={setId} /><main><h1>Page</h1><Chat key={id} id={id} suggestions={['Hello']} /></main></>;
        }
        createRoot(document.getElementById('root')).render(
          <GatewayProvider client={createClient({ baseUrl: '/agent' })}><Page /></GatewayProvider>,
        );`,
      resolveDir: folder,
      loader: 'tsx',
    },
    ...{ bundle: true, write: false, format: 'esm', jsx: 'automatic', logLevel: 'silent' },
    define: { 'process.env.NODE_ENV': '"production"' },
    nodePaths: [join(ROOT, 'node_modules')],
    tsconfig: join(ROOT, 'tsconfig.json'),
  });
  return made.outputFiles[0]!.text;
}

async function serve(script: string, styles: string): Promise<string> {
  const erase = tool({
    schema: { type: 'object', properties: { file: { type: 'string' } } },
    confirm: true,
    handler: () => 'gone',
  });
  const gateway = createGateway({
    embedded: true,
    auth: { type: 'none' },
    app: defineApp({
      tools: { erase },
      async *run(turn) {
        if (turn.text === 'ask') yield `Hello ${await turn.ask({ name: 'Your name?' })}`;
        else if (turn.text === 'erase') yield `It is ${await turn.callTool('erase', { file: 'a.txt' })}`;
        else if (turn.text === 'wait') {
          yield 'waiting';
          await new Promise((resolve) => turn.signal.addEventListener('abort', resolve));
        } else yield `You said: ${turn.text}`;
      },
    }),
  });
  closeLater(gateway, (it) => it.close());
  const html = `<!doctype html><html lang="en"><head><meta name="viewport" content="width=device-width"><title>Page</title><style>:root{color-scheme:light dark}${styles}</style></head><body><div id="root"></div><script type="module" src="/page.js"></script></body></html>`;
  return listenOnLoopback((request, response) => {
    if (request.url?.startsWith('/agent'))
      return gateway.handleRequest(request, response, { basePath: '/agent' });
    const isScript = request.url === '/page.js';
    response.setHeader('Content-Type', `text/${isScript ? 'javascript' : 'html'}; charset=utf-8`);
    response.end(isScript ? script : html);
  });
}

describe('agent-session-gateway add', () => {
  it('copies components into a project, says how to use them, and writes nothing over', async () => {
    const folder = tempDir();
    const { code, output } = await add(folder, 'chat');
    expect(code, output).to.equal(0);
    const at = join('src/components/chat');
    expect(readdirSync(join(folder, at)).sort()).to.deep.equal(
      readdirSync(join(ROOT, 'templates/components/chat')).sort(),
    );
    expect(output).to.contain('<Chat id="main" />');
    const again = await add(folder, 'chat');
    expect([again.code, again.output]).to.deep.equal([
      2,
      `src/components has ${readdirSync(join(folder, at))
        .map((name) => `chat/${name}`)
        .join(', ')} already, and nothing is written over: name another folder\n`,
    ]);
    const unknown = await add(folder, 'inbox');
    expect(unknown.code).to.equal(2);
    expect(unknown.output).to.contain('Allowed choices are chat, sessions');
    expect(existsSync(join(folder, 'src/components/inbox'))).to.equal(false);
  });

  it('gives components that work together as they are, without a finding of axe', async function () {
    needChromium(this);
    const folder = tempDir();
    for (const component of ['chat', 'sessions'])
      expect((await add(folder, component, '--to', '.')).code).to.equal(0);
    const styles = ['chat/chat.css', 'sessions/sessions.css'].map((path) => readFileSync(join(folder, path)));
    const { page, problems } = await openPage(await serve(await pageOf(folder), styles.join('\n')));
    const findings = async () => {
      await page.evaluate(AXE);
      return page.evaluate(async () =>
        (await (globalThis as any).axe.run()).violations.map(
          ({ id, nodes }: any) => `${id}: ${nodes[0].html}`,
        ),
      );
    };
    const message = page.getByLabel('Message');
    const say = async (text: string) => {
      await message.fill(text);
      await message.press('Enter');
    };
    const answer = (text: string) => page.locator('.message.assistant', { hasText: text }).waitFor();
    expect(await findings()).to.deep.equal([]);
    await page.getByRole('button', { name: 'Hello' }).click();
    await answer('You said: Hello');
    await say('erase');
    await page.getByRole('group', { name: 'Allow erase?' }).getByRole('button', { name: 'Approve' }).click();
    await answer('It is gone');
    await say('ask');
    await page.getByRole('group', { name: 'Your name?' }).waitFor();
    expect(await findings()).to.deep.equal([]);
    await page.getByLabel('Answer').fill('Ada');
    await page.getByRole('button', { name: 'Answer' }).click();
    await answer('Hello Ada');
    await say('wait');
    await answer('waiting');
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.locator('.message', { hasText: 'stopped' }).waitFor();

    const list = page.getByRole('navigation', { name: 'Sessions' });
    await list.getByRole('button', { name: 'Rename main' }).click();
    await page.keyboard.press('Control+A');
    await page.keyboard.type('The first');
    await page.keyboard.press('Enter');
    await list.getByRole('button', { name: 'Rename The first' }).waitFor();
    await list.getByRole('button', { name: 'New session' }).click();
    await say('second');
    await answer('You said: second');
    await list.getByRole('searchbox').fill('first');
    await list.locator('li').nth(1).waitFor({ state: 'detached' });
    await list.getByText('The first').click();
    await answer('It is gone');
    await list.getByRole('button', { name: 'Archive The first' }).click();
    await list.getByText('No title has “first”.').waitFor();
    expect(problems).to.deep.equal([]);
  });
});
