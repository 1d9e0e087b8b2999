import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { build, type PluginBuild } from 'esbuild';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MAX_BYTES = 8704;

/** What fetches the code for WebSockets when it is used may add to the core. */
const MAX_LOADER_BYTES = 256;

/** @param loader Whether the loader of WebSockets is in it, or an empty one in its place. */
async function bundle(loader: boolean) {
  const { outputFiles, metafile } = await build({
    entryPoints: ['client/index.ts'],
    absWorkingDir: ROOT,
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'browser',
    external: ['./sockets.js'],
    plugins: loader ? [] : [{ name: 'core', setup: leaveOutLoader }],
  });
  const inputs = Object.keys(metafile.inputs);
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports);
  return { inputs, imports, bytes: gzipSync(outputFiles[0]!.contents, { level: 9 }).length };
}

function leaveOutLoader({ onLoad }: PluginBuild): void {
  onLoad({ filter: /client\/transport\/websocket\.ts$/ }, () => ({
    contents: 'export const socketTransport = undefined, webSocketTransport = undefined;',
  }));
}

describe('client bundle', () => {
  it('has a core within 8.5 KiB and reaches neither server code, zod nor Node', async () => {
    const { inputs, imports, bytes } = await bundle(false);
    expect(inputs.filter((path) => !/^(client|shared)\//.test(path))).to.deep.equal([]);
    // The schemas bring zod, the error table more text than the client has room for.
    expect(inputs.filter((path) => /schemas|shared\/(index|errors)|client\/node/.test(path))).to.deep.equal(
      [],
    );
    expect(imports).to.deep.equal([]);
    expect(bytes).to.be.at.most(MAX_BYTES);
  });

  it('carries no code for WebSockets but what fetches it', async () => {
    const { inputs, imports, bytes } = await bundle(true);
    expect(imports.map(({ kind, path }) => `${kind} ${path}`)).to.deep.equal(['dynamic-import ./sockets.js']);
    expect(inputs.filter((path) => /frame/.test(path))).to.deep.equal([]);
    expect(bytes).to.be.at.most(MAX_BYTES + MAX_LOADER_BYTES);
  });
});
