import type { Attributes, Meter, ObservableGauge } from '@opentelemetry/api';
import type { Usage } from '../../shared/messages.js';
import { channels, type TraceChannel } from '../diagnostics/channels.js';
import { codeLabel } from '../diagnostics/code-label.js';
import type { GatewayStats } from '../diagnostics/gateway-stats.js';
import type { TraceOutcome } from '../diagnostics/messages.js';
import { onOver } from '../diagnostics/on-over.js';
import { CONVENTIONS } from './conventions.js';

/** The meter and gateway of the instruments. */
export interface InstrumentEnvironment {
  readonly meter: Meter;
  readonly gatewayId: string;
  stats(): GatewayStats;
  failed(error: unknown): void;
}

const INVOKE_AGENT = CONVENTIONS.GEN_AI_OPERATION_NAME_VALUE_INVOKE_AGENT;
const CHAT = CONVENTIONS.GEN_AI_OPERATION_NAME_VALUE_CHAT;
const EXECUTE_TOOL = CONVENTIONS.GEN_AI_OPERATION_NAME_VALUE_EXECUTE_TOOL;
const OPERATION = CONVENTIONS.ATTR_GEN_AI_OPERATION_NAME;
const AGENT = CONVENTIONS.ATTR_GEN_AI_AGENT_NAME;
const TOKEN_TYPE = CONVENTIONS.ATTR_GEN_AI_TOKEN_TYPE;

/** Measures a gateway's work and load. Attributes have few values, and never ids. @returns a function that stops the measuring */
export function startInstruments({ meter, gatewayId, stats, failed }: InstrumentEnvironment): () => void {
  const seconds = (name: string, description: string) =>
    meter.createHistogram(name, { unit: 's', description });
  const duration = seconds(
    CONVENTIONS.METRIC_GEN_AI_CLIENT_OPERATION_DURATION,
    'Time of runs, calls of models and tool calls',
  );
  const firstChunk = seconds(
    CONVENTIONS.METRIC_GEN_AI_CLIENT_OPERATION_TIME_TO_FIRST_CHUNK,
    'Time until a model has said something',
  );
  const tokens = meter.createHistogram(CONVENTIONS.METRIC_GEN_AI_CLIENT_TOKEN_USAGE, {
    unit: '{token}',
    description: 'Tokens that a run or a call of a model reports',
  });
  const answered = seconds('agent_gateway.operation.duration', 'Time until an operation was answered');
  const firstDelta = seconds(
    'agent_gateway.send_to_first_delta',
    'Time from the acceptance of a message to the first text or reasoning',
  );
  const appended = seconds(
    'agent_gateway.store.append.duration',
    'Time until the store acknowledged a batch',
  );

  const on = <Message extends TraceOutcome & { readonly gatewayId: string }>(
    channel: Pick<TraceChannel<Message>, 'subscribe' | 'unsubscribe'>,
    over: (message: Message, ms: number) => void,
  ) => onOver(channel, gatewayId, { over, failed });
  const failure = (code: string | undefined): Attributes =>
    code === undefined ? {} : { [CONVENTIONS.ATTR_ERROR_TYPE]: codeLabel(code) };
  const used = ({ inputTokens, outputTokens }: Usage = {}, about: Attributes): void => {
    if (inputTokens !== undefined) tokens.record(inputTokens, { ...about, [TOKEN_TYPE]: 'input' });
    if (outputTokens !== undefined) tokens.record(outputTokens, { ...about, [TOKEN_TYPE]: 'output' });
  };
  const stops = [
    on(channels.operation, ({ operation, transport, code }, ms) => {
      const about = { 'agent_gateway.operation': operation, 'agent_gateway.transport': transport };
      answered.record(ms / 1000, { ...about, ...failure(code) });
    }),
    on(channels.run, ({ app, started, queuedMs, firstDeltaMs, result, code }, ms) => {
      if (!started) return;
      const about = { [OPERATION]: INVOKE_AGENT, [AGENT]: app };
      duration.record(ms / 1000, { ...about, ...failure(code) });
      if (firstDeltaMs !== undefined) firstDelta.record((queuedMs + firstDeltaMs) / 1000, { [AGENT]: app });
      used(result?.usage, about);
    }),
    on(channels.model, ({ app, provider, model, firstDeltaMs, result, code }, ms) => {
      const about = { [OPERATION]: CHAT, [AGENT]: app, ...asked(provider, model ?? result?.model) };
      duration.record(ms / 1000, { ...about, ...failure(code) });
      if (firstDeltaMs !== undefined) firstChunk.record(firstDeltaMs / 1000, about);
      used(result?.usage, about);
    }),
    on(channels.tool, ({ app, code }, ms) =>
      duration.record(ms / 1000, { [OPERATION]: EXECUTE_TOOL, [AGENT]: app, ...failure(code) }),
    ),
    on(channels.append, ({ code }, ms) => appended.record(ms / 1000, failure(code))),
    observeStats(meter, stats),
  ];
  return () => {
    for (const stop of stops.splice(0)) stop();
  };
}

/** Attributes of a called model. A host's code names few of them. */
function asked(provider: string | undefined, model: string | undefined): Attributes {
  return {
    ...(provider !== undefined && { [CONVENTIONS.ATTR_GEN_AI_PROVIDER_NAME]: provider }),
    ...(model !== undefined && { [CONVENTIONS.ATTR_GEN_AI_REQUEST_MODEL]: model }),
  };
}

function observeStats(meter: Meter, stats: () => GatewayStats): () => void {
  const gauge = (name: string, unit: string, description: string): ObservableGauge =>
    meter.createObservableGauge(name, { unit, description });
  const connections = gauge(
    'agent_gateway.connections',
    '{connection}',
    'Open streams of events and sockets',
  );
  const runs = gauge('agent_gateway.runs', '{run}', 'Runs that have not ended');
  const unread = gauge('agent_gateway.unread', 'By', 'Bytes that readers have not taken yet');
  const observed = [connections, runs, unread];
  const observe: Parameters<Meter['addBatchObservableCallback']>[0] = (result) => {
    const now = stats();
    for (const [transport, count] of Object.entries(now.connections.transports))
      result.observe(connections, count, { 'agent_gateway.transport': transport });
    for (const [app, { active, queued }] of Object.entries(now.runs.apps)) {
      result.observe(runs, active, { [AGENT]: app, 'agent_gateway.run.state': 'active' });
      result.observe(runs, queued, { [AGENT]: app, 'agent_gateway.run.state': 'queued' });
    }
    result.observe(unread, now.unreadBytes);
  };
  meter.addBatchObservableCallback(observe, observed);
  return () => meter.removeBatchObservableCallback(observe, observed);
}
