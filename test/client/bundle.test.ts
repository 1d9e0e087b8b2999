import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Of the whole entry, SSE and WebSockets: what is used, and hardly more. bench/README.md says what for. */
const MAX_BYTES = 20_520;

describe('client bundle', () => {
  it('is within its bound and reaches neither server code, zod nor Node', async () => {
    const { outputFiles, metafile } = await build({
      entryPoints: ['client/index.ts'],
      absWorkingDir: ROOT,
      bundle: true,
      minify: true,
      write: false,
      metafile: true,
      format: 'esm',
      platform: 'browser',
    });
    const inputs = Object.keys(metafile.inputs);
    expect(
      inputs.filter((path) => !/^(client|shared|node_modules\/eventsource-parser)\//.test(path)),
    ).to.deep.equal([]);
    // The schemas bring zod, the error table more text than the client has room for.
    expect(inputs.filter((path) => /schemas|shared\/(index|errors)|client\/node/.test(path))).to.deep.equal(
      [],
    );
    expect(Object.values(metafile.outputs).flatMap((output) => output.imports)).to.deep.equal([]);
    expect(gzipSync(outputFiles[0]!.contents, { level: 9 }).length).to.be.at.most(MAX_BYTES);
  });
});
