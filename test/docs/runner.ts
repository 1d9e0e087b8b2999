// Runs the blocks of TypeScript that are tried, each in a world of its own, and writes a line of JSON about each to the file that is named.
//   node --import tsx test/docs/runner.ts report.ndjson
import './unhurried.js';
import { appendFileSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { setOpenAIAPI } from '@openai/agents';
import { Gateway } from 'agent-session-gateway';
import { sqliteStore } from 'agent-session-gateway/stores/sqlite';
import webPush from 'web-push';
import { BLOCKS, type Block } from '../support/pages.js';
import { closeAll, closeShared } from '../support/resources.js';
import { CHECKS, type Check, NOT_RUN, type Ran } from './checks.js';
import { tryGateways } from './gateways.js';
import { open } from './harbour.js';
import { pathOf } from './module.js';
import { showPage } from './page.js';
import { tryRestarts } from './restarts.js';
import { WANTED } from './wanted.js';
import { closeWorld, openWorld, serveInstead } from './world.js';

const [report = 'report.ndjson'] = process.argv.slice(2);
const reportPath = resolve(report);
const folder = mkdtempSync(join(tmpdir(), 'asg-docs-'));
const secret = 'a-secret-of-the-documentation-32-bytes';
const vapid = webPush.generateVAPIDKeys();
Object.assign(process.env, {
  GATEWAY_TOKEN: secret,
  HOOK_SECRET: Buffer.from(secret).toString('base64'),
  JWT_SECRET: secret,
  KEY: secret,
  METRICS_TOKEN: secret,
  OPENAI_API_KEY: 'none',
  OPENAI_BASE_URL: 'http://127.0.0.1:11434/v1',
  OPENAI_AGENTS_DISABLE_TRACING: '1',
  VAPID_PRIVATE: vapid.privateKey,
  VAPID_PUBLIC: vapid.publicKey,
  XDG_RUNTIME_DIR: folder,
});
setOpenAIAPI('chat_completions');
process.chdir(folder);
open();

/** What blocks print, and a wait for it. */
let printed = '';
let wake = () => {};
for (const name of ['log', 'error', 'warn', 'info'] as const) {
  console[name] = (...values: unknown[]) => {
    printed += `${values.map((value) => (typeof value === 'string' ? value : inspect(value))).join(' ')}\n`;
    wake();
  };
}
const { write } = process.stdout;
process.stdout.write = ((text: string) => {
  printed += text;
  wake();
  return true;
}) as typeof write;

async function prints(pattern: RegExp): Promise<void> {
  while (!pattern.test(printed)) await new Promise<void>((resolve) => (wake = resolve));
}

let loaded = 0;
/** Runs a block, anew each time. */
const load = (block: Block): Promise<Record<string, any>> =>
  import(`${pathToFileURL(pathOf(block)).href}?${++loaded}`);

/** The block whose gateway the client of a block is typed by, which is served to it. */
function servedTo(block: Block, { serves }: Check): Block | undefined {
  const [, file] = /^import type \{ gateway \} from '\.\/([\w/-]+)\.js'/m.exec(block.code) ?? [];
  if (!file) return BLOCKS.find(({ id }) => id === serves);
  const path = join(dirname(pathOf(block)), file);
  return BLOCKS.find((other) => pathOf(other).replace(/\.tsx?$/, '') === path);
}

async function run(block: Block, check: Check): Promise<void> {
  await openWorld(check.durable ? sqliteStore({ path: `world-${loaded}.db` }) : undefined);
  const host = servedTo(block, check);
  if (host) {
    const { gateway } = await load(host);
    const served: unknown = gateway?.gateway ?? gateway;
    if (served instanceof Gateway && !/\.start\(\)/.test(host.code)) serveInstead(served);
  }
  await check.before?.(block);
  printed = '';
  if (check.page) return showPage(block, check.page);
  const loading = load(block);
  if (check.prints) await Promise.race([prints(check.prints), loading.then(() => prints(check.prints!))]);
  // Whoever follows something for ever has been seen to do so.
  if (check.endless) loading.catch(() => {});
  const ran: Ran = { exports: check.endless ? {} : await loading, prints };
  // One that sleeps for a day is left to do so.
  const isResumed = /^ *resumable: true/m.test(block.code) && !/\bturn\.sleep\(/.test(block.code);
  if (check.after || !isResumed) await (check.after ?? tryGateways)(ran);
  if (isResumed) await tryRestarts(ran.exports);
}

for (const block of WANTED) {
  if (block.id in NOT_RUN) continue;
  const line: { id: string; error?: string; printed?: string } = { id: block.id };
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('it came to no end')), 60_000);
  });
  try {
    await Promise.race([run(block, CHECKS[block.id] ?? {}), late]);
  } catch (error) {
    line.error = inspect(error);
    line.printed = printed;
  }
  clearTimeout(timer);
  await closeWorld();
  await closeAll();
  appendFileSync(reportPath, `${JSON.stringify(line)}\n`);
}
await closeShared();
writeFileSync(`${reportPath}.done`, '');
process.exit();
