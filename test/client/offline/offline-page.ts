import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { build } from 'esbuild';
import type { BrowserContext, Page } from 'playwright-core';
import { openPage } from '../../support/browser.js';
import { ROOT } from '../../support/program.js';
import { closeLater } from '../../support/resources.js';
import { until } from '../../support/until.js';

/** What a page shows of its session. */
export interface Shown {
  readonly status: string;
  readonly stale: boolean;
  readonly texts: readonly string[];
  readonly sending: readonly (readonly [status: string, text: string])[];
}

declare global {
  var persist: any;
  var session: any;
  var look: () => Shown;
  var gaps: string[];
  /** All that was ever shown as said, and not marked as old. */
  var claims: string[];
}

const SCRIPT = (baseUrl: string, options: string) => `
import { createClient } from 'agent-session-gateway/client';
import { indexedDb } from 'agent-session-gateway/client/offline';
const persist = globalThis.persist = indexedDb({ user: 'ada', ${options} });
const client = globalThis.client = createClient({ baseUrl: ${JSON.stringify(baseUrl)}, token: 'ada', persist });
const session = globalThis.session = client.session('main');
const watch = session.watch();
globalThis.claims = [];
const textOf = ({ content }) => content.map(({ text }) => text ?? '').join('');
globalThis.look = () => {
  const { status, stale = false, messages, sending } = watch.getSnapshot();
  return { status, stale, texts: messages.map(textOf), sending: sending.map(({ status, message }) => [status, textOf(message)]) };
};
globalThis.entries = () => watch.getSnapshot().sending;
watch.subscribe(() => { const { stale, texts } = globalThis.look(); if (!stale) globalThis.claims.push(texts.join('|')); });
`;

/** A page of another origin that keeps what it shows. @param options Of `indexedDb`, as they are written */
export async function serveOffline(
  gatewayUrl: () => string,
  options = '',
): Promise<{ readonly url: string; bundle(): Promise<void> }> {
  let script: Uint8Array = new Uint8Array();
  const server = createServer((request, response) => {
    if (request.url === '/page.js') response.setHeader('content-type', 'text/javascript').end(script);
    else
      response
        .setHeader('content-type', 'text/html; charset=utf-8')
        .end(
          '<!doctype html><link rel="icon" href="data:,"><body><script type="module" src="/page.js"></script>',
        );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closeLater(server, (it) => {
    it.closeAllConnections();
    it.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bundle: async () => {
      const { outputFiles } = await build({
        stdin: { contents: SCRIPT(gatewayUrl(), options), resolveDir: ROOT, loader: 'ts' },
        ...{ absWorkingDir: ROOT, bundle: true, format: 'esm', write: false },
      });
      script = outputFiles![0]!.contents;
    },
  };
}

/** Opens the first page of a person, whose other tabs share what is kept. */
export async function openFirst(url: string): Promise<Page> {
  const { page } = await openPage(url);
  return ready(page);
}

/** Opens another tab. */
export async function openTab(context: BrowserContext, url: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(url);
  return ready(page);
}

async function ready(page: Page): Promise<Page> {
  await page.waitForFunction(() => typeof globalThis.look === 'function');
  return page;
}

/** Ends the process of a tab. */
export async function crash(page: Page): Promise<void> {
  const crashed = page.waitForEvent('crash');
  page.goto('chrome://crash').catch(() => {});
  await crashed;
}

/** Waits until the page shows something; resolves with all that it shows. */
export async function shows(page: Page, wanted: Partial<Shown>): Promise<Shown> {
  await page.waitForFunction(
    (parts) => {
      const shown = globalThis.look() as unknown as Record<string, unknown>;
      return Object.entries(parts).every(
        ([name, value]) => JSON.stringify(shown[name]) === JSON.stringify(value),
      );
    },
    wanted as Record<string, unknown>,
  );
  return page.evaluate(() => globalThis.look());
}

/** Cuts a page off from its gateway, and lets it in again. */
export async function cutOff(page: Page, gatewayUrl: string): Promise<() => Promise<void>> {
  await page.route(`${gatewayUrl}/**`, (route) => route.abort('internetdisconnected'));
  return async () => {
    await page.unroute(`${gatewayUrl}/**`);
    await page.evaluate(() => dispatchEvent(new Event('online')));
  };
}

/** Waits until the device keeps something that has these words. */
export function keeps(page: Page, words: string): Promise<void> {
  // Not `waitForFunction`, which takes a promise for a yes.
  return until(() =>
    page.evaluate(async (wanted) => {
      const database = await new Promise<IDBDatabase>((resolve) => {
        const request = indexedDB.open('agent-session-gateway:ada');
        request.onsuccess = () => resolve(request.result);
      });
      const values = await new Promise<readonly string[]>((resolve) => {
        const request = database.transaction('kept').objectStore('kept').getAll();
        request.onsuccess = () => resolve(request.result);
      });
      database.close();
      return values.some((value) => value.includes(wanted));
    }, words),
  );
}
