import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { GatewayError } from 'agent-session-gateway/client';
import { RELOAD, type ServeReport } from './running-service.js';

/** Pause before an ended process is started again, in milliseconds. It begins with `first` and doubles up to `longest`. */
const PAUSE_MS = { first: 100, longest: 30_000 };
/** How long a process serves until its pause begins with `first` again, in milliseconds. */
const STEADY_MS = 10_000;

/** The end of a process, and the pause before its restart. */
export interface Ended {
  readonly pid: number | undefined;
  readonly reason: string;
  readonly pauseMs: number;
}

/** Options of `KeptProcess`. */
export interface KeptProcessOptions {
  /** Starts a process that calls `serveForParent`. */
  spawn(): ChildProcess;
  /** The options that the process gets. */
  readonly options: object;
  /** Called when the process ended by itself. */
  ended(ended: Ended): void;
}

/** A serving process that is restarted when it ends, with growing pauses. */
export class KeptProcess<Started> {
  readonly #options: KeptProcessOptions;
  #child: ChildProcess | null = null;
  #isStopping = false;
  #pauseMs = PAUSE_MS.first;
  readonly #stopping = new AbortController();

  constructor(options: KeptProcessOptions) {
    this.#options = options;
  }

  /** Starts the process. @throws GatewayError the reason why it did not start; then it is not restarted */
  async start(): Promise<Started> {
    const child = this.#spawn();
    const started = await startedOf<Started>(child);
    void this.#keep(child);
    return started;
  }

  /**
   * Ends the process for good.
   *
   * @param how Asks the process to end.
   */
  async end(how: (child: ChildProcess) => void): Promise<void> {
    this.#isStopping = true;
    this.#stopping.abort();
    const child = this.#child;
    if (!child || hasEnded(child)) return;
    const exited = once(child, 'exit');
    how(child);
    await exited;
  }

  /** Has the process take a changed configuration in. */
  reload(): void {
    if (this.#child?.connected) this.#child.send(RELOAD);
  }

  #spawn(): ChildProcess {
    const child = this.#options.spawn();
    this.#child = child;
    // A message to an ending process fails.
    child.on('error', () => {});
    child.on('message', (report: ServeReport<Started>) => {
      if (report.type === 'ready') child.send(this.#options.options);
    });
    return child;
  }

  async #keep(first: ChildProcess): Promise<void> {
    for (let child = first; ; child = this.#spawn()) {
      const since = performance.now();
      const reason = await endOf(child);
      if (this.#isStopping) return;
      if (performance.now() - since >= STEADY_MS) this.#pauseMs = PAUSE_MS.first;
      this.#options.ended({ pid: child.pid, reason, pauseMs: this.#pauseMs });
      await delay(this.#pauseMs, undefined, { signal: this.#stopping.signal }).catch(() => {});
      if (this.#isStopping) return;
      this.#pauseMs = Math.min(2 * this.#pauseMs, PAUSE_MS.longest);
    }
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;

/** Resolves with the process's report once it serves. */
function startedOf<Started>(child: ChildProcess): Promise<Started> {
  return new Promise((resolve, reject) => {
    child.on('message', (report: ServeReport<Started>) => {
      if (report.type === 'started') resolve(report);
    });
    void endOf(child).then((message) => reject(new GatewayError({ code: 'INVALID_REQUEST', message })));
  });
}

/** The reason for the end: the process's own, or the system's. */
function endOf(child: ChildProcess): Promise<string> {
  let said: string | undefined;
  return new Promise((resolve) => {
    const ended = (code: number | null, signal: NodeJS.Signals | null): void =>
      resolve(said ?? `the process ended by itself (${signal ?? code})`);
    if (hasEnded(child)) return ended(child.exitCode, child.signalCode);
    child.on('message', (report: ServeReport<unknown>) => {
      if (report.type === 'failed') said = report.reason;
    });
    child.once('error', (error) => resolve(error.message)).once('exit', ended);
  });
}
