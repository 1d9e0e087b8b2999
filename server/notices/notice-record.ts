import type { Notice } from '../../shared/notices.js';
import type { RecordChange, RecordHome, StoredRecord } from '../stores/records.js';

/** The kinds of records that notices are: what is owed, what is owed to one target, what became of the last ones, and the browsers of a person. */
export const NOTICE = 'notice';
export const DELIVERY = 'delivery';
export const TOLD = 'told';
export const PUSH = 'push';
/** Says of an endpoint whose it is: browsers are one person's at a time. */
export const PUSH_OWNER = 'push_owner';

/** The owners of deliveries that failed, by which these are found in all sessions. */
export const RETRYING = 'retrying';
export const DEAD = 'dead';

/** A notice as its record has it. */
export interface KeptNotice {
  readonly notice: Notice;
  /** The person who is told, as `userScope` names people. */
  readonly to: string;
  /** The place in the session's log of what it tells of; absent for a host's own. */
  readonly place?: { readonly epoch: string; readonly seq: number };
  /** What it says of itself where content is asked for: the name of a question, a reason. */
  readonly text?: string;
}

/** What is owed to one target. */
export interface KeptDelivery extends KeptNotice {
  /** Name of the target: `webhook:<name>`, `deliver`, `push`. */
  readonly target: string;
  /** The browser that a push is for. */
  readonly push?: { readonly scope: string; readonly id: string };
  /** Whether it waits until another one of its session is told. */
  readonly waits?: true;
  readonly attempts: number;
  /** Why the last attempt failed, and when. */
  readonly failed?: { readonly at: number; readonly error: string };
}

/** A browser of a person. */
export interface KeptPush {
  readonly endpoint: string;
  readonly keys: { readonly p256dh: string; readonly auth: string };
  readonly addedAt: number;
}

export const noticeOf = ({ value }: Pick<StoredRecord, 'value'>): KeptNotice =>
  JSON.parse(value) as KeptNotice;

export const deliveryOf = ({ value }: Pick<StoredRecord, 'value'>): KeptDelivery =>
  JSON.parse(value) as KeptDelivery;

/** Keeps a notice until it is due. */
export function owing(kept: KeptNotice, dueAt: number): RecordChange {
  return { kind: NOTICE, id: kept.notice.id, dueAt, value: JSON.stringify(kept) };
}

/** Keeps what is owed to a target. One that was given up (`dueAt` null) is due no more. */
export function delivering(
  kept: KeptDelivery,
  { id, dueAt, token }: { readonly id: string; readonly dueAt: number | null; readonly token?: number },
): RecordChange {
  const owner = dueAt === null ? DEAD : kept.failed && RETRYING;
  return {
    ...{ kind: DELIVERY, id, value: JSON.stringify(kept), token },
    ...(owner && { owner }),
    ...(dueAt !== null && { dueAt }),
  };
}

/** The name of what is owed to a target. */
export function deliveryId({
  notice,
  target,
  push,
}: Pick<KeptDelivery, 'notice' | 'target' | 'push'>): string {
  return `${notice.id}|${target}${push === undefined ? '' : `:${push.id}`}`;
}

/** How the ids of records begin that stand in a line: those of one session to one target. They are listed in its order. */
export const lineOf = (target: string): string => `${target}|`;

/** The id of the record of one that stands in the line. */
export function idInLine({
  notice,
  target,
  place,
}: Pick<KeptDelivery, 'notice' | 'target' | 'place'>): string {
  const order = [notice.at, place?.seq ?? 0].map((part) => String(Math.round(part)).padStart(16, '0'));
  return `${lineOf(target)}${order.join('.')}|${notice.id}`;
}

/** The home of a person's browsers. */
export const homeOfPushes = (scope: string): RecordHome => ({ scope });
