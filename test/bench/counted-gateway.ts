import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { Generator } from '../../bench/load/generator.js';
import { gateway } from '../../bench/peers/gateway.js';
import type { Door, Script } from '../../bench/peers/peer.js';
import { AS_PROGRAM } from '../../bench/rig/build.js';
import { freePort } from '../support/free-port.js';
import { ROOT } from '../support/program.js';
import { closeAtLast, closeLater } from '../support/resources.js';
import { tempDir } from '../support/temp-dir.js';
import type { CountCommand } from './counted-server.js';
import type { Made } from './counter.js';

export interface Counted extends Made {
  /** Turns of the event loop between the production of an event and a write, for all writes but a quarter. */
  readonly lateness: number;
  /** Bytes that were taken from the heap, where allocations are counted. */
  readonly allocated: number;
}

export interface CountOptions {
  readonly variant?: 'sqlite';
  /** Counts memory that is allocated, in code that is not optimised, and nothing else. */
  readonly allocations?: boolean;
}

let compiled: Promise<string> | undefined;

/** Compiles the program, since what compiles while it runs adds to functions. It lies where it finds the package's dependencies. */
function compile(): Promise<string> {
  compiled ??= (async () => {
    mkdirSync(join(ROOT, '.cache'), { recursive: true });
    const folder = closeAtLast(mkdtempSync(join(ROOT, '.cache/counted-')), (it) =>
      rmSync(it, { recursive: true, force: true }),
    );
    await build({
      entryPoints: [join(ROOT, 'test/bench/counted-server.ts')],
      outdir: folder,
      ...AS_PROGRAM,
      logLevel: 'error',
    });
    // As the package is built.
    const { withoutCopies } = await import(String(pathToFileURL(join(ROOT, 'scripts/bundle/spreads.mjs'))));
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.mjs'))) {
      const path = join(folder, file);
      writeFileSync(path, withoutCopies(readFileSync(path, 'utf8')));
    }
    return join(folder, 'counted-server.mjs');
  })();
  return compiled;
}

/** Enough room for all that is made between two counts, so that no collection comes in between. */
const ALLOCATIONS = ['--no-opt', '--min-semi-space-size=256', '--max-semi-space-size=256'];

/** A gateway in a process of its own that counts; it ends after the test. */
export class CountedGateway {
  readonly #child: ChildProcess;
  readonly #port: number;
  readonly #socketPath: string;

  static async start({ variant, allocations = false }: CountOptions = {}): Promise<CountedGateway> {
    const port = await freePort();
    const socketPath = join(tempDir(), 'gateway.sock');
    const flags = ['--expose-gc', ...(allocations ? ALLOCATIONS : [])];
    const args = [String(port), socketPath, variant ?? '', allocations ? 'allocations' : ''];
    const child = spawn(process.execPath, [...flags, await compile(), ...args], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    closeLater(child, () => child.kill('SIGKILL'));
    await said(child);
    return new CountedGateway(child, port, socketPath);
  }

  private constructor(child: ChildProcess, port: number, socketPath: string) {
    this.#child = child;
    this.#port = port;
    this.#socketPath = socketPath;
  }

  tell(command: CountCommand): Promise<object> {
    const answer = said(this.#child);
    this.#child.send(command);
    return answer;
  }

  /** What is made while something is done. */
  async count(work: () => Promise<unknown>): Promise<Counted> {
    await this.tell({ do: 'start' });
    await work();
    return (await this.tell({ do: 'stop' })) as Counted;
  }

  /** Clients that have connected as the scripts of a door say. */
  async clients(door: Door, scripts: readonly Script[]): Promise<Generator> {
    const clients = closeLater(new Generator(), (it) => it.destroy());
    await clients.connect(scripts, door === 'unix' ? { path: this.#socketPath } : { port: this.#port });
    return clients;
  }
}

export const { doors } = gateway;

async function said(child: ChildProcess): Promise<object> {
  const ended = new AbortController();
  const [message] = await Promise.race([
    once(child, 'message', { signal: ended.signal }),
    once(child, 'exit', { signal: ended.signal }).then(([code, signal]) => {
      throw new Error(`the gateway that counts has ended (${code ?? signal})`);
    }),
  ]).finally(() => ended.abort());
  return message;
}
