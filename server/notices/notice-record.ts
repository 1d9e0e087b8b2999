import { composeId } from '../../shared/composed-id.js';
import type { Notice } from '../../shared/notices.js';
import { type Attempted, FAILING } from '../due/attempts.js';
import type { RecordChange, RecordHome, StoredRecord } from '../stores/records.js';

/** Kinds of records: a notice, its delivery to one target, the outcomes of the last deliveries, and a person's browser. */
export const NOTICE = 'notice';
export const DELIVERY = 'delivery';
export const TOLD = 'told';
export const PUSH = 'push';
/** The kind of record that names the owner of a push endpoint: a browser belongs to one person at a time. */
export const PUSH_OWNER = 'push_owner';

/** The part of a notice that its own record and those of its deliveries have. */
export interface KeptNotice {
  readonly notice: Notice;
  /** The person who is told, as `userScope` names people. */
  readonly to: string;
  /** How the person reaches the session; absent for those whose session it is. */
  readonly via?: 'grant' | 'link';
  /** The place of the notice's cause in the session's log; absent for a host's own notice. */
  readonly place?: { readonly epoch: string; readonly seq: number };
  /** The text for targets that get content: the name of a question, or a reason. */
  readonly text?: string;
}

/** A notice as stored, until it is split into deliveries. */
export interface OwedNotice extends KeptNotice, Attempted {
  /** The names of the targets that are told: those of the gateway where the notice was made. */
  readonly targets: readonly string[];
}

/** A delivery as stored: a notice that one target is owed. */
export interface KeptDelivery extends KeptNotice, Attempted {
  /** Name of the target: `webhook:<name>`, `deliver`, `push`. */
  readonly target: string;
  /** The browser that a push is for. */
  readonly push?: PushPlace;
  /** Whether the delivery waits until an earlier one of its session is told. */
  readonly waits?: true;
  /** Since when it is owed, by the store's clock. */
  readonly owedAt: number;
}

/** The record of a browser, and the host of its push service. */
export interface PushPlace {
  readonly scope: string;
  readonly id: string;
  readonly host: string;
}

/** A browser of a person. */
export interface KeptPush {
  readonly endpoint: string;
  readonly keys: { readonly p256dh: string; readonly auth: string };
  readonly addedAt: number;
}

export const noticeOf = ({ value }: Pick<StoredRecord, 'value'>): OwedNotice =>
  JSON.parse(value) as OwedNotice;

export const deliveryOf = ({ value }: Pick<StoredRecord, 'value'>): KeptDelivery =>
  JSON.parse(value) as KeptDelivery;

/** Keeps a notice until it is due. @param token Token of the record that it replaces. @default any record */
export function owing(kept: OwedNotice, dueAt: number, token?: number): RecordChange {
  return { kind: NOTICE, id: kept.notice.id, dueAt, value: JSON.stringify(kept), token };
}

/** Keeps a delivery. */
export function delivering(
  kept: KeptDelivery,
  { id, dueAt, token }: { readonly id: string; readonly dueAt: number; readonly token?: number },
): RecordChange {
  return {
    ...{ kind: DELIVERY, id, dueAt, value: JSON.stringify(kept), token },
    ...(kept.failed && { owner: FAILING }),
  };
}

/** The id of a delivery. */
export function deliveryId({
  notice,
  target,
  push,
}: Pick<KeptDelivery, 'notice' | 'target' | 'push'>): string {
  return `${notice.id}|${target}${push === undefined ? '' : `:${push.id}`}`;
}

/** Whether a later notice of a session waits while an earlier one to this target is under way. A gateway without the target knows it too. */
export const isOrdered = (target: string): boolean => target.startsWith('webhook:');

/** The prefix of record ids in a line, which has the deliveries of one session to one target. The ids sort in the line's order. */
export const lineOf = (target: string): string => `${composeId(target)}~`;

/** The id of the record of a delivery in a line. */
export function idInLine({
  notice,
  target,
  place,
}: Pick<KeptDelivery, 'notice' | 'target' | 'place'>): string {
  const order = [notice.at, place?.seq ?? 0].map((part) => String(Math.round(part)).padStart(16, '0'));
  return composeId(target, ...order, notice.id);
}

/** The home of a person's browsers. */
export const homeOfPushes = (scope: string): RecordHome => ({ scope });
