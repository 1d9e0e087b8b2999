import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { needChromium } from '../support/browser.js';
import { todays } from '../support/daily.js';
import { ROOT } from '../support/program.js';
import { buildPage, sayIn } from './built-page.js';
import { behavesLikeAPage, openDocumented } from './documented-page.js';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const SCREENSHOTS = join(ROOT, '.cache/screenshots');

/** The page of our documentation, as it stands there but for its address. */
function documented(): string {
  const [, code] = /^```jsx\n([\s\S]*?)^```$/m.exec(read('docs/ui-message-stream.md'))!;
  return code!.replace("'https://gateway.example/api/chat'", "'/api/chat'");
}

/** The same with our own transport, in its place. */
function withGatewayChat(): string {
  return documented()
    .replace(
      'new DefaultChatTransport({ api, headers })',
      'gatewayChat(createClient({ baseUrl: location.origin }))',
    )
    .replace(
      /^/,
      "import { createClient } from 'agent-session-gateway/client';\nimport { gatewayChat } from 'agent-session-gateway/client/ai-sdk';\n",
    );
}

const MAIN = `
import { createRoot } from 'react-dom/client';
import { Page } from './page.jsx';
createRoot(document.getElementById('root')).render(<Page id="main" />);
`;

const WAYS = [
  { name: 'AI SDK 6', page: documented, alias: {} },
  { name: 'AI SDK 7', page: documented, alias: { '@ai-sdk/react': 'ai-react4', ai: 'ai7' } },
  {
    name: 'AI SDK 6 with gatewayChat',
    page: withGatewayChat,
    alias: {},
  },
];

for (const { name, page: source, alias } of todays(WAYS, WAYS.length))
  describe(`the documented page of ${name}, built by Vite, in Chromium`, () => {
    let folder: string;

    before(async function () {
      needChromium(this);
      this.timeout(300_000);
      const id = name.toLowerCase().replaceAll(' ', '-');
      folder = await buildPage(id, { 'page.jsx': source(), 'main.jsx': MAIN }, alias);
    });

    const open = () => openDocumented(folder);

    /** Waits until the page shows just these messages. */
    const shows = async (page: Page, ...texts: string[]): Promise<void> => {
      const wanted = texts.map((text) => text.trim());
      await page.waitForFunction(
        (expected) =>
          JSON.stringify([...document.querySelectorAll('article')].map((it) => it.innerText.trim())) ===
          expected,
        JSON.stringify(wanted),
      );
    };

    const picture = async (page: Page, what: string): Promise<void> => {
      mkdirSync(SCREENSHOTS, { recursive: true });
      await page.screenshot({ path: join(SCREENSHOTS, `${name} ${what}.png`.replaceAll(' ', '-')) });
    };

    it('is reloaded in the middle of an answer', async () => {
      const { page, problems, words } = await open();
      await sayIn(page, 'story');
      words[0]!.open();
      await shows(page, 'story', 'begin word-0');
      await page.reload();
      await shows(page, 'story', 'begin word-0');
      words[1]!.open();
      await shows(page, 'story', 'begin word-0 word-1');
      await picture(page, 'reloaded');
      words[2]!.open();
      await shows(page, 'story', 'begin word-0 word-1 word-2 end');
      await page.reload();
      await shows(page, 'story', 'begin word-0 word-1 word-2 end');
      expect(problems).to.deep.equal([]);
    });

    it('goes offline in the middle of an answer, and online again', async () => {
      const { page, words, proxy } = await open();
      await sayIn(page, 'story');
      words[0]!.open();
      await shows(page, 'story', 'begin word-0');
      // Chromium lets go on what it has when it is told to be offline.
      await page.context().setOffline(true);
      proxy.cutAll();
      words[1]!.open();
      await page.evaluate(() => new Promise((resolve) => setTimeout(resolve)));
      await picture(page, 'offline');
      await shows(page, 'story', 'begin word-0');
      await page.context().setOffline(false);
      await shows(page, 'story', 'begin word-0 word-1');
      words[2]!.open();
      await shows(page, 'story', 'begin word-0 word-1 word-2 end');
      await picture(page, 'online');
    });

    behavesLikeAPage({ open, shows, allowed: ['begin\n\nend'], picture });
  });
