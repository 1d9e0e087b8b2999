import { AsyncLocalStorage } from 'node:async_hooks';
import { format } from 'node:util';
import type { Usage } from '../../../shared/messages.js';
import { channels, type TraceChannel } from '../../diagnostics/index.js';

/** A piece of a run that no event tells of. */
export interface RunPart {
  readonly kind: 'step' | 'model';
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Milliseconds that it took; absent while it goes on. */
  ms?: number;
  usage?: Usage;
  failed?: boolean;
}

/** The parts of a run that no event tells of, the errors in it as they were thrown, and the lines that its app has logged. */
export interface RunTrace {
  readonly parts: RunPart[];
  readonly errors: { readonly of: string; readonly stack: string }[];
  readonly lines: { readonly at: number; readonly level: string; readonly text: string }[];
}

interface TracedMessage {
  readonly gatewayId: string;
  readonly runId?: string | undefined;
  readonly ms?: number;
  readonly error?: unknown;
}

/** Runs that are kept, the latest, and lines of each. */
const MOST_RUNS = 200;
const MOST_LINES = 500;
const LEVELS = ['debug', 'log', 'info', 'warn', 'error'] as const;

/** Keeps the traces of the runs of this process, as long as it lives. */
export class RunTraces {
  readonly #gatewayId: string;
  readonly #runs = new Map<string, RunTrace>();
  readonly #inRun = new AsyncLocalStorage<RunTrace | undefined>();
  readonly #undo: (() => void)[] = [];

  constructor(gatewayId: string) {
    this.#gatewayId = gatewayId;
  }

  of(runId: string): RunTrace {
    return this.#runs.get(runId) ?? { parts: [], errors: [], lines: [] };
  }

  start(): void {
    this.#parts(channels.step, ({ step }) => ({ kind: 'step', name: step }));
    this.#parts(
      channels.model,
      ({ model, provider, adapter }) => ({ kind: 'model', name: model ?? provider ?? adapter }),
      ({ result }) => result?.usage,
    );
    this.#errors(channels.run, () => 'the run');
    this.#errors(channels.tool, ({ tool }) => tool);
    const { start } = channels.run;
    start.bindStore(this.#inRun, (message) => this.#traceOf(message));
    this.#undo.push(() => void start.unbindStore(this.#inRun));
    for (const level of LEVELS) this.#hear(level);
  }

  stop(): void {
    for (const undo of this.#undo.splice(0)) undo();
  }

  #traceOf({ gatewayId, runId }: TracedMessage): RunTrace | undefined {
    if (gatewayId !== this.#gatewayId || runId === undefined) return undefined;
    const trace = this.of(runId);
    this.#runs.set(runId, trace);
    for (const oldest of this.#runs.keys()) if (this.#runs.size > MOST_RUNS) this.#runs.delete(oldest);
    return trace;
  }

  #parts<M extends TracedMessage>(
    channel: TraceChannel<M>,
    about: (message: M) => Pick<RunPart, 'kind' | 'name'>,
    usageOf?: (message: M) => Usage | undefined,
  ): void {
    const parts = new WeakMap<TracedMessage, RunPart>();
    const over = (message: M): void => {
      const part = parts.get(message);
      if (part === undefined || message.ms === undefined) return;
      const usage = usageOf?.(message);
      Object.assign(part, { ms: message.ms, failed: message.error !== undefined }, usage && { usage });
    };
    this.#subscribe(channel, {
      start: (message: M) => {
        const part: RunPart = { ...about(message), at: Date.now() };
        parts.set(message, part);
        this.#traceOf(message)?.parts.push(part);
      },
      end: over,
      asyncEnd: over,
    });
  }

  #errors<M extends TracedMessage>(channel: TraceChannel<M>, of: (message: M) => string): void {
    this.#subscribe(channel, {
      error: (message: M) => {
        const { error } = message;
        const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
        if (cause instanceof Error)
          this.#traceOf(message)?.errors.push({ of: of(message), stack: cause.stack ?? String(cause) });
      },
    });
  }

  #subscribe<M>(channel: TraceChannel<M>, handlers: Parameters<TraceChannel<M>['subscribe']>[0]): void {
    channel.subscribe(handlers);
    this.#undo.push(() => void channel.unsubscribe(handlers));
  }

  /** Takes the lines of a run, which are written as before. */
  #hear(level: (typeof LEVELS)[number]): void {
    const { console } = globalThis;
    const write = console[level];
    const heard = (...said: unknown[]): void => {
      const lines = this.#inRun.getStore()?.lines;
      if (lines && lines.push({ at: Date.now(), level, text: format(...said) }) > MOST_LINES) lines.shift();
      write.apply(console, said);
    };
    console[level] = heard;
    this.#undo.push(() => {
      if (console[level] === heard) console[level] = write;
    });
  }
}
