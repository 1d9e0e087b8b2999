import type { GatewayEvent, StopReason, Usage } from 'agent-session-gateway/client';
import { isDelta } from '../../shared/events.js';
import { textOf } from '../../shared/messages.js';
import type { Outage, Recorded } from './record.js';

/** The kind of a stretch of a run, by the party that worked or was waited for. */
export type StretchKind = 'queue' | 'app' | 'text' | 'reasoning' | 'tool' | 'person' | 'step' | 'model';

/** Part of a run, in milliseconds since the run was asked for. */
export interface Stretch {
  readonly kind: StretchKind;
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** Whether what was done in it failed. */
  readonly failed?: boolean | undefined;
  /** The tokens that it took. */
  readonly usage?: Usage | undefined;
  /** Cursor of the event that begins the stretch. */
  readonly cursor: string | undefined;
}

/** A piece of text, at the time of its event. */
export interface Piece {
  readonly at: number;
  readonly size: number;
}

/** A period without a connection. */
export interface Cut {
  readonly from: number;
  readonly to: number;
}

/** A call of a tool. Without an output it has none yet. */
export interface ShapeCall {
  readonly name: string;
  readonly input: unknown;
  readonly output?: unknown;
}

/** The picture of one run: the durations of its stretches, and the cuts of the connection meanwhile. */
export interface RunShape {
  readonly runId: string;
  /** The run that began it, with the id that it has there. */
  readonly parentRunId: string | undefined;
  readonly name: string;
  /** The message that began the run. */
  readonly asked: string;
  readonly askedId: string | undefined;
  /** Id and text of its answer. */
  readonly answerId: string | undefined;
  readonly answer: string;
  /** Its calls of tools, by their ids. */
  readonly calls: ReadonlyMap<string, ShapeCall>;
  readonly usage: Usage | undefined;
  /** Why it failed, in the words that were told. */
  readonly error: string | undefined;
  /** Cursor of its first event. */
  readonly cursor: string | undefined;
  readonly began: number;
  readonly ms: number;
  readonly stopReason: StopReason | undefined;
  readonly lanes: readonly (readonly Stretch[])[];
  readonly pieces: readonly Piece[];
  readonly cuts: readonly Cut[];
}

interface Growing {
  readonly runId: string;
  readonly cursor: string | undefined;
  parentRunId: string | undefined;
  name: string;
  asked: string;
  askedId: string | undefined;
  answerId: string | undefined;
  answer: string;
  readonly calls: Map<string, ShapeCall>;
  usage: Usage | undefined;
  error: string | undefined;
  began: number;
  ended: number;
  started: number | undefined;
  stopReason: StopReason | undefined;
  readonly open: Map<string, Omit<Stretch, 'to'>>;
  readonly stretches: Stretch[];
  readonly pieces: Piece[];
}

/** The shapes of a session's runs, oldest first. An active run ends at its last known event, because this page's clock may be wrong. */
export function shapesOf(entries: readonly Recorded[], outages: readonly Outage[]): readonly RunShape[] {
  const runs = new Map<string, Growing>();
  for (const { event, size } of entries) {
    const { runId, ts } = event as { runId?: string; ts?: number };
    if (runId === undefined || ts === undefined) continue;
    const run = runs.get(runId) ?? begin(runs, runId, event, ts);
    run.ended = ts;
    take(run, event, ts, size);
  }
  const skew = skewOf(entries);
  const cuts = outages.map(({ at, ms }) => ({ from: at + skew, to: at + skew + ms }));
  return [...runs.values()].map((run) => shapeOf(run, cuts));
}

function begin(runs: Map<string, Growing>, runId: string, event: GatewayEvent, ts: number): Growing {
  const run: Growing = {
    runId,
    cursor: event.cursor,
    ...{ parentRunId: undefined, name: '', asked: '', askedId: undefined, answerId: undefined },
    ...{ answer: '', calls: new Map(), usage: undefined, error: undefined },
    began: ts,
    ended: ts,
    // A run beside the conversation waits for nothing.
    started: event.type === 'run_spawned' ? 0 : undefined,
    stopReason: undefined,
    open: new Map(),
    stretches: [],
    pieces: [],
  };
  runs.set(runId, run);
  if (event.type === 'message_accepted')
    run.open.set('queue', { kind: 'queue', name: 'waits', from: 0, cursor: event.cursor });
  return run;
}

