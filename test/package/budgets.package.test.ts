import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { build } from 'esbuild';
import { ROOT } from '../support/program.js';

/** Bytes, minified and compressed. The core of the client has a budget of its own, in test/client. */
const SIZES = {
  // All a page can load, the part for WebSockets too. The aim of 12 KiB is not reached: bench/README.md says what it is spent on.
  'client/index.ts': { max: 20_520, external: [] },
  'client/node/index.ts': { max: 6_640, external: [] },
  // Without zod, which is the better part of it and often there already.
  'shared/index.ts': { max: 15_700, external: ['zod'] },
} as const;

/** What files, whole sessions, pushes, runs and what a device keeps may add to a page that has the client. */
const APART = { files: 580, history: 400, push: 400, runs: 320, offline: 3_400 } as const;

/** What hooks may add to a page that has the client, besides their framework. */
const HOOKS = { react: 5120, vue: 1150, svelte: 1024 } as const;

describe('budgets', () => {
  const sizeOf = async (entry: string, external: readonly string[]): Promise<number> => {
    const { outputFiles } = await build({
      stdin: { contents: entry, resolveDir: ROOT },
      absWorkingDir: ROOT,
      bundle: true,
      minify: true,
      write: false,
      format: 'esm',
      platform: entry.includes('/node/') ? 'node' : 'browser',
      external: [...external],
    });
    return gzipSync(outputFiles[0]!.contents, { level: 9 }).length;
  };

  for (const [entry, { max, external }] of Object.entries(SIZES)) {
    it(`${entry} is at most ${max} bytes`, async () => {
      // A budget that is far from what is used guards nothing.
      expect(await sizeOf(`export * from './${entry}'`, external))
        .to.be.at.most(max)
        .and.above(max * 0.8);
    });
  }

  for (const [name, max] of Object.entries(APART)) {
    it(`client/${name} adds at most ${max} bytes to the client, and nothing to a page that does not use it`, async () => {
      const client = "export * from './client/index.ts';";
      const entry = `client/${name}/index.ts`;
      const added = (await sizeOf(`${client}export * from './${entry}';`, [])) - (await sizeOf(client, []));
      expect(added)
        .to.be.at.most(max)
        .and.above(max * 0.6);
      const used = await build({
        stdin: { contents: client, resolveDir: ROOT },
        absWorkingDir: ROOT,
        bundle: true,
        write: false,
        metafile: true,
        format: 'esm',
      });
      expect(Object.keys(used.metafile.inputs)).to.not.include(entry);
    });
  }

  for (const [name, max] of Object.entries(HOOKS)) {
    it(`client/${name} adds at most ${max} bytes to the client`, async () => {
      const client = "export * from './client/index.ts';";
      const hooks = `export * from './client/${name}/index.ts';`;
      const external = [name, `${name}/*`];
      const added = (await sizeOf(client + hooks, external)) - (await sizeOf(client, external));
      expect(added)
        .to.be.at.most(max)
        .and.above(max * 0.6);
    });
  }
});
