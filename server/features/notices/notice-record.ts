import * as z from 'zod';
import { composeId } from '../../../shared/composed-id.js';
import type { Notice } from '../../../shared/notices/contract.js';
import { type Attempted, FAILING } from '../../due/attempts.js';
import { kind } from '../../records/kind.js';
import type { RecordChange, RecordHome, StoredRecord } from '../../stores/records.js';

/** Kinds of records: a notice, its delivery to one target, and the outcomes of the last deliveries. */
export const NOTICE = 'notice';
export const DELIVERY = 'delivery';
export const TOLD = 'told';

/** The part of a notice that its own record and those of its deliveries have. */
export interface KeptNotice {
  readonly notice: Notice;
  /** Key of the person who is told, or the scope of those whose session it is. */
  readonly to: string;
  /** Whether the person reaches the session by a grant. */
  readonly byGrant?: true;
  /** The place of the notice's cause in the session's log; absent for a host's own notice. */
  readonly place?: { readonly epoch: string; readonly seq: number };
  /** The text for targets that get content: the name of a question, or a reason. */
  readonly text?: string;
  /** Whether it is told even if the person has read it. */
  readonly always?: true;
  /** Ids of the runs above a child that asks. */
  readonly above?: readonly string[];
}

/** A notice as stored, until it is split into deliveries. */
export interface OwedNotice extends KeptNotice, Attempted {
  /** The names of the targets that are told: those of the gateway where the notice was made. */
  readonly targets: readonly string[];
  /** Whether these targets are told at once; the same notice may wait for others. */
  readonly atOnce?: true;
}

/** A delivery as stored: a notice that one target is owed. */
export interface KeptDelivery extends KeptNotice, Attempted {
  /** Name of the target: `webhook:<name>`, `deliver`, `push`. */
  readonly target: string;
  /** The receiver, of a target that has several. */
  readonly endpoint?: Endpoint;
  /** Whether the delivery waits until an earlier one of its session is told. */
  readonly waits?: true;
  /** Since when it is owed, by the store's clock. */
  readonly owedAt: number;
}

/** The record of a receiver, and the host that is asked for it: the push service of a browser. */
export interface Endpoint {
  readonly scope: string;
  readonly id: string;
  readonly host: string;
}

/** A browser of a person. */
export interface KeptPush {
  /** The person's key. */
  readonly userKey: string;
  readonly endpoint: string;
  readonly keys: { readonly p256dh: string; readonly auth: string };
  readonly addedAt: number;
}

/** Browsers, in the home of their person's scope. */
export const PUSHES = kind<KeptPush>({
  ...{ name: 'push', endsWith: 'time', ofPerson: true },
  schema: z.object({
    ...{ userKey: z.string(), endpoint: z.string(), addedAt: z.number() },
    keys: z.object({ p256dh: z.string(), auth: z.string() }),
  }),
  ownerOf: ({ userKey }) => userKey,
});

/** The second record of each browser, found by its endpoint: a browser belongs to one person at a time. */
export const PUSH_OWNERS = kind<Readonly<Record<never, never>>>({
  ...{ name: 'push_owner', schema: z.object({}), endsWith: 'time' },
  ownerOf: (_owner, id) => id,
});

export const noticeOf = ({ value }: Pick<StoredRecord, 'value'>): OwedNotice =>
  JSON.parse(value) as OwedNotice;

export const deliveryOf = ({ value }: Pick<StoredRecord, 'value'>): KeptDelivery =>
  JSON.parse(value) as KeptDelivery;

/** Keeps a notice until it is due. @param token Token of the record that it replaces. @default any record */
export function owing(kept: OwedNotice, dueAt: number, token?: number): RecordChange {
  const id = kept.atOnce ? atOnceId(kept.notice.id) : kept.notice.id;
  return { kind: NOTICE, id, dueAt, value: JSON.stringify(kept), token };
}

/** The id of the record of a notice for the targets that are told at once. */
export const atOnceId = (id: string): string => `${id}~now`;

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

type Addressee = Pick<KeptDelivery, 'target' | 'endpoint'>;

const nameOfReceiver = ({ target, endpoint }: Addressee): string =>
  endpoint ? composeId(target, endpoint.id) : composeId(target);

/** The name of a target, or of a browser that is one. A webhook of a run is none: it is gone with its run. */
export const nameOfTarget = ({ target, endpoint }: Addressee): string =>
  nameOfReceiver({ target, ...(target === 'push' && endpoint && { endpoint }) });

/** The id of a delivery: that of its notice, which `idOf` made, goes on with the target. */
export const deliveryId = (kept: Pick<KeptDelivery, 'notice' | 'target' | 'endpoint'>): string =>
  `${kept.notice.id}~${nameOfReceiver(kept)}`;

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
