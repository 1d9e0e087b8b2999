import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { broken, MUTANTS } from '../mutants/mutants.js';
import { ROOT } from '../support/program.js';

describe('mutants', () => {
  it('have what they break, and a test', () => {
    for (const mutant of MUTANTS) {
      broken(mutant);
      expect(existsSync(join(ROOT, mutant.test)), mutant.test).to.equal(true);
    }
  });
});
