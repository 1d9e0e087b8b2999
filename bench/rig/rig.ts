import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command, Connected, Counts } from '../load/commands.js';
import type { Target } from '../load/connection.js';
import type { ServerAnswers, ServerCommand } from '../peers/commands.js';
import { loadPeer, parsePeer } from '../peers/index.js';
import type { Door, Doors, Peer, Script } from '../peers/peer.js';
import { Child } from './child.js';
import { freePort } from './free-port.js';
import { BUILT, BUILT_PACKAGE, UNTOLD_PACKAGE } from './paths.js';

const SERVER_CORE = 0;
const LOAD_CORE = 1;
const SOCKET = 'gateway.sock';

export interface RigOptions {
  /** Folder of the compiled package that the peer `other` runs. */
  readonly against?: string;
  /** Folder for CPU profiles of the servers. */
  readonly profiles?: string;
  /** Of the store of the variants `redis` and `postgres`. */
  readonly storeUrl?: string;
}

/** A server that runs in a process of its own. */
export class Server {
  readonly name: string;
  readonly #peer: Peer;
  readonly #child: Child;
  readonly #port: number;
  readonly #folder: string;

  static async start(name: string, { against, profiles, storeUrl }: RigOptions): Promise<Server> {
    const peer = await loadPeer(name);
    const port = await freePort();
    const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
    const socketPath = join(folder, SOCKET);
    const child = await Child.start(name, join(BUILT, 'peers/main.mjs'), {
      core: SERVER_CORE,
      flags: ['--expose-gc', ...(profiles ? ['--cpu-prof', `--cpu-prof-dir=${profiles}`] : [])],
      args: [name, String(port), socketPath],
      env: { PACKAGE: packageOf(name, against), ...(storeUrl && { STORE_URL: storeUrl }) },
    });
    return new Server(name, peer, child, port, folder);
  }

  private constructor(name: string, peer: Peer, child: Child, port: number, folder: string) {
    this.name = name;
    this.#peer = peer;
    this.#child = child;
    this.#port = port;
    this.#folder = folder;
  }

  tell<D extends ServerCommand['do']>(
    command: Extract<ServerCommand, { do: D }>,
  ): Promise<D extends keyof ServerAnswers ? ServerAnswers[D] : object> {
    return this.#child.ask(command);
  }

  /** A script of one of its doors. */
  script<D extends Door>(door: D, ...args: Parameters<NonNullable<Doors[D]>>): Script {
    const make = this.#peer.doors[door] as ((...args: readonly unknown[]) => Script) | undefined;
    if (!make) throw new Error(`${this.name} has no ${door}`);
    return make(...args);
  }

  get saysDeltas(): number {
    return this.#peer.saysDeltas ?? 1;
  }

  target(door: Door): Target {
    return door === 'unix' ? { path: join(this.#folder, SOCKET) } : { port: this.#port };
  }

  async stop(): Promise<void> {
    await this.#child.stop({ do: 'exit' });
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Clients in a process of their own. */
export class Load {
  readonly #child: Child;

  /** Connects one client for each script. Throws where some can't. */
  static async connect(server: Server, door: Door, scripts: readonly Script[]): Promise<Load> {
    const load = new Load(
      await Child.start('the load generator', join(BUILT, 'load/main.mjs'), { core: LOAD_CORE }),
    );
    try {
      const command = { do: 'connect', scripts, target: server.target(door) } as const;
      // Each takes some milliseconds of a machine that is busy.
      const { ready } = await load.#tell<Connected>(command, 120_000 + 20 * scripts.length);
      if (ready < scripts.length)
        throw new Error(`${server.name}: ${ready} of ${scripts.length} clients connected`);
      return load;
    } catch (error) {
      await load.stop();
      throw error;
    }
  }

  private constructor(child: Child) {
    this.#child = child;
  }

  #tell<T>(command: Command, timeoutMs?: number): Promise<T> {
    return this.#child.ask<T>(command, timeoutMs);
  }

  zero(latencies = false): Promise<object> {
    return this.#tell({ do: 'zero', latencies });
  }

  count(events: number, timeoutMs = 8000): Promise<Counts> {
    return this.#tell({ do: 'count', events, timeoutMs });
  }

  fire(events: number, timeoutMs = 60_000): Promise<Counts> {
    return this.#tell({ do: 'fire', events, timeoutMs });
  }

  requests(total: number, answers: 'http' | 'marked', timeoutMs = 60_000): Promise<Counts> {
    return this.#tell({ do: 'requests', total, answers, timeoutMs });
  }

  rate(perSecond: number, answers: 'http' | 'marked' = 'http'): Promise<object> {
    return this.#tell({ do: 'rate', perSecond, answers });
  }

  counts(): Promise<Counts> {
    return this.#tell({ do: 'counts' });
  }

  stop(): Promise<void> {
    return this.#child.stop();
  }
}

function packageOf(name: string, against: string | undefined): string {
  const { peer, variant } = parsePeer(name);
  if (peer === 'other') return against!;
  return variant === 'untold' ? UNTOLD_PACKAGE : BUILT_PACKAGE;
}
