import cluster from 'node:cluster';
import { GatewayError } from 'agent-session-gateway/client';
import { packageModule } from '../../runtime/package-files.js';
import { isSharedPlace, shownPlace } from '../../runtime/store-at.js';
import { type Ended, KeptProcess } from './kept-process.js';
import type { StartWorkerOptions, StartWorkerStarted } from './start-worker.js';

/** Options of the workers, and their number. */
export interface FleetOptions extends StartWorkerOptions {
  readonly workers: number;
}

/** Events of the workers. */
export interface FleetEvents {
  /** A worker ended by itself, and is started again. */
  ended(worker: Ended): void;
}

/**
 * Workers that share a port and a store, each with a gateway. This process only distributes connections and restarts the others, so that no app
 * holds it up.
 */
export class Fleet {
  readonly #workers: readonly KeptProcess<StartWorkerStarted>[];
  #closing: Promise<void> | null = null;

  /** @throws GatewayError `INVALID_REQUEST` if the database is one process's alone */
  constructor({ workers, ...options }: FleetOptions, events: FleetEvents) {
    const { db } = options;
    if (!isSharedPlace(db))
      throw new GatewayError({
        code: 'INVALID_REQUEST',
        message: `Workers cannot share ${shownPlace(db)}, which one process alone can use: name a Redis or PostgreSQL with --db or GATEWAY_DB`,
      });
    cluster.setupPrimary({ exec: packageModule('server/cli/serve/start-worker') });
    this.#workers = Array.from(
      { length: workers },
      (_, worker) =>
        new KeptProcess({
          spawn: () => cluster.fork().process,
          options: { ...options, ...(options.monitor && { monitor: { ...options.monitor, worker } }) },
          ended: (ended) => events.ended(ended),
        }),
    );
  }

  /** Starts all workers. @throws GatewayError the reason why one did not start; then all are ended */
  async start(): Promise<StartWorkerStarted> {
    try {
      const [started] = await Promise.all(this.#workers.map((worker) => worker.start()));
      return started!;
    } catch (error) {
      // The caller of `close` ends this process too, so report no error.
      if (this.#closing) await new Promise(() => {});
      await this.close();
      throw error;
    }
  }

  /** Has all workers take a changed configuration in. */
  reload(): void {
    for (const worker of this.#workers) worker.reload();
  }

  /** Lets all workers drain. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.end((child) => child.kill('SIGTERM'))));
  }
}
