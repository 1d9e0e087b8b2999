import type { SessionState } from '../../shared/fold.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import { commitPlan, type Plan } from '../log/plan.js';
import { asUnavailable } from '../log/unavailable.js';
import type { Kept, Kind, KindEnd } from '../records/kind.js';
import type { RecordChange } from '../stores/records.js';
import type { HeldSession } from './held-session.js';

/** A change of records, with the events that tell of it. */
export interface KeptChange<Result> {
  /** The append; absent if nothing is to be written. */
  readonly plan?: Plan | ((state: SessionState) => Plan);
  readonly result: Result;
}

/** Most records of a session that are looked at as its conversation ends. One that is left counts as none in the next. */
const MOST = 10_000;

/**
 * Changes the records that a conversation has of a kind, in one append with what the log says of it. Work of this kind goes one after the
 * other, so that bounds hold; if somebody else has changed a record meanwhile, the change is made anew.
 *
 * @param change Gets the records as they are
 * @throws GatewayError `OVERLOADED`, and errors of `change`
 */
export function changeKept<Value extends object, Result>(
  held: HeldSession,
  kind: Kind<Value>,
  change: (kept: readonly Kept<Value>[]) => MaybePromise<KeptChange<Result>>,
): Promise<Result> {
  const { log, store } = held;
  return held.inTurn(async () => {
    for (;;) {
      const { plan, result } = await change(await kind.all(store, log.ref));
      if (!plan) return result;
      const make = typeof plan === 'function' ? plan : () => plan;
      const { committed } = await commitPlan(log, make, { refusable: true });
      if (!committed.stale) return result;
    }
  });
}

/** The end of all that ends with a conversation, for the append that closes it. @throws GatewayError `OVERLOADED` */
export async function endsWithConversation({
  env,
  ref,
  store,
}: HeldSession): Promise<readonly RecordChange[]> {
  const kinds = new Map(env.kinds.map((kind) => [kind.name, kind]));
  const records = await asUnavailable(() => store.records({ home: ref, limit: MOST }));
  const lost = records.filter((record) => kinds.get(record.kind)?.endsWithConversation(record));
  return lost.map(({ kind, id }) => ({ kind, id }));
}

/** The end of all that a person has by a grant, for the append that ends the grant. @throws GatewayError `OVERLOADED` */
export async function endsWithGrant({ env, log, store }: HeldSession, grantId: string): Promise<KindEnd> {
  const ends = await Promise.all(env.kinds.map((kind) => kind.endsWithGrant(store, log.ref, grantId)));
  return {
    events: ends.flatMap((end) => end?.events ?? []),
    records: ends.flatMap((end) => end?.records ?? []),
  };
}
