import { cut } from '../../../shared/cut.js';
import type { NoticeState } from '../../../shared/notices/contract.js';
import { DEAD, deadOf } from '../../due/dead.js';
import type { StoredRecord } from '../../stores/records.js';
import type { Store } from '../../stores/store.js';
import type { SessionRef } from '../../stores/stored.js';
import {
  DELIVERY,
  deliveryOf,
  type KeptDelivery,
  type KeptNotice,
  NOTICE,
  noticeOf,
} from './notice-record.js';
import { outcomesOf } from './outcomes.js';

/** Most owed notices of one session that are read. */
const OWED = 100;
/** Characters of a browser's id that identify it. */
const SHORT = 8;

/** Options of `noticeStates`. */
export interface StatesOptions {
  /** Whether a notice is the person's. */
  isOwn(to: string): boolean;
  /** The name that the host gave a target; undefined if it gave none. */
  nameOf(target: string): string | undefined;
}

/** The states of a session's notices, the newest first. */
export async function noticeStates(
  store: Pick<Store, 'records'>,
  home: SessionRef,
  { isOwn, nameOf }: StatesOptions,
): Promise<readonly NoticeState[]> {
  const list = (kind: string): Promise<readonly StoredRecord[]> =>
    Promise.resolve(store.records({ home, kind, limit: OWED }));
  const states: NoticeState[] = [];
  const add = (
    kept: KeptNotice & Partial<KeptDelivery>,
    state: Omit<NoticeState, keyof NoticeSubject>,
  ): void => {
    if (isOwn(kept.to)) states.push({ ...aboutOf(kept, nameOf), ...state });
  };
  for (const record of await list(NOTICE)) {
    const kept = noticeOf(record);
    add(kept, { state: 'waiting', attempts: kept.attempts ?? 0, nextAt: record.dueAt! });
  }
  for (const record of await list(DELIVERY)) {
    const kept = deliveryOf(record);
    const { attempts = 0, failed } = kept;
    const state = failed ? 'failed' : 'waiting';
    add(kept, { state, attempts, ...(failed && { changedAt: failed.at }), nextAt: record.dueAt! });
  }
  for (const { kept } of (await list(DEAD)).map(deadOf)) {
    if (kept.kind === DELIVERY)
      add(deliveryOf(kept), { state: 'dead', attempts: kept.attempts, changedAt: kept.failed.at });
  }
  for (const { kept, outcome: state, at: changedAt } of await outcomesOf(store, home))
    add(kept, { state, attempts: kept.attempts ?? 0, changedAt });
  return states.sort((a, b) => b.at - a.at);
}

type NoticeSubject = Pick<NoticeState, 'id' | 'kind' | 'at' | 'title' | 'runId' | 'target' | 'name'>;

function aboutOf(
  { notice, target, endpoint }: KeptNotice & Partial<KeptDelivery>,
  nameOf: StatesOptions['nameOf'],
): NoticeSubject {
  const { id, kind, at, title, runId } = notice;
  const browser = target === 'push' ? endpoint : undefined;
  const name = browser ? cut(browser.id, SHORT) : target === undefined ? undefined : nameOf(target);
  return {
    ...{ id, kind, at },
    ...(title !== undefined && { title }),
    ...(runId !== undefined && { runId }),
    // Hide the address, and the reason why it failed: both are the host's business.
    ...(target !== undefined && { target: target.replace(/:.*/, '') as NonNullable<NoticeState['target']> }),
    ...(name !== undefined && { name }),
  };
}
