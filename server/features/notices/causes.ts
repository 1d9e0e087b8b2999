import { formatCursor } from '../../../shared/cursor.js';
import type { EventOf, GatewayEvent, LoggedEventType } from '../../../shared/events.js';
import type { PendingQuestion, SessionState } from '../../../shared/fold.js';
import type { Notice, NoticeKind } from '../../../shared/notices/contract.js';
import { userOfScope } from '../../auth/scope.js';
import { idOf } from '../../ids.js';
import type { EventCause } from '../../sessions/event-cause.js';
import type { RecordChange } from '../../stores/records.js';
import { atOnceId, type KeptNotice, NOTICE, owing } from './notice-record.js';
import { receiverOf } from './receivers.js';

/** The part of a gateway's configuration that determines which notices are made, and for whom. */
export interface NoticeRules {
  readonly causes: Causes;
  readonly unseenMs: number;
  /** The names of the targets that are told later of a kind of notices, if it is not seen; null if there are no notices of this kind. */
  later(kind: NoticeKind): readonly string[] | null;
  /** The names of the targets that are told at once. */
  atOnce(kind: NoticeKind): readonly string[];
}

/** The id of the notice of a question. */
export const askedId = (
  { callId, runId }: Pick<PendingQuestion, 'callId' | 'runId'>,
  epoch: string,
): string => idOf('input_required', runId ?? epoch, callId);

const handOffId = ({ runId }: { readonly runId: string }): string => idOf('hand_off', runId);

/** The part of a notice that an event determines. */
type CausedNotice = Pick<Notice, 'id' | 'kind'> & Partial<Notice> & Pick<KeptNotice, 'text' | 'always'>;

/** The notice of a feature's event, which its kind and these parts tell from all others. */
type FeatureNotice = Omit<CausedNotice, 'id'> & { readonly of: readonly (string | number)[] };

/** The notices that events of features cause. */
export type Causes = {
  readonly [Type in LoggedEventType]?: (event: EventOf<Type>, cause: EventCause) => FeatureNotice | null;
};

/** The part of a notice that an event determines; null for an event without a notice. */
function toldOf(event: GatewayEvent, cause: EventCause, seq: number, causes: Causes): CausedNotice | null {
  const {
    log: { epoch, scope },
    before,
  } = cause;
  switch (event.type) {
    case 'message_end': {
      const { runId = '', stopReason, parentRunId } = event;
      // A child answers its parent.
      if (parentRunId !== undefined) return null;
      return { id: idOf('run_ended', runId), kind: 'run_ended', runId, stopReason };
    }
    case 'tool_confirmation_required':
    case 'input_required': {
      const { callId, runId, name } = event;
      const id = askedId({ callId, ...(runId !== undefined && { runId }) }, epoch);
      return { id, kind: 'input_required', callId, ...(runId !== undefined && { runId }), text: name };
    }
    case 'control_moved': {
      const { to, reason: text } = event;
      // A person who extends their control took over earlier.
      if (to === null || to === before.control?.by) return null;
      const owner = userOfScope(scope);
      if (owner?.id === to) return null;
      const id = idOf('taken_over', epoch, seq);
      const told = { id, kind: 'taken_over', by: to, ...(text !== undefined && { text }) } as const;
      return { ...told, ...(owner && { userId: owner.id }) };
    }
    case 'hand_off_requested': {
      const { runId = '', roles, reason: text } = event;
      // The person who is asked for speaks with the session's owner, whoever the app spoke with.
      const owner = userOfScope(scope);
      return {
        ...{ id: handOffId({ runId }), kind: 'hand_off', runId },
        ...(owner && { userId: owner.id }),
        ...(roles && { roles }),
        ...(text !== undefined && { text }),
      };
    }
    default: {
      const added = causes[event.type as LoggedEventType] as
        | ((event: GatewayEvent, cause: EventCause) => FeatureNotice | null)
        | undefined;
      const told = added?.(event, cause);
      if (!told) return null;
      const { of, ...about } = told;
      return { id: idOf(about.kind, ...of), ...about };
    }
  }
}

/** The runs above a child, its parent first. */
function runsAbove(
  { lanes = [] }: Pick<SessionState, 'lanes'>,
  runId: string | undefined,
): readonly string[] {
  const parent = lanes.find((lane) => lane.runId === runId)?.parentRunId;
  return parent === undefined ? [] : [parent, ...runsAbove({ lanes }, parent)];
}

/** The notices of events that are about to be appended, and the removal of notices that these events settle. */
export function noticesOf(
  cause: EventCause,
  { unseenMs, later, atOnce, causes }: NoticeRules,
): readonly RecordChange[] {
  const { log, term, sessionId, head, events, before, after, senderOf, storeTime } = cause;
  const { epoch, scope, app } = log;
  const changes = new Map<string, RecordChange>();
  for (const asked of later('input_required') ? before.pending : []) {
    if (after.pending.some(({ callId }) => callId === asked.callId)) continue;
    const id = askedId(asked, epoch);
    changes.set(id, { kind: NOTICE, id });
  }
  const { handOff } = before;
  if (handOff && later('hand_off') && after.handOff?.runId !== handOff.runId) {
    const id = handOffId(handOff);
    changes.set(id, { kind: NOTICE, id });
  }
  events.forEach((event, i) => {
    const seq = head + i + 1;
    const told = toldOf(event, cause, seq, causes);
    if (!told) return;
    const [targets, soon] = [later(told.kind), atOnce(told.kind)];
    if (!targets && soon.length === 0) return;
    const { text, always, ...about } = told;
    // A question that is answered in the same append waits for nobody.
    if (told.callId !== undefined && !after.pending.some(({ callId }) => callId === told.callId)) return;
    const sender = told.runId === undefined || told.userId !== undefined ? null : senderOf(told.runId);
    const at = event.ts ?? Date.now();
    const kept: KeptNotice = {
      notice: {
        ...about,
        ...{ sessionId, app, at, cursor: formatCursor(epoch, term, seq) },
        ...(sender?.user && { userId: sender.user.id }),
      },
      ...receiverOf(sender, scope),
      place: { epoch, seq },
      ...(text !== undefined && { text }),
      ...(always && { always }),
    };
    const now = storeTime(at);
    if (targets) changes.set(told.id, owing({ ...kept, targets }, now + unseenMs));
    if (soon.length > 0) {
      const above = runsAbove(after, told.runId);
      const owed = { ...kept, targets: soon, atOnce: true, ...(above.length > 0 && { above }) } as const;
      changes.set(atOnceId(told.id), owing(owed, now));
    }
  });
  return [...changes.values()];
}
