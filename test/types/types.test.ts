import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { measureTypeCost } from './type-cost.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const COMPILERS = {
  'TypeScript 7': 'node_modules/typescript/bin/tsc',
  'TypeScript 5.9': 'node_modules/typescript5/bin/tsc',
};

/** The design costs 256,000 (TypeScript 7.0.2, zod 4.6.7). Without deferred arguments it would cost 481,000. */
const MAX_INSTANTIATIONS = 320_000;

describe('the types of methods and calls', function () {
  this.timeout(120_000);

  for (const [name, compiler] of Object.entries(COMPILERS)) {
    it(`compile with ${name}, with every expected error`, async () => {
      const run = promisify(execFile)(process.execPath, [compiler, '-p', 'test/types/fixtures'], {
        cwd: ROOT,
      });
      const output = await run.then(
        ({ stdout }) => stdout,
        (error: { stdout?: string }) => error.stdout ?? String(error),
      );
      expect(output).to.equal('');
    });
  }

  it('stay cheap with a thousand methods', async () => {
    const { instantiations } = await measureTypeCost();
    expect(instantiations).to.be.greaterThan(0).and.at.most(MAX_INSTANTIATIONS);
  });
});
