import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { build } from 'esbuild';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { startGateway } from '../support/gateway.js';
import { ROOT } from '../support/program.js';
import { closeLater } from '../support/resources.js';
import { platformGateway } from './gateway.js';
import { EXPECTED, program } from './program.js';
import { HOST } from './react-native.js';
import { needRuntime, RUNTIMES } from './runtimes.js';

const run = promisify(execFile);
const TRANSPORTS = ['sse', 'websocket'] as const;

/** A gateway behind a connection that is cut in the middle of the answer. */
async function start(): Promise<CuttingProxy> {
  let proxy: CuttingProxy | undefined;
  const { url } = await startGateway({ ...platformGateway(() => proxy?.cutAll()), auth: { type: 'none' } });
  proxy = await CuttingProxy.start(url);
  return proxy;
}

/** The program as one file, which is removed after the test. */
async function bundle(name: string, source: string, format: 'esm' | 'iife' = 'esm'): Promise<string> {
  const outfile = join(ROOT, `.cache/${name}-${process.pid}.mjs`);
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: ROOT, loader: 'ts' },
    absWorkingDir: ROOT,
    bundle: true,
    format,
    platform: 'browser',
    write: false,
  });
  writeFileSync(
    closeLater(outfile, (it) => rmSync(it)),
    outputFiles[0]!.contents,
  );
  return outfile;
}

/** Runs the program and reads what it reports; it has to end by itself. */
async function reported(command: string, args: readonly string[]): Promise<unknown> {
  const { stdout } = await run(command, [...args], { timeout: 30_000 });
  return JSON.parse(stdout.trim().split('\n').at(-1)!);
}

describe('the client runs', function () {
  this.timeout(600_000);

  for (const transport of TRANSPORTS) {
    for (const [name, runtime, args] of [
      ['Bun', RUNTIMES.bun, []],
      ['Deno', RUNTIMES.deno, ['run', '--no-config', '--no-lock', '--allow-net=127.0.0.1']],
    ] as const)
      it(`on ${name}, over ${transport}`, async function () {
        const command = await needRuntime(this, runtime);
        const proxy = await start();
        const file = await bundle(
          `${name.toLowerCase()}-${transport}`,
          program(proxy.url, `{ transport: '${transport}' }`, 'console.log'),
        );
        expect(await reported(command, [...args, file])).to.deep.equal(EXPECTED);
      });
  }

  /** Runs a script as on React Native. */
  const onReactNative = async (source: string): Promise<unknown> => {
    const host = closeLater(join(ROOT, `.cache/react-native-${process.pid}.mjs`), (it) => rmSync(it));
    writeFileSync(host, HOST);
    return reported(process.execPath, [host, await bundle('react-native-app', source, 'iife')]);
  };

  it('where there is no more than React Native has: over a WebSocket, by itself', async () => {
    const proxy = await start();
    expect(await onReactNative(program(proxy.url, '{}', 'console.log'))).to.deep.equal(EXPECTED);
  });

  it('says what to install where a fetch does not stream', async () => {
    const proxy = await start();
    const said = await onReactNative(`
import { createClient } from 'agent-session-gateway/client';
const client = createClient({ baseUrl: ${JSON.stringify(proxy.url)}, transport: 'sse' });
client.events('main').next().catch(({ code, message }) => console.log(JSON.stringify({ code, message })));`);
    expect(said).to.have.property('code', 'INVALID_REQUEST');
    expect(said)
      .to.have.property('message')
      .that.contains("transport: 'websocket'")
      .and.contains('expo/fetch');
  });
});
