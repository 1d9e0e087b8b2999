import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { todays } from '../support/daily.js';
import { blocksOf } from '../support/pages.js';
import { ROOT, runCommand } from '../support/program.js';

const [APP, TEST] = blocksOf('docs/testing.md');
const { compilerOptions } = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8')) as {
  readonly compilerOptions: { readonly paths: Readonly<Record<string, readonly [string]>> };
};

/** Runners, and how each is called. */
const RUNNERS: Readonly<Record<string, readonly string[]>> = {
  'node:test': ['--import', 'tsx', '--test', 'app.test.ts'],
  mocha: ['--import', 'tsx', join(ROOT, 'node_modules/mocha/bin/mocha.js'), '--no-config', 'app.test.ts'],
  vitest: [join(ROOT, 'test/node_modules/vitest/vitest.mjs'), 'run', '--config', 'vitest.config.ts'],
};

/** The page's test, in a folder of its own below the root, where the packages are found. */
function folderOf(runner: string): string {
  const folder = join(ROOT, '.cache/testing', runner.replace(':', '-'));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'app.ts'), APP!.code);
  writeFileSync(join(folder, 'app.test.ts'), TEST!.code.replace("'node:test'", `'${runner}'`));
  const alias = Object.entries(compilerOptions.paths).map(([name, [path]]) => ({
    find: `^${name}$`,
    replacement: join(ROOT, path),
  }));
  writeFileSync(
    join(folder, 'vitest.config.ts'),
    `const alias = ${JSON.stringify(alias)}.map(({ find, replacement }) => ({ find: new RegExp(find), replacement }));
export default { root: import.meta.dirname, resolve: { alias }, oxc: { target: 'es2023' } };\n`,
  );
  return folder;
}

describe('the test of docs/testing.md', () => {
  it('is no longer than twenty lines', () => {
    const [body] = /^it\([\s\S]*^\}\);$/m.exec(TEST!.code)!;
    expect(body.split('\n').length).to.be.at.most(20);
  });

  for (const [runner, args] of todays(Object.entries(RUNNERS), 3)) {
    it(`passes with ${runner}`, async () => {
      const env = { TSX_TSCONFIG_PATH: join(ROOT, 'tsconfig.json') };
      const program = runCommand(process.execPath, { args, cwd: folderOf(runner), env });
      expect(await program.exited, program.output).to.equal(0);
      expect(program.output).to.match(/asks once, whatever happens meanwhile|1 passed/);
    });
  }
});
