import { channels, type TraceChannel } from '../diagnostics/channels.js';
import { codeLabel } from '../diagnostics/code-label.js';
import type {
  AppendMessage,
  ConnectionEndMessage,
  GuardMessage,
  OperationMessage,
  RunMessage,
  ToolMessage,
  TraceOutcome,
} from '../diagnostics/messages.js';
import { onOver } from '../diagnostics/on-over.js';
import type { PluginContext } from './plugin.js';
import { VariantLabels } from './variant-labels.js';

type Labels = Readonly<Record<string, string>>;

/** A metric of what happens: a counter, or the distribution of values. */
export interface MeasureRow {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
}

/** A metric with the upper bounds of its buckets. */
export interface DistributionRow extends MeasureRow {
  readonly buckets: readonly number[];
}

/** A system of metrics. */
export interface MeasureSink {
  counter(row: MeasureRow): (labels: Labels, by?: number) => void;
  distribution(row: DistributionRow): (labels: Labels, value: number) => void;
}

/** The part of a plugin's context that is measured. */
export type MeasuredContext = Pick<PluginContext, 'gatewayId' | 'on' | 'report'>;

const CALL_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const WAIT_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120];
const RUN_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
const STORE_SECONDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 10, 30,
];
const BATCH_EVENTS = [1, 2, 5, 10, 25, 50, 100, 250, 1000];

/** Codes that alerts ask for. */
const EARLY_REFUSALS = [
  'OVERLOADED',
  'INTERNAL',
  'AUTH_UNAVAILABLE',
  'SHUTTING_DOWN',
  'UNAUTHENTICATED',
  'RATE_LIMITED',
];
const STORE_CODES = ['UNAVAILABLE', 'UNKNOWN', 'REFUSED', 'FENCED', 'ROLLED_BACK'];

const seconds = (ms: number): number => ms / 1000;

/** Counts and times the operations of a gateway, from its diagnostics channels, with labels of few values. */
export class Measures {
  readonly #context: MeasuredContext;
  readonly #undo: (() => void)[] = [];
  readonly #metrics;
  readonly #variants = new VariantLabels();
  #failed = false;

  constructor(sink: MeasureSink, context: MeasuredContext) {
    this.#context = context;
    this.#metrics = makeMeasures(sink);
    // A rate misses what begins with its first value.
    for (const code of EARLY_REFUSALS) this.#metrics.refusals({ code }, 0);
    for (const code of STORE_CODES) this.#metrics.appendErrors({ code }, 0);
  }

  /** Listens until `stop`. */
  start(): void {
    this.#trace(channels.operation, (message, ms) => this.#operation(message, ms));
    this.#trace(channels.run, (message, ms) => this.#run(message, ms));
    this.#trace(channels.tool, (message, ms) => this.#tool(message, ms));
    this.#trace(channels.append, (message, ms) => this.#append(message, ms));
    const ended = ({ gatewayId, transport, reason }: ConnectionEndMessage): void => {
      if (gatewayId === this.#context.gatewayId) this.#metrics.connectionEnds({ transport, reason });
    };
    const guarded = ({ gatewayId, kind, outcome, ms }: GuardMessage): void => {
      if (gatewayId !== this.#context.gatewayId) return;
      this.#metrics.guards({ kind, outcome });
      if (outcome !== 'failed') this.#metrics.guardSeconds({ kind }, seconds(ms));
    };
    channels.guard.subscribe(guarded);
    this.#undo.push(() => channels.guard.unsubscribe(guarded));
    channels.connectionEnd.subscribe(ended);
    this.#undo.push(() => channels.connectionEnd.unsubscribe(ended));
    const refused = (code: string): void => this.#metrics.refusals({ code: codeLabel(code) });
    this.#undo.push(
      this.#context.on('caller:refused', ({ code }) => refused(code)),
      this.#context.on('origin:refused', () => refused('ORIGIN_DENIED')),
      this.#context.on('address:blocked', () => refused('RATE_LIMITED')),
    );
  }

  stop(): void {
    for (const undo of this.#undo.splice(0)) undo();
  }

  #trace<Message extends TraceOutcome & { readonly gatewayId: string }>(
    channel: Pick<TraceChannel<Message>, 'subscribe' | 'unsubscribe'>,
    over: (message: Message, ms: number) => void,
  ): void {
    const failed = (error: unknown): void => {
      if (!this.#failed) this.#context.report(error, 'measuring failed');
      this.#failed = true;
    };
    this.#undo.push(onOver(channel, this.#context.gatewayId, { over, failed }));
  }

  #operation(message: OperationMessage, ms: number): void {
    const { operation, transport, method, code, repeated } = message;
    const { operations, operationSeconds, methods, refusals, replays } = this.#metrics;
    const label = code === undefined ? 'ok' : codeLabel(code);
    operations({ operation, transport, code: label });
    operationSeconds({ operation }, seconds(ms));
    if (method !== undefined) methods({ method, code: label });
    if (repeated) replays({});
    if (code !== undefined) refusals({ code: label });
  }

  #run(message: RunMessage, ms: number): void {
    const { app, started, queuedMs, firstDeltaMs, result, variants } = message;
    const { runs, runSeconds, queueSeconds, firstDeltaSeconds, tokens, variantRuns, variantTokens } =
      this.#metrics;
    runs({ app, stop_reason: result?.stopReason ?? 'handed_over' });
    if (!started) return;
    runSeconds({ app }, seconds(ms));
    queueSeconds({ app }, seconds(queuedMs));
    if (firstDeltaMs !== undefined) firstDeltaSeconds({ app }, seconds(queuedMs + firstDeltaMs));
    const { inputTokens, outputTokens } = result?.usage ?? {};
    for (const labels of this.#variants.of(app, variants)) {
      variantRuns({ ...labels, stop_reason: result?.stopReason ?? 'handed_over' });
      if (inputTokens) variantTokens({ ...labels, type: 'input' }, inputTokens);
      if (outputTokens) variantTokens({ ...labels, type: 'output' }, outputTokens);
    }
    if (inputTokens) tokens({ app, type: 'input' }, inputTokens);
    if (outputTokens) tokens({ app, type: 'output' }, outputTokens);
  }

