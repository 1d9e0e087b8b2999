import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { packageModule } from '../../runtime/package-files.js';
import type { ServeReport } from './running-service.js';

/** How long a process may take to end before it is killed, in milliseconds. */
const STOP_MS = 10_000;

/** Events of the serving process. */
export interface SupervisorEvents<Started> {
  started(what: Started): void;
  /** The process did not start, or ended by itself. It stays down until `restart`. */
  failed(reason: string): void;
  /** The process was killed at the request of its page, and is started again. */
  killed(): void;
}

/** Runs one serving process at a time, each with freshly loaded modules. */
export class Supervisor<Options extends object, Started> {
  readonly #worker: string;
  readonly #options: () => Options;
  readonly #events: SupervisorEvents<Started>;
  #child: ChildProcess | undefined;
  #turn: Promise<void> = Promise.resolve();
  #wanted = 0;

  /**
   * @param worker Name of the module in this folder that calls `serveForParent`.
   * @param options Makes the options for each start.
   */
  constructor(worker: string, options: () => Options, events: SupervisorEvents<Started>) {
    this.#worker = worker;
    this.#options = options;
    this.#events = events;
  }

  /** Starts or restarts the process. The last of several calls during a start counts. */
  restart(): Promise<void> {
    this.#wanted += 1;
    const mine = this.#wanted;
    this.#turn = this.#turn.then(async () => {
      if (mine !== this.#wanted) return;
      await this.#stop();
      this.#start();
    });
    return this.#turn;
  }

  /** Ends the process, after its runs had the time that the options give them. */
  close(): Promise<void> {
    this.#wanted += 1;
    this.#turn = this.#turn.then(() => this.#stop());
    return this.#turn;
  }

  #start(): void {
    const child = fork(packageModule(`server/cli/serve/${this.#worker}`), {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child = child;
    let hasSaid = false;
    child.on('message', (report: ServeReport<Started>) => {
      hasSaid ||= report.type === 'failed';
      if (this.#child !== child) return;
      if (report.type === 'ready') child.send(this.#options());
      else if (report.type === 'started') this.#events.started(report);
      else if (report.type === 'failed') this.#events.failed(report.reason);
      else {
        child.kill('SIGKILL');
        this.#events.killed();
        void this.restart();
      }
    });
    child.once('exit', (code, signal) => {
      if (this.#child !== child) return;
      this.#child = undefined;
      if (!hasSaid) this.#events.failed(`the process ended by itself (${signal ?? code})`);
    });
  }

  async #stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await exited;
    clearTimeout(late);
  }
}
