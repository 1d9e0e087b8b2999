import * as z from 'zod';
import type { UserContext } from '../../shared/contract.js';
import type { Control, ControlMove } from '../../shared/control.js';
import { GatewayError, isGatewayError } from '../../shared/errors.js';
import type { EventDraft } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import type { Message } from '../../shared/messages.js';
import { withoutPlace } from '../../shared/messages.js';
import type { Plan } from '../log/plan.js';
import { unavailable } from '../log/unavailable.js';
import { type Kept, kind } from '../records/kind.js';
import { isOpen } from '../runs/ending.js';
import type { RunRequest } from '../runs/live-run.js';
import { StoreError } from '../stores/append.js';
import type { RecordChange } from '../stores/records.js';
import { acceptWith } from './acceptance.js';
import type { HeldSession } from './held-session.js';

/** The record that returns control to the app in time. */
interface KeptControl {
  readonly by: string;
  readonly until?: number;
}

/** The records that return control to the app in time. A session has one at most. */
export const CONTROLS = kind<KeptControl>({
  ...{ name: 'control', endsWith: 'conversation' },
  schema: z.object({ by: z.string(), until: z.number().exactOptional() }),
  dueOf: ({ until }) => until,
});

/** A request of a person to take control. */
export interface TakeOverRequest {
  readonly by: string;
  readonly reason?: string | undefined;
  /** Time of the store's clock at which control ends, in milliseconds since the epoch. */
  readonly until?: number | undefined;
  /** The grant by which the person reaches the session; absent for an owner. */
  readonly via?: string | undefined;
}

/** A request of a person to give control back. */
export interface HandBackRequest {
  readonly user: UserContext;
  readonly note?: string | undefined;
  /** Whether the app answers the last message, if nobody has. */
  readonly answer: boolean;
  /** Id of the run that answers it. */
  readonly runId: string;
  /** Whether it may also give back the control of others: the session is this person's alone, or the host asks. */
  readonly owns: boolean;
  /** The grant by which the person reaches the session; absent for an owner. */
  readonly via?: string | undefined;
}

/** The time of the person in control is over. */
export interface DueControl {
  readonly kept: Kept<KeptControl>;
}

/** The id of the record. */
const ID = 'control';
const dropped: RecordChange = CONTROLS.drop(ID);

function taken({ by }: Control): GatewayError {
  return new GatewayError({ code: 'CONTROL_TAKEN', details: { by } });
}

const moved = (move: ControlMove): EventDraft => ({ type: 'control_moved', ts: Date.now(), ...move });

/**
 * Gives a person control, in one append with the ends of all active and queued runs. Queued messages stay in the conversation. A person who
 * has control already keeps it, and may change its end.
 *
 * @throws GatewayError `CONTROL_TAKEN` naming who has it; `OVERLOADED`: nothing has happened
 */
export async function takeOver(
  held: HeldSession,
  { by, reason, until, via }: TakeOverRequest,
): Promise<Control> {
  const { log, runs } = held;
  const record = until === undefined ? dropped : CONTROLS.put(ID, { by, until }, log.ref);
  const move = ({ control }: SessionState): Plan => {
    if (control && !isTheirs(control, by, via)) throw taken(control);
    if (control?.by === by && (until === undefined || until === control.until)) return { events: [] };
    const why = reason ?? control?.reason;
    const said = {
      ...(why !== undefined && { reason: why }),
      ...(until !== undefined && { until }),
      ...(via !== undefined && { grantId: via }),
    };
    return { events: [moved({ to: by, by, ...said })], records: [record] };
  };
  try {
    await runs.endWith(runs.all(), {
      ending: { stopReason: 'taken_over', ...(reason !== undefined && { reason }) },
      concerns: (state, run) => isOpen(state, run.id),
      cause: move,
      options: { refusable: true },
    });
  } catch (error) {
    throw error instanceof StoreError ? unavailable(error) : error;
  }
  runs.advance();
  return log.state.control ?? { by, since: Date.now() };
}

