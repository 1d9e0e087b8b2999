import type { UserContext } from '../../shared/contract.js';
import type { Control, ControlMove } from '../../shared/control.js';
import { GatewayError, isGatewayError } from '../../shared/errors.js';
import type { EventDraft } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import type { Message } from '../../shared/messages.js';
import { withoutPlace } from '../../shared/messages.js';
import { unavailable } from '../log/unavailable.js';
import type { RunRequest } from '../runs/live-run.js';
import type { RecordChange } from '../stores/records.js';
import { StoreError } from '../stores/store.js';
import { acceptWith } from './acceptance.js';
import { isOpen } from './run-endings.js';
import type { Session } from './session.js';

/** The kind of records by which control falls back to the app. */
export const CONTROL = 'control';

/** Somebody takes over. */
export interface TakingOver {
  readonly by: string;
  readonly reason?: string | undefined;
  /** By the store's clock, in milliseconds since the epoch. */
  readonly until?: number | undefined;
}

/** Somebody hands back. */
export interface HandingBack {
  readonly user: UserContext;
  readonly note?: string | undefined;
  /** Whether the app is to answer the last message, where nobody has. */
  readonly answer: boolean;
  /** Of the run that answers it. */
  readonly runId: string;
}

/** The time of whoever has control is over. */
export interface DueControl {
  /** As its record has it. */
  readonly value: string;
  readonly token: number;
}

/** By itself it drops the record. */
const named: RecordChange = { kind: CONTROL, id: CONTROL };

function taken({ by }: Control): GatewayError {
  return new GatewayError({ code: 'CONTROL_TAKEN', details: { by } });
}

const moved = (move: ControlMove): EventDraft => ({ type: 'control_moved', ts: Date.now(), ...move });

/**
 * Gives a person control, in one append with the ends of all that runs or waits. What waited stays as messages. Whoever has control
 * already keeps it, for longer where another time is given.
 *
 * @throws GatewayError `CONTROL_TAKEN` naming who has it; `OVERLOADED`: nothing has happened
 */
export async function takeOver(session: Session, { by, reason, until }: TakingOver): Promise<Control> {
  const log = session.writer!;
  const { runs } = session;
  const { epoch } = log.ref;
  const record = { ...named, dueAt: until, value: JSON.stringify({ epoch, by }) };
  let changes = false;
  const move = ({ control }: SessionState): readonly EventDraft[] => {
    if (control && control.by !== by) throw taken(control);
    changes = !control || (until !== undefined && until !== control.until);
    const why = reason ?? control?.reason;
    const said = { ...(why !== undefined && { reason: why }), ...(until !== undefined && { until }) };
    return changes ? [moved({ to: by, by, ...said })] : [];
  };
  try {
    await runs.endWith(log, runs.queue.all(), {
      ending: { stopReason: 'taken_over', ...(reason !== undefined && { reason }) },
      concerns: (state, run) => isOpen(state, run.id),
      cause: move,
      options: { refusable: true, records: () => (changes ? [until === undefined ? named : record] : []) },
    });
  } catch (error) {
    throw error instanceof StoreError ? unavailable(error) : error;
  }
  runs.advance();
  return log.state.control ?? { by, since: Date.now() };
}

/**
 * Gives control back to the app, and has it answer the last message in the same append, where that is asked and nobody has. Where the
 * app has control it keeps it.
 *
 * @returns The run that answers
 * @throws GatewayError `CONTROL_TAKEN` where it is somebody else's; `OVERLOADED`: nothing has happened
 */
export async function handBack(session: Session, given: HandingBack): Promise<{ readonly runId?: string }> {
  const { user, note, answer } = given;
  const by = user.id;
  const handed = ({ control }: SessionState): readonly EventDraft[] => {
    if (control && control.by !== by) throw taken(control);
    return control ? [moved({ to: null, by, ...(note !== undefined && { note }) })] : [];
  };
  for (;;) {
    const log = session.writer;
    if (!log) throw new GatewayError({ code: 'SESSION_CLOSED', retryAfterMs: 100 });
    const { control } = log.state;
    const message = answer && control?.by === by ? unanswered(log.state) : null;
    if (!message) {
      const expected = answer ? log.state.tip : undefined;
      let isOutdated = false;
      let drafts: readonly EventDraft[] = [];
      const made = (state: SessionState): readonly EventDraft[] => {
        isOutdated = expected !== undefined && state.tip !== expected;
        drafts = isOutdated ? [] : handed(state);
        return drafts;
      };
      await log.commit(made, { refusable: true, records: () => (drafts.length > 0 ? [named] : []) });
      // Somebody has said something meanwhile, which is to be answered.
      if (isOutdated) continue;
      return {};
    }
    try {
      const accepted = await acceptWith(session.runs, requestOf(message, given), {
        drafts: (_runId, state) => {
          if (!state.control) throw new HandedBack();
          return handed(state);
        },
        records: [named],
        behind: message.id,
        handsBack: true,
      });
      return { runId: 'duplicate' in accepted ? accepted.duplicate.runId : given.runId };
    } catch (error) {
      if (error instanceof HandedBack) return {};
      if (!isGatewayError(error) || error.code !== 'HISTORY_MOVED') throw error;
    }
  }
}

/** It was handed back in the meantime. */
class HandedBack extends Error {}

/** Control falls back to the app when its time is over, unless it was prolonged or handed back since. */
export async function releaseControl(session: Session, { value, token }: DueControl): Promise<void> {
  const { epoch, by } = JSON.parse(value) as { readonly epoch: string; readonly by: string };
  const log = session.writer!;
  const expired = ({ control }: SessionState): readonly EventDraft[] =>
    log.ref.epoch === epoch && control?.by === by ? [moved({ to: null, by: 'gateway', expired: true })] : [];
  await log.commit(expired, { refusable: true, records: [{ ...named, token }] });
}

/** The last message, where it is one that nobody has answered. */
function unanswered({ messages, tip }: SessionState): Message | null {
  const last = messages.at(-1);
  return last?.id === tip && last?.role === 'user' ? last : null;
}

/** The run that answers a message which is there already. */
function requestOf(message: Message, { user, runId }: HandingBack): RunRequest {
  return {
    ...{ runId, message: withoutPlace(message), preceding: [], onBusy: 'queue', key: undefined },
    ...{ user, metadata: {}, clientTools: [], parameters: {} },
  };
}
