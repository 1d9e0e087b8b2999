import { expect } from 'chai';
import { servePage } from '../e2e/page-host.js';
import { needChromium, openPage } from '../support/browser.js';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { describeDaily } from '../support/daily.js';
import { platformGateway } from './gateway.js';
import { EXPECTED, program } from './program.js';

const KEEP = '(text) => { globalThis.reported = JSON.parse(text); }';

declare global {
  var reported: unknown;
}

/** Serves a page behind a connection that is cut in the middle of the answer. */
async function serve(
  script: string,
  over: { headers?: Record<string, string>; allowedHosts?: string[] } = {},
) {
  let proxy: CuttingProxy | undefined;
  const url = await servePage(script, { ...platformGateway(() => proxy?.cutAll()), ...over });
  proxy = await CuttingProxy.start(url);
  return proxy.url;
}

const reportOf = async ({ page }: Awaited<ReturnType<typeof openPage>>): Promise<unknown> => {
  await page.waitForFunction(() => globalThis.reported !== undefined);
  return page.evaluate(() => globalThis.reported);
};

describeDaily('the client runs in a page', 2, () => {
  before(function () {
    needChromium(this);
  });

  for (const transport of ['sse', 'websocket']) {
    it(`whose security policy allows its own origin and nothing else, over ${transport}`, async () => {
      const policy =
        "default-src 'none'; script-src 'self'; connect-src 'self'; require-trusted-types-for 'script'";
      const url = await serve(program('/agent', `{ transport: '${transport}' }`, KEEP), {
        headers: { 'content-security-policy': policy },
      });
      const opened = await openPage(url);
      expect(await reportOf(opened)).to.deep.equal(EXPECTED);
      expect(opened.problems).to.deep.equal([]);
    });
  }

  it('of plain http, which has no randomUUID', async () => {
    const url = await serve(program('/agent', '{}', KEEP), { allowedHosts: ['plain.example'] });
    const opened = await openPage(url.replace('127.0.0.1', 'plain.example'), [
      '--host-resolver-rules=MAP plain.example 127.0.0.1',
    ]);
    expect(await opened.page.evaluate(() => [isSecureContext, typeof crypto.randomUUID])).to.deep.equal([
      false,
      'undefined',
    ]);
    expect(await reportOf(opened)).to.deep.equal(EXPECTED);
    expect(opened.problems).to.deep.equal([]);
  });

  it('as a service worker', async () => {
    const inWorker = program(
      '/agent',
      '{}',
      '(text) => { clients.matchAll({ includeUncontrolled: true }).then((all) => { for (const page of all) page.postMessage(text); }); }',
    );
    const url = await serve(`
      if (typeof document === 'undefined') {
        const begun = new Promise((resolve) => addEventListener('message', (event) => { event.waitUntil(new Promise((over) => setTimeout(over, 20_000))); resolve(); }));
        begin(begun);
      } else {
        navigator.serviceWorker.addEventListener('message', ({ data }) => { globalThis.reported = JSON.parse(data); });
        navigator.serviceWorker.register('/page.js', { type: 'module' });
        navigator.serviceWorker.ready.then(({ active }) => active.postMessage('begin'));
      }
      async function begin(begun) {
        await begun;
        run();
      }
      ${inWorker.replace(/^import .*$/m, '').replace('const client =', 'function run() { const client =')} }
      import { createClient } from 'agent-session-gateway/client';
    `);
    const opened = await openPage(url);
    expect(await reportOf(opened)).to.deep.equal(EXPECTED);
    expect(opened.problems).to.deep.equal([]);
  });
});