  #tool(message: ToolMessage, ms: number): void {
    const { app, code } = message;
    this.#metrics.tools({ app, code: code === undefined ? 'ok' : codeLabel(code) });
    this.#metrics.toolSeconds({ app }, seconds(ms));
  }

  #append({ events, bytes, code }: AppendMessage, ms: number): void {
    const { appendSeconds, appendEvents, appendBytes, appendErrors } = this.#metrics;
    appendSeconds({}, seconds(ms));
    appendEvents({}, events);
    appendBytes({}, bytes);
    if (code !== undefined) appendErrors({ code: codeLabel(code) });
  }
}

function makeMeasures(sink: MeasureSink) {
  const counter = (name: string, help: string, labels: readonly string[]) =>
    sink.counter({ name, help, labels });
  const histogram = (
    name: string,
    help: string,
    { buckets, labelNames }: { readonly buckets: readonly number[]; readonly labelNames: readonly string[] },
  ) => sink.distribution({ name, help, labels: labelNames, buckets });
  const distribution = (name: string, help: string, buckets: readonly number[]) =>
    sink.distribution({ name, help, labels: [], buckets });
  return {
    operations: counter('operations_total', 'Operations of clients, the host and plugins, by outcome', [
      'operation',
      'transport',
      'code',
    ]),
    operationSeconds: histogram('operation_duration_seconds', 'Time until an operation was answered', {
      buckets: CALL_SECONDS,
      labelNames: ['operation'],
    }),
    methods: counter('method_calls_total', 'Calls of methods, by outcome', ['method', 'code']),
    refusals: counter(
      'refusals_total',
      'Requests that were answered with an error, also before they were operations',
      ['code'],
    ),
    replays: counter('idempotent_replays_total', 'Sends that were answered by their idempotency key', []),
    runs: counter('runs_ended_total', 'Runs that have ended; handed_over: another process goes on with it', [
      'app',
      'stop_reason',
    ]),
    runSeconds: histogram('run_duration_seconds', 'Time from the start of a run to its end', {
      buckets: RUN_SECONDS,
      labelNames: ['app'],
    }),
    queueSeconds: histogram('run_queue_seconds', 'Time from the acceptance of a message to its start', {
      buckets: WAIT_SECONDS,
      labelNames: ['app'],
    }),
    firstDeltaSeconds: histogram(
      'send_to_first_delta_seconds',
      'Time from the acceptance of a message to the first text or reasoning',
      { buckets: WAIT_SECONDS, labelNames: ['app'] },
    ),
    tokens: counter('tokens_total', 'Tokens that runs report', ['app', 'type']),
    variantRuns: counter(
      'variant_runs_ended_total',
      'Runs that have ended, by the variants that they asked for',
      ['app', 'variant', 'choice', 'stop_reason'],
    ),
    variantTokens: counter(
      'variant_tokens_total',
      'Tokens that runs report, by the variants that they asked for',
      ['app', 'variant', 'choice', 'type'],
    ),
    tools: counter('tool_calls_total', 'Calls of tools, by outcome', ['app', 'code']),
    toolSeconds: histogram('tool_duration_seconds', 'Time of a tool call, waiting for a person included', {
      buckets: RUN_SECONDS,
      labelNames: ['app'],
    }),
    appendSeconds: distribution(
      'store_append_duration_seconds',
      'Time until the store acknowledged a batch',
      STORE_SECONDS,
    ),
    appendEvents: distribution('store_append_events', 'Events of a batch', BATCH_EVENTS),
    appendBytes: counter('store_append_bytes_total', 'Bytes of events that the store was given', []),
    appendErrors: counter('store_append_errors_total', 'Batches that the store did not take', ['code']),
    guards: counter('guard_checks_total', 'Texts that a guard was asked about, by what it said', [
      'kind',
      'outcome',
    ]),
    guardSeconds: histogram('guard_check_duration_seconds', 'Time until all checks of a text have answered', {
      buckets: CALL_SECONDS,
      labelNames: ['kind'],
    }),
    connectionEnds: counter(
      'connections_ended_total',
      'Connections that have ended; slow: closed because their reader did not keep up',
      ['transport', 'reason'],
    ),
  };
}
