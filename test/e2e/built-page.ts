import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { createGateway, defineApp, type Gateway, type GatewayConfig, tool } from '../../server/index.js';
import { agUiPlugin } from '../../server/plugins/ag-ui/index.js';
import { uiMessageStreamPlugin } from '../../server/plugins/ui-message-stream/index.js';
import { gate } from '../support/gate.js';
import { listenOnLoopback } from '../support/host-server.js';
import { ROOT } from '../support/program.js';
import { closeLater } from '../support/resources.js';

const run = promisify(execFile);

const TYPES: Record<string, string> = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript' };

/** Builds a React page with Vite. @param alias Other names of packages that it imports. @returns its folder */
export async function buildPage(
  name: string,
  files: Record<string, string>,
  alias: Record<string, string>,
): Promise<string> {
  const root = join(ROOT, '.cache/pages', name);
  mkdirSync(root, { recursive: true });
  writeFileSync(
    join(root, 'index.html'),
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${name}</title><link rel="icon" href="data:,"></head><body><div id="root"></div><script type="module" src="./main.jsx"></script></body></html>`,
  );
  for (const [file, text] of Object.entries(files)) writeFileSync(join(root, file), text);
  const aliases = Object.entries(alias).map(
    ([find, replacement]) => `{ find: /^${find.replace('/', '\\/')}$/, replacement: '${replacement}' }`,
  );
  writeFileSync(
    join(root, 'vite.config.mjs'),
    `export default {
  resolve: {
    alias: [{ find: /^agent-session-gateway\\/(.*)$/, replacement: ${JSON.stringify(join(ROOT, '$1/index.ts'))} }, ${aliases.join(', ')}],
    dedupe: ['react', 'react-dom'],
  },
  build: { modulePreload: { polyfill: false } },
};`,
  );
  await run(process.execPath, [join(ROOT, 'node_modules/vite/bin/vite.js'), 'build', '--logLevel', 'error'], {
    cwd: root,
  });
  return join(root, 'dist');
}

/** Serves a page that was built, and a gateway with the plugins on the same origin. Closed after the test. */
export async function serveBuilt(
  folder: string,
  config: GatewayConfig<any, any, any>,
): Promise<{ readonly url: string; readonly gateway: Gateway<any, any, any> }> {
  // Whoever leaves a page may leave a run open.
  const limits = { drainMs: 200, ...config.limits };
  const gateway = createGateway({ embedded: true, auth: { type: 'none' }, ...config, limits });
  gateway.use(uiMessageStreamPlugin());
  gateway.use(agUiPlugin());
  closeLater(gateway, (it) => it.close());
  const url = await listenOnLoopback((request, response) => {
    const path = new URL(request.url ?? '/', 'http://page').pathname;
    if (path !== '/' && !path.startsWith('/assets/')) return void gateway.handleRequest(request, response);
    const file = path === '/' ? '/index.html' : path;
    response.setHeader('Content-Type', TYPES[extname(file)] ?? 'application/octet-stream');
    response.end(readFileSync(join(folder, file)));
  });
  return { url, gateway };
}

/** An app whose answers go on, word by word, when the test says so; `pay` is paid when somebody approves. */
export function wordsAndPayments(count = 3) {
  const paid: unknown[] = [];
  const words = Array.from({ length: count }, () => gate());
  let runs = 0;
  const app = defineApp({
    tools: {
      pay: tool({ schema: undefined as never, confirm: true, handler: (input) => void paid.push(input) }),
    },
    async *run(turn: any) {
      runs += 1;
      yield 'begin ';
      if (turn.text === 'pay') await turn.callTool('pay', { sum: 5 });
      else for (const [at, { passed }] of words.entries()) yield await passed.then(() => `word-${at} `);
      yield 'end';
    },
  } as any);
  return { app, words, paid, runs: () => runs };
}

/** Says something in a page of our documentation. */
export async function sayIn(page: Page, text: string): Promise<void> {
  await page.fill('input', text);
  await page.click('text=Send');
}
