import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Program, ROOT } from '../support/program.js';
import { closeLater } from '../support/resources.js';

/** Uses the blocks of the page, in their order. */
const PROGRAM = `
import { createGateway, defineApp, method } from 'agent-session-gateway';
import './block-1.js';
import { requestLog } from './block-2.js';

const gateway = createGateway({
  embedded: true,
  auth: { type: 'none' },
  app: defineApp({ run: (turn) => turn.text }),
  methods: { whoami: method({ handler: async () => requestLog.getStore()?.user }) },
});
Object.assign(globalThis, { gateway });
await gateway.session('main').send('hello').result;
const response = await gateway.fetch(
  new Request('http://localhost/invoke', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"method":"whoami"}',
  }),
);
console.log('whoami ' + (await response.text()));
await import('./block-3.js');
await gateway.close();
`;

describe('the page on observability', () => {
  it('has blocks that do what they say', async function () {
    this.timeout(60_000);
    const folder = join(ROOT, '.cache/observability');
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const page = readFileSync(join(ROOT, 'docs/observability.md'), 'utf8');
    const blocks = [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code]) => code!);
    for (const [at, code] of blocks.entries())
      writeFileSync(join(folder, `block-${at + 1}.ts`), `${code}\nexport {};\n`);
    writeFileSync(join(folder, 'program.ts'), PROGRAM);
    const child = spawn(process.execPath, ['--import', 'tsx', join(folder, 'program.ts')], { cwd: ROOT });
    const program = closeLater(new Program(child), (it) => it.kill('SIGKILL'));
    expect(await program.exited, program.output).to.equal(0);
    const lines = program.output.split('\n').filter((line) => line.startsWith('{'));
    const operations = lines.map((line) => JSON.parse(line));
    expect(operations.map(({ operation, code }) => [operation, code])).to.deep.equal([
      ['send', 'ok'],
      ['invoke', 'ok'],
    ]);
    expect(operations[1]).to.include({ method: 'whoami', transport: 'http', user: 'anonymous' });
    for (const { ms } of operations) expect(ms).to.be.greaterThan(0);
    expect(program.output).to.match(/^whoami "anonymous"$/m);
    expect(program.output).to.match(/^0 0 0 0$/m);
  });
});
