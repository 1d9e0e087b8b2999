import { join } from 'node:path';
import { expect } from 'chai';
import { COMPILERS, compile } from '../support/compile.js';
import { isToday } from '../support/daily.js';
import { ROOT } from '../support/program.js';
import { measureTypeCost } from './type-cost.js';

/**
 * The mixed project costs 256,000 (TypeScript 7.0.2, zod 4.6.7), the deep one 267,000, a generated client 29,000, by one checker and
 * without what declarations of libraries cost, which is 208,000 more (zod and Node's) however few methods there are. Checkers that work
 * side by side, as by default, count what they share once each: 489,000. Without deferred arguments the mixed one would cost 481,000.
 */
const MAX_INSTANTIATIONS = { mixed: 300_000, deep: 300_000, generated: 45_600 } as const;

describe('the types of methods and calls', () => {
  for (const compiler of COMPILERS) {
    // The older one takes several times as long.
    if (compiler === 'typescript5' && !isToday(0, 2)) continue;
    it(`compile with ${compiler}, with every expected error`, async () => {
      expect(await compile(compiler, join(ROOT, 'test/types/fixtures'))).to.equal('');
    });
  }

  for (const [shape, most] of Object.entries(MAX_INSTANTIATIONS)) {
    it(`stay cheap with a thousand methods, ${shape}`, async () => {
      const { instantiations } = await measureTypeCost(shape as keyof typeof MAX_INSTANTIATIONS);
      expect(instantiations).to.be.greaterThan(0).and.at.most(most);
    });
  }
});
