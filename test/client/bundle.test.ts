import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MAX_BYTES = 8192;

/** What only WebSockets need: loaded when it is used. */
const LATER = ['./websocket-frames.js', './transport/auto.js'];

describe('client bundle', () => {
  it('has a core within 8 KiB and reaches neither server code, zod nor Node', async () => {
    const { outputFiles, metafile } = await build({
      entryPoints: ['client/index.ts'],
      absWorkingDir: ROOT,
      bundle: true,
      minify: true,
      write: false,
      metafile: true,
      format: 'esm',
      platform: 'browser',
      external: LATER,
    });
    const inputs = Object.keys(metafile.inputs);
    const foreign = inputs.filter(
      (path) => !/^(client|shared)\/|^node_modules\/eventsource-parser\//.test(path),
    );
    expect(foreign).to.deep.equal([]);
    expect(inputs.filter((path) => /schemas|shared\/index|client\/node|frame/.test(path))).to.deep.equal([]);
    const imports = Object.values(metafile.outputs).flatMap((output) => output.imports);
    expect(imports.map(({ kind }) => kind)).to.deep.equal(LATER.map(() => 'dynamic-import'));
    expect(imports.map(({ path }) => path)).to.have.members(LATER);
    expect(gzipSync(outputFiles[0]!.contents, { level: 9 }).length).to.be.at.most(MAX_BYTES);
  });
});