/**
 * Gives control back to the app. On request, the same append starts a run that answers the last message, if nobody has. Nothing changes if
 * the app has control already.
 *
 * @returns The run that answers
 * @throws GatewayError `CONTROL_TAKEN` if another person has control; `OVERLOADED`: nothing has happened
 */
export async function handBack(
  held: HeldSession,
  given: HandBackRequest,
): Promise<{ readonly runId?: string }> {
  const { log } = held;
  const { user, note, answer } = given;
  const by = user.id;
  const handed = ({ control }: SessionState): readonly EventDraft[] => {
    if (!control) return [];
    const isOwn = isTheirs(control, by, given.via);
    if (!isOwn && !mayForce(control, given)) throw taken(control);
    return [
      moved({ to: null, by, ...(note !== undefined && { note }), ...(!isOwn && { forced: true as const }) }),
    ];
  };
  for (;;) {
    const { control } = log.state;
    const message = answer && control ? unanswered(log.state) : null;
    if (!message) {
      const expected = answer ? log.state.tip : undefined;
      let isOutdated = false;
      let drafts: readonly EventDraft[] = [];
      const made = (state: SessionState): readonly EventDraft[] => {
        isOutdated = expected !== undefined && state.tip !== expected;
        drafts = isOutdated ? [] : handed(state);
        return drafts;
      };
      await log.commit(made, { refusable: true, records: () => (drafts.length > 0 ? [dropped] : []) });
      // Somebody sent another message meanwhile, which the app has to answer instead.
      if (isOutdated) continue;
      return {};
    }
    try {
      const accepted = await acceptWith(held, requestOf(message, given), {
        drafts: (_runId, state) => {
          if (!state.control) throw new HandedBack();
          return handed(state);
        },
        records: [dropped],
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

/** Whether a person has control. All who bear one link are one person. */
const isTheirs = (control: Control, by: string, via: string | undefined): boolean =>
  control.by === by || (via !== undefined && control.grantId === via);

/** Whether a person may give back control that another one has: it is an owner's, and who has it came by a grant of an owner. */
const mayForce = ({ grantId }: Control, { owns, via }: HandBackRequest): boolean =>
  via === undefined && (owns || grantId !== undefined);

/** The end of control with that of a grant, for the same append: the app has it again, if a person has it by that grant. */
export function controlAfter(
  { control }: SessionState,
  grantId: string,
): { readonly events: readonly EventDraft[]; readonly records: readonly RecordChange[] } {
  if (control?.grantId !== grantId) return { events: [], records: [] };
  return { events: [moved({ to: null, by: 'gateway', grantId })], records: [dropped] };
}

/** Control was handed back in the meantime. */
class HandedBack extends Error {}

/** Returns control to the app when its time is over, unless that was prolonged or control was handed back since. */
export async function releaseControl({ log }: HeldSession, { kept }: DueControl): Promise<void> {
  const { epoch, token, value } = kept;
  const expired = ({ control }: SessionState): readonly EventDraft[] =>
    log.ref.epoch === epoch && control?.by === value.by
      ? [moved({ to: null, by: 'gateway', expired: true })]
      : [];
  await log.commit(expired, { refusable: true, records: [CONTROLS.drop(ID, token)] });
}

/** The last message, if it is unanswered. */
function unanswered({ messages, tip }: SessionState): Message | null {
  const last = messages.at(-1);
  return last?.id === tip && last?.role === 'user' ? last : null;
}

/** The run that answers a message of the conversation. */
function requestOf(message: Message, { user, runId }: HandBackRequest): RunRequest {
  return {
    ...{ runId, message: withoutPlace(message), preceding: [], onBusy: 'queue', key: undefined },
    ...{ user, metadata: {}, clientTools: [], parameters: {} },
  };
}
