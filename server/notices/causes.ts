import { createHash } from 'node:crypto';
import type { UserContext } from '../../shared/contract.js';
import { formatCursor } from '../../shared/cursor.js';
import type { EventOf, GatewayEvent, LoggedEventType } from '../../shared/events.js';
import type { PendingQuestion, SessionState } from '../../shared/fold.js';
import type { Notice, NoticeKind } from '../../shared/notices.js';
import { userOfScope } from '../auth/scope.js';
import type { RecordChange } from '../stores/records.js';
import type { LogRef } from '../stores/stored.js';
import { NOTICE, type OwedNotice, owing } from './notice-record.js';
import type { Receivers } from './receivers.js';

/** Events that are about to be appended, and their place. */
export interface NoticeCause {
  readonly log: LogRef;
  readonly term: number;
  /** Canonical key. */
  readonly sessionId: string;
  /** The place before the first of the events. */
  readonly head: number;
  readonly events: readonly GatewayEvent[];
  readonly before: SessionState;
  readonly after: SessionState;
  /** The user who started a run; null if unknown. */
  userOf(runId: string): UserContext | null;
  /** A time of this process by the store's clock. */
  storeTime(at: number): number;
}

/** The part of a gateway's configuration that determines which notices are made, and for whom. */
export interface NoticeRules {
  readonly causes: Causes;
  readonly kinds: ReadonlySet<NoticeKind>;
  readonly unseenMs: number;
  /** The names of the targets that want a kind of notices. */
  targetsOf(kind: NoticeKind): readonly string[];
  readonly receivers: Pick<Receivers, 'of'>;
}

/** Longest encoded part of an id, in characters. */
const LONGEST = 256;
/** Half of a character. */
const HALF = /\p{Surrogate}/u;

/**
 * Encodes a part of an id that somebody else chose: an id goes into a header, is signed between dots, and is a key of stores. A part that is long, or
 * that no encoding of text has, is hashed.
 */
function safe(part: string): string {
  const encoded = HALF.test(part) ? null : encodeURIComponent(part).replaceAll('.', '%2E');
  if (encoded !== null && encoded.length <= LONGEST) return encoded;
  // JSON escapes each half character, so that all texts differ. No encoded part has the signs before it.
  return `%~${createHash('sha256').update(JSON.stringify(part)).digest('base64url')}`;
}

/** The id of a notice. Every gateway makes the same id from the same cause. */
export function noticeId(kind: NoticeKind, ...cause: readonly (string | number)[]): string {
  return [kind, ...cause.map((part) => safe(String(part)))].join(':');
}

const askedId = ({ callId, runId }: Pick<PendingQuestion, 'callId' | 'runId'>, epoch: string): string =>
  noticeId('input_required', runId ?? epoch, callId);

const handOffId = ({ runId }: { readonly runId: string }): string => noticeId('hand_off', runId);

/** The part of a notice that an event determines. */
type CausedNotice = Pick<Notice, 'id' | 'kind'> & Partial<Notice> & { readonly text?: string };

/** The notices that events of features cause. */
export type Causes = {
  readonly [Type in LoggedEventType]?: (event: EventOf<Type>, cause: NoticeCause) => CausedNotice | null;
};

/** The part of a notice that an event determines; null for an event without a notice. */
function toldOf(event: GatewayEvent, cause: NoticeCause, seq: number, causes: Causes): CausedNotice | null {
  const {
    log: { epoch, scope },
    before,
  } = cause;
  switch (event.type) {
    case 'message_end': {
      const { runId = '', stopReason, parentRunId } = event;
      // A child answers its parent.
      if (parentRunId !== undefined) return null;
      return { id: noticeId('run_ended', runId), kind: 'run_ended', runId, stopReason };
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
      const id = noticeId('taken_over', epoch, seq);
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
        | ((event: GatewayEvent, cause: NoticeCause) => CausedNotice | null)
        | undefined;
      return added?.(event, cause) ?? null;
    }
  }
}

/** The notices of events that are about to be appended, and the removal of notices that these events settle. */
export function noticesOf(
  cause: NoticeCause,
  { kinds, unseenMs, targetsOf, receivers, causes }: NoticeRules,
): readonly RecordChange[] {
  const { log, term, sessionId, head, events, before, after, userOf, storeTime } = cause;
  const { epoch, scope, app } = log;
  const changes = new Map<string, RecordChange>();
  for (const asked of kinds.has('input_required') ? before.pending : []) {
    if (after.pending.some(({ callId }) => callId === asked.callId)) continue;
    const id = askedId(asked, epoch);
    changes.set(id, { kind: NOTICE, id });
  }
  const { handOff } = before;
  if (handOff && kinds.has('hand_off') && after.handOff?.runId !== handOff.runId) {
    const id = handOffId(handOff);
    changes.set(id, { kind: NOTICE, id });
  }
  events.forEach((event, i) => {
    const seq = head + i + 1;
    const told = toldOf(event, cause, seq, causes);
    if (!told || !kinds.has(told.kind)) return;
    const { text, ...about } = told;
    // A question that is answered in the same append waits for nobody.
    if (told.callId !== undefined && !after.pending.some(({ callId }) => callId === told.callId)) return;
    const user = told.runId === undefined || told.userId !== undefined ? null : userOf(told.runId);
    const at = event.ts ?? Date.now();
    const kept: OwedNotice = {
      notice: {
        ...about,
        ...{ sessionId, app, at, cursor: formatCursor(epoch, term, seq) },
        ...(user && { userId: user.id }),
      },
      ...receivers.of(user, scope),
      place: { epoch, seq },
      targets: targetsOf(told.kind),
      ...(text !== undefined && { text }),
    };
    changes.set(told.id, owing(kept, storeTime(at) + unseenMs));
  });
  return [...changes.values()];
}