function take(run: Growing, event: GatewayEvent, ts: number, size: number): void {
  const from = ts - run.began;
  const { cursor } = event;
  const close = (key: string, failed = false) => {
    const open = run.open.get(key);
    if (!open) return;
    run.open.delete(key);
    run.stretches.push({ ...open, to: from, ...(failed && { failed }) });
  };
  if (isDelta(event)) {
    const kind = event.type === 'content_delta' ? 'text' : 'reasoning';
    run.pieces.push({ at: from, size });
    if (kind === 'text') run.answer += event.delta;
    const last = run.stretches.findLast((it) => it.kind === 'text' || it.kind === 'reasoning');
    // Extend the last stretch while nothing else comes between.
    if (last && last.kind === kind && run.stretches.at(-1) === last)
      run.stretches[run.stretches.length - 1] = { ...last, to: from };
    else
      run.stretches.push({ kind, name: kind, from: last ? from : (run.started ?? from), to: from, cursor });
    return;
  }
  switch (event.type) {
    case 'message_accepted':
    case 'run_spawned':
      run.asked = textOf(event.message);
      run.askedId = event.message.id;
      if (event.type === 'message_accepted') return;
      run.parentRunId = event.parentRunId;
      run.name = event.name ?? event.app;
      run.answerId = event.messageId;
      return;
    case 'run_error':
      run.error = `${event.code}: ${event.message}`;
      return;
    case 'message_start':
      run.started = from;
      run.answerId = event.messageId;
      run.name ||= event.app;
      return close('queue');
    case 'tool_use':
      run.calls.set(event.callId, { name: event.name, input: event.input });
      run.open.set(event.callId, { kind: 'tool', name: event.name, from, cursor });
      return;
    case 'tool_result':
      run.calls.set(event.callId, {
        ...{ name: event.name, input: undefined },
        ...run.calls.get(event.callId),
        output: event.output,
      });
      return close(event.callId, event.isError);
    case 'tool_confirmation_required':
    case 'input_required':
      run.open.set(`person ${event.callId}`, { kind: 'person', name: `you: ${event.name}`, from, cursor });
      return;
    case 'tool_confirmation_result':
    case 'input_result':
      return close(`person ${event.callId}`);
    case 'message_end':
      run.stopReason = event.stopReason;
      run.usage = event.usage ?? event.message.usage;
      run.answer = textOf(event.message);
      if (event.message.error) run.error = `${event.message.error.code}: ${event.message.error.message}`;
      for (const key of [...run.open.keys()]) close(key);
  }
}

function shapeOf(run: Growing, cuts: readonly Cut[]): RunShape {
  const { runId, parentRunId, name, asked, askedId, answerId, answer, usage, error, cursor } = run;
  const { began, stopReason, pieces, calls } = run;
  const ms = Math.max(1, run.ended - began);
  const open = [...run.open.values()].map((it) => ({ ...it, to: ms }));
  return {
    ...{ runId, parentRunId, name, asked, askedId, answerId, answer, usage, error, cursor },
    ...{ began, ms, stopReason, pieces, calls },
    lanes: lanesOf([...run.stretches, ...open]),
    cuts: cuts
      .map(({ from, to }) => ({ from: Math.max(0, from - began), to: Math.min(ms, to - began) }))
      .filter(({ from, to }) => to > 0 && from < ms),
  };
}

/** Puts overlapping stretches below each other, each in the first lane with room. */
function lanesOf(stretches: readonly Stretch[]): Stretch[][] {
  const lanes: Stretch[][] = [];
  for (const stretch of [...stretches].sort((one, other) => one.from - other.from)) {
    const lane = lanes.find(
      (it) => it.at(-1)!.to <= stretch.from && (it[0]!.kind === 'tool') === (stretch.kind === 'tool'),
    );
    if (lane) lane.push(stretch);
    else lanes.push([stretch]);
  }
  return lanes;
}

/** Milliseconds to add to a time of this page to get the gateway's, by the event with the shortest way. */
function skewOf(entries: readonly Recorded[]): number {
  let least = Number.POSITIVE_INFINITY;
  for (const { event, at } of entries) if (event.ts !== undefined) least = Math.min(least, at - event.ts);
  return Number.isFinite(least) ? -least : 0;
}
