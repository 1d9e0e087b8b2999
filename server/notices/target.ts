import type { GatewayEvent } from '../../shared/events.js';
import type { NoticeKind, ToldNotice } from '../../shared/notices.js';
import type { KeptDelivery } from './notice-record.js';

/** An attempt to tell one target of a notice. */
export interface Attempt {
  readonly kept: KeptDelivery;
  readonly told: ToldNotice;
  readonly attempt: number;
  /** The events of its run. */
  events(): AsyncIterable<GatewayEvent>;
  readonly signal: AbortSignal;
}

/** Where notices go. */
export interface Target {
  /** As deliveries name it. */
  readonly name: string;
  /** As its host calls it, where it does: people may see that. */
  readonly givenName?: string | undefined;
  /** Whether a later notice of a session waits while an earlier one is under way. */
  readonly isOrdered: boolean;
  /** Whether it is told the text of an answer. */
  readonly content: boolean;
  readonly timeoutMs: number;
  /** Deliveries under way at a time. */
  readonly most: number;
  wants(kind: NoticeKind): boolean;
  /** Resolves once it is told; with false where this target is told nothing of it. @throws Gone where there is nobody to be told any more; anything else is tried again */
  send(attempt: Attempt): Promise<unknown>;
  close?(): void;
}

/** Nobody is there to be told any more: it is not tried again. */
export class Gone extends Error {}
