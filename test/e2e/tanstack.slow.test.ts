import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { needChromium } from '../support/browser.js';
import { todays } from '../support/daily.js';
import { ROOT } from '../support/program.js';
import { buildPage, sayIn } from './built-page.js';
import { behavesLikeAPage, openDocumented } from './documented-page.js';

/** The page of our documentation, as it stands there but for its address. */
function documented(): string {
  const [, code] = /^```jsx\n([\s\S]*?)^```$/m.exec(readFileSync(join(ROOT, 'docs/tanstack.md'), 'utf8'))!;
  return code!.replace('https://gateway.example/ag-ui', '/ag-ui');
}

/** The same with our own connection, in its place. */
function withGatewayConnection(): string {
  return `import { createClient } from 'agent-session-gateway/client';
import { gatewayConnection } from 'agent-session-gateway/client/tanstack';
${documented()}`
    .replace(
      'fetchServerSentEvents(url, { headers })',
      "gatewayConnection(createClient({ baseUrl: location.origin }), 'main')",
    )
    .replace('persistence: true', 'live: true')
    .replace(/fetch\(\S+, end\)/, 'connection.stop()');
}

const MAIN = `
import { createRoot } from 'react-dom/client';
import { Page } from './page.jsx';
createRoot(document.getElementById('root')).render(<Page thread="main" />);
`;

const WAYS = [
  ['its own connection', documented],
  ['gatewayConnection', withGatewayConnection],
] as const;

for (const [name, source] of todays(WAYS, WAYS.length))
  describe(`the documented page of TanStack AI with ${name}, built by Vite, in Chromium`, () => {
    let folder: string;

    before(async function () {
      needChromium(this);
      this.timeout(300_000);
      const id = `tanstack-${name.replaceAll(' ', '-')}`;
      folder = await buildPage(id, { 'page.jsx': source(), 'main.jsx': MAIN }, {});
    });

    const open = () => openDocumented(folder);

    /** Waits until the page shows just this, in whatever messages. */
    const shows = (page: Page, ...texts: string[]) =>
      page.waitForFunction(
        (expected) =>
          [...document.querySelectorAll('article')]
            .map((it) => it.innerText.trim())
            .filter(Boolean)
            .join(' ') === expected,
        texts.join(' '),
      );

    it('is cut and reloaded in the middle of an answer', async () => {
      const { page, proxy, words, runs } = await open();
      await sayIn(page, 'story');
      words[0]!.open();
      await shows(page, 'story', 'begin word-0');
      proxy.cutAll();
      words[1]!.open();
      await shows(page, 'story', 'begin word-0 word-1');
      await page.reload();
      await shows(page, 'story', 'begin word-0 word-1');
      words[2]!.open();
      await shows(page, 'story', 'begin word-0 word-1 word-2 end');
      await page.reload();
      await shows(page, 'story', 'begin word-0 word-1 word-2 end');
      expect(runs()).to.equal(1);
    });

    it('stops', async () => {
      const { page, words, gateway } = await open();
      await sayIn(page, 'story');
      words[0]!.open();
      await shows(page, 'story', 'begin word-0');
      const ended = new Promise((resolve) => gateway.on('run:ended', resolve));
      await page.click('text=Stop');
      await ended;
      await page.reload();
      await shows(page, 'story', 'begin word-0');
    });

    behavesLikeAPage({ open, shows, allowed: ['begin', 'end'] });
  });
