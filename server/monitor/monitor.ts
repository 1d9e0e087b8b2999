import { createHash } from 'node:crypto';
import type { Worker } from 'node:worker_threads';
import { GatewayError, isGatewayError } from '../../shared/errors.js';
import type { MonitorOptions } from '../config/monitor-options.js';
import type { GatewayStats } from '../diagnostics/gateway-stats.js';
import type { Readiness } from '../lifecycle/readiness.js';
import { packageThread, packageVersion } from '../runtime/package-files.js';
import type { FromThread, ThreadData, ToThread } from './messages.js';

/** Time between two beats, in milliseconds. */
const BEAT_MS = 250;
/** Beats between two of which the stats are counted once: that takes time in proportion to the sessions. */
const STATS_EVERY = 20;
/** Memory of the thread, in MB. */
const THREAD_MB = 32;

/** A page of text for the monitoring port. */
export interface MonitorPage {
  readonly media: string;
  readonly text: string;
}

/** The parts of a gateway that its monitoring port tells. */
export interface MonitorEnvironment {
  readonly gatewayId: string;
  readonly options: MonitorOptions | null;
  /** The readiness, once the gateway is assembled. */
  readiness(): Pick<Readiness, 'refusal' | 'state'>;
  stats(): GatewayStats;
  /** Answers a question to the operators' desk, given as JSON, in lines. @throws GatewayError */
  desk(body: string): AsyncIterable<string>;
  report(error: unknown, what: string): void;
}

/**
 * The monitoring port: health, stats, pages of plugins and the operators' desk, served by a thread of its own. The thread is told that the
 * event loop turns, and what there is to tell; so it answers while the loop is late, and says so.
 */
export class Monitor {
  readonly #env: MonitorEnvironment;
  readonly #pages = new Map<string, () => Promise<MonitorPage>>();
  readonly #answering = new Set<number>();
  #thread: Worker | null = null;
  #beating: NodeJS.Timeout | undefined;
  #beats = 0;

  constructor(env: MonitorEnvironment) {
    this.#env = env;
  }

  /** Whether there is a monitoring port. */
  get isWanted(): boolean {
    return this.#env.options !== null;
  }

  /** Serves a page of text at a path. */
  page(path: string, make: () => Promise<MonitorPage>): void {
    this.#pages.set(path, make);
    this.#say({ type: 'page', path });
  }

  /** Listens, unless it does already or no port is wanted. @throws GatewayError `ADDRESS_IN_USE` */
  async open(): Promise<string | undefined> {
    const { options, gatewayId } = this.#env;
    if (!options || this.#thread) return undefined;
    const { port: wanted, host = '127.0.0.1', token = [] } = options;
    const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
    const data: ThreadData = {
      ...{ port: wanted, host, gatewayId, version: packageVersion(), beatMs: BEAT_MS },
      tokens: [token].flat().map(hash),
    };
    const thread = packageThread('server/monitor/thread', {
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: THREAD_MB },
    });
    this.#thread = thread;
    try {
      const port = await this.#listening(thread, wanted, host);
      thread.on('message', (message: FromThread) => this.#hear(message));
      // It must not keep a process alive, nor end one.
      thread.unref();
      thread.on('error', (error) => this.#env.report(error, 'the monitoring port ends'));
      for (const path of this.#pages.keys()) this.#say({ type: 'page', path });
      this.#beat();
      this.#beating = setInterval(() => this.#beat(), BEAT_MS).unref();
      return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  #listening(thread: Worker, port: number, host: string): Promise<number> {
    return new Promise((resolve, reject) => {
      thread.once('error', reject);
      thread.once('message', (message: FromThread) => {
        thread.off('error', reject);
        if (message.type === 'listening') return resolve(message.port);
        const { code, message: said } = message as Extract<FromThread, { type: 'failed' }>;
        const isInUse = code === 'EADDRINUSE';
        const text = isInUse ? `Port ${port} on ${host} is in use; choose another with monitor.port` : said;
        const details = [{ path: isInUse ? 'monitor.port' : 'monitor', message: isInUse ? 'in use' : said }];
        reject(
          new GatewayError({ code: isInUse ? 'ADDRESS_IN_USE' : 'INVALID_REQUEST', message: text, details }),
        );
      });
    });
  }

  async close(): Promise<void> {
    clearInterval(this.#beating);
    const thread = this.#thread;
    this.#thread = null;
    await thread?.terminate();
  }

  #say(message: ToThread): void {
    this.#thread?.postMessage(message);
  }

  #beat(): void {
    const { refusal, state } = this.#env.readiness();
    const counts = this.#beats % STATS_EVERY === 0;
    this.#beats += 1;
    const stats = counts ? this.#env.stats() : null;
    this.#say({
      ...{ type: 'beat', refusal: refusal && JSON.stringify(refusal), forMs: state.forMs },
      ...(stats && { stats: JSON.stringify(stats) }),
    });
  }

  #hear(message: FromThread): void {
    if (message.type === 'gone') return void this.#answering.delete(message.id);
    if (message.type !== 'ask') return;
    const { id, path, body } = message;
    this.#answering.add(id);
    const answered = body === undefined ? this.#give(id, path) : this.#ask(id, body);
    void answered
      .catch((error: unknown) => this.#refuse(id, error))
      .finally(() => this.#answering.delete(id));
  }

  async #give(id: number, path: string): Promise<void> {
    const { media, text } = await this.#pages.get(path)!();
    this.#say({ type: 'answer', id, status: 200, media, text, isLast: true });
  }

  async #ask(id: number, body: string): Promise<void> {
    const lines = this.#env.desk(body)[Symbol.asyncIterator]();
    // Await the first line, so that an immediate error becomes the answer.
    let line = await lines.next();
    this.#say({ type: 'answer', id, status: 200, media: 'application/x-ndjson', text: '', isLast: false });
    for (; !line.done; line = await lines.next()) {
      if (!this.#answering.has(id)) return void (await lines.return?.());
      this.#say({ type: 'answer', id, text: line.value, isLast: false });
    }
    this.#say({ type: 'answer', id, text: '', isLast: true });
  }

  #refuse(id: number, error: unknown): void {
    if (!isGatewayError(error)) this.#env.report(error, 'answering the monitoring port');
    const known = isGatewayError(error) ? error : new GatewayError({ code: 'INTERNAL' });
    const text = JSON.stringify({ error: { ...known.toJSON() } });
    this.#say({ type: 'answer', id, status: known.status, media: 'application/json', text, isLast: true });
  }
}
