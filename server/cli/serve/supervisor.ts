import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { packageModule } from '../../runtime/package-files.js';
import type { Report } from './serving.js';

/** After this long a process that does not end is ended. */
const STOP_MS = 10_000;

/** What happens to the process that serves. */
export interface SupervisorEvents<Started> {
  started(what: Started): void;
  /** It could not start, or has ended by itself; it stays so until `restart`. */
  failed(reason: string): void;
  /** It was killed, as somebody wanted from its page, and is started again. */
  killed(): void;
}

/** Runs the process that serves, one at a time, each with all modules anew. */
export class Supervisor<Options extends object, Started> {
  readonly #worker: string;
  readonly #options: () => Options;
  readonly #events: SupervisorEvents<Started>;
  #child: ChildProcess | undefined;
  #turn: Promise<void> = Promise.resolve();
  #wanted = 0;

  /**
   * @param worker Name of the module beside this one that calls `serveForParent`.
   * @param options Asked for at each start.
   */
  constructor(worker: string, options: () => Options, events: SupervisorEvents<Started>) {
    this.#worker = worker;
    this.#options = options;
    this.#events = events;
  }

  /** Starts it, or starts it again. Of calls while it is being started, the last one counts. */
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

  /** Ends it, after its runs have had the time of the options. */
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
    child.on('message', (report: Report<Started>) => {
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
