import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { build } from 'esbuild';
import { ROOT } from '../support/program.js';

const MAX_PACKAGES = 90;

/** Bytes, minified and compressed. The core of the client has a budget of its own, in test/client. */
const SIZES = {
  // All a page can load, the part for WebSockets too.
  'client/index.ts': { max: 11_500, external: [] },
  'client/node/index.ts': { max: 4200, external: [] },
  // Without zod, which is the better part of it and often there already.
  'shared/index.ts': { max: 7400, external: ['zod'] },
} as const;

interface Locked {
  readonly dev?: boolean;
  readonly peer?: boolean;
  readonly devOptional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

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

  it(`a plain install pulls in at most ${MAX_PACKAGES} packages`, () => {
    const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
    const fits = (wanted: readonly string[] | undefined, own: string): boolean =>
      !wanted || wanted.includes(own);
    const installed = Object.entries<Locked>(packages).filter(
      ([path, { dev, peer, devOptional, os, cpu, libc }]) =>
        path !== '' &&
        !(dev || peer || devOptional) &&
        fits(os, process.platform) &&
        fits(cpu, process.arch) &&
        fits(libc, 'glibc'),
    );
    const names = installed.map(([path]) => path);
    expect(names).to.include.members(['node_modules/zod', 'node_modules/ws', 'node_modules/router']);
    expect(names.length, names.join('\n')).to.be.at.most(MAX_PACKAGES);
  });
});
