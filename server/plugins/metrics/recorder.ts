import type { Registry } from 'prom-client';
import { channels, type TraceChannel } from '../../diagnostics/channels.js';
import { codeLabel } from '../../diagnostics/code-label.js';
import type {
  AppendMessage,
  ConnectionEndMessage,
  OperationMessage,
  RunMessage,
  ToolMessage,
  TraceOutcome,
} from '../../diagnostics/messages.js';
import { onOver } from '../../diagnostics/on-over.js';
import type { PluginContext } from '../plugin.js';
import { Distribution } from './distribution.js';

type PromClient = Pick<typeof import('prom-client'), 'Counter' | 'Histogram'>;

const CALL_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const WAIT_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120];
const RUN_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
const STORE_SECONDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
const BATCH_EVENTS = [1, 2, 5, 10, 25, 50, 100, 250, 1000];

const seconds = (ms: number): number => ms / 1000;

/** Counts and times the operations of a gateway, from its diagnostics channels, with labels of few values. */
export class Recorder {
  readonly #context: PluginContext;
  readonly #undo: (() => void)[] = [];
  readonly #metrics;
  #failed = false;

  constructor(client: PromClient, registry: Registry, context: PluginContext) {
    this.#context = context;
    this.#metrics = makeMetrics(client, registry);
  }

  /** Listens until `stop`. */
  start(): void {
    this.#trace(channels.operation, (message, ms) => this.#operation(message, ms));
    this.#trace(channels.run, (message, ms) => this.#run(message, ms));
    this.#trace(channels.tool, (message, ms) => this.#tool(message, ms));
    this.#trace(channels.append, (message, ms) => this.#append(message, ms));
    const ended = ({ gatewayId, transport, reason }: ConnectionEndMessage): void => {
      if (gatewayId === this.#context.gatewayId) this.#metrics.connectionEnds.inc({ transport, reason });
    };
    channels.connectionEnd.subscribe(ended);
    this.#undo.push(() => channels.connectionEnd.unsubscribe(ended));
    const refused = (code: string): void => this.#metrics.refusals.inc({ code: codeLabel(code) });
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
      if (!this.#failed) this.#context.report(error, 'counting for metrics failed');
      this.#failed = true;
    };
    this.#undo.push(onOver(channel, this.#context.gatewayId, { over, failed }));
  }

  #operation(message: OperationMessage, ms: number): void {
    const { operation, transport, method, code, repeated } = message;
    const { operations, operationSeconds, methods, refusals, replays } = this.#metrics;
    const label = code === undefined ? 'ok' : codeLabel(code);
    operations.inc({ operation, transport, code: label });
    operationSeconds.observe({ operation }, seconds(ms));
    if (method !== undefined) methods.inc({ method, code: label });
    if (repeated) replays.inc();
    if (code !== undefined) refusals.inc({ code: label });
  }

  #run(message: RunMessage, ms: number): void {
    const { app, started, queuedMs, firstDeltaMs, result } = message;
    const { runs, runSeconds, queueSeconds, firstDeltaSeconds, tokens } = this.#metrics;
    runs.inc({ app, stop_reason: result?.stopReason ?? 'handed_over' });
    if (!started) return;
    runSeconds.observe({ app }, seconds(ms));
    queueSeconds.observe({ app }, seconds(queuedMs));
    if (firstDeltaMs !== undefined) firstDeltaSeconds.observe({ app }, seconds(queuedMs + firstDeltaMs));
    const { inputTokens, outputTokens } = result?.usage ?? {};
    if (inputTokens) tokens.inc({ app, type: 'input' }, inputTokens);
    if (outputTokens) tokens.inc({ app, type: 'output' }, outputTokens);
  }

  #tool(message: ToolMessage, ms: number): void {
    const { app, code } = message;
    this.#metrics.tools.inc({ app, code: code === undefined ? 'ok' : codeLabel(code) });
    this.#metrics.toolSeconds.observe({ app }, seconds(ms));
  }

  #append({ events, bytes, code }: AppendMessage, ms: number): void {
    const { appendSeconds, appendEvents, appendBytes, appendErrors } = this.#metrics;
    appendSeconds.add(seconds(ms));
    appendEvents.add(events);
    appendBytes.inc(bytes);
    if (code !== undefined) appendErrors.inc({ code: codeLabel(code) });
  }
}

function makeMetrics({ Counter, Histogram }: PromClient, registry: Registry) {
  const registers = [registry];
  const counter = <const Labels extends string>(name: string, help: string, labelNames: readonly Labels[]) =>
    new Counter<Labels>({ name: `agent_gateway_${name}`, help, labelNames, registers });
  const histogram = <const Labels extends string>(
    name: string,
    help: string,
    { buckets, labelNames }: { readonly buckets: number[]; readonly labelNames: readonly Labels[] },
  ) => new Histogram<Labels>({ name: `agent_gateway_${name}`, help, labelNames, buckets, registers });
  const distribution = (name: string, help: string, buckets: readonly number[]) =>
    new Distribution(registry, { name: `agent_gateway_${name}`, help, buckets });
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
    connectionEnds: counter(
      'connections_ended_total',
      'Connections that have ended; slow: closed because their reader did not keep up',
      ['transport', 'reason'],
    ),
  };
}
