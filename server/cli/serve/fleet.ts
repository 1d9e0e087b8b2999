import { fork } from 'node:child_process';
import cluster from 'node:cluster';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageModule } from '../../runtime/package-files.js';
import { filesOf, isSharedPlace, servedPlaceOf } from '../../runtime/store-at.js';
import { type Ended, KeptProcess } from './kept-process.js';
import type { StartWorkerOptions, StartWorkerStarted } from './start-worker.js';
import type { StoreProcessOptions } from './store-process.js';

/** Options of the workers, and their number. */
export interface FleetOptions extends StartWorkerOptions {
  readonly workers: number;
  readonly standby: boolean;
}

/** Events of the processes. */
export interface FleetEvents {
  /** A process ended by itself, and is started again. */
  ended(what: 'worker' | 'store', ended: Ended): void;
}

/**
 * Workers that share a port, each with a gateway, and the process that keeps their store, unless the store is a server. This process only distributes
 * connections and restarts the others, so that no disk and no app holds it up.
 */
export class Fleet {
  readonly #workers: readonly KeptProcess<StartWorkerStarted>[];
  readonly #store: KeptProcess<object> | null;
  readonly #folder: string | null;
  #closing: Promise<void> | null = null;

  constructor({ workers, standby, ...options }: FleetOptions, events: FleetEvents) {
    const { db } = options;
    this.#folder = db === 'memory' ? mkdtempSync(join(tmpdir(), 'agent-gateway-')) : null;
    const served = this.#folder ? join(this.#folder, 'socket') : servedPlaceOf(db);
    this.#store = isSharedPlace(db)
      ? null
      : new KeptProcess({
          spawn: () => fork(packageModule('server/cli/serve/store-process')),
          options: { place: db, path: served, standby } satisfies StoreProcessOptions,
          ended: (ended) => events.ended('store', ended),
        });
    const files = options.files ?? filesOf(this.#folder ? join(this.#folder, 'sessions') : db);
    const ofWorkers = this.#store ? { ...options, db: `unix://${served}`, files } : options;
    cluster.setupPrimary({ exec: packageModule('server/cli/serve/start-worker') });
    this.#workers = Array.from(
      { length: workers },
      (_, worker) =>
        new KeptProcess({
          spawn: () => cluster.fork().process,
          options: { ...ofWorkers, ...(options.monitor && { monitor: { ...options.monitor, worker } }) },
          ended: (ended) => events.ended('worker', ended),
        }),
    );
  }

  /** Starts all processes. @throws GatewayError the reason why one did not start; then all are ended */
  async start(): Promise<StartWorkerStarted> {
    try {
      await this.#store?.start();
      const [started] = await Promise.all(this.#workers.map((worker) => worker.start()));
      return started!;
    } catch (error) {
      // The caller of `close` ends this process too, so report no error.
      if (this.#closing) await new Promise(() => {});
      await this.close();
      throw error;
    }
  }

  /** Lets all workers drain, and then ends their store. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.end((child) => child.kill('SIGTERM'))));
    await this.#store?.end((child) => {
      if (child.connected) child.disconnect();
    });
    if (this.#folder) rmSync(this.#folder, { recursive: true, force: true });
  }
}
