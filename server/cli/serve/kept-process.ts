import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { GatewayError } from 'agent-session-gateway/client';
import type { Report } from './serving.js';

/** Before a process that ended is started again, in milliseconds: the first pause, which doubles, and the longest. */
const PAUSE_MS = { first: 100, longest: 30_000 };
/** A process that served for so long begins with the first pause again. */
const STEADY_MS = 10_000;

/** How a process came to its end, and when it is started again. */
export interface Ended {
  readonly pid: number | undefined;
  readonly reason: string;
  readonly pauseMs: number;
}

/** How a process is kept running. */
export interface KeptProcessOptions {
  /** Starts one that calls `serveForParent`. */
  spawn(): ChildProcess;
  /** What it is told. */
  readonly options: object;
  /** It has ended by itself. */
  ended(ended: Ended): void;
}

/** A process that serves, and is started again where it ends, with pauses that grow. */
export class KeptProcess<Started> {
  readonly #options: KeptProcessOptions;
  #child: ChildProcess | null = null;
  #isStopping = false;
  #pauseMs = PAUSE_MS.first;
  readonly #stopping = new AbortController();

  constructor(options: KeptProcessOptions) {
    this.#options = options;
  }

  /** Starts it. @throws GatewayError why it could not; then it is not started again */
  async start(): Promise<Started> {
    const child = this.#spawn();
    const started = await startedOf<Started>(child);
    void this.#keep(child);
    return started;
  }

  /**
   * Ends it, and does not start it again.
   *
   * @param how Tells it.
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

  #spawn(): ChildProcess {
    const child = this.#options.spawn();
    this.#child = child;
    // One that is told something at its end.
    child.on('error', () => {});
    child.on('message', (report: Report<Started>) => {
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

/** Resolves with what it said when it served. */
function startedOf<Started>(child: ChildProcess): Promise<Started> {
  return new Promise((resolve, reject) => {
    child.on('message', (report: Report<Started>) => {
      if (report.type === 'started') resolve(report);
    });
    void endOf(child).then((message) => reject(new GatewayError({ code: 'INVALID_REQUEST', message })));
  });
}

/** Why it ended: as it said, or as the system did. */
function endOf(child: ChildProcess): Promise<string> {
  let said: string | undefined;
  return new Promise((resolve) => {
    const ended = (code: number | null, signal: NodeJS.Signals | null): void =>
      resolve(said ?? `the process ended by itself (${signal ?? code})`);
    if (hasEnded(child)) return ended(child.exitCode, child.signalCode);
    child.on('message', (report: Report<unknown>) => {
      if (report.type === 'failed') said = report.reason;
    });
    child.once('error', (error) => resolve(error.message)).once('exit', ended);
  });
}
