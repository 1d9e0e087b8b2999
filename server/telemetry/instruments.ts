import type { Attributes, Meter } from '@opentelemetry/api';
import type { Usage } from '../../shared/messages.js';
import { channels, type TraceChannel } from '../diagnostics/channels.js';
import { codeLabel } from '../diagnostics/code-label.js';
import type { GatewayStats } from '../diagnostics/gateway-stats.js';
import type { TraceOutcome } from '../diagnostics/messages.js';
import { onOver } from '../diagnostics/on-over.js';
import { type MeasuredContext, type MeasureSink, Measures } from '../plugins/measures.js';
import { GROWING, NOW, samplesOf } from '../plugins/stats-rows.js';
import { CONVENTIONS } from './conventions.js';

/** The meter and gateway of the instruments. */
export interface InstrumentEnvironment {
  readonly meter: Meter;
  readonly context: MeasuredContext;
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
export function startInstruments({
  meter,
  context,
  gatewayId,
  stats,
  failed,
}: InstrumentEnvironment): () => void {
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
  const measures = new Measures(meterSink(meter), context);
  measures.start();
  const stops = [
    on(channels.run, ({ app, started, result, code }, ms) => {
      if (!started) return;
      const about = { [OPERATION]: INVOKE_AGENT, [AGENT]: app };
      duration.record(ms / 1000, { ...about, ...failure(code) });
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
    observeStats(meter, stats),
    () => measures.stop(),
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
  const rows = [
    ...NOW.map((row) => [row, meter.createObservableGauge(...instrumentOf(row[0], row[1]))] as const),
    ...GROWING.map((row) => [row, meter.createObservableCounter(...instrumentOf(row[0], row[1]))] as const),
  ];
  const observe: Parameters<Meter['addBatchObservableCallback']>[0] = (result) => {
    const now = stats();
    for (const [[, , read], instrument] of rows)
      for (const [labels, value] of samplesOf(read, now)) result.observe(instrument, value, labels);
  };
  const observed = rows.map(([, instrument]) => instrument);
  meter.addBatchObservableCallback(observe, observed);
  return () => meter.removeBatchObservableCallback(observe, observed);
}

/** Measures by a meter. */
function meterSink(meter: Meter): MeasureSink {
  return {
    counter({ name, help }) {
      const counter = meter.createCounter(...instrumentOf(name, help));
      return (labels, by = 1) => counter.add(by, labels);
    },
    distribution({ name: own, help, buckets }) {
      const [name, options] = instrumentOf(own, help);
      const advice = { explicitBucketBoundaries: [...buckets] };
      const histogram = meter.createHistogram(name, { ...options, advice });
      return (labels, value) => histogram.record(value, labels);
    },
  };
}

/** Endings of names that OpenTelemetry says as a unit. Its exporter for Prometheus adds them again, and so the names are the same there. */
const UNITS: Readonly<Record<string, string>> = { seconds: 's', bytes: 'By' };

function instrumentOf(
  name: string,
  description: string,
): [name: string, options: { readonly description: string; readonly unit?: string }] {
  const plain = name.replace(/_total$/, '');
  const [, stem = plain, ending = ''] = /^(.*)_(seconds|bytes)$/.exec(plain) ?? [];
  const unit = UNITS[ending];
  return [`agent_gateway.${stem}`, { description, ...(unit !== undefined && { unit }) }];
}
