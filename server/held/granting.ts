import type { EventDraft } from '../../shared/events.js';
import type { Grant, GrantEnd } from '../../shared/grants.js';
import { droppingGrant, GRANTS, type KeptGrant, keepingGrant } from '../grants/grant-record.js';
import { assertRoom } from '../records/kind.js';
import type { Store } from '../stores/store.js';
import type { LogRef } from '../stores/stored.js';
import { controlAfter } from './control.js';
import type { HeldSession } from './held-session.js';
import { changeKept, endsWithGrant } from './keeping.js';

/** A new grant. The holder of the session adds the conversation to it. */
export interface NewGrant {
  readonly kept: KeptGrant;
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

/** The grants of a conversation, the oldest first. @throws GatewayError `OVERLOADED` */
export async function grantsOf(store: Pick<Store, 'records'>, log: LogRef): Promise<readonly KeptGrant[]> {
  const kept = (await GRANTS.all(store, log)).map(({ value }) => value);
  return kept.sort((a, b) => a.grant.at - b.grant.at);
}

/** @throws GatewayError `QUOTA_EXCEEDED` naming `limits.grantsPerSession` */
export function addGrant(held: HeldSession, { kept, most }: NewGrant): Promise<Omit<Grant, 'sessionId'>> {
  const { grant } = kept;
  const { grantId, as, by, hide, expiresAt } = grant;
  return changeKept(held, GRANTS, (others) => {
    assertRoom(others.length, {
      ...{ most, option: 'limits.grantsPerSession' },
      says: `A session has at most ${most} grants`,
    });
    const draft: EventDraft = {
      type: 'grant_added',
      ts: Date.now(),
      ...{ grantId, as, by },
      ...('userId' in grant.with ? { with: 'user', userId: grant.with.userId } : { with: 'link' }),
      ...(hide && { hide }),
      ...(expiresAt !== undefined && { expiresAt }),
    };
    return { plan: { events: [draft], records: keepingGrant(kept, held.log.ref.epoch) }, result: grant };
  });
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
    hasEnded = await end(held, ended);
  } finally {
    settle(hasEnded);
  }
  if (hasEnded) env.ungranted(grantId);
  return hasEnded;
}

function end(held: HeldSession, { grantId, by, reason }: EndedGrant): Promise<boolean> {
  return changeKept(held, GRANTS, async (kept) => {
    const grant = kept.find(({ id }) => id === grantId);
    // Nothing is left of one of a past conversation but its record.
    const past = grant ? null : await GRANTS.one(held.store, held.ref, grantId);
    if (past) return { plan: { events: [], records: droppingGrant(grantId, past.token) }, result: true };
    if (!grant) return { result: false };
    const lost = await endsWithGrant(held, grantId);
    const removed: EventDraft = { type: 'grant_removed', ts: Date.now(), grantId, by, reason };
    return {
      // A schedule may fire meanwhile, or somebody else end the grant.
      plan: (state) => {
        const control = controlAfter(state, grantId);
        return {
          events: [removed, ...lost.events, ...control.events],
          records: [...droppingGrant(grantId, grant.token), ...lost.records, ...control.records],
        };
      },
      result: true,
    };
  });
}
