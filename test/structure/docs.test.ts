import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { DEFAULT_LIMITS } from '../../server/config/limits.js';
import { EVENTS_PATH } from '../../shared/calls.js';
import type { LoggedEventType, TransientEventType } from '../../shared/events.js';
import { HEALTH_PATHS, OPERATIONS } from '../../shared/operations.js';
import { ROOT } from '../support/program.js';

const run = promisify(execFile);
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`),
];

/** Names that the pages use without declaring them, so that their blocks can be short. */
const AMBIENT = `
declare const app: import('agent-session-gateway').Application;
declare const gateway: import('agent-session-gateway').Gateway<any, any, any>;
declare const client: import('agent-session-gateway/client').Client;
declare const watch: import('agent-session-gateway/client').Watch;
declare const auth: { token(): string; renew(): Promise<string> };
declare const db: any;
`;

const EVENTS: Record<LoggedEventType | TransientEventType, true> = {
  message_accepted: true,
  message_start: true,
  content_delta: true,
  reasoning_delta: true,
  tool_use: true,
  tool_confirmation_required: true,
  tool_confirmation_result: true,
  input_required: true,
  input_result: true,
  tool_progress: true,
  tool_result: true,
  data: true,
  steer: true,
  run_error: true,
  message_end: true,
  channel: true,
  custom: true,
  session_closed: true,
  connected: true,
  subscribed: true,
  heartbeat: true,
  gap: true,
  snapshot: true,
  auth_expired: true,
};

describe('documentation', () => {
  it('has TypeScript blocks that compile', async function () {
    this.timeout(600_000);
    const folder = join(ROOT, '.cache/docs');
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    let blocks = 0;
    for (const page of PAGES) {
      const name = page.replace(/^docs\/|\.md$/g, '').toLowerCase();
      [...read(page).matchAll(/^```(tsx?)\n([\s\S]*?)^```$/gm)].forEach(([, language, code], at) => {
        blocks += 1;
        // The README's blocks import each other by the names their first lines give.
        const file = /^\/\/ (\w+)\.tsx?$/m.exec(code!)?.[1] ?? `${name}-${at + 1}`;
        writeFileSync(join(folder, `${file}.${language}`), `${code}\nexport {};\n`);
      });
    }
    expect(blocks).to.be.above(15);
    writeFileSync(join(folder, 'ambient.d.ts'), AMBIENT);
    const options = { noUnusedLocals: false, noEmit: true, jsx: 'react-jsx' };
    const config = { extends: '../../tsconfig.json', compilerOptions: options, include: ['.'], exclude: [] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const { stdout } = await run(process.execPath, [tsc, '-p', folder]).catch(
      (error: { stdout: string }) => error,
    );
    expect(stdout).to.equal('');
  });

  it('links to pages that exist', () => {
    for (const page of PAGES) {
      for (const [, target] of read(page).matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)) {
        const base = page.startsWith('docs/') ? 'docs' : '.';
        expect(existsSync(join(ROOT, base, target!)), `${page} → ${target}`).to.equal(true);
      }
    }
  });

  it('lists every limit with its default', () => {
    const rows = [...read('docs/limits.md').matchAll(/^\| `([\w.]+)` \| (\w+) \|/gm)];
    const all = Object.fromEntries(
      Object.entries(DEFAULT_LIMITS).flatMap(([name, value]: [string, number | object]) =>
        typeof value === 'object'
          ? Object.entries(value).map(([inner, of]) => [`${name}.${inner}`, of])
          : [[name, value]],
      ),
    );
    expect(Object.fromEntries(rows.map(([, name, value]) => [name, Number(value)]))).to.deep.equal(all);
  });

  it('lists every route and every event', () => {
    const page = read('docs/protocol.md');
    for (const { http, path } of Object.values(OPERATIONS)) expect(page).to.contain(`\`${http} ${path}\``);
    for (const path of [EVENTS_PATH, ...Object.values(HEALTH_PATHS)])
      expect(page).to.contain(`\`GET ${path}\``);
    const rows = [...page.matchAll(/^\| ((?:`\w+`(?:, )?)+) \|/gm)].map(([, names]) => names!).join();
    for (const event of Object.keys(EVENTS)) expect(rows).to.contain(`\`${event}\``);
  });
});
