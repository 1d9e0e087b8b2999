import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { PAGES } from '../support/pages.js';
import { ROOT } from '../support/program.js';

const run = promisify(execFile);
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** Names that the pages use without declaring them, so that their blocks can be short. */
const AMBIENT = `
declare const app: import('agent-session-gateway').Application;
declare const gateway: import('agent-session-gateway').Gateway<any, any, any>;
declare const client: import('agent-session-gateway/client').Client;
declare const watch: import('agent-session-gateway/client').Watch;
declare const auth: { token(): string; renew(): Promise<string> };
declare const db: any;
`;

describe('documentation', () => {
  it('has TypeScript blocks that compile', async () => {
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
});
