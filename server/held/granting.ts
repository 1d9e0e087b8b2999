import type { EventDraft } from '../../shared/events.js';
import type { Grant, GrantEnd } from '../../shared/grants.js';
import { droppingGrant, GRANT, type KeptGrant, keepingGrant, keptGrant } from '../grants/grant-record.js';
import { LimitError } from '../limit-error.js';
import { asUnavailable } from '../log/unavailable.js';
import type { StoredRecord } from '../stores/records.js';
import type { Store } from '../stores/store.js';
import type { SessionRef } from '../stores/stored.js';
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
export async function addGrant(
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

/** Ends a grant of this session, and all that is open by it. Returns whether there was one. */
export async function endGrant(
  { env, log, ref, store }: HeldSession,
  { grantId, by, reason }: EndedGrant,
): Promise<boolean> {
  const record = (await recordsOf(store, ref)).find(({ id }) => id === grantId);
  if (!record) return false;
  const isPresent = keptGrant(record).epoch === log.ref.epoch;
  const draft: EventDraft = { type: 'grant_removed', ts: Date.now(), grantId, by, reason };
  await log.commit(isPresent ? [draft] : [], {
    records: droppingGrant(grantId, record.token),
    refusable: true,
  });
  env.ungranted(grantId);
  return true;
}
