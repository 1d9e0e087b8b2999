import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { build } from 'esbuild';
import { ROOT } from '../support/program.js';

/** Bytes, minified and compressed. The core of the client has a budget of its own, in test/client. */
const SIZES = {
  // All a page can load, the part for WebSockets too. The aim is 12 KiB.
  'client/index.ts': { max: 18_000, external: [] },
  'client/node/index.ts': { max: 5300, external: [] },
  // Without zod, which is the better part of it and often there already.
  'shared/index.ts': { max: 8700, external: ['zod'] },
} as const;

describe('budgets', () => {
  for (const [entry, { max, external }] of Object.entries(SIZES)) {
    it(`${entry} is at most ${max} bytes`, async () => {
      const { outputFiles } = await build({
        entryPoints: [entry],
        absWorkingDir: ROOT,
        bundle: true,
        minify: true,
        write: false,
        format: 'esm',
        platform: entry.includes('/node/') ? 'node' : 'browser',
        external: [...external],
      });
      const { length } = gzipSync(outputFiles[0]!.contents, { level: 9 });
      // A budget that is far from what is used guards nothing.
      expect(length)
        .to.be.at.most(max)
        .and.above(max * 0.8);
    });
  }
});
