import type { UserContext } from '../../shared/contract.js';
import type { Application } from '../apps/application.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import type { Limits } from '../config/limits.js';
import type { Report } from '../diagnostics/log-facts.js';
import type { GatewayFiles } from '../files/files.js';
import type { GuardPolicy } from '../guard/policy.js';
import type { RunSlots } from '../limits/run-slots.js';
import type { Tenancy } from '../limits/tenancy.js';
import type { RecordKind } from '../records/kind.js';
import type { Arrivals } from '../stores/about.js';
import type { RecordChange } from '../stores/records.js';
import type { Store } from '../stores/store.js';
import type { Prices, RunGate } from './gates.js';
import type { HeldSession } from './held-session.js';
import type { TakenUp } from './taking-up.js';

/** The parts of a gateway that a session uses and notifies while it is held. */
export interface HeldEnvironment {
  /** All kinds of records. */
  readonly kinds: readonly RecordKind[];
  /** The records that features add to the append of a message, for its sender. */
  readonly addedOfSender: readonly RecordsOfSender[];
  /** Asked in turn before a run goes on that another process left. */
  readonly takesUp: readonly TakesUp[];
  /** Asked before a run makes a call that costs. */
  readonly gates: readonly RunGate[];
  /** Asked for the cost of a call. */
  readonly prices: readonly Prices[];
  /** Decides which run is at work next, of whom. */
  readonly slots: RunSlots;
  readonly tenancy: Tenancy;
  readonly store: Store;
  readonly files: GatewayFiles;
  readonly gatewayId: string;
  readonly limits: Limits;
  app(name: string): Application;
  /** The guards of an app; null if it has none. */
  guardOf(app: Application): GuardPolicy | null;
  /** @throws GatewayError `INVALID_PARAMS` if the payload does not fit the channel's or event's schema. */
  checkPayload(kind: 'channels' | 'events', name: string, payload: unknown): void;
  /** Ends everything that is open by a grant, here and at the other gateways. */
  ungranted(grantId: string): void;
  notify(event: SessionNotice): void;
  report: Report;
}

/** A message that is about to be appended, and its place. */
export interface SentPlace {
  /** Key of the sender. */
  readonly reader: string;
  readonly epoch: string;
  readonly term: number;
  readonly seq: number;
  /** All that has come for people to read, with this message. */
  readonly arrivals: Arrivals;
  /** The time by the store's clock. */
  readonly at: number;
}

/** Makes the records that go with a message, for its sender. */
export type RecordsOfSender = (sent: SentPlace) => readonly RecordChange[];

/** Notices of sessions to the gateway's listeners. */
export type SessionNotice =
  | {
      readonly type: 'session:created' | 'session:closed';
      readonly sessionId: string;
      readonly app: string;
      readonly userId?: string;
    }
  | {
      readonly type: 'run:started';
      readonly sessionId: string;
      readonly runId: string;
      readonly user: UserContext | null;
    }
  | {
      readonly type: 'run:ended';
      readonly sessionId: string;
      readonly runId: string;
      readonly stopReason: string;
    }
  | {
      readonly type: 'custom';
      readonly sessionId?: string;
      readonly name: string;
      readonly payload: unknown;
    };

/** Whether a run goes on here that another process left. A run that does not is the concern of what has said so. */
export type TakesUp = (held: HeldSession, taken: TakenUp) => MaybePromise<boolean>;
