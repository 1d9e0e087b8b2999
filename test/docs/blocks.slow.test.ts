import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import ts from 'typescript5';
import { needChromium } from '../support/browser.js';
import { compile } from '../support/compile.js';
import { BLOCKS, SCRIPTS } from '../support/pages.js';
import { ROOT } from '../support/program.js';
import { CHECKS, NOT_RUN } from './checks.js';
import { RUN_CONFIG, writeBlocks, writeProjects, writeScripts } from './module.js';
import { unpackPackage } from './packed.js';
import { WANTED } from './wanted.js';

const run = promisify(execFile);

interface Line {
  readonly id: string;
  readonly error?: string;
  readonly printed?: string;
}

/** Blocks of JavaScript that know which member of a union they have, or leave out what may be left out, of a package of others. Pages are run by test/e2e, the rest by test/plugins. */
const NARROWED = ['a2a', 'responses', 'tanstack', 'ui-message-stream'].map((page) => `docs/${page}.md#js1`);

/** What became of each block. */
async function runBlocks(): Promise<ReadonlyMap<string, Line>> {
  const report = join(mkdtempSync(join(tmpdir(), 'asg-docs-')), 'report.ndjson');
  const args = ['--import', 'tsx', join(ROOT, 'test/docs/runner.ts'), report];
  const env = { ...process.env, TSX_TSCONFIG_PATH: RUN_CONFIG };
  const { stderr } = await run(process.execPath, args, { cwd: ROOT, env, maxBuffer: 64 << 20 });
  expect(existsSync(`${report}.done`), stderr).to.equal(true);
  const lines = readFileSync(report, 'utf8').trim().split('\n');
  return new Map(lines.map((line): [string, Line] => [JSON.parse(line).id, JSON.parse(line)]));
}

describe('the TypeScript blocks of the documentation', () => {
  let lines: ReadonlyMap<string, Line> = new Map();

  before(async function () {
    // Each block has a limit of its own.
    this.timeout(0);
    await unpackPackage();
    writeBlocks();
    lines = await runBlocks();
  });

  it('compile, with the types of what they are given', async function () {
    this.timeout(0);
    for (const config of writeProjects(WANTED)) expect(await compile('typescript', config)).to.equal('');
  });

  it('of JavaScript compile as far as they are whole, and are JavaScript', async () => {
    const said = await compile('typescript', writeScripts(SCRIPTS));
    const errors = [...said.matchAll(/^\S*docs-blocks\/(\S+?)\(.*error (TS\d+).*$/gm)];
    const isNarrow = (file: string, code: string): boolean =>
      ['TS2322', 'TS2339', 'TS2504', 'TS2739', 'TS2741'].includes(code) &&
      NARROWED.includes(SCRIPTS.find((script) => script.file === file)!.id);
    expect(errors.filter(([, file, code]) => !isNarrow(file!, code!)).map(([line]) => line)).to.deep.equal(
      [],
    );
    expect(said === '' || errors.length > 0, said).to.equal(true);
    const options = { reportDiagnostics: true, fileName: 'block.jsx' };
    for (const { id, code } of SCRIPTS)
      expect(
        ts.transpileModule(code, options).diagnostics!.map(({ messageText }) => messageText),
        id,
      ).to.deep.equal([]);
  });

  for (const { id } of WANTED) {
    if (NOT_RUN[id]) continue;
    it(`${id} runs`, function () {
      if (CHECKS[id]?.page) needChromium(this);
      const line = lines.get(id);
      expect(line, 'it was not run').to.not.equal(undefined);
      expect(line?.error, line?.printed).to.equal(undefined);
    });
  }

  it('have no checks without a block, and only the README has blocks that are run elsewhere', () => {
    const ids = BLOCKS.map(({ id }) => id);
    for (const id of [...Object.keys(CHECKS), ...Object.keys(NOT_RUN)]) expect(ids).to.include(id);
  });
});
