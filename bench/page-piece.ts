// Processor time of the playground's page for a piece of an answer, in a long conversation: time of its main thread, which other load of the machine
// does not change. The page must be built.
//   node --import tsx bench/page-piece.ts [messages] [seconds]
import { createGateway, defineApp } from '../server/index.js';
import { playgroundPlugin } from '../server/plugins/playground/index.js';
import { openPage } from '../test/support/browser.js';

const [messages = 500, seconds = 10] = process.argv.slice(2).map(Number);
const A_SECOND = 50;
const PARAGRAPH =
  'The **quick** fox reads `code` and [a page](https://example.com), writes a line and goes on with words that fill the width of the page. ';
const LONG = `# A heading\n\n${PARAGRAPH.repeat(3)}\n\n- one\n- two\n\n\`\`\`ts\nconst a = 1;\n\`\`\`\n`;

const app = defineApp({
  async *run({ signal }) {
    const began = performance.now();
    for (let at = 0; at < seconds * A_SECOND && !signal.aborted; at++) {
      yield at % 120 === 119 ? '\n\n' : `${PARAGRAPH.split(' ')[at % 24]} `;
      const due = began + ((at + 1) * 1000) / A_SECOND;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
    }
  },
});
const gateway = createGateway({
  app,
  auth: { type: 'none' },
  port: 0,
  limits: { importedMessages: messages },
});
gateway.use(playgroundPlugin());
const { url } = await gateway.start();
await gateway.session('main').import(
  Array.from({ length: messages }, (_, at) => ({
    id: `m${at}`,
    role: at % 2 ? ('assistant' as const) : ('user' as const),
    content: at % 2 ? LONG : `What about ${at}?`,
  })),
);
const { page } = await openPage(`${url}/playground/#/chat/main`);
await page.waitForSelector('.message');
// All of the conversation is on the page.
for (const more = page.getByRole('button', { name: 'Earlier messages' }); await more.count(); )
  await Promise.all([more.click(), page.waitForTimeout(300)]);
const devtools = await page.context().newCDPSession(page);
await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
await page.getByLabel('Message', { exact: true }).fill('go');
await page.keyboard.press('Enter');
await page.waitForSelector('.composer .stop');
const before = await figures(devtools);
const shown = await page.locator('.message').count();
await page.waitForFunction(() => !document.querySelector('.composer .stop'), undefined, { polling: 500 });
const after = await figures(devtools);
const pieces = seconds * A_SECOND;
const each = (name: string) => ((((after[name] ?? 0) - (before[name] ?? 0)) * 1000) / pieces).toFixed(2);
console.log(`${shown} messages on the page, ${pieces} pieces, ms of the main thread a piece:`);
for (const name of ['TaskDuration', 'ScriptDuration', 'LayoutDuration', 'RecalcStyleDuration'])
  console.log(`  ${name.replace('Duration', '')}: ${each(name)}`);
process.exit(0);

async function figures(from: typeof devtools): Promise<Record<string, number>> {
  const { metrics } = await from.send('Performance.getMetrics');
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
}
