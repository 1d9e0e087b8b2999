import type { EventDraft } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import type { Grant, GrantEnd } from '../../shared/grants.js';
import { droppingGrant, GRANT, type KeptGrant, keepingGrant, keptGrant } from '../grants/grant-record.js';
import { LimitError } from '../limit-error.js';
import { asUnavailable } from '../log/unavailable.js';
import type { RecordChange, StoredRecord } from '../stores/records.js';
import type { Store } from '../stores/store.js';
import type { SessionRef } from '../stores/stored.js';
import { controlAfter } from './control.js';
import type { HeldSession } from './held-session.js';

/** A new grant. The holder of the session adds the conversation to it. */
export interface NewGrant {
  readonly kept: Omit<KeptGrant, 'epoch'>;
  /** `limits.grantsPerSession`. */
  readonly most: number;
}

/** A grant that ends. */
export interface EndedGrant {
  readonly grantId: string;
  readonly by: string;
  readonly reason: GrantEnd;
  /** The grant by which the person who ends it reaches the session; absent for an owner and for its time. */
  readonly via?: string | undefined;
}

const recordsOf = async (store: Pick<Store, 'records'>, home: SessionRef): Promise<readonly StoredRecord[]> =>
  asUnavailable(() => store.records({ home, kind: GRANT, limit: 10_000 }));

/** The grants of a conversation, the oldest first. @throws GatewayError `OVERLOADED` */
export async function grantsOf(
  store: Pick<Store, 'records'>,
  home: SessionRef,
  epoch: string,
): Promise<readonly KeptGrant[]> {
  const kept = (await recordsOf(store, home)).map(keptGrant);
  return kept.filter((grant) => grant.epoch === epoch).sort((a, b) => a.grant.at - b.grant.at);
}

/** @throws GatewayError `QUOTA_EXCEEDED` naming `limits.grantsPerSession` */
export function addGrant(held: HeldSession, given: NewGrant): Promise<Omit<Grant, 'sessionId'>> {
  return held.inTurn(() => add(held, given));
}

async function add(
  { log, ref, store }: HeldSession,
  { kept, most }: NewGrant,
): Promise<Omit<Grant, 'sessionId'>> {
  const { epoch } = log.ref;
  const records = await recordsOf(store, ref);
  const isOver = (record: StoredRecord): boolean => keptGrant(record).epoch !== epoch;
  if (records.filter((record) => !isOver(record)).length >= most) {
    const message = `A session has at most ${most} grants (limits.grantsPerSession)`;
    throw new LimitError('limits.grantsPerSession', { code: 'QUOTA_EXCEEDED', message });
  }
  const { grant } = kept;
  const { grantId, as, by, hide, expiresAt } = grant;
  const draft: EventDraft = {
    type: 'grant_added',
    ts: Date.now(),
    ...{ grantId, as, by },
    ...('userId' in grant.with ? { with: 'user', userId: grant.with.userId } : { with: 'link' }),
    ...(hide && { hide }),
    ...(expiresAt !== undefined && { expiresAt }),
  };
  // Grants of past conversations are dropped in the same append.
  const over = records.filter(isOver).flatMap(({ id }) => droppingGrant(id));
  await log.commit([draft], { records: [...over, ...keepingGrant({ ...kept, epoch })], refusable: true });
  return grant;
}

/**
 * Ends a grant of this session, with all that is open by it and all that its bearer has by it: control and schedules. Returns whether there
 * was one.
 *
 * @throws GatewayError `SESSION_NOT_FOUND` if the grant of the person who ends it is over, `OVERLOADED`
 */
export async function endGrant(held: HeldSession, ended: EndedGrant): Promise<boolean> {
  const { env, grants } = held;
  const { grantId, via } = ended;
  if (via !== undefined) await grants.assertGood(via);
  const settle = await grants.end(grantId);
  let hasEnded = false;
  try {
    hasEnded = await held.inTurn(() => end(held, ended));
  } finally {
    settle(hasEnded);
  }
  if (hasEnded) env.ungranted(grantId);
  return hasEnded;
}

async function end(held: HeldSession, { grantId, by, reason }: EndedGrant): Promise<boolean> {
  const { env, log, ref, store } = held;
  for (;;) {
    const record = (await recordsOf(store, ref)).find(({ id }) => id === grantId);
    if (!record) return false;
    const drop = droppingGrant(grantId, record.token);
    if (keptGrant(record).epoch !== log.ref.epoch) {
      await log.commit([], { records: drop, refusable: true });
      return true;
    }
    const removed: EventDraft = { type: 'grant_removed', ts: Date.now(), grantId, by, reason };
    const ended = await asUnavailable(() =>
      Promise.all(env.endsWithGrant.map((endsWith) => endsWith(held, grantId))),
    );
    let control: ReturnType<typeof controlAfter>;
    const drafts = (state: SessionState): readonly EventDraft[] => {
      control = controlAfter(state, grantId);
      return [removed, ...ended.flatMap(({ events }) => events), ...control.events];
    };
    const records = (): readonly RecordChange[] => [
      ...drop,
      ...ended.flatMap(({ records: lost }) => lost),
      ...control.records,
    ];
    const { stale } = await log.commit(drafts, { records, refusable: true });
    // A schedule has fired meanwhile, or somebody else has ended the grant.
    if (!stale) return true;
  }
}
