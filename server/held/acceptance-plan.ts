import { GatewayError } from '../../shared/errors.js';
import type { EventDraft } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import { lastMessage } from '../../shared/last-message.js';
import type { Message } from '../../shared/messages.js';
import type { Plan } from '../log/plan.js';
import { endDrafts } from '../runs/ending.js';
import type { LiveRun, RunRequest } from '../runs/live-run.js';
import type { RecordChange } from '../stores/records.js';
import { storeTime } from '../stores/skew.js';
import type { HeldSession } from './held-session.js';
import type { Move } from './moves.js';

/** Events and records that are stored with a message that nobody sent. */
export interface Cause {
  /** Events that come before `message_accepted`. */
  readonly drafts: (runId: string, state: SessionState) => readonly EventDraft[];
  readonly records: readonly RecordChange[];
  /** Id of the message that must be the last one (see `lastMessage`). @default any */
  readonly behind?: string;
  /** Whether the message gives control back to the app. @default false */
  readonly handsBack?: boolean;
}

/** The place and the cause of a message that is to be accepted. */
export interface AcceptanceOptions {
  /** A move of the conversation in the same append. */
  readonly move?: Move | undefined;
  /** Id of the message that must be the last one (see `lastMessage`). @default any */
  readonly behind?: string | null | undefined;
  readonly cause?: Cause | undefined;
}

/** A message that was sent while a person has control. It stays in the conversation, and its run ends without an answer. */
interface KeptMessage {
  readonly message: Message;
  readonly preceding: readonly Message[];
  readonly end: EventDraft;
  /** The person who has control. */
  readonly details: { readonly by: string };
}

/** The append that accepts a message. */
export interface AcceptancePlan extends Plan {
  /** Number of events before `message_accepted`, with those that end other runs. */
  readonly before: number;
  /** Number of runs before this one. */
  readonly position: number;
  /** Whether the run starts in the same append. */
  readonly starts: boolean;
  /** Set while a person has control: the run ends in the same append. */
  readonly kept: KeptMessage | null;
}

/**
 * Plans the append that accepts a message, from the state just before it.
 *
 * @param ends Events that end other runs in the same append, and come first
 * @throws Outdated if the move must be planned again
 * @throws GatewayError `HISTORY_MOVED`, `TAKEN_OVER`
 */
export function planAcceptance(
  held: HeldSession,
  run: LiveRun,
  { move, behind, cause }: AcceptanceOptions,
  state: SessionState,
  ends: readonly EventDraft[],
): AcceptancePlan {
  const { log, runs } = held;
  const { request } = run;
  assertBehind(state, behind);
  const kept = cause?.handsBack ? null : keptMessage(run, state);
  if (kept && (move || cause)) throw new GatewayError({ code: 'TAKEN_OVER', details: kept.details });
  const moved = move?.drafts(log.view, ends) ?? cause?.drafts(run.id, state) ?? [];
  const before = ends.length + moved.length;
  const interrupts = request.onBusy === 'interrupt';
  const idle = !state.run || ends.length > 0;
  // The run starts in the same append if no other run is active then.
  const starts = !kept && idle && (interrupts || state.queue.length === 0) && held.mayStart;
  const position = kept || interrupts ? 0 : runs.queue.before(run, state);
  const follows = kept ? [kept.end] : starts ? runs.startOf(run) : [];
  return {
    events: [...moved, acceptedAt(run, position, kept ?? request), ...follows],
    // The place of this message is known once the events are made.
    records: cause?.records ?? (() => recordsOfSender(held, request, before + 1)),
    ...{ before, position, starts, kept },
  };
}

/** @throws GatewayError `HISTORY_MOVED` if the last message is not the expected one */
export function assertBehind(state: SessionState, behind: string | null | undefined): void {
  const last = lastMessage(state);
  if (behind === undefined || behind === last) return;
  const message = 'Another message is the last one now; read the conversation before you send again';
  const details = { messageId: behind, tip: state.tip, last };
  throw new GatewayError({ code: 'HISTORY_MOVED', message, details });
}

function acceptedAt(
  { id: runId, request: { metadata, onBusy, key } }: LiveRun,
  position: number,
  { message, preceding }: Pick<RunRequest, 'message' | 'preceding'>,
): EventDraft {
  return {
    ...{ type: 'message_accepted', runId, ts: Date.now(), message },
    ...(preceding.length > 0 && { preceding }),
    ...(key !== undefined && { key }),
    onBusy,
    position,
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}

/** The records that features add for the sender, who has read up to the message. @param count Events of the append up to that message */
export function recordsOfSender(
  { env, store, log }: HeldSession,
  { reader }: Pick<RunRequest, 'reader'>,
  count: number,
): readonly RecordChange[] {
  if (reader === undefined || env.addedOfSender.length === 0) return [];
  const { ref, term, view, arrivals } = log;
  const sent = { reader, epoch: ref.epoch, term, seq: view.head + count, arrivals, at: storeTime(store) };
  return env.addedOfSender.flatMap((recordsOf) => recordsOf(sent));
}

/** The message to keep if a person has control; null if the app has it. A message of the person in control is kept as an answer. */
function keptMessage(run: LiveRun, state: SessionState): KeptMessage | null {
  if (!state.control) return null;
  const { by } = state.control;
  const { message, preceding, user } = run.request;
  const [end] = endDrafts(run, { stopReason: 'taken_over' }, state);
  const kept = { end: end!, details: { by } };
  if (user?.id !== by) return { message, preceding, ...kept };
  const said = (own: Message): Message =>
    own.role === 'user' ? { ...own, role: 'assistant', senderId: by, author: 'operator' } : own;
  return { message: said(message), preceding: preceding.map(said), ...kept };
}
