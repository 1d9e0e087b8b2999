import type { NoticeState } from '../../shared/notices.js';
import type { StoredRecord } from '../stores/records.js';
import type { SessionRef, Store } from '../stores/store.js';
import {
  DELIVERY,
  deliveryOf,
  type KeptDelivery,
  type KeptNotice,
  NOTICE,
  noticeOf,
} from './notice-record.js';
import { outcomesOf } from './outcomes.js';

/** Of one session, notices that are owed and are looked at. */
const OWED = 100;
/** Of a browser's id, how much tells which it is. */
const SHORT = 8;

/** What a person is told of the notices of a session, and how. */
export interface StatesOptions {
  /** Whether a notice is the person's. */
  isOwn(to: string): boolean;
  /** How a target is called by its host; undefined where it has no name that anybody gave it. */
  nameOf(target: string): string | undefined;
}

/** What became of the notices of a session, or is to become of them, the newest first. */
export async function noticeStates(
  store: Pick<Store, 'records'>,
  home: SessionRef,
  { isOwn, nameOf }: StatesOptions,
): Promise<readonly NoticeState[]> {
  const list = (kind: string): Promise<readonly StoredRecord[]> =>
    Promise.resolve(store.records({ home, kind, limit: OWED }));
  const states: NoticeState[] = [];
  const add = (kept: KeptNotice & Partial<KeptDelivery>, state: Omit<NoticeState, keyof About>): void => {
    if (isOwn(kept.to)) states.push({ ...aboutOf(kept, nameOf), ...state });
  };
  for (const record of await list(NOTICE))
    add(noticeOf(record), { state: 'waiting', attempts: 0, nextAt: record.dueAt! });
  for (const record of await list(DELIVERY)) {
    const kept = deliveryOf(record);
    const { dueAt: nextAt } = record;
    const { attempts, failed } = kept;
    const state = failed ? (nextAt === undefined ? 'dead' : 'failed') : 'waiting';
    const since = failed && { changedAt: failed.at };
    add(kept, { state, attempts, ...since, ...(nextAt !== undefined && { nextAt }) });
  }
  for (const { kept, outcome: state, at: changedAt } of await outcomesOf(store, home))
    add(kept, { state, attempts: kept.attempts, changedAt });
  return states.sort((a, b) => b.at - a.at);
}

type About = Pick<NoticeState, 'id' | 'kind' | 'at' | 'title' | 'runId' | 'target' | 'name'>;

function aboutOf(
  { notice, target, push }: KeptNotice & Partial<KeptDelivery>,
  nameOf: StatesOptions['nameOf'],
): About {
  const { id, kind, at, title, runId } = notice;
  const name = push ? push.id.slice(0, SHORT) : target === undefined ? undefined : nameOf(target);
  return {
    ...{ id, kind, at },
    ...(title !== undefined && { title }),
    ...(runId !== undefined && { runId }),
    // The address is the host's business, and so is why it could not be reached.
    ...(target !== undefined && { target: target.replace(/:.*/, '') as NonNullable<NoticeState['target']> }),
    ...(name !== undefined && { name }),
  };
}
