import { composeId, partsOfId } from './composed-id.js';
import type { EventOf, GatewayEvent } from './events.js';
import type { SessionState } from './fold.js';
import { type Subagent, Subagents } from './subagents.js';

/**
 * A piece of a run, for protocols whose answers end when the client must act: an event, a change of one of its child runs, or the pause after
 * questions that were asked together. Questions of child runs, and their answers, are events too.
 */
export type Piece =
  | {
      readonly type: 'event';
      readonly event: GatewayEvent;
      /** For a question: whether it is known to be no longer open. */
      readonly settled: boolean;
    }
  | { readonly type: 'subagent'; readonly subagent: Subagent }
  | {
      readonly type: 'pause';
      /** The calls that the questions are about. */
      readonly asked: readonly string[];
      /** Place of the last question. */
      readonly cursor: string | undefined;
      /** Whether the same segment continues after it. */
      readonly passed: boolean;
    };

/** A question. */
export type AskingEvent = EventOf<'tool_confirmation_required'> | EventOf<'input_required'>;

/** The answer to a question. */
export type AnsweringEvent = EventOf<'tool_confirmation_result'> | EventOf<'input_result'>;

interface SegmentedRun {
  readonly runId?: string;
}

interface Batch {
  readonly id: string;
  readonly asked: string[];
  /** The run that asked, by call. */
  readonly askers: Map<string, string | undefined>;
  readonly answered: Set<string>;
  /** The first question and all later events. */
  readonly held: GatewayEvent[];
  /** The number of events up to the last question. */
  length: number;
  /** Whether no further question can belong to it. */
  complete: boolean;
  /** Whether the run has ended. Its questions can no longer be answered. */
  over: boolean;
}

/**
 * Divides a run's events into segments. Each ends exactly after the last question of a batch; later events belong to the next segment. Live and later
 * readers find the same ends. Feed it each event once, in order.
 */
export class Segmenter {
  readonly #runId: string;
  readonly #through: boolean;
  readonly #asks: (event: AskingEvent) => boolean;
  /** The run, and all runs below it. */
  readonly #tree = new Set<string>();
  readonly #subagents = new Subagents();
  /** Questions of child runs. */
  readonly #asked = new Set<string>();
  #batch: Batch | null = null;

  /**
   * @param options `through`: whether to continue past answered questions and end only at an open one. `asks`: whether a question is for this reader;
   * others are told like any event. @default all are
   */
  constructor(
    runId: string,
    {
      through,
      asks = () => true,
    }: { readonly through: boolean; readonly asks?: (event: AskingEvent) => boolean },
  ) {
    this.#runId = runId;
    this.#tree.add(runId);
    this.#through = through;
    this.#asks = asks;
  }

  /** Whether questions are held back until the next event, or `head`, decides about them. */
  get asking(): boolean {
    return this.#batch !== null;
  }

