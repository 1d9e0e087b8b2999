import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { expect } from 'chai';
import { COMPONENTS } from '../../scripts/components-page.js';
import { createGateway, defineApp } from '../../server/index.js';
import { needChromium, openPage } from '../support/browser.js';
import { isToday } from '../support/daily.js';
import { listenOnLoopback } from '../support/host-server.js';
import { ROOT } from '../support/program.js';
import { closeLater } from '../support/resources.js';
import { tempDir } from '../support/temp-dir.js';
import { type Installed, installPackage } from './installed.js';

const TYPES: Readonly<Record<string, string>> = {
  ...{ '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.txt': 'text/plain' },
};

const STYLES = ['ui', 'message', 'runs', 'chat', 'sessions', 'inbox', 'share'];

const FILES = {
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      ...{ strict: true, jsx: 'react-jsx', module: 'esnext', moduleResolution: 'bundler', noEmit: true },
      ...{ lib: ['dom', 'dom.iterable', 'esnext'], skipLibCheck: true, paths: { '@/*': ['./*'] } },
    },
    include: ['**/*.ts', '**/*.tsx'],
    exclude: ['node_modules'],
  }),
  // As its command writes it, without a base colour: it would ask its own site for that.
  'components.json': JSON.stringify({
    ...{ style: 'new-york', rsc: true, tsx: true, iconLibrary: 'lucide' },
    tailwind: { config: '', css: 'app/globals.css', baseColor: '', cssVariables: true },
    aliases: { components: '@/components', utils: '@/lib/utils' },
  }),
  'app/globals.css': '',
  // Next looks for its folder above, where this project is a copy.
  'next.config.mjs': `export default { output: 'export', turbopack: { root: import.meta.dirname } };`,
  'app/layout.tsx': `import type { ReactNode } from 'react';
export default function Layout({ children }: { children: ReactNode }) {
  return <html lang="en"><body>{children}</body></html>;
}`,
  'app/page.tsx': `${STYLES.map((name) => `import '../components/gateway/${name}/${name}.css';\n`).join('')}import { Page } from './client';
export default function Home() { return <Page />; }`,
  'app/client.tsx': `'use client';
import { createClient } from 'agent-session-gateway/client';
import { GatewayProvider } from 'agent-session-gateway/client/react';
import { useState } from 'react';
import { Chat } from '../components/gateway/chat/chat';
import { Inbox } from '../components/gateway/inbox/inbox';
import { Runs } from '../components/gateway/runs/runs';
import { SessionList } from '../components/gateway/sessions/session-list';
import { People } from '../components/gateway/share/people';
const client = createClient({ baseUrl: '/agent' });
export function Page() {
  const [id, setId] = useState('main');
  return (
    <GatewayProvider client={client}>
      <SessionList current={id} onOpen={setId} />
      <Inbox current={id} onOpen={setId} />
      <Chat key={id} id={id} user="ann" bar={(presence) => <People id={id} user="ann" presence={presence} />} />
      <Runs id={id} />
    </GatewayProvider>
  );
}`,
};

describe('the components of the registry, added by shadcn', () => {
  let installed: Installed;

  before(async function () {
    needChromium(this);
    if (!isToday(1, 3)) this.skip();
    installed = await installPackage();
    await installed.install('react', 'react-dom', 'marked', 'highlight.js', 'lucide-react');
    await installed.install('@types/react', '@types/react-dom');
    await installed.install('next@npm:next@16.4.6', 'typescript@npm:typescript@5.9.3');
    await installed.install('shadcn@npm:shadcn@4.23.0');
    const registry = tempDir();
    execFileSync(process.execPath, ['scripts/build-registry.mjs', registry], { cwd: ROOT });
    for (const [name, text] of Object.entries(FILES)) installed.write(name, text);
    // Its own command takes one from a site, and the others from files; it leaves parts as they are that are there already.
    const site = await listenOnLoopback((request, response) =>
      response.end(readFileSync(join(registry, request.url!))),
    );
    for (const name of COMPONENTS) {
      const item = name === 'chat' ? `${site}/chat.json` : join(registry, `${name}.json`);
      await installed.node('node_modules/shadcn/dist/index.js', 'add', '--yes', item);
    }
    await installed.node('node_modules/next/dist/bin/next', 'build');
  });
  after(() => installed?.remove());

  it('are built by Next with its defaults, types and pages of its server included, and look as they should', async () => {
    const gateway = createGateway({
      embedded: true,
      app: defineApp({ run: (turn) => `You said: **${turn.text}**` }),
      auth: { type: 'none' },
    });
    closeLater(gateway, (it) => it.close());
    const site = await listenOnLoopback((request, response) => {
      const { url = '/' } = request;
      if (url.startsWith('/agent')) return gateway.handleRequest(request, response, { basePath: '/agent' });
      const wanted = join(installed.project, 'out', url === '/' ? 'index.html' : url.split('?')[0]!);
      if (!existsSync(wanted)) return response.writeHead(404).end();
      response.setHeader('content-type', TYPES[extname(wanted)] ?? 'application/octet-stream');
      response.end(readFileSync(wanted));
    });
    expect(await (await fetch(site)).text()).to.contain('Write a message');
    const { page, problems } = await openPage(site);
    await page.getByLabel('Message', { exact: true }).fill('Hello');
    await page.getByLabel('Message', { exact: true }).press('Enter');
    await page.locator('.message.assistant strong', { hasText: 'Hello' }).waitFor();
    const looks = () =>
      page.evaluate(() => {
        const [bubble, box, quiet] = ['.message.user .content', '.composer .box', '.sessions small'].map(
          (selector) => getComputedStyle(document.querySelector(selector)!),
        );
        return {
          bubble: bubble!.backgroundColor,
          round: Number.parseFloat(bubble!.borderTopLeftRadius) > 8,
          line: `${box!.borderBottomStyle} ${box!.borderBottomWidth}`,
          isQuiet: quiet!.color !== getComputedStyle(document.body).color,
        };
      });
    await page.locator('.sessions small').first().waitFor();
    const { bubble, ...plain } = await looks();
    expect(bubble, 'the ground of a bubble').to.not.equal('rgba(0, 0, 0, 0)');
    expect(plain).to.deep.equal({ round: true, line: 'solid 1px', isQuiet: true });
    // The page's own variables, in the names of shadcn.
    await page.addStyleTag({ content: ':root { --muted: rgb(1, 2, 3); --border: rgb(4, 5, 6) }' });
    expect((await looks()).bubble).to.equal('rgb(1, 2, 3)');
    expect(problems).to.deep.equal([]);
  });
});
