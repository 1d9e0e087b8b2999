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

interface Traced {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** µs: when it began, how long it took, and how long of that its thread worked. */
  readonly ts: number;
  readonly dur?: number;
  readonly tdur?: number;
}

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
const browser = page.context().browser()!;
await browser.startTracing(page, { categories: ['devtools.timeline'] });
const before = await figures(devtools);
const shown = await page.locator('.message').count();
await page.waitForFunction(() => !document.querySelector('.composer .stop'), undefined, { polling: 500 });
const after = await figures(devtools);
const paint = paintMs(JSON.parse(String(await browser.stopTracing())));
const pieces = seconds * A_SECOND;
const ms = (name: string) => ((after[`${name}Duration`] ?? 0) - (before[`${name}Duration`] ?? 0)) * 1000;
const parts = { script: ms('Script'), style: ms('RecalcStyle'), layout: ms('Layout'), paint };
const sum = Object.values(parts).reduce((a, b) => a + b, 0);
console.log(`${shown} messages on the page, ${pieces} pieces, ms of the main thread a piece:`);
for (const [name, value] of Object.entries({ ...parts, 'these four': sum, all: ms('Task') }))
  console.log(`  ${name}: ${(value / pieces).toFixed(2)}`);
process.exit(0);

async function figures(from: typeof devtools): Promise<Record<string, number>> {
  const { metrics } = await from.send('Performance.getMetrics');
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
}

/** Time in which the thread that runs scripts paints. */
function paintMs({ traceEvents }: { traceEvents: readonly Traced[] }): number {
  const threadOf = ({ pid, tid }: Traced) => `${pid} ${tid}`;
  const main = threadOf(traceEvents.find(({ name }) => name === 'UpdateLayoutTree')!);
  const paints = traceEvents
    .filter((event) => threadOf(event) === main && /^(?:Pre)?Paint$|^Layerize$/.test(event.name))
    .sort((a, b) => a.ts - b.ts);
  let [all, end] = [0, 0];
  for (const { ts, dur = 0, tdur = 0 } of paints) {
    // One within another one is part of it.
    if (ts < end) continue;
    end = ts + dur;
    all += tdur / 1000;
  }
  return all;
}