  #owns(runId: string | undefined): boolean {
    return runId !== undefined && this.#tree.has(runId);
  }

  /** Takes the next event. Events of other runs are ignored, but for child runs. */
  take(event: GatewayEvent): Piece[] {
    if (event.type === 'run_spawned' && this.#owns(event.parentRunId)) this.#tree.add(event.runId!);
    return 'runId' in event && this.#owns(event.runId) ? this.#take(event) : [];
  }

  /** Continues with the child runs of a snapshot. Their open questions are events for `take`. */
  adopt({ lanes = [], pending }: Pick<SessionState, 'lanes' | 'pending'>): Piece[] {
    return lanes.flatMap((run): Piece[] => {
      if (!this.#owns(run.parentRunId)) return [];
      this.#tree.add(run.runId);
      const open = pending.flatMap(({ runId, callId }) => (runId === run.runId ? [callId] : []));
      return [{ type: 'subagent', subagent: this.#subagents.adopt(run, open) }];
    });
  }

  /** Tells it that nothing follows the last event yet. Events that were stored together must have been taken together. */
  head(): Piece[] {
    const batch = this.#batch;
    if (!batch) return [];
    this.#batch = null;
    const pause = this.#upTo(batch, false);
    return this.#through ? pause : [...pause, ...this.#again(batch), ...this.head()];
  }

  #take(event: GatewayEvent): Piece[] {
    const batch = this.#batch;
    if (!batch) {
      if (!isAsking(event) || !this.#asks(event)) return this.#told(event, false);
      this.#batch = begun(event);
      return [];
    }
    batch.held.push(event);
    if (!isAsking(event) || this.#asks(event)) note(batch, event, this.#runId);
    const isPassed = this.#through
      ? batch.over || batch.asked.every((callId) => batch.answered.has(callId))
      : batch.complete;
    if (!isPassed) return [];
    this.#batch = null;
    return [...this.#upTo(batch, true), ...this.#again(batch)];
  }

  #upTo({ held, length, asked, answered, over }: Batch, isPassed: boolean): Piece[] {
    const pieces = held.slice(0, length).flatMap((event) => {
      const settled = this.#through && isAsking(event) && (over || answered.has(event.callId));
      return this.#told(event, settled);
    });
    const { cursor } = held[length - 1]!;
    return [...pieces, { type: 'pause', asked, cursor, passed: this.#through && isPassed }];
  }

  /** The pieces for an event that is told now. */
  #told(event: GatewayEvent & SegmentedRun, settled: boolean): Piece[] {
    const piece: Piece = { type: 'event', event, settled };
    if (event.runId === this.#runId) return [piece];
    const subagent = this.#subagents.take(event);
    const pieces: Piece[] = subagent ? [{ type: 'subagent', subagent }] : [];
    if (isAsking(event)) this.#asked.add(event.callId);
    return isAsking(event) || (isAnswer(event) && this.#asked.has(event.callId))
      ? [...pieces, piece]
      : pieces;
  }

  #again({ held, length }: Batch): Piece[] {
    return held.slice(length).flatMap((event) => this.#take(event));
  }
}

/** Whether an event is a question. */
export function isAsking(event: GatewayEvent): event is AskingEvent {
  return event.type === 'tool_confirmation_required' || event.type === 'input_required';
}

/** Whether an event is the answer to a question. */
export function isAnswer(event: GatewayEvent): event is AnsweringEvent {
  return event.type === 'tool_confirmation_result' || event.type === 'input_result';
}

/** A question without a batch forms its own. */
function batchOf({ batch, callId }: AskingEvent): string {
  return batch ?? callId;
}

function begun(event: AskingEvent): Batch {
  const asked = [event.callId];
  const askers = new Map([[event.callId, event.runId]]);
  const rest = { length: 1, complete: false, over: false, answered: new Set<string>() };
  return { id: batchOf(event), asked, askers, held: [event], ...rest };
}

/** The next event may add a question to the batch, complete the batch, or answer a question. */
function note(batch: Batch, event: GatewayEvent & SegmentedRun, runId: string): void {
  if (isAsking(event)) {
    if (batch.complete || batchOf(event) !== batch.id || batch.asked.includes(event.callId))
      batch.complete = true;
    else {
      batch.asked.push(event.callId);
      batch.askers.set(event.callId, event.runId);
      batch.length = batch.held.length;
    }
  } else if (event.type === 'message_end') {
    // The end of a child run settles its own questions alone.
    const settled = batch.asked.filter((callId) => batch.askers.get(callId) === event.runId);
    for (const callId of settled) batch.answered.add(callId);
    batch.over = event.runId === runId;
    batch.complete ||= batch.over || settled.length > 0;
  } else if (isAnswer(event)) {
    if (!batch.asked.includes(event.callId)) return;
    batch.complete = true;
    batch.answered.add(event.callId);
  }
}

/** The number of a segment, without zeros before it, so that a segment has one id. */
const INDEX = /^(?:0|[1-9]\d{0,8})$/;

/** A segment of a run, as the ids of other protocols name it. */
export interface SegmentName {
  /** Canonical key. */
  readonly sessionId: string;
  readonly runId: string;
  /** How many segments of the run come before it. */
  readonly index: number;
}

/** Writes the id of a segment. */
export function formatSegment({ sessionId, runId, index }: SegmentName): string {
  return composeId(sessionId, runId, index);
}

/** Reads the id of a segment; null if it is not one. */
export function parseSegment(text: string): SegmentName | null {
  const [sessionId = '', runId = '', index = '', ...more] = partsOfId(text) ?? [];
  if (sessionId === '' || runId === '' || !INDEX.test(index) || more.length > 0) return null;
  return { sessionId, runId, index: Number(index) };
}
