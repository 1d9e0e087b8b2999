import type { GatewayEvent } from '../../../shared/events.js';
import type { NoticeKind, ToldNotice } from '../../../shared/notices/contract.js';
import type { LaneBound } from '../../due/bounded-lanes.js';
import type { SessionRef } from '../../stores/stored.js';
import type { KeptDelivery } from './notice-record.js';

/** An attempt to tell one target of a notice. */
export interface Attempt {
  readonly home: SessionRef;
  readonly kept: KeptDelivery;
  readonly told: ToldNotice;
  readonly attempt: number;
  /** The events of the notice's run. */
  events(): AsyncIterable<GatewayEvent>;
  readonly signal: AbortSignal;
}

/** A destination of notices. */
export interface NoticeTarget {
  /** The name that deliveries use. */
  readonly name: string;
  /** The name that the host chose, if any. People may see it. */
  readonly givenName?: string | undefined;
  /** Whether notices contain the text of an answer. */
  readonly content: boolean;
  readonly timeoutMs: number;
  /**
   * Whether it is told at once, whatever `notify.on` says and also of what was read.
   *
   * @default after `notify.unseenMs`, unless it was read
   */
  readonly atOnce?: boolean;
  /** The bounds of deliveries under way at a time that a delivery is under. */
  bounds(kept: KeptDelivery): readonly LaneBound[];
  wants(kind: NoticeKind): boolean;
  /** Resolves when the target is told; with false if it needs no notice. @throws Gone if the receiver no longer exists; other errors are retried */
  send(attempt: Attempt): Promise<unknown>;
  close?(): void;
}

/** Requests at a time to one host that a person chose, and to all together. */
export const [MOST_TO_HOST, MOST_IN_ALL] = [16, 32];

/** The bounds of a delivery to an address that a person chose: and so who is asked, and whether somebody answers. */
export const boundsOfAddress = (
  name: string,
  { to, endpoint }: KeptDelivery,
  mostOfPerson: number,
): readonly LaneBound[] => [
  { name, most: MOST_IN_ALL },
  { name: `${name} of ${to}`, most: mostOfPerson },
  { name: `${name} to ${endpoint?.host}`, most: MOST_TO_HOST, stalls: true },
];

/** The receiver no longer exists, so the delivery is not retried. */
export class Gone extends Error {}
